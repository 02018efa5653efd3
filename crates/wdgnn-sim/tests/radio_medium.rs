//! Episodes with encoded frames on the radio medium.
//!
//! The table of faults proves the effect of each fault (`host-sim/tests/goldens/faults.txt`), and
//! `host-sim/tests/fast_path.rs` that frames without faults equal messages in memory.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;

use wdgnn_link::error::FrameError;
use wdgnn_sim::{
    controllers::{Controller, EvalConfig, ONLINE},
    counters::Counters,
    episode::{Episode, EpisodeMetrics},
    medium::options::Faults,
    profiles::Profile,
    seeds::{Purpose, generator},
    world::{Scenario, flock::Flock},
};

const ROBOTS: usize = 15;

/// Runs an episode with faults.
fn flown(profile: Profile, faults: &str) -> (EpisodeMetrics, Counters) {
    let condition = Scenario { robots: ROBOTS, ..Scenario::PAPER };
    let faults = Some(Faults { seed: 5, ..Faults::parse(faults).unwrap() });
    let eval = EvalConfig { faults, ..EvalConfig::<Flock>::for_profile(profile).unwrap() };
    let start = Episode::draw(&eval.world, &condition, &mut generator(5, Purpose::Testing, 0)).unwrap();
    let mut swarm = eval.swarm(&Controller::named(ONLINE).unwrap(), &start, 0).unwrap();
    let (task, stop) = (eval.task().unwrap(), AtomicBool::new(false));
    let metrics = start.fly(&task, swarm.as_mut(), &mut [], &stop).unwrap();
    let counters = metrics.counters.clone().unwrap();
    (metrics, counters)
}

#[test]
fn absent_robots_are_neither_near_nor_heard() {
    let kills: Vec<String> = (0..ROBOTS).map(|robot| format!("kill={robot}@0")).collect();
    for absent in ["join=1@500", &kills.join(" ")] {
        let (metrics, counters) = flown(Profile::Exact, absent);
        assert_eq!((metrics.min_distance, metrics.close_pairs), (f32::INFINITY, [0; 3]));
        assert_eq!(counters.heard, 0);
    }
}

#[test]
fn spoofed_frames_are_received_once() {
    let heard = |faults| flown(Profile::Exact, faults).1.heard;
    // Four tries for the name of each other robot, received by all robots.
    assert_eq!(heard("spoof=199") - heard(""), (4 * (ROBOTS - 1) * ROBOTS) as u64);
}

#[test]
fn invented_robots_reach_the_neighbors_of_one_robot() {
    let counters = flown(Profile::Exact, "sybil=16").1;
    assert!(counters.lies.told > 0, "they are in tables");
    assert!(counters.refused.of(FrameError::UnknownSender) > 0, "but for those outside the swarm");
}

#[test]
fn clocks_synchronize_to_received_frames() {
    let untimely = |profile, faults: &str| flown(profile, faults).1.refused.of(FrameError::OutOfWindow);
    for profile in [Profile::Exact, Profile::Dot154, Profile::Esb32] {
        assert_eq!(untimely(profile, "drift=100"), 0);
        assert_eq!(untimely(profile, "time-jump=0@50:-40"), 0, "a robot knows which ticks it has had");
        assert!(untimely(profile, "time-jump=0@50:30") > 0);
    }
    // Neighbors follow after ten exchanges, and their neighbors later: late jumps end before that.
    let share = |tick: u32| {
        f64::from(untimely(Profile::Exact, &format!("time-jump=0@{tick}:30"))) / f64::from(200 - tick)
    };
    assert!(share(50) < 0.75 * share(190), "{} {}", share(50), share(190));
}
