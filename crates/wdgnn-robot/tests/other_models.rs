//! Two models in one air: robots with one key see each other, whatever they fly, and mix nothing that means something else there.

use crate::common;

use common::flock::{MODEL, REST, RobotOn, conclude, frames, network, settings, weights};
use wdgnn_core::{
    model::folded::Folded,
    online::Learning,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    security::{
        group_key::{Sealed, SealedEsb32},
        key::Key,
    },
};
use wdgnn_robot::{
    config::Behaviour,
    node::{Node, Settings},
    ports::Sensed,
};

const KEY: Key = [7; 16];

/// Where the other one is, and how it flies.
const OTHER: Motion = Motion { position: [1.0, 0.5], velocity: [-1.0, 0.0] };

/// A robot with a key, on a link, that flies the model of this checksum.
fn sealed<P: Codec>(id: u16, weights: &[f32], codec: P, checksum: u32) -> RobotOn<'_, P> {
    let behaviour = Behaviour::new(Learning::paper(0.1)).robust();
    let model = Folded::new(network(weights), behaviour.learning.metric);
    let task = Flocking::DEFAULT;
    Node::new(Settings { task, checksum, ..settings(id, model, behaviour, codec) })
}

/// One tick of both: what the first one made of each frame of the second one, and those frames.
fn tick<P: Codec>(
    first: &mut RobotOn<'_, P>,
    second: &mut RobotOn<'_, P>,
    tick: u32,
) -> (Vec<Result<(), Refusal>>, Vec<Vec<u8>>) {
    let mut other = OTHER;
    other.position[0] += other.velocity[0] * tick as f32 * Flocking::<2>::DEFAULT.period;
    first.sense(tick, Some(Sensed::now(REST)));
    second.sense(tick, Some(Sensed::now(other)));
    let said = frames(second);
    let heard = said.iter().map(|frame| first.hear(&mut frame.clone())).collect();
    conclude(first);
    (heard, said)
}

/// Runs a check on every profile whose header tells the model.
macro_rules! on_every_telling_profile {
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
        let weights = weights(3);
        let mut first = sealed(0, &weights, codec(&KEY), MODEL);
        let mut second = sealed(1, &weights, codec(&KEY), MODEL + 1);
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
    on_every_telling_profile!(seen);
}

#[test]
fn a_header_that_names_another_model_is_no_way_around_the_key() {
    fn refused<P: Codec>(codec: fn(&Key) -> P) {
        let weights = weights(3);
        let mut first = sealed(0, &weights, codec(&KEY), MODEL);
        // Somebody without the key, of another model and of the same; a frame of somebody with the key, its model changed on the way.
        for checksum in [MODEL, MODEL + 1] {
            let mut stranger = sealed(1, &weights, codec(&[8; 16]), checksum);
            let (heard, _) = tick(&mut first, &mut stranger, 0);
            assert!(heard.iter().all(|outcome| *outcome == Err(Refusal::Forged)), "{heard:?}");
        }
        let mut friend = sealed(1, &weights, codec(&KEY), MODEL);
        let (_, said) = tick(&mut sealed(0, &weights, codec(&KEY), MODEL), &mut friend, 0);
        let place = said[0].windows(4).position(|bytes| bytes == MODEL.to_le_bytes()).unwrap();
        for bit in 0..32 {
            let mut changed = said[0].clone();
            changed[place + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(first.hear(&mut changed), Err(Refusal::Forged));
        }
        assert_eq!(first.neighbours().count(), 0);
    }
    on_every_telling_profile!(refused);
}

#[test]
fn a_frame_of_another_model_is_not_heard_twice() {
    fn once<P: Codec>(codec: fn(&Key) -> P) {
        let weights = weights(3);
        let mut first = sealed(0, &weights, codec(&KEY), MODEL);
        let mut second = sealed(1, &weights, codec(&KEY), MODEL + 1);
        let (_, said) = tick(&mut first, &mut second, 0);
        for frame in said {
            assert_eq!(first.hear(&mut frame.clone()), Err(Refusal::Replayed));
        }
    }
    on_every_telling_profile!(once);
}

#[test]
fn who_changes_its_model_in_flight_counts_as_what_it_flies_now() {
    let weights = weights(3);
    let codec = || Sealed::new(Exact, &KEY);
    let mut first = sealed(0, &weights, codec(), MODEL);
    let mut second = sealed(1, &weights, codec(), MODEL + 1);
    tick(&mut first, &mut second, 0);
    let mut second = sealed(1, &weights, codec(), MODEL);
    for now in 1..4 {
        assert_eq!(tick(&mut first, &mut second, now).0, [Ok(())]);
    }
    assert_eq!(first.agree().mixed, 1);
    assert!(first.trusted().all(|neighbour| !neighbour.other_model));
}

#[test]
fn where_no_header_tells_the_model_another_one_is_as_good_as_forged() {
    let weights = weights(3);
    let codec = || SealedEsb32::new(Esb32, &KEY);
    let mut first = sealed(0, &weights, codec(), MODEL);
    let mut second = sealed(1, &weights, codec(), MODEL + 1);
    let (heard, _) = tick(&mut first, &mut second, 0);
    assert!(heard.iter().all(|outcome| *outcome == Err(Refusal::Forged)), "{heard:?}");
}
