//! Episodes with encoded frames on the radio medium.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;

use wdgnn_core::tasks::flocking::Motion;
use wdgnn_link::error::FrameError;
use wdgnn_sim::{
    controllers::{Controller, EvalConfig, ONLINE},
    episode::{self, Episode, EpisodeMetrics, Observer},
    error::Result,
    medium::{
        insider::{About, Liars},
        options::{Faults, Trust},
    },
    profiles::Profile,
    recipe::RecipeName,
    seeds::{Purpose, generator},
    world::{Scenario, flock::Flock},
};

const ROBOTS: usize = 15;

/// Observer that keeps the final states.
#[derive(Default)]
struct Last(Vec<Motion>);

impl Observer<Flock> for Last {
    fn observe(&mut self, moment: &episode::TickView<'_, Flock>) -> Result {
        self.0 = moment.scene.states.to_vec();
        Ok(())
    }
}

fn flown(profile: Profile, faults: Option<Faults>) -> (EpisodeMetrics, Vec<Motion>) {
    let condition = Scenario { robots: ROBOTS, ..Scenario::PAPER };
    let eval = EvalConfig { faults, ..EvalConfig::<Flock>::for_profile(RecipeName::Ours, profile).unwrap() };
    let start = Episode::draw(&eval.world, &condition, &mut generator(5, Purpose::Testing, 0)).unwrap();
    let mut swarm = eval.swarm(&Controller::named(ONLINE).unwrap(), &start, 0).unwrap();
    let mut last = Last::default();
    let (task, stop) = (eval.task().unwrap(), AtomicBool::new(false));
    let flight = start.fly(&task, swarm.as_mut(), &mut [&mut last], &stop).unwrap();
    (flight, last.0)
}

#[test]
fn sealed_frames_without_faults_equal_messages_in_memory() {
    for &profile in Profile::ALL {
        let handed_over = flown(profile, None);
        let sent = flown(profile, Some(Faults { trust: Trust::AsTrained, ..Faults::default() }));
        assert_eq!(handed_over.0.score, sent.0.score, "{}", profile.name());
        assert_eq!(handed_over.1, sent.1, "{}: every bit of every robot's place", profile.name());
        assert_eq!(sent.0.counters.unwrap().refused.total(), 0, "{}", profile.name());
    }
}

#[test]
fn losses_affect_only_received_frames() {
    let heard = |drop_chance| {
        let faults = Faults { drop_chance, ..Faults::default() };
        let counters = flown(Profile::Dot154, Some(faults)).0.counters.unwrap();
        assert_eq!((counters.refused.total(), counters.violations), (0, 0));
        counters.heard as f64
    };
    let share = heard(0.3) / heard(0.0);
    assert!((0.6..0.8).contains(&share), "{share}");
}

#[test]
fn removed_robots_are_evicted() {
    let faults = Faults::parse("kill=3@100").unwrap();
    let (flight, last) = flown(Profile::Espnow, Some(faults));
    let before = flown(Profile::Espnow, Some(Faults::default())).1;
    assert_ne!(last[3], before[3]);
    let stale = flight.counters.unwrap().longest_stale;
    assert!((1..=20).contains(&stale), "{stale} ticks");
}

#[test]
fn a_restarted_robot_is_back_within_a_few_exchanges() {
    let faults = Faults::parse("reboot=0@60,7@90").unwrap();
    let counters = flown(Profile::Dot154, Some(faults)).0.counters.unwrap();
    assert!(counters.longest_return <= 20, "{} ticks", counters.longest_return);
    assert_eq!(counters.refused.total(), 0, "its frames are of a later boot");
}

#[test]
fn isolated_robots_receive_and_learn_nothing() {
    let faults = Faults::parse("radio-outage=2@10-200").unwrap();
    let counters = flown(Profile::Exact, Some(faults)).0.counters.unwrap();
    // The last frame was received at tick 9 and is valid for 19 ticks: isolated from tick 29 on,
    // constant velocity for a hundred ticks, then slower.
    assert_eq!(counters.alone, [100, 71, 0]);
    assert_eq!(counters.learned_alone, 0);
}

