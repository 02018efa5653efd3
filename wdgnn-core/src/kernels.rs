//! The inner loops, over slices: where a tick spends its time.
//!
//! They are not generic and not inlined, so they are compiled here, once and for speed, also into a firmware that is compiled
//! for size: generic code is compiled where it is used, as that place wants it. Numbers go by in blocks that fit a processor's
//! registers; every sum has its order whatever the block size, so the bits do not depend on it.

use crate::math;

/// Sums that 32 floating-point registers hold beside an input and its weights.
pub(crate) const BLOCK: usize = 16;

/// Numbers that go by at a time where nothing is summed up.
const RUN: usize = 8;

/// Sums that 32 floating-point registers hold beside what is added.
const WIDE_BLOCK: usize = 16;

/// `sums += inputsᵀ · weights` for block `index` of a matrix with rows of `width`.
#[inline(never)]
pub(crate) fn accumulate_block(
    sums: &mut [f32; BLOCK],
    inputs: &[f32],
    weights: &[f32],
    width: usize,
    index: usize,
) {
    let mut partial = *sums;
    for (x, row) in inputs.iter().zip(weights.chunks_exact(width.max(1))) {
        if let Some(weights) = row.as_chunks::<BLOCK>().0.get(index) {
            for (sum, weight) in partial.iter_mut().zip(weights) {
                *sum += x * weight;
            }
        }
    }
    *sums = partial;
}

/// The same for two outputs of a matrix with rows of `width`, the first of them `first`.
#[inline(never)]
pub(crate) fn accumulate_pair(
    sums: &mut [f32; 2],
    inputs: &[f32],
    weights: &[f32],
    width: usize,
    first: usize,
) {
    let mut partial = *sums;
    for (x, row) in inputs.iter().zip(weights.chunks_exact(width.max(1))) {
        if let Some(&[a, b]) = row.get(first..).and_then(<[f32]>::first_chunk) {
            partial[0] += x * a;
            partial[1] += x * b;
        }
    }
    *sums = partial;
}

/// Adds each of `others` in turn to `sums`.
#[inline(never)]
pub(crate) fn add_all(sums: &mut [f32], others: &[&[f32]]) {
    let mut from = 0;
    let (blocks, rest) = sums.as_chunks_mut::<WIDE_BLOCK>();
    for block in blocks {
        let mut partial = *block;
        for other in others {
            if let Some(numbers) = other.get(from..).and_then(<[f32]>::first_chunk::<WIDE_BLOCK>) {
                for (sum, number) in partial.iter_mut().zip(numbers) {
                    *sum += number;
                }
            }
        }
        *block = partial;
        from += WIDE_BLOCK;
    }
    for other in others {
        for (sum, number) in rest.iter_mut().zip(other.get(from..).unwrap_or_default()) {
            *sum += number;
        }
    }
}

/// `sums += weight · numbers`, as far as both go.
#[inline(never)]
pub(crate) fn add_scaled(sums: &mut [f32], numbers: &[f32], weight: f32) {
    let count = sums.len().min(numbers.len());
    let (runs, rest) = sums.get_mut(..count).unwrap_or_default().as_chunks_mut::<RUN>();
    let (number_runs, number_rest) = numbers.get(..count).unwrap_or_default().as_chunks::<RUN>();
    for (sums, numbers) in runs.iter_mut().zip(number_runs) {
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += weight * number;
        }
    }
    for (sum, number) in rest.iter_mut().zip(number_rest) {
        *sum += weight * number;
    }
}

/// Divides every number.
#[inline(never)]
pub(crate) fn divide(numbers: &mut [f32], by: f32) {
    let (runs, rest) = numbers.as_chunks_mut::<RUN>();
    for run in runs {
        for number in run {
            *number /= by;
        }
    }
    for number in rest {
        *number /= by;
    }
}

/// The sum of squared differences, in order.
#[inline(never)]
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    let count = a.len().min(b.len());
    let (a_runs, a_rest) = a.get(..count).unwrap_or_default().as_chunks::<RUN>();
    let (b_runs, b_rest) = b.get(..count).unwrap_or_default().as_chunks::<RUN>();
    let mut sum = 0.0;
    for (a, b) in a_runs.iter().zip(b_runs) {
        for (a, b) in a.iter().zip(b) {
            sum += (a - b) * (a - b);
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum += (a - b) * (a - b);
    }
    sum
}

/// Whether every number may enter the arithmetic ([`math::admissible`]).
#[inline(never)]
pub(crate) fn admissible(numbers: &[f32]) -> bool {
    numbers.iter().all(|&x| math::admissible(x))
}

/// `wide −= taps · factorᵀ`, one row of `wide` per tap.
#[inline(never)]
pub(crate) fn descend(wide: &mut [f32], taps: &[f32], factor: &[f32]) {
    if let Ok(&[a, b]) = <&[f32; 2]>::try_from(factor) {
        for ([first, second], z) in wide.as_chunks_mut().0.iter_mut().zip(taps) {
            *first -= z * a;
            *second -= z * b;
        }
        return;
    }
    for (row, z) in wide.chunks_exact_mut(factor.len().max(1)).zip(taps) {
        for (w, f) in row.iter_mut().zip(factor) {
            *w -= z * f;
        }
    }
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
    fn every_length_gives_what_one_number_after_the_other_gives() {
        for count in 0..60 {
            let (a, b) = (ramp(count, 0.5), ramp(count, -7.0));
            let mut sums = a.clone();
            add_all(&mut sums, &[&b, &a, &b]);
            let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b + a + b).collect();
            assert_eq!(sums, expected, "{count} numbers");
            add_scaled(&mut sums, &ramp(count + 3, 1.0), 2.0);
            let expected: Vec<f32> =
                expected.iter().zip(ramp(count, 1.0)).map(|(s, x)| s + 2.0 * x).collect();
            assert_eq!(sums, expected, "{count} numbers, and more on the other side");
            divide(&mut sums, 4.0);
            assert_eq!(sums, expected.iter().map(|s| s / 4.0).collect::<Vec<_>>());
            assert_eq!(squared_distance(&a, &b), 56.25 * count as f32);
        }
    }

    #[test]
    fn one_bad_number_is_found_wherever_it_is() {
        for place in 0..20 {
            let mut numbers = ramp(20, 0.0);
            assert!(admissible(&numbers));
            numbers[place] = f32::NAN;
            assert!(!admissible(&numbers), "at {place}");
        }
    }

    #[test]
    fn a_step_down_is_an_outer_product_at_every_width() {
        for width in 1..5 {
            let mut wide = ramp(3 * width, 0.0);
            let factor = ramp(width, 1.0);
            descend(&mut wide, &[1.0, -2.0, 0.5], &factor);
            for (index, w) in wide.iter().enumerate() {
                let z = [1.0, -2.0, 0.5][index / width];
                assert_eq!(*w, index as f32 - z * factor[index % width], "width {width}, number {index}");
            }
        }
    }
}
