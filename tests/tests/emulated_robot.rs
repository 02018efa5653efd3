//! One emulated robot in hard times: hostile frames, a reset in flight, a sensor that fails, a model that does not fit.

#![cfg(feature = "emulated")]

use std::{fs, path::Path, sync::Arc};

use firmware::emulation::{Outcome, Situation};
use host_sim::{
    fleet::{
        emulated::Emulated,
        native::{Memory, NativeRobot},
        patrol::{PATIENCE, Patrol},
        qemu::Emulator,
    },
    model::ModelFile,
    models,
    train::recipe::{Architecture, RecipeName},
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{image, model::made_up};
use wdgnn_core::{
    flocking::{Flocking, Motion},
    message::{Link, Profile},
    node::BeaconOf,
    refusal::Refusal,
    robot::RobotModel,
};

const ID: u16 = 5;

fn model() -> ModelFile {
    models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap()
}

fn motion(robot: u16, tick: u32) -> Motion {
    let (along, time) = (f32::from(robot) * 0.7, tick as f32 * 0.01);
    Motion { position: [along + time, 0.3 * along], velocity: [1.0 + 0.1 * along, -0.2 * along] }
}

/// An emulated robot in a folder of its own.
fn emulator(folder: &Path) -> Emulator {
    let robot = image::build("robot", &[]).unwrap();
    Emulator::start(&robot, ID.into(), folder, &Arc::new(Patrol::new(PATIENCE))).unwrap()
}

/// One tick of an emulated robot: its frame, and what it did with those that it heard.
fn tick(robot: &mut Emulator, tick: u32, sensed: bool, heard: &[&[u8]]) -> (Vec<u8>, Outcome) {
    let Motion { position, velocity } = motion(ID, tick);
    robot.sense(&Situation { tick, sensed: sensed.into(), position, velocity }).unwrap();
    let said = robot.speak().unwrap().expect("it speaks in every tick");
    robot.hear(heard).unwrap();
    (said, robot.outcome().unwrap())
}

/// A frame made to do harm, from a good one of somebody's.
fn hostile(good: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
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
    frame
}

#[test]
fn a_hundred_thousand_hostile_frames_are_all_counted_and_change_nothing_that_they_should_not() {
    let model = model();
    let weights = model.weights();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    // The same robot in this process is the judge: whatever a frame does to it is what the core says, and is tested there.
    let mut judge = NativeRobot::start(ID, &weights, Memory::default()).unwrap();
    let mut friends: Vec<_> =
        [1, 2, 3].map(|id| (id, NativeRobot::start(id, &weights, Memory::default()).unwrap())).into();
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut refused = [0_u64; Refusal::ALL.len()];
    let mut sent = 0;
    for now in 0..420 {
        let good: Vec<Vec<u8>> =
            friends.iter_mut().filter_map(|(id, friend)| friend.speak(now, motion(*id, now))).collect();
        for (_, friend) in &mut friends {
            friend.hear(&[]);
        }
        let mut frames = good.clone();
        while frames.len() < 250 {
            frames.push(hostile(&good[random.random_range(0..good.len())], &mut random));
        }
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let (_, outcome) = tick(&mut robot, now, true, &frames);
        judge.speak(now, motion(ID, now));
        assert_eq!(outcome, judge.hear(&frames), "tick {now}");
        assert_eq!(outcome.heard as usize, frames.len(), "all are counted");
        assert!(outcome.command.iter().all(|u| u.abs() <= Flocking::DEFAULT.limit));
        refused.iter_mut().zip(outcome.refused).for_each(|(sum, count)| *sum += u64::from(count));
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
    let mut friend = NativeRobot::start(1, &weights, Memory::default()).unwrap();
    let mut stored = None;
    for now in 0..130 {
        let said = friend.speak(now, motion(1, now)).expect("it speaks in every tick");
        let (frame, outcome) = tick(&mut robot, now, true, &[&said]);
        friend.hear(&[&frame]);
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
    let (frame, _) = tick(&mut robot, 130, true, &[]);
    let link = Link { profile: Profile::Exact, model: weights.model };
    let beacon = BeaconOf::<RobotModel<'_>, Flocking>::decode(&link, &frame).unwrap();
    assert_eq!(beacon.boot, 1, "its neighbours take it for newer than what they heard before");
    assert_eq!(beacon.wide.rows(), stored.unwrap(), "the parameters of tick 99");
    drop(robot);

    fs::write(folder.path().join("store"), b"not what it wrote").unwrap();
    let third = emulator(folder.path()).hello().unwrap();
    assert_eq!((third.boot, third.resumed), (0, 0), "a damaged store is no store");
}

#[test]
fn a_tick_without_a_sensor_is_counted_and_flown() {
    let folder = tempfile::tempdir().unwrap();
    let mut robot = emulator(folder.path());
    robot.hello().unwrap();
    assert_eq!(tick(&mut robot, 0, true, &[]).1.errors, [0; 5]);
    let (_, blind) = tick(&mut robot, 1, false, &[]);
    assert_eq!(blind.errors, [1, 0, 0, 0, 0]);
    assert!(blind.command.iter().all(|u| u.is_finite()));
}

#[test]
fn an_image_with_a_model_for_another_robot_refuses_to_start_and_says_which_dimension() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("narrow.wdgnn");
    fs::write(&file, made_up(16, 1)).unwrap();
    let narrow = image::build_with_model("robot", &[], Some(&file)).unwrap();
    let refused = Emulated::new(&narrow, &model(), 1).unwrap_err().to_string();
    assert!(refused.contains("robot 0 does not start"), "{refused}");
    assert!(refused.contains("Hidden") && refused.contains("expected: 32, found: 16"), "{refused}");

    fs::write(&file, made_up(32, 1)).unwrap();
    let other = image::build_with_model("robot", &[], Some(&file)).unwrap();
    let refused = Emulated::new(&other, &model(), 1).unwrap_err().to_string();
    assert!(refused.contains("the firmware image carries model"), "{refused}");
}
