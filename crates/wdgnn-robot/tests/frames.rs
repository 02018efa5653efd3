//! Bad frames into a node: each is refused for the right reason, and a refused frame changes nothing.

use crate::common;

use common::flock::{MODEL, Robot, quiet_robot, weights};
use proptest::prelude::*;
use wdgnn_core::{math::LARGEST, tasks::flocking::Motion};
use wdgnn_link::{encoding::exact::HEADER_BYTES, error::Refusal};
use wdgnn_robot::ports::Sensed;

const BYTES: usize = Robot::FRAME_BYTES;

/// A frame of robot `id`, whose numbers are all different from zero.
fn frame(id: u16, sequence: u32) -> Vec<u8> {
    let weights = weights(1);
    let mut sender = quiet_robot(id, &weights);
    sender.sense(0, Some(Sensed::now(Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] })));
    let mut beacon = sender.beacon();
    beacon.sequence = sequence;
    for (index, x) in beacon.chains.chain.0.as_flattened_mut().iter_mut().enumerate() {
        *x = index as f32 + 0.5;
    }
    let mut frame = vec![0; BYTES];
    assert_eq!(wdgnn_link::encoding::exact::encode(&beacon, sender.link(), &mut frame), Some(BYTES));
    frame
}

/// Everything that a node is, as text: two nodes with the same text are the same.
fn snapshot(node: &Robot<'_>) -> String {
    format!("{node:?}")
}

/// Hands over a frame and sees to it that a refusal left the node as it was.
fn hear(node: &mut Robot<'_>, frame: &[u8]) -> Result<(), Refusal> {
    let before = snapshot(node);
    let outcome = node.hear(&mut frame.to_vec());
    assert_eq!(before == snapshot(node), outcome.is_err(), "{outcome:?}");
    outcome
}

/// A listening node that already has a neighbour.
fn listener(weights: &[f32]) -> Robot<'_> {
    let mut node = quiet_robot(1, weights);
    node.hear(&mut frame(7, 10)).unwrap();
    node
}

#[test]
fn every_truncation_is_refused() {
    let (weights, good) = (weights(1), frame(2, 0));
    let mut node = listener(&weights);
    for length in 0..BYTES {
        let reason = if length < HEADER_BYTES { Refusal::TooShort } else { Refusal::Truncated };
        assert_eq!(hear(&mut node, &good[..length]), Err(reason), "{length} bytes");
    }
    assert_eq!(hear(&mut node, &good), Ok(()));
}

#[test]
fn every_extension_is_refused() {
    let weights = weights(1);
    let mut node = listener(&weights);
    let mut long = frame(2, 0);
    for extra in 1..=200 {
        long.push(extra);
        assert_eq!(hear(&mut node, &long), Err(Refusal::Trailing), "{extra} bytes too many");
    }
}

#[test]
fn every_field_of_the_header_is_looked_at() {
    let (weights, good) = (weights(1), frame(2, 0));
    let mut node = listener(&weights);
    let fields = [
        (0..1, Refusal::Version),
        (1..2, Refusal::Profile),
        (2..7, Refusal::Dimensions),
        (7..11, Refusal::Model),
    ];
    for (offsets, reason) in fields {
        for offset in offsets {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[offset] ^= 1 << bit;
                assert_eq!(hear(&mut node, &bad), Err(reason), "bit {bit} of byte {offset}");
            }
        }
    }
}

#[test]
fn a_number_that_is_none_is_refused_wherever_it_is() {
    let (weights, good) = (weights(1), frame(2, 0));
    let bad_numbers = [
        f32::NAN,
        -f32::NAN,
        f32::from_bits(0x7f80_0001),
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::from_bits(1),
        -f32::from_bits(0x007f_ffff),
        LARGEST.next_up(),
        f32::MAX,
        f32::MIN,
    ];
    let mut node = listener(&weights);
    for offset in (HEADER_BYTES..BYTES).step_by(4) {
        for x in bad_numbers {
            let mut bad = good.clone();
            bad[offset..offset + 4].copy_from_slice(&x.to_le_bytes());
            assert_eq!(hear(&mut node, &bad), Err(Refusal::NotAdmissible), "{x} at {offset}");
        }
    }
}

