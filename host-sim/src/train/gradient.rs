//! Gradient of the imitation loss over a batch.
//!
//! Parts of a batch have a fixed size and are summed in order, so results do not depend on the
//! number of threads.

use wdgnn_core::{filter::scale::Scale, math};

use super::{
    block::{Block, Tallies},
    dataset::{Batch, Window},
    net::{Net, Pass, Sums},
    simd::Width,
};
use crate::{links::Links, threads};

/// Samples per part: taps, hidden features and gradients fit the nearest cache.
type Part = Block<8>;
/// Parts per task of a thread.
const PARTS: usize = 8;

/// Imitation loss of one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Clamps outputs and labels at this limit, which the robot's command has as well. `None`
    /// compares raw outputs.
    pub clamp: Option<f32>,
    /// Error from which on the loss is linear (Huber); infinite for the squared error.
    pub huber: f32,
}

impl Loss {
    /// Squared error.
    pub const SQUARED: Self = Self { clamp: None, huber: f32::INFINITY };

    /// Returns loss and slope. The slope ignores the clamp, except that it is zero if both values
    /// are clamped alike.
    #[inline]
    pub fn of(&self, output: f32, label: f32) -> (f32, f32) {
        let error = self.clamp.map_or(output, |limit| math::clamp(output, limit)) - label;
        if error.abs() <= self.huber {
            (error * error, 2.0 * error)
        } else {
            (self.huber * (2.0 * error.abs() - self.huber), 2.0 * self.huber.copysign(error))
        }
    }

    /// Compares outputs with labels and returns the slopes.
    fn compare(&self, outputs: &[f32], labels: &[f32], sums: &mut Sums) -> Vec<f32> {
        let compared = outputs.iter().zip(labels).map(|(output, label)| {
            let (value, slope) = self.of(*output, *label);
            sums.loss += value;
            slope
        });
        compared.collect()
    }
}

/// Writes the mean gradient over a batch to `gradient` and returns the mean loss. `scale` is that
/// of the graph shift.
pub fn gradient(net: &Net<'_>, scale: Scale, batch: &Batch<'_>, loss: &Loss, gradient: &mut [f32]) -> f32 {
    let parts: Vec<Sums> = match batch {
        Batch::Samples(samples) => {
            let chunks: Vec<_> = samples.chunks(PARTS * Part::SAMPLES).collect();
            threads::map(chunks.len(), |index| self::samples(net, chunks[index], loss))
        }
        Batch::Windows(windows) => {
            threads::map(windows.len(), |index| whole_window(net, scale, &windows[index], loss))
        }
    };
    let mut all = Sums::new(net);
    for part in &parts {
        all.add(part);
    }
    all.finish(net, gradient);
    all.loss / all.count as f32
}

/// Computes single samples of one layer: taps are data, so no gradient goes back in time.
fn samples(net: &Net<'_>, samples: &[(&[f32], &[f32])], loss: &Loss) -> Sums {
    let mut block = Part::new(net, Width::widest());
    let mut tallies = Tallies::new(net);
    let mut sums = Sums::new(net);
    for part in samples.chunks(Part::SAMPLES) {
        block.fill(part.iter().map(|(taps, _)| *taps));
        block.forward(net);
        for output in 0..net.size.outputs {
            let (there, missing) = block.output(output).split_at_mut(part.len());
            for (output_now, (_, label)) in there.iter_mut().zip(part) {
                let (value, slope) = loss.of(*output_now, label[output]);
                sums.loss += value;
                *output_now = slope;
            }
            missing.fill(0.0);
        }
        block.backward(net, &mut tallies, None);
        sums.count += part.len();
    }
    tallies.fold(net, &mut sums);
    sums
}

