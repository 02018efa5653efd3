//! Records in a robot's store at startup, raw and with corrected checksums.
//!
//! Loading never panics, parameters are admissible, and the boot count increases and is stored
//! before the first frame.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use core::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use wdgnn_link::{encoding::{Codec, exact::Exact}, security::group_key::Rekeyable};
use wdgnn_robot::{persist, ports::Store};
use wdgnn_core::tensor::Tensor as _;

const CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// Store in memory.
struct Kept(Vec<u8>);

impl Store for Kept {
    type Error = Infallible;

    fn load(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, Infallible> {
        buffer.iter_mut().zip(&self.0).for_each(|(to, from)| *to = *from);
        Ok(Some(self.0.len()))
    }

    fn save(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}

fn start(store: &mut Kept, codec: impl Codec) -> u32 {
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, codec);
    robot.behaviour_mut().learning.personal_step = 0.1;
    robot.behaviour_mut().learning.personal_clip = 1.0;
    persist::resume(&mut robot, store, &mut [0; 640]).expect("the store is in memory");
    assert!(robot.wide().admissible());
    flight::begin(&mut robot, 0);
    flight::conclude(&mut robot);
    robot.boot()
}

fn starts(record: &[u8]) {
    twice(record, || Exact);
    // Keys that can change.
    twice(record, || Rekeyable::new(Exact, &[7; 16]).rekeyed(1, &[8; 16], 0, &[7; 16]));
}

fn twice<C: Codec>(record: &[u8], codec: impl Fn() -> C) {
    let mut store = Kept(record.to_vec());
    let first = start(&mut store, codec());
    let second = start(&mut store, codec());
    assert!(second > first || first == u32::MAX, "boot {first}, and then {second}");
}

fuzz_target!(|record: &[u8]| {
    starts(record);
    // Head, keys, body and adaptation, each followed by its checksum, which a fuzzer cannot guess.
    for parts in [&[16, 4 * 48, 4 + 4 * 2][..], &[16, 44, 4 * 48, 4 + 4 * 2]] {
        let mut right = record.to_vec();
        let mut rest = right.as_mut_slice();
        for &length in parts {
            if rest.len() < length + 4 {
                break;
            }
            let (part, behind) = rest.split_at_mut(length);
            let (checksum, behind) = behind.split_at_mut(4);
            checksum.copy_from_slice(&CHECKSUM.checksum(part).to_le_bytes());
            rest = behind;
        }
        starts(&right);
    }
});
