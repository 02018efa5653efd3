//! Scalar functions with identical bits on every machine.
//!
//! Every function uses plain IEEE 754 `f32` operations in a fixed order: no fused multiply-add and
//! no platform math library. This is the only file that names `libm`.

/// Largest magnitude accepted from outside: 2⁶⁰ ≈ 1.15·10¹⁸.
///
/// Its square is a finite `f32`, so distances and norms of admissible numbers cannot overflow.
pub const MAX_ADMISSIBLE: f32 = f32::from_bits((127 + 60) << 23);

/// Numbers that the processor computes in parallel, where the code does so.
///
/// No bit of any result depends on it.
pub const SIMD_LANES: usize = if cfg!(target_pointer_width = "64") { 8 } else { 1 };

/// Largest error of [`tanh`] over every `f32`, in units in the last place.
///
/// The largest error over every float is 6.44. `tests/tanh_accuracy.rs` in `wdgnn-robot` checks a
/// sample.
pub const TANH_MAX_ULP: u32 = 7;

/// Largest absolute error of [`tanh`] over every `f32`.
///
/// `tests/tanh_accuracy.rs` measures 3.840·10⁻⁷.
pub const TANH_MAX_ERROR: f32 = 3.85e-7;

// tanh x ≈ x·P(x²)/Q(x²) on [0, TANH_ONE). A weighted least-squares fit (Lawson) minimizes the
// relative error, which is 2.2·10⁻⁸ before rounding. P(0) = Q(0) = 1 makes the fit exact for tiny
// arguments.
const P: [f32; 4] = [0.133_826_86, 3.497_456_7e-3, 2.063_580_7e-5, 1.338_427e-8];
const Q: [f32; 4] = [0.467_160_08, 2.588_435_7e-2, 3.288_515_8e-4, 7.790_240_5e-7];
/// Magnitude from which the `f32` nearest to tanh x is 1.
const TANH_ONE: f32 = 9.02;
/// Magnitude below which the fit stays below 1.
///
/// 1 − tanh 7 is 1.66·10⁻⁶, more than four times [`TANH_MAX_ERROR`].
const TANH_FIT: f32 = 7.0;

/// Hyperbolic tangent by a rational fit, odd and bounded by 1.
///
/// The error is at most [`TANH_MAX_ULP`]. The cost is a quarter of that of [`tanh_libm`]. NaN returns
/// NaN.
#[inline]
pub fn tanh(x: f32) -> f32 {
    // One integer comparison finds all saturated arguments, including the infinities.
    let magnitude = x.to_bits() & 0x7fff_ffff;
    if magnitude >= TANH_ONE.to_bits() {
        return if magnitude > f32::INFINITY.to_bits() { x } else { 1.0_f32.copysign(x) };
    }
    let tanh = tanh_fit(x);
    // Near the end of its range, rounding may lift the fit one unit above 1. The integer comparison
    // takes half the instructions of `clamp`.
    if tanh.to_bits() & 0x7fff_ffff > 1.0_f32.to_bits() { 1.0_f32.copysign(x) } else { tanh }
}

/// Returns whether [`tanh`] equals [`tanh_fit`] at `x`, as for most arguments.
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

/// Hyperbolic tangent by `libm`: 2.19 ulp, 8.42·10⁻⁸ absolute.
///
/// `tests/tanh_accuracy.rs` measures both errors. The function is not inlined: an unrolled loop
/// over a layer would contain 32 copies, 70 KB of a robot's flash.
#[inline(never)]
pub fn tanh_libm(x: f32) -> f32 {
    libm::tanhf(x)
}

/// Square root, correctly rounded.
#[inline]
pub fn sqrt(x: f32) -> f32 {
    // On boards that divide in hardware, `libm` takes 480 bytes of flash and more time.
    if cfg!(all(target_arch = "arm", target_abi = "eabihf")) { sqrt_by_division(x) } else { libm::sqrtf(x) }
}

/// Square root by three steps of Heron's method and exact rounding.
#[inline(never)]
fn sqrt_by_division(x: f32) -> f32 {
    const UNIT: u32 = 1 << 23;
    let bits = x.to_bits();
    if bits < UNIT && bits > 0 {
        return sqrt_by_division(x * (2 * UNIT) as f32) / 4096.0;
    }
    if bits.wrapping_sub(1) >= f32::INFINITY.to_bits() - 1 {
        return if x < 0.0 { f32::NAN } else { x };
    }
    let mut root = f32::from_bits((bits >> 1) + 0x1fbd_1df5);
    for _ in 0..3 {
        root = 0.5 * (root + x / root);
    }
    // The root is at most one unit off. n is its significand, and that of x is n² + rest.
    let exponent = ((bits >> 23) + 125) >> 1;
    let n = root.to_bits().wrapping_sub(exponent << 23);
    let square = (bits % UNIT + UNIT) << (24 - (bits >> 23) % 2);
    let rest = square.wrapping_sub(n.wrapping_mul(n)).cast_signed();
    let (up, down) = (rest > n.cast_signed(), rest <= -n.cast_signed());
    f32::from_bits(root.to_bits() + u32::from(up) - u32::from(down))
}

