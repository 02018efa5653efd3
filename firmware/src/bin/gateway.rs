//! The gateway between a PC that simulates robots and the air that real ones speak in (`host-sim swarm --gateway`): what it hears goes
//! up the line as it is, what comes down goes out in its slot. It has no key, no clock of the swarm's and no robot.

#![no_std]
#![no_main]

use firmware::{
    board::ThisBoard,
    io::gateway::Desk,
    wdgnn_protocol::gateway::{LONGEST_FRAME, Up},
};

/// It looks at everything so often. A piece of the line takes 0.64 ms, a slot 4.5.
const LOOK_US: u64 = 250;
/// It tells the time so often.
const TELL_US: u64 = 1_000;

#[firmware::__private::entry]
fn main() -> ! {
    let (mut board, hello) = ThisBoard::gateway();
    let mut desk = Desk::new(hello);
    let mut told = 0;
    loop {
        // First the time, then everything that came before it.
        let now = board.now();
        if let Some((number, fate, at)) = board.fate(now) {
            desk.say(&Up::Fate { number, fate, at });
        }
        while let Some((began, frame)) = board.heard(&mut [0; LONGEST_FRAME]) {
            desk.say(&Up::Heard { began, frame });
        }
        while let Some(began) = board.spoilt() {
            desk.say(&Up::Spoilt { began });
        }
        desk.lose(board.lost());
        if now >= told + TELL_US {
            told = now;
            desk.tell(now);
        }
        board.listen(now, |byte| desk.take(byte, now));
        if board.is_free()
            && let Some(next) = desk.next(board.now())
        {
            board.plan(&next);
        }
        board.speak(|place| desk.piece(place));
        board.rest(now + LOOK_US);
    }
}
