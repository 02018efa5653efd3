//! One emulated robot under hostile frames, and with an unsuitable model.

#![cfg(feature = "emulated")]

use host_sim::{
    medium::options::Faults,
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    scene::Frame,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{
    image,
    robot::{self, ID, motion, native, tick},
};
use wdgnn_core::tasks::flocking::Flocking;
use wdgnn_emulation::emulated::{Emulated, Link};
use wdgnn_link::error::FrameError;

fn model() -> ModelFile {
    models::shipped(RecipeName::Through, Architecture::WdGnn).unwrap()
}

/// A hostile frame, derived from a valid one.
fn hostile(good: &[u8], random: &mut ChaCha8Rng) -> Frame {
    let mut frame = good.to_vec();
    let floats = 22 / 2; // even offsets behind the header, so that a number is hit as often as not
    match random.random_range(0..8) {
        0 => frame = (0..random.random_range(0..400)).map(|_| random.random()).collect(),
        1 => frame.truncate(random.random_range(0..frame.len())),
        2 => frame.extend((0..random.random_range(1..200)).map(|_| random.random::<u8>())),
        3 => {
            let bit = random.random_range(0..frame.len() * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        4 => {
            let evil = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1.0e-40];
            let at = 2 * random.random_range(floats..frame.len() / 2 - 1);
            frame[at..at + 4].copy_from_slice(&evil[random.random_range(0..evil.len())].to_le_bytes());
        }
        // A new address each time: a flood of Sybil identities.
        5 => frame[11..13].copy_from_slice(&random.random_range(100..60_000_u16).to_le_bytes()),
        6 => frame[11..13].copy_from_slice(&ID.to_le_bytes()),
        // Unchanged: a replay, from the second time on.
        _ => {}
    }
    frame.into()
}

#[test]
fn a_hundred_thousand_hostile_frames_have_the_effect_of_the_native_robot() {
    let model = model();
    let weights = model.weights();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = robot::start(&image::build("robot", &[]).unwrap(), folder.path());
    robot.hello().unwrap();
    // The native robot defines the expected effect of each frame; its own tests check that effect.
    let native = |id| native(id, &weights, Profile::Exact, None);
    let mut judge = native(ID);
    let mut friends: Vec<_> = [1, 2, 3].map(|id| (id, native(id))).into();
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut refused = [0_u64; FrameError::ALL.len()];
    let mut sent = 0;
    for now in 0..420 {
        let good: Vec<Frame> =
            friends.iter_mut().flat_map(|(id, friend)| friend.speak(now, motion(*id, now))).collect();
        for (_, friend) in &mut friends {
            friend.hear(&[]);
        }
        let mut frames = good.clone();
        while frames.len() < 250 {
            frames.push(hostile(&good[random.random_range(0..good.len())], &mut random));
        }
        let (_, outcome) = tick(&mut robot, now, Some(motion(ID, now)), &frames);
        judge.speak(now, motion(ID, now));
        assert_eq!(outcome, judge.hear(&frames), "tick {now}");
        assert_eq!(outcome.counts.received as usize, frames.len(), "all are counted");
        assert!(outcome.command.iter().all(|u| u.abs() <= Flocking::DEFAULT.limit));
        refused.iter_mut().zip(outcome.counts.rejected).for_each(|(sum, count)| *sum += u64::from(count));
        sent += frames.len() - good.len();
    }
    assert!(sent > 100_000);
    for (refusal, count) in FrameError::ALL.iter().zip(refused).take(11) {
        assert!(count > 0, "no frame was refused as {}", refusal.name());
    }
    assert!(robot.leave().unwrap().success(), "it exits without an error");
}

#[test]
fn images_with_an_unsuitable_model_report_the_difference_and_do_not_start() {
    for (weights, profile, words) in [
        ("flocking-3d", Profile::Exact, ["robot 0 does not start", "field: Task"]),
        ("flocking-dot154-10hz", Profile::Exact, ["the firmware image contains model", "rebuild it with"]),
        ("flocking-wd-gnn", Profile::Dot154, ["an exchange every 1 ticks", "link profile has one every 5"]),
    ] {
        let weights = format!("models/{weights}.wdgnn");
        let settings = [("WDGNN_MODEL", &*weights), ("WDGNN_PROFILE", profile.name())];
        let image = image::build_with("robot", &[], &settings).unwrap();
        let link = Link { profile, sealed: false };
        let started = Emulated::new::<Flocking>(&image, &model(), link, 1, &Faults::default());
        let refused = started.unwrap_err().to_string();
        assert!(words.iter().all(|word| refused.contains(word)), "{refused}");
    }
}
