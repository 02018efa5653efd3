//! Opens a weight file. There is no panic, and all numbers of an opened file are admissible.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{
    math,
    weights::{Aligned, Weights},
};
use wdgnn_robot::onboard::FlockingNetwork;

const CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

const ROOM: usize = 1 << 16;

fn open(bytes: &[u8]) {
    let mut file = Aligned([0; ROOM]);
    let Some(place) = file.0.get_mut(..bytes.len()) else { return };
    place.copy_from_slice(bytes);
    if let Ok(weights) = Weights::open(&file.0[..bytes.len()]) {
        assert!(weights.numbers.iter().all(|x| math::is_admissible(*x)));
        let _ = FlockingNetwork::from_weights(&weights);
    }
}

fuzz_target!(|bytes: &[u8]| {
    open(bytes);
    // The fuzzer does not find valid checksums by itself.
    if let Some((content, _)) = bytes.split_last_chunk::<4>() {
        open(&[content, &CHECKSUM.checksum(content).to_le_bytes()].concat());
    }
});
