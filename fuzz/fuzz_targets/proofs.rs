//! Frames with identity proofs, sealed by an insider around the fuzzer's input.
//!
//! Decoding never panics, and no frame proves an identity without the peer's key.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use libfuzzer_sys::fuzz_target;
use wdgnn_link::{security::{ccm, aes::Aes, peer_auth::MARK, key::Key, group_key::{Rekeyable, RekeyableEsb32, Sealed, SealedEsb32}}, encoding::{Codec, half::Dot154, esb32::Esb32}};

const KEY: Key = *b"a swarm's secret";
const PERSONAL: Key = *b"a robot's secret";
static ROSTER: [Key; 16] = [*b"some pair's key."; 16];

/// Receives frames of 16 input bytes each: the sender, then the bytes after the state.
fn fly<P: Codec, I: Codec>(codec: P, insider: &I, tag: usize, words: &[u8]) {
    let numbers = flight::numbers();
    let (mut robot, mut others) = (flight::robot(&numbers, codec), [0_u32; 16]);
    for (tick, word) in (1..300).zip(words.chunks(16)) {
        flight::begin(&mut robot, tick);
        let Some((&sender, proofs)) = word.split_first() else { break };
        let sender = u16::from(sender % 16);
        others[usize::from(sender)] += 1;
        if let Some(mut frame) = sealed(insider, tag, sender, tick * P::FRAMES, proofs, &robot) {
            let _ = robot.hear(&mut frame);
        }
        flight::conclude(&mut robot);
        // A tag is guessed with a probability of 2⁻³².
        assert!(robot.trusted().all(|other| other.beacon.sender != 1), "frames in the robot's own name are rejected");
    }
}

/// Returns the robot's own content under another name, with other bytes after the state.
fn sealed<P: Codec, I: Codec>(
    insider: &I,
    tag: usize,
    sender: u16,
    sequence: u32,
    proofs: &[u8],
    robot: &flight::Robot<'_, P>,
) -> Option<Vec<u8>> {
    let (state, chains, wide) = (*robot.state(), *robot.chains(), *robot.wide());
    let beacon = wdgnn_core::Beacon { sender, boot: 0, sequence, degree: 0, state, chains, wide };
    let mut frame = vec![0; 640];
    insider.encode(robot.link(), &beacon, 0, 0, &mut frame)?;
    let identity = I::identity(&frame, sequence / I::FRAMES)?;
    let mut nonce = [0; 13];
    let parts = [&identity.sender.to_le_bytes()[..], &identity.boot.to_le_bytes(), &identity.sequence.to_le_bytes()];
    nonce[..10].copy_from_slice(&parts.concat());
    let content = [&[0_u8; 8][..], proofs].concat();
    frame.truncate(I::header_bytes());
    frame[0] |= MARK;
    let mut content = content;
    let mut made = vec![0; tag];
    ccm::seal(&Aes::new(&KEY), &nonce, [&flight::MODEL.to_le_bytes(), &frame], &mut content, &mut made)?;
    Some([frame, content, made].concat())
}

fuzz_target!(|words: &[u8]| {
    let dot154 = Rekeyable::new(Dot154::default(), &KEY).knowing(1, &PERSONAL, &ROSTER);
    fly(dot154, &Sealed::new(Dot154::default(), &KEY), 8, words);
    let esb32 = RekeyableEsb32::new(Esb32, &KEY).knowing(1, &PERSONAL, &ROSTER);
    fly(esb32, &SealedEsb32::new(Esb32, &KEY), 4, words);
});
