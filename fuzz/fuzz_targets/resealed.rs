//! A sealed robot receives frames that an insider makes from the input, with every profile.
//!
//! The frames have valid tags, so all code behind decryption is reached. Commands are bounded, parameters
//! stay inside the ball, and no frame is accepted twice.
//!
//! The first byte selects the profile. Frames follow: a byte for the sender, a byte that is added to the
//! sequence (0 ends the tick), a byte for a flipped bit of the header, half of the content's length, and
//! the content.
#![no_main]

#[path = "../flight.rs"]
mod flight;
#[path = "../../crates/wdgnn-robot/tests/common/insider.rs"]
mod insider;

use insider::Insider;
use libfuzzer_sys::fuzz_target;
use wdgnn_link::{
    encoding::{
        Encoding, OutgoingMessage,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow, P2p57},
    },
    link::Link,
    security::{aes::Aes, group_key::GroupKey, key::Key},
};

/// The key of the golden frames.
const KEY: Key = *b"a swarm's secret";

fn fly<E: Encoding, const TAG: usize>(input: &[u8]) {
    let numbers = flight::numbers();
    let link: Link<E, GroupKey<Aes, TAG>> = Link::new(flight::MODEL, GroupKey::new(&KEY));
    let mut robot = flight::robot(&numbers, link);
    let mut message = robot.message();
    let (mut rest, mut tick, mut sequences) = (input, 0, [0_u32; 256]);
    while !rest.is_empty() && tick < 30 {
        flight::begin(&mut robot, tick);
        while let Some((&[sender, step, bit, length], behind)) = rest.split_first_chunk() {
            let (content, behind) = behind.split_at((2 * usize::from(length)).min(behind.len()));
            rest = behind;
            if step == 0 {
                break;
            }
            // Numbers continue with the ticks, or run ahead.
            let sequence = &mut sequences[usize::from(sender)];
            *sequence = (*sequence + u32::from(step)).max(tick * E::FRAMES_PER_EXCHANGE);
            message.sender = sender.into();
            let out = OutgoingMessage {
                message: &message,
                boot: 0,
                sequence: *sequence,
                model: flight::MODEL,
                round: tick,
            };
            let bits = if bit < 128 { 0 } else { 1 << (bit % 8) };
            let insider = Insider { content, flip: (usize::from(bit % 128) / 4, bits) };
            let mut frame = [0; 640];
            let Some(length) = insider.write::<E, TAG, _, _, _>(&KEY, &out, &mut frame) else { continue };
            let mut copy = frame;
            let _ = robot.receive(&mut frame[..length]);
            assert!(robot.receive(&mut copy[..length]).is_err(), "a frame was accepted twice");
        }
        if rest.len() < 4 {
            rest = &[];
        }
        flight::finish(&mut robot);
        tick += 1;
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((profile, frames)) = input.split_first() else { return };
    match profile % 5 {
        0 => fly::<Exact, 8>(frames),
        1 => fly::<Dot154, 8>(frames),
        2 => fly::<EspNow, 8>(frames),
        3 => fly::<Esb32, 4>(frames),
        _ => fly::<P2p57, 8>(frames),
    }
});
