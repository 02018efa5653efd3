//! Network for training: a list of weights and its size at run time, with forward and backward pass
//! for many robots.
//!
//! ```text
//! hidden = σ(z A + a)                     layer by layer, z the taps of the layer's delay line
//! u      = α_D hidden R + α_W z C + c,    C = B R,  c = (α_W b + β) R + ρ
//! ```
//!
//! The core computes this for one robot at a time ([`wdgnn_core::model::folded::Folded`]); a test
//! compares both. The wide part, the readout and the combination weights need only three small sums
//! over a batch (Σ zᵀe, Σ hiddenᵀe, Σ e), from which [`Sums::finish`] computes their gradients.

use std::ops::Range;

use wdgnn_core::model::{activation::Activation, shape::Dimensions};

use super::matrix::{add_product, add_product_by_transposed, add_rows, add_transposed_product};

/// Offsets of the parts in the list of weights: α_D, α_W, β, the layers, B, b, R, ρ.
#[derive(Clone, Debug)]
pub struct Places {
    pub layers: Vec<(Range<usize>, Range<usize>)>,
    pub wide: Range<usize>,
    pub wide_bias: Range<usize>,
    pub readout: Range<usize>,
    /// ρ.
    pub readout_bias: Range<usize>,
}

impl Places {
    /// Computes the offsets for a network size.
    pub fn of(size: &Dimensions) -> Self {
        let mut next = 3;
        let mut take = |count: usize| {
            let range = next..next + count;
            next = range.end;
            range
        };
        let layers =
            (0..size.layers).map(|layer| (take(size.inputs(layer) * size.hidden), take(size.hidden)));
        Self {
            layers: layers.collect(),
            wide: take(size.inputs(0) * size.hidden),
            wide_bias: take(size.hidden),
            readout: take(size.hidden * size.outputs),
            readout_bias: take(size.outputs),
        }
    }

    /// Returns the range of the deep part.
    pub fn deep(&self) -> Range<usize> {
        3..self.wide.start
    }

    /// Returns the number of weights.
    pub fn count(&self) -> usize {
        self.readout_bias.end
    }
}

/// Network to train.
#[derive(Clone, Debug)]
pub struct Net<'w> {
    pub size: Dimensions,
    /// Activation of the deep part.
    pub activation: Activation,
    pub weights: &'w [f32],
    /// Offsets of the parts.
    pub places: Places,
    pub(super) folded: Vec<f32>,
    pub(super) constant: Vec<f32>,
}

/// Results of a forward pass, one row per robot.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Taps of each layer.
    pub chains: Vec<Vec<f32>>,
    /// Output of each layer.
    pub values: Vec<Vec<f32>>,
    /// Output of the network.
    pub output: Vec<f32>,
}

impl<'w> Net<'w> {
    /// Creates a network with these weights.
    ///
    /// # Panics
    /// If their number does not match the size.
    pub fn new(size: Dimensions, activation: Activation, weights: &'w [f32]) -> Self {
        let places = Places::of(&size);
        assert_eq!(weights.len(), places.count(), "as many numbers as the dimensions say");
        let (hidden, outputs) = (size.hidden, size.outputs);
        let readout = &weights[places.readout.clone()];
        let mut folded = vec![0.0; size.inputs(0) * outputs];
        add_product(&mut folded, &weights[places.wide.clone()], readout, hidden, outputs);
        let linear: Vec<f32> =
            weights[places.wide_bias.clone()].iter().map(|b| weights[1] * b + weights[2]).collect();
        let mut constant = weights[places.readout_bias.clone()].to_vec();
        add_product(&mut constant, &linear, readout, hidden, outputs);
        Self { size, activation, weights, places, folded, constant }
    }

    /// ‖C‖.
    pub fn folded_norm(&self) -> f32 {
        self.folded.iter().fold(0.0, |sum, x| sum + x * x).sqrt()
    }

    /// R.
    pub(super) fn readout(&self) -> &[f32] {
        &self.weights[self.places.readout.clone()]
    }

    /// Forward pass. `chains` are the taps of all layers; it fills in the first taps of upper
    /// layers, which are their own signals.
    pub fn forward(&self, mut chains: Vec<Vec<f32>>) -> Pass {
        let Dimensions { hidden, outputs, .. } = self.size;
        let rows = chains[0].len() / self.size.inputs(0);
        let mut values: Vec<Vec<f32>> = Vec::with_capacity(self.size.layers);
        for (layer, (filter, bias)) in self.places.layers.iter().enumerate() {
            let inputs = self.size.inputs(layer);
            if let Some(below) = layer.checked_sub(1) {
                let own = chains[layer].chunks_exact_mut(inputs).zip(values[below].chunks_exact(hidden));
                own.for_each(|(chain, value)| chain[..hidden].copy_from_slice(value));
            }
            let mut value = self.weights[bias.clone()].repeat(rows);
            add_product(&mut value, &chains[layer], &self.weights[filter.clone()], inputs, hidden);
            self.activation.apply(&mut value);
            values.push(value);
        }
        let mut output = self.constant.repeat(rows);
        let [alpha_deep, alpha_wide] = [self.weights[0], self.weights[1]];
        let mut part = vec![0.0; rows * outputs];
        add_product(&mut part, &values[self.size.layers - 1], self.readout(), hidden, outputs);
        output.iter_mut().zip(&part).for_each(|(u, deep)| *u += alpha_deep * deep);
        part.fill(0.0);
        add_product(&mut part, &chains[0], &self.folded, self.size.inputs(0), outputs);
        output.iter_mut().zip(&part).for_each(|(u, wide)| *u += alpha_wide * wide);
        Pass { chains, values, output }
    }

