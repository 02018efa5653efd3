//! What flies in the simulator is, bit for bit, what runs on the robot: whole swarms of emulated Cortex-M4F against the same
//! swarms in this process.

#![cfg(feature = "emulated")]

use std::{collections::BTreeMap, path::Path, process::Command, sync::atomic::AtomicBool};

use host_sim::{
    air::{
        faulty::RadioFaults,
        loss::Loss,
        options::{About, Faults, Liars},
    },
    fleet::{
        Fleet,
        air::FleetAir,
        emulated::Emulated,
        events::Events,
        mission::{self, Debriefing},
        native::Native,
    },
    key, models,
    profiles::{FlownCodec, Profile},
    seeds::{Purpose, generator},
    start::{Condition, start},
};
use system_tests::image;
use wdgnn_core::{
    codec::Exact,
    compact::{Dot154, EspNow},
    flocking::Flocking,
    seal::{Key, Sealed, SealedEsb32},
};

/// What a flight is told.
struct Flight<'a> {
    profile: Profile,
    image: &'a Path,
    robots: usize,
    ticks: u32,
    seed: u64,
    faults: Faults,
}

fn fly<C: FlownCodec>(flight: &Flight<'_>, fleet: &mut dyn Fleet) -> (Debriefing, Vec<String>) {
    let model = models::of_profile(flight.profile).unwrap();
    let condition = Condition { robots: flight.robots, ticks: flight.ticks, ..Condition::PAPER };
    let from = start(&condition, &mut generator(flight.seed, Purpose::Testing, 0)).unwrap();
    let mut air = FleetAir::<C>::new(&model, &key(), &flight.faults, flight.robots).unwrap();
    let mut stories = Vec::new();
    let mut lost = |_: u32, story: &str| stories.push(story.to_owned());
    let (never, period) = (AtomicBool::new(false), Flocking::DEFAULT.period);
    let flown = mission::fly(fleet, &mut air, &condition, &from, period, &never, &mut lost).unwrap();
    (flown, stories)
}

fn key() -> Key {
    key::read(Path::new(image::KEY)).unwrap()
}

fn fly_native<C: FlownCodec>(flight: &Flight<'_>) -> Debriefing {
    let model = models::of_profile(flight.profile).unwrap();
    assert!(model.weights().header.learning.step > 0.0, "online learning is on");
    fly::<C>(flight, &mut Native::<C>::new(&model, &key(), flight.robots).unwrap()).0
}

/// Flies a swarm in this process and the same in emulators. Both must have done and counted the same.
fn fly_both<C: FlownCodec>(flight: &Flight<'_>) -> Debriefing {
    let native = fly_native::<C>(flight);
    let model = models::of_profile(flight.profile).unwrap();
    let mut fleet = Emulated::new::<C>(flight.image, &model, flight.robots).unwrap();
    let (emulated, stories) = fly::<C>(flight, &mut fleet);
    assert_eq!(stories, [""; 0], "nobody was lost");
    assert_eq!(native, emulated, "{} seed {}", flight.profile.name(), flight.seed);
    native
}

