//! Fixed-size blocks of numbers: [`Array`], [`Filter`] and the trait [`Tensor`].
//!
//! A block is a nested array without a length field and without a heap. As a [`Tensor`] it is one
//! flat slice. The order of the slice is also its order in messages and in the weight file.

pub(crate) mod kernels;
pub mod param_range;
pub mod serde_array;

use core::fmt::Debug;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::math;

/// Array `[f32; N]` of features, commands or state numbers.
pub trait Array: Copy + Debug + PartialEq + AsRef<[f32]> + AsMut<[f32]> + Send + Sync + 'static {
    /// Number of elements N.
    const LEN: usize;

    /// All zeros.
    const ZERO: Self;

    /// The first `LEN` numbers of a slice. Missing numbers are zero.
    #[inline]
    fn from_slice(numbers: &[f32]) -> Self {
        let mut array = Self::ZERO;
        array.as_mut().iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        array
    }
}

impl<const N: usize> Array for [f32; N] {
    const LEN: usize = N;
    const ZERO: Self = [0.0; N];
}

/// Fixed number of `f32` in a fixed order.
pub trait Tensor: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// Number of elements.
    const LEN: usize;

    /// All zeros.
    const ZERO: Self;

    /// The numbers in order.
    fn numbers(&self) -> &[f32];

    /// The numbers in order, mutable.
    fn numbers_mut(&mut self) -> &mut [f32];

    /// Whether every number is [`math::is_admissible`].
    fn is_admissible(&self) -> bool {
        kernels::admissible(self.numbers())
    }

    /// Euclidean (Frobenius) distance to `other`.
    fn distance(&self, other: &Self) -> f32 {
        math::sqrt(kernels::squared_distance(self.numbers(), other.numbers()))
    }

    /// Euclidean (Frobenius) norm.
    fn norm(&self) -> f32 {
        self.distance(&Self::ZERO)
    }
}

/// Weights of a bank of graph filters, `[tap][input][output]`.
///
/// The outputs of one input are adjacent, so a processor keeps a block of them in registers. The
/// wide part's parameters have this type: `B` with `OUT = G`, or `C = BR` with `OUT = O`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filter<const TAPS: usize, const IN: usize, const OUT: usize>(pub [[[f32; OUT]; IN]; TAPS]);

impl<const TAPS: usize, const IN: usize, const OUT: usize> Filter<TAPS, IN, OUT> {
    /// Rows of `OUT` weights, one per input number, in the order of the taps.
    #[inline]
    pub fn rows(&self) -> &[[f32; OUT]] {
        self.0.as_flattened()
    }

    /// Rows of `OUT` weights, mutable.
    #[inline]
    pub fn rows_mut(&mut self) -> &mut [[f32; OUT]] {
        self.0.as_flattened_mut()
    }

    /// `self −= step · taps · factorᵀ`.
    #[inline]
    pub(crate) fn descend(&mut self, taps: &[f32], factor: &[f32; OUT], step: f32) {
        kernels::descend(self.numbers_mut(), taps, &factor.map(|f| f * step));
    }
}

impl<const TAPS: usize, const IN: usize, const OUT: usize> Serialize for Filter<TAPS, IN, OUT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_array::serialize_list(serializer, Self::LEN, self.numbers().iter())
    }
}

impl<'de, const TAPS: usize, const IN: usize, const OUT: usize> Deserialize<'de> for Filter<TAPS, IN, OUT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut filter = Self::ZERO;
        serde_array::deserialize_list(deserializer, Self::LEN, filter.numbers_mut().iter_mut())?;
        Ok(filter)
    }
}

impl<const TAPS: usize, const IN: usize, const OUT: usize> Tensor for Filter<TAPS, IN, OUT> {
    const LEN: usize = TAPS * IN * OUT;
    const ZERO: Self = Self([[[0.0; OUT]; IN]; TAPS]);

    #[inline]
    fn numbers(&self) -> &[f32] {
        self.0.as_flattened().as_flattened()
    }

    #[inline]
    fn numbers_mut(&mut self) -> &mut [f32] {
        self.0.as_flattened_mut().as_flattened_mut()
    }
}

/// Takes the first `count` numbers off a slice; `None` if it has fewer.
pub(crate) fn take<'w>(numbers: &mut &'w [f32], count: usize) -> Option<&'w [f32]> {
    let (taken, rest) = numbers.split_at_checked(count)?;
    *numbers = rest;
    Some(taken)
}

/// Computes `start + inputsᵀ · rows`, one row per input: the product of every filter bank and readout.
///
/// Each output is summed over the inputs in their order; the block size does not change a bit.
#[inline]
pub(crate) fn accumulate<const OUT: usize>(
    start: &[f32; OUT], inputs: &[f32], rows: &[[f32; OUT]],
) -> [f32; OUT] {
    let mut sums = [0.0; OUT];
    let (blocks, rest) = sums.as_chunks_mut();
    let (block_starts, rest_starts) = start.as_chunks();
    for (index, (block, start)) in blocks.iter_mut().zip(block_starts).enumerate() {
        *block = kernels::accumulate_block(start, inputs, rows.as_flattened(), OUT, index);
    }
    if rest.is_empty() {
        return sums;
    }
    let first = (OUT - rest.len()) / 2;
    let (pairs, rest) = rest.as_chunks_mut();
    let (pair_starts, rest_starts) = rest_starts.as_chunks();
    for (index, (pair, start)) in pairs.iter_mut().zip(pair_starts).enumerate() {
        *pair = kernels::accumulate_pair(start, inputs, rows.as_flattened(), OUT, first + index);
    }
    if let ([sum], [start]) = (rest, rest_starts) {
        let last = rows.iter().map(|row| row.last().copied().unwrap_or_default());
        *sum = inputs.iter().zip(last).fold(*start, |sum, (x, weight)| sum + x * weight);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accumulate_is_a_vector_times_a_matrix_at_every_width() {
        fn check<const OUT: usize>() {
            let inputs = [1.0, -2.0, 0.5, 0.0, 4.0, -1.0];
            let rows: [[f32; OUT]; 6] =
                core::array::from_fn(|i| core::array::from_fn(|o| (i * 100 + o) as f32));
            let sums = accumulate(&[10.0; OUT], &inputs, &rows);
            for (o, sum) in sums.iter().enumerate() {
                // 0 − 200 + 100 + 0 + 1600 − 500, and o times the inputs' sum, 2.5.
                assert_eq!(*sum, 1010.0 + 2.5 * o as f32, "output {o} of {OUT}");
            }
        }
        check::<1>();
        check::<2>();
        check::<15>();
        check::<16>();
        check::<17>();
        check::<64>();
    }

    #[test]
    fn a_filter_reads_in_the_order_of_its_rows() {
        let filter = Filter([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]);
        assert_eq!(filter.numbers(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(filter.rows()[2], [5.0, 6.0]);
    }

    #[test]
    fn missing_numbers_of_a_list_are_zero() {
        assert_eq!(<[f32; 3]>::from_slice(&[1.0, 2.0]), [1.0, 2.0, 0.0]);
        assert_eq!(<[f32; 1]>::from_slice(&[1.0, 2.0]), [1.0]);
    }

    #[test]
    fn distance_is_euclidean() {
        assert_eq!(Filter([[[3.0, 0.0]]]).distance(&Filter([[[0.0, 4.0]]])), 5.0);
        assert_eq!(Filter([[[3.0, 4.0]]]).norm(), 5.0);
    }
}
