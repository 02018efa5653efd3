//! The gradient of the imitation loss over a batch: the core's forward pass, then backwards by hand.
//!
//! Parts of a batch are of fixed size and summed in order, so the bits are the same at any number of threads. The wide part,
//! the readout and the combination weights need only three small sums per part (Σ z eᵀ, Σ h eᵀ, Σ e): their gradients
//! follow from those once per batch.

use rayon::prelude::*;
use wdgnn_core::{
    Network,
    activation::Activation,
    math,
    network::FirstChain as _,
    taps::{Chain, Chains, Scale, aggregate},
    tensor::Tensor as _,
    wide::{Folded, Metric, Model as _},
};

use super::{
    backward::{Adjoint as _, Backward},
    dataset::{Batch, Trajectory},
};
use crate::shapes::{FEATURES, OUTPUTS, Shape};

/// Samples per part of a batch.
const PART: usize = 512;

/// The imitation loss of one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Compare clamped commands: beyond this limit the robot cannot tell the difference. `None` compares raw outputs.
    pub clamp: Option<f32>,
    /// From this error on the loss grows linearly (Huber); infinite for the squared error.
    pub huber: f32,
}

impl Loss {
    /// The loss and its slope. The slope passes straight through the clamp, and vanishes where both are clamped alike.
    #[must_use]
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

type Net<'w, S, const TAPS: usize, const G: usize> =
    Network<'w, FEATURES, TAPS, G, OUTPUTS, <S as Shape<TAPS, G>>::Deep<'w>>;

/// How many numbers a network of this shape has.
#[must_use]
pub fn numbers<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>() -> usize {
    Net::<'_, S, TAPS, G>::NUMBERS
}

/// What one part of a batch adds up to.
pub(super) struct Sums<const TAPS: usize, const G: usize> {
    pub(super) deep: Vec<f32>,
    wide: [[[f32; OUTPUTS]; FEATURES]; TAPS],
    hidden: [[f32; OUTPUTS]; G],
    output: [f32; OUTPUTS],
    loss: f32,
    pub(super) count: usize,
}

/// Writes the mean gradient over a batch to `gradient`, in the order of the weight file, and returns the mean loss.
///
/// # Panics
/// When `weights` are not as many as the shape has.
pub fn gradient<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    weights: &[f32],
    activation: Activation,
    scale: Scale,
    batch: &Batch<'_, TAPS>,
    loss: &Loss,
    gradient: &mut [f32],
) -> f32 {
    let network =
        Net::<'_, S, TAPS, G>::over(weights, activation, scale).expect("as many numbers as the shape has");
    let folded = Folded::new(network, Metric::Euclidean);
    let parts: Vec<Sums<TAPS, G>> = match batch {
        Batch::Samples(samples) => samples
            .par_chunks(PART)
            .map(|part| {
                let mut sums = Sums::new::<S>();
                for (chain, label) in part {
                    sums.sample::<S>(&folded, chain, label, loss);
                }
                sums
            })
            .collect(),
        Batch::Windows(windows) => windows
            .par_iter()
            .map(|window| {
                let mut sums = Sums::new::<S>();
                sums.window::<S>(&folded, window.trajectory, window.warm_up, window.ticks.clone(), loss);
                sums
            })
            .collect(),
    };
    let mut all = Sums::new::<S>();
    for part in &parts {
        all.add(part);
    }
    all.finish::<S>(&network, gradient);
    all.loss / all.count as f32
}

impl<const TAPS: usize, const G: usize> Sums<TAPS, G> {
    pub(super) fn new<S: Shape<TAPS, G>>() -> Self {
        let deep = <S::Deep<'_> as wdgnn_core::deep::Deep<'_, FEATURES, G>>::NUMBERS;
        Self {
            deep: vec![0.0; deep],
            wide: [[[0.0; OUTPUTS]; FEATURES]; TAPS],
            hidden: [[0.0; OUTPUTS]; G],
            output: [0.0; OUTPUTS],
            loss: 0.0,
            count: 0,
        }
    }

    fn add(&mut self, part: &Self) {
        let pairs = [
            (&mut self.deep[..], &part.deep[..]),
            (self.wide.as_flattened_mut().as_flattened_mut(), part.wide.as_flattened().as_flattened()),
            (self.hidden.as_flattened_mut(), part.hidden.as_flattened()),
            (&mut self.output, &part.output),
        ];
        for (sums, part) in pairs {
            for (sum, part) in sums.iter_mut().zip(part) {
                *sum += part;
            }
        }
        self.loss += part.loss;
        self.count += part.count;
    }

