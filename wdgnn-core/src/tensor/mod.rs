//! Fixed-size blocks of numbers: [`Vector`], [`Filter`] and their common trait [`Tensor`].
//!
//! A block is a nested array without a length field and without a heap. As a [`Tensor`] it is one
//! flat slice. The order of the slice is also its order in messages and in the weight file.

pub mod kernels;
pub mod param_range;
pub mod reader;
pub mod tuple;

use core::fmt::Debug;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::math;

/// Array `[f32; N]` of features, commands or state numbers.
pub trait Array:
    Copy + Debug + PartialEq + AsRef<[f32]> + AsMut<[f32]> + Send + Sync + 'static + private::Sealed
{
    /// Number of elements N.
    const LEN: usize;

    /// All zeros.
    const ZERO: Self;

    /// Copies the numbers of a list, in order. Missing numbers are zero.
    #[must_use]
    #[inline]
    fn gather(list: &[f32]) -> Self {
        let mut numbers = Self::ZERO;
        kernels::copy(numbers.as_mut(), list);
        numbers
    }

    /// Reads little-endian numbers without checking them. All are zero if bytes are missing.
    #[must_use]
    fn from_bytes(bytes: &[u8]) -> Self;
}

impl<const N: usize> Array for [f32; N] {
    const LEN: usize = N;
    const ZERO: Self = [0.0; N];

    #[inline]
    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.as_chunks().0.first_chunk().map_or(Self::ZERO, |numbers| numbers.map(f32::from_le_bytes))
    }
}

mod private {
    pub trait Sealed {}

    impl<const N: usize> Sealed for [f32; N] {}
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

    /// Whether every number is [`math::admissible`].
    fn is_admissible(&self) -> bool {
        kernels::admissible(self.numbers())
    }

    /// Whether every number is finite.
    fn is_finite(&self) -> bool {
        self.numbers().iter().all(|x| x.is_finite())
    }

    /// Adds `weight · other`.
    #[inline]
    fn add_scaled(&mut self, other: &Self, weight: f32) {
        kernels::add_scaled(self.numbers_mut(), other.numbers(), weight);
    }

    /// Multiplies every number.
    #[inline]
    fn scale(&mut self, factor: f32) {
        for a in self.numbers_mut() {
            *a *= factor;
        }
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

/// Vector of `N` numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Vector<const N: usize>(pub [f32; N]);

/// Weights of a bank of graph filters, `[tap][input][output]`.
///
/// The outputs of one input are adjacent, so a processor keeps a block of them in registers. The
/// wide part's parameters have this type: `B` with `OUT = G`, or `C = BR` with `OUT = O`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Filter<const TAPS: usize, const IN: usize, const OUT: usize>(pub [[[f32; OUT]; IN]; TAPS]);

impl<const TAPS: usize, const IN: usize, const OUT: usize> Filter<TAPS, IN, OUT> {
    /// Rows of `OUT` weights, one per input number, in the order of the taps.
    #[must_use]
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
    pub(crate) fn descend(&mut self, taps: &[f32], factor: &Vector<OUT>, step: f32) {
        let mut stepped = *factor;
        stepped.scale(step);
        kernels::descend(self.numbers_mut(), taps, &stepped.0);
    }
}

impl<const TAPS: usize, const IN: usize, const OUT: usize> Serialize for Filter<TAPS, IN, OUT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        tuple::serialize(serializer, Self::LEN, self.numbers().iter())
    }
}

impl<'de, const TAPS: usize, const IN: usize, const OUT: usize> Deserialize<'de> for Filter<TAPS, IN, OUT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut filter = Self::ZERO;
        tuple::deserialize(deserializer, Self::LEN, |index, number| {
            if let Some(place) = filter.numbers_mut().get_mut(index) {
                *place = number;
            }
        })?;
        Ok(filter)
    }
}

impl<const N: usize> Tensor for Vector<N> {
    const LEN: usize = N;
    const ZERO: Self = Self([0.0; N]);

    #[inline]
    fn numbers(&self) -> &[f32] {
        &self.0
    }

    #[inline]
    fn numbers_mut(&mut self) -> &mut [f32] {
        &mut self.0
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

/// Computes `start + inputsᵀ · rows`, one row per input: the product of every filter bank and readout.
///
/// Each output is summed over the inputs in their order; the block size does not change a bit.
#[must_use]
#[inline]
pub(crate) fn accumulate<const OUT: usize>(
    start: &[f32; OUT],
    inputs: &[f32],
    rows: &[[f32; OUT]],
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
    fn numbers_come_from_lists_and_bytes_that_may_end_early() {
        assert_eq!(<[f32; 3]>::gather(&[1.0, 2.0]), [1.0, 2.0, 0.0]);
        assert_eq!(<[f32; 1]>::gather(&[1.0, 2.0]), [1.0]);
        assert_eq!(<[f32; 1]>::from_bytes(&[0, 0, 0x80, 0x3f, 9]), [1.0]);
        assert_eq!(<[f32; 2]>::from_bytes(&[0, 0, 0x80, 0x3f, 0, 0, 0x80]), [0.0, 0.0]);
    }

    #[test]
    fn distance_is_euclidean() {
        assert_eq!(Vector([3.0, 0.0]).distance(&Vector([0.0, 4.0])), 5.0);
        assert_eq!(Vector([3.0, 4.0]).norm(), 5.0);
    }
}
