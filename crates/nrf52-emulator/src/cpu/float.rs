//! Single-precision arithmetic on bits (A2.5).
//!
//! NaNs, flush-to-zero and rounding modes are those of Arm on every host.

use super::half::Rounding;

/// FPSCR.AHP: alternative half precision.
pub const AHP: u32 = 1 << 26;
/// FPSCR.DN: default NaN.
pub const DN: u32 = 1 << 25;
/// FPSCR.FZ: flush to zero.
const FZ: u32 = 1 << 24;
/// Bits of FPSCR that are zero in the default mode: no flush, round to nearest.
const NON_DEFAULT_MODE: u32 = FZ | 3 << 22;
/// Default NaN (A2.5.2). The one of x86 differs in its sign.
pub const DEFAULT_NAN: u32 = 0x7fc0_0000;
pub const SIGN: u32 = 0x8000_0000;

pub const fn is_nan(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

const fn is_signaling(bits: u32) -> bool {
    is_nan(bits) && bits & 0x0040_0000 == 0
}

/// Returns the result of an operation that gives NaN: FPProcessNaNs (A2.5.2).
///
/// That is the first signaling NaN among the operands, quieted, or else the first quiet NaN. An
/// invalid operation without a NaN operand gives the default NaN.
#[cold]
fn process_nans(operands: &[u32], fpscr: u32) -> u32 {
    let signaling = operands.iter().find(|bits| is_signaling(**bits));
    match signaling.or_else(|| operands.iter().find(|bits| is_nan(**bits))) {
        Some(bits) if fpscr & DN == 0 => bits | 0x0040_0000,
        _ => DEFAULT_NAN,
    }
}

/// Returns an operand as a float. FPSCR.FZ replaces subnormal operands with zero.
#[inline]
pub const fn operand(bits: u32, fpscr: u32) -> f32 {
    if fpscr & FZ != 0 && bits & 0x7f80_0000 == 0 {
        f32::from_bits(bits & SIGN)
    } else {
        f32::from_bits(bits)
    }
}

/// Returns the rounded sum and its error (Knuth's TwoSum).
///
/// The two results add up to exactly x + y.
fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let part = sum - x;
    (sum, (x - (sum - part)) + (y - part))
}

/// Changes a result that was rounded to nearest to the rounding mode of FPSCR.
///
/// `residual` has the sign of the exact result minus `nearest`.
fn round(nearest: f32, residual: f64, fpscr: u32) -> u32 {
    // Flush-to-zero applies to the exact result.
    let min_normal = f32::MIN_POSITIVE;
    let tiny = nearest.abs() < min_normal
        || nearest.abs() == min_normal && residual != 0.0 && (residual < 0.0) == (nearest > 0.0);
    if fpscr & FZ != 0 && tiny && (nearest != 0.0 || residual != 0.0) {
        return nearest.to_bits() & SIGN;
    }
    let result = match Rounding::from_fpscr(fpscr) {
        Rounding::Up if residual > 0.0 => nearest.next_up(),
        Rounding::Down if residual < 0.0 => nearest.next_down(),
        Rounding::Zero if residual < 0.0 && nearest > 0.0 => nearest.next_down(),
        Rounding::Zero if residual > 0.0 && nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    };
    result.to_bits()
}

/// Rounds a sum.
///
/// A sum of exactly zero is negative only with rounding toward minus infinity (FPAdd).
fn round_sum(nearest: f32, x: f64, y: f64, fpscr: u32) -> u32 {
    if !x.is_finite() || !y.is_finite() {
        return nearest.to_bits();
    }
    let (sum, error) = two_sum(x, y);
    if sum == 0.0 && error == 0.0 && x.is_sign_negative() != y.is_sign_negative() {
        return if Rounding::from_fpscr(fpscr) == Rounding::Down { SIGN } else { 0 };
    }
    let residual = sum - f64::from(nearest);
    round(nearest, if residual == 0.0 { error } else { residual }, fpscr)
}

/// Adds: FPAdd.
#[inline]
pub fn add(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let sum = a + b;
    if sum.is_nan() {
        return process_nans(&[x, y], fpscr);
    }
    if fpscr & NON_DEFAULT_MODE == 0 { sum.to_bits() } else { round_sum(sum, a.into(), b.into(), fpscr) }
}

