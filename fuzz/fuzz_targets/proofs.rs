//! A robot receives identity proofs that an insider makes from the input.
//!
//! There is no panic, the table stays small, and the robot never trusts its own address.
#![no_main]

#[path = "../flight.rs"]
mod flight;

use libfuzzer_sys::fuzz_target;
use wdgnn_core::tasks::flocking::Motion;
use wdgnn_link::{
    encoding::{Encoding, OutgoingMessage, esb32::Esb32, half::Dot154},
    link::{Link, MessageLink},
    security::{
        aes::Aes,
        ccm,
        group_key::GroupKey,
        key::Key,
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
        peer_auth::PROOF_MARK,
    },
};

const KEY: Key = *b"a swarm's secret";
const PERSONAL: Key = *b"a robot's secret";
static PEERS: [Key; 16] = [*b"some pair's key."; 16];

/// Every 16 bytes are a frame: its sender, and the bytes behind the state.
fn fly<E: Encoding, const TAG: usize>(words: &[u8]) {
    let mut keys: ManagedKeys<Aes, TAG, ROSTER_CAPACITY> = ManagedKeys::new(GroupKey::new(&KEY));
    keys.set_peer_keys(1, &PERSONAL, &PEERS);
    let link: Link<E, _> = Link::new(flight::MODEL, keys);
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, link);
    for (tick, word) in (1..300).zip(words.chunks(16)) {
        flight::begin(&mut robot, tick);
        let Some((&sender, proofs)) = word.split_first() else { break };
        let sender = u16::from(sender % 16);
        if let Some(mut frame) = sealed::<E, TAG>(sender, tick * E::FRAMES_PER_EXCHANGE, proofs, &robot) {
            let _ = robot.receive(&mut frame);
        }
        flight::finish(&mut robot);
        // A tag is guessed once in four billion attempts.
        assert!(
            robot.trusted().all(|other| other.message.sender != 1),
            "the robot is no neighbor of its own"
        );
    }
}

/// A frame of the robot under another address, with other bytes behind the state.
fn sealed<E: Encoding, const TAG: usize>(
    sender: u16, sequence: u32, proofs: &[u8],
    robot: &flight::Robot<'_, impl MessageLink<Motion, flight::Taps, flight::Wide>>,
) -> Option<Vec<u8>> {
    let mut message = robot.message();
    (message.sender, message.degree) = (sender, 0);
    let out = OutgoingMessage { message: &message, boot: 0, sequence, model: flight::MODEL, round: 0 };
    let mut frame = vec![0; 640];
    E::encode(&out, 0, &mut frame)?;
    let id = E::read_header(&frame, sequence / E::FRAMES_PER_EXCHANGE)?.id;
    let mut nonce = [0; 13];
    let parts = [&id.sender.to_le_bytes()[..], &id.boot.to_le_bytes(), &id.sequence.to_le_bytes()];
    nonce[..10].copy_from_slice(&parts.concat());
    let mut content = [&[0; 8][..], proofs].concat();
    frame.truncate(E::HEADER_LEN);
    frame[0] |= PROOF_MARK;
    let mut tag = vec![0; TAG];
    ccm::seal(&Aes::new(&KEY), &nonce, [&flight::MODEL.to_le_bytes(), &frame], &mut content, &mut tag)?;
    Some([frame, content, tag].concat())
}

fuzz_target!(|words: &[u8]| {
    fly::<Dot154, 8>(words);
    fly::<Esb32, 4>(words);
});