    /// Forward through the readout and the loss. Returns the gradient of the hidden features.
    #[inline]
    fn compare<D>(
        &mut self,
        folded: &Folded<'_, FEATURES, TAPS, G, OUTPUTS, D>,
        output: &[f32; OUTPUTS],
        hidden: &[f32; G],
        chain: &Chain<TAPS, FEATURES>,
        label: &[f32; OUTPUTS],
        loss: &Loss,
    ) -> [f32; G] {
        let mut error = [0.0; OUTPUTS];
        for ((error, output), label) in error.iter_mut().zip(output).zip(label) {
            let (value, slope) = loss.of(*output, *label);
            self.loss += value;
            *error = slope;
        }
        self.count += 1;
        self.add_error(folded, hidden, chain, &error)
    }

    /// Adds what a gradient of the output means for the wide part and the readout. Returns the gradient of the hidden features.
    #[inline]
    pub(super) fn add_error<D>(
        &mut self,
        folded: &Folded<'_, FEATURES, TAPS, G, OUTPUTS, D>,
        hidden: &[f32; G],
        chain: &Chain<TAPS, FEATURES>,
        error: &[f32; OUTPUTS],
    ) -> [f32; G] {
        for (sums, z) in self.wide.as_flattened_mut().iter_mut().zip(chain.numbers()) {
            for (sum, error) in sums.iter_mut().zip(error) {
                *sum += z * error;
            }
        }
        for (sums, h) in self.hidden.iter_mut().zip(hidden) {
            for (sum, error) in sums.iter_mut().zip(error) {
                *sum += h * error;
            }
        }
        for (sum, error) in self.output.iter_mut().zip(error) {
            *sum += error;
        }
        let network = folded.network();
        let mut d = [0.0; G];
        for (d, row) in d.iter_mut().zip(network.readout) {
            *d = network.alpha_deep * (row[0] * error[0] + row[1] * error[1]);
        }
        d
    }

