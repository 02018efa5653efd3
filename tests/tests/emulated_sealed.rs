//! One emulated robot with a key among attackers without it: forged, recorded and altered frames.

#![cfg(feature = "emulated")]

use std::path::Path;

use host_sim::{
    key, model::ModelFile, models, profiles::Profile, recipe::RecipeName, scene::Frame, swarm::TickOutcome,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{
    image,
    robot::{self, ID, Native, motion, tick},
};
use wdgnn_core::task::NodeId;
use wdgnn_link::{
    error::FrameError,
    security::{key::Key, replay::MAX_FRAME_AGE_TICKS},
};

/// Robots that send in the ticks of the emulated one, whose address is a multiple of 5, too.
const FRIENDS: [NodeId; 3] = [10, 15, 20];

/// Offsets of sender and sequence in the header, and its length.
const SENDER: usize = 6;
const SEQUENCE: usize = 12;
const HEADER_BYTES: usize = 17;

fn model() -> ModelFile {
    models::for_profile(RecipeName::Ours, Profile::Dot154).unwrap()
}

fn key() -> Key {
    key::read(Path::new(image::KEY)).unwrap()
}

fn native<'w>(model: &'w ModelFile, id: NodeId, key: &Key) -> Native<'w> {
    robot::native(id, &model.weights(), Profile::Dot154, Some(key))
}

/// Frames of all robots in a tick. They receive nothing.
fn say(robots: &mut [(NodeId, Native<'_>)], now: u32) -> Vec<Frame> {
    let mut said = Vec::new();
    for (id, robot) in robots {
        said.extend(robot.speak(now, motion(*id, now)));
        robot.hear(&[]);
    }
    said
}

/// TickOutcome of a tick without its counts.
fn done(outcome: &TickOutcome) -> TickOutcome {
    let mut done = outcome.clone();
    (done.counts.received, done.counts.rejected) = (0, [0; FrameError::ALL.len()]);
    done
}

#[test]
fn ten_thousand_forged_replayed_and_altered_frames_change_no_bit() {
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = robot::start(&image::build_sealed("dot154", &[]).unwrap(), folder.path());
    robot.hello().unwrap();
    let mut undisturbed = native(&model, ID, &key());
    let mut friends: Vec<_> = FRIENDS.map(|id| (id, native(&model, id, &key()))).into();
    let mut strangers: Vec<_> = [10, 15, 20, 45].map(|id| (id, native(&model, id, &[7; 16]))).into();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut recorded: Vec<(u32, Frame)> = Vec::new();
    let mut counted = [0_u32; FrameError::ALL.len()];
    let mut hostile = 0;
    for now in 0..150 {
        let (good, mut foreign) = (say(&mut friends, now), say(&mut strangers, now));
        let mut expected = [0_u32; FrameError::ALL.len()];
        let mut frames = Vec::new();
        while frames.len() < 100 && !recorded.is_empty() {
            let (frame, reason) = match random.random_range(0..3) {
                0 if !foreign.is_empty() => (foreign.swap_remove(0), FrameError::Forged),
                // Newer than every received frame, so that only the tag can reject it.
                0 => (altered(&recorded[recorded.len() - 1].1, now, SEQUENCE, 1), FrameError::Forged),
                1 => {
                    // Half of the time the last one, since few recordings are within the time window.
                    let from = if random.random() { recorded.len() - 1 } else { 0 };
                    let (then, frame) = &recorded[random.random_range(from..recorded.len())];
                    let timely = now - then <= MAX_FRAME_AGE_TICKS;
                    (frame.clone(), if timely { FrameError::Replayed } else { FrameError::OutOfWindow })
                }
                _ => {
                    let frame = altered(&recorded[recorded.len() - 1].1, now, HEADER_BYTES, 0);
                    let (at, bit) = (random.random_range(0..frame.len()), random.random_range(0..8));
                    // Sender and sequence are checked before the tag, all other bytes by the tag.
                    let told = (SENDER..HEADER_BYTES - 1).contains(&at);
                    (altered(&frame, now, if told { HEADER_BYTES } else { at }, 1 << bit), FrameError::Forged)
                }
            };
            frames.push(frame);
            expected[reason as usize] += 1;
        }
        hostile += frames.len();
        frames.extend(good.iter().cloned());
        let (_, outcome) = tick(&mut robot, now, Some(motion(ID, now)), &frames);
        undisturbed.speak(now, motion(ID, now));
        assert_eq!(done(&outcome), done(&undisturbed.hear(&good)), "tick {now}");
        assert_eq!(outcome.counts.received as usize, frames.len());
        assert_eq!(outcome.counts.rejected, expected, "tick {now}");
        counted.iter_mut().zip(expected).for_each(|(sum, count)| *sum += count);
        recorded.extend(good.into_iter().map(|frame| (now, frame)));
    }
    assert!(hostile >= 10_000, "{hostile}");
    for reason in [FrameError::Forged, FrameError::Replayed, FrameError::OutOfWindow] {
        assert!(counted[reason as usize] > 1_000, "{}: {counted:?}", reason.name());
    }
    assert_eq!(counted.iter().sum::<u32>() as usize, hostile, "none was accepted");
    assert!(robot.leave().unwrap().success(), "it ends well");
}

/// A frame with the next sequence of its sender and flipped bits in one byte.
fn altered(frame: &Frame, now: u32, at: usize, bits: u8) -> Frame {
    let mut bytes = frame.to_vec();
    bytes[SEQUENCE..SEQUENCE + 4].copy_from_slice(&(now + 1).to_le_bytes());
    bytes[at] ^= bits;
    bytes.into()
}
