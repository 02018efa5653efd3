//! Forward and backward pass of a network with one layer, for a block of samples that fits the
//! nearest cache.
//!
//! Sixteen samples lie next to each other for each number ([`Lanes`]), so full registers are used
//! for all dimensions, which are known at run time, and no sum crosses a register. The order of
//! each sum is independent of register width and number of threads: products over inputs in
//! sequence, gradients over samples in sixteen sums, which [`Tallies::fold`] combines.

#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the processor's width")]

mod gather;
mod kernels;

use self::kernels::{add_scaled, gradient, product, spread, tanh, total};
use super::{
    net::{Net, Sums},
    simd::{Kernel, LANES, Lanes, Vector, Width},
};

/// Block of up to `16 V` samples: taps, activations and gradients.
#[derive(Clone, Debug)]
pub struct Block<const V: usize> {
    taps: Vec<Lanes>,
    hidden: Vec<Lanes>,
    output: Vec<Lanes>,
    part: Vec<Lanes>,
    grad: Vec<Lanes>,
    width: Width,
}

/// Gradient sums of blocks, sixteen each.
#[derive(Clone, Debug)]
pub struct Tallies {
    deep: Vec<Lanes>,
    bias: Vec<Lanes>,
    wide: Vec<Lanes>,
    hidden: Vec<Lanes>,
    output: Vec<Lanes>,
}

impl<const V: usize> Block<V> {
    /// Samples per block.
    pub const SAMPLES: usize = V * LANES;

    /// Allocates a block for a network.
    pub fn new(net: &Net<'_>, width: Width) -> Self {
        let rows = |count: usize| vec![[0.0; LANES]; count * V];
        let outputs = net.size.outputs;
        Self {
            taps: rows(net.size.inputs(0)),
            hidden: rows(net.size.hidden),
            output: rows(outputs),
            part: rows(outputs),
            grad: Vec::new(),
            width,
        }
    }

    /// Loads the taps of samples. The rest of the block keeps its content.
    pub fn fill<'a>(&mut self, samples: impl Iterator<Item = &'a [f32]>) {
        gather::side_by_side(self.taps.as_flattened_mut(), Self::SAMPLES, samples.take(Self::SAMPLES));
    }

    /// Returns one output, or its gradient, by sample.
    pub fn output(&mut self, output: usize) -> &mut [f32] {
        self.output[output * V..][..V].as_flattened_mut()
    }

    /// Computes the outputs.
    pub fn forward(&mut self, net: &Net<'_>) {
        self.width.run(Forward { net, block: self });
    }

    /// Computes the gradients of the taps of any number of robots from those of their outputs,
    /// `errors`, and adds them to `grad`.
    pub fn there_and_back(
        &mut self, net: &Net<'_>, taps: &[f32], errors: &[f32], grad: &mut [f32], tallies: &mut Tallies,
    ) {
        let (inputs, outputs) = (net.size.inputs(0), net.size.outputs);
        let blocks = taps.chunks(Self::SAMPLES * inputs).zip(errors.chunks(Self::SAMPLES * outputs));
        for ((taps, errors), grad) in blocks.zip(grad.chunks_mut(Self::SAMPLES * inputs)) {
            self.fill(taps.chunks_exact(inputs));
            self.forward(net);
            for output in 0..outputs {
                let places = self.output(output);
                places.fill(0.0);
                let errors = errors[output..].iter().step_by(outputs);
                places.iter_mut().zip(errors).for_each(|(place, error)| *place = *error);
            }
            let mut lanes = std::mem::take(&mut self.grad);
            lanes.clear();
            lanes.resize(inputs * V, [0.0; LANES]);
            self.backward(net, tallies, Some(&mut lanes));
            for (sample, grad) in grad.chunks_exact_mut(inputs).enumerate() {
                let more = lanes.as_flattened()[sample..].iter().step_by(Self::SAMPLES);
                grad.iter_mut().zip(more).for_each(|(grad, more)| *grad += more);
            }
            self.grad = lanes;
        }
    }

    /// Computes the gradients from those of the outputs, which are zero for missing samples. Adds
    /// the gradients of the taps to `grad`, in the layout of the taps.
    pub fn backward(&mut self, net: &Net<'_>, tallies: &mut Tallies, grad: Option<&mut [Lanes]>) {
        self.width.run(Backward { net, block: self, tallies, grad });
    }
}