    /// Backward pass from the gradient of the output, `error`, with gradients added to `sums`.
    /// `grad` contains the gradients that later ticks contribute to this tick's taps of upper
    /// layers, and returns those of all taps, the first layer's if there is room.
    pub fn backward(&self, pass: &Pass, error: &[f32], grad: &mut [Vec<f32>], sums: &mut Sums) {
        let Dimensions { hidden, outputs, layers, .. } = self.size;
        let inputs = self.size.inputs(0);
        let top = &pass.values[layers - 1];
        add_transposed_product(&mut sums.wide, &pass.chains[0], error, inputs, outputs);
        add_transposed_product(&mut sums.hidden, top, error, hidden, outputs);
        add_rows(&mut sums.output, error);
        let mut d = vec![0.0; top.len()];
        add_product_by_transposed(&mut d, self.weights[0], error, self.readout(), hidden, outputs);
        for layer in (0..layers).rev() {
            for (d, value) in d.iter_mut().zip(&pass.values[layer]) {
                *d *= self.activation.derivative(*value);
            }
            let (filter, bias) = &self.places.layers[layer];
            let inputs = self.size.inputs(layer);
            let [gradient, bias_gradient] = [filter, bias].map(|range| range.start - 3..range.end - 3);
            add_transposed_product(&mut sums.deep[gradient], &pass.chains[layer], &d, inputs, hidden);
            add_rows(&mut sums.deep[bias_gradient], &d);
            if grad[layer].is_empty() {
                return;
            }
            let weights = &self.weights[filter.clone()];
            add_product_by_transposed(&mut grad[layer], 1.0, &d, weights, inputs, hidden);
            if layer > 0 {
                // The gradient of the own signal goes to the layer below.
                d.clear();
                d.extend(grad[layer].chunks_exact(inputs).flat_map(|grad| &grad[..hidden]));
            }
        }
        add_product_by_transposed(&mut grad[0], self.weights[1], error, &self.folded, inputs, outputs);
    }
}

/// Sums over a part of a batch.
#[derive(Clone, Debug)]
pub struct Sums {
    pub(super) deep: Vec<f32>,
    pub(super) wide: Vec<f32>,
    pub(super) hidden: Vec<f32>,
    pub(super) output: Vec<f32>,
    pub loss: f32,
    /// Number of samples.
    pub count: usize,
}

impl Sums {
    /// Zero sums.
    pub fn new(net: &Net<'_>) -> Self {
        let Dimensions { hidden, outputs, .. } = net.size;
        Self {
            deep: vec![0.0; net.places.deep().len()],
            wide: vec![0.0; net.size.inputs(0) * outputs],
            hidden: vec![0.0; hidden * outputs],
            output: vec![0.0; outputs],
            loss: 0.0,
            count: 0,
        }
    }

    /// Adds the sums of another part.
    pub fn add(&mut self, part: &Self) {
        add_rows(&mut self.deep, &part.deep);
        add_rows(&mut self.wide, &part.wide);
        add_rows(&mut self.hidden, &part.hidden);
        add_rows(&mut self.output, &part.output);
        self.loss += part.loss;
        self.count += part.count;
    }

