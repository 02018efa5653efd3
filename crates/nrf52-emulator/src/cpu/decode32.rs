//! Decoder of 32-bit integer instructions (A5.3).

use super::{
    decode_fp, decode16,
    op::{
        Access, Alu, Dsp, Extend, Index, Lanes, Long, Op, Parallel, Reg, Reverse, SINK, Saturating, Shift,
        ZERO,
    },
};

/// Returns whether a halfword is the first one of a 32-bit instruction (A5.1).
pub const fn is_wide(first: u16) -> bool {
    first >> 11 >= 0b11101
}

/// Returns the four-bit register field at bit `at`.
pub const fn reg(half: u32, at: u32) -> Reg {
    (half >> at & 15) as Reg
}

/// Replaces 15, which encodes the absence of an operand, with [`ZERO`].
const fn or_zero(reg: Reg) -> Reg {
    if reg == 15 { ZERO } else { reg }
}

/// Decodes a 32-bit instruction at `pc`.
pub fn decode(pc: u32, first: u16, second: u16) -> Op {
    let (a, b) = (u32::from(first), u32::from(second));
    let unknown = Op::Unknown { code: a << 16 | b };
    let op = match (a >> 11 & 3, a >> 4 & 0x7f) {
        (_, kind) if kind & 0x40 != 0 && a >> 11 & 1 == 1 => Some(decode_fp::decode(a, b)),
        (1, kind) if kind & 0x64 == 0 => multiple(a, b),
        (1, kind) if kind & 0x64 == 4 => double_or_exclusive(a, b),
        (1, _) => shifted_register(a, b),
        (2, _) if b & 0x8000 != 0 => branch_or_control(pc, a, b),
        (2, kind) if kind & 0x20 == 0 => modified_immediate(a, b),
        (2, _) => plain_immediate(pc, a, b),
        (_, kind) if kind & 0x60 == 0 => single(pc, a, b),
        (_, kind) if kind & 0x70 == 0x20 => register(a, b),
        (_, kind) if kind & 0x78 == 0x30 => multiply(a, b),
        (_, kind) if kind & 0x78 == 0x38 => long_multiply(a, b),
        _ => None,
    };
    op.unwrap_or(unknown)
}

/// Decodes LDM, STM, PUSH and POP (A5.3.5).
fn multiple(a: u32, b: u32) -> Option<Op> {
    let (rn, list, write_back) = (reg(a, 0), b as u16, a & 0x20 != 0);
    let decrement_before = match a >> 7 & 3 {
        1 => false,
        2 => true,
        _ => return None,
    };
    if a & 0x10 != 0 {
        // Write-back with the base in the list is UNPREDICTABLE (A7.7.41).
        Some(Op::LoadMultiple { rn, list, write_back, decrement_before })
    } else {
        (list & 0xa000 == 0).then_some(Op::StoreMultiple { rn, list, write_back, decrement_before })
    }
}

/// Decodes LDRD, STRD, LDREX, STREX, TBB and TBH (A5.3.6).
fn double_or_exclusive(a: u32, b: u32) -> Option<Op> {
    let (rn, load) = (reg(a, 0), a & 0x10 != 0);
    let (before, up, write_back) = (a & 0x100 != 0, a & 0x80 != 0, a & 0x20 != 0);
    let (rt, rt2) = (reg(b, 12), reg(b, 8));
    if !before && !write_back {
        let words = b as u8;
        return match (up, load) {
            (false, false) => Some(Op::StoreExclusive { access: Access::Word, rd: rt2, rt, rn, words }),
            (false, true) => Some(Op::LoadExclusive { access: Access::Word, rt, rn, words }),
            (true, load) => {
                let access = if b & 0x10 == 0 { Access::Byte } else { Access::Half };
                match (b >> 4 & 15, load) {
                    (0 | 1, true) => Some(Op::TableBranch { rn, rm: reg(b, 0), half: b & 0x10 != 0 }),
                    (4 | 5, true) => Some(Op::LoadExclusive { access, rt, rn, words: 0 }),
                    (4 | 5, false) => Some(Op::StoreExclusive { access, rd: reg(b, 0), rt, rn, words: 0 }),
                    _ => None,
                }
            }
        };
    }
    let index = match (before, write_back) {
        (true, false) => Index::Offset,
        (true, true) => Index::Pre,
        (false, _) => Index::Post,
    };
    let bytes = ((b & 0xff) * 4) as i16;
    let imm = if up { bytes } else { -bytes };
    Some(if load {
        Op::LoadPair { rt, rt2, rn, index, imm }
    } else {
        Op::StorePair { rt, rt2, rn, index, imm }
    })
}

