//! Inner loops over slices, where a tick spends most of its time.
//!
//! The functions are not generic and not inlined. They are therefore compiled in this crate, once
//! and optimized for speed, even in firmware that is optimized for size. Blocks fit the registers
//! of a processor. The order of every sum is fixed, so the block size changes no bit.

use core::{iter::Zip, slice::Iter};

use crate::math;

/// Number of sums that fit 32 floating-point registers with input and weights.
pub const BLOCK: usize = 16;

/// Numbers per loop iteration where the loop keeps no sum.
const RUN: usize = 8;

/// Smallest ratio of two sums of a few thousand squares in different orders.
const NEAR: f32 = 0.999;

/// Numbers per loop iteration where the body is larger.
///
/// The loop overhead is shared by this many numbers.
pub const SHORT_RUN: usize = 4;

/// `start + inputsᵀ · weights` for the sixteen outputs of block `index`.
///
/// `weights` has one row of `width` per input.
#[inline(never)]
pub fn accumulate_block(
    start: &[f32; BLOCK], inputs: &[f32], weights: &[f32], width: usize, index: usize,
) -> [f32; BLOCK] {
    let mut sums = *start;
    let mut add = |x: &f32, row: &[f32]| {
        if let Some(weights) = row.as_chunks::<BLOCK>().0.get(index) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += x * weight;
            }
        }
    };
    let (runs, rest) = inputs.as_chunks::<SHORT_RUN>();
    let rows = weights.chunks_exact((SHORT_RUN * width).max(1));
    let rest_rows = rows.remainder().chunks_exact(width.max(1));
    for (run, rows) in runs.iter().zip(rows) {
        for (row, x) in run.iter().enumerate() {
            add(x, rows.get(row * width..(row + 1) * width).unwrap_or_default());
        }
    }
    rest.iter().zip(rest_rows).for_each(|(x, row)| add(x, row));
    sums
}

/// `start + inputsᵀ · weights` for the two outputs of pair `index`.
///
/// `weights` has one row of `width` per input.
#[inline(never)]
pub fn accumulate_pair(
    start: &[f32; 2], inputs: &[f32], weights: &[f32], width: usize, index: usize,
) -> [f32; 2] {
    let mut sums = *start;
    let mut add = |(x, [a, b]): (&f32, &[f32; 2])| {
        sums[0] += x * a;
        sums[1] += x * b;
    };
    if width != 2 {
        let rows = weights.chunks_exact(width.max(1)).filter_map(|row| row.as_chunks().0.get(index));
        inputs.iter().zip(rows).for_each(add);
        return sums;
    }
    // Width 2 is a flocking robot's readout and its folded wide part.
    let (runs, rest) = inputs.as_chunks::<SHORT_RUN>();
    let (row_runs, row_rest) = weights.as_chunks().0.as_chunks::<SHORT_RUN>();
    for (run, rows) in runs.iter().zip(row_runs) {
        run.iter().zip(rows).for_each(&mut add);
    }
    rest.iter().zip(row_rest).for_each(add);
    sums
}

/// The common length of two slices, in runs and the numbers after them.
#[inline]
fn runs<'a>(a: &'a [f32], b: &'a [f32]) -> (Pairs<'a, [f32; RUN]>, Pairs<'a, f32>) {
    let count = a.len().min(b.len());
    let (a_runs, a_rest) = a.get(..count).unwrap_or_default().as_chunks();
    let (b_runs, b_rest) = b.get(..count).unwrap_or_default().as_chunks();
    (a_runs.iter().zip(b_runs), a_rest.iter().zip(b_rest))
}

/// Pairs of elements of two slices.
type Pairs<'a, T> = Zip<Iter<'a, T>, Iter<'a, T>>;

/// `sums += weight · numbers`, up to the shorter length.
#[inline(never)]
pub fn add_scaled(sums: &mut [f32], numbers: &[f32], weight: f32) {
    let add = |(sum, number): (&mut f32, &f32)| *sum += weight * number;
    let count = sums.len().min(numbers.len());
    let (runs, rest) = sums.get_mut(..count).unwrap_or_default().as_chunks_mut::<RUN>();
    let (number_runs, number_rest) = numbers.get(..count).unwrap_or_default().as_chunks::<RUN>();
    for (sums, numbers) in runs.iter_mut().zip(number_runs) {
        sums.iter_mut().zip(numbers).for_each(add);
    }
    rest.iter_mut().zip(number_rest).for_each(add);
}

/// `sums += weight · (a − b)` for three slices of equal length.
#[inline(never)]
pub fn add_difference(sums: &mut [f32], a: &[f32], b: &[f32], weight: f32) {
    let add = |(sum, (a, b)): (&mut f32, (&f32, &f32))| *sum += weight * (a - b);
    let (sum_runs, sum_rest) = sums.as_chunks_mut::<RUN>();
    let (runs, rest) = runs(a, b);
    for (sums, (a, b)) in sum_runs.iter_mut().zip(runs) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(add);
    }
    sum_rest.iter_mut().zip(rest).for_each(add);
}

