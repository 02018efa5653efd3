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

use wdgnn_core::model::activation::Activation;

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
        &mut self,
        net: &Net<'_>,
        taps: &[f32],
        errors: &[f32],
        grad: &mut [f32],
        tallies: &mut Tallies,
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
        if net.activation == Activation::Tanh {
            for lanes in &mut block.hidden {
                tanh(R::load(lanes)).store(lanes);
            }
        } else {
            net.activation.apply(block.hidden.as_flattened_mut());
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
        // From here on, the block contains the gradients of the hidden features before σ.
        let smooth = net.activation != Activation::Relu;
        for (lanes, readout) in block.hidden.chunks_exact_mut(V).zip(net.readout().chunks_exact(outputs)) {
            for (vector, lanes) in lanes.iter_mut().enumerate() {
                let mut grad = R::splat(0.0);
                for (weight, error) in readout.iter().zip(block.output.chunks_exact(V)) {
                    grad = grad.add(R::splat(*weight).mul(R::load(&error[vector])));
                }
                let grad = R::splat(net.weights[0]).mul(grad);
                let slope = if smooth {
                    let value = R::load(lanes);
                    R::splat(1.0).sub(value.mul(value))
                } else {
                    for value in &mut *lanes {
                        *value = net.activation.derivative(*value);
                    }
                    R::load(lanes)
                };
                grad.mul(slope).store(lanes);
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

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use wdgnn_core::model::shape::Dimensions;

    use super::*;
    use crate::{
        seeds::{Purpose, generator},
        train::net::Places,
    };

    /// Compares forward and backward pass of a block with the definition, at all register widths.
    fn check(size: Dimensions, activation: Activation, samples: usize) {
        let random = &mut generator(2, Purpose::Weights, samples as u64);
        let mut draw =
            |count: usize| -> Vec<f32> { (0..count).map(|_| random.random_range(-1.0..1.0)).collect() };
        let weights = draw(Places::of(&size).count());
        let net = Net::new(size, activation, &weights);
        let taps = draw(samples * size.inputs(0));
        let errors = draw(samples * size.outputs);

        let pass = net.forward(vec![taps.clone()]);
        let mut expected = Sums::new(&net);
        let mut owed_rows = [vec![0.0; taps.len()]];
        net.backward(&pass, &errors, &mut owed_rows, &mut expected);

        let there_and_back = |width: Width| {
            let mut block = Block::<4>::new(&net, width);
            block.fill(taps.chunks_exact(size.inputs(0)));
            block.forward(&net);
            let outputs: Vec<f32> = (0..samples * size.outputs)
                .map(|index| block.output(index % size.outputs)[index / size.outputs])
                .collect();
            for output in 0..size.outputs {
                block.output(output).fill(0.0);
                for sample in 0..samples {
                    block.output(output)[sample] = errors[sample * size.outputs + output];
                }
            }
            let mut tallies = Tallies::new(&net);
            let mut grad = vec![[0.0; LANES]; size.inputs(0) * 4];
            block.backward(&net, &mut tallies, Some(&mut grad));
            let mut sums = Sums::new(&net);
            tallies.fold(&net, &mut sums);
            let all = [sums.deep, sums.wide, sums.hidden, sums.output].concat();
            (outputs, all, grad)
        };
        let widest = there_and_back(Width::widest());
        for width in Width::all() {
            let this = there_and_back(width);
            assert!(this.0 == widest.0 && this.1 == widest.1 && this.2 == widest.2, "{}", width.name());
        }
        let (outputs, sums, grad) = widest;
        // Tolerance for sums of a few dozen terms of size 1 in another order.
        let near = |a: f32, b: f32| assert!((a - b).abs() < 2.0e-4, "{size:?}: {a} {b}");
        outputs.iter().zip(&pass.output).for_each(|(a, b)| near(*a, *b));
        let all = [expected.deep, expected.wide, expected.hidden, expected.output].concat();
        assert_eq!(sums.len(), all.len());
        sums.iter().zip(&all).for_each(|(a, b)| near(*a, *b));
        for (index, row) in grad.chunks_exact(4).enumerate() {
            for sample in 0..samples {
                near(row.as_flattened()[sample], owed_rows[0][sample * size.inputs(0) + index]);
            }
        }
    }

    #[test]
    fn blocks_match_the_network_at_all_widths_and_sizes() {
        let size =
            |features, taps, hidden, outputs| Dimensions { features, layers: 1, taps, hidden, outputs };
        check(size(6, 4, 32, 2), Activation::Tanh, 64);
        check(size(6, 4, 32, 2), Activation::Tanh, 50);
        check(size(9, 4, 32, 3), Activation::TanhLibm, 1);
        check(size(1, 5, 7, 1), Activation::Relu, 37);
    }
}