/// Decodes operation, destination and first operand, for A5.3.1 and A5.3.11.
fn alu(kind: u32, rd: Reg, rn: Reg, s: bool) -> Option<(Alu, Reg, Reg)> {
    let compare = rd == 15 && s;
    Some(match kind {
        0 if compare => (Alu::And, SINK, rn),
        0 => (Alu::And, rd, rn),
        1 => (Alu::Bic, rd, rn),
        2 => (Alu::Orr, rd, or_zero(rn)),
        3 => (Alu::Orn, rd, or_zero(rn)),
        4 if compare => (Alu::Eor, SINK, rn),
        4 => (Alu::Eor, rd, rn),
        8 if compare => (Alu::Add, SINK, rn),
        8 => (Alu::Add, rd, rn),
        10 => (Alu::Adc, rd, rn),
        11 => (Alu::Sbc, rd, rn),
        13 if compare => (Alu::Sub, SINK, rn),
        13 => (Alu::Sub, rd, rn),
        14 => (Alu::Rsb, rd, rn),
        _ => return None,
    })
}

/// Decodes data processing with a shifted register (A5.3.11).
fn shifted_register(a: u32, b: u32) -> Option<Op> {
    let (rd, rn, rm, s) = (reg(b, 8), reg(a, 0), reg(b, 0), a & 0x10 != 0);
    let (shift, amount) = decode16::immediate_shift(b >> 4, b >> 10 & 0x1c | b >> 6 & 3);
    let kind = a >> 5 & 15;
    if kind == 6 {
        return (!s && b & 0x10 == 0).then_some(Op::Pack { rd, rn, rm, shift, amount });
    }
    let (alu, rd, rn) = alu(kind, rd, rn, s)?;
    Some(match (alu, rd, rn, shift, amount) {
        (Alu::Orr, _, ZERO, Shift::Lsl, 0) if !s => Op::MovReg { rd, rm },
        (Alu::Orr, _, ZERO, ..) => Op::ShiftImm { shift, rd, rm, amount, s },
        (Alu::Add, 0..=14, _, Shift::Lsl, 0) => Op::AddReg { rd, rn, rm, s },
        (Alu::Sub, 0..=14, _, Shift::Lsl, 0) => Op::SubReg { rd, rn, rm, s },
        (Alu::Sub, SINK, _, Shift::Lsl, 0) => Op::CmpReg { rn, rm },
        _ => Op::AluReg { alu, rd, rn, rm, shift, amount, s },
    })
}

/// Expands an immediate: ThumbExpandImm_C (A5.3.2).
///
/// The second result tells whether bit 31 of the immediate becomes the carry.
fn expand(a: u32, b: u32) -> (u32, bool) {
    let byte = b & 0xff;
    match a << 1 & 0x800 | b >> 4 & 0x700 | byte {
        imm if imm >> 10 != 0 => ((0x80 | imm & 0x7f).rotate_right(imm >> 7), true),
        imm if imm >> 8 == 0 => (byte, false),
        imm if imm >> 8 == 1 => (byte << 16 | byte, false),
        imm if imm >> 8 == 2 => (byte << 24 | byte << 8, false),
        _ => (byte * 0x0101_0101, false),
    }
}

