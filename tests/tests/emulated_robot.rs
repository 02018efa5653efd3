//! One emulated robot under hostile frames, a reset, sensor loss, and an unsuitable model.

#![cfg(feature = "emulated")]

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

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
    model::made_up,
    robot::{self, ID, motion, native, tick},
};
use wdgnn_core::{
    message::{AgentMessage, Message},
    task::State as _,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_emulation::{
    emulated::{Emulated, Link},
    qemu::Emulator,
};
use wdgnn_link::{
    encoding::{Encoding as _, exact::Exact},
    error::FrameError,
};
use wdgnn_robot::{config::MAX_STATE_AGE_TICKS, onboard::FlockingModel};

fn model() -> ModelFile {
    models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap()
}

/// An emulated robot with its own folder.
fn emulator(folder: &Path) -> Emulator {
    robot::start(&image::build("robot", &[]).unwrap(), folder)
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
    let mut robot = emulator(folder.path());
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
fn robots_that_are_reset_in_flight_return_with_their_record() {
    let model = model();
    let weights = model.weights();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    let first = robot.hello().unwrap();
    assert_eq!((first.boot, first.resumed), (0, 0));
    let mut friend = native(1, &weights, Profile::Exact, None);
    let mut stored = None;
    for now in 0..130 {
        let heard = friend.speak(now, motion(1, now));
        let (said, outcome) = tick(&mut robot, now, Some(motion(ID, now)), &heard);
        friend.hear(&said);
        // Parameters are saved at the end of every hundredth tick.
        if now == 99 {
            stored = Some(outcome.wide);
        }
    }
    // Killed without notice.
    drop(robot);
    let mut robot = emulator(folder.path());
    let second = robot.hello().unwrap();
    assert_eq!((second.boot, second.resumed), (1, 1));
    let (said, _) = tick(&mut robot, 130, Some(motion(ID, 130)), &[]);
    let mut message: AgentMessage<FlockingModel<'_>, Flocking> = Message::empty(Motion::zero());
    let header = Exact::read_header(&said[0], 130).unwrap();
    Exact::decode(&said[0], &header, weights.checksum, &mut message).unwrap();
    assert_eq!(header.id.boot, 1, "its neighbors accept it as newer");
    assert_eq!(message.wide.rows().as_flattened(), stored.unwrap(), "the parameters of tick 99");
    drop(robot);

    fs::write(folder.path().join("store"), b"not what it wrote").unwrap();
    let third = emulator(folder.path()).hello().unwrap();
    assert_eq!((third.boot, third.resumed), (0, 0), "a damaged store counts as empty");
}

#[test]
fn records_are_replaced_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let [store, first, new] = ["store", "first", "store.new"].map(|name| folder.path().join(name));
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    // A hard link keeps the first record, as a reader at power loss does.
    fs::hard_link(&store, &first).unwrap();
    let record = fs::read(&first).unwrap();
    for now in 0..100 {
        assert_eq!(tick(&mut robot, now, Some(motion(ID, now)), &[]).1.counts.errors, [0; 5]);
    }
    let second = fs::metadata(&store).unwrap();
    assert!(second.ino() != fs::metadata(&first).unwrap().ino(), "another file has replaced it");
    assert_eq!(fs::read(&first).unwrap(), record, "the old record is unchanged");
    assert_eq!(second.len() as usize, record.len(), "the new one is whole");
    // Without space for a new record the old one stays, and the failure is counted.
    fs::create_dir(&new).unwrap();
    let kept = fs::read(&store).unwrap();
    for now in 100..200 {
        let errors = tick(&mut robot, now, Some(motion(ID, now)), &[]).1.counts.errors;
        assert_eq!(errors, [0, 0, 0, 0, u32::from(now == 199)], "tick {now}");
    }
    assert_eq!(fs::metadata(&store).unwrap().ino(), second.ino());
    assert_eq!(fs::read(&store).unwrap(), kept);
}

#[test]
fn blind_robots_send_nothing_and_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    let begin = MAX_STATE_AGE_TICKS + 5;
    for now in 0..4 * begin {
        // It senses in the second and fourth quarter only.
        let sees = now / begin % 2 == 1;
        let (said, outcome) = tick(&mut robot, now, sees.then(|| motion(ID, now)), &[]);
        let blind = now < begin || (!sees && now % begin >= MAX_STATE_AGE_TICKS);
        assert_eq!(said.is_empty(), blind, "tick {now}");
        assert_eq!(outcome.counts.errors, [u32::from(!sees), 0, 0, 0, 0], "tick {now}");
        assert!(outcome.command.iter().all(|u| u.is_finite()));
        assert!(!blind || outcome.command == [0.0; 2], "tick {now}");
    }
}

#[test]
fn images_with_an_unsuitable_model_report_the_difference_and_do_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("narrow.wdgnn");
    let place = file.display().to_string();
    let model_in_image = [("WDGNN_MODEL", place.as_str())];
    fs::write(&file, made_up(16, 1)).unwrap();
    let start = |image: &Path, profile| {
        Emulated::new::<Flocking>(image, &model(), Link { profile, sealed: false }, 0..1, &Faults::default())
    };
    let narrow = image::build_with("robot", &[], &model_in_image).unwrap();
    let refused = start(&narrow, Profile::Exact).unwrap_err().to_string();
    assert!(refused.contains("robot 0 does not start"), "{refused}");
    assert!(refused.contains("Hidden") && refused.contains("expected: 32, found: 16"), "{refused}");

    fs::write(&file, made_up(32, 1)).unwrap();
    let other = image::build_with("robot", &[], &model_in_image).unwrap();
    let refused = start(&other, Profile::Exact).unwrap_err().to_string();
    assert!(refused.contains("the firmware image contains model"), "{refused}");

    let settings = [model_in_image[0], ("WDGNN_PROFILE", "dot154")];
    let other = image::build_with("robot", &[], &settings).unwrap();
    let refused = start(&other, Profile::Dot154).unwrap_err().to_string();
    assert!(refused.contains("trained for an exchange every 1 ticks"), "{refused}");
    assert!(refused.contains("link profile has one every 5"), "{refused}");
}
