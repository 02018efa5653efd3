//! Execution of integer instructions (A7.7).

use super::{
    Bus, Cpu, StopReason, Trap, cycles, multiply,
    op::{Alu, Extend, Op, Reg, Reverse, Shift},
    scs,
};

/// Returns sum, carry and overflow: AddWithCarry (A2.2.1).
#[inline]
pub fn add_with_carry(x: u32, y: u32, carry: bool) -> (u32, bool, bool) {
    let (sum, first) = x.overflowing_add(y);
    let (sum, second) = sum.overflowing_add(u32::from(carry));
    (sum, first | second, (x ^ sum) & (y ^ sum) & 0x8000_0000 != 0)
}

/// Returns the shifted value and the carry: Shift_C (A7.4.2).
///
/// A shift by zero changes neither the value nor the carry.
#[inline]
pub fn shift_c(value: u32, shift: Shift, amount: u32, carry: bool) -> (u32, bool) {
    match (shift, amount) {
        (Shift::Rrx, _) => (value >> 1 | u32::from(carry) << 31, value & 1 != 0),
        (_, 0) => (value, carry),
        (Shift::Lsl, 1..32) => (value << amount, value >> (32 - amount) & 1 != 0),
        (Shift::Lsl, _) => (0, amount == 32 && value & 1 != 0),
        (Shift::Lsr, 1..32) => (value >> amount, value >> (amount - 1) & 1 != 0),
        (Shift::Lsr, _) => (0, amount == 32 && value >> 31 != 0),
        (Shift::Asr, 1..32) => {
            ((value.cast_signed() >> amount).cast_unsigned(), value >> (amount - 1) & 1 != 0)
        }
        (Shift::Asr, _) => ((value.cast_signed() >> 31).cast_unsigned(), value >> 31 != 0),
        (Shift::Ror, _) => {
            let value = value.rotate_right(amount & 31);
            (value, value >> 31 != 0)
        }
    }
}

/// Returns a mask of the lowest `width` bits, 1 to 32.
const fn ones(width: u8) -> u32 {
    u32::MAX >> (32 - width)
}

impl Cpu {
    #[inline]
    pub(super) fn get(&self, reg: Reg) -> u32 {
        self.r[usize::from(reg & 31)]
    }

    /// Sets a register. The two lowest bits of SP are always zero (B1.4.7).
    #[inline]
    pub(super) fn put(&mut self, reg: Reg, value: u32) {
        self.r[usize::from(reg & 31)] = if reg == 13 { value & !3 } else { value };
    }

    #[inline]
    fn set_nz(&mut self, value: u32) {
        self.flags.n = value >> 31 != 0;
        self.flags.z = value == 0;
    }

    /// Adds and, with `s`, sets the condition flags.
    #[inline]
    fn sum(&mut self, rd: Reg, x: u32, y: u32, carry: bool, s: bool) {
        let (value, c, v) = add_with_carry(x, y, carry);
        if s {
            self.set_nz(value);
            self.flags.c = c;
            self.flags.v = v;
        }
        self.put(rd, value);
    }

    /// Performs a data-processing operation. `carry` is the carry-out of the shifter.
    #[inline]
    fn alu(&mut self, alu: Alu, rd: Reg, x: u32, y: u32, carry: bool, s: bool) {
        let value = match alu {
            Alu::And => x & y,
            Alu::Bic => x & !y,
            Alu::Orr => x | y,
            Alu::Orn => x | !y,
            Alu::Eor => x ^ y,
            Alu::Add => return self.sum(rd, x, y, false, s),
            Alu::Adc => return self.sum(rd, x, y, self.flags.c, s),
            Alu::Sbc => return self.sum(rd, x, !y, self.flags.c, s),
            Alu::Sub => return self.sum(rd, x, !y, true, s),
            Alu::Rsb => return self.sum(rd, y, !x, true, s),
        };
        if s {
            self.set_nz(value);
            self.flags.c = carry;
        }
        self.put(rd, value);
    }

    /// Branches: BranchTo.
    #[inline]
    pub(super) fn branch(&mut self, target: u32) {
        self.pc = target & !1;
        self.cycles += cycles::REFILL;
    }