/// Decodes data processing with a modified immediate (A5.3.1).
fn modified_immediate(a: u32, b: u32) -> Option<Op> {
    let (rd, rn, s) = (reg(b, 8), reg(a, 0), a & 0x10 != 0);
    let (imm, carry) = expand(a, b);
    let (alu, rd, rn) = alu(a >> 5 & 15, rd, rn, s)?;
    Some(match (alu, rd, rn) {
        (Alu::Orr, _, ZERO) if !(s && carry) => Op::MovImm { rd, s, imm },
        (Alu::Orn, _, ZERO) if !s => Op::MovImm { rd, s, imm: !imm },
        (Alu::Add, 0..=14, _) => Op::AddImm { rd, rn, s, imm },
        (Alu::Sub, 0..=14, _) => Op::SubImm { rd, rn, s, imm },
        (Alu::Sub, SINK, _) => Op::CmpImm { rn, imm },
        _ if s && carry => Op::AluImmC { alu, rd, rn, imm },
        _ if s => Op::AluImmS { alu, rd, rn, imm },
        _ => Op::AluImm { alu, rd, rn, imm },
    })
}

/// Decodes data processing with a plain binary immediate (A5.3.3).
fn plain_immediate(pc: u32, a: u32, b: u32) -> Option<Op> {
    let (rd, rn) = (reg(b, 8), reg(a, 0));
    let imm12 = a << 1 & 0x800 | b >> 4 & 0x700 | b & 0xff;
    let imm16 = (a & 15) << 12 | imm12;
    let base = (pc + 4) & !3;
    let (lsb, low) = ((b >> 10 & 0x1c | b >> 6 & 3) as u8, (b & 31) as u8);
    Some(match a >> 4 & 31 {
        0 if rn == 15 => Op::MovImm { rd, s: false, imm: base.wrapping_add(imm12) },
        0 => Op::AddImm { rd, rn, s: false, imm: imm12 },
        4 => Op::MovImm { rd, s: false, imm: imm16 },
        10 if rn == 15 => Op::MovImm { rd, s: false, imm: base.wrapping_sub(imm12) },
        10 => Op::SubImm { rd, rn, s: false, imm: imm12 },
        12 => Op::MovTop { rd, imm: imm16 as u16 },
        16 => Op::Ssat { rd, rn, bits: low + 1, shift: Shift::Lsl, amount: lsb },
        18 if lsb == 0 => Op::Ssat16 { rd, rn, bits: (low & 15) + 1 },
        18 => Op::Ssat { rd, rn, bits: low + 1, shift: Shift::Asr, amount: lsb },
        24 => Op::Usat { rd, rn, bits: low, shift: Shift::Lsl, amount: lsb },
        26 if lsb == 0 => Op::Usat16 { rd, rn, bits: low & 15 },
        26 => Op::Usat { rd, rn, bits: low, shift: Shift::Asr, amount: lsb },
        20 if lsb + low < 32 => Op::Sbfx { rd, rn, lsb, width: low + 1 },
        28 if lsb + low < 32 => Op::Ubfx { rd, rn, lsb, width: low + 1 },
        22 if low >= lsb => Op::Bfi { rd, rn: or_zero(rn), lsb, width: low - lsb + 1 },
        _ => return None,
    })
}

/// Decodes branches and miscellaneous control (A5.3.4).
fn branch_or_control(pc: u32, a: u32, b: u32) -> Option<Op> {
    let sign = a >> 10 & 1;
    let (j1, j2) = (b >> 13 & 1, b >> 11 & 1);
    if b & 0x1000 != 0 {
        let (i1, i2) = (!(j1 ^ sign) & 1, !(j2 ^ sign) & 1);
        let offset = sign << 24 | i1 << 23 | i2 << 22 | (a & 0x3ff) << 12 | (b & 0x7ff) << 1;
        let target = decode16::branch(pc, offset, 25);
        return Some(if b & 0x4000 == 0 { Op::B { target } } else { Op::Bl { target } });
    }
    if b & 0x4000 != 0 {
        return None;
    }
    let kind = a >> 4 & 0x7f;
    if kind & 0x38 != 0x38 {
        let offset = sign << 20 | j2 << 19 | j1 << 18 | (a & 0x3f) << 12 | (b & 0x7ff) << 1;
        return Some(Op::BCond { cond: (a >> 6 & 15) as u8, target: decode16::branch(pc, offset, 21) });
    }
    match (kind, b >> 12 & 7) {
        (0x38 | 0x39, 0) => Some(Op::Msr { rn: reg(a, 0), mask: (b >> 10 & 3) as u8, special: b as u8 }),
        // Hints. DBG is a NOP.
        (0x3a, 0) if b >> 8 & 7 == 0 => Some(decode16::hint(b & 0xff)),
        (0x3b, 0) => match b >> 4 & 15 {
            2 => Some(Op::ClearExclusive),
            // DSB, DMB and ISB are NOPs, because the emulator executes in order.
            4..=6 => Some(Op::Nop),
            _ => None,
        },
        (0x3e | 0x3f, 0) => Some(Op::Mrs { rd: reg(b, 8), special: b as u8 }),
        (0x7f, 2) => Some(Op::Udf),
        _ => None,
    }
}

