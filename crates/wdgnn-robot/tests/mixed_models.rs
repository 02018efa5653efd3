//! Two models on one radio: robots with one key see each other, and mix only parameters of their own model.

use crate::common::prelude::*;

const KEY: Key = [7; 16];

/// Motion of the other robot.
const OTHER: Motion = Motion { position: [1.0, 0.5], velocity: [-1.0, 0.0] };

/// A robust robot that flies the model with this checksum.
fn robust<L: TestLink>(id: u16, link: L) -> RobotOn<L> {
    let mut config = config(Learning::paper(0.1)).robust();
    config.agent.task = Flocking::DEFAULT;
    robot_on(id, config, link)
}

/// One tick of both robots: the first one's result for each frame of the second, and these frames.
fn tick<L: TestLink>(
    first: &mut RobotOn<L>, second: &mut RobotOn<L>, tick: u32,
) -> (Vec<Result<(), FrameError>>, Vec<Vec<u8>>) {
    let mut other = OTHER;
    other.position[0] += other.velocity[0] * tick as f32 * Flocking::<2>::DEFAULT.period;
    first.sense(tick, seen(REST));
    second.sense(tick, seen(other));
    let said = second.says();
    let heard = said.iter().map(|frame| first.hears(frame)).collect();
    first.finish();
    (heard, said)
}

/// Runs a check on every encoding whose header names the model.
macro_rules! encodings_with_a_checksum {
    ($check:ident) => {
        $check(sealed_link_of::<Exact, 8>);
        $check(sealed_link_of::<Dot154, 8>);
        $check(sealed_link_of::<EspNow, 8>);
        $check(sealed_link_of::<P2p57, 8>);
    };
}

#[test]
fn robots_with_another_model_are_seen_but_not_mixed() {
    fn seen<L: TestLink>(link: fn(u32, &Key) -> L) {
        let mut first = robust(0, link(MODEL, &KEY));
        let mut second = robust(1, link(MODEL + 1, &KEY));
        for now in 0..10 {
            let (heard, _) = tick(&mut first, &mut second, now);
            assert!(heard.iter().all(|outcome| *outcome == Err(FrameError::Model)), "tick {now}: {heard:?}");
        }
        let seen: Vec<_> = first.trusted().collect();
        assert_eq!(seen.len(), 1);
        assert!(!seen[0].shares_model && seen[0].message.sender == 1);
        let place = seen[0].message.state.position[0];
        assert!((place - 0.91).abs() < 1.0e-3, "its position is used: {place}");
        // Its parameters and taps are not used.
        assert_eq!(first.learn().mixed, 0);
        assert!(first.agent().taps().line.0[1..].iter().flatten().all(|tap| *tap == 0.0));
        // Its state is.
        assert!(first.agent().taps().line.0[0].iter().any(|feature| *feature != 0.0));
    }
    encodings_with_a_checksum!(seen);
}

#[test]
fn naming_another_model_does_not_bypass_the_key() {
    fn refused<L: TestLink>(link: fn(u32, &Key) -> L) {
        let mut first = robust(0, link(MODEL, &KEY));
        // Frames without the key, of either model.
        for checksum in [MODEL, MODEL + 1] {
            let mut stranger = robust(1, link(checksum, &[8; 16]));
            let (heard, _) = tick(&mut first, &mut stranger, 0);
            assert!(heard.iter().all(|outcome| *outcome == Err(FrameError::Forged)), "{heard:?}");
        }
        let mut friend = robust(1, link(MODEL, &KEY));
        let (_, said) = tick(&mut robust(0, link(MODEL, &KEY)), &mut friend, 0);
        let place = said[0].windows(4).position(|bytes| bytes == MODEL.to_le_bytes()).unwrap();
        for bit in 0..32 {
            let mut changed = said[0].clone();
            changed[place + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(first.receive(&mut changed), Err(FrameError::Forged));
        }
        assert_eq!(first.neighbors().count(), 0);
    }
    encodings_with_a_checksum!(refused);
}

#[test]
fn frames_of_another_model_are_not_replayed() {
    fn once<L: TestLink>(link: fn(u32, &Key) -> L) {
        let mut first = robust(0, link(MODEL, &KEY));
        let mut second = robust(1, link(MODEL + 1, &KEY));
        let (_, said) = tick(&mut first, &mut second, 0);
        for frame in said {
            assert_eq!(first.hears(&frame), Err(FrameError::Replayed));
        }
    }
    encodings_with_a_checksum!(once);
}

#[test]
fn robots_that_change_their_model_are_mixed_again() {
    let link = |model| sealed_link_of::<Exact, 8>(model, &KEY);
    let mut first = robust(0, link(MODEL));
    let mut second = robust(1, link(MODEL + 1));
    tick(&mut first, &mut second, 0);
    let mut second = robust(1, link(MODEL));
    for now in 1..4 {
        assert_eq!(tick(&mut first, &mut second, now).0, [Ok(())]);
    }
    assert_eq!(first.learn().mixed, 1);
    assert!(first.trusted().all(|neighbor| neighbor.shares_model));
}

#[test]
fn without_a_model_in_the_header_other_models_are_forged() {
    let link = |model| sealed_link_of::<Esb32, 4>(model, &KEY);
    let mut first = robust(0, link(MODEL));
    let mut second = robust(1, link(MODEL + 1));
    let (heard, _) = tick(&mut first, &mut second, 0);
    assert!(heard.iter().all(|outcome| *outcome == Err(FrameError::Forged)), "{heard:?}");
}