/// Subtracts: FPSub.
///
/// Unlike FPAdd with a negated operand, it preserves the sign of a NaN.
#[inline]
pub fn sub(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let difference = a - b;
    if difference.is_nan() {
        return process_nans(&[x, y], fpscr);
    }
    if fpscr & NON_DEFAULT_MODE == 0 {
        difference.to_bits()
    } else {
        round_sum(difference, a.into(), (-b).into(), fpscr)
    }
}

/// Multiplies: FPMul.
#[inline]
pub fn mul(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let product = a * b;
    if product.is_nan() {
        return process_nans(&[x, y], fpscr);
    }
    if fpscr & NON_DEFAULT_MODE == 0 || a.is_infinite() || b.is_infinite() {
        return product.to_bits();
    }
    let exact = f64::from(a) * f64::from(b);
    round(product, exact - f64::from(product), fpscr)
}

/// Divides: FPDiv.
pub fn div(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let quotient = a / b;
    if quotient.is_nan() {
        return process_nans(&[x, y], fpscr);
    }
    if fpscr & NON_DEFAULT_MODE == 0 || a.is_infinite() || b.is_infinite() || b == 0.0 {
        return quotient.to_bits();
    }
    let remainder = f64::from(-quotient).mul_add(b.into(), a.into());
    round(quotient, if b < 0.0 { -remainder } else { remainder }, fpscr)
}

/// Returns the square root: FPSqrt.
pub fn sqrt(x: u32, fpscr: u32) -> u32 {
    let a = operand(x, fpscr);
    let root = a.sqrt();
    if root.is_nan() {
        return process_nans(&[x], fpscr);
    }
    if fpscr & NON_DEFAULT_MODE == 0 || a.is_infinite() {
        return root.to_bits();
    }
    round(root, f64::from(-root).mul_add(root.into(), a.into()), fpscr)
}

/// Returns `addend` + x y, rounded once: FPMulAdd.
pub fn mul_add(addend: u32, x: u32, y: u32, fpscr: u32) -> u32 {
    let (c, a, b) = (operand(addend, fpscr), operand(x, fpscr), operand(y, fpscr));
    let result = a.mul_add(b, c);
    if result.is_nan() {
        // Infinity times zero is invalid, even if the addend is a quiet NaN.
        let invalid = a.is_infinite() && b == 0.0 || a == 0.0 && b.is_infinite();
        if invalid && is_nan(addend) && !is_signaling(addend) {
            return DEFAULT_NAN;
        }
        return process_nans(&[addend, x, y], fpscr);
    }
    if fpscr & NON_DEFAULT_MODE == 0 || a.is_infinite() || b.is_infinite() {
        return result.to_bits();
    }
    round_sum(result, f64::from(a) * f64::from(b), c.into(), fpscr)
}

/// Converts an integer with the rounding mode of FPSCR: FixedToFP.
///
/// Every 32-bit integer is exact as `f64`.
pub fn from_f64(exact: f64, fpscr: u32) -> u32 {
    let nearest = exact as f32;
    if fpscr & NON_DEFAULT_MODE == 0 {
        nearest.to_bits()
    } else {
        round(nearest, exact - f64::from(nearest), fpscr)
    }
}

/// Rounds to an integral value with the rounding mode of FPSCR, for FPToFixed.
pub fn round_to_integral(value: f32, fpscr: u32) -> f32 {
    match Rounding::from_fpscr(fpscr) {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Up => value.ceil(),
        Rounding::Down => value.floor(),
        Rounding::Zero => value.trunc(),
    }
}

/// Converts to or from fixed point: VCVT (A7.7.229).
pub fn convert_fixed(bits: u32, to_fixed: bool, signed: bool, size: u8, fraction: u8, fpscr: u32) -> u32 {
    let scale = f64::from(fraction).exp2();
    if to_fixed {
        // Scaling is exact. Rust's conversion rounds toward zero, saturates and maps NaN to zero,
        // as on Arm.
        let scaled = f64::from(operand(bits, fpscr)) * scale;
        return match (signed, size) {
            (true, 16) => scaled as i16 as u32,
            (true, _) => (scaled as i32).cast_unsigned(),
            (false, 16) => u32::from(scaled as u16),
            (false, _) => scaled as u32,
        };
    }
    let value = match (signed, size) {
        (true, 16) => f64::from(bits as i16),
        (true, _) => f64::from(bits.cast_signed()),
        (false, 16) => f64::from(bits as u16),
        (false, _) => f64::from(bits),
    };
    ((value / scale) as f32).to_bits()
}
