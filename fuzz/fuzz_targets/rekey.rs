//! Key-update frames: raw ones, and the operator's with a byte changed.
//!
//! Decoding never panics, the epoch never decreases, and no update succeeds without the operator.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use libfuzzer_sys::fuzz_target;
use wdgnn_link::{encoding::{Codec, half::Dot154, esb32::Esb32}, security::{key_update::{Notice, personal_key, swarm_key}, key::Key, group_key::{Rekeyable, RekeyableEsb32}}};

const MASTER: Key = *b"an operator's...";
const KEY: Key = *b"a swarm's secret";
/// Address of the robot.
const NAME: u16 = 1;

/// Receives frames made of eight input bytes each.
///
/// The bytes are the receiver, the epoch, the tick and the change to the frame.
fn fly<P: Codec>(codec: P, tag: usize, words: &[u8]) {
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, codec);
    let mut brought = 0;
    for (tick, word) in words.chunks(8).take(300).enumerate() {
        flight::begin(&mut robot, tick as u32);
        let &[name, epoch, at, place, change, raw, low, high] = word else { break };
        let mut frame = vec![0; Notice::bytes(tag)];
        let notice = Notice { name: (name % 70).into(), epoch, at: at.into() };
        let personal = personal_key(&MASTER, if raw & 1 == 0 { notice.name } else { NAME });
        let written = notice.write(&personal, &swarm_key(&MASTER, epoch), tag, &mut frame);
        assert_eq!(written, Some(frame.len()));
        let changed = usize::from(place) % frame.len();
        frame[changed] ^= change;
        if raw & 2 != 0 {
            frame.truncate(usize::from(u16::from_le_bytes([low, high])) % 64);
        }
        if change == 0 && raw & 2 == 0 && notice.name == NAME {
            brought = brought.max(epoch);
        }
        assert!(robot.hear(&mut frame).is_err(), "a key update is no beacon");
        let before = robot.epoch();
        flight::conclude(&mut robot);
        assert!(robot.epoch() >= before && robot.epoch() <= brought, "epoch {before}, {}", robot.epoch());
    }
}

fuzz_target!(|words: &[u8]| {
    let personal = personal_key(&MASTER, NAME);
    fly(Rekeyable::new(Dot154::default(), &KEY).rekeyed(NAME, &personal, 0, &KEY), 8, words);
    fly(RekeyableEsb32::new(Esb32, &KEY).rekeyed(NAME, &personal, 0, &KEY), 4, words);
});
