//! Decoder of 16-bit instructions (A5.2).

use super::op::{Access, Alu, Extend, Op, Reg, Reverse, SINK, Shift, ZERO};

/// Decodes a 16-bit instruction at `pc`.
pub fn decode(pc: u32, code: u16) -> Op {
    let code = u32::from(code);
    let low = |at: u32| (code >> at & 7) as Reg;
    let imm8 = code & 0xff;
    let imm5 = code >> 6 & 31;
    let (rd, rn, rm) = (low(0), low(3), low(6));
    match code >> 11 {
        0b00000..=0b00010 => {
            let (shift, amount) = immediate_shift(code >> 11, imm5);
            Op::ShiftImm { shift, rd, rm: rn, amount, s: true }
        }
        0b00011 => match code >> 9 & 3 {
            0 => Op::AddReg { rd, rn, rm, s: true },
            1 => Op::SubReg { rd, rn, rm, s: true },
            2 => Op::AddImm { rd, rn, s: true, imm: u32::from(rm) },
            _ => Op::SubImm { rd, rn, s: true, imm: u32::from(rm) },
        },
        0b00100 => Op::MovImm { rd: low(8), s: true, imm: imm8 },
        0b00101 => Op::CmpImm { rn: low(8), imm: imm8 },
        0b00110 => Op::AddImm { rd: low(8), rn: low(8), s: true, imm: imm8 },
        0b00111 => Op::SubImm { rd: low(8), rn: low(8), s: true, imm: imm8 },
        0b01000 if code & 0x400 == 0 => data_processing(code >> 6 & 15, rd, rn),
        0b01000 => special(code),
        0b01001 => {
            let address = ((pc + 4) & !3).wrapping_add(imm8 * 4);
            Op::LoadLiteral { access: Access::Word, rt: low(8), address }
        }
        0b01010 | 0b01011 => {
            let (rt, rn, rm) = (rd, rn, rm);
            match code >> 9 & 7 {
                0 => Op::StoreReg { access: Access::Word, rt, rn, rm, lsl: 0 },
                1 => Op::StoreReg { access: Access::Half, rt, rn, rm, lsl: 0 },
                2 => Op::StoreReg { access: Access::Byte, rt, rn, rm, lsl: 0 },
                3 => Op::LoadReg { access: Access::SignedByte, rt, rn, rm, lsl: 0 },
                4 => Op::LoadReg { access: Access::Word, rt, rn, rm, lsl: 0 },
                5 => Op::LoadReg { access: Access::Half, rt, rn, rm, lsl: 0 },
                6 => Op::LoadReg { access: Access::Byte, rt, rn, rm, lsl: 0 },
                _ => Op::LoadReg { access: Access::SignedHalf, rt, rn, rm, lsl: 0 },
            }
        }
        0b01100 => Op::Str { rt: rd, rn, imm: imm5 * 4 },
        0b01101 => Op::Ldr { rt: rd, rn, imm: imm5 * 4 },
        0b01110 => Op::Store { access: Access::Byte, rt: rd, rn, imm: imm5 },
        0b01111 => Op::Load { access: Access::Byte, rt: rd, rn, imm: imm5 },
        0b10000 => Op::Store { access: Access::Half, rt: rd, rn, imm: imm5 * 2 },
        0b10001 => Op::Load { access: Access::Half, rt: rd, rn, imm: imm5 * 2 },
        0b10010 => Op::Str { rt: low(8), rn: 13, imm: imm8 * 4 },
        0b10011 => Op::Ldr { rt: low(8), rn: 13, imm: imm8 * 4 },
        0b10100 => Op::MovImm { rd: low(8), s: false, imm: ((pc + 4) & !3).wrapping_add(imm8 * 4) },
        0b10101 => Op::AddImm { rd: low(8), rn: 13, s: false, imm: imm8 * 4 },
        0b10110 | 0b10111 => miscellaneous(pc, code),
        0b11000 => {
            Op::StoreMultiple { rn: low(8), list: imm8 as u16, write_back: true, decrement_before: false }
        }
        0b11001 => {
            // The base is written back only if it is not in the list (A7.7.41).
            let write_back = imm8 >> low(8) & 1 == 0;
            Op::LoadMultiple { rn: low(8), list: imm8 as u16, write_back, decrement_before: false }
        }
        0b11010 | 0b11011 => match code >> 8 & 15 {
            14 => Op::Udf,
            15 => Op::Svc,
            cond => Op::BCond { cond: cond as u8, target: branch(pc, imm8 << 1, 9) },
        },
        0b11100 => Op::B { target: branch(pc, (code & 0x7ff) << 1, 12) },
        _ => Op::Unknown { code },
    }
}

/// Returns the target of a branch with a signed offset of `bits` bits.
pub fn branch(pc: u32, offset: u32, bits: u32) -> u32 {
    let extended = ((offset << (32 - bits)).cast_signed() >> (32 - bits)).cast_unsigned();
    pc.wrapping_add(4).wrapping_add(extended)
}