#[test]
fn fifty_emulated_robots_do_what_fifty_native_ones_do_bit_for_bit() {
    let image = image::build("robot", &[]).unwrap();
    let mut digests = Vec::new();
    for seed in [1, 2, 3] {
        let faults = Faults::default();
        let flight = Flight { profile: Profile::Exact, image: &image, robots: 50, ticks: 200, seed, faults };
        let flown = fly_both::<Exact>(&flight);
        assert!(flown.last() < 0.05, "they flock: {}", flown.last());
        digests.push(flown.digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 3, "other starts, other digests");
}

#[test]
fn sealed_swarms_do_the_same_on_every_profile_whatever_goes_wrong() {
    fn check<C: FlownCodec>(profile: Profile) {
        let image = image::build_sealed(profile.name(), &[]).unwrap();
        let flight = |faults| Flight { profile, image: &image, robots: 9, ticks: 90, seed: 4, faults };
        let quiet = fly_both::<C>(&flight(Faults::default()));
        assert_eq!(quiet.refused, BTreeMap::new());
        let faults = Faults {
            radio: RadioFaults {
                loss: Loss { chance: 0.1, burst: 3.0 },
                corrupt: 0.1,
                duplicate: 0.1,
                delay: 0.1,
                latest: 5,
            },
            replay: Some(40),
            forge: 5,
            events: Events {
                kills: vec!["3@50".parse().unwrap()],
                reboots: vec!["7@60".parse().unwrap()],
                drops: vec!["5@20-40".parse().unwrap()],
            },
            skew: 1,
            partition: Some(55..65),
            liars: Some(Liars { about: About::State, share: 0.2 }),
            ..Faults::default()
        };
        let hostile = fly_both::<C>(&flight(faults));
        for reason in ["forged", "replayed", "untimely", "too-short", "implausible"] {
            assert!(hostile.refused.contains_key(reason), "{}: {:?}", profile.name(), hostile.refused);
        }
        // Everything that each robot heard of strangers, at 5 frames in every exchange.
        let exchanges = u64::from(90 / profile.exchange());
        assert!(hostile.refused["forged"] > exchanges * 5 * 8 / 2, "{:?}", hostile.refused);
    }
    check::<Sealed<Exact>>(Profile::Exact);
    check::<Sealed<Dot154>>(Profile::Dot154);
    check::<Sealed<EspNow>>(Profile::Espnow);
    check::<SealedEsb32>(Profile::Esb32);
}

#[test]
fn kills_reboots_and_drops_do_the_same_to_both() {
    let events = Events {
        kills: vec!["3@50".parse().unwrap()],
        reboots: vec!["7@80".parse().unwrap(), "7@130".parse().unwrap(), "0@101".parse().unwrap()],
        drops: vec!["5@20-60".parse().unwrap()],
    };
    let image = image::build("robot", &[]).unwrap();
    let flight = |events| {
        let faults = Faults { events, ..Faults::default() };
        Flight { profile: Profile::Exact, image: &image, robots: 12, ticks: 150, seed: 4, faults }
    };
    let disturbed = fly_both::<Exact>(&flight(events));
    let undisturbed = fly_native::<Exact>(&flight(Events::default()));
    assert_ne!(disturbed.digest, undisturbed.digest, "the events happened");
}

#[test]
fn more_frames_than_a_robot_looks_at_are_a_flood_and_the_next_tick_is_as_any_other() {
    let image = image::build("robot", &[]).unwrap();
    let faults = Faults { forge: 300, ..Faults::default() };
    let flight = Flight { profile: Profile::Exact, image: &image, robots: 3, ticks: 4, seed: 1, faults };
    let flown = fly_both::<Exact>(&flight);
    assert_eq!(flown.refused["flood"], 3 * 4, "one a tick and robot");
}

#[test]
fn a_robot_that_dies_is_reported_and_the_others_fly_on() {
    let model = models::of_profile(Profile::Exact).unwrap();
    let image = image::build("robot", &[]).unwrap();
    let flight = |kills| {
        let faults = Faults { events: Events { kills, ..Events::default() }, ..Faults::default() };
        Flight { profile: Profile::Exact, image: &image, robots: 4, ticks: 20, seed: 1, faults }
    };
    let mut fleet = Emulated::new::<Exact>(&image, &model, 4).unwrap();
    let process = fleet.process(2).unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    let (flown, stories) = fly::<Exact>(&flight(Vec::new()), &mut fleet);
    assert_eq!(stories.len(), 1);
    assert!(
        stories[0].starts_with("robot 2 is lost; the last it said: info  robot 2, model 0x"),
        "{stories:?}"
    );
    assert!(fleet.process(2).is_none() && fleet.process(3).is_some());
    let native = fly_native::<Exact>(&flight(vec!["2@0".parse().unwrap()]));
    assert_eq!(flown.digest, native.digest, "to the others it is as if it had been taken out");
}

#[test]
fn no_emulator_outlives_its_fleet() {
    let image = image::build("robot", &[]).unwrap();
    let fleet = Emulated::new::<Exact>(&image, &models::of_profile(Profile::Exact).unwrap(), 3).unwrap();
    let processes: Vec<u32> = (0..3).filter_map(|robot| fleet.process(robot)).collect();
    let alive = |process: &u32| Path::new("/proc").join(process.to_string()).exists();
    assert!(processes.len() == 3 && processes.iter().all(alive));
    drop(fleet);
    assert!(!processes.iter().any(alive));
}
