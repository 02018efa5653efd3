//! Arithmetic in single precision, on bits as hardware has them (A2.5): NaNs, flushing and rounding are ARM's.

use super::half::Rounding;

/// FPSCR: alternative half precision, default NaN, flush to zero.
pub const AHP: u32 = 1 << 26;
pub const DN: u32 = 1 << 25;
const FZ: u32 = 1 << 24;
/// Flushing, or another rounding than to the nearest.
const UNUSUAL: u32 = FZ | 3 << 22;
/// ARM's default NaN (A2.5.2). x86 makes one with the sign set.
pub const DEFAULT_NAN: u32 = 0x7fc0_0000;
pub const SIGN: u32 = 0x8000_0000;

pub const fn is_nan(bits: u32) -> bool {
    bits & 0x7fff_ffff > 0x7f80_0000
}

const fn is_signalling(bits: u32) -> bool {
    is_nan(bits) && bits & 0x0040_0000 == 0
}

/// FPProcessNaNs (A2.5.2): the first signalling one, made quiet, else the first one; the default NaN where no operand
/// is one: the operation was invalid.
#[cold]
fn nan(operands: &[u32], fpscr: u32) -> u32 {
    let signalling = operands.iter().find(|bits| is_signalling(**bits));
    match signalling.or_else(|| operands.iter().find(|bits| is_nan(**bits))) {
        Some(bits) if fpscr & DN == 0 => bits | 0x0040_0000,
        _ => DEFAULT_NAN,
    }
}

/// With FZ, a subnormal operand is a zero.
#[inline]
pub const fn operand(bits: u32, fpscr: u32) -> f32 {
    if fpscr & FZ != 0 && bits & 0x7f80_0000 == 0 {
        f32::from_bits(bits & SIGN)
    } else {
        f32::from_bits(bits)
    }
}

/// What is left of a sum in double precision, and the sum: exactly x + y (Knuth's TwoSum).
fn two_sum(x: f64, y: f64) -> (f64, f64) {
    let sum = x + y;
    let part = sum - x;
    (sum, (x - (sum - part)) + (y - part))
}

/// Rounds as FPSCR wants what was rounded to the nearest: `residual` has the sign of what that took away.
fn round(nearest: f32, residual: f64, fpscr: u32) -> u32 {
    // FZ looks before rounding.
    let least = f32::MIN_POSITIVE;
    let tiny = nearest.abs() < least
        || nearest.abs() == least && residual != 0.0 && (residual < 0.0) == (nearest > 0.0);
    if fpscr & FZ != 0 && tiny && (nearest != 0.0 || residual != 0.0) {
        return nearest.to_bits() & SIGN;
    }
    let result = match Rounding::of(fpscr) {
        Rounding::Up if residual > 0.0 => nearest.next_up(),
        Rounding::Down if residual < 0.0 => nearest.next_down(),
        Rounding::Zero if residual < 0.0 && nearest > 0.0 => nearest.next_down(),
        Rounding::Zero if residual > 0.0 && nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    };
    result.to_bits()
}

/// The sign of an exact sum that is zero is negative only when rounding down (FPAdd).
fn round_sum(nearest: f32, x: f64, y: f64, fpscr: u32) -> u32 {
    if !x.is_finite() || !y.is_finite() {
        return nearest.to_bits();
    }
    let (sum, rest) = two_sum(x, y);
    if sum == 0.0 && rest == 0.0 && x.is_sign_negative() != y.is_sign_negative() {
        return if Rounding::of(fpscr) == Rounding::Down { SIGN } else { 0 };
    }
    let taken = sum - f64::from(nearest);
    round(nearest, if taken == 0.0 { rest } else { taken }, fpscr)
}

/// FPAdd
#[inline]
pub fn add(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let sum = a + b;
    if sum.is_nan() {
        return nan(&[x, y], fpscr);
    }
    if fpscr & UNUSUAL == 0 { sum.to_bits() } else { round_sum(sum, a.into(), b.into(), fpscr) }
}

/// FPSub: unlike FPAdd of the negated operand, it keeps the sign of a NaN.
#[inline]
pub fn sub(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let difference = a - b;
    if difference.is_nan() {
        return nan(&[x, y], fpscr);
    }
    if fpscr & UNUSUAL == 0 {
        difference.to_bits()
    } else {
        round_sum(difference, a.into(), (-b).into(), fpscr)
    }
}

/// FPMul
#[inline]
pub fn mul(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let product = a * b;
    if product.is_nan() {
        return nan(&[x, y], fpscr);
    }
    if fpscr & UNUSUAL == 0 || a.is_infinite() || b.is_infinite() {
        return product.to_bits();
    }
    let exact = f64::from(a) * f64::from(b);
    round(product, exact - f64::from(product), fpscr)
}

/// FPDiv
pub fn div(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let quotient = a / b;
    if quotient.is_nan() {
        return nan(&[x, y], fpscr);
    }
    if fpscr & UNUSUAL == 0 || a.is_infinite() || b.is_infinite() || b == 0.0 {
        return quotient.to_bits();
    }
    let taken = f64::from(-quotient).mul_add(b.into(), a.into());
    round(quotient, if b < 0.0 { -taken } else { taken }, fpscr)
}

/// FPSqrt
pub fn sqrt(x: u32, fpscr: u32) -> u32 {
    let a = operand(x, fpscr);
    let root = a.sqrt();
    if root.is_nan() {
        return nan(&[x], fpscr);
    }
    if fpscr & UNUSUAL == 0 || a.is_infinite() {
        return root.to_bits();
    }
    round(root, f64::from(-root).mul_add(root.into(), a.into()), fpscr)
}

/// FPMulAdd: rounded once.
pub fn mul_add(addend: u32, x: u32, y: u32, fpscr: u32) -> u32 {
    let (c, a, b) = (operand(addend, fpscr), operand(x, fpscr), operand(y, fpscr));
    let result = a.mul_add(b, c);
    if result.is_nan() {
        // Infinity times zero is invalid even where a quiet NaN is added.
        let invalid = a.is_infinite() && b == 0.0 || a == 0.0 && b.is_infinite();
        if invalid && is_nan(addend) && !is_signalling(addend) {
            return DEFAULT_NAN;
        }
        return nan(&[addend, x, y], fpscr);
    }
    if fpscr & UNUSUAL == 0 || a.is_infinite() || b.is_infinite() {
        return result.to_bits();
    }
    round_sum(result, f64::from(a) * f64::from(b), c.into(), fpscr)
}

/// FixedToFP, as exact as a double; fixed-point numbers go to the nearest, integers as FPSCR says.
pub fn from_exact(exact: f64, fpscr: u32) -> u32 {
    let nearest = exact as f32;
    if fpscr & UNUSUAL == 0 { nearest.to_bits() } else { round(nearest, exact - f64::from(nearest), fpscr) }
}

/// FPToFixed with the rounding that FPSCR has.
pub fn integral(value: f32, fpscr: u32) -> f32 {
    match Rounding::of(fpscr) {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Up => value.ceil(),
        Rounding::Down => value.floor(),
        Rounding::Zero => value.trunc(),
    }
}

/// VCVT to and from fixed point (A7.7.229): in place.
pub fn convert_fixed(bits: u32, to_fixed: bool, signed: bool, size: u8, fraction: u8, fpscr: u32) -> u32 {
    let scale = f64::from(fraction).exp2();
    if to_fixed {
        // Scaled exactly, then toward zero, and saturating; NaN is zero.
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
