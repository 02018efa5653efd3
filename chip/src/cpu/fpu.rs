//! Floating point, single precision (A2.5, A7.7.220 ff.): bits as hardware has them. The cumulative exception flags stay
//! as they are written.

use super::{
    Bus, Cpu, Trap, cycles,
    half::{self, Rounding},
    op::{Fp, Op},
};

/// FPSCR: alternative half precision, default NaN, flush to zero.
const AHP: u32 = 1 << 26;
const DN: u32 = 1 << 25;
const FZ: u32 = 1 << 24;
/// Flushing, or another rounding than to the nearest.
const UNUSUAL: u32 = FZ | 3 << 22;
/// What of FPSCR can be written.
const FPSCR: u32 = 0xf7c0_009f;
/// ARM's default NaN (A2.5.2). x86 makes one with the sign set.
const DEFAULT_NAN: u32 = 0x7fc0_0000;
const SIGN: u32 = 0x8000_0000;

const fn is_nan(bits: u32) -> bool {
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
const fn operand(bits: u32, fpscr: u32) -> f32 {
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
fn add(x: u32, y: u32, fpscr: u32) -> u32 {
    let (a, b) = (operand(x, fpscr), operand(y, fpscr));
    let sum = a + b;
    if sum.is_nan() {
        return nan(&[x, y], fpscr);
    }
    if fpscr & UNUSUAL == 0 { sum.to_bits() } else { round_sum(sum, a.into(), b.into(), fpscr) }
}

/// FPSub: unlike FPAdd of the negated operand, it keeps the sign of a NaN.
#[inline]
fn sub(x: u32, y: u32, fpscr: u32) -> u32 {
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
fn mul(x: u32, y: u32, fpscr: u32) -> u32 {
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
fn div(x: u32, y: u32, fpscr: u32) -> u32 {
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
fn sqrt(x: u32, fpscr: u32) -> u32 {
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
fn mul_add(addend: u32, x: u32, y: u32, fpscr: u32) -> u32 {
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
fn from_exact(exact: f64, fpscr: u32) -> u32 {
    let nearest = exact as f32;
    if fpscr & UNUSUAL == 0 { nearest.to_bits() } else { round(nearest, exact - f64::from(nearest), fpscr) }
}

/// FPToFixed with the rounding that FPSCR has.
fn integral(value: f32, fpscr: u32) -> f32 {
    match Rounding::of(fpscr) {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Up => value.ceil(),
        Rounding::Down => value.floor(),
        Rounding::Zero => value.trunc(),
    }
}

/// VCVT to and from fixed point (A7.7.229): in place.
fn convert_fixed(bits: u32, to_fixed: bool, signed: bool, size: u8, fraction: u8, fpscr: u32) -> u32 {
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

impl Cpu {
    #[inline]
    fn float(&self, n: u8) -> u32 {
        self.s[usize::from(n & 31)]
    }

    #[inline]
    fn set_float(&mut self, n: u8, bits: u32) {
        self.s[usize::from(n & 31)] = bits;
    }

    /// CheckVFPEnabled and ExecuteFPCheck (B1.5.7): the first use marks the context as one with floats.
    #[cold]
    pub(super) fn prepare_float(&mut self) -> Result<(), Trap> {
        if !self.scs.allows_float(self.privileged()) {
            return Err(Trap::NoCoprocessor);
        }
        if self.scs.marks_float() && !self.fpca {
            self.fpca = true;
            self.fpscr = self.fpscr & !0x07c0_0000 | self.scs.fpdscr;
        }
        self.reconsider_float();
        Ok(())
    }

    /// VCMP: N, Z, C, V of FPSCR (A7.7.227).
    fn compare(&mut self, x: u32, y: u32) {
        let (x, y) = (operand(x, self.fpscr), operand(y, self.fpscr));
        let flags = match x.partial_cmp(&y) {
            Some(std::cmp::Ordering::Less) => 0b1000,
            Some(std::cmp::Ordering::Equal) => 0b0110,
            Some(std::cmp::Ordering::Greater) => 0b0010,
            None => 0b0011,
        };
        self.fpscr = self.fpscr & 0x0fff_ffff | flags << 28;
    }

    #[inline]
    fn arithmetic(&mut self, kind: Fp, d: u8, n: u8, m: u8) {
        let fpscr = self.fpscr;
        let (old, x, y) = (self.float(d), self.float(n), self.float(m));
        if matches!(
            kind,
            Fp::Mla
                | Fp::Mls
                | Fp::Nmla
                | Fp::Nmls
                | Fp::FusedMla
                | Fp::FusedMls
                | Fp::FusedNmla
                | Fp::FusedNmls
        ) {
            self.cycles += cycles::FLOAT_MULTIPLY_ACCUMULATE;
        }
        let result = match kind {
            Fp::Add => add(x, y, fpscr),
            Fp::Sub => sub(x, y, fpscr),
            Fp::Mul => mul(x, y, fpscr),
            Fp::Nmul => mul(x, y, fpscr) ^ SIGN,
            Fp::Mla => add(old, mul(x, y, fpscr), fpscr),
            Fp::Mls => add(old, mul(x, y, fpscr) ^ SIGN, fpscr),
            Fp::Nmla => add(old ^ SIGN, mul(x, y, fpscr) ^ SIGN, fpscr),
            Fp::Nmls => add(old ^ SIGN, mul(x, y, fpscr), fpscr),
            Fp::FusedMla => mul_add(old, x, y, fpscr),
            Fp::FusedMls => mul_add(old, x ^ SIGN, y, fpscr),
            Fp::FusedNmla => mul_add(old ^ SIGN, x ^ SIGN, y, fpscr),
            Fp::FusedNmls => mul_add(old ^ SIGN, x, y, fpscr),
            Fp::Div => {
                self.cycles += cycles::FLOAT_DIVIDE;
                div(x, y, fpscr)
            }
            Fp::Sqrt => {
                self.cycles += cycles::FLOAT_DIVIDE;
                sqrt(y, fpscr)
            }
            Fp::Mov => y,
            Fp::Abs => y & !SIGN,
            Fp::Neg => y ^ SIGN,
            Fp::Cmp => return self.compare(old, y),
            Fp::CmpZero => return self.compare(old, 0),
            Fp::FromHalf => self.widen_half(y, n),
            Fp::ToHalf => {
                let rounding = Rounding::of(fpscr);
                let input = operand(y, fpscr).to_bits();
                let half = half::from_single(input, fpscr & AHP != 0, rounding, fpscr & DN != 0);
                let shift = 16 * u32::from(n);
                old & !(0xffff << shift) | u32::from(half) << shift
            }
            Fp::FromSigned => from_exact(y.cast_signed().into(), fpscr),
            Fp::FromUnsigned => from_exact(y.into(), fpscr),
            // Rust's conversions saturate and take NaN for zero, as ARM's do.
            Fp::ToSigned => (operand(y, fpscr) as i32).cast_unsigned(),
            Fp::ToUnsigned => operand(y, fpscr) as u32,
            Fp::ToSignedRounding => (integral(operand(y, fpscr), fpscr) as i32).cast_unsigned(),
            Fp::ToUnsignedRounding => integral(operand(y, fpscr), fpscr) as u32,
        };
        self.set_float(d, result);
    }

    fn widen_half(&self, bits: u32, top: u8) -> u32 {
        let single = half::to_single((bits >> (16 * u32::from(top))) as u16, self.fpscr & AHP != 0);
        if is_nan(single) && self.fpscr & DN != 0 { DEFAULT_NAN } else { single }
    }

    #[inline]
    pub(super) fn execute_float(&mut self, bus: &mut impl Bus, op: &Op) -> Result<(), Trap> {
        match *op {
            Op::Fp { kind, d, n, m } => self.arithmetic(kind, d, n, m),
            Op::VmovImm { d, bits } => self.set_float(d, bits),
            Op::VcvtFixed { d, to_fixed, signed, bits, fraction } => {
                let value = self.float(d);
                self.set_float(d, convert_fixed(value, to_fixed, signed, bits, fraction, self.fpscr));
            }
            Op::VmovToCore { rt, n } => self.put(rt, self.float(n)),
            Op::VmovToFloat { rt, n } => self.set_float(n, self.get(rt)),
            Op::VmovPairToCore { rt, rt2, m } => {
                self.cycles += cycles::FLOAT_PAIR;
                self.put(rt, self.float(m));
                self.put(rt2, self.float(m + 1));
            }
            Op::VmovPairToFloat { rt, rt2, m } => {
                self.cycles += cycles::FLOAT_PAIR;
                self.set_float(m, self.get(rt));
                self.set_float(m + 1, self.get(rt2));
            }
            Op::Vmrs { rt: 15 } => {
                let (q, fpscr) = (self.flags.q, self.fpscr);
                self.set_flags(fpscr);
                self.flags.q = q;
            }
            Op::Vmrs { rt } => self.put(rt, self.fpscr),
            Op::Vmsr { rt } => self.fpscr = self.get(rt) & FPSCR,
            Op::Vldr { d, words, rn, imm } => {
                self.access_cost();
                let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
                let address = base.wrapping_add_signed(i32::from(imm));
                let first = self.read_word(bus, address)?;
                if words == 2 {
                    self.cycles += cycles::LIST_REGISTER;
                    let second = self.read_word(bus, address.wrapping_add(4))?;
                    self.set_float(d + 1, second);
                }
                self.set_float(d, first);
            }
            Op::Vstr { d, words, rn, imm } => {
                self.access_cost();
                let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
                let address = base.wrapping_add_signed(i32::from(imm));
                self.write_word(bus, address, self.float(d))?;
                if words == 2 {
                    self.cycles += cycles::LIST_REGISTER;
                    self.write_word(bus, address.wrapping_add(4), self.float(d + 1))?;
                }
            }
            Op::Vldm { d, words, rn, write_back, down } => {
                let (mut address, end) = self.float_list(rn, words, down);
                for n in d..d + words {
                    let value = self.read_word(bus, address)?;
                    self.set_float(n, value);
                    address = address.wrapping_add(4);
                }
                if write_back {
                    self.put(rn, end);
                }
            }
            Op::Vstm { d, words, rn, write_back, down } => {
                let (mut address, end) = self.float_list(rn, words, down);
                for n in d..d + words {
                    self.write_word(bus, address, self.float(n))?;
                    address = address.wrapping_add(4);
                }
                if write_back {
                    self.put(rn, end);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Where a list of floats begins, and what its base becomes.
    fn float_list(&mut self, rn: u8, words: u8, down: bool) -> (u32, u32) {
        self.cycles += u64::from(words) * cycles::LIST_REGISTER;
        let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
        let bytes = 4 * u32::from(words);
        if down {
            (base.wrapping_sub(bytes), base.wrapping_sub(bytes))
        } else {
            (base, base.wrapping_add(bytes))
        }
    }
}
