//! Long multiplications and DSP instructions (A4.4.3, A4.4.4).

use super::{
    Cpu,
    execute::shift_c,
    op::{Dsp, Lanes, Long, Op, Parallel, Saturating, Shift},
};

/// Returns a signed halfword of a word.
fn half(word: u32, top: bool) -> i64 {
    i64::from((if top { word >> 16 } else { word }) as i16)
}

/// Returns the signed products of the low and of the high halfwords.
///
/// `cross` exchanges the halfwords of `y`.
fn products(x: u32, y: u32, cross: bool) -> (i64, i64) {
    (half(x, false) * half(y, cross), half(x, true) * half(y, !cross))
}

/// Performs SXTAB16 or UXTAB16.
///
/// Extends the low byte of each halfword of `y` and adds it to the halfword of `x`.
pub fn extend_pair(x: u32, y: u32, extend: impl Fn(u32) -> u32) -> u32 {
    let low = x.wrapping_add(extend(y)) & 0xffff;
    let high = (x >> 16).wrapping_add(extend(y >> 16)) & 0xffff;
    high << 16 | low
}

/// Multiplies with a 64-bit result. `old` is the previous value of the destination.
#[inline]
pub fn long(kind: Long, old: u64, x: u32, y: u32) -> u64 {
    let signed = || (i64::from(x.cast_signed()) * i64::from(y.cast_signed())).cast_unsigned();
    let unsigned = || u64::from(x) * u64::from(y);
    match kind {
        Long::Smull => signed(),
        Long::Umull => unsigned(),
        Long::Smlal => old.wrapping_add(signed()),
        Long::Umlal => old.wrapping_add(unsigned()),
        // Cannot overflow (A7.7.195).
        Long::Umaal => unsigned() + (old & 0xffff_ffff) + (old >> 32),
        Long::SmlalHalf { top_n, top_m } => old.wrapping_add_signed(half(x, top_n) * half(y, top_m)),
        Long::Smlald { cross } => {
            let (low, high) = products(x, y, cross);
            old.wrapping_add_signed(low + high)
        }
        Long::Smlsld { cross } => {
            let (low, high) = products(x, y, cross);
            old.wrapping_add_signed(low - high)
        }
    }
}

/// Returns the saturated value and whether it differs: SignedSatQ (A2.2.1).
fn signed_saturate(value: i64, bits: u8) -> (u32, bool) {
    let max = (1i64 << (bits - 1)) - 1;
    let saturated = value.clamp(-max - 1, max);
    (saturated as u32, saturated != value)
}

/// Returns the saturated value and whether it differs: UnsignedSatQ (A2.2.1).
fn unsigned_saturate(value: i64, bits: u8) -> (u32, bool) {
    let saturated = value.clamp(0, (1i64 << bits) - 1);
    (saturated as u32, saturated != value)
}

/// Returns result and GE flag of one lane of a parallel operation.
fn lane(kind: Parallel, bits: u8, x: u32, y: u32, subtract: bool) -> (u32, bool) {
    let mask = (1u32 << bits) - 1;
    let widen = |word: u32| -> i64 {
        match kind {
            Parallel::Signed | Parallel::SignedSaturating | Parallel::SignedHalving => {
                i64::from((word << (32 - bits)).cast_signed() >> (32 - bits))
            }
            _ => i64::from(word & mask),
        }
    };
    let value = if subtract { widen(x) - widen(y) } else { widen(x) + widen(y) };
    match kind {
        Parallel::Signed => (value as u32 & mask, value >= 0),
        // GE is the carry of an addition and the inverted borrow of a subtraction (A7.7.191).
        Parallel::Unsigned => {
            (value as u32 & mask, if subtract { value >= 0 } else { value > i64::from(mask) })
        }
        Parallel::SignedSaturating => (signed_saturate(value, bits).0 & mask, false),
        Parallel::UnsignedSaturating => (unsigned_saturate(value, bits).0, false),
        Parallel::SignedHalving | Parallel::UnsignedHalving => ((value >> 1) as u32 & mask, false),
    }
}

impl Cpu {
    /// Sets a register to a saturated value, and Q if the value was changed.
    fn put_saturated(&mut self, rd: u8, (value, saturated): (u32, bool)) {
        self.flags.q |= saturated;
        self.put(rd, value);
    }

    fn shift_operand(&self, rn: u8, shift: Shift, amount: u8) -> i64 {
        i64::from(shift_c(self.get(rn), shift, u32::from(amount), false).0.cast_signed())
    }