    /// Performs BXWritePC and LoadWritePC (A2.3.1).
    ///
    /// Returns from an exception if the target is an EXC_RETURN value, and branches otherwise.
    #[inline]
    pub(super) fn branch_exchange(&mut self, bus: &mut impl Bus, target: u32) -> Result<(), Trap> {
        if target >> 28 == 15 && self.exception != 0 {
            return self.exception_return(bus, target);
        }
        self.interwork(target);
        Ok(())
    }

    /// Branches with interworking: bit 0 of the target becomes EPSR.T.
    #[inline]
    fn interwork(&mut self, target: u32) {
        if target & 1 == 0 {
            self.thumb = false;
            self.slow_path = true;
        }
        self.branch(target);
    }

    fn divide(&mut self, rd: Reg, x: u32, y: u32, quotient: impl Fn(u32, u32) -> u32) -> Result<(), Trap> {
        if y == 0 && self.scs.ccr & scs::DIV_0_TRP != 0 {
            return Err(Trap::DivideByZero);
        }
        // Without CCR.DIV_0_TRP, a division by zero returns zero (A7.7.125).
        let value = if y == 0 { 0 } else { quotient(x, y) };
        self.put(rd, value);
        Ok(())
    }

    /// Executes one instruction. `self.pc` is already the address of the next one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called once, in the main loop")]
    pub(super) fn execute(&mut self, bus: &mut impl Bus, op: &Op) -> Result<(), Trap> {
        match *op {
            Op::Nop => {}
            Op::MovImm { rd, s, imm } => {
                if s {
                    self.set_nz(imm);
                }
                self.put(rd, imm);
            }
            Op::MovReg { rd, rm } => self.put(rd, self.get(rm)),
            Op::MovPc { rm } => self.branch(self.get(rm)),
            Op::MovTop { rd, imm } => self.put(rd, self.get(rd) & 0xffff | u32::from(imm) << 16),
            Op::AddImm { rd, rn, s, imm } => self.sum(rd, self.get(rn), imm, false, s),
            Op::SubImm { rd, rn, s, imm } => self.sum(rd, self.get(rn), !imm, true, s),
            Op::CmpImm { rn, imm } => self.sum(super::op::SINK, self.get(rn), !imm, true, true),
            Op::AddReg { rd, rn, rm, s } => self.sum(rd, self.get(rn), self.get(rm), false, s),
            Op::SubReg { rd, rn, rm, s } => self.sum(rd, self.get(rn), !self.get(rm), true, s),
            Op::CmpReg { rn, rm } => self.sum(super::op::SINK, self.get(rn), !self.get(rm), true, true),
            Op::AddPc { rm } => self.branch(self.get(15).wrapping_add(self.get(rm))),
            Op::AluImm { alu, rd, rn, imm } => self.alu(alu, rd, self.get(rn), imm, false, false),
            Op::AluImmS { alu, rd, rn, imm } => self.alu(alu, rd, self.get(rn), imm, self.flags.c, true),
            Op::AluImmC { alu, rd, rn, imm } => self.alu(alu, rd, self.get(rn), imm, imm >> 31 != 0, true),
            Op::AluReg { alu, rd, rn, rm, shift, amount, s } => {
                let (y, carry) = shift_c(self.get(rm), shift, u32::from(amount), self.flags.c);
                self.alu(alu, rd, self.get(rn), y, carry, s);
            }
            Op::ShiftImm { shift, rd, rm, amount, s } => {
                let (value, carry) = shift_c(self.get(rm), shift, u32::from(amount), self.flags.c);
                if s {
                    self.set_nz(value);
                    self.flags.c = carry;
                }
                self.put(rd, value);
            }
            Op::ShiftReg { shift, rd, rn, rm, s } => {
                let (value, carry) = shift_c(self.get(rn), shift, self.get(rm) & 0xff, self.flags.c);
                if s {
                    self.set_nz(value);
                    self.flags.c = carry;
                }
                self.put(rd, value);
            }
            Op::Bfi { rd, rn, lsb, width } => {
                let mask = ones(width);
                self.put(rd, self.get(rd) & !(mask << lsb) | (self.get(rn) & mask) << lsb);
            }
            Op::Ubfx { rd, rn, lsb, width } => self.put(rd, self.get(rn) >> lsb & ones(width)),
            Op::Sbfx { rd, rn, lsb, width } => {
                let unused = 32 - width;
                let value = (self.get(rn) >> lsb << unused).cast_signed() >> unused;
                self.put(rd, value.cast_unsigned());
            }
            Op::Extend { kind, rd, rn, rm, rotate } => {
                let (x, y) = (self.get(rn), self.get(rm).rotate_right(u32::from(rotate)));
                let value = match kind {
                    Extend::SignedHalf => x.wrapping_add_signed(i32::from(y as i16)),
                    Extend::UnsignedHalf => x.wrapping_add(y & 0xffff),
                    Extend::SignedByte => x.wrapping_add_signed(i32::from(y as i8)),
                    Extend::UnsignedByte => x.wrapping_add(y & 0xff),
                    Extend::SignedByte16 => multiply::extend_pair(x, y, |byte| byte as i8 as u32),
                    Extend::UnsignedByte16 => multiply::extend_pair(x, y, |byte| byte & 0xff),
                };
                self.put(rd, value);
            }
            Op::Reverse { kind, rd, rm } => {
                let x = self.get(rm);
                let value = match kind {
                    Reverse::Bytes => x.swap_bytes(),
                    Reverse::BytesOfHalves => x.swap_bytes().rotate_right(16),
                    Reverse::Bits => x.reverse_bits(),
                    Reverse::SignedHalf => (x as u16).swap_bytes() as i16 as u32,
                    Reverse::LeadingZeros => x.leading_zeros(),
                };
                self.put(rd, value);
            }
            Op::Mul { rd, rn, rm, s } => {
                let value = self.get(rn).wrapping_mul(self.get(rm));
                if s {
                    self.set_nz(value);
                }
                self.put(rd, value);
            }
            Op::Mla { rd, rn, rm, ra } => {
                self.cycles += cycles::MULTIPLY_ACCUMULATE;
                self.put(rd, self.get(ra).wrapping_add(self.get(rn).wrapping_mul(self.get(rm))));
            }
            Op::Mls { rd, rn, rm, ra } => {
                self.cycles += cycles::MULTIPLY_ACCUMULATE;
                self.put(rd, self.get(ra).wrapping_sub(self.get(rn).wrapping_mul(self.get(rm))));
            }
            Op::MulLong { kind, lo, hi, rn, rm } => {
                let old = u64::from(self.get(hi)) << 32 | u64::from(self.get(lo));
                let value = multiply::long(kind, old, self.get(rn), self.get(rm));
                self.put(lo, value as u32);
                self.put(hi, (value >> 32) as u32);
            }
            Op::Udiv { rd, rn, rm } => {
                let (x, y) = (self.get(rn), self.get(rm));
                self.cycles += cycles::divide(x, y);
                self.divide(rd, x, y, |x, y| x / y)?;
            }
            Op::Sdiv { rd, rn, rm } => {
                let (x, y) = (self.get(rn).cast_signed(), self.get(rm).cast_signed());
                self.cycles += cycles::divide(x.unsigned_abs(), y.unsigned_abs());
                let quotient = |x: u32, y: u32| x.cast_signed().wrapping_div(y.cast_signed()).cast_unsigned();
                self.divide(rd, x.cast_unsigned(), y.cast_unsigned(), quotient)?;
            }
            Op::Dsp { .. }
            | Op::Ssat { .. }
            | Op::Usat { .. }
            | Op::Ssat16 { .. }
            | Op::Usat16 { .. }
            | Op::Saturating { .. }
            | Op::Parallel { .. }
            | Op::Sel { .. }
            | Op::Pack { .. } => self.execute_dsp(*op),

            Op::Ldr { rt, rn, imm } => return self.load_word(bus, rt, self.get(rn).wrapping_add(imm)),
            Op::Str { rt, rn, imm } => return self.store_word(bus, rt, self.get(rn).wrapping_add(imm)),
            Op::Load { access, rt, rn, imm } => {
                return self.load_register(bus, access, rt, self.get(rn).wrapping_add(imm));
            }
            Op::LoadReg { access, rt, rn, rm, lsl } => {
                let address = self.get(rn).wrapping_add(self.get(rm) << lsl);
                return self.load_register(bus, access, rt, address);
            }
            Op::LoadLiteral { access, rt, address } => return self.load_register(bus, access, rt, address),
            Op::Store { access, rt, rn, imm } => {
                return self.store_register(bus, access, rt, self.get(rn).wrapping_add(imm));
            }
            Op::StoreReg { access, rt, rn, rm, lsl } => {
                let address = self.get(rn).wrapping_add(self.get(rm) << lsl);
                return self.store_register(bus, access, rt, address);
            }
            Op::LoadPre { access, rt, rn, imm } => {
                let address = self.get(rn).wrapping_add(imm);
                return self.load_indexed(bus, access, rt, rn, address, address);
            }
            Op::LoadPost { access, rt, rn, imm } => {
                let address = self.get(rn);
                return self.load_indexed(bus, access, rt, rn, address, address.wrapping_add(imm));
            }
            Op::StorePre { access, rt, rn, imm } => {
                let address = self.get(rn).wrapping_add(imm);
                self.store_register(bus, access, rt, address)?;
                self.put(rn, address);
            }
            Op::StorePost { access, rt, rn, imm } => {
                let address = self.get(rn);
                self.store_register(bus, access, rt, address)?;
                self.put(rn, address.wrapping_add(imm));
            }
            Op::LoadMultiple { rn, list, write_back, decrement_before } => {
                return self.load_multiple(bus, rn, list, write_back, decrement_before);
            }
            Op::StoreMultiple { rn, list, write_back, decrement_before } => {
                return self.store_multiple(bus, rn, list, write_back, decrement_before);
            }
            Op::LoadPair { .. }
            | Op::StorePair { .. }
            | Op::LoadExclusive { .. }
            | Op::StoreExclusive { .. } => return self.execute_memory(bus, *op),
            Op::ClearExclusive => self.exclusive_monitor = false,
            Op::TableBranch { rn, rm, half } => {
                let entry = self.table_entry(bus, rn, rm, half)?;
                self.branch(self.get(15).wrapping_add(entry * 2));
            }

            Op::B { target } => self.branch(target),
            Op::BCond { cond, target } => {
                if self.condition(cond) {
                    self.branch(target);
                }
            }
            Op::Bl { target } => {
                self.r[14] = self.pc | 1;
                self.branch(target);
            }
            Op::Bx { rm } => return self.branch_exchange(bus, self.get(rm)),
            Op::Blx { rm } => {
                let target = self.get(rm);
                self.r[14] = self.pc | 1;
                self.interwork(target);
            }
            Op::Cbz { rn, nonzero, target } => {
                if (self.get(rn) != 0) == nonzero {
                    self.branch(target);
                }
            }
            Op::It { state } => self.it = state,

            Op::Svc => return Err(Trap::Supervisor),
            Op::Bkpt { number } => {
                self.stop_reason = StopReason::Breakpoint { pc: self.get(15).wrapping_sub(4), number };
                return Err(Trap::Stop);
            }
            Op::Udf => return Err(Trap::Undefined),
            Op::NoCoprocessor => return Err(Trap::NoCoprocessor),
            Op::Unknown { code } => {
                self.stop_reason = StopReason::UnknownInstruction { pc: self.get(15).wrapping_sub(4), code };
                return Err(Trap::Stop);
            }
            Op::Mrs { .. } | Op::Msr { .. } | Op::Cps { .. } | Op::Sev | Op::Wfe | Op::Wfi => {
                self.execute_special(*op);
            }

            Op::Fp { .. }
            | Op::VmovImm { .. }
            | Op::VcvtFixed { .. }
            | Op::VmovToCore { .. }
            | Op::VmovToFloat { .. }
            | Op::VmovPairToCore { .. }
            | Op::VmovPairToFloat { .. }
            | Op::Vmrs { .. }
            | Op::Vmsr { .. }
            | Op::Vldr { .. }
            | Op::Vstr { .. }
            | Op::Vldm { .. }
            | Op::Vstm { .. } => {
                if !self.fp_ready {
                    self.prepare_fp()?;
                }
                return self.execute_fp(bus, op);
            }
        }
        Ok(())
    }
}
