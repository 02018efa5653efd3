//! Initial weights.

use rand::RngExt as _;
use wdgnn_core::model::shape::Dimensions;

use super::net::Places;
use crate::{
    recipe::Architecture,
    seeds::{Purpose, generator},
};

/// Draws weights from U(±1/√fan-in); α_D and α_W depend on the architecture, β = 0.
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

/// Turns random weights into an initial controller. Both parts implement `guess` (feature, output,
/// gain) on all taps, the deep part within its activation's limits, plus a small share of the
/// random weights: random weights alone may disperse the swarm. Taps behind the last exchange have
/// lower weights for rarer exchanges.
pub fn guess(weights: &mut [f32], size: &Dimensions, guess: &[(usize, usize, f32)], exchange: u32) {
    /// Share of the random weights.
    const RANDOM: f32 = 0.1;
    /// Gain for rare exchanges: states of neighbors are older, and trained networks have a higher
    /// gain.
    const RARE: f32 = 1.5;
    /// Slope of the deep part per unit of feature and readout weight.
    const SLOPE: f32 = 2.0;
    if guess.is_empty() || size.layers > 1 {
        return;
    }
    let places = Places::of(size);
    let (hidden, outputs) = (size.hidden, size.outputs);
    for w in &mut weights[places.deep().start..places.wide_bias.end] {
        *w *= RANDOM;
    }
    // Rescales from U(±1/√G) to U(±1).
    let stretch = (hidden as f32).sqrt();
    weights[places.readout.clone()].iter_mut().for_each(|r| *r *= stretch);
    weights[places.readout_bias.clone()].fill(0.0);
    let readout = weights[places.readout.clone()].to_vec();
    for tap in 0..size.taps {
        let worth = if tap == 0 { 1.0 } else { 1.0 / exchange as f32 };
        for &(feature, output, gain) in guess {
            let gain = if exchange > 1 { RARE * gain } else { gain };
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

/// Returns the ranges of some features' weights in both parts.
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

/// Missing parts of an architecture get no gradient: they keep their initial weights with the
/// factor zero.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{block::outputs, net::Net};

    const SIZE: Dimensions = Dimensions { features: 6, layers: 1, taps: 3, hidden: 32, outputs: 2 };

    #[test]
    fn initial_weights_are_deterministic_and_bounded() {
        let weights = weights(&SIZE, Architecture::WdGnn, 3);
        let places = Places::of(&SIZE);
        assert_eq!(weights.len(), places.count());
        assert_eq!(weights, super::weights(&SIZE, Architecture::WdGnn, 3));
        assert_ne!(weights, super::weights(&SIZE, Architecture::WdGnn, 4));
        assert_eq!(weights[..3], [1.0, 1.0, 0.0]);
        let largest = |part: &[f32]| part.iter().fold(0.0_f32, |largest, w| largest.max(w.abs()));
        let parts = [places.deep(), places.wide.clone(), places.readout.clone()];
        for (part, inputs) in parts.into_iter().zip([18.0_f32, 18.0, 32.0]) {
            let (largest, reach) = (largest(&weights[part]), 1.0 / inputs.sqrt());
            assert!(largest < reach && largest > 0.9 * reach, "{largest} of {reach}");
        }
    }

    /// Returns the command for a single tap number of 0.1; for taps of zero without an input.
    fn command(weights: &[f32], input: Option<usize>) -> Vec<f32> {
        let mut taps = vec![0.0; SIZE.inputs(0)];
        if let Some(input) = input {
            taps[input] = 0.1;
        }
        outputs(&Net::new(SIZE, weights), &taps)
    }

    #[test]
    fn the_initial_controller_acts_on_all_taps() {
        for exchange in [1, 5] {
            let mut weights = weights(&SIZE, Architecture::WdGnn, 3);
            guess(&mut weights, &SIZE, &[(0, 0, -30.0), (1, 1, -30.0)], exchange);
            let idle = command(&weights, None);
            for tap in 0..SIZE.taps {
                let worth = if tap == 0 { 1.0 } else { 1.0 / exchange as f32 };
                for feature in 0..2 {
                    let command = command(&weights, Some(tap * SIZE.features + feature));
                    let moved = [0, 1].map(|output| command[output] - idle[output]);
                    // The wide part has its gain; the saturating deep part adds some.
                    assert!(moved[feature] < -3.0 * worth + 0.5, "{exchange} {tap}: {moved:?}");
                    assert!(
                        moved[1 - feature].abs() < 0.3 * moved[feature].abs(),
                        "{exchange} {tap}: {moved:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn feature_rows_contain_all_their_weights() {
        let mut weights = weights(&SIZE, Architecture::WdGnn, 3);
        let rows = rows(&SIZE, &(2..6));
        assert_eq!(rows.iter().map(std::ops::Range::len).sum::<usize>(), 2 * SIZE.taps * 4 * SIZE.hidden);
        for row in rows {
            weights[row].fill(0.0);
        }
        let idle = command(&weights, None);
        for input in 0..SIZE.inputs(0) {
            let seen = input % SIZE.features < 2;
            assert_eq!(command(&weights, Some(input)) != idle, seen, "{input}");
        }
    }

    #[test]
    fn missing_parts_of_an_architecture_have_no_gradient() {
        let places = Places::of(&SIZE);
        let frozen = |architecture| {
            let mut gradient = vec![1.0; places.count()];
            freeze(&mut gradient, &SIZE, architecture);
            (0..places.count()).filter(|index| gradient[*index] == 0.0).collect::<Vec<_>>()
        };
        assert!(frozen(Architecture::WdGnn).is_empty());
        let wide = places.wide.start..places.wide_bias.end;
        assert_eq!(frozen(Architecture::Gnn), std::iter::once(1).chain(wide).collect::<Vec<_>>());
        assert_eq!(
            frozen(Architecture::GraphFilter),
            std::iter::once(0).chain(places.deep()).collect::<Vec<_>>()
        );
    }
}