impl Tallies {
    /// Zero sums.
    pub fn new(net: &Net<'_>) -> Self {
        let (inputs, hidden, outputs) = (net.size.inputs(0), net.size.hidden, net.size.outputs);
        let rows = |count: usize| vec![[0.0; LANES]; count];
        Self {
            deep: rows(inputs * hidden),
            bias: rows(hidden),
            wide: rows(inputs * outputs),
            hidden: rows(hidden * outputs),
            output: rows(outputs),
        }
    }

    /// Adds all sums to `sums`.
    pub fn fold(&self, net: &Net<'_>, sums: &mut Sums) {
        let add = |sums: &mut [f32], tallies: &[Lanes]| {
            for (sum, lanes) in sums.iter_mut().zip(tallies) {
                *sum += across(lanes);
            }
        };
        let (deep, bias) = sums.deep.split_at_mut(net.size.inputs(0) * net.size.hidden);
        add(deep, &self.deep);
        add(bias, &self.bias);
        add(&mut sums.wide, &self.wide);
        add(&mut sums.hidden, &self.hidden);
        add(&mut sums.output, &self.output);
    }
}

/// Adds sixteen numbers by halves.
fn across(lanes: &Lanes) -> f32 {
    let mut halves = *lanes;
    let mut length = LANES / 2;
    while length > 0 {
        for lane in 0..length {
            halves[lane] += halves[lane + length];
        }
        length /= 2;
    }
    halves[0]
}

struct Forward<'a, 'w, const V: usize> {
    net: &'a Net<'w>,
    block: &'a mut Block<V>,
}

impl<const V: usize> Kernel for Forward<'_, '_, V> {
    type Output = ();

    #[inline(always)]
    fn run<R: Vector>(self) {
        let Self { net, block } = self;
        let (filter, bias) = &net.places.layers[0];
        let (hidden, outputs) = (net.size.hidden, net.size.outputs);
        spread::<V>(&mut block.hidden, &net.weights[bias.clone()]);
        product::<R, V>(&mut block.hidden, &block.taps, &net.weights[filter.clone()], (hidden, 1));
        for lanes in &mut block.hidden {
            tanh(R::load(lanes)).store(lanes);
        }
        spread::<V>(&mut block.output, &net.constant);
        block.part.fill([0.0; LANES]);
        product::<R, V>(&mut block.part, &block.hidden, net.readout(), (outputs, 1));
        add_scaled::<R>(&mut block.output, net.weights[0], &block.part);
        block.part.fill([0.0; LANES]);
        product::<R, V>(&mut block.part, &block.taps, &net.folded, (outputs, 1));
        add_scaled::<R>(&mut block.output, net.weights[1], &block.part);
    }
}

struct Backward<'a, 'w, const V: usize> {
    net: &'a Net<'w>,
    block: &'a mut Block<V>,
    tallies: &'a mut Tallies,
    grad: Option<&'a mut [Lanes]>,
}

impl<const V: usize> Kernel for Backward<'_, '_, V> {
    type Output = ();

    #[inline(always)]
    fn run<R: Vector>(self) {
        let Self { net, block, tallies, grad } = self;
        let outputs = net.size.outputs;
        gradient::<R, V>(&mut tallies.wide, &block.taps, &block.output);
        gradient::<R, V>(&mut tallies.hidden, &block.hidden, &block.output);
        total::<R, V>(&mut tallies.output, &block.output);
        // From here on, the block contains the gradients of the hidden features before tanh.
        for (lanes, readout) in block.hidden.chunks_exact_mut(V).zip(net.readout().chunks_exact(outputs)) {
            for (vector, lanes) in lanes.iter_mut().enumerate() {
                let mut grad = R::splat(0.0);
                for (weight, error) in readout.iter().zip(block.output.chunks_exact(V)) {
                    grad = grad.add(R::splat(*weight).mul(R::load(&error[vector])));
                }
                let (grad, value) = (R::splat(net.weights[0]).mul(grad), R::load(lanes));
                grad.mul(R::splat(1.0).sub(value.mul(value))).store(lanes);
            }
        }
        gradient::<R, V>(&mut tallies.deep, &block.taps, &block.hidden);
        total::<R, V>(&mut tallies.bias, &block.hidden);
        if let Some(grad) = grad {
            let (filter, _) = &net.places.layers[0];
            product::<R, V>(grad, &block.hidden, &net.weights[filter.clone()], (1, net.size.hidden));
            for error in &mut block.output {
                R::splat(net.weights[1]).mul(R::load(error)).store(error);
            }
            product::<R, V>(grad, &block.output, &net.folded, (1, outputs));
        }
    }
}

