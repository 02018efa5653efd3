//! Graceful degradation when neighbors fall silent or lie, and when learning diverges.

use crate::common::prelude::*;

type Frame = BeaconOf<FoldedNet, Flocking>;

const PASSING: Motion = Motion { position: [1.0, 0.5], velocity: [2.0, -1.0] };

fn beacon(node: &Robot, sender: u16) -> Frame {
    neighbor_beacon(&mut seeded(sender.into()), node.model(), sender, PASSING)
}

#[test]
fn held_neighbors_keep_their_taps_but_not_their_parameters() {
    let mut node = robot(1, Learning { mixing: Mixing::Uniform, ..Learning::OFF });
    node.behaviour_mut().hold = 2;
    node.sense(0, seen(REST));
    let heard = Frame { wide: Tensor::ZERO, ..beacon(&node, 2) };
    node.accept(heard).unwrap();
    assert_eq!(node.conclude().agreement.mixed, 1);
    let mixed_once = *node.wide();
    for tick in 1..=2 {
        node.sense(tick, seen(REST));
        assert_eq!(node.conclude().agreement.mixed, 0);
        assert_eq!(*node.wide(), mixed_once);
        assert_eq!(node.chains().chain.0[1], heard.chains.chain.0[0], "its taps are held");
        let held = node.neighbours().next().unwrap();
        let flown = PASSING.position[0] + tick as f32 * TASK.period * PASSING.velocity[0];
        assert!((held.beacon.state.position[0] - flown).abs() < 1.0e-6, "it is extrapolated");
    }
    node.sense(3, seen(REST));
    assert_eq!(node.conclude().verdict, Verdict::Alone(Isolation::Hold));
    assert_eq!(node.chains().chain.0[1], [0.0; 6]);
}

#[test]
fn isolated_robots_hold_slow_down_and_stop() {
    let mut node = robot(1, Learning::paper(1.0));
    let (offline, own) = (*node.wide(), Motion { position: [0.0; 2], velocity: [0.5, -0.02] });
    for tick in 0..300 {
        node.sense(tick, seen(own));
        let Deed { command, verdict, .. } = node.conclude();
        let (phase, expected) = match tick {
            0..100 => (Isolation::Hold, [0.0, 0.0]),
            100..200 => (Isolation::Slow, [-0.5, 0.02]),
            _ => (Isolation::Stop, own.velocity.map(|v| -v / 0.1)),
        };
        assert_eq!((command, verdict), (expected, Verdict::Alone(phase)), "tick {tick}");
    }
    assert_eq!(*node.wide(), offline, "isolated robots do not learn");
    node.sense(300, seen(own));
    node.accept(beacon(&node, 2)).unwrap();
    assert!(matches!(node.conclude().verdict, Verdict::Clear | Verdict::Limited), "isolation ends at once");
}

#[test]
fn largest_inputs_give_bounded_commands() {
    let mut node = robot(1, Learning::paper(1.0));
    let far = Motion { position: [LARGEST, -LARGEST], velocity: [-LARGEST, LARGEST] };
    node.sense(0, seen(REST));
    for sender in 2..18 {
        let mut heard = Frame { state: far, ..beacon(&node, sender) };
        heard.chains.chain.numbers_mut().fill(LARGEST);
        heard.wide.numbers_mut().fill(-LARGEST);
        node.accept(heard).unwrap();
    }
    for tick in 1..4 {
        let Deed { command, .. } = node.conclude();
        assert!(command.iter().all(|u| u.abs() <= TASK.limit), "{command:?}");
        assert!(node.wide().admissible());
        node.behaviour_mut().hold = 10;
        node.sense(tick, seen(REST));
    }
}

#[test]
fn diverging_parameters_are_reset() {
    let mut node = robot(1, Learning::paper(1.0e30));
    node.sense(0, seen(REST));
    node.accept(beacon(&node, 2)).unwrap();
    let agreement = node.conclude().agreement;
    assert!(agreement.reset);
    assert_eq!(node.wide(), node.model().offline());
}

#[test]
fn learning_stays_within_the_ball() {
    let mut node = robot(1, Learning { ball: 0.3, ..Learning::paper(1.0e6) });
    node.sense(0, seen(REST));
    node.accept(beacon(&node, 2)).unwrap();
    let agreement = node.conclude().agreement;
    assert_eq!((agreement.projected, agreement.reset), (true, false));
    let offline = node.model().offline();
    // On the surface of the ball, up to the rounding of 48 squares.
    let distance = node.wide().distance(offline) / offline.norm();
    assert!((distance - 0.3).abs() < 48.0 * f32::EPSILON, "{distance}");
}

#[test]
fn a_liar_moves_a_robot_by_its_clipped_share() {
    for mixing in [Mixing::Uniform, Mixing::Metropolis] {
        let rule = Learning { mixing, clip: 0.02, ..Learning::OFF };
        let mut node = robot(1, rule);
        node.sense(0, seen(REST));
        let mut lie = beacon(&node, 2);
        lie.wide.numbers_mut().fill(1.0e6);
        node.accept(lie).unwrap();
        node.conclude();
        let offline = *node.model().offline();
        let moved = node.wide().distance(&offline) / offline.norm();
        // Metropolis: the liar reports three neighbors. Uniform: the mean of two robots.
        let share = if mixing == Mixing::Uniform { 0.5 } else { 0.25 };
        assert!((moved - 0.02 * share).abs() < 1.0e-6, "{mixing:?}: {moved}");
    }
}

#[test]
fn inadmissible_parameters_cannot_be_set() {
    let mut node = robot(1, Learning::OFF);
    let before = *node.wide();
    for bad in [f32::NAN, f32::INFINITY, LARGEST * 2.0] {
        let mut wide = before;
        wide.numbers_mut()[7] = bad;
        assert!(!node.set_wide(&wide));
        assert_eq!(*node.wide(), before);
    }
    assert_eq!(node.link().checksum, MODEL);
}
