//! Lists of numbers in a frame: [`Floats`] in `f32`, [`Halves`] in half precision.

use wdgnn_core::math;

use super::fixed::{F16, tuple_of};
use crate::encoding::halves;

/// List of numbers in a frame.
pub trait NumberList {
    /// Number of numbers.
    const LEN: usize;

    /// Whether all numbers are admissible: neither NaN nor infinite; `f32` neither subnormal nor above 2⁶⁰ in magnitude.
    fn admissible(&self) -> bool;
}

/// `N` numbers in `f32`, little-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Floats<const N: usize>(pub [f32; N]);

tuple_of!(Floats, f32, 0.0);

impl<const N: usize> Floats<N> {
    /// Replaces −0 and subnormals by 0.
    #[must_use]
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
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Halves<const N: usize>(pub [F16; N]);

tuple_of!(Halves, F16, F16([0; 2]));

impl<const N: usize> Halves<N> {
    /// Rounds numbers to half precision ([`F16::new`]).
    #[must_use]
    pub fn new(numbers: &[f32; N]) -> Self {
        Self(numbers.map(F16::new))
    }

    /// The numbers; NaN for those that are not finite.
    #[must_use]
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