    #[inline(never)]
    pub(super) fn execute_dsp(&mut self, op: Op) {
        match op {
            Op::Dsp { kind, rd, rn, rm, ra } => self.multiply(kind, rd, rn, rm, ra),
            Op::Ssat { rd, rn, bits, shift, amount } => {
                self.put_saturated(rd, signed_saturate(self.shift_operand(rn, shift, amount), bits));
            }
            Op::Usat { rd, rn, bits, shift, amount } => {
                self.put_saturated(rd, unsigned_saturate(self.shift_operand(rn, shift, amount), bits));
            }
            Op::Ssat16 { rd, rn, bits } => {
                let (low, first) = signed_saturate(half(self.get(rn), false), bits);
                let (high, second) = signed_saturate(half(self.get(rn), true), bits);
                self.put_saturated(rd, (high << 16 | low & 0xffff, first | second));
            }
            Op::Usat16 { rd, rn, bits } => {
                let (low, first) = unsigned_saturate(half(self.get(rn), false), bits);
                let (high, second) = unsigned_saturate(half(self.get(rn), true), bits);
                self.put_saturated(rd, (high << 16 | low, first | second));
            }
            Op::Saturating { kind, rd, rn, rm } => {
                let wide = |reg| i64::from(self.get(reg).cast_signed());
                let (doubled, overflowed) = signed_saturate(2 * wide(rn), 32);
                let doubled = i64::from(doubled.cast_signed());
                let (sum, doubling) = match kind {
                    Saturating::Add => (wide(rm) + wide(rn), false),
                    Saturating::Sub => (wide(rm) - wide(rn), false),
                    Saturating::DoubleAdd => (wide(rm) + doubled, overflowed),
                    Saturating::DoubleSub => (wide(rm) - doubled, overflowed),
                };
                self.flags.q |= doubling;
                self.put_saturated(rd, signed_saturate(sum, 32));
            }
            Op::Parallel { lanes, kind, rd, rn, rm } => self.parallel(lanes, kind, rd, rn, rm),
            Op::Sel { rd, rn, rm } => {
                let mask = (0..4).filter(|lane| self.flags.ge >> lane & 1 != 0);
                let mask = mask.fold(0, |mask, lane| mask | 0xff << (8 * lane));
                self.put(rd, self.get(rn) & mask | self.get(rm) & !mask);
            }
            Op::Pack { rd, rn, rm, shift, amount } => {
                let (x, y) = (self.get(rn), self.shift_operand(rm, shift, amount) as u32);
                let (low, high) = if shift == Shift::Lsl { (x, y) } else { (y, x) };
                self.put(rd, high & 0xffff_0000 | low & 0xffff);
            }
            _ => {}
        }
    }

    fn multiply(&mut self, kind: Dsp, rd: u8, rn: u8, rm: u8, ra: u8) {
        let (x, y, accumulator) = (self.get(rn), self.get(rm), self.get(ra));
        let addend = i64::from(accumulator.cast_signed());
        let (sx, sy) = (i64::from(x.cast_signed()), i64::from(y.cast_signed()));
        // Overflow wraps and sets Q.
        let sum = match kind {
            Dsp::Half { top_n, top_m } => addend + half(x, top_n) * half(y, top_m),
            Dsp::Wide { top_m } => addend + ((sx * half(y, top_m)) >> 16),
            Dsp::DualAdd { cross } => {
                let (low, high) = products(x, y, cross);
                addend + low + high
            }
            Dsp::DualSub { cross } => {
                let (low, high) = products(x, y, cross);
                addend + low - high
            }
            Dsp::MostSignificantAdd { round } | Dsp::MostSignificantSub { round } => {
                let product =
                    if matches!(kind, Dsp::MostSignificantAdd { .. }) { sx * sy } else { -(sx * sy) };
                let wide = (addend << 32).wrapping_add(product);
                let rounded = wide.wrapping_add(if round { 0x8000_0000 } else { 0 });
                self.put(rd, (rounded >> 32) as u32);
                return;
            }
            Dsp::AbsoluteDifferences => {
                let bytes = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
                let sum = bytes.map(|(x, y)| u32::from(x.abs_diff(y))).sum::<u32>();
                self.put(rd, accumulator.wrapping_add(sum));
                return;
            }
        };
        self.flags.q |= i64::from(sum as i32) != sum;
        self.put(rd, sum as u32);
    }

    fn parallel(&mut self, lanes: Lanes, kind: Parallel, rd: u8, rn: u8, rm: u8) {
        let (x, y) = (self.get(rn), self.get(rm));
        let (mut value, mut ge) = (0, 0);
        if matches!(lanes, Lanes::Add8 | Lanes::Sub8) {
            for at in 0..4 {
                let (byte, flag) = lane(kind, 8, x >> (8 * at), y >> (8 * at), lanes == Lanes::Sub8);
                value |= byte << (8 * at);
                ge |= u8::from(flag) << at;
            }
        } else {
            let exchange = matches!(lanes, Lanes::AddSubExchange | Lanes::SubAddExchange);
            let y = if exchange { y.rotate_right(16) } else { y };
            let subtract = [
                matches!(lanes, Lanes::Sub16 | Lanes::AddSubExchange),
                matches!(lanes, Lanes::Sub16 | Lanes::SubAddExchange),
            ];
            for (at, subtract) in subtract.into_iter().enumerate() {
                let (half, flag) = lane(kind, 16, x >> (16 * at), y >> (16 * at), subtract);
                value |= half << (16 * at);
                ge |= (u8::from(flag) * 3) << (2 * at);
            }
        }
        if matches!(kind, Parallel::Signed | Parallel::Unsigned) {
            self.flags.ge = ge;
        }
        self.put(rd, value);
    }
}
