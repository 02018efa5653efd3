//! Fixed-size blocks of numbers: [`Vector`] and [`Filter`], and what every block can do ([`Tensor`]).
//!
//! A block is a nested array, so it has no length to check and no heap; as a [`Tensor`] it is one flat slice in a fixed
//! order, which is also its order on the wire and in the weight file.

use postcard::experimental::max_size::MaxSize;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeTuple};

use crate::{kernels, math};

/// A fixed number of `f32` in a fixed order.
pub trait Tensor: Copy + core::fmt::Debug {
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
}

impl<const N: usize> Tensor for Vector<N> {
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
pub fn accumulate<const OUT: usize>(start: &[f32; OUT], inputs: &[f32], rows: &[[f32; OUT]]) -> [f32; OUT] {
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

/// Writes numbers one after the other, without a length: the type fixes how many there are.
///
/// # Errors
/// The serializer's own, when its buffer is full.
pub fn serialize_numbers<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    let mut tuple = serializer.serialize_tuple(numbers.len())?;
    for &x in numbers {
        tuple.serialize_element(&math::flush(x))?;
    }
    tuple.end()
}

/// [`serialize_numbers`] for a field that is an array.
///
/// # Errors
/// The serializer's own.
pub fn serialize_array<S: Serializer, const N: usize>(
    numbers: &[f32; N],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serialize_numbers(numbers, serializer)
}

/// Reads as many numbers as `numbers` holds.
///
/// # Errors
/// The deserializer's own, when the bytes end too early.
pub fn deserialize_numbers<'de, D: Deserializer<'de>>(
    numbers: &mut [f32],
    deserializer: D,
) -> Result<(), D::Error> {
    struct Fill<'a>(&'a mut [f32]);

    impl<'de> de::Visitor<'de> for Fill<'_> {
        type Value = ();

        fn expecting(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            formatter.write_str("a fixed number of f32")
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
            for (index, slot) in self.0.iter_mut().enumerate() {
                *slot = sequence
                    .next_element()?
                    .ok_or_else(|| de::Error::invalid_length(index, &"more numbers"))?;
            }
            Ok(())
        }
    }

    let count = numbers.len();
    deserializer.deserialize_tuple(count, Fill(numbers))
}

macro_rules! on_the_wire {
    ($type:ident < $($dimension:ident),+ >, $count:expr) => {
        impl<$(const $dimension: usize),+> Serialize for $type<$($dimension),+> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize_numbers(self.numbers(), serializer)
            }
        }

        impl<'de, $(const $dimension: usize),+> Deserialize<'de> for $type<$($dimension),+> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut tensor = Self::ZERO;
                deserialize_numbers(tensor.numbers_mut(), deserializer)?;
                Ok(tensor)
            }
        }

        impl<$(const $dimension: usize),+> MaxSize for $type<$($dimension),+> {
            const POSTCARD_MAX_SIZE: usize = 4 * $count;
        }
    };
}

on_the_wire!(Vector<N>, N);
on_the_wire!(Filter<TAPS, IN, OUT>, TAPS * IN * OUT);

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
    fn numbers_travel_without_a_length_and_without_subnormals() {
        let sent = Vector([1.0, 1.0e-40]);
        let mut buffer = [0; 8];
        assert_eq!(postcard::to_slice(&sent, &mut buffer).unwrap(), [0, 0, 0x80, 0x3f, 0, 0, 0, 0]);
        assert_eq!(Vector::<2>::POSTCARD_MAX_SIZE, 8);
        assert_eq!(postcard::from_bytes::<Vector<2>>(&buffer).unwrap(), Vector([1.0, 0.0]));
        assert!(postcard::from_bytes::<Vector<2>>(&buffer[..7]).is_err());
    }

    #[test]
    fn distance_is_euclidean() {
        assert_eq!(Vector([3.0, 0.0]).distance(&Vector([0.0, 4.0])), 5.0);
        assert_eq!(Vector([3.0, 4.0]).norm(), 5.0);
    }
}
