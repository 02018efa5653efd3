//! Execution of FP instructions (A7.7.220 ff.).
//!
//! Operations do not update the cumulative exception flags of FPSCR.

use super::{
    Bus, Cpu, Trap, cycles,
    float::{
        AHP, DEFAULT_NAN, DN, SIGN, add, convert_fixed, div, from_f64, is_nan, mul, mul_add, operand,
        round_to_integral, sqrt, sub,
    },
    half::{self, Rounding},
    op::{Fp, Op},
    scs,
};

/// Writable bits of FPSCR.
const FPSCR_MASK: u32 = 0xf7c0_009f;

impl Cpu {
    #[inline]
    fn float(&self, n: u8) -> u32 {
        self.s[usize::from(n & 31)]
    }

    #[inline]
    fn set_float(&mut self, n: u8, bits: u32) {
        self.s[usize::from(n & 31)] = bits;
    }

    /// Checks access to the FPU and sets CONTROL.FPCA.
    ///
    /// CheckVFPEnabled and ExecuteFPCheck (B1.5.7).
    #[cold]
    pub(super) fn prepare_fp(&mut self) -> Result<(), Trap> {
        if !self.scs.allows_fp(self.is_privileged()) {
            return Err(Trap::NoCoprocessor);
        }
        if self.scs.fpccr & scs::ASPEN != 0 && !self.fpca {
            self.fpca = true;
            self.fpscr = self.fpscr & !0x07c0_0000 | self.scs.fpdscr;
        }
        self.update_fp_ready();
        Ok(())
    }

    /// Sets N, Z, C and V of FPSCR: VCMP (A7.7.227).
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
                let rounding = Rounding::from_fpscr(fpscr);
                let input = operand(y, fpscr).to_bits();
                let half = half::from_single(input, fpscr & AHP != 0, rounding, fpscr & DN != 0);
                let shift = 16 * u32::from(n);
                old & !(0xffff << shift) | u32::from(half) << shift
            }
            Fp::FromSigned => from_f64(y.cast_signed().into(), fpscr),
            Fp::FromUnsigned => from_f64(y.into(), fpscr),
            // Rust's conversions saturate and map NaN to zero, as on Arm.
            Fp::ToSigned => (operand(y, fpscr) as i32).cast_unsigned(),
            Fp::ToUnsigned => operand(y, fpscr) as u32,
            Fp::ToSignedRounding => (round_to_integral(operand(y, fpscr), fpscr) as i32).cast_unsigned(),
            Fp::ToUnsignedRounding => round_to_integral(operand(y, fpscr), fpscr) as u32,
        };
        self.set_float(d, result);
    }

    fn widen_half(&self, bits: u32, top: u8) -> u32 {
        let single = half::to_single((bits >> (16 * u32::from(top))) as u16, self.fpscr & AHP != 0);
        if is_nan(single) && self.fpscr & DN != 0 { DEFAULT_NAN } else { single }
    }

    #[inline]
    pub(super) fn execute_fp(&mut self, bus: &mut impl Bus, op: &Op) -> Result<(), Trap> {
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
            Op::Vmsr { rt } => self.fpscr = self.get(rt) & FPSCR_MASK,
            Op::Vldr { d, words, rn, imm } => {
                self.charge_access();
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
                self.charge_access();
                let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
                let address = base.wrapping_add_signed(i32::from(imm));
                self.write_word(bus, address, self.float(d))?;
                if words == 2 {
                    self.cycles += cycles::LIST_REGISTER;
                    self.write_word(bus, address.wrapping_add(4), self.float(d + 1))?;
                }
            }
            Op::Vldm { d, words, rn, write_back, decrement_before } => {
                let (mut address, end) = self.float_list(rn, words, decrement_before);
                for n in d..d + words {
                    let value = self.read_word(bus, address)?;
                    self.set_float(n, value);
                    address = address.wrapping_add(4);
                }
                if write_back {
                    self.put(rn, end);
                }
            }
            Op::Vstm { d, words, rn, write_back, decrement_before } => {
                let (mut address, end) = self.float_list(rn, words, decrement_before);
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

    /// Returns the first address of VLDM or VSTM and the new base.
    fn float_list(&mut self, rn: u8, words: u8, decrement_before: bool) -> (u32, u32) {
        self.cycles += u64::from(words) * cycles::LIST_REGISTER;
        let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
        let bytes = 4 * u32::from(words);
        if decrement_before {
            (base.wrapping_sub(bytes), base.wrapping_sub(bytes))
        } else {
            (base, base.wrapping_add(bytes))
        }
    }
}
