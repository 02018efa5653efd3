//! One emulated robot in hard times: hostile frames, a reset in flight, a sensor that fails, a model that does not fit.

#![cfg(feature = "emulated")]

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use host_sim::{
    air::options::Faults,
    model::ModelFile,
    models,
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    scene::Frame,
    swarm::{
        emulated::{Emulated, Link},
        qemu::Emulator,
    },
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{
    image,
    model::made_up,
    robot::{self, ID, motion, native, tick},
};
use wdgnn_core::tasks::flocking::Flocking;
use wdgnn_link::{
    encoding::exact::{self, Exact},
    error::Refusal,
    header,
};
use wdgnn_robot::{config::BLIND_TICKS, node::BeaconOf, onboard::RobotModel};

fn model() -> ModelFile {
    models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap()
}

/// An emulated robot in a folder of its own.
fn emulator(folder: &Path) -> Emulator {
    robot::start(&image::build("robot", &[]).unwrap(), folder)
}

/// A frame made to do harm, from a good one of somebody's.
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
        // An address of its own each time: a flood of invented robots.
        5 => frame[11..13].copy_from_slice(&random.random_range(100..60_000_u16).to_le_bytes()),
        6 => frame[11..13].copy_from_slice(&ID.to_le_bytes()),
        // As it is: a replay, from the second time on.
        _ => {}
    }
    frame.into()
}

#[test]
fn a_hundred_thousand_hostile_frames_are_all_counted_and_change_nothing_that_they_should_not() {
    let model = model();
    let weights = model.weights();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    // The same robot in this process is the judge: whatever a frame does to it is what the core says, and is tested there.
    let native = |id| native::<Exact>(id, &weights, &[0; 16]);
    let mut judge = native(ID);
    let mut friends: Vec<_> = [1, 2, 3].map(|id| (id, native(id))).into();
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut refused = [0_u64; Refusal::ALL.len()];
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
        assert_eq!(outcome.counts.heard as usize, frames.len(), "all are counted");
        assert!(outcome.command.iter().all(|u| u.abs() <= Flocking::DEFAULT.limit));
        refused.iter_mut().zip(outcome.counts.refused).for_each(|(sum, count)| *sum += u64::from(count));
        sent += frames.len() - good.len();
    }
    assert!(sent > 100_000);
    for (refusal, count) in Refusal::ALL.iter().zip(refused).take(11) {
        assert!(count > 0, "no frame was refused as {}", refusal.name());
    }
    assert!(robot.leave().unwrap().success(), "it ends well");
}

#[test]
fn a_robot_that_is_reset_in_flight_comes_back_with_what_it_stored() {
    let model = model();
    let weights = model.weights();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    let first = robot.hello().unwrap();
    assert_eq!((first.boot, first.resumed), (0, 0));
    let mut friend = native::<Exact>(1, &weights, &[0; 16]);
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
    // Pulled out of the air without a word.
    drop(robot);
    let mut robot = emulator(folder.path());
    let second = robot.hello().unwrap();
    assert_eq!((second.boot, second.resumed), (1, 1));
    let (said, _) = tick(&mut robot, 130, Some(motion(ID, 130)), &[]);
    let link = header::Link { profile: header::Profile::Exact, checksum: weights.checksum };
    let beacon: BeaconOf<RobotModel<'_>, Flocking> = exact::decode(&link, &said[0]).unwrap();
    assert_eq!(beacon.boot, 1, "its neighbours take it for newer than what they heard before");
    assert_eq!(beacon.wide.rows().as_flattened(), stored.unwrap(), "the parameters of tick 99");
    drop(robot);

    fs::write(folder.path().join("store"), b"not what it wrote").unwrap();
    let third = emulator(folder.path()).hello().unwrap();
    assert_eq!((third.boot, third.resumed), (0, 0), "a damaged store is no store");
}

#[test]
fn what_is_stored_is_replaced_all_at_once_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let [store, first, new] = ["store", "first", "store.new"].map(|name| folder.path().join(name));
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    // Whoever has a hold of the first record, such as a reader when power fails, keeps it as it is.
    fs::hard_link(&store, &first).unwrap();
    let record = fs::read(&first).unwrap();
    for now in 0..100 {
        assert_eq!(tick(&mut robot, now, Some(motion(ID, now)), &[]).1.counts.errors, [0; 5]);
    }
    let second = fs::metadata(&store).unwrap();
    assert!(second.ino() != fs::metadata(&first).unwrap().ino(), "another file has taken its place");
    assert_eq!(fs::read(&first).unwrap(), record, "the one before was never written to");
    assert_eq!(second.len() as usize, record.len(), "the new one is whole");
    // There is no room for another: what is there stays, and the failure is counted.
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
fn a_tick_without_a_sensor_is_counted_and_flown() {
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    assert_eq!(tick(&mut robot, 0, Some(motion(ID, 0)), &[]).1.counts.errors, [0; 5]);
    let (_, blind) = tick(&mut robot, 1, None, &[]);
    assert_eq!(blind.counts.errors, [1, 0, 0, 0, 0]);
    assert!(blind.command.iter().all(|u| u.is_finite()));
}

#[test]
fn a_robot_that_does_not_know_where_it_is_says_nothing_and_rests_until_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    let begin = BLIND_TICKS + 5;
    for now in 0..4 * begin {
        // Sees in the second and in the fourth stretch only.
        let sees = now / begin % 2 == 1;
        let (said, outcome) = tick(&mut robot, now, sees.then(|| motion(ID, now)), &[]);
        let blind = now < begin || (!sees && now % begin >= BLIND_TICKS);
        assert_eq!(said.is_empty(), blind, "tick {now}");
        assert!(!blind || outcome.command == [0.0; 2], "tick {now}");
    }
}

#[test]
fn an_image_with_a_model_for_another_robot_refuses_to_start_and_says_which_dimension() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("narrow.wdgnn");
    let place = file.display().to_string();
    let model_in_image = [("WDGNN_MODEL", place.as_str())];
    fs::write(&file, made_up(16, 1)).unwrap();
    let start = |image: &Path, profile| {
        Emulated::new::<Flocking>(image, &model(), Link { profile, sealed: false }, 1, &Faults::default())
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
