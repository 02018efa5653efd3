//! Network for training: a list of weights and its size at run time.
//!
//! ```text
//! hidden = tanh(z A + a)                   z the taps of the delay line
//! u      = α_D hidden R + α_W z C + c,    C = B R,  c = (α_W b + β) R + ρ
//! ```
//!
//! [`super::block`] computes this and its gradient for many robots of a network with one layer. The
//! wide part, the readout and the combination weights need only three small sums over a batch (Σ zᵀe,
//! Σ hiddenᵀe, Σ e), from which [`Sums::finish`] computes their gradients.

use std::ops::Range;

use wdgnn_core::model::shape::Dimensions;

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
    pub weights: &'w [f32],
    /// Offsets of the parts.
    pub places: Places,
    pub(super) folded: Vec<f32>,
    pub(super) constant: Vec<f32>,
}

impl<'w> Net<'w> {
    /// Creates a network with these weights.
    ///
    /// # Panics
    /// If their number does not match the size.
    pub fn new(size: Dimensions, weights: &'w [f32]) -> Self {
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
        Self { size, weights, places, folded, constant }
    }

    /// ‖C‖.
    pub fn folded_norm(&self) -> f32 {
        self.folded.iter().fold(0.0, |sum, x| sum + x * x).sqrt()
    }

    /// R.
    pub(super) fn readout(&self) -> &[f32] {
        &self.weights[self.places.readout.clone()]
    }
}

/// Sums over a part of a batch.
#[derive(Clone, Debug, PartialEq)]
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
        add_scaled(&mut self.deep, 1.0, &part.deep);
        add_scaled(&mut self.wide, 1.0, &part.wide);
        add_scaled(&mut self.hidden, 1.0, &part.hidden);
        add_scaled(&mut self.output, 1.0, &part.output);
        self.loss += part.loss;
        self.count += part.count;
    }

    /// Returns the mean gradient of all weights.
    pub fn finish(&self, net: &Net<'_>, gradient: &mut [f32]) {
        let Dimensions { hidden, outputs, .. } = net.size;
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
        let mut total = vec![0.0; hidden];
        add_product_by_transposed(&mut total, 1.0, &self.output, readout, hidden, outputs);
        for (gradient, total) in gradient[places.wide_bias.clone()].iter_mut().zip(&total) {
            *gradient = alpha_wide * total;
        }
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

/// `out += factor · row`.
fn add_scaled(out: &mut [f32], factor: f32, row: &[f32]) {
    out.iter_mut().zip(row).for_each(|(sum, number)| *sum += factor * number);
}

/// `out += a · b`, with `k` columns of `a` and `n` of `b`.
fn add_product(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    for (out, a) in out.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        a.iter().zip(b.chunks_exact(n)).for_each(|(factor, row)| add_scaled(out, *factor, row));
    }
}

/// `out += aᵀ · b`, with `k` columns of `a`, `n` of `b` and equal numbers of rows.
fn add_transposed_product(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    for (a, b) in a.chunks_exact(k).zip(b.chunks_exact(n)) {
        out.chunks_exact_mut(n).zip(a).for_each(|(out, factor)| add_scaled(out, *factor, b));
    }
}

/// `out += factor · a · bᵀ`, with `n` columns of `a` and `b` and `k` of `out`.
fn add_product_by_transposed(out: &mut [f32], factor: f32, a: &[f32], b: &[f32], k: usize, n: usize) {
    for (out, a) in out.chunks_exact_mut(k).zip(a.chunks_exact(n)) {
        out.iter_mut().zip(b.chunks_exact(n)).for_each(|(sum, b)| *sum += factor * dot(a, b));
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b)
}
