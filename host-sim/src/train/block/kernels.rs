//! Kernels of blocks: products of small matrices over samples, and tanh.

use crate::train::simd::{LANES, Lanes, Vector};

/// Fills each row with its number.
#[inline(always)]
pub fn spread<const V: usize>(rows: &mut [Lanes], numbers: &[f32]) {
    for (row, number) in rows.chunks_exact_mut(V).zip(numbers) {
        row.fill([*number; LANES]);
    }
}

#[inline(always)]
pub fn add_scaled<R: Vector>(out: &mut [Lanes], factor: f32, more: &[Lanes]) {
    for (out, more) in out.iter_mut().zip(more) {
        R::load(out).add(R::splat(factor).mul(R::load(more))).store(out);
    }
}

/// Adds the sum over samples of each row.
#[inline(always)]
pub fn total<R: Vector, const V: usize>(sums: &mut [Lanes], rows: &[Lanes]) {
    for (sum, row) in sums.iter_mut().zip(rows.chunks_exact(V)) {
        let mut total = R::load(sum);
        for lanes in row {
            total = total.add(R::load(lanes));
        }
        total.store(sum);
    }
}

/// `out[j] += Σ_i weight(i, j) · rows[i]`; the index of a weight is `i` times the first stride plus
/// `j` times the second.
#[inline(always)]
pub fn product<R: Vector, const V: usize>(
    out: &mut [Lanes], rows: &[Lanes], weights: &[f32], (by_row, by_column): (usize, usize),
) {
    let columns = out.len() / V;
    let mut column = 0;
    while column < columns {
        let some = &weights[column * by_column..];
        let left = columns - column;
        if R::HELD >= 8 && left >= 4 {
            tiles::<R, 4, V>(&mut out[column * V..], rows, some, (by_row, by_column));
            column += 4;
        } else if left >= 2 {
            tiles::<R, 2, V>(&mut out[column * V..], rows, some, (by_row, by_column));
            column += 2;
        } else {
            tiles::<R, 1, V>(&mut out[column * V..], rows, some, (by_row, by_column));
            column += 1;
        }
    }
}

/// `C` columns of the product, with as many vectors at a time as there are registers.
#[inline(always)]
fn tiles<R: Vector, const C: usize, const V: usize>(
    out: &mut [Lanes], rows: &[Lanes], weights: &[f32], strides: (usize, usize),
) {
    if R::HELD >= 32 && V.is_multiple_of(4) {
        for first in (0..V).step_by(4) {
            tile::<R, C, 4, V>(out, rows, weights, strides, first);
        }
    } else {
        for first in 0..V {
            tile::<R, C, 1, V>(out, rows, weights, strides, first);
        }
    }
}

#[inline(always)]
fn tile<R: Vector, const C: usize, const U: usize, const V: usize>(
    out: &mut [Lanes], rows: &[Lanes], weights: &[f32], (by_row, by_column): (usize, usize), first: usize,
) {
    let out = &mut out[..C * V];
    let mut sums = [[R::splat(0.0); U]; C];
    for (column, sums) in sums.iter_mut().enumerate() {
        for (vector, sum) in sums.iter_mut().enumerate() {
            *sum = R::load(&out[column * V + first + vector]);
        }
    }
    for (index, row) in rows.chunks_exact(V).enumerate() {
        let row = &row[first..first + U];
        let mut numbers = [R::splat(0.0); U];
        for (number, lanes) in numbers.iter_mut().zip(row) {
            *number = R::load(lanes);
        }
        let weights = &weights[index * by_row..];
        for (column, sums) in sums.iter_mut().enumerate() {
            let weight = R::splat(weights[column * by_column]);
            for (sum, number) in sums.iter_mut().zip(numbers) {
                *sum = sum.add(weight.mul(number));
            }
        }
    }
    for (column, sums) in sums.iter().enumerate() {
        for (vector, sum) in sums.iter().enumerate() {
            sum.store(&mut out[column * V + first + vector]);
        }
    }
}