/// Outputs of a network, sample by sample.
#[cfg(test)]
pub(super) fn outputs(net: &Net<'_>, taps: &[f32]) -> Vec<f32> {
    let mut block = Block::<1>::new(net, Width::widest());
    let sample = |taps: &[f32]| {
        block.fill(std::iter::once(taps));
        block.forward(net);
        (0..net.size.outputs).map(|output| block.output(output)[0]).collect::<Vec<f32>>()
    };
    taps.chunks_exact(net.size.inputs(0)).flat_map(sample).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use wdgnn_core::{
        filter::{DelayLine, DelayLines as _, LayerTaps, scale::Scale},
        model::{
            GradientMetric, Model as _,
            activation::Activation,
            shape::{Dimensions, OneLayer, Shape},
        },
        tasks::flocking::Flocking,
    };

    use super::*;
    use crate::{
        seeds::{Purpose, generator},
        train::net::Places,
    };

    fn draw(count: usize, number: u64) -> Vec<f32> {
        let random = &mut generator(2, Purpose::Weights, number);
        (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
    }

    #[test]
    fn all_register_widths_give_equal_bits_for_all_sizes() {
        for (features, taps, hidden, outputs, samples) in
            [(6, 4, 32, 2, 64), (6, 4, 32, 2, 50), (9, 4, 32, 3, 1), (1, 5, 7, 1, 37)]
        {
            let size = Dimensions { features, layers: 1, taps, hidden, outputs };
            let weights = draw(Places::of(&size).count(), 0);
            let net = Net::new(size, &weights);
            let (taps, errors) = (draw(samples * size.inputs(0), 1), draw(samples * outputs, 2));
            let there_and_back = |width: Width| {
                let (mut block, mut tallies) = (Block::<4>::new(&net, width), Tallies::new(&net));
                let mut grad = vec![0.0; taps.len()];
                block.there_and_back(&net, &taps, &errors, &mut grad, &mut tallies);
                let mut sums = Sums::new(&net);
                tallies.fold(&net, &mut sums);
                (grad, sums)
            };
            let widest = there_and_back(Width::widest());
            assert!(widest.0.iter().any(|grad| *grad != 0.0));
            for width in Width::all() {
                assert_eq!(there_and_back(width), widest, "{width:?}");
            }
        }
    }

    #[test]
    fn outputs_match_the_core() {
        type Network = OneLayer<6, 4, 32, 2>;
        let size = <Network as Shape<Flocking>>::DIMENSIONS;
        let weights = draw(Places::of(&size).count(), 3);
        let model = <Network as Shape<Flocking>>::from_numbers(
            &weights,
            Activation::Tanh,
            Scale::Closed,
            GradientMetric::Euclidean,
        );
        let model = model.expect("as many numbers as the shape has");
        let numbers = draw(9 * size.inputs(0), 4);
        let found = outputs(&Net::new(size, &weights), &numbers);
        for (taps, found) in numbers.chunks_exact(24).zip(found.as_chunks::<2>().0) {
            let mut lines = LayerTaps::ZERO;
            lines.line = DelayLine(std::array::from_fn(|tap| *taps[6 * tap..].first_chunk().unwrap()));
            let expected = model.infer(model.offline(), taps.first_chunk().unwrap(), &mut lines);
            // Tolerance for sums of a few dozen terms of size 1 in another order.
            expected.iter().zip(found).for_each(|(a, b)| assert!((a - b).abs() < 1.0e-4, "{a} {b}"));
        }
    }
}
