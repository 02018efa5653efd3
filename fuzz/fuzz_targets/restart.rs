//! Starts a robot with any record in its store, with and without valid checksums.
//!
//! There is no panic, restored parameters are admissible, and the boot count increases before the first frame.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use core::convert::Infallible;

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{tasks::flocking::Motion, tensor::Tensor as _};
use wdgnn_link::{
    encoding::exact::Exact,
    link::{Link, Managed, MessageLink},
    security::{group_key::GroupKey, managed_keys::ManagedKeys},
};
use wdgnn_robot::{persist, ports::Store};

const CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// A store in memory.
struct Memory(Vec<u8>);

impl Store for Memory {
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

fn start(store: &mut Memory, link: impl MessageLink<Motion, flight::Taps, flight::Wide>) -> u32 {
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, link);
    let learning = &mut robot.config_mut().agent.learning;
    (learning.bias_step, learning.bias_clip) = (0.1, 1.0);
    persist::restore(&mut robot, store, &mut [0; 640]).expect("this store does not fail");
    assert!(robot.agent().wide().is_admissible());
    flight::begin(&mut robot, 0);
    flight::finish(&mut robot);
    robot.link().boot_count()
}

fn starts(record: &[u8]) {
    twice(record, || Link::<Exact>::open(flight::MODEL));
    // With key rotation.
    twice(record, || -> Managed<Exact> {
        let mut keys = ManagedKeys::new(GroupKey::new(&[7; 16]));
        keys.set_key_rotation(1, &[8; 16], 0, &[7; 16]);
        Link::new(flight::MODEL, keys)
    });
}

fn twice<L: MessageLink<Motion, flight::Taps, flight::Wide>>(record: &[u8], link: impl Fn() -> L) {
    let mut store = Memory(record.to_vec());
    let first = start(&mut store, link());
    let second = start(&mut store, link());
    assert!(second > first || first == u32::MAX, "boot {second} after {first}");
}

fuzz_target!(|record: &[u8]| {
    starts(record);
    // Head, keys, parameters and local adaptation, each with a valid checksum that a fuzzer does not find.
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
