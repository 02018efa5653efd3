//! Gradients of the whole node against finite differences: features, taps, network, clamp, loss and learning step.
//!
//! The loss is quadratic in the command, which is linear in the wide part, so a central difference of any width is exact:
//! a width of 1 leaves only rounding.

use crate::common::prelude::*;

/// A period of one second makes the loss as sensitive to the command as to the velocities.
const TASK: Flocking = Flocking { period: 1.0, limit: 50.0, separation: 0.0, ..Flocking::DEFAULT };
const WIDTH: f32 = 1.0;

/// Network whose readout bias moves the output near a value.
fn network_around(output: [f32; 2]) -> Net {
    let mut numbers = weights(5).to_vec();
    numbers[Net::WEIGHT_COUNT - 2..].copy_from_slice(&output);
    network_over(numbers.leak())
}

/// A node in flight with three neighbors that have full delay lines.
type Flying<M> = Robot<RobotConfig<M, Flocking>, Link<Exact>, 4>;

fn flying<M>(model: M, learning: Learning) -> Flying<M>
where
    M: Model<Features = [f32; 6], Output = [f32; 2], Taps = LayerTaps<4, 6, ()>> + Copy,
{
    let mut rng = seeded(6);
    let motions = start(&mut rng, 4);
    let mut node: Flying<M> = node(0, model, TASK, learning, motions[0]);
    node.sense(0, seen(motions[0]));
    for (id, motion) in motions.iter().enumerate().skip(1) {
        node.takes(&neighbor_message(&mut rng, &model, id as u16, *motion)).unwrap();
    }
    node.end_receive();
    node
}

fn infer<M>(node: &mut Flying<M>, wide: &M::Wide) -> [f32; 2]
where
    M: Model<Features = [f32; 6], Output = [f32; 2]>,
{
    assert!(node.agent_mut().set_wide(wide));
    node.decide();
    *node.agent().unsaturated()
}

/// Local loss of a node that executes `command`.
fn loss<M>(node: &Flying<M>, command: &[f32; 2]) -> f32
where
    M: Model<Features = [f32; 6], Output = [f32; 2]>,
{
    let mut velocities: Vec<[f32; 2]> = node.trusted().map(|n| n.message.state.velocity).collect();
    let [vx, vy] = node.agent().state().velocity;
    velocities.push([vx + TASK.period * command[0], vy + TASK.period * command[1]]);
    let n = velocities.len() as f32;
    let mean = [0, 1].map(|axis| velocities.iter().map(|v| v[axis]).sum::<f32>() / n);
    velocities.iter().map(|v| (v[0] - mean[0]).powi(2) + (v[1] - mean[1]).powi(2)).sum::<f32>() / n
}

/// ∂J/∂(every wide parameter), by finite differences of the node's output.
fn by_differences<M>(node: &mut Flying<M>) -> Vec<f64>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]>,
{
    let offline = *node.config().agent.model.offline();
    let mut loss_at = |index: usize, change: f32| {
        let mut wide = offline;
        wide.numbers_mut()[index] += change;
        infer(node, &wide);
        let command = TASK.saturate(node.agent().unsaturated());
        f64::from(loss(node, &command))
    };
    let count = offline.numbers().len();
    (0..count)
        .map(|index| (loss_at(index, WIDTH) - loss_at(index, -WIDTH)) / (2.0 * f64::from(WIDTH)))
        .collect()
}

/// Change of the parameters in one learning step of size 1.
fn by_learning<M>(node: &mut Flying<M>) -> Vec<f64>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]>,
{
    let offline = *node.config().agent.model.offline();
    infer(node, &offline);
    node.learn();
    let taken = offline.numbers().iter().zip(node.agent().wide().numbers());
    taken.map(|(before, after)| f64::from(*before) - f64::from(*after)).collect()
}

fn rule(metric: GradientMetric) -> Learning {
    Learning { step: 1.0, mixing: Mixing::Alone, metric, ..Learning::OFF }
}

