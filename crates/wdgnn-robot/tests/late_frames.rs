//! Late frames and skipped ticks: states are extrapolated to now, and honest robots stay plausible.

use crate::common::prelude::*;
use proptest::prelude::*;
use wdgnn_link::header::MAX_PLAUSIBLE_AGE_TICKS;

const HOLD: u32 = 19;

/// Configuration of the listener. Speakers report their states as measured.
fn behavior(probation_frames: u8) -> FlockConfig {
    let config = FlockConfig { hold_ticks: HOLD, ..offline() };
    if probation_frames == 0 { config } else { with_probation(config, probation_frames) }
}

/// The hardest flight: full acceleration in alternating directions.
fn flight(ticks: u32) -> Vec<Motion> {
    let mut motion = Motion { position: [1.0, 0.5], velocity: [-2.0, 3.0] };
    (0..ticks)
        .map(|tick| {
            let (now, u) = (motion, if tick / 31 % 2 == 0 { 10.0 } else { -10.0 });
            motion.position[0] += 0.01 * motion.velocity[0] + 0.5e-4 * u;
            motion.velocity[0] += 0.01 * u;
            motion.position[1] += 0.01 * motion.velocity[1];
            now
        })
        .collect()
}

/// Frames of a flight in every `every`-th tick.
fn told<L: TestLink>(speaker: &mut RobotOn<L>, flight: &[Motion], every: u32) -> Vec<Vec<Vec<u8>>> {
    (0..)
        .zip(flight)
        .map(|(tick, motion)| {
            speaker.sense(tick, seen(*motion));
            if tick % every == 0 { speaker.says() } else { Vec::new() }
        })
        .collect()
}

/// Number of rejected frames when each is delayed by `delay` of its tick.
fn refused_when_late<L: TestLink>(link: fn() -> L, every: u32, delay: impl Fn(u32) -> u32) -> usize {
    let flight = flight(400);
    let mut speaker = robot_on(2, behavior(0), link());
    let mut listener = robot_on(1, behavior(1), link());
    let told = told(&mut speaker, &flight, every);
    let mut refused = 0;
    for tick in 0..flight.len() as u32 {
        listener.sense(tick, seen(REST));
        for said in 0..=tick {
            if said + delay(said) == tick {
                let heard = told[said as usize].iter().map(|frame| listener.hears(frame));
                refused += heard.filter(Result::is_err).count();
            }
        }
        listener.finish();
    }
    refused
}

/// Delays all frames but the first: sealed links reject frames sent before they began to listen.
fn late_by(ticks: u32) -> impl Fn(u32) -> u32 {
    move |said| if said == 0 { 0 } else { ticks }
}

#[test]
fn late_honest_frames_are_plausible() {
    for late in 0..=5 {
        for every in [1, 5] {
            assert_eq!(refused_when_late(open_link::<Exact>, every, late_by(late)), 0, "{late} {every}");
            assert_eq!(refused_when_late(open_link::<Dot154>, every, late_by(late)), 0, "{late} {every}");
            assert_eq!(refused_when_late(open_link::<Esb32>, every, late_by(late)), 0, "{late} {every}");
            assert_eq!(refused_when_late(open_link::<P2p57>, every, late_by(late)), 0, "{late} {every}");
            let sealed = || sealed_link::<Dot154, 8>(&[7; 16]);
            if late <= MAX_FRAME_AGE_TICKS {
                assert_eq!(refused_when_late(sealed, every, late_by(late)), 0, "{late} {every}");
            }
        }
    }
}

#[test]
fn frames_with_varying_delay_are_plausible() {
    // In order: an overtaken frame is rejected as old.
    assert_eq!(refused_when_late(open_link::<Dot154>, 5, |said| said / 5 * 3 % 5), 0);
    assert_eq!(refused_when_late(open_link::<Dot154>, 5, |said| if said % 20 == 0 { 4 } else { 0 }), 0);
    assert_eq!(refused_when_late(open_link::<Esb32>, 5, |said| if said % 15 == 0 { 0 } else { 3 }), 0);
}

#[test]
fn late_states_are_extrapolated_by_their_age() {
    let said = Motion { position: [1.0, 0.5], velocity: [-2.0, 3.0] };
    for probation in [0, 1] {
        for late in (0..=30).chain([MAX_PLAUSIBLE_AGE_TICKS, MAX_PLAUSIBLE_AGE_TICKS + 1, 1000]) {
            let mut speaker = robot_on(2, behavior(0), open_link::<Exact>());
            let mut listener = robot_on(1, behavior(probation), open_link::<Exact>());
            speaker.sense(50, seen(said));
            listener.sense(50 + late, seen(REST));
            listener.receive(&mut speaker.says()[0]).unwrap();
            listener.finish();
            // Beyond half a second the sender's clock is another one, and the age is unknown.
            let carried = if late > MAX_PLAUSIBLE_AGE_TICKS { 0 } else { late.min(HOLD) };
            let expected = listener.config().agent.task.predict(&said, carried);
            assert_eq!(listener.neighbors().next().unwrap().message.state, expected, "late by {late}");
        }
    }
}

#[test]
fn frames_from_the_future_are_not_extrapolated() {
    let said = Motion { position: [1.0, 0.5], velocity: [-2.0, 3.0] };
    let mut speaker = robot_on(2, behavior(0), open_link::<Exact>());
    let mut listener = robot_on(1, behavior(1), open_link::<Exact>());
    speaker.sense(50, seen(said));
    listener.sense(48, seen(REST));
    listener.receive(&mut speaker.says()[0]).unwrap();
    assert_eq!(listener.neighbors().next().unwrap().message.state, said);
}

#[test]
fn delays_do_not_help_a_liar() {
    let caught = |late: u32| {
        let mut speaker = robot_on(2, behavior(0), open_link::<Dot154>());
        let mut listener = robot_on(1, behavior(1), open_link::<Dot154>());
        let lies = (0..50).filter(|&tick| {
            // It stays at one place and reports 2 m/s.
            let lie = Motion { position: [1.0, 1.0], velocity: [2.0, 0.0] };
            speaker.sense(tick, seen(lie));
            listener.sense(tick + late, seen(REST));
            let outcome = listener.receive(&mut speaker.says()[0]);
            listener.finish();
            outcome == Err(FrameError::Implausible)
        });
        lies.count()
    };
    assert!(caught(0) > 15, "{}", caught(0));
    assert_eq!([1, 3, 5].map(caught), [caught(0); 3]);
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn neighbors_are_extrapolated_over_skipped_ticks(
        skips in prop::collection::vec(1..9_u32, 2..30),
        every in 1..6_u32,
    ) {
        let flight = flight(300);
        let mut speaker = robot_on(2, behavior(0), open_link::<Dot154>());
        let mut listener = robot_on(1, behavior(1), open_link::<Dot154>());
        let told = told(&mut speaker, &flight, every);
        let (mut tick, mut last) = (0, None);
        for skip in skips {
            listener.sense(tick, seen(REST));
            for frame in &told[tick as usize] {
                prop_assert_eq!(listener.hears(frame), Ok(()));
                last = Some(tick);
            }
            listener.finish();
            if let Some(last) = last.filter(|last| tick - last <= HOLD) {
                // Last received position, extrapolated at constant velocity, up to one rounding per tick.
                let Motion { position, velocity } = flight[last as usize];
                let seen = listener.neighbors().next().expect("held").message.state;
                let expected = position[1] + (tick - last) as f32 * 0.01 * velocity[1];
                prop_assert!((seen.position[1] - expected).abs() < 1.0e-4, "{} {}", seen.position[1], expected);
            }
            tick += skip;
        }
    }
}
