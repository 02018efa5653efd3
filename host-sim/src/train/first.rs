//! Where training starts from.

use rand::RngExt as _;
use wdgnn_core::shape::Dimensions;

use super::net::Places;
use crate::{
    recipe::Architecture,
    seeds::{Purpose, generator},
};

/// Every weight from U(±1/√fan-in), α_D and α_W from the architecture, β = 0.
#[must_use]
pub fn weights(size: &Dimensions, architecture: Architecture, seed: u64) -> Vec<f32> {
    let mut random = generator(seed, Purpose::Weights, 0);
    let places = Places::of(size);
    let mut weights = Vec::with_capacity(places.count());
    let (deep, wide) = architecture.combination();
    weights.extend([deep, wide, 0.0]);
    let mut fill = |count: usize, inputs: usize| {
        let reach = 1.0 / (inputs as f32).sqrt();
        weights.extend((0..count).map(|_| random.random_range(-reach..reach)));
    };
    for layer in 0..size.layers {
        let inputs = size.inputs(layer);
        fill((inputs + 1) * size.hidden, inputs);
    }
    fill((size.inputs(0) + 1) * size.hidden, size.inputs(0));
    fill((size.hidden + 1) * size.outputs, size.hidden);
    weights
}

/// Turns first weights into a controller: both parts do what `guess` says (which feature drives which output, how strongly) on every tap,
/// the deep part within the limits of its activation, with a little of the random weights on top. From random weights alone a swarm
/// may fly apart, and nothing is learned from that. What is older than the last exchange is worth less, the rarer exchanges are.
pub fn guess(weights: &mut [f32], size: &Dimensions, guess: &[(usize, usize, f32)], exchange: u32) {
    /// How much of the random weights stays.
    const RANDOM: f32 = 0.1;
    /// Slope of the deep part's units per unit of the feature and readout weight.
    const SLOPE: f32 = 2.0;
    if guess.is_empty() || size.layers > 1 {
        return;
    }
    let places = Places::of(size);
    let (hidden, outputs) = (size.hidden, size.outputs);
    for w in &mut weights[places.deep().start..places.wide_bias.end] {
        *w *= RANDOM;
    }
    // From U(±1/√G) to U(±1).
    let stretch = (hidden as f32).sqrt();
    weights[places.readout.clone()].iter_mut().for_each(|r| *r *= stretch);
    weights[places.readout_bias.clone()].fill(0.0);
    let readout = weights[places.readout.clone()].to_vec();
    for tap in 0..size.taps {
        let worth = if tap == 0 { 1.0 } else { 1.0 / exchange as f32 };
        for &(feature, output, gain) in guess {
            let column = || readout.iter().skip(output).step_by(outputs);
            let squares: f32 = column().map(|r| r * r).sum();
            let row = (tap * size.features + feature) * hidden;
            for (unit, r) in column().enumerate() {
                weights[places.deep().start + row + unit] += worth * SLOPE * gain.signum() * r;
                weights[places.wide.start + row + unit] += worth * gain * r / squares;
            }
        }
    }
}

/// Where the weights of some features lie, in both parts.
#[must_use]
pub fn rows(size: &Dimensions, features: &std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let places = Places::of(size);
    let rows = |part: usize| {
        (0..size.taps).map(move |tap| {
            let row = part + tap * size.features * size.hidden;
            row + features.start * size.hidden..row + features.end * size.hidden
        })
    };
    rows(places.deep().start).chain(rows(places.wide.start)).collect()
}

/// Parts that an architecture does not have get no gradient, so they stay as they started, multiplied by zero.
pub fn freeze(gradient: &mut [f32], size: &Dimensions, architecture: Architecture) {
    let places = Places::of(size);
    let (alpha, part) = match architecture {
        Architecture::WdGnn => return,
        Architecture::Gnn => (1, places.wide.start..places.wide_bias.end),
        Architecture::GraphFilter => (0, places.deep()),
    };
    gradient[alpha] = 0.0;
    gradient[part].fill(0.0);
}
