//! Lists of numbers in a frame: [`Floats`] in `f32`, [`Halves`] in half precision.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use wdgnn_core::{math, tensor::serde_array};

use super::fixed::{F16, array_newtype};
use crate::encoding::halves;

/// List of numbers in a frame.
pub trait NumberList: Serialize + MaxSize + Schema {
    /// Number of numbers.
    const LEN: usize;

    /// Whether all numbers are admissible: neither NaN nor infinite; `f32` neither subnormal nor above 2⁶⁰ in magnitude.
    fn admissible(&self) -> bool;
}

/// `N` numbers in `f32`, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floats<const N: usize>(#[serde(with = "serde_array")] pub [f32; N]);

array_newtype!(Floats, f32);

impl<const N: usize> Floats<N> {
    /// Replaces −0 and subnormals by 0.
    pub fn new(numbers: &[f32; N]) -> Self {
        Self(numbers.map(math::flush_subnormal))
    }
}

impl<const N: usize> NumberList for Floats<N> {
    const LEN: usize = N;

    fn admissible(&self) -> bool {
        self.0.iter().all(|x| math::is_admissible(*x))
    }
}

/// `N` numbers in half precision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Halves<const N: usize>(#[serde(with = "serde_array")] pub [F16; N]);

array_newtype!(Halves, F16);

impl<const N: usize> Halves<N> {
    /// Rounds numbers to half precision ([`F16::new`]).
    pub fn new(numbers: &[f32; N]) -> Self {
        Self(numbers.map(F16::new))
    }

    /// The numbers; NaN for those that are not finite.
    pub fn get(&self) -> [f32; N] {
        self.0.map(|half| half.get().unwrap_or(f32::NAN))
    }
}

impl<const N: usize> NumberList for Halves<N> {
    const LEN: usize = N;

    fn admissible(&self) -> bool {
        self.0.iter().all(|half| halves::read(&mut [0.0], &half.0))
    }
}