    /// One robot at one tick, for one layer: the taps are data, nothing goes back in time.
    #[inline]
    fn sample<'w, S: Shape<TAPS, G>>(
        &mut self,
        folded: &Folded<'w, FEATURES, TAPS, G, OUTPUTS, S::Deep<'w>>,
        chain: &Chain<TAPS, FEATURES>,
        label: &[f32; OUTPUTS],
        loss: &Loss,
    ) {
        let mut chains = first_only::<S, TAPS, G>(chain);
        let (output, hidden) = folded.infer_with_hidden(folded.offline(), &chain.0[0], &mut chains);
        let d = self.compare(folded, &output, &hidden, chain, label, loss);
        let network = folded.network();
        let mut adjoint = Chains::ZERO;
        network.deep.backward::<true>(network.activation, &chains, &hidden, &d, &mut adjoint, &mut self.deep);
    }

    /// A whole swarm over some ticks: forwards exchanging taps as in flight, then backwards through the exchanges.
    /// `warm_up` ticks before the window fill the upper layers' chains.
    fn window<'w, S: Shape<TAPS, G>>(
        &mut self,
        folded: &Folded<'w, FEATURES, TAPS, G, OUTPUTS, S::Deep<'w>>,
        trajectory: &Trajectory<TAPS>,
        warm_up: usize,
        ticks: std::ops::Range<usize>,
        loss: &Loss,
    ) {
        type ChainsOf<'w, S, const TAPS: usize, const G: usize> =
            <<S as Shape<TAPS, G>>::Deep<'w> as wdgnn_core::deep::Deep<'w, FEATURES, G>>::Chains;
        let network = folded.network();
        let robots = trajectory.robots;
        let first = ticks.start.saturating_sub(warm_up);
        let mut chains: Vec<Vec<ChainsOf<'w, S, TAPS, G>>> = Vec::new();
        let mut results = Vec::new();
        for tick in first..ticks.end {
            let before = chains.last();
            let mut now = Vec::with_capacity(robots);
            let mut out = Vec::with_capacity(robots);
            for robot in 0..robots {
                let heard = before.into_iter().flat_map(|before| {
                    trajectory.links[tick].of(robot).iter().map(|&other| (&before[other as usize], 1.0))
                });
                let told = before.map_or(Chains::ZERO, |before| before[robot]);
                let mut own: ChainsOf<'w, S, TAPS, G> = aggregate(&told, heard, network.scale);
                let chain = trajectory.chain(tick, robot);
                *own.first_mut() = *chain;
                out.push(folded.infer_with_hidden(folded.offline(), &chain.0[0], &mut own));
                now.push(own);
            }
            chains.push(now);
            results.push(out);
        }
        let mut owed: Vec<ChainsOf<'w, S, TAPS, G>> = vec![Chains::ZERO; robots];
        for tick in (first..ticks.end).rev() {
            let mut earlier: Vec<ChainsOf<'w, S, TAPS, G>> = vec![Chains::ZERO; robots];
            for robot in 0..robots {
                let (output, hidden) = &results[tick - first][robot];
                let d = if ticks.contains(&tick) {
                    let label = trajectory.label(tick, robot);
                    self.compare(folded, output, hidden, trajectory.chain(tick, robot), label, loss)
                } else {
                    [0.0; G]
                };
                let own = &chains[tick - first][robot];
                let adjoint = &mut owed[robot];
                network.deep.backward::<true>(network.activation, own, hidden, &d, adjoint, &mut self.deep);
                let heard = trajectory.links[tick].of(robot);
                let weight = match network.scale {
                    Scale::Mean => 1.0 / heard.len().max(1) as f32,
                    Scale::Scaled(factor) => factor,
                    Scale::Closed => 1.0 / (heard.len() + 1) as f32,
                    _ => 1.0,
                };
                if network.scale == Scale::Closed {
                    earlier[robot].add_back(adjoint, weight);
                }
                for &other in heard {
                    let passed: &mut ChainsOf<'w, S, TAPS, G> = &mut earlier[other as usize];
                    passed.add_back(adjoint, weight);
                }
            }
            owed = earlier;
        }
    }

    /// From sums to the mean gradient, in the order of the weight file: α_D, α_W, β, A…, B, b, R, ρ.
    pub(super) fn finish<S: Shape<TAPS, G>>(&self, network: &Net<'_, S, TAPS, G>, gradient: &mut [f32]) {
        let (alphas, rest) = gradient.split_at_mut(3);
        let (deep, rest) = rest.split_at_mut(self.deep.len());
        let (wide, rest) = rest.split_at_mut(TAPS * FEATURES * G);
        let (wide_bias, rest) = rest.split_at_mut(G);
        let (readout, readout_bias) = rest.split_at_mut(G * OUTPUTS);
        let mean = 1.0 / self.count.max(1) as f32;
        let wide_sums = self.wide.as_flattened();
        // What multiplies α_W in the loss's gradient: Bᵀ(Σ z eᵀ) + b (Σ e)ᵀ, a G × O matrix.
        let mut linear = [[0.0; OUTPUTS]; G];
        for (row, sums) in network.wide.as_flattened().iter().zip(wide_sums) {
            for (linear, b) in linear.iter_mut().zip(row) {
                linear[0] += b * sums[0];
                linear[1] += b * sums[1];
            }
        }
        for (linear, b) in linear.iter_mut().zip(network.wide_bias) {
            linear[0] += b * self.output[0];
            linear[1] += b * self.output[1];
        }
        deep.copy_from_slice(&self.deep);
        for (gradients, sums) in wide.as_chunks_mut::<G>().0.iter_mut().zip(wide_sums) {
            for (gradient, r) in gradients.iter_mut().zip(network.readout) {
                *gradient = network.alpha_wide * (r[0] * sums[0] + r[1] * sums[1]);
            }
        }
        alphas.fill(0.0);
        let readouts = readout.as_chunks_mut::<OUTPUTS>().0.iter_mut();
        for ((((bias, gradient), r), hidden), linear) in
            wide_bias.iter_mut().zip(readouts).zip(network.readout).zip(&self.hidden).zip(&linear)
        {
            let total = r[0] * self.output[0] + r[1] * self.output[1];
            *bias = network.alpha_wide * total;
            alphas[0] += r[0] * hidden[0] + r[1] * hidden[1];
            alphas[1] += r[0] * linear[0] + r[1] * linear[1];
            alphas[2] += total;
            for output in 0..OUTPUTS {
                gradient[output] = network.alpha_deep * hidden[output]
                    + network.alpha_wide * linear[output]
                    + network.beta * self.output[output];
            }
        }
        readout_bias.copy_from_slice(&self.output);
        for g in gradient {
            *g *= mean;
        }
    }
}