/// Computes a whole swarm over a window: a forward pass with exchanged taps, then a backward pass
/// through the exchanges. `warm_up` ticks before the window fill the delay lines of upper layers.
fn whole_window(net: &Net<'_>, scale: Scale, window: &Window<'_>, loss: &Loss) -> Sums {
    let Window { trajectory, warm_up, ticks } = window;
    let first = ticks.start.saturating_sub(*warm_up);
    let (robots, layers, hidden) = (trajectory.robots, net.size.layers, net.size.hidden);
    let mut passes: Vec<Pass> = Vec::new();
    for tick in first..ticks.end {
        let mut chains = vec![trajectory.taps(tick).to_vec()];
        for layer in 1..layers {
            let mut chain = vec![0.0; robots * net.size.inputs(layer)];
            if let Some(before) = passes.last() {
                exchange(&mut chain, &before.chains[layer], &trajectory.links[tick], scale, hidden);
            }
            chains.push(chain);
        }
        passes.push(net.forward(chains));
    }
    let mut sums = Sums::new(net);
    let nothing = || -> Vec<Vec<f32>> {
        // The gradient of the features is not used.
        let upper = (1..layers).map(|layer| vec![0.0; robots * net.size.inputs(layer)]);
        std::iter::once(Vec::new()).chain(upper).collect()
    };
    let mut grad = nothing();
    for tick in (first..ticks.end).rev() {
        let pass = &passes[tick - first];
        let error = if ticks.contains(&tick) {
            sums.count += robots;
            loss.compare(&pass.output, trajectory.labels(tick), &mut sums)
        } else {
            vec![0.0; pass.output.len()]
        };
        net.backward(pass, &error, &mut grad, &mut sums);
        let mut earlier = nothing();
        for layer in 1..layers {
            exchange_back(&mut earlier[layer], &grad[layer], &trajectory.links[tick], scale, hidden);
        }
        grad = earlier;
    }
    sums
}

/// Returns the factor of neighbors' taps for a number of neighbors.
pub fn weight(scale: Scale, heard: usize) -> f32 {
    match scale {
        Scale::Mean => 1.0 / heard.max(1) as f32,
        Scale::Closed | Scale::Echo(_) => 1.0 / (heard + 1) as f32,
        Scale::Scaled(factor) => factor,
        _ => 1.0,
    }
}

/// Returns the neighbors of a robot.
fn summed(links: &Links, robot: usize, scale: Scale) -> impl Iterator<Item = usize> {
    let own = scale.closed().then_some(robot);
    own.into_iter().chain(links.of(robot).iter().map(|&other| other as usize))
}

/// Tap k is the neighbors' tap k−1 of the previous tick; `width` numbers per tap.
fn exchange(chain: &mut [f32], before: &[f32], links: &Links, scale: Scale, width: usize) {
    let each = before.len() / links.robots().max(1);
    for (robot, chain) in chain.chunks_exact_mut(each).enumerate() {
        let weight = weight(scale, links.of(robot).len());
        for other in summed(links, robot, scale) {
            for (sum, z) in chain[width..].iter_mut().zip(&before[other * each..]) {
                *sum += weight * z;
            }
        }
        echo(chain, scale, width);
    }
}

/// A share of the last tap returns to the tap before it, unless that is the robot's own signal.
fn echo(chain: &mut [f32], scale: Scale, width: usize) {
    if let Some(before) = chain.len().checked_sub(2 * width).filter(|before| *before > 0) {
        let (before, last) = chain[before..].split_at_mut(width);
        before.iter_mut().zip(last).for_each(|(before, last)| *before += scale.echo() * *last);
    }
}

/// The gradient of the tap before the last one applies to the last one, too.
pub fn echo_back(grad: &mut [f32], scale: Scale, width: usize) {
    if let Some(before) = grad.len().checked_sub(2 * width).filter(|before| *before > 0) {
        let (before, last) = grad[before..].split_at_mut(width);
        before.iter().zip(last).for_each(|(before, last)| *last += scale.echo() * before);
    }
}

