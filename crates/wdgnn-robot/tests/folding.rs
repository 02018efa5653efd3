//! Folded networks (C) equal unfolded ones (B) for ten robots over 200 ticks of online learning.
//!
//! The folded robots fly; unfolded twins sense the same states and exchange frames among themselves. Separate worlds
//! would amplify rounding errors in close encounters.

use crate::common::prelude::*;

const ROBOTS: usize = 10;
const TICKS: u32 = 200;
const RADIUS: f32 = 2.0;

/// B·R in `f64`, and its largest sum of magnitudes `Σ |B||R|`.
fn fold(twin: &UnfoldedRobot, network: &Net) -> (Vec<f64>, f64) {
    let mut largest: f64 = 0.0;
    let mut output = |row: &[f32; G], o: usize| {
        let products = row.iter().zip(network.readout).map(|(b, r)| f64::from(*b) * f64::from(r[o]));
        largest = largest.max(products.clone().map(f64::abs).sum());
        products.sum::<f64>()
    };
    let folded = twin.agent().wide().rows().iter().flat_map(|row| [0, 1].map(|o| output(row, o))).collect();
    (folded, largest)
}

/// Largest `|a − b|`.
fn difference(a: &[f32], b: impl IntoIterator<Item = f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max)
}

/// Largest differences of outputs and parameters, relative to the rounding bound.
fn compare(learning: Learning, seed: u64) -> (f64, f64) {
    let network = network();
    let mut robots: Vec<PlainRobot> = (0..ROBOTS as u16).map(|id| robot(id, learning)).collect();
    let mut twins: Vec<UnfoldedRobot> = (0..ROBOTS as u16).map(|id| unfolded_robot(id, learning)).collect();
    let mut motions = start(&mut seeded(seed), ROBOTS);
    let (mut outputs, mut parameters): (f64, f64) = (0.0, 0.0);
    let mut allowed: f64 = 0.0;
    for tick in 0..TICKS {
        let links = links(&motions, RADIUS);
        let ours: Vec<TickResult<_>> = exchange(&mut robots, tick, &motions, &links);
        let papers = exchange(&mut twins, tick, &motions, &links);
        for ((ours, papers), node) in ours.iter().zip(&papers).zip(&robots) {
            // An error of C counts once per input. The forward pass rounds each product and each sum of both layers; the terms
            // sum to less than the sum of the inputs (|α C| and |α_D A R| are below 1).
            let inputs: f64 = node.agent().taps().line.numbers().iter().map(|z| f64::from(z.abs())).sum();
            let forward = (24 + G + 4) as f64 * ROUNDING * (1.0 + inputs);
            let bound = 2.0 * inputs * allowed + 2.0 * forward;
            outputs = outputs.max(difference(&ours.output, papers.output.map(f64::from)) / bound);
        }
        for (motion, deed) in motions.iter_mut().zip(&ours) {
            fly(motion, deed.command);
        }
        // Each tick rounds the sum over at most nine neighbors, the mean, the ridge and the step in every parameter.
        let folded: Vec<(Vec<f64>, f64)> = twins.iter().map(|twin| fold(twin, &network)).collect();
        let magnitude = folded.iter().map(|(_, magnitude)| *magnitude).fold(0.0, f64::max);
        allowed += (ROBOTS + 4) as f64 * ROUNDING * magnitude;
        for (ours, (folded, _)) in robots.iter().zip(folded) {
            parameters = parameters.max(difference(ours.agent().wide().numbers(), folded) / allowed);
        }
    }
    let moved = |robot: &PlainRobot| {
        let offline: &<FoldedNet as Model>::Wide = robot.config().agent.model.offline();
        robot.agent().wide().distance(offline) / offline.norm()
    };
    assert!(robots.iter().map(moved).fold(0.0, f32::max) > 0.01, "the parameters have changed");
    (outputs, parameters)
}

#[test]
fn folded_equals_unfolded_over_200_ticks_within_rounding() {
    for mixing in [Mixing::Uniform, Mixing::Metropolis] {
        for ridge in [0.0, 0.1] {
            for through_clamp in [false, true] {
                let learning = Learning { mixing, ridge, through_clamp, ..Learning::paper(2.0) };
                let (outputs, parameters) = compare(learning, 1);
                println!("{mixing:?}, ridge {ridge}: {outputs:.3} and {parameters:.3} of the bound");
                assert!(outputs <= 1.0 && parameters <= 1.0, "{learning:?}: {outputs} {parameters}");
            }
        }
    }
}
