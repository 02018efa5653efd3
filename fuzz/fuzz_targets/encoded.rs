//! Writes messages of any numbers. Every encoding writes the postcard bytes of its frame type and reads them back.
//!
//! The input is a header of 12 bytes, then numbers. Missing numbers are zero.
#![no_main]

#[path = "../../crates/wdgnn-robot/tests/common/frames.rs"]
#[allow(dead_code, reason = "tests use all of it")]
mod frames;

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{
    filter::{DelayLines as _, LayerTaps},
    math,
    message::Message,
    task::State as _,
    tasks::flocking::Motion,
    tensor::{Filter, Tensor as _},
};
use wdgnn_link::encoding::OutgoingMessage;

type Full = Message<Motion, LayerTaps<4, 6, ()>, Filter<4, 6, 2>>;

fuzz_target!(|input: &[u8]| {
    let Some((&[sender, degree, b0, b1, s0, s1, s2, s3, round, m0, m1, m2], numbers)) =
        input.split_first_chunk()
    else {
        return;
    };
    let (numbers, _) = numbers.as_chunks();
    // A robot's own numbers are admissible. Frames of robots with others are rejected.
    let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).filter(|x| math::is_admissible(*x));
    let mut numbers = numbers.chain(core::iter::repeat(0.0));
    let mut next = || numbers.next().unwrap_or_default();
    let mut message = Full::empty(Motion::from_array([(); 4].map(|()| next())));
    message.taps.transmitted_mut().for_each(|(_, line)| line.fill_with(&mut next));
    message.wide.numbers_mut().fill_with(&mut next);
    (message.sender, message.degree) = (sender.into(), degree);
    frames::assert_plane(&OutgoingMessage {
        message: &message,
        boot: u16::from_le_bytes([b0, b1]).into(),
        sequence: u32::from_le_bytes([s0, s1, s2, s3]),
        model: u32::from_le_bytes([m0, m1, m2, 0]),
        round: round.into(),
    });
});
