//! Position and velocity of a robot, in the plane or in space.

use serde::{Deserialize, Serialize};

use crate::{
    math,
    task::State,
    tensor::{Array, serde_array},
};

/// Position and velocity along `D` axes that all robots share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Motion<const D: usize = 2> {
    /// Position in meters.
    #[serde(with = "serde_array")]
    pub position: [f32; D],
    /// Velocity in meters per second.
    #[serde(with = "serde_array")]
    pub velocity: [f32; D],
}

impl<const D: usize> Motion<D> {
    /// Zero velocity at the origin.
    pub const REST: Self = Self { position: [0.0; D], velocity: [0.0; D] };

    /// The motion after `seconds` at constant velocity.
    #[must_use]
    #[inline]
    pub fn extrapolate(&self, seconds: f32) -> Self
    where
        [f32; D]: SpatialVector,
    {
        Self { position: self.position.add_scaled(seconds, &self.velocity), velocity: self.velocity }
    }
}

impl<const D: usize> State for Motion<D>
where
    [f32; D]: SpatialVector,
{
    type Array = <[f32; D] as SpatialVector>::Motion;

    #[inline]
    fn to_array(&self) -> Self::Array {
        Array::from_slice([self.position, self.velocity].as_flattened())
    }

    #[inline]
    fn from_array(numbers: Self::Array) -> Self {
        match numbers.as_ref().as_chunks().0 {
            &[position, velocity] => Self { position, velocity },
            _ => Self::REST,
        }
    }
}

/// Vector in the plane, `[f32; 2]`, or in space, `[f32; 3]`.
pub trait SpatialVector: Array {
    /// Numbers of a [`Motion`], two per axis.
    type Motion: Array;
    /// Features of a flocking robot, three per axis.
    type Features: Array;

    /// Combines two vectors axis by axis.
    ///
    /// Implementations are unrolled by hand: an image that is optimized for size would keep a loop
    /// over two or three axes, at twice the time.
    #[must_use]
    fn zip(&self, other: &Self, join: impl Fn(f32, f32) -> f32) -> Self;

    /// Sum of the components, in order.
    fn component_sum(&self) -> f32;

    /// `self − other`.
    #[must_use]
    #[inline]
    fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    /// `self + factor · other`.
    #[must_use]
    #[inline]
    fn add_scaled(&self, factor: f32, other: &Self) -> Self {
        self.zip(other, |a, b| a + factor * b)
    }

    /// Scalar product.
    #[inline]
    fn dot(&self, other: &Self) -> f32 {
        self.zip(other, |a, b| a * b).component_sum()
    }

    /// Euclidean length.
    #[inline]
    fn length(&self) -> f32 {
        math::sqrt(self.dot(self))
    }
}

impl SpatialVector for [f32; 2] {
    type Motion = [f32; 4];
    type Features = [f32; 6];

    #[inline]
    fn zip(&self, [c, d]: &Self, join: impl Fn(f32, f32) -> f32) -> Self {
        let [a, b] = self;
        [join(*a, *c), join(*b, *d)]
    }

    #[inline]
    fn component_sum(&self) -> f32 {
        let [x, y] = self;
        x + y
    }
}

impl SpatialVector for [f32; 3] {
    type Motion = [f32; 6];
    type Features = [f32; 9];

    #[inline]
    fn zip(&self, [d, e, f]: &Self, join: impl Fn(f32, f32) -> f32) -> Self {
        let [a, b, c] = self;
        [join(*a, *d), join(*b, *e), join(*c, *f)]
    }

    #[inline]
    fn component_sum(&self) -> f32 {
        let [x, y, z] = self;
        x + y + z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motion_is_encoded_as_position_then_velocity() {
        let motion = Motion { position: [1.0, 2.0, 3.0], velocity: [4.0, 5.0, 6.0] };
        assert_eq!(motion.to_array(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(Motion::from_array(motion.to_array()), motion);
        assert_eq!(Motion::<2>::zero(), Motion::REST);
    }
}
