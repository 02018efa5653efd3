//! Scalar functions: the only file that names `libm`.
//!
//! Every function here gives the same bits on every machine: plain IEEE-754 `f32` operations in a written order,
//! no fused multiply-add, no platform maths library.

/// The largest magnitude that is let in from outside: 2⁶⁰ ≈ 1.15·10¹⁸.
///
/// Its square still fits into an `f32`, so no distance or norm of admitted numbers overflows.
pub const LARGEST: f32 = f32::from_bits((127 + 60) << 23);

/// Numbers that this processor calculates with side by side, where that pays. No bit of any result depends on it.
pub const LANES: usize = if cfg!(target_pointer_width = "64") { 8 } else { 1 };

/// Largest error of [`tanh`] over every `f32`, in units in the last place: 6.44, rounded up. Measured by
/// `tests/tanh_every_float.rs`, which fails when this is too small or larger than it need be.
pub const TANH_ULP: u32 = 7;

/// Largest absolute error of [`tanh`] over every `f32` (measured likewise: 3.840·10⁻⁷).
pub const TANH_ABSOLUTE: f32 = 3.85e-7;

// tanh x ≈ x·P(x²)/Q(x²) on [0, TANH_ONE): a weighted least-squares (Lawson) fit of the relative error, 2.2·10⁻⁸ before
// rounding. P(0) = Q(0) = 1 makes it exact for tiny arguments.
const P: [f32; 4] = [0.133_826_86, 3.497_456_7e-3, 2.063_580_7e-5, 1.338_427e-8];
const Q: [f32; 4] = [0.467_160_08, 2.588_435_7e-2, 3.288_515_8e-4, 7.790_240_5e-7];
/// From here on the nearest `f32` to tanh x is 1.
const TANH_ONE: f32 = 9.02;
/// Up to here the fit stays below 1: tanh 7 is 1.66·10⁻⁶ below it, more than four times [`TANH_ABSOLUTE`].
const TANH_FIT: f32 = 7.0;

/// Hyperbolic tangent, odd and bounded by 1, within [`TANH_ULP`] of the exact value: a quarter of the cost of
/// [`tanh_libm`]. A NaN stays a NaN.
#[must_use]
#[inline]
pub fn tanh(x: f32) -> f32 {
    // One integer comparison finds everything that saturates, the infinities included.
    let magnitude = x.to_bits() & 0x7fff_ffff;
    if magnitude >= TANH_ONE.to_bits() {
        return if magnitude > f32::INFINITY.to_bits() { x } else { 1.0_f32.copysign(x) };
    }
    let tanh = tanh_fit(x);
    // The fit's last bits may pass 1 by one unit near the end of its range. (As integers: half the instructions of `clamp`.)
    if tanh.to_bits() & 0x7fff_ffff > 1.0_f32.to_bits() { 1.0_f32.copysign(x) } else { tanh }
}

/// Whether [`tanh`] is nothing but [`tanh_fit`] there: where nearly all arguments are.
#[inline]
pub(crate) fn tanh_is_fit(x: f32) -> bool {
    x.to_bits() << 1 < TANH_FIT.to_bits() << 1
}

#[inline]
pub(crate) fn tanh_fit(x: f32) -> f32 {
    let y = x * x;
    let p = (((P[3] * y + P[2]) * y + P[1]) * y + P[0]) * y + 1.0;
    let q = (((Q[3] * y + Q[2]) * y + Q[1]) * y + Q[0]) * y + 1.0;
    x * p / q
}

/// Hyperbolic tangent by `libm`: 2.19 ulp, 8.42·10⁻⁸ absolute (measured likewise).
///
/// Never inlined: a loop over a layer that the compiler unrolls would hold it 32 times, 70 KB of a robot's flash.
#[must_use]
#[inline(never)]
pub fn tanh_libm(x: f32) -> f32 {
    libm::tanhf(x)
}