/// Sum of squared differences, added in order.
#[inline(never)]
pub fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    let add = |sum, (a, b): (&f32, &f32)| sum + (a - b) * (a - b);
    let (runs, rest) = runs(a, b);
    rest.fold(runs.fold(0.0, |sum, (a, b)| a.iter().zip(b).fold(sum, add)), add)
}

/// Distance of two slices, or `None` if it is certainly below `limit`.
///
/// An ordered sum waits for each addition. Processors that add several numbers in parallel estimate
/// the distance first.
#[inline]
pub fn distance_unless_below(a: &[f32], b: &[f32], limit: f32) -> Option<f32> {
    let within = math::SIMD_LANES > 1 && near_squared_distance(a, b) < NEAR * limit * limit;
    (!within).then(|| math::sqrt(squared_distance(a, b)))
}

/// [`squared_distance`] with eight partial sums, so in another order.
#[inline(never)]
fn near_squared_distance(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; RUN];
    let add = |(sum, (a, b)): (&mut f32, (&f32, &f32))| *sum += (a - b) * (a - b);
    let (runs, rest) = runs(a, b);
    runs.for_each(|(a, b)| sums.iter_mut().zip(a.iter().zip(b)).for_each(add));
    sums.iter_mut().zip(rest).for_each(add);
    sums.iter().sum()
}

/// Returns whether every number is [`math::is_admissible`].
#[inline(never)]
pub fn admissible(numbers: &[f32]) -> bool {
    let (runs, rest) = numbers.as_chunks::<RUN>();
    let mut doubts = 0;
    for run in runs {
        for x in run {
            doubts |= math::quick_admissible(*x);
        }
    }
    for x in rest {
        doubts |= math::quick_admissible(*x);
    }
    doubts >= 0 || numbers.iter().fold(true, |all, x| all & math::is_admissible(*x))
}

/// `wide −= taps · factorᵀ`, with one row of `wide` per tap.
#[inline(never)]
pub fn descend(wide: &mut [f32], taps: &[f32], factor: &[f32]) {
    let Ok(&[a, b]) = <&[f32; 2]>::try_from(factor) else {
        for (row, z) in wide.chunks_exact_mut(factor.len().max(1)).zip(taps) {
            for (w, f) in row.iter_mut().zip(factor) {
                *w -= z * f;
            }
        }
        return;
    };
    let step = |([first, second], z): (&mut [f32; 2], &f32)| {
        *first -= z * a;
        *second -= z * b;
    };
    let (runs, rest) = wide.as_chunks_mut::<2>().0.as_chunks_mut::<RUN>();
    let (tap_runs, tap_rest) = taps.as_chunks::<RUN>();
    for (run, taps) in runs.iter_mut().zip(tap_runs) {
        run.iter_mut().zip(taps).for_each(step);
    }
    rest.iter_mut().zip(tap_rest).for_each(step);
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn ramp(count: usize, from: f32) -> Vec<f32> {
        (0..count).map(|index| from + index as f32).collect()
    }

    #[test]
    fn every_length_matches_the_scalar_loop() {
        for count in 0..60 {
            let (a, b) = (ramp(count, 0.5), ramp(count, -7.0));
            let mut sums = a.clone();
            add_scaled(&mut sums, &ramp(count + 3, 1.0), 2.0);
            let expected: Vec<f32> = a.iter().zip(ramp(count, 1.0)).map(|(s, x)| s + 2.0 * x).collect();
            assert_eq!(sums, expected, "{count} sums and three more numbers");
            add_difference(&mut sums, &a, &b, -2.0);
            let expected: Vec<f32> = expected.iter().map(|s| s - 15.0).collect();
            assert_eq!(sums, expected, "{count} numbers");
            assert_eq!(squared_distance(&a, &b), 56.25 * count as f32);
        }
    }

    #[test]
    fn one_inadmissible_number_is_found_at_every_position() {
        let numbers = ramp(22, 0.0);
        for position in 0..numbers.len() {
            for bad in [f32::NAN, f32::NEG_INFINITY, 1.0e-40, -2.0e18] {
                let mut numbers = numbers.clone();
                assert!(admissible(&numbers));
                numbers[position] = bad;
                assert!(!admissible(&numbers), "{bad} at {position}");
            }
        }
    }

    #[test]
    fn gradient_step_is_an_outer_product_at_every_width() {
        for width in 1..5 {
            let mut wide = ramp(19 * width, 0.0);
            let (taps, factor) = (ramp(19, -7.5), ramp(width, 1.0));
            descend(&mut wide, &taps, &factor);
            for (index, w) in wide.iter().enumerate() {
                let z = taps[index / width];
                assert_eq!(*w, index as f32 - z * factor[index % width], "width {width}, number {index}");
            }
        }
    }
}