/// Decodes an immediate shift: DecodeImmShift (A7.4.2).
pub fn immediate_shift(kind: u32, imm5: u32) -> (Shift, u8) {
    match (kind & 3, imm5 as u8) {
        (0, amount) => (Shift::Lsl, amount),
        (1, 0) => (Shift::Lsr, 32),
        (1, amount) => (Shift::Lsr, amount),
        (2, 0) => (Shift::Asr, 32),
        (2, amount) => (Shift::Asr, amount),
        (_, 0) => (Shift::Rrx, 1),
        (_, amount) => (Shift::Ror, amount),
    }
}

/// Decodes data-processing instructions (A5.2.2).
fn data_processing(kind: u32, rd: Reg, rm: Reg) -> Op {
    let alu = |alu, rd, rn| Op::AluReg { alu, rd, rn, rm, shift: Shift::Lsl, amount: 0, s: true };
    let shift = |shift| Op::ShiftReg { shift, rd, rn: rd, rm, s: true };
    match kind {
        0 => alu(Alu::And, rd, rd),
        1 => alu(Alu::Eor, rd, rd),
        2 => shift(Shift::Lsl),
        3 => shift(Shift::Lsr),
        4 => shift(Shift::Asr),
        5 => alu(Alu::Adc, rd, rd),
        6 => alu(Alu::Sbc, rd, rd),
        7 => shift(Shift::Ror),
        8 => alu(Alu::And, SINK, rd),
        9 => Op::AluImmS { alu: Alu::Rsb, rd, rn: rm, imm: 0 },
        10 => Op::CmpReg { rn: rd, rm },
        11 => alu(Alu::Add, SINK, rd),
        12 => alu(Alu::Orr, rd, rd),
        13 => Op::Mul { rd, rn: rm, rm: rd, s: true },
        14 => alu(Alu::Bic, rd, rd),
        _ => alu(Alu::Orn, rd, ZERO),
    }
}

/// Decodes special data processing and branches with exchange (A5.2.3).
fn special(code: u32) -> Op {
    let rm = (code >> 3 & 15) as Reg;
    let rd = (code & 7 | code >> 4 & 8) as Reg;
    match code >> 8 & 3 {
        0 if rd == 15 => Op::AddPc { rm },
        0 => Op::AddReg { rd, rn: rd, rm, s: false },
        1 => Op::CmpReg { rn: rd, rm },
        2 if rd == 15 => Op::MovPc { rm },
        2 => Op::MovReg { rd, rm },
        _ if code & 7 != 0 => Op::Unknown { code },
        _ if code & 0x80 != 0 => Op::Blx { rm },
        _ => Op::Bx { rm },
    }
}

/// Decodes miscellaneous instructions (A5.2.5).
fn miscellaneous(pc: u32, code: u32) -> Op {
    let (rd, rm) = ((code & 7) as Reg, (code >> 3 & 7) as Reg);
    let imm7 = (code & 0x7f) * 4;
    let extend = |kind| Op::Extend { kind, rd, rn: ZERO, rm, rotate: 0 };
    match code >> 8 & 15 {
        0 if code & 0x80 == 0 => Op::AddImm { rd: 13, rn: 13, s: false, imm: imm7 },
        0 => Op::SubImm { rd: 13, rn: 13, s: false, imm: imm7 },
        1 | 3 | 9 | 11 => {
            let offset = (code >> 3 & 31) << 1 | (code >> 9 & 1) << 6;
            Op::Cbz { rn: rd, nonzero: code & 0x800 != 0, target: pc + 4 + offset }
        }
        2 => match code >> 6 & 3 {
            0 => extend(Extend::SignedHalf),
            1 => extend(Extend::SignedByte),
            2 => extend(Extend::UnsignedHalf),
            _ => extend(Extend::UnsignedByte),
        },
        4 | 5 => {
            let list = (code & 0xff | (code & 0x100) << 6) as u16;
            Op::StoreMultiple { rn: 13, list, write_back: true, decrement_before: true }
        }
        6 if code & 0xe8 == 0x60 => {
            Op::Cps { disable: code & 0x10 != 0, primask: code & 2 != 0, faultmask: code & 1 != 0 }
        }
        10 => match code >> 6 & 3 {
            0 => Op::Reverse { kind: Reverse::Bytes, rd, rm },
            1 => Op::Reverse { kind: Reverse::BytesOfHalves, rd, rm },
            3 => Op::Reverse { kind: Reverse::SignedHalf, rd, rm },
            _ => Op::Unknown { code },
        },
        12 | 13 => {
            let list = (code & 0xff | (code & 0x100) << 7) as u16;
            Op::LoadMultiple { rn: 13, list, write_back: true, decrement_before: false }
        }
        14 => Op::Bkpt { number: code as u8 },
        15 if code & 15 != 0 => Op::It { state: code as u8 },
        15 => hint(code >> 4 & 15),
        _ => Op::Unknown { code },
    }
}

/// Decodes NOP-compatible hints (A5.2.5). Unallocated hints are NOPs.
pub fn hint(kind: u32) -> Op {
    match kind {
        2 => Op::Wfe,
        3 => Op::Wfi,
        4 => Op::Sev,
        _ => Op::Nop,
    }
}