/// Decodes loads and stores of one register (A5.3.7 to A5.3.10).
fn single(pc: u32, a: u32, b: u32) -> Option<Op> {
    let (rt, rn, load) = (reg(b, 12), reg(a, 0), a & 0x10 != 0);
    let access = match (a >> 5 & 3, a & 0x100 != 0) {
        (0, false) => Access::Byte,
        (1, false) => Access::Half,
        (2, false) => Access::Word,
        (0, true) if load => Access::SignedByte,
        (1, true) if load => Access::SignedHalf,
        _ => return None,
    };
    let hint = load && rt == 15 && access != Access::Word;
    let (up, imm12, imm8) = (a & 0x80 != 0, b & 0xfff, b & 0xff);
    if rn == 15 {
        let base = (pc + 4) & !3;
        let address = if up { base.wrapping_add(imm12) } else { base.wrapping_sub(imm12) };
        return load.then_some(if hint { Op::Nop } else { Op::LoadLiteral { access, rt, address } });
    }
    let op = if up {
        match (load, access) {
            (true, Access::Word) => Op::Ldr { rt, rn, imm: imm12 },
            (false, Access::Word) => Op::Str { rt, rn, imm: imm12 },
            (true, _) => Op::Load { access, rt, rn, imm: imm12 },
            (false, _) => Op::Store { access, rt, rn, imm: imm12 },
        }
    } else if b & 0x800 != 0 {
        let imm = if b & 0x200 != 0 { imm8 } else { imm8.wrapping_neg() };
        // Bits P and W. LDRT and STRT (P = 1, U = 1, W = 0) are executed as LDR and STR.
        match (b & 0x400 != 0, b & 0x100 != 0, load) {
            (true, false, true) => Op::Load { access, rt, rn, imm },
            (true, false, false) => Op::Store { access, rt, rn, imm },
            (true, true, true) => Op::LoadPre { access, rt, rn, imm },
            (true, true, false) => Op::StorePre { access, rt, rn, imm },
            (false, true, true) => Op::LoadPost { access, rt, rn, imm },
            (false, true, false) => Op::StorePost { access, rt, rn, imm },
            (false, false, _) => return None,
        }
    } else if b & 0xfc0 == 0 {
        let (rm, lsl) = (reg(b, 0), (b >> 4 & 3) as u8);
        if load { Op::LoadReg { access, rt, rn, rm, lsl } } else { Op::StoreReg { access, rt, rn, rm, lsl } }
    } else {
        return None;
    };
    // PLD and PLI (A5.3.8, A5.3.9) are NOPs.
    let plain = matches!(op, Op::Load { .. } | Op::LoadReg { .. });
    if hint { plain.then_some(Op::Nop) } else { Some(op) }
}