pub(super) fn first_only<'w, S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
    chain: &Chain<TAPS, FEATURES>,
) -> <S::Deep<'w> as wdgnn_core::deep::Deep<'w, FEATURES, G>>::Chains {
    let mut chains: <S::Deep<'w> as wdgnn_core::deep::Deep<'w, FEATURES, G>>::Chains = Chains::ZERO;
    *chains.first_mut() = *chain;
    chains
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{
        links::Links,
        seeds::{Purpose, generator},
        shapes::{One, Three, Two},
        train::dataset::Window,
    };
    use wdgnn_core::flocking::Motion;

    const PLAIN: Loss = Loss { clamp: None, huber: f32::INFINITY };

    fn weights<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(random: &mut ChaCha8Rng) -> Vec<f32> {
        (0..numbers::<S, TAPS, G>()).map(|_| random.random_range(-0.6..0.6)).collect()
    }

    fn check<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(
        batch: &Batch<'_, TAPS>,
        scale: Scale,
        random: &mut ChaCha8Rng,
    ) {
        let mut weights = weights::<S, TAPS, G>(random);
        let mut analytic = vec![0.0; weights.len()];
        let mut ignored = analytic.clone();
        gradient::<S, TAPS, G>(&weights, Activation::TanhLibm, scale, batch, &PLAIN, &mut analytic);
        let largest = analytic.iter().fold(0.0_f32, |largest, g| largest.max(g.abs()));
        for index in (0..weights.len()).step_by(3).chain(0..3) {
            // Central differences in f32: h = 2⁻⁶ balances the h²-term against rounding of a loss near 1 (1e-7/h).
            let h = 0.015_625;
            let kept = weights[index];
            let mut loss_at = |value| {
                weights[index] = value;
                gradient::<S, TAPS, G>(&weights, Activation::TanhLibm, scale, batch, &PLAIN, &mut ignored)
            };
            let difference = (loss_at(kept + h) - loss_at(kept - h)) / (2.0 * h);
            loss_at(kept);
            let bound = 0.004 * largest + 0.01 * analytic[index].abs();
            assert!(
                (difference - analytic[index]).abs() < bound,
                "weight {index}: {difference} {}",
                analytic[index]
            );
        }
    }

    /// Robots that mill about, so that links come and go.
    fn trajectory<const TAPS: usize>(random: &mut ChaCha8Rng) -> Trajectory<TAPS> {
        let (robots, ticks) = (5, 7);
        let mut trajectory = Trajectory::default();
        trajectory.robots = robots;
        for _ in 0..ticks {
            let motions: Vec<Motion> = (0..robots)
                .map(|_| Motion {
                    position: [0, 1].map(|_| random.random_range(-1.0..1.0)),
                    velocity: [0.0; 2],
                })
                .collect();
            trajectory.links.push(Links::within(&motions, 1.0));
            for _ in 0..robots {
                let chain =
                    Chain([[0.0; FEATURES]; TAPS].map(|tap| tap.map(|_| random.random_range(-1.0..1.0))));
                trajectory.push(chain, [0, 1].map(|_| random.random_range(-1.0..1.0)));
            }
        }
        trajectory
    }

    #[test]
    fn gradients_of_one_layer_agree_with_finite_differences() {
        let random = &mut generator(1, Purpose::Weights, 1);
        let trajectory = trajectory::<4>(random);
        let samples = (0..trajectory.len()).map(|index| trajectory.sample(index)).collect();
        check::<One, 4, 16>(&Batch::Samples(samples), Scale::Mean, random);
    }

    #[test]
    fn gradients_through_delayed_exchanges_agree_with_finite_differences() {
        let random = &mut generator(1, Purpose::Weights, 2);
        for scale in [Scale::Mean, Scale::Sum, Scale::Scaled(0.3)] {
            let flight = trajectory::<2>(random);
            let window =
                |warm_up, ticks| Batch::Windows(vec![Window { trajectory: &flight, warm_up, ticks }]);
            check::<Two, 2, 16>(&window(2, 3..7), scale, random);
            check::<Three, 2, 16>(&window(0, 0..7), scale, random);
        }
        let trajectory = trajectory::<4>(random);
        let window = Window { trajectory: &trajectory, warm_up: 3, ticks: 4..7 };
        check::<Two, 4, 16>(&Batch::Windows(vec![window]), Scale::Mean, random);
    }

    #[test]
    fn a_window_of_one_layer_is_its_samples() {
        let random = &mut generator(1, Purpose::Weights, 3);
        let trajectory = trajectory::<4>(random);
        let weights = weights::<One, 4, 16>(random);
        let samples = Batch::Samples((0..trajectory.len()).map(|index| trajectory.sample(index)).collect());
        let window = Batch::Windows(vec![Window { trajectory: &trajectory, warm_up: 0, ticks: 0..7 }]);
        let of = |batch| {
            let mut gradients = vec![0.0; weights.len()];
            gradient::<One, 4, 16>(&weights, Activation::Tanh, Scale::Mean, batch, &PLAIN, &mut gradients);
            gradients
        };
        for (a, b) in of(&samples).iter().zip(of(&window)) {
            // The same sums, backwards in time.
            assert!((a - b).abs() < 1.0e-5);
        }
    }

    #[test]
    fn the_loss_is_flat_where_both_are_clamped_and_linear_far_out() {
        let loss = Loss { clamp: Some(10.0), huber: 5.0 };
        assert_eq!(loss.of(99.0, 10.0), (0.0, 0.0));
        assert_eq!(loss.of(2.0, 1.0), (1.0, 2.0));
        assert_eq!(loss.of(99.0, 0.0), (5.0 * 15.0, 10.0));
        assert_eq!(loss.of(-99.0, 0.0).1, -10.0);
    }
}
