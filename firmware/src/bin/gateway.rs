//! Gateway between a PC with simulated robots and the radio of real ones.
//!
//! It reports received frames to the PC and sends the PC's frames in their slots. It has no key and
//! does not track the swarm's clock.

#![no_std]
#![no_main]

use firmware::{
    board::ThisBoard,
    io::gateway::GatewayQueues,
    wdgnn_protocol::gateway::{FromGateway, MAX_FRAME},
};

/// Period of the main loop. A chunk on the serial line takes 0.64 ms, a slot 4.5 ms.
const POLL_US: u64 = 250;
/// Period of the time message.
const TIME_REPORT_US: u64 = 1_000;

#[firmware::__private::entry]
fn main() -> ! {
    let (mut board, hello) = ThisBoard::gateway();
    let mut queues = GatewayQueues::new(hello);
    let mut last_report = 0;
    loop {
        // Reads the time before the events, so that all events before that time are reported.
        let now = board.now();
        if let Some((number, result, at)) = board.send_result(now) {
            queues.report(&FromGateway::SendDone { number, result, at });
        }
        while let Some((start, frame)) = board.receive(&mut [0; MAX_FRAME]) {
            queues.report(&FromGateway::Received { start, frame });
        }
        while let Some(start) = board.next_corrupt() {
            queues.report(&FromGateway::Corrupt { start });
        }
        queues.count_lost(board.take_lost());
        if now >= last_report + TIME_REPORT_US {
            last_report = now;
            queues.report_time(now);
        }
        board.read_serial(now, |byte| queues.push(byte, now));
        if board.is_free()
            && let Some(next) = queues.next_frame(board.now())
        {
            board.schedule(&next);
        }
        board.write_serial(|buffer| queues.next_chunk(buffer));
        board.sleep_until(now + POLL_US);
    }
}