/// Returns whether `x` is zero, or normal with a magnitude of at most [`MAX_ADMISSIBLE`].
///
/// Message and weight-file values must pass this test before any arithmetic. It rejects NaN,
/// infinities, subnormals (slow on some cores) and huge values with one integer range test.
#[inline]
pub fn is_admissible(x: f32) -> bool {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    magnitude == 0
        || magnitude.wrapping_sub(f32::MIN_POSITIVE.to_bits())
            <= MAX_ADMISSIBLE.to_bits() - f32::MIN_POSITIVE.to_bits()
}

/// Quick test of [`is_admissible`]: nonnegative only for magnitudes from 2⁻⁶⁸ to 2⁶⁰.
///
/// The range covers 128 exponents, so the sign bit is the result. Results of many numbers combine
/// with `or`, at a third of the cost of [`is_admissible`]. A negative result means that [`is_admissible`]
/// must decide.
#[inline]
pub fn quick_admissible(x: f32) -> i32 {
    const SMALLEST: u32 = (127 - 68) << 24;
    (x.to_bits() << 1).wrapping_sub(SMALLEST).cast_signed()
}

/// Rounds subnormals to zero, so that numbers of honest senders pass [`is_admissible`].
#[inline]
pub fn flush_subnormal(x: f32) -> f32 {
    if x.to_bits() & 0x7f80_0000 == 0 { 0.0 } else { x }
}

/// Limits `x` to ±`limit`.
///
/// NaN returns NaN, because the safety gate tests for it.
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
    fn tanh_is_exact_at_zero_and_infinity() {
        assert_eq!(tanh(0.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!(tanh(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(tanh(f32::INFINITY), 1.0);
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        assert!(tanh(f32::NAN).is_nan());
        assert_eq!(tanh(1.0e-20), 1.0e-20);
    }

    #[test]
    fn tanh_is_odd_and_close_to_libm_on_a_coarse_grid() {
        // `tests/tanh_accuracy.rs` checks a sample of all `f32`. This test detects a wrong coefficient
        // within a second.
        for step in 0..200_000_u32 {
            let x = step as f32 * 1.0e-4;
            assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits());
            assert!((tanh(x) - tanh_libm(x)).abs() <= TANH_MAX_ERROR, "at {x}");
            assert!(tanh(x) <= 1.0, "at {x}");
        }
    }

    #[test]
    fn root_by_division_is_correctly_rounded() {
        // Both parities of the exponent, with every significand.
        for bits in 1.0_f32.to_bits()..4.0_f32.to_bits() {
            let x = f32::from_bits(bits);
            assert_eq!(sqrt_by_division(x).to_bits(), libm::sqrtf(x).to_bits(), "{x}");
        }
        for bits in (0..=u32::MAX).step_by(997).chain([1.0e-45, f32::INFINITY].map(f32::to_bits)) {
            let x = f32::from_bits(bits);
            let (root, exact) = (sqrt_by_division(x), libm::sqrtf(x));
            assert!(
                root.to_bits() == exact.to_bits() || (root.is_nan() && exact.is_nan()),
                "{x:e}: {root:e}"
            );
        }
    }

    #[test]
    fn nan_infinity_subnormals_and_huge_numbers_are_not_admissible() {
        for good in [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, MAX_ADMISSIBLE, -MAX_ADMISSIBLE] {
            assert!(is_admissible(good), "{good}");
        }
        for bad in [
            f32::NAN,
            -f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            1.0e-40,
            -1.0e-45,
            MAX_ADMISSIBLE * 2.0,
            f32::MAX,
        ] {
            assert!(!is_admissible(bad), "{bad}");
        }
    }

    #[test]
    fn numbers_that_pass_the_quick_test_are_admissible() {
        for ordinary in [1.0, -1.0, f32::MIN_POSITIVE * 2.0_f32.powi(58), MAX_ADMISSIBLE / 1.000_001] {
            assert!(quick_admissible(ordinary) >= 0 && quick_admissible(-ordinary) >= 0, "{ordinary}");
        }
        for bits in (0..u32::MAX).step_by(1009) {
            let x = f32::from_bits(bits);
            assert!(quick_admissible(x) < 0 || is_admissible(x), "{x}");
        }
    }

    #[test]
    fn flush_zeroes_subnormals_and_leaves_other_numbers() {
        assert_eq!(flush_subnormal(1.0e-40), 0.0);
        assert_eq!(flush_subnormal(f32::MIN_POSITIVE), f32::MIN_POSITIVE);
        assert_eq!(flush_subnormal(-3.5), -3.5);
    }

    #[test]
    fn clamp_returns_nan_for_nan() {
        assert_eq!(clamp(11.0, 10.0), 10.0);
        assert_eq!(clamp(-11.0, 10.0), -10.0);
        assert!(clamp(f32::NAN, 10.0).is_nan());
    }
}
