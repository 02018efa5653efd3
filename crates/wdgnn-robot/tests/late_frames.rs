//! Late frames and skipped ticks: states are extrapolated to now, and honest robots stay plausible.

use crate::common::prelude::*;
use proptest::prelude::*;
use wdgnn_link::header::OTHER_CLOCK_TICKS;

const HOLD: u32 = 19;

fn behavior(probation: u8) -> Behaviour {
    Behaviour { hold: HOLD, probation, ..offline() }
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
fn told<P: Codec>(speaker: &mut RobotOn<P>, flight: &[Motion], every: u32) -> Vec<Vec<Vec<u8>>> {
    (0..)
        .zip(flight)
        .map(|(tick, motion)| {
            speaker.sense(tick, seen(*motion));
            if tick % every == 0 { speaker.says() } else { Vec::new() }
        })
        .collect()
}

/// Number of rejected frames when each is delayed by `delay` of its tick.
fn refused_when_late<P: Codec>(codec: fn() -> P, every: u32, delay: impl Fn(u32) -> u32) -> usize {
    let flight = flight(400);
    let mut speaker = robot_on(2, behavior(1), codec());
    let mut listener = robot_on(1, behavior(1), codec());
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
        listener.conclude();
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
            assert_eq!(refused_when_late(|| Exact, every, late_by(late)), 0, "{late} {every}");
            assert_eq!(refused_when_late(Dot154::default, every, late_by(late)), 0, "{late} {every}");
            assert_eq!(refused_when_late(|| Esb32, every, late_by(late)), 0, "{late} {every}");
            assert_eq!(refused_when_late(|| P2p57, every, late_by(late)), 0, "{late} {every}");
            let sealed = || Sealed::new(Dot154::default(), &[7; 16]);
            if late <= LATE_TICKS {
                assert_eq!(refused_when_late(sealed, every, late_by(late)), 0, "{late} {every}");
            }
        }
    }
}

#[test]
fn frames_with_varying_delay_are_plausible() {
    // In order: an overtaken frame is rejected as old.
    assert_eq!(refused_when_late(Dot154::default, 5, |said| said / 5 * 3 % 5), 0);
    assert_eq!(refused_when_late(Dot154::default, 5, |said| if said % 20 == 0 { 4 } else { 0 }), 0);
    assert_eq!(refused_when_late(|| Esb32, 5, |said| if said % 15 == 0 { 0 } else { 3 }), 0);
}

#[test]
fn late_states_are_extrapolated_by_their_age() {
    let said = Motion { position: [1.0, 0.5], velocity: [-2.0, 3.0] };
    for probation in [0, 1] {
        for late in (0..=30).chain([OTHER_CLOCK_TICKS, OTHER_CLOCK_TICKS + 1, 1000]) {
            let mut speaker = robot_on(2, behavior(probation), Exact);
            let mut listener = robot_on(1, behavior(probation), Exact);
            speaker.sense(50, seen(said));
            listener.sense(50 + late, seen(REST));
            listener.hear(&mut speaker.says()[0]).unwrap();
            listener.conclude();
            // Beyond half a second the sender's clock is another one, and the age is unknown.
            let carried = if late > OTHER_CLOCK_TICKS { 0 } else { late.min(HOLD) };
            let expected = listener.task().predict(&said, carried);
            assert_eq!(listener.neighbours().next().unwrap().beacon.state, expected, "late by {late}");
        }
    }
}

#[test]
fn frames_from_the_future_are_not_extrapolated() {
    let said = Motion { position: [1.0, 0.5], velocity: [-2.0, 3.0] };
    let mut speaker = robot_on(2, behavior(1), Exact);
    let mut listener = robot_on(1, behavior(1), Exact);
    speaker.sense(50, seen(said));
    listener.sense(48, seen(REST));
    listener.hear(&mut speaker.says()[0]).unwrap();
    assert_eq!(listener.neighbours().next().unwrap().beacon.state, said);
}

#[test]
fn delays_do_not_help_a_liar() {
    let caught = |late: u32| {
        let mut speaker = robot_on(2, behavior(1), Dot154::default());
        let mut listener = robot_on(1, behavior(1), Dot154::default());
        let lies = (0..50).filter(|&tick| {
            // It stays at one place and reports 2 m/s.
            let lie = Motion { position: [1.0, 1.0], velocity: [2.0, 0.0] };
            speaker.sense(tick, seen(lie));
            listener.sense(tick + late, seen(REST));
            let outcome = listener.hear(&mut speaker.says()[0]);
            listener.conclude();
            outcome == Err(Refusal::Implausible)
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
        let mut speaker = robot_on(2, behavior(1), Dot154::default());
        let mut listener = robot_on(1, behavior(1), Dot154::default());
        let told = told(&mut speaker, &flight, every);
        let (mut tick, mut last) = (0, None);
        for skip in skips {
            listener.sense(tick, seen(REST));
            for frame in &told[tick as usize] {
                prop_assert_eq!(listener.hears(frame), Ok(()));
                last = Some(tick);
            }
            listener.conclude();
            if let Some(last) = last.filter(|last| tick - last <= HOLD) {
                // Last received position, extrapolated at constant velocity, up to one rounding per tick.
                let Motion { position, velocity } = flight[last as usize];
                let seen = listener.neighbours().next().expect("held").beacon.state;
                let expected = position[1] + (tick - last) as f32 * 0.01 * velocity[1];
                prop_assert!((seen.position[1] - expected).abs() < 1.0e-4, "{} {}", seen.position[1], expected);
            }
            tick += skip;
        }
    }
}