#[test]
fn no_frame_passes_a_partition() {
    let heard = |partition| {
        flown(Profile::Exact, Some(Faults { partition, ..Faults::default() })).0.counters.unwrap().heard
    };
    assert!(heard(Some(0..200)) < heard(Some(100..200)));
    assert!(heard(Some(100..200)) < heard(None));
}

#[test]
fn forged_and_replayed_frames_have_no_effect() {
    let clean = flown(Profile::Exact, Some(Faults::default()));
    let forged = flown(Profile::Exact, Some(Faults { forge: 5, ..Faults::default() }));
    assert_eq!(clean.1, forged.1);
    let counters = forged.0.counters.unwrap();
    assert_eq!((counters.forged, counters.fooled), (5 * 200 * ROBOTS as u64, 0));
    assert_eq!(u64::from(counters.refused.of(FrameError::Forged)), counters.forged);

    let replayed = flown(Profile::Exact, Some(Faults { replay: Some(100), ..Faults::default() }));
    assert_eq!(clean.1, replayed.1);
    let counters = replayed.0.counters.unwrap();
    assert!(counters.replayed > 1000);
    assert_eq!(u64::from(counters.refused.total()), counters.replayed);
}

#[test]
fn only_robust_swarms_resist_liars() {
    let liars = Some(Liars { about: About::Parameters, share: 0.2 });
    let flown = |trust, liars| flown(Profile::Exact, Some(Faults { liars, trust, ..Faults::default() })).0;
    let apart = |trust| flown(trust, liars).disagreement.unwrap();
    assert!(apart(Trust::Plain) > 10.0, "many times the offline parameters: {}", apart(Trust::Plain));
    assert!(apart(Trust::Robust) < 0.1, "{}", apart(Trust::Robust));
    assert!(flown(Trust::Robust, liars).total() < 1.3 * flown(Trust::Robust, None).total());
}

#[test]
fn clocks_that_differ_by_a_tick_are_within_the_guard() {
    let counters = flown(Profile::Dot154, Some(Faults { skew: 1, ..Faults::default() })).0.counters.unwrap();
    assert_eq!(counters.refused.total(), 0);
}

/// Runs an episode with fault settings. Returns it with the final states.
fn with_faults(profile: Profile, settings: &str) -> (EpisodeMetrics, Vec<Motion>) {
    flown(profile, Some(Faults { seed: 5, ..Faults::parse(settings).unwrap() }))
}

fn speed(motion: &Motion) -> f32 {
    motion.velocity[0].hypot(motion.velocity[1])
}

#[test]
fn one_way_links_carry_half_of_the_frames() {
    let heard = |options| with_faults(Profile::Dot154, options).0.counters.unwrap().heard as f64;
    let share = heard("one-way=0.5") / heard("");
    assert!((0.35..0.65).contains(&share), "{share}");
}

#[test]
fn interference_blocks_all_frames() {
    let counters = with_faults(Profile::Exact, "interference=1:5").0.counters.unwrap();
    assert_eq!(counters.heard, 0);
    assert!(counters.alone[0] > 0, "and everybody notices");
}

#[test]
fn collisions_lose_some_frames() {
    let heard = |options| with_faults(Profile::Espnow, options).0.counters.unwrap().heard as f64;
    let share = heard("collisions") / heard("");
    assert!((0.5..0.999).contains(&share), "{share}");
}

#[test]
fn robots_without_sensors_stop_and_report_their_position() {
    let (flight, last) = with_faults(Profile::Exact, "sensor=lost:1@20");
    // A quarter of a second later all robots are blind and brake with a time constant of 0.1 s for
    // 1.5 s.
    assert!(last.iter().all(|motion| speed(motion) < 0.01), "{last:?}");
    let counters = |flight: &EpisodeMetrics| flight.counters.as_ref().unwrap().heard;
    let with_sensors = with_faults(Profile::Exact, "").0;
    assert!(
        counters(&flight) > counters(&with_sensors) / 2,
        "as a body to keep apart from, it is heard to the end"
    );
}

