//! A weight file: never a panic, and what is opened holds numbers that may enter the arithmetic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{
    Weights, math,
    robot::RobotNetwork,
    weights::{Aligned, checksum},
};

const ROOM: usize = 1 << 16;

fn open(bytes: &[u8]) {
    let mut file = Aligned([0; ROOM]);
    let Some(place) = file.0.get_mut(..bytes.len()) else { return };
    place.copy_from_slice(bytes);
    if let Ok(weights) = Weights::open(&file.0[..bytes.len()]) {
        assert!(weights.numbers.iter().all(|x| math::admissible(*x)));
        let _ = RobotNetwork::from_weights(&weights);
    }
}

fuzz_target!(|bytes: &[u8]| {
    open(bytes);
    // A right checksum lets the fuzzer in: it would not find one by itself.
    if let Some((content, _)) = bytes.split_last_chunk::<4>() {
        open(&[content, &checksum(content).to_le_bytes()].concat());
    }
});
