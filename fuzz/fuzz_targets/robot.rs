//! Robot with robust trust that receives arbitrary frames for a few ticks.
//!
//! Commands are finite and bounded, and parameters stay inside the ball. The link is not sealed, so
//! that headers are arbitrary too; `resealed` covers sealed links.
//!
//! The input is a sequence of frames, each after a byte for its length; 0 ends a tick.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use libfuzzer_sys::fuzz_target;
use wdgnn_link::encoding::half::Dot154;

fuzz_target!(|input: &[u8]| {
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, Dot154::default());
    let (mut rest, mut tick) = (input, 0);
    while !rest.is_empty() && tick < 20 {
        flight::begin(&mut robot, tick);
        while let Some((&length, frames)) = rest.split_first() {
            let (frame, behind) = frames.split_at(usize::from(length).min(frames.len()));
            rest = behind;
            if length == 0 {
                break;
            }
            let _ = robot.hear(&mut frame.to_vec());
        }
        flight::conclude(&mut robot);
        tick += 1;
    }
});
