//! A robust robot with an open link receives any frames for a few ticks.
//!
//! Its commands are finite and bounded, and its parameters stay inside the ball. `resealed` covers sealed
//! links. The input is a list of frames. A byte before each frame is its length; 0 ends a tick.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use libfuzzer_sys::fuzz_target;
use wdgnn_link::{encoding::half::Dot154, link::Link};

fuzz_target!(|input: &[u8]| {
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, Link::<Dot154>::open(flight::MODEL));
    let (mut rest, mut tick) = (input, 0);
    while !rest.is_empty() && tick < 20 {
        flight::begin(&mut robot, tick);
        while let Some((&length, frames)) = rest.split_first() {
            let (frame, behind) = frames.split_at(usize::from(length).min(frames.len()));
            rest = behind;
            if length == 0 {
                break;
            }
            let _ = robot.receive(&mut frame.to_vec());
        }
        flight::finish(&mut robot);
        tick += 1;
    }
});
