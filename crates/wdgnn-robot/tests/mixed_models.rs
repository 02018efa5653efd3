//! Two models on one radio: robots with one key see each other, and mix only parameters of their own model.

use crate::common::prelude::*;

const KEY: Key = [7; 16];

/// Motion of the other robot.
const OTHER: Motion = Motion { position: [1.0, 0.5], velocity: [-1.0, 0.0] };

/// A robust robot that flies the model with this checksum.
fn robust<P: Codec>(id: u16, codec: P, checksum: u32) -> RobotOn<P> {
    robot_with(id, Flocking::DEFAULT, checksum, Behaviour::new(Learning::paper(0.1)).robust(), codec)
}

/// One tick of both robots: the first one's result for each frame of the second, and these frames.
fn tick<P: Codec>(
    first: &mut RobotOn<P>,
    second: &mut RobotOn<P>,
    tick: u32,
) -> (Vec<Result<(), Refusal>>, Vec<Vec<u8>>) {
    let mut other = OTHER;
    other.position[0] += other.velocity[0] * tick as f32 * Flocking::<2>::DEFAULT.period;
    first.sense(tick, seen(REST));
    second.sense(tick, seen(other));
    let said = second.says();
    let heard = said.iter().map(|frame| first.hears(frame)).collect();
    first.conclude();
    (heard, said)
}

/// Runs a check on every encoding whose header names the model.
macro_rules! encodings_with_a_checksum {
    ($check:ident) => {
        $check(|key| Sealed::new(Exact, key));
        $check(|key| Sealed::new(Dot154::default(), key));
        $check(|key| Sealed::new(EspNow::default(), key));
        $check(|key| Sealed::new(P2p57, key));
    };
}

#[test]
fn robots_with_another_model_are_seen_but_not_mixed() {
    fn seen<P: Codec>(codec: fn(&Key) -> P) {
        let mut first = robust(0, codec(&KEY), MODEL);
        let mut second = robust(1, codec(&KEY), MODEL + 1);
        for now in 0..10 {
            let (heard, _) = tick(&mut first, &mut second, now);
            assert!(heard.iter().all(|outcome| *outcome == Err(Refusal::Model)), "tick {now}: {heard:?}");
        }
        let seen: Vec<_> = first.trusted().collect();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].other_model && seen[0].beacon.sender == 1);
        let place = seen[0].beacon.state.position[0];
        assert!((place - 0.91).abs() < 1.0e-3, "its position is used: {place}");
        // Its parameters and taps are not used.
        assert_eq!(first.agree().mixed, 0);
        assert!(first.chains().chain.0[1..].iter().flatten().all(|tap| *tap == 0.0));
        // Its state is.
        assert!(first.observe().iter().any(|feature| *feature != 0.0));
    }
    encodings_with_a_checksum!(seen);
}

#[test]
fn naming_another_model_does_not_bypass_the_key() {
    fn refused<P: Codec>(codec: fn(&Key) -> P) {
        let mut first = robust(0, codec(&KEY), MODEL);
        // Frames without the key, of either model.
        for checksum in [MODEL, MODEL + 1] {
            let mut stranger = robust(1, codec(&[8; 16]), checksum);
            let (heard, _) = tick(&mut first, &mut stranger, 0);
            assert!(heard.iter().all(|outcome| *outcome == Err(Refusal::Forged)), "{heard:?}");
        }
        let mut friend = robust(1, codec(&KEY), MODEL);
        let (_, said) = tick(&mut robust(0, codec(&KEY), MODEL), &mut friend, 0);
        let place = said[0].windows(4).position(|bytes| bytes == MODEL.to_le_bytes()).unwrap();
        for bit in 0..32 {
            let mut changed = said[0].clone();
            changed[place + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(first.hear(&mut changed), Err(Refusal::Forged));
        }
        assert_eq!(first.neighbours().count(), 0);
    }
    encodings_with_a_checksum!(refused);
}

#[test]
fn frames_of_another_model_are_not_replayed() {
    fn once<P: Codec>(codec: fn(&Key) -> P) {
        let mut first = robust(0, codec(&KEY), MODEL);
        let mut second = robust(1, codec(&KEY), MODEL + 1);
        let (_, said) = tick(&mut first, &mut second, 0);
        for frame in said {
            assert_eq!(first.hears(&frame), Err(Refusal::Replayed));
        }
    }
    encodings_with_a_checksum!(once);
}

#[test]
fn robots_that_change_their_model_are_mixed_again() {
    let codec = || Sealed::new(Exact, &KEY);
    let mut first = robust(0, codec(), MODEL);
    let mut second = robust(1, codec(), MODEL + 1);
    tick(&mut first, &mut second, 0);
    let mut second = robust(1, codec(), MODEL);
    for now in 1..4 {
        assert_eq!(tick(&mut first, &mut second, now).0, [Ok(())]);
    }
    assert_eq!(first.agree().mixed, 1);
    assert!(first.trusted().all(|neighbor| !neighbor.other_model));
}

#[test]
fn without_a_model_in_the_header_other_models_are_forged() {
    let codec = || SealedEsb32::new(Esb32, &KEY);
    let mut first = robust(0, codec(), MODEL);
    let mut second = robust(1, codec(), MODEL + 1);
    let (heard, _) = tick(&mut first, &mut second, 0);
    assert!(heard.iter().all(|outcome| *outcome == Err(Refusal::Forged)), "{heard:?}");
}