/// The gradient of these taps goes to the neighbors' taps of the previous tick.
fn exchange_back(before: &mut [f32], grad: &[f32], links: &Links, scale: Scale, width: usize) {
    let each = before.len() / links.robots().max(1);
    for (robot, grad) in grad.chunks_exact(each).enumerate() {
        let mut grad = grad.to_vec();
        echo_back(&mut grad, scale, width);
        let weight = weight(scale, links.of(robot).len());
        for other in summed(links, robot, scale) {
            for (sum, grad) in before[other * each..].iter_mut().zip(&grad[width..]) {
                *sum += weight * grad;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use rand::RngExt as _;
    use rand_chacha::ChaCha8Rng;
    use wdgnn_core::{
        model::{activation::Activation, shape::Dimensions},
        tasks::flocking::Flocking,
    };

    use super::*;
    use crate::{
        episode::{Episode, Observer, TickView},
        error::Result,
        recipe::Architecture,
        seeds::{Purpose, generator},
        swarm::networks::Draft,
        train::{dataset::Trajectory, initialization, net::Places},
        world::{Scenario, World, flock::Flock},
    };

    fn size(layers: usize, taps: usize) -> Dimensions {
        Dimensions { features: 6, layers, taps, hidden: 16, outputs: 2 }
    }

    fn draw(count: usize, reach: f32, random: &mut ChaCha8Rng) -> Vec<f32> {
        (0..count).map(|_| random.random_range(-reach..reach)).collect()
    }

    fn weights(size: &Dimensions, random: &mut ChaCha8Rng) -> Vec<f32> {
        draw(Places::of(size).count(), 0.6, random)
    }

    /// Returns loss and gradient.
    fn of(size: Dimensions, weights: &[f32], scale: Scale, batch: &Batch<'_>) -> (f32, Vec<f32>) {
        let net = Net::new(size, Activation::TanhLibm, weights);
        let mut into = vec![0.0; weights.len()];
        (gradient(&net, scale, batch, &Loss::SQUARED, &mut into), into)
    }

    fn check(size: Dimensions, batch: &Batch<'_>, scale: Scale, random: &mut ChaCha8Rng) {
        let mut weights = weights(&size, random);
        let analytic = of(size, &weights, scale, batch).1;
        let largest = analytic.iter().fold(0.0_f32, |largest, g| largest.max(g.abs()));
        assert!(largest > 0.0);
        for index in (0..weights.len()).step_by(3).chain(0..3) {
            // Central differences in f32: h = 2⁻⁶ balances the h²-term and the rounding of a loss
            // near 1 (1e-7/h).
            let h = 0.015_625;
            let kept = weights[index];
            let mut loss_at = |value| {
                weights[index] = value;
                of(size, &weights, scale, batch).0
            };
            let difference = (loss_at(kept + h) - loss_at(kept - h)) / (2.0 * h);
            loss_at(kept);
            let bound = 0.004 * largest + 0.01 * analytic[index].abs();
            assert!(
                (difference - analytic[index]).abs() < bound,
                "{size:?} {scale:?} weight {index}: {difference} {}",
                analytic[index]
            );
        }
    }

    /// Moving robots whose links appear and disappear.
    fn trajectory(size: &Dimensions, random: &mut ChaCha8Rng) -> Trajectory {
        let (robots, ticks) = (5, 7);
        let mut trajectory = Trajectory::new(size, robots);
        for _ in 0..ticks {
            let mut place = |_| [random.random_range(-1.0..1.0), random.random_range(-1.0..1.0), 0.0];
            let places: Vec<[f32; 3]> = (0..robots).map(&mut place).collect();
            trajectory.links.push(Links::within(&places, 1.0));
            for _ in 0..robots {
                trajectory.push(&draw(size.inputs(0), 1.0, random), &draw(size.outputs, 1.0, random));
            }
        }
        trajectory
    }

    #[test]
    fn gradients_of_one_layer_agree_with_finite_differences() {
        let random = &mut generator(1, Purpose::Weights, 1);
        let size = size(1, 4);
        let trajectory = trajectory(&size, random);
        let samples = (0..trajectory.len()).map(|index| trajectory.sample(index)).collect();
        check(size, &Batch::Samples(samples), Scale::Mean, random);
    }

    #[test]
    fn gradients_through_delayed_exchanges_agree_with_finite_differences() {
        let random = &mut generator(1, Purpose::Weights, 2);
        for scale in [Scale::Mean, Scale::Sum, Scale::Scaled(0.3), Scale::Closed] {
            let flight = trajectory(&size(2, 2), random);
            let window =
                |warm_up, ticks| Batch::Windows(vec![Window { trajectory: &flight, warm_up, ticks }]);
            check(size(2, 2), &window(2, 3..7), scale, random);
            check(size(3, 2), &window(0, 0..7), scale, random);
        }
        let trajectory = trajectory(&size(2, 4), random);
        let window = Window { trajectory: &trajectory, warm_up: 3, ticks: 4..7 };
        for scale in [Scale::Mean, Scale::Echo(0.6)] {
            check(size(2, 4), &Batch::Windows(vec![window.clone()]), scale, random);
        }
    }

    /// Records the networks' messages as labels.
    struct Listener(Trajectory);

    impl Observer<Flock> for Listener {
        fn observe(&mut self, moment: &TickView<'_, Flock>) -> Result {
            self.0.links.push(moment.scene.links.clone());
            for robot in 0..self.0.robots {
                let inside = moment.swarm.internals(robot).unwrap();
                self.0.push(inside.taps, inside.output);
            }
            Ok(())
        }
    }

    #[test]
    fn training_exchanges_upper_layers_as_robots_do() {
        let size = Dimensions { features: 6, layers: 2, taps: 2, hidden: 16, outputs: 2 };
        let numbers = initialization::weights(&size, Architecture::WdGnn, 1);
        let condition = Scenario { robots: 12, ticks: 8, ..Scenario::PAPER };
        let start =
            Episode::draw(&Flock::default(), &condition, &mut generator(1, Purpose::Training, 0)).unwrap();
        for scale in [Scale::Mean, Scale::Sum, Scale::Scaled(0.3), Scale::Closed] {
            let draft = Draft { numbers: &numbers, size, scale, task: Flocking::MEAN_FEATURES, exchange: 1 };
            let mut swarm = draft.in_memory::<<Flock as World>::Shapes>(&start.states).unwrap();
            let mut listener = Listener(Trajectory::new(&size, 12));
            start.fly(&draft.task, swarm.as_mut(), &mut [&mut listener], &AtomicBool::new(false)).unwrap();
            let window = Window { trajectory: &listener.0, warm_up: 0, ticks: 0..8 };
            let net = Net::new(size, Activation::Tanh, &numbers);
            let mut ignored = vec![0.0; numbers.len()];
            let loss = gradient(&net, scale, &Batch::Windows(vec![window]), &Loss::SQUARED, &mut ignored);
            // Outputs have size 1 or more, so the loss is the square of rounding errors.
            assert!(loss < 1.0e-8, "{scale:?}: {loss}");
            let largest = listener.0.labels(7).iter().fold(0.0_f32, |largest, u| largest.max(u.abs()));
            assert!(largest > 0.5, "{scale:?}: {largest}");
        }
    }

    #[test]
    fn windows_of_one_layer_equal_samples() {
        let random = &mut generator(1, Purpose::Weights, 3);
        let size = size(1, 4);
        let trajectory = trajectory(&size, random);
        let weights = weights(&size, random);
        let samples = Batch::Samples((0..trajectory.len()).map(|index| trajectory.sample(index)).collect());
        let window = Batch::Windows(vec![Window { trajectory: &trajectory, warm_up: 0, ticks: 0..7 }]);
        let [samples, window] = [samples, window].map(|batch| of(size, &weights, Scale::Mean, &batch).1);
        for (a, b) in samples.iter().zip(window) {
            // Equal sums in the backward pass.
            assert!((a - b).abs() < 1.0e-5, "{a} {b}");
        }
    }

    #[test]
    fn the_batch_gradient_is_the_mean_over_samples_for_any_number_of_parts() {
        let random = &mut generator(1, Purpose::Weights, 4);
        let size = size(1, 4);
        let trajectory = trajectory(&size, random);
        let weights = weights(&size, random);
        let once: Vec<_> = (0..trajectory.len()).map(|index| trajectory.sample(index)).collect();
        // More than one part, more than one task, and a rest.
        let often = once.iter().copied().cycle().take(35 * 60).collect();
        const { assert!(35 * 60 > 2 * PARTS * Part::SAMPLES) };
        let [once, often] =
            [once, often].map(|samples| of(size, &weights, Scale::Mean, &Batch::Samples(samples)).1);
        for (a, b) in once.iter().zip(often) {
            // Sixty repetitions round differently.
            assert!((a - b).abs() < 1.0e-4, "{a} {b}");
        }
    }

    #[test]
    fn the_loss_is_flat_for_clamped_commands_and_linear_for_large_errors() {
        let loss = Loss { clamp: Some(10.0), huber: 5.0 };
        assert_eq!(loss.of(99.0, 10.0), (0.0, 0.0));
        assert_eq!(loss.of(2.0, 1.0), (1.0, 2.0));
        assert_eq!(loss.of(99.0, 0.0), (5.0 * 15.0, 10.0));
        assert_eq!(loss.of(-99.0, 0.0).1, -10.0);
    }
}
