//! Directions in the plane as unit vectors, without a math library: equal bits on every processor.

use core::f32::consts::{FRAC_PI_2, PI};

/// Vector in the plane.
pub type Vector = [f32; 2];

/// Largest error of [`direction`] and [`angle`], tested over the full circle.
pub const MAX_ERROR: f32 = 3.0e-5;

/// Returns the unit vector of a heading in 1/65,536 of a turn.
pub fn direction(heading: i16) -> Vector {
    // Quarter turns, rounded, and the rest between −π/4 and π/4.
    let quarters = (i32::from(heading) + 0x2000) >> 14;
    let rest = (i32::from(heading) - (quarters << 14)) as f32 * (PI / 32_768.0);
    let square = rest * rest;
    let sine = rest * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0)));
    let cosine = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0));
    match quarters & 3 {
        0 => [cosine, sine],
        1 => [-sine, cosine],
        2 => [-cosine, -sine],
        _ => [sine, -cosine],
    }
}

/// Returns the angle of a vector from the x axis, in radians from −π to π; 0 for the zero vector.
pub fn angle([x, y]: Vector) -> f32 {
    let (near, far) = if x.abs() > y.abs() { (y, x) } else { (x, y) };
    if far == 0.0 {
        return 0.0;
    }
    // Least-squares fit on 0 to 1.
    let slope = near / far;
    let square = slope * slope;
    let tail = 0.185_102_97 + square * (-0.091_748_44 + square * 0.023_775_1);
    let arc = slope * (0.999_969_3 + square * (-0.331_677_87 + square * tail));
    if x.abs() <= y.abs() {
        FRAC_PI_2.copysign(y) - arc
    } else if x < 0.0 {
        arc + PI.copysign(y)
    } else {
        arc
    }
}

/// Square root by Newton's method, within 2 units in the last place of normal numbers; 0 for 0 and below.
pub fn sqrt(x: f32) -> f32 {
    if x <= f32::MIN_POSITIVE || !x.is_finite() {
        return 0.0;
    }
    let mut root = f32::from_bits((x.to_bits() >> 1) + 0x1fc0_0000);
    for _ in 0..3 {
        root = 0.5 * (root + x / root);
    }
    root
}

/// Length of a vector.
pub fn length(a: Vector) -> f32 {
    sqrt(dot(a, a))
}

/// Unit vector, or `otherwise` for the zero vector.
pub fn unit_or(a: Vector, otherwise: Vector) -> Vector {
    let length = length(a);
    if length > 0.0 { scale(1.0 / length, a) } else { otherwise }
}

/// Inner product.
pub fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}

/// Outer product: positive if `b` is to the left of `a`.
pub fn cross(a: Vector, b: Vector) -> f32 {
    a[0] * b[1] - a[1] * b[0]
}

/// Sum.
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1]]
}

/// Difference.
pub fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1]]
}

/// Multiple.
pub fn scale(factor: f32, a: Vector) -> Vector {
    [factor * a[0], factor * a[1]]
}

/// Vector turned by the angle of the unit vector `by`.
pub fn turned(a: Vector, by: Vector) -> Vector {
    [a[0] * by[0] - a[1] * by[1], a[0] * by[1] + a[1] * by[0]]
}

/// Vector, shortened to `longest` if it is longer.
pub fn limited(a: Vector, longest: f32) -> Vector {
    let length = length(a);
    if length > longest { scale(longest / length, a) } else { a }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn directions_and_angles_are_within_the_bound() {
        for heading in i16::MIN..=i16::MAX {
            let exact = f64::from(heading) * std::f64::consts::PI / 32_768.0;
            let found = direction(heading);
            for (found, exact) in found.iter().zip([exact.cos(), exact.sin()]) {
                assert!((f64::from(*found) - exact).abs() < f64::from(MAX_ERROR), "{heading}");
            }
            let error = (f64::from(angle(scale(3.0, found))) - exact).abs();
            let error = error.min((error - std::f64::consts::TAU).abs());
            assert!(error < 2.0 * f64::from(MAX_ERROR), "{heading}: {error}");
        }
        assert_eq!((angle([0.0; 2]), angle([2.0, 0.0]), angle([0.0, -1.0])), (0.0, 0.0, -FRAC_PI_2));
    }

    #[test]
    fn square_roots_are_close() {
        for step in 1..10_000_u32 {
            let x = f32::from_bits(step * 200_000 + 0x0080_0000);
            let error = (sqrt(x) / x.sqrt() - 1.0).abs();
            assert!(error < 3.0e-7, "{error} at {x}");
        }
        assert_eq!([sqrt(0.0), sqrt(-1.0), sqrt(f32::NAN), sqrt(f32::INFINITY)], [0.0; 4]);
    }

    #[test]
    fn vectors_turn_and_are_limited() {
        assert_eq!(turned([2.0, 1.0], [0.0, 1.0]), [-1.0, 2.0]);
        assert_eq!(limited([3.0, 4.0], 10.0), [3.0, 4.0]);
        assert!((length(limited([3.0, 4.0], 2.5)) - 2.5).abs() < 1.0e-6);
        assert_eq!(unit_or([0.0; 2], [1.0, 0.0]), [1.0, 0.0]);
    }
}