/// Losses of up to 2500 (50² m²/s²) are rounded to 2⁻²⁴ of themselves, a few times over, before they are subtracted.
const BOUND: f64 = 2500.0 * 4.0 * ROUNDING;

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < BOUND, "number {index}: {found} instead of {expected}");
    }
    let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    assert!(largest > 1000.0 * BOUND, "the bound is small: {largest}");
}

/// No component clamped, the first one, the second one.
const CASES: [[f32; 2]; 3] = [[3.0, -4.0], [200.0, -4.0], [3.0, -200.0]];

#[test]
fn unfolded_gradients_match_finite_differences() {
    for output in CASES {
        let mut node = flying(Unfolded::new(network_around(output)), rule(GradientMetric::Paper));
        let expected = by_differences(&mut node);
        assert_eq!(expected.len(), 4 * 6 * G);
        assert_close(&by_learning(&mut node), &expected);
    }
}

#[test]
fn folded_gradients_match_finite_differences() {
    for output in CASES {
        let mut node = flying(
            Folded::new(network_around(output), GradientMetric::Euclidean),
            rule(GradientMetric::Euclidean),
        );
        let expected = by_differences(&mut node);
        assert_eq!(expected.len(), 4 * 6 * 2);
        assert_close(&by_learning(&mut node), &expected);
        // A clamped component does not influence the loss and is not learned.
        for axis in 0..2 {
            let clamped = output[axis].abs() > TASK.limit;
            let column: Vec<f64> = expected.iter().skip(axis).step_by(2).copied().collect();
            assert_eq!(column.iter().all(|x| *x == 0.0), clamped, "axis {axis} of {output:?}");
        }
    }
}

#[test]
fn the_paper_metric_is_the_folded_gradient_times_r_transposed_r() {
    for output in CASES {
        let network = network_around(output);
        let mut node = flying(Folded::new(network, GradientMetric::Paper), rule(GradientMetric::Paper));
        let metric = |a: usize, b: usize| -> f64 {
            network.readout.iter().map(|row| f64::from(row[a]) * f64::from(row[b])).sum()
        };
        let plain = by_differences(&mut node);
        let row = |row: &[f64]| [0, 1].map(|o| row[0] * metric(0, o) + row[1] * metric(1, o));
        let expected: Vec<f64> = plain.chunks(2).flat_map(row).collect();
        assert_close(&by_learning(&mut node), &expected);
    }
}

#[test]
fn gradients_through_the_clamp_use_the_slope_at_the_limit() {
    let rule = Learning { through_clamp: true, ..rule(GradientMetric::Euclidean) };
    let mut node = flying(Folded::new(network_around([200.0, -4.0]), GradientMetric::Euclidean), rule);
    let offline = *node.config().agent.model.offline();
    infer(&mut node, &offline);
    let command = TASK.saturate(node.agent().unsaturated());
    assert_eq!(command[0], TASK.limit);
    let slope = |axis: usize| {
        let at = |change: f32| {
            let mut command = command;
            command[axis] += change;
            f64::from(loss(&node, &command))
        };
        (at(WIDTH) - at(-WIDTH)) / (2.0 * f64::from(WIDTH))
    };
    // ∂J/∂C = α_W z gᵀ, with g the slope of the loss in the command.
    let alpha = f64::from(node.config().agent.model.network().alpha_wide);
    let taps = node.agent().taps().line.numbers().to_vec();
    let expected: Vec<f64> =
        taps.iter().flat_map(|z| [0, 1].map(|axis| alpha * f64::from(*z) * slope(axis))).collect();
    assert!(slope(0).abs() > 1.0, "the slope is not zero");
    let found = by_learning(&mut node);
    for (found, expected) in found.iter().zip(&expected) {
        // Rounding of the slope, times a tap.
        let largest_tap = taps.iter().fold(1.0, |largest: f32, z| largest.max(z.abs()));
        assert!((found - expected).abs() < BOUND * f64::from(largest_tap), "{found} instead of {expected}");
    }
}