#[test]
fn joining_robots_count_from_their_start() {
    let heard = |options| with_faults(Profile::Exact, options).0.counters.unwrap().heard;
    assert!(heard("join=1@100") < heard("") / 2);
    assert!(with_faults(Profile::Exact, "join=0.3@20").0.counters.unwrap().longest_return <= 20);
    let never = with_faults(Profile::Exact, "join=1@500").0;
    assert_eq!((never.min_distance, never.close_pairs), (f32::INFINITY, [0; 3]));
    assert_eq!(never.counters.unwrap().heard, 0);
}

#[test]
fn removed_robots_do_not_collide() {
    let kills: Vec<String> = (0..ROBOTS).map(|robot| format!("kill={robot}@0")).collect();
    assert_eq!(with_faults(Profile::Exact, &kills.join(" ")).0.min_distance, f32::INFINITY);
}

#[test]
fn robots_return_after_a_brown_out() {
    // After the first save of the parameters.
    let (flight, last) = with_faults(Profile::Dot154, "brown-out=0@120 brown-out=7@130");
    let counters = flight.counters.unwrap();
    assert!(counters.longest_return <= 20, "{} ticks", counters.longest_return);
    assert_eq!(counters.refused.total(), 0, "its frames are of a later boot");
    assert_ne!(last, with_faults(Profile::Dot154, "").1, "it begins anew");
}

#[test]
fn dead_motors_keep_velocities() {
    let score = with_faults(Profile::Exact, "motor=dead:1").0.score;
    assert_eq!(score[0], score[199]);
    assert!(score[0] > 1.0, "nobody brakes: {}", score[0]);
}

#[test]
fn frames_of_missed_ticks_are_received_later() {
    let heard = |options| with_faults(Profile::Dot154, options).0.counters.unwrap().heard;
    // A robot that misses the tick of its slot sends no frame in that exchange; other frames
    // arrive.
    let share = heard("missed-ticks=0.2") as f64 / heard("") as f64;
    assert!((0.7..0.9).contains(&share), "{share}");
}

#[test]
fn invented_robots_reach_the_neighbors_of_one_robot() {
    let counters = with_faults(Profile::Exact, "sybil=16").0.counters.unwrap();
    assert!(counters.lies.told > 0, "they are in tables");
    assert!(
        counters.refused.of(FrameError::UnknownSender) > 0,
        "but for those that no robot of the swarm has"
    );
    assert_eq!(with_faults(Profile::Exact, "").0.counters.unwrap().lies.told, 0);
}

#[test]
fn spoofed_frames_are_received_once() {
    let heard = |options| with_faults(Profile::Exact, options).0.counters.unwrap().heard;
    // Four tries for the name of each other robot, received by all robots.
    assert_eq!(heard("spoof=199") - heard(""), (4 * (ROBOTS - 1) * ROBOTS) as u64);
}

#[test]
fn clocks_synchronize_to_received_frames() {
    let untimely = |profile, options: &str| {
        with_faults(profile, options).0.counters.unwrap().refused.of(FrameError::OutOfWindow)
    };
    for profile in [Profile::Exact, Profile::Dot154, Profile::Esb32] {
        assert_eq!(untimely(profile, "drift=100"), 0);
        assert_eq!(untimely(profile, "time-jump=0@50:-40"), 0, "a robot knows which ticks it has had");
        assert!(untimely(profile, "time-jump=0@50:30") > 0);
    }
    // Neighbors follow after ten exchanges, and their neighbors later: late jumps end before that.
    let share = |tick: u32| {
        let options = format!("time-jump=0@{tick}:30");
        f64::from(untimely(Profile::Exact, &options)) / f64::from(200 - tick)
    };
    assert!(share(50) < 0.75 * share(190), "{} {}", share(50), share(190));
}
