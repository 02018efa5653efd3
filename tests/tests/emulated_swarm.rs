//! What flies in the simulator is, bit for bit, what runs on the robot: whole swarms of emulated Cortex-M4F against the same
//! swarms in this process.

#![cfg(feature = "emulated")]

use std::{path::Path, process::Command, sync::atomic::AtomicBool};

use host_sim::{
    fleet::{
        Fleet,
        emulated::Emulated,
        events::Events,
        mission::{self, Debriefing},
        native::Native,
    },
    model::ModelFile,
    models,
    seeds::{Purpose, generator},
    start::{Condition, start},
    train::recipe::{Architecture, RecipeName},
};
use system_tests::image;
use wdgnn_core::flocking::Flocking;

fn model() -> ModelFile {
    models::shipped(RecipeName::Ours, Architecture::WdGnn).unwrap()
}

fn fly(
    fleet: &mut dyn Fleet,
    robots: usize,
    ticks: u32,
    seed: u64,
    events: &Events,
) -> (Debriefing, Vec<String>) {
    let condition = Condition { robots, ticks, ..Condition::PAPER };
    let from = start(&condition, &mut generator(seed, Purpose::Testing, 0)).unwrap();
    let mut stories = Vec::new();
    let mut lost = |_: u32, story: &str| stories.push(story.to_owned());
    let never = AtomicBool::new(false);
    let flown =
        mission::fly(fleet, &condition, &from, Flocking::DEFAULT.period, events, &never, &mut lost).unwrap();
    (flown, stories)
}

fn fly_both(robots: usize, ticks: u32, seed: u64, events: &Events) -> [Debriefing; 2] {
    let model = model();
    assert!(model.weights().header.learning.step > 0.0, "online learning is on");
    let image = image::build("robot", &[]).unwrap();
    let (native, _) = fly(&mut Native::new(&model, robots).unwrap(), robots, ticks, seed, events);
    let mut fleet = Emulated::new(&image, &model, robots).unwrap();
    let (emulated, stories) = fly(&mut fleet, robots, ticks, seed, events);
    assert_eq!(stories, [""; 0], "nobody was lost");
    [native, emulated]
}

#[test]
fn fifty_emulated_robots_do_what_fifty_native_ones_do_bit_for_bit() {
    let mut digests = Vec::new();
    for seed in [1, 2, 3] {
        let [native, emulated] = fly_both(50, 200, seed, &Events::default());
        assert_eq!(native.digest, emulated.digest, "seed {seed}");
        assert_eq!(native.variation, emulated.variation);
        assert!(native.last() < 0.05, "they flock: {}", native.last());
        digests.push(native.digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 3, "other starts, other digests");
}

#[test]
fn kills_reboots_and_drops_do_the_same_to_both() {
    let events = Events {
        kills: vec!["3@50".parse().unwrap()],
        reboots: vec!["7@80".parse().unwrap(), "7@130".parse().unwrap(), "0@101".parse().unwrap()],
        drops: vec!["5@20-60".parse().unwrap()],
    };
    let [native, emulated] = fly_both(12, 150, 4, &events);
    assert_eq!(native.digest, emulated.digest);
    let [undisturbed, _] = fly_both(12, 150, 4, &Events::default());
    assert_ne!(native.digest, undisturbed.digest, "the events happened");
}

#[test]
fn a_robot_that_dies_is_reported_and_the_others_fly_on() {
    let (model, image) = (model(), image::build("robot", &[]).unwrap());
    let mut fleet = Emulated::new(&image, &model, 4).unwrap();
    let process = fleet.process(2).unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    let (flown, stories) = fly(&mut fleet, 4, 20, 1, &Events::default());
    assert_eq!(stories.len(), 1);
    assert!(
        stories[0].starts_with("robot 2 is lost; the last it said: info  robot 2, model 0x"),
        "{stories:?}"
    );
    assert!(fleet.process(2).is_none() && fleet.process(3).is_some());
    let killed = Events { kills: vec!["2@0".parse().unwrap()], ..Events::default() };
    let (native, _) = fly(&mut Native::new(&model, 4).unwrap(), 4, 20, 1, &killed);
    assert_eq!(flown.digest, native.digest, "to the others it is as if it had been taken out");
}

#[test]
fn no_emulator_outlives_its_fleet() {
    let image = image::build("robot", &[]).unwrap();
    let fleet = Emulated::new(&image, &model(), 3).unwrap();
    let processes: Vec<u32> = (0..3).filter_map(|robot| fleet.process(robot)).collect();
    let alive = |process: &u32| Path::new("/proc").join(process.to_string()).exists();
    assert!(processes.len() == 3 && processes.iter().all(alive));
    drop(fleet);
    assert!(!processes.iter().any(alive));
}
