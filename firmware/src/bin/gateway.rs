//! Gateway between a PC with simulated robots and the radio of real ones.
//!
//! It reports received frames to the PC and sends the PC's frames in their slots. It has no key and
//! does not track the swarm's clock.

#![no_std]
#![no_main]

use firmware::{board::ThisBoard, io::gateway::GatewayQueues, wdgnn_protocol::event::MAX_FRAME_LEN};

/// Period of the main loop. The second frame must be loaded in the 511 µs between two slots.
const POLL_US: u64 = 125;
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
        let result = board.send_result(now);
        // Before the reports, which take time: the next slot may begin soon.
        if board.is_free()
            && let Some(next) = queues.next_frame(board.now())
        {
            board.schedule(&next);
        }
        if let Some(result) = result {
            queues.report(&result);
        }
        while let Some(frame) = board.receive(&mut [0; MAX_FRAME_LEN]) {
            queues.report(&frame);
        }
        while let Some(corrupt) = board.next_corrupt() {
            queues.report(&corrupt);
        }
        queues.count_lost(board.take_lost());
        if now >= last_report + TIME_REPORT_US {
            last_report = now;
            queues.report_time(now);
        }
        board.read_serial(now, |byte| queues.push(byte, now));
        board.write_serial(|buffer| queues.next_chunk(buffer));
        board.sleep_until(now + POLL_US);
    }
}
