//! Position and velocity of a robot, in the plane or in space.

use serde::{Deserialize, Serialize};

use crate::{
    math,
    task::State,
    tensor::{Array, tuple},
};

/// Position and velocity along `D` axes that all robots share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Motion<const D: usize = 2> {
    /// Position in meters.
    #[serde(with = "tuple::array")]
    pub position: [f32; D],
    /// Velocity in meters per second.
    #[serde(with = "tuple::array")]
    pub velocity: [f32; D],
}

impl<const D: usize> Motion<D> {
    /// Zero velocity at the origin.
    pub const REST: Self = Self { position: [0.0; D], velocity: [0.0; D] };

    /// Returns the motion after `seconds` at constant velocity.
    #[must_use]
    #[inline]
    pub fn after(&self, seconds: f32) -> Self
    where
        [f32; D]: Axes,
    {
        Self { position: self.position.plus(seconds, &self.velocity), velocity: self.velocity }
    }
}

impl<const D: usize> State for Motion<D>
where
    [f32; D]: Axes,
{
    type Array = <[f32; D] as Axes>::Motion;

    #[inline]
    fn to_array(&self) -> Self::Array {
        Array::gather([self.position, self.velocity].as_flattened())
    }

    #[inline]
    fn from_array(numbers: Self::Array) -> Self {
        match numbers.as_ref().as_chunks().0 {
            &[position, velocity] => Self { position, velocity },
            _ => Self::REST,
        }
    }
}

/// Vector with two or three axes: `[f32; 2]` in the plane, `[f32; 3]` in space.
///
/// The trait has everything that depends on the number of axes.
pub trait Axes: Array {
    /// Number of the flocking task in weight files.
    const TASK: u16;
    /// Values of a [`Motion`], two per axis.
    type Motion: Array;
    /// Features of a flocking robot, three per axis.
    type Features: Array;

    /// Combines two vectors axis by axis.
    ///
    /// Implementations are unrolled by hand: an image that is optimized for size would keep a loop
    /// over two or three axes, at twice the time.
    #[must_use]
    fn zip(&self, other: &Self, join: impl Fn(f32, f32) -> f32) -> Self;

    /// Concatenates three vectors.
    fn features(first: Self, second: Self, third: Self) -> Self::Features;

    /// Sum over the axes, in order.
    fn sum(&self) -> f32;

    /// A vector perpendicular to this one.
    ///
    /// It is an odd function: the perpendicular of −v is the negative. Two robots on a head-on
    /// course therefore turn in the same sense.
    #[must_use]
    fn across(&self) -> Self;

    /// `self − other`.
    #[must_use]
    #[inline]
    fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    /// `self + factor · other`.
    #[must_use]
    #[inline]
    fn plus(&self, factor: f32, other: &Self) -> Self {
        self.zip(other, |a, b| a + factor * b)
    }

    /// Scalar product.
    #[inline]
    fn dot(&self, other: &Self) -> f32 {
        self.zip(other, |a, b| a * b).sum()
    }

    /// Euclidean length.
    #[inline]
    fn length(&self) -> f32 {
        math::sqrt(self.dot(self))
    }
}

impl Axes for [f32; 2] {
    const TASK: u16 = 1;
    type Motion = [f32; 4];
    type Features = [f32; 6];

    #[inline]
    fn zip(&self, other: &Self, join: impl Fn(f32, f32) -> f32) -> Self {
        let ([x, y], [other_x, other_y]) = (self, other);
        [join(*x, *other_x), join(*y, *other_y)]
    }

    #[inline]
    fn features([a, b]: Self, [c, d]: Self, [e, f]: Self) -> [f32; 6] {
        [a, b, c, d, e, f]
    }

    #[inline]
    fn sum(&self) -> f32 {
        let [x, y] = self;
        x + y
    }

    #[inline]
    fn across(&self) -> Self {
        let [x, y] = *self;
        [-y, x]
    }
}

impl Axes for [f32; 3] {
    const TASK: u16 = 3;
    type Motion = [f32; 6];
    type Features = [f32; 9];

    #[inline]
    fn zip(&self, other: &Self, join: impl Fn(f32, f32) -> f32) -> Self {
        let ([x, y, z], [other_x, other_y, other_z]) = (self, other);
        [join(*x, *other_x), join(*y, *other_y), join(*z, *other_z)]
    }

    #[inline]
    fn features([a, b, c]: Self, [d, e, f]: Self, [g, h, i]: Self) -> [f32; 9] {
        [a, b, c, d, e, f, g, h, i]
    }

    #[inline]
    fn sum(&self) -> f32 {
        let [x, y, z] = self;
        x + y + z
    }

    /// Drops the smallest component and rotates the other two by 90°.
    ///
    /// Level flight drops the third component, so the result equals that of the plane.
    fn across(&self) -> Self {
        let [x, y, z] = *self;
        let [along_x, along_y, along_z] = self.map(f32::abs);
        if along_z <= along_x && along_z <= along_y {
            [-y, x, 0.0]
        } else if along_x <= along_y {
            [0.0, -z, y]
        } else {
            [z, 0.0, -x]
        }
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

    #[test]
    fn across_is_perpendicular_odd_and_long_enough() {
        for x in [-2.0_f32, 0.0, 0.5, 3.0] {
            for y in [-1.0_f32, 0.0, 0.5, 4.0] {
                assert_eq!([x, y].dot(&[x, y].across()), 0.0);
                assert_eq!([x, y, 0.0].across(), [-y, x, 0.0], "level flight gives the result of the plane");
                for z in [-3.0_f32, 0.0, 0.5, 1.0] {
                    let vector = [x, y, z];
                    let across = vector.across();
                    assert_eq!(vector.dot(&across), 0.0, "{vector:?}");
                    assert_eq!(vector.map(|x| -x).across(), across.map(|x| -x), "{vector:?}");
                    // The smallest of three components is dropped: at most a third of the squared
                    // length.
                    assert!(across.length() >= 0.81 * vector.length(), "{vector:?}");
                }
            }
        }
    }
}
