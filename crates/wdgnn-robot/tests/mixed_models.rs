//! Two models in one air: robots with one key see each other, whatever they fly, and mix nothing that means something else there.

use crate::common::prelude::*;

const KEY: Key = [7; 16];

/// Where the other one is, and how it flies.
const OTHER: Motion = Motion { position: [1.0, 0.5], velocity: [-1.0, 0.0] };

/// A robust robot that flies the model with this checksum.
fn robust<P: Codec>(id: u16, codec: P, checksum: u32) -> RobotOn<P> {
    robot_with(id, Flocking::DEFAULT, checksum, Behaviour::new(Learning::paper(0.1)).robust(), codec)
}

/// One tick of both: what the first one made of each frame of the second one, and those frames.
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
    let heard = said.iter().map(|frame| first.hears(&frame)).collect();
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
fn who_flies_another_model_is_seen_and_nothing_of_it_is_mixed() {
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
        assert!((place - 0.91).abs() < 1.0e-3, "it is where it says: {place}");
        // What it flies is not mixed in: no opinion, and taps as if nobody had told any.
        assert_eq!(first.agree().mixed, 0);
        assert!(first.chains().chain.0[1..].iter().flatten().all(|tap| *tap == 0.0));
        // But it steers by it.
        assert!(first.observe().iter().any(|feature| *feature != 0.0));
    }
    encodings_with_a_checksum!(seen);
}

#[test]
fn a_header_that_names_another_model_is_no_way_around_the_key() {
    fn refused<P: Codec>(codec: fn(&Key) -> P) {
        let mut first = robust(0, codec(&KEY), MODEL);
        // Somebody without the key, of another model and of the same; a frame of somebody with the key, its model changed on the way.
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
fn a_frame_of_another_model_is_not_heard_twice() {
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
fn who_changes_its_model_in_flight_counts_as_what_it_flies_now() {
    let codec = || Sealed::new(Exact, &KEY);
    let mut first = robust(0, codec(), MODEL);
    let mut second = robust(1, codec(), MODEL + 1);
    tick(&mut first, &mut second, 0);
    let mut second = robust(1, codec(), MODEL);
    for now in 1..4 {
        assert_eq!(tick(&mut first, &mut second, now).0, [Ok(())]);
    }
    assert_eq!(first.agree().mixed, 1);
    assert!(first.trusted().all(|neighbour| !neighbour.other_model));
}

#[test]
fn where_no_header_tells_the_model_another_one_is_as_good_as_forged() {
    let codec = || SealedEsb32::new(Esb32, &KEY);
    let mut first = robust(0, codec(), MODEL);
    let mut second = robust(1, codec(), MODEL + 1);
    let (heard, _) = tick(&mut first, &mut second, 0);
    assert!(heard.iter().all(|outcome| *outcome == Err(Refusal::Forged)), "{heard:?}");
}
