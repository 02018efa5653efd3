//! Gateway between a tracking system on a PC and robots with wheels.

#![no_std]
#![no_main]

use firmware::board::ThisBoard;

#[firmware::__private::entry]
fn main() -> ! {
    let mut gateway = ThisBoard::pose_gateway();
    loop {
        gateway.run_tick();
    }
}
