//! Fixed-size blocks of numbers: [`Vector`] and [`Filter`], and what every block can do ([`Tensor`]).
//!
//! A block is a nested array, so it has no length to check and no heap; as a [`Tensor`] it is one flat slice in a fixed
//! order, which is also its order on the wire and in the weight file.

pub mod kernels;
pub mod reader;
pub mod param_range;

use core::fmt::Debug;

use crate::math;

/// `[f32; N]`: numbers that a task or a network takes and gives.
pub trait Numbers:
    Copy + Debug + PartialEq + AsRef<[f32]> + AsMut<[f32]> + Send + Sync + 'static + private::Array
{
    /// N.
    const LEN: usize;

    /// All zeros.
    const ZERO: Self;

    /// The numbers of a list, in order; zeros where it ends early.
    #[must_use]
    #[inline]
    fn gather(list: &[f32]) -> Self {
        let mut numbers = Self::ZERO;
        kernels::copy(numbers.as_mut(), list);
        numbers
    }

    /// The numbers in these little-endian bytes, whatever they are; zeros if they are too few.
    #[must_use]
    fn from_bytes(bytes: &[u8]) -> Self;
}

impl<const N: usize> Numbers for [f32; N] {
    const LEN: usize = N;
    const ZERO: Self = [0.0; N];

    #[inline]
    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.as_chunks().0.first_chunk().map_or(Self::ZERO, |numbers| numbers.map(f32::from_le_bytes))
    }
}

mod private {
    pub trait Array {}

    impl<const N: usize> Array for [f32; N] {}
}

/// A fixed number of `f32` in a fixed order.
pub trait Tensor: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// How many.
    const LEN: usize;

    /// All zeros.
    const ZERO: Self;

    /// The numbers in order.
    fn numbers(&self) -> &[f32];

    /// The numbers in order, to change.
    fn numbers_mut(&mut self) -> &mut [f32];

    /// Whether every number may enter the arithmetic ([`math::admissible`]).
    fn admissible(&self) -> bool {
        kernels::admissible(self.numbers())
    }

    /// Whether no number is a NaN or an infinity.
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

/// `N` numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Vector<const N: usize>(pub [f32; N]);

/// The weights of a bank of graph filters, `[tap][input][output]`: row-major per input, so that the outputs of one
/// input lie side by side and a processor keeps a block of them in registers.
///
/// The wide part's parameters are one of these: `B` with `OUT = G`, or `C = BR` with `OUT = O`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Filter<const TAPS: usize, const IN: usize, const OUT: usize>(pub [[[f32; OUT]; IN]; TAPS]);

impl<const TAPS: usize, const IN: usize, const OUT: usize> Filter<TAPS, IN, OUT> {
    /// One row of `OUT` weights per input number, in the order of the taps.
    #[must_use]
    #[inline]
    pub fn rows(&self) -> &[[f32; OUT]] {
        self.0.as_flattened()
    }

    /// One row of `OUT` weights per input number, to change.
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

/// `start + inputsᵀ · rows`, one row per input: every filter bank and readout is this loop.
///
/// Each output is summed over the inputs in their order, whatever the blocks in which the outputs are taken.
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