/// Square root, correctly rounded.
#[must_use]
#[inline]
pub fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
}

/// Whether a number from outside may enter: zero, or normal with magnitude at most [`LARGEST`].
///
/// NaN, infinities, subnormals (slow on some cores, meaningless on all) and huge values stay out; one integer range
/// test decides.
#[must_use]
#[inline]
pub fn admissible(x: f32) -> bool {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    magnitude == 0
        || magnitude.wrapping_sub(f32::MIN_POSITIVE.to_bits())
            <= LARGEST.to_bits() - f32::MIN_POSITIVE.to_bits()
}

/// Negative unless the magnitude is one that nearly every number has, from 2⁻⁶⁸ up to 2⁶⁰, and so [`admissible`]. Those are 128
/// exponents, so that the highest bit tells, and `or` collects the doubts about many numbers at a third of the price.
#[inline]
pub(crate) fn doubt(x: f32) -> i32 {
    const SMALLEST: u32 = (127 - 68) << 24;
    (x.to_bits() << 1).wrapping_sub(SMALLEST).cast_signed()
}

/// Rounds a subnormal to zero, so that an honest sender's frame is [`admissible`].
#[must_use]
#[inline]
pub fn flush(x: f32) -> f32 {
    if x.to_bits() & 0x7f80_0000 == 0 { 0.0 } else { x }
}

/// `x` limited to ±`limit`. A NaN stays a NaN: the safety gate looks for it.
#[must_use]
#[inline]
pub fn clamp(x: f32, limit: f32) -> f32 {
    if x > limit {
        limit
    } else if x < -limit {
        -limit
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_exact_where_it_must_be() {
        assert_eq!(tanh(0.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!(tanh(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(tanh(f32::INFINITY), 1.0);
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        assert!(tanh(f32::NAN).is_nan());
        assert_eq!(tanh(1.0e-20), 1.0e-20);
    }

    #[test]
    fn tanh_is_odd_and_close_to_libm_on_a_coarse_grid() {
        // The check over every f32 is tests/tanh_every_float.rs; this one catches a wrong coefficient in a second.
        for step in 0..200_000_u32 {
            let x = step as f32 * 1.0e-4;
            assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits());
            assert!((tanh(x) - tanh_libm(x)).abs() <= TANH_ABSOLUTE, "at {x}");
            assert!(tanh(x) <= 1.0, "at {x}");
        }
    }

    #[test]
    fn only_ordinary_numbers_are_admissible() {
        for good in [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, LARGEST, -LARGEST] {
            assert!(admissible(good), "{good}");
        }
        for bad in [
            f32::NAN,
            -f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1.0e-40,
            -1.0e-45,
            LARGEST * 2.0,
            f32::MAX,
        ] {
            assert!(!admissible(bad), "{bad}");
        }
    }

    #[test]
    fn what_is_in_no_doubt_is_admissible() {
        for ordinary in [1.0, -1.0, f32::MIN_POSITIVE * 2.0_f32.powi(58), LARGEST / 1.000_001] {
            assert!(doubt(ordinary) >= 0 && doubt(-ordinary) >= 0, "{ordinary}");
        }
        for bits in (0..u32::MAX).step_by(1009) {
            let x = f32::from_bits(bits);
            assert!(doubt(x) < 0 || admissible(x), "{x}");
        }
    }

    #[test]
    fn flushing_makes_subnormals_admissible_and_leaves_the_rest() {
        assert_eq!(flush(1.0e-40), 0.0);
        assert_eq!(flush(f32::MIN_POSITIVE), f32::MIN_POSITIVE);
        assert_eq!(flush(-3.5), -3.5);
    }

    #[test]
    fn clamp_keeps_nan_for_the_gate_to_see() {
        assert_eq!(clamp(11.0, 10.0), 10.0);
        assert_eq!(clamp(-11.0, 10.0), -10.0);
        assert!(clamp(f32::NAN, 10.0).is_nan());
    }
}
