//! A robot receives key updates of the operator, changed and unchanged.
//!
//! There is no panic, no epoch decreases, and only unchanged updates of the operator set an epoch.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use libfuzzer_sys::fuzz_target;
use wdgnn_link::{
    encoding::{Encoding, esb32::Esb32, half::Dot154},
    link::Link,
    link::RadioLink as _,
    security::{
        aes::Aes,
        group_key::GroupKey,
        key::Key,
        key_update::{KeyUpdate, personal_key, swarm_key},
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
    },
};

const MASTER: Key = *b"an operator's...";
const KEY: Key = *b"a swarm's secret";
/// Address of the robot.
const NAME: u16 = 1;

/// Every eight bytes are a frame: recipient, epoch, tick, and a change.
fn fly<E: Encoding, const TAG: usize>(words: &[u8]) {
    let mut keys: ManagedKeys<Aes, TAG, ROSTER_CAPACITY> = ManagedKeys::new(GroupKey::new(&KEY));
    keys.set_key_rotation(NAME, &personal_key(&MASTER, NAME), 0, &KEY);
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, Link::<E, _>::new(flight::MODEL, keys));
    let mut newest = 0;
    for (tick, word) in words.chunks(8).take(300).enumerate() {
        flight::begin(&mut robot, tick as u32);
        let &[name, epoch, at, place, change, raw, low, high] = word else { break };
        let mut frame = vec![0; KeyUpdate::bytes(TAG)];
        let notice = KeyUpdate { name: (name % 70).into(), epoch, at: at.into() };
        let personal = personal_key(&MASTER, if raw & 1 == 0 { notice.name } else { NAME });
        let written = notice.write(&personal, &swarm_key(&MASTER, epoch), TAG, &mut frame);
        assert_eq!(written, Some(frame.len()));
        let changed = usize::from(place) % frame.len();
        frame[changed] ^= change;
        if raw & 2 != 0 {
            frame.truncate(usize::from(u16::from_le_bytes([low, high])) % 64);
        }
        if change == 0 && frame.len() == KeyUpdate::bytes(TAG) && notice.name == NAME {
            newest = newest.max(epoch);
        }
        assert!(robot.receive(&mut frame).is_err(), "a key update is no message");
        let before = robot.link().security().key_epoch();
        flight::finish(&mut robot);
        let epoch = robot.link().security().key_epoch();
        assert!(epoch >= before && epoch <= newest, "epoch {epoch} after {before}");
    }
}

fuzz_target!(|words: &[u8]| {
    fly::<Dot154, 8>(words);
    fly::<Esb32, 4>(words);
});
