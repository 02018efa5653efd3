//! The equations of the paper over dense `f64` matrices, one row per node, independent of the core.
//!
//! Every number has a bound on the error of an `f32` evaluation (running error analysis: Higham, Accuracy and Stability
//! of Numerical Algorithms, §3.3), so tests need no guessed tolerance.

use wdgnn_core::{math::TANH_MAX_ULP, model::activation::Activation};

use super::ROUNDING;

/// Roundings of a sum of products beyond its additions: the products, a bias, an edge weight, the shift's scale.
const FURTHER_ROUNDINGS: f64 = 4.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number {
    pub value: f64,
    /// Largest error of an `f32` evaluation.
    pub error: f64,
}

pub type Matrix = Vec<Vec<Number>>;

/// Numbers that `f32` represents exactly.
pub fn exact<X: Into<f64> + Copy>(rows: &[impl AsRef<[X]>]) -> Matrix {
    let number = |x: &X| Number { value: (*x).into(), error: 0.0 };
    rows.iter().map(|row| row.as_ref().iter().map(number).collect()).collect()
}

fn zip(a: &Matrix, b: &Matrix, combine: impl Fn(Number, Number) -> Number) -> Matrix {
    let row = |(a, b): (&Vec<Number>, &Vec<Number>)| a.iter().zip(b).map(|(a, b)| combine(*a, *b)).collect();
    a.iter().zip(b).map(row).collect()
}

pub fn map(a: &Matrix, change: impl Fn(Number) -> Number) -> Matrix {
    a.iter().map(|row| row.iter().map(|x| change(*x)).collect()).collect()
}

pub fn sum(a: &Matrix, b: &Matrix) -> Matrix {
    zip(a, b, |a, b| Number {
        value: a.value + b.value,
        // The order of the sums is unknown: each rounding is at most that of the sum of magnitudes.
        error: a.error + b.error + ROUNDING * (a.value.abs() + b.value.abs()),
    })
}

pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = b.first().map_or(0, Vec::len);
    let roundings = b.len() as f64 + FURTHER_ROUNDINGS;
    let entry = |row: &[Number], column: usize| {
        let mut sum = Number::default();
        for (x, y) in row.iter().zip(b.iter().map(|row| row[column])) {
            let (x_most, y_most) = (x.value.abs() + x.error, y.value.abs() + y.error);
            sum.value += x.value * y.value;
            sum.error += x_most * y.error + x.error * y_most + roundings * ROUNDING * x_most * y_most;
        }
        sum
    };
    a.iter().map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect()
}

pub fn times(a: &Matrix, factor: f64) -> Matrix {
    map(a, |x| Number { value: x.value * factor, error: (x.error + ROUNDING * x.value.abs()) * factor.abs() })
}

fn side_by_side(blocks: &[Matrix]) -> Matrix {
    let nodes = blocks.first().map_or(0, Vec::len);
    (0..nodes).map(|node| blocks.iter().flat_map(|block| block[node].iter().copied()).collect()).collect()
}

/// A matrix with an identical row for every node.
fn everywhere(row: &[Number], nodes: usize) -> Matrix {
    vec![row.to_vec(); nodes]
}

/// A filter bank `Σ_k (S^k X) H_k + 1 bᵀ`; `filter` stacks the H_k vertically.
struct Bank {
    taps: usize,
    filter: Matrix,
    bias: Vec<Number>,
}

impl Bank {
    fn output(&self, shifted: &Matrix) -> Matrix {
        sum(&product(shifted, &self.filter), &everywhere(&self.bias, shifted.len()))
    }
}

/// The whole network.
pub struct Dense {
    activation: Activation,
    alpha_deep: f64,
    alpha_wide: f64,
    beta: f64,
    layers: Vec<Bank>,
    wide: Bank,
    readout: Matrix,
    readout_bias: Vec<Number>,
}

impl Dense {
    /// Reads the network from its numbers: α_D, α_W, β; per layer A, a; B, b; R, ρ. `layers` are (taps, output features).
    pub fn read(
        numbers: &[f32], activation: Activation, features: usize, layers: &[(usize, usize)], outputs: usize,
    ) -> Self {
        let mut rest = numbers.iter().copied();
        let mut rows = |count: usize, columns: usize| {
            let taken: Vec<Vec<f32>> = (0..count).map(|_| rest.by_ref().take(columns).collect()).collect();
            exact(&taken)
        };
        let combination = rows(1, 3).remove(0);
        let mut bank = |taps: usize, inputs: usize, outputs: usize| Bank {
            taps,
            filter: rows(taps * inputs, outputs),
            bias: rows(1, outputs).remove(0),
        };
        let mut inputs = features;
        let mut read_layers = Vec::new();
        for &(taps, features) in layers {
            read_layers.push(bank(taps, inputs, features));
            inputs = features;
        }
        let wide = bank(layers[0].0, features, inputs);
        let readout = rows(inputs, outputs);
        let readout_bias = rows(1, outputs).remove(0);
        assert_eq!(rest.next(), None);
        let [alpha_deep, alpha_wide, beta] = [0, 1, 2].map(|index| combination[index].value);
        Self { activation, alpha_deep, alpha_wide, beta, layers: read_layers, wide, readout, readout_bias }
    }

    fn activate(&self, x: Number) -> Number {
        if self.activation == Activation::Relu {
            return Number { value: x.value.max(0.0), ..x };
        }
        let value = x.value.tanh();
        // No slope is steeper than 1, and a unit in the last place is at most two roundings.
        Number { value, error: x.error + f64::from(TANH_MAX_ULP) * 2.0 * ROUNDING * value.abs() }
    }

    /// Outputs of all nodes. `shift(layer, X, k)` is the signal X of that layer after k shifts.
    ///
    /// `folded` multiplies the wide part by its readout first, z(BR), which rounds differently than (zB)R.
    pub fn outputs(
        &self, features: &Matrix, folded: bool, mut shift: impl FnMut(usize, &Matrix, usize) -> Matrix,
    ) -> Matrix {
        let nodes = features.len();
        let mut signal = features.clone();
        let mut wide_taps = Matrix::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let taps: Vec<Matrix> = (0..layer.taps).map(|k| shift(index, &signal, k)).collect();
            let z = side_by_side(&taps);
            signal = map(&layer.output(&z), |x| self.activate(x));
            if index == 0 {
                wide_taps = z;
            }
        }
        let deep = times(&signal, self.alpha_deep);
        let beta = vec![vec![Number { value: self.beta, error: 0.0 }; self.readout.len()]; nodes];
        let bias = everywhere(&self.readout_bias, nodes);
        if folded {
            let c = product(&self.wide.filter, &self.readout);
            let constant = sum(&times(&everywhere(&self.wide.bias, nodes), self.alpha_wide), &beta);
            let constant = sum(&product(&constant, &self.readout), &bias);
            let wide = times(&product(&wide_taps, &c), self.alpha_wide);
            sum(&sum(&product(&deep, &self.readout), &wide), &constant)
        } else {
            let wide = times(&self.wide.output(&wide_taps), self.alpha_wide);
            sum(&product(&sum(&sum(&deep, &wide), &beta), &self.readout), &bias)
        }
    }
}
