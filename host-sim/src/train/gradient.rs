//! Gradient of the imitation loss over a batch.
//!
//! Parts of a batch have a fixed size and are summed in order, so results do not depend on the
//! number of threads.

use wdgnn_core::math;

use super::{
    block::{Block, Tallies},
    net::{Net, Sums},
    simd::Width,
};
use crate::threads;

/// Taps of one robot, and the command of the expert.
pub type Sample<'a> = (&'a [f32], &'a [f32]);

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
}

/// Writes the mean gradient over a batch to `gradient` and returns the mean loss.
pub fn gradient(net: &Net<'_>, batch: &[Sample<'_>], loss: &Loss, gradient: &mut [f32]) -> f32 {
    let chunks: Vec<_> = batch.chunks(PARTS * Part::SAMPLES).collect();
    let parts = threads::map(chunks.len(), |index| samples(net, chunks[index], loss));
    let mut all = Sums::new(net);
    for part in &parts {
        all.add(part);
    }
    all.finish(net, gradient);
    all.loss / all.count as f32
}

/// Sums over samples. Taps are data, so no gradient goes back in time.
fn samples(net: &Net<'_>, samples: &[Sample<'_>], loss: &Loss) -> Sums {
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

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use wdgnn_core::model::shape::Dimensions;

    use super::*;
    use crate::{
        seeds::{Purpose, generator},
        train::net::Places,
    };

    const SIZE: Dimensions = Dimensions { features: 6, layers: 1, taps: 4, hidden: 16, outputs: 2 };

    fn draw(count: usize, reach: f32, number: u64) -> Vec<f32> {
        let random = &mut generator(1, Purpose::Weights, number);
        (0..count).map(|_| random.random_range(-reach..reach)).collect()
    }

    /// Returns loss and gradient over `count` samples, 35 of them different.
    fn of(weights: &[f32], count: usize) -> (f32, Vec<f32>) {
        let (taps, labels) = (draw(35 * SIZE.inputs(0), 1.0, 1), draw(35 * SIZE.outputs, 1.0, 2));
        let samples = taps.chunks(SIZE.inputs(0)).zip(labels.chunks(SIZE.outputs));
        let batch: Vec<Sample<'_>> = samples.cycle().take(count).collect();
        let mut into = vec![0.0; weights.len()];
        (gradient(&Net::new(SIZE, weights), &batch, &Loss::SQUARED, &mut into), into)
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let mut weights = draw(Places::of(&SIZE).count(), 0.6, 3);
        let analytic = of(&weights, 35).1;
        let largest = analytic.iter().fold(0.0_f32, |largest, g| largest.max(g.abs()));
        assert!(largest > 0.0);
        for index in (0..weights.len()).step_by(3).chain(0..3) {
            // Central differences in f32: h = 2⁻⁶ balances the h²-term and the rounding of a loss
            // near 1 (1e-7/h).
            let h = 0.015_625;
            let kept = weights[index];
            let [above, below] = [h, -h].map(|h| {
                weights[index] = kept + h;
                of(&weights, 35).0
            });
            weights[index] = kept;
            let difference = (above - below) / (2.0 * h);
            let bound = 0.004 * largest + 0.01 * analytic[index].abs();
            assert!(
                (difference - analytic[index]).abs() < bound,
                "{index}: {difference} {}",
                analytic[index]
            );
        }
    }

    #[test]
    fn the_batch_gradient_is_the_mean_over_samples_for_any_number_of_parts() {
        let weights = draw(Places::of(&SIZE).count(), 0.6, 4);
        // More than one part, more than one task, and a rest.
        const { assert!(35 * 60 > 2 * PARTS * Part::SAMPLES) };
        for (a, b) in of(&weights, 35).1.iter().zip(of(&weights, 35 * 60).1) {
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