#[test]
fn the_last_good_number_is_accepted_wherever_it_is() {
    let weights = weights(1);
    let mut node = listener(&weights);
    let mut sequence = 0;
    for offset in (HEADER_BYTES..BYTES).step_by(4) {
        for x in [0.0, -0.0, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, LARGEST, -LARGEST] {
            let mut good = frame(2, sequence);
            good[offset..offset + 4].copy_from_slice(&x.to_le_bytes());
            assert_eq!(hear(&mut node, &good), Ok(()), "{x} at {offset}");
            sequence += 1;
        }
    }
}

#[test]
fn echoes_repetitions_and_newcomers_without_a_slot_are_refused() {
    let weights = weights(1);
    let mut node = listener(&weights);
    assert_eq!(hear(&mut node, &frame(1, 0)), Err(Refusal::Echo));
    assert_eq!(hear(&mut node, &frame(7, 10)), Err(Refusal::Old));
    assert_eq!(hear(&mut node, &frame(7, 9)), Err(Refusal::Old));
    for id in 100..115 {
        assert_eq!(hear(&mut node, &frame(id, 0)), Ok(()));
    }
    assert_eq!(hear(&mut node, &frame(115, 0)), Err(Refusal::TableFull));
    assert_eq!(hear(&mut node, &frame(7, 11)), Ok(()), "who is in stays in");
}

#[test]
fn a_table_of_16_fed_by_200_ids_never_grows_and_keeps_the_established() {
    let weights = weights(1);
    let mut node = quiet_robot(1, &weights);
    let ids = |node: &Robot<'_>| node.neighbours().map(|n| n.beacon.sender).collect::<Vec<_>>();
    let established: Vec<u16> = (100..116).collect();
    for tick in 0..30 {
        node.sense(tick, Some(Sensed::now(common::flock::REST)));
        if tick == 0 {
            for &id in &established {
                node.hear(&mut frame(id, 0)).unwrap();
            }
        }
        // The flood comes first in every tick, when the established have not spoken yet.
        for id in (2..202).filter(|id| !established.contains(id)) {
            assert_eq!(node.hear(&mut frame(id, tick)), Err(Refusal::TableFull));
        }
        for &id in established.iter().filter(|_| tick > 0) {
            node.hear(&mut frame(id, tick)).unwrap();
        }
        assert_eq!(node.settle(), 0);
        assert_eq!(ids(&node), established);
    }
    // Half of them fall silent: their slots, and only theirs, go to the first newcomers of the next tick.
    for tick in 30..32 {
        node.sense(tick, Some(Sensed::now(common::flock::REST)));
        for &id in &established[..8] {
            node.hear(&mut frame(id, tick)).unwrap();
        }
        let newcomers = (2..202).filter(|id| !established.contains(id));
        let accepted = newcomers.filter(|id| node.hear(&mut frame(*id, tick)).is_ok()).count();
        assert_eq!(accepted, if tick == 30 { 0 } else { 8 });
        assert_eq!(node.settle(), if tick == 30 { 8 } else { 0 });
    }
    assert_eq!(ids(&node), (2..10).chain(100..108).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(common::seeded_cases())]

    #[test]
    fn noise_is_refused_and_changes_nothing(noise in prop::collection::vec(any::<u8>(), 0..2 * BYTES)) {
        let weights = weights(1);
        prop_assert!(hear(&mut listener(&weights), &noise).is_err());
    }

    #[test]
    fn noise_behind_an_honest_header_does_no_harm(
        noise in prop::collection::vec(any::<u8>(), 0..2 * BYTES),
        kept in 0..BYTES,
    ) {
        // `hear` sees to it that a refusal changes nothing; what is accepted must be admissible.
        let weights = weights(1);
        let mut mixed = frame(2, 0);
        mixed.truncate(kept);
        mixed.extend(noise);
        let mut node = listener(&weights);
        if hear(&mut node, &mixed).is_ok() {
            prop_assert_eq!(mixed.len(), BYTES);
            node.settle();
            let features = node.observe();
            prop_assert!(features.iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn changed_bytes_do_no_harm(changes in prop::collection::vec((0..BYTES, any::<u8>()), 1..8)) {
        let weights = weights(1);
        let mut changed = frame(2, 0);
        for (offset, byte) in changes {
            changed[offset] = byte;
        }
        let mut node = listener(&weights);
        let mut expected_model = [0; 4];
        expected_model.copy_from_slice(&changed[7..11]);
        if hear(&mut node, &changed).is_ok() {
            prop_assert_eq!(u32::from_le_bytes(expected_model), MODEL);
        }
    }
}
