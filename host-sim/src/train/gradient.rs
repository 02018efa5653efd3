//! The gradient of the imitation loss over a batch.
//!
//! Parts of a batch are of fixed size and summed in order, so the bits are the same at any number of threads.

use rayon::prelude::*;
use wdgnn_core::{math, taps::Scale};

use super::{
    dataset::{Batch, Window},
    net::{Net, Pass, Sums},
};
use crate::links::Links;

/// Samples per part of a batch: their taps, hidden features and gradients stay in the nearest cache.
const PART: usize = 64;
/// Parts that one thread takes at a time.
const PARTS: usize = 8;

/// The imitation loss of one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Compare clamped commands: beyond this limit the robot cannot tell the difference. `None` compares raw outputs.
    pub clamp: Option<f32>,
    /// From this error on the loss grows linearly (Huber); infinite for the squared error.
    pub huber: f32,
}

impl Loss {
    /// The squared error.
    pub const SQUARED: Self = Self { clamp: None, huber: f32::INFINITY };

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

    /// Compares outputs with labels. Returns the slopes.
    fn compare(&self, outputs: &[f32], labels: &[f32], sums: &mut Sums) -> Vec<f32> {
        let compared = outputs.iter().zip(labels).map(|(output, label)| {
            let (value, slope) = self.of(*output, *label);
            sums.loss += value;
            slope
        });
        compared.collect()
    }
}

/// Writes the mean gradient over a batch to `gradient` and returns the mean loss. `scale` is that of the network's shifts.
pub fn gradient(net: &Net<'_>, scale: Scale, batch: &Batch<'_>, loss: &Loss, gradient: &mut [f32]) -> f32 {
    let parts: Vec<Sums> = match batch {
        Batch::Samples(samples) => {
            let some = |samples: &[(&[f32], &[f32])]| {
                let mut sums = Sums::new(net);
                samples.chunks(PART).for_each(|part| part_of_samples(net, part, loss, &mut sums));
                sums
            };
            samples.par_chunks(PARTS * PART).map(some).collect()
        }
        Batch::Windows(windows) => {
            windows.par_iter().map(|window| whole_window(net, scale, window, loss)).collect()
        }
    };
    let mut all = Sums::new(net);
    parts.iter().for_each(|part| all.add(part));
    all.finish(net, gradient);
    all.loss / all.count as f32
}

/// Robots at any ticks, for one layer: the taps are data, nothing goes back in time.
fn part_of_samples(net: &Net<'_>, samples: &[(&[f32], &[f32])], loss: &Loss, sums: &mut Sums) {
    let (mut taps, mut labels) = (Vec::new(), Vec::new());
    for (z, label) in samples {
        taps.extend_from_slice(z);
        labels.extend_from_slice(label);
    }
    let pass = net.forward(vec![taps]);
    let error = loss.compare(&pass.output, &labels, sums);
    sums.count += samples.len();
    net.backward(&pass, &error, &mut [Vec::new()], sums);
}

/// A whole swarm over some ticks: forwards exchanging taps as in flight, then backwards through the exchanges. `warm_up` ticks before
/// the window fill the upper layers' chains.
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
        // What is owed to features is of no use here.
        let upper = (1..layers).map(|layer| vec![0.0; robots * net.size.inputs(layer)]);
        std::iter::once(Vec::new()).chain(upper).collect()
    };
    let mut owed = nothing();
    for tick in (first..ticks.end).rev() {
        let pass = &passes[tick - first];
        let error = if ticks.contains(&tick) {
            sums.count += robots;
            loss.compare(&pass.output, trajectory.labels(tick), &mut sums)
        } else {
            vec![0.0; pass.output.len()]
        };
        net.backward(pass, &error, &mut owed, &mut sums);
        let mut earlier = nothing();
        for layer in 1..layers {
            exchange_back(&mut earlier[layer], &owed[layer], &trajectory.links[tick], scale, hidden);
        }
        owed = earlier;
    }
    sums
}

/// What a neighbour's taps are multiplied by when so many are heard.
#[must_use]
pub fn weight(scale: Scale, heard: usize) -> f32 {
    match scale {
        Scale::Mean => 1.0 / heard.max(1) as f32,
        Scale::Closed => 1.0 / (heard + 1) as f32,
        Scale::Scaled(factor) => factor,
        _ => 1.0,
    }
}

/// Whose taps a robot sums up.
fn summed(links: &Links, robot: usize, scale: Scale) -> impl Iterator<Item = usize> {
    let own = (scale == Scale::Closed).then_some(robot);
    own.into_iter().chain(links.of(robot).iter().map(|&other| other as usize))
}

/// Tap k is the neighbours' tap k−1 of the tick before; `width` numbers per tap.
fn exchange(chain: &mut [f32], before: &[f32], links: &Links, scale: Scale, width: usize) {
    let each = before.len() / links.robots().max(1);
    for (robot, chain) in chain.chunks_exact_mut(each).enumerate() {
        let weight = weight(scale, links.of(robot).len());
        for other in summed(links, robot, scale) {
            for (sum, z) in chain[width..].iter_mut().zip(&before[other * each..]) {
                *sum += weight * z;
            }
        }
    }
}

/// What is owed to those taps is owed to the neighbours' of the tick before.
fn exchange_back(before: &mut [f32], owed: &[f32], links: &Links, scale: Scale, width: usize) {
    let each = before.len() / links.robots().max(1);
    for (robot, owed) in owed.chunks_exact(each).enumerate() {
        let weight = weight(scale, links.of(robot).len());
        for other in summed(links, robot, scale) {
            for (sum, owed) in before[other * each..].iter_mut().zip(&owed[width..]) {
                *sum += weight * owed;
            }
        }
    }
}