/// `sums[i][j] += Σ rows[i] · errors[j]` over the samples, in sixteen sums.
#[inline(always)]
pub fn gradient<R: Vector, const V: usize>(sums: &mut [Lanes], rows: &[Lanes], errors: &[Lanes]) {
    let (inputs, columns) = (rows.len() / V, errors.len() / V);
    let mut input = 0;
    let most = match R::HELD {
        32.. => 4,
        8.. => 2,
        _ => 1,
    };
    while input < inputs {
        let step = if inputs - input >= most { most } else { 1 };
        let rows = &rows[input * V..];
        let mut column = 0;
        while column < columns {
            let (sums, errors) = (&mut sums[input * columns + column..], &errors[column * V..]);
            column += match (step, columns - column) {
                (4, 4..) => gradient_tile::<R, 4, 4, V>(sums, rows, errors, columns),
                (4, 2..) => gradient_tile::<R, 4, 2, V>(sums, rows, errors, columns),
                (4, _) => gradient_tile::<R, 4, 1, V>(sums, rows, errors, columns),
                (2, 2..) => gradient_tile::<R, 2, 2, V>(sums, rows, errors, columns),
                (2, _) => gradient_tile::<R, 2, 1, V>(sums, rows, errors, columns),
                (_, 2..) => gradient_tile::<R, 1, 2, V>(sums, rows, errors, columns),
                _ => gradient_tile::<R, 1, 1, V>(sums, rows, errors, columns),
            };
        }
        input += step;
    }
}

/// Computes some columns and returns their number.
#[inline(always)]
fn gradient_tile<R: Vector, const I: usize, const C: usize, const V: usize>(
    sums: &mut [Lanes], rows: &[Lanes], errors: &[Lanes], columns: usize,
) -> usize {
    let (rows, errors) = (&rows[..I * V], &errors[..C * V]);
    let mut tile = [[R::splat(0.0); C]; I];
    for (input, tile) in tile.iter_mut().enumerate() {
        for (sum, lanes) in tile.iter_mut().zip(&sums[input * columns..][..C]) {
            *sum = R::load(lanes);
        }
    }
    for vector in 0..V {
        let mut error = [R::splat(0.0); C];
        for (column, error) in error.iter_mut().enumerate() {
            *error = R::load(&errors[column * V + vector]);
        }
        for (input, tile) in tile.iter_mut().enumerate() {
            let number = R::load(&rows[input * V + vector]);
            for (sum, error) in tile.iter_mut().zip(error) {
                *sum = sum.add(number.mul(error));
            }
        }
    }
    for (input, tile) in tile.iter().enumerate() {
        for (sum, lanes) in tile.iter().zip(&mut sums[input * columns..][..C]) {
            sum.store(lanes);
        }
    }
    C
}

/// Beyond this limit tanh rounds to 1, as in [`wdgnn_core::math::tanh`].
const ONE_FROM: f32 = 9.02;
/// Numerator and denominator of the approximation, from the highest power of x² down.
const FIT: [[f32; 4]; 2] = [
    [1.338_427e-8, 2.063_580_7e-5, 3.497_456_7e-3, 0.133_826_86],
    [7.790_240_5e-7, 3.288_515_8e-4, 2.588_435_7e-2, 0.467_160_08],
];

/// Hyperbolic tangent of the core for sixteen numbers; a test compares both bit by bit.
#[inline(always)]
pub fn tanh<R: Vector>(x: R) -> R {
    let x = R::splat(-ONE_FROM).larger(R::splat(ONE_FROM).smaller(x));
    let square = x.mul(x);
    let tanh = x.mul(polynomial(FIT[0], square)).div(polynomial(FIT[1], square));
    R::splat(-1.0).larger(R::splat(1.0).smaller(tanh))
}

#[inline(always)]
fn polynomial<R: Vector>(coefficients: [f32; 4], x: R) -> R {
    let mut sum = R::splat(coefficients[0]);
    for coefficient in &coefficients[1..] {
        sum = sum.mul(x).add(R::splat(*coefficient));
    }
    sum.mul(x).add(R::splat(1.0))
}

#[cfg(test)]
mod tests {
    use wdgnn_core::math;

    use super::*;
    use crate::train::simd::{Kernel, Width};

    struct Tanh<'a>(&'a mut [Lanes]);

    impl Kernel for Tanh<'_> {
        type Output = ();

        #[inline(always)]
        fn run<R: Vector>(self) {
            for lanes in self.0 {
                tanh(R::load(lanes)).store(lanes);
            }
        }
    }

    #[test]
    fn tanh_equals_the_cores_bit_for_bit() {
        let mut numbers: Vec<f32> = (0..48_000_u16).map(|step| f32::from(step) * 5.0e-4 - 12.0).collect();
        numbers.extend([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0, -0.0, 1.0e-30, 9.02, -9.02]);
        numbers.resize(numbers.len().next_multiple_of(LANES), 0.5);
        for width in Width::all() {
            let mut lanes = numbers.as_chunks::<LANES>().0.to_vec();
            width.run(Tanh(&mut lanes));
            for (x, tanh) in numbers.iter().zip(lanes.as_flattened()) {
                assert_eq!(tanh.to_bits(), math::tanh(*x).to_bits(), "{} at {x}", width.name());
            }
        }
    }
}