    /// Returns the mean gradient of all weights.
    pub fn finish(&self, net: &Net<'_>, gradient: &mut [f32]) {
        let Dimensions { hidden, outputs, .. } = net.size;
        let inputs = net.size.inputs(0);
        let [alpha_deep, alpha_wide, beta] = [net.weights[0], net.weights[1], net.weights[2]];
        let (readout, places) = (net.readout(), &net.places);
        // Factor of α_W: Bᵀ(Σ zᵀe) + b (Σ e), one row per hidden feature.
        let mut linear = vec![0.0; hidden * outputs];
        let wide = &net.weights[places.wide.clone()];
        add_transposed_product(&mut linear, wide, &self.wide, hidden, outputs);
        let wide_bias = &net.weights[places.wide_bias.clone()];
        add_product(&mut linear, wide_bias, &self.output, 1, outputs);
        gradient.fill(0.0);
        gradient[places.deep()].copy_from_slice(&self.deep);
        let to_wide = &mut gradient[places.wide.clone()];
        add_product_by_transposed(to_wide, alpha_wide, &self.wide, readout, hidden, outputs);
        debug_assert_eq!(to_wide.len(), inputs * hidden);
        let mut total = vec![0.0; hidden];
        add_product_by_transposed(&mut total, 1.0, &self.output, readout, hidden, outputs);
        for (gradient, total) in gradient[places.wide_bias.clone()].iter_mut().zip(&total) {
            *gradient = alpha_wide * total;
        }
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
        gradient[0] = dot(readout, &self.hidden);
        gradient[1] = dot(readout, &linear);
        gradient[2] = total.iter().fold(0.0, |sum, total| sum + total);
        let to_readout = gradient[places.readout.clone()].chunks_exact_mut(outputs);
        let sums = self.hidden.chunks_exact(outputs).zip(linear.chunks_exact(outputs));
        for (gradient, (hidden, linear)) in to_readout.zip(sums) {
            for (output, gradient) in gradient.iter_mut().enumerate() {
                *gradient =
                    alpha_deep * hidden[output] + alpha_wide * linear[output] + beta * self.output[output];
            }
        }
        gradient[places.readout_bias.clone()].copy_from_slice(&self.output);
        let mean = 1.0 / self.count.max(1) as f32;
        for g in gradient {
            *g *= mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use wdgnn_core::{
        filter::{DelayLine, DelayLines as _, LayerTaps, scale::Scale},
        model::{
            GradientMetric, Model,
            shape::{OneLayer, Shape, ThreeLayers, TwoLayers},
        },
        tasks::flocking::Flocking,
        tensor::Tensor as _,
    };

    use super::*;
    use crate::{
        recipe::Architecture,
        seeds::{Purpose, generator},
        train::initialization,
    };

    type ModelOf<'w, S> = <S as Shape<Flocking>>::Model<'w>;

    /// Converts the taps of all layers to a robot's delay lines and back.
    trait Lists: Sized {
        fn lists(&self) -> Vec<Vec<f32>>;
        fn fill(&mut self, lists: &[Vec<f32>]);
    }

    impl Lists for () {
        fn lists(&self) -> Vec<Vec<f32>> {
            Vec::new()
        }

        fn fill(&mut self, lists: &[Vec<f32>]) {
            assert!(lists.is_empty());
        }
    }

    impl<const TAPS: usize, const F: usize, Above: Lists> Lists for LayerTaps<TAPS, F, Above> {
        fn lists(&self) -> Vec<Vec<f32>> {
            let DelayLine(taps) = &self.line;
            std::iter::once(taps.as_flattened().to_vec()).chain(self.above.lists()).collect()
        }

        fn fill(&mut self, lists: &[Vec<f32>]) {
            self.line.numbers_mut().copy_from_slice(&lists[0]);
            self.above.fill(&lists[1..]);
        }
    }

    fn check<S>()
    where
        S: Shape<Flocking>,
        for<'w> <ModelOf<'w, S> as Model>::Taps: Lists,
    {
        let size = S::DIMENSIONS;
        let weights = initialization::weights(&size, Architecture::WdGnn, 7);
        assert_eq!(weights.len(), S::WEIGHT_COUNT);
        let mut random = generator(7, Purpose::Training, 0);
        let net = Net::new(size, Activation::Tanh, &weights);
        let model =
            S::from_numbers(&weights, Activation::Tanh, Scale::Closed, GradientMetric::Euclidean).unwrap();
        let robots = 9;
        let count = |layer| robots * size.inputs(layer);
        let chains: Vec<Vec<f32>> = (0..size.layers)
            .map(|layer| (0..count(layer)).map(|_| random.random_range(-2.0..2.0)).collect())
            .collect();
        let pass = net.forward(chains.clone());
        let of = |all: &[Vec<f32>], robot: usize| -> Vec<Vec<f32>> {
            let each = |(layer, taps): (usize, &Vec<f32>)| {
                taps[robot * size.inputs(layer)..][..size.inputs(layer)].to_vec()
            };
            all.iter().enumerate().map(each).collect()
        };
        for robot in 0..robots {
            let own = of(&chains, robot);
            let mut taps = <ModelOf<'_, S> as Model>::Taps::ZERO;
            taps.fill(&own);
            let features = own[0][..6].try_into().unwrap();
            let expected = model.infer(model.offline(), &features, &mut taps);
            // Tolerance for sums of a few dozen terms of size 1 in another order: a multiple of 32
            // · 2⁻²⁴.
            let near = |a: f32, b: f32| assert!((a - b).abs() < 1.0e-5, "{size:?} robot {robot}: {a} {b}");
            expected.iter().zip(&pass.output[2 * robot..]).for_each(|(a, b)| near(*a, *b));
            // Compares the own signals of upper layers.
            let filled = of(&pass.chains, robot).concat();
            taps.lists().concat().into_iter().zip(filled).for_each(|(a, b)| near(a, b));
        }
    }

    #[test]
    fn the_forward_pass_matches_the_core() {
        check::<OneLayer<6, 4, 32, 2>>();
        check::<TwoLayers<6, 2, 16, 2>>();
        check::<ThreeLayers<6, 2, 16, 2>>();
    }
}
