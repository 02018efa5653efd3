//! Graceful degradation when neighbors fall silent or lie, and when learning diverges.

use crate::common::prelude::*;

type Frame = AgentMessage<FoldedNet, Flocking>;

const PASSING: Motion = Motion { position: [1.0, 0.5], velocity: [2.0, -1.0] };

fn message(node: &PlainRobot, sender: u16) -> Frame {
    neighbor_message(&mut seeded(sender.into()), &node.config().agent.model, sender, PASSING)
}

#[test]
fn held_neighbors_keep_their_taps_but_not_their_parameters() {
    let mut node = robot(1, Learning { mixing: Mixing::Uniform, ..Learning::OFF });
    node.config_mut().hold_ticks = 2;
    node.sense(0, seen(REST));
    let heard = Frame { wide: Tensor::ZERO, ..message(&node, 2) };
    node.takes(&heard).unwrap();
    assert_eq!(node.finish().consensus.mixed, 1);
    let mixed_once = *node.agent().wide();
    for tick in 1..=2 {
        node.sense(tick, seen(REST));
        assert_eq!(node.finish().consensus.mixed, 0);
        assert_eq!(*node.agent().wide(), mixed_once);
        assert_eq!(node.agent().taps().line.0[1], heard.taps.line.0[0], "its taps are held");
        let held = node.neighbors().next().unwrap();
        let flown = PASSING.position[0] + tick as f32 * TASK.period * PASSING.velocity[0];
        assert!((held.message.state.position[0] - flown).abs() < 1.0e-6, "it is extrapolated");
    }
    node.sense(3, seen(REST));
    assert_eq!(node.finish().verdict, Verdict::Alone(IsolationPhase::Hold));
    assert_eq!(node.agent().taps().line.0[1], [0.0; 6]);
}

#[test]
fn isolated_robots_hold_slow_down_and_stop() {
    let mut node = robot(1, Learning::paper(1.0));
    let (offline, own) = (*node.agent().wide(), Motion { position: [0.0; 2], velocity: [0.5, -0.02] });
    for tick in 0..300 {
        node.sense(tick, seen(own));
        let TickResult { command, verdict, .. } = node.finish();
        let (phase, expected) = match tick {
            0..100 => (IsolationPhase::Hold, [0.0, 0.0]),
            100..200 => (IsolationPhase::Slow, [-0.5, 0.02]),
            _ => (IsolationPhase::Stop, own.velocity.map(|v| -v / 0.1)),
        };
        assert_eq!((command, verdict), (expected, Verdict::Alone(phase)), "tick {tick}");
    }
    assert_eq!(*node.agent().wide(), offline, "isolated robots do not learn");
    node.sense(300, seen(own));
    node.takes(&message(&node, 2)).unwrap();
    assert!(matches!(node.finish().verdict, Verdict::Clear | Verdict::Limited), "isolation ends at once");
}

#[test]
fn largest_inputs_give_bounded_commands() {
    let mut node = robot(1, Learning::paper(1.0));
    let far =
        Motion { position: [MAX_ADMISSIBLE, -MAX_ADMISSIBLE], velocity: [-MAX_ADMISSIBLE, MAX_ADMISSIBLE] };
    node.sense(0, seen(REST));
    for sender in 2..18 {
        let mut heard = Frame { state: far, ..message(&node, sender) };
        heard.taps.line.numbers_mut().fill(MAX_ADMISSIBLE);
        heard.wide.numbers_mut().fill(-MAX_ADMISSIBLE);
        node.takes(&heard).unwrap();
    }
    for tick in 1..4 {
        let TickResult { command, .. } = node.finish();
        assert!(command.iter().all(|u| u.abs() <= TASK.limit), "{command:?}");
        assert!(node.agent().wide().is_admissible());
        node.config_mut().hold_ticks = 10;
        node.sense(tick, seen(REST));
    }
}

#[test]
fn diverging_parameters_are_reset() {
    let mut node = robot(1, Learning::paper(1.0e30));
    node.sense(0, seen(REST));
    node.takes(&message(&node, 2)).unwrap();
    let consensus = node.finish().consensus;
    assert!(consensus.reset);
    assert_eq!(node.agent().wide(), node.config().agent.model.offline());
}

#[test]
fn learning_stays_within_the_ball() {
    let mut node = robot(1, Learning { ball: 0.3, ..Learning::paper(1.0e6) });
    node.sense(0, seen(REST));
    node.takes(&message(&node, 2)).unwrap();
    let consensus = node.finish().consensus;
    assert_eq!((consensus.projected, consensus.reset), (true, false));
    let offline = node.config().agent.model.offline();
    // On the surface of the ball, up to the rounding of 48 squares.
    let distance = node.agent().wide().distance(offline) / offline.norm();
    assert!((distance - 0.3).abs() < 48.0 * f32::EPSILON, "{distance}");
}

#[test]
fn a_liar_moves_a_robot_by_its_clipped_share() {
    for mixing in [Mixing::Uniform, Mixing::Metropolis] {
        let rule = Learning { mixing, clip: 0.02, ..Learning::OFF };
        let mut node = robot(1, rule);
        node.sense(0, seen(REST));
        let mut lie = message(&node, 2);
        lie.wide.numbers_mut().fill(1.0e6);
        node.takes(&lie).unwrap();
        node.finish();
        let offline = *node.config().agent.model.offline();
        let moved = node.agent().wide().distance(&offline) / offline.norm();
        // Metropolis: the liar reports three neighbors. Uniform: the mean of two robots.
        let share = if mixing == Mixing::Uniform { 0.5 } else { 0.25 };
        assert!((moved - 0.02 * share).abs() < 1.0e-6, "{mixing:?}: {moved}");
    }
}

#[test]
fn inadmissible_parameters_cannot_be_set() {
    let mut node = robot(1, Learning::OFF);
    let before = *node.agent().wide();
    for bad in [f32::NAN, f32::INFINITY, MAX_ADMISSIBLE * 2.0] {
        let mut wide = before;
        wide.numbers_mut()[7] = bad;
        assert!(!node.agent_mut().set_wide(&wide));
        assert_eq!(*node.agent().wide(), before);
    }
    assert_eq!(node.link().model_checksum(), MODEL);
}