/// Decodes data processing with registers (A5.3.12 to A5.3.15).
fn register(a: u32, b: u32) -> Option<Op> {
    if b >> 12 != 15 {
        return None;
    }
    let (rd, rn, rm) = (reg(b, 8), reg(a, 0), reg(b, 0));
    let (high, low) = (a >> 4 & 15, b >> 4 & 15);
    Some(match (high, low) {
        (0..=7, 0) => {
            let shift = [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror][(high >> 1) as usize];
            Op::ShiftReg { shift, rd, rn, rm, s: high & 1 != 0 }
        }
        (0..=5, 8..=11) => {
            let kind = [
                Extend::SignedHalf,
                Extend::UnsignedHalf,
                Extend::SignedByte16,
                Extend::UnsignedByte16,
                Extend::SignedByte,
                Extend::UnsignedByte,
            ][high as usize];
            Op::Extend { kind, rd, rn: or_zero(rn), rm, rotate: (low as u8 & 3) * 8 }
        }
        (8.., 0..=7) => {
            let lanes = match high & 7 {
                0 => Lanes::Add8,
                1 => Lanes::Add16,
                2 => Lanes::AddSubExchange,
                4 => Lanes::Sub8,
                5 => Lanes::Sub16,
                6 => Lanes::SubAddExchange,
                _ => return None,
            };
            let kind = match low {
                0 => Parallel::Signed,
                1 => Parallel::SignedSaturating,
                2 => Parallel::SignedHalving,
                4 => Parallel::Unsigned,
                5 => Parallel::UnsignedSaturating,
                6 => Parallel::UnsignedHalving,
                _ => return None,
            };
            Op::Parallel { lanes, kind, rd, rn, rm }
        }
        (8, 8) => Op::Saturating { kind: Saturating::Add, rd, rn, rm },
        (8, 9) => Op::Saturating { kind: Saturating::DoubleAdd, rd, rn, rm },
        (8, 10) => Op::Saturating { kind: Saturating::Sub, rd, rn, rm },
        (8, 11) => Op::Saturating { kind: Saturating::DoubleSub, rd, rn, rm },
        (9, 8) => Op::Reverse { kind: Reverse::Bytes, rd, rm },
        (9, 9) => Op::Reverse { kind: Reverse::BytesOfHalves, rd, rm },
        (9, 10) => Op::Reverse { kind: Reverse::Bits, rd, rm },
        (9, 11) => Op::Reverse { kind: Reverse::SignedHalf, rd, rm },
        (10, 8) => Op::Sel { rd, rn, rm },
        (11, 8) => Op::Reverse { kind: Reverse::LeadingZeros, rd, rm },
        _ => return None,
    })
}

/// Decodes multiplications with a 32-bit result (A5.3.16).
fn multiply(a: u32, b: u32) -> Option<Op> {
    let (ra, rd, rn, rm) = (reg(b, 12), reg(b, 8), reg(a, 0), reg(b, 0));
    let (flag, other) = (b & 0x10 != 0, b & 0x20 != 0);
    let kind = match (a >> 4 & 7, b >> 4 & 15) {
        (0, 0) if ra == 15 => return Some(Op::Mul { rd, rn, rm, s: false }),
        (0, 0) => return Some(Op::Mla { rd, rn, rm, ra }),
        (0, 1) => return Some(Op::Mls { rd, rn, rm, ra }),
        (1, 0..=3) => Dsp::Half { top_n: other, top_m: flag },
        (2, 0 | 1) => Dsp::DualAdd { cross: flag },
        (3, 0 | 1) => Dsp::Wide { top_m: flag },
        (4, 0 | 1) => Dsp::DualSub { cross: flag },
        (5, 0 | 1) => Dsp::MostSignificantAdd { round: flag },
        (6, 0 | 1) => Dsp::MostSignificantSub { round: flag },
        (7, 0) => Dsp::AbsoluteDifferences,
        _ => return None,
    };
    Some(Op::Dsp { kind, rd, rn, rm, ra: or_zero(ra) })
}

/// Decodes multiplications with a 64-bit result and divisions (A5.3.17).
fn long_multiply(a: u32, b: u32) -> Option<Op> {
    let (lo, hi, rn, rm) = (reg(b, 12), reg(b, 8), reg(a, 0), reg(b, 0));
    let flag = b & 0x10 != 0;
    let kind = match (a >> 4 & 7, b >> 4 & 15) {
        (0, 0) => Long::Smull,
        (1, 15) => return Some(Op::Sdiv { rd: hi, rn, rm }),
        (2, 0) => Long::Umull,
        (3, 15) => return Some(Op::Udiv { rd: hi, rn, rm }),
        (4, 0) => Long::Smlal,
        (4, 8..=11) => Long::SmlalHalf { top_n: b & 0x20 != 0, top_m: flag },
        (4, 12 | 13) => Long::Smlald { cross: flag },
        (5, 12 | 13) => Long::Smlsld { cross: flag },
        (6, 0) => Long::Umlal,
        (6, 6) => Long::Umaal,
        _ => return None,
    };
    Some(Op::MulLong { kind, lo, hi, rn, rm })
}
