//! Sealed robot that receives frames made from the input with the right key.
//!
//! This reaches all code after decryption, in every profile. Commands are bounded, parameters stay
//! inside the ball, and no frame is accepted twice.
//!
//! The first byte selects the profile. Frames follow: a byte for the sender, one added to the
//! sequence number (zero ends the tick), one for a bit of the header to flip, half of the content's
//! length, and the content.
#![no_main]

#[path = "../flight.rs"]
mod flight;
#[path = "../../crates/wdgnn-robot/tests/common/insider.rs"]
mod insider;

use insider::Insider;
use libfuzzer_sys::fuzz_target;
use wdgnn_link::{security::{aes::Aes, key::Key, group_key::SealedWith}, encoding::{Codec, exact::Exact, half::{Dot154, EspNow}, esb32::Esb32, p2p57::P2p57}};

/// Group key of the golden frames.
const KEY: Key = *b"a swarm's secret";

fn fly<C: Codec + Copy, const TAG: usize>(codec: C, input: &[u8]) {
    let numbers = flight::numbers();
    let mut robot = flight::robot(&numbers, SealedWith::<C, Aes, TAG>::new(codec, &KEY));
    let mut said = robot.beacon();
    let (mut rest, mut tick, mut sequences) = (input, 0, [0_u32; 256]);
    while !rest.is_empty() && tick < 30 {
        flight::begin(&mut robot, tick);
        while let Some((&[sender, step, bit, length], behind)) = rest.split_first_chunk() {
            let (content, behind) = behind.split_at((2 * usize::from(length)).min(behind.len()));
            rest = behind;
            if step == 0 {
                break;
            }
            // Sequence numbers follow the ticks or run ahead.
            let sequence = &mut sequences[usize::from(sender)];
            *sequence = (*sequence + u32::from(step)).max(tick * C::FRAMES);
            (said.sender, said.sequence) = (sender.into(), *sequence);
            let bits = if bit < 128 { 0 } else { 1 << (bit % 8) };
            let insider = Insider { codec, content, flip: (usize::from(bit % 128) / 4, bits) };
            let mut frame = [0; 640];
            let sealed = SealedWith::<_, Aes, TAG>::new(insider, &KEY);
            let Some(length) = sealed.encode(robot.link(), &said, tick, 0, &mut frame) else { continue };
            let mut copy = frame;
            let _ = robot.hear(&mut frame[..length]);
            assert!(robot.hear(&mut copy[..length]).is_err(), "heard twice");
        }
        if rest.len() < 4 {
            rest = &[];
        }
        flight::conclude(&mut robot);
        tick += 1;
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((profile, frames)) = input.split_first() else { return };
    match profile % 5 {
        0 => fly::<_, 8>(Exact, frames),
        1 => fly::<_, 8>(Dot154::default(), frames),
        2 => fly::<_, 8>(EspNow::default(), frames),
        3 => fly::<_, 4>(Esb32, frames),
        _ => fly::<_, 8>(P2p57, frames),
    }
});
