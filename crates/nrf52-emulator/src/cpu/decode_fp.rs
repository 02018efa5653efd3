//! Decoder of FP instructions: FPv4-SP, single precision (A6.4 to A6.7).

use super::{
    decode32::reg,
    op::{Fp, Op},
};

/// Returns the number of a single-precision register.
///
/// The field at bit `at` of `high` has the four high bits, and `low` the lowest bit.
fn single(high: u32, at: u32, low: u32) -> u8 {
    ((high >> at & 15) << 1 | low & 1) as u8
}

/// Returns the number of the first half of a double-precision register.
///
/// The field at bit `at` of `low` has the four low bits, and `high` the highest bit.
fn double(low: u32, at: u32, high: u32) -> u8 {
    ((high & 1) << 5 | (low >> at & 15) << 1) as u8
}

/// Decodes a coprocessor instruction.
pub fn decode(a: u32, b: u32) -> Op {
    if b >> 9 & 7 != 5 {
        return Op::NoCoprocessor;
    }
    let op = if a >> 12 != 14 {
        // VSEL, VMAXNM and others need FPv5.
        None
    } else if a & 0xf00 != 0xe00 {
        if a & 0x1e0 == 0x040 { pair(a, b) } else { load_or_store(a, b) }
    } else if b & 0x10 != 0 {
        transfer(a, b)
    } else if b & 0x100 == 0 {
        data_processing(a, b)
    } else {
        // Double-precision arithmetic needs FPv5-D16.
        None
    };
    // FPv4-SP has D0 to D15.
    let exists = |op: &Op| match *op {
        Op::Vldr { d, words, .. }
        | Op::Vstr { d, words, .. }
        | Op::Vldm { d, words, .. }
        | Op::Vstm { d, words, .. } => d + words <= 32,
        Op::VmovPairToCore { m, .. } | Op::VmovPairToFloat { m, .. } => m + 1 < 32,
        Op::VmovToCore { n, .. } | Op::VmovToFloat { n, .. } => n < 32,
        _ => true,
    };
    op.filter(exists).unwrap_or(Op::Unknown { code: a << 16 | b })
}

/// Decodes FP data processing (A6.4).
fn data_processing(a: u32, b: u32) -> Option<Op> {
    let (d, n, m) = (single(b, 12, a >> 6), single(a, 0, b >> 7), single(b, 0, b >> 5));
    let kind = match (a >> 4 & 0xb, b & 0x40 != 0) {
        (0, false) => Fp::Mla,
        (0, true) => Fp::Mls,
        (1, false) => Fp::Nmls,
        (1, true) => Fp::Nmla,
        (2, false) => Fp::Mul,
        (2, true) => Fp::Nmul,
        (3, false) => Fp::Add,
        (3, true) => Fp::Sub,
        (8, false) => Fp::Div,
        (9, false) => Fp::FusedNmls,
        (9, true) => Fp::FusedNmla,
        (10, false) => Fp::FusedMla,
        (10, true) => Fp::FusedMls,
        (11, false) if b & 0xa0 == 0 => {
            return Some(Op::VmovImm { d, bits: expand((a & 15) << 4 | b & 15) });
        }
        (11, true) => return other(a, b, d, m),
        _ => return None,
    };
    Some(Op::Fp { kind, d, n, m })
}

/// Expands an FP immediate: VFPExpandImm (A6.4.1).
fn expand(imm8: u32) -> u32 {
    let exponent = if imm8 & 0x40 != 0 { 0x3e00_0000 } else { 0x4000_0000 };
    (imm8 & 0x80) << 24 | exponent | (imm8 & 0x3f) << 19
}

/// Decodes FP data processing with opc1 = 1x11 (table A6-2).
fn other(a: u32, b: u32, d: u8, m: u8) -> Option<Op> {
    let top = b & 0x80 != 0;
    let n = u8::from(top);
    let kind = match (a & 15, top) {
        (0, false) => Fp::Mov,
        (0, true) => Fp::Abs,
        (1, false) => Fp::Neg,
        (1, true) => Fp::Sqrt,
        (2, _) => Fp::FromHalf,
        (3, _) => Fp::ToHalf,
        (4, _) => Fp::Cmp,
        (5, _) => Fp::CmpZero,
        (8, false) => Fp::FromUnsigned,
        (8, true) => Fp::FromSigned,
        (12, false) => Fp::ToUnsignedRounding,
        (12, true) => Fp::ToUnsigned,
        (13, false) => Fp::ToSignedRounding,
        (13, true) => Fp::ToSigned,
        (10 | 11 | 14 | 15, _) => {
            let bits: u32 = if top { 32 } else { 16 };
            let fraction = bits.checked_sub((b & 15) << 1 | b >> 5 & 1)?;
            let (to_fixed, signed) = (a & 4 != 0, a & 1 == 0);
            return Some(Op::VcvtFixed { d, to_fixed, signed, bits: bits as u8, fraction: fraction as u8 });
        }
        _ => return None,
    };
    Some(Op::Fp { kind, d, n, m })
}

/// Decodes FP loads and stores (A6.5).
fn load_or_store(a: u32, b: u32) -> Option<Op> {
    let (before, up, write_back, load) = (a & 0x100 != 0, a & 0x80 != 0, a & 0x20 != 0, a & 0x10 != 0);
    let (rn, imm8, wide) = (reg(a, 0), b & 0xff, b & 0x100 != 0);
    let d = if wide { double(b, 12, a >> 6) } else { single(b, 12, a >> 6) };
    if before && !write_back {
        let bytes = (imm8 * 4) as i16;
        let imm = if up { bytes } else { -bytes };
        let words = if wide { 2 } else { 1 };
        return Some(if load { Op::Vldr { d, words, rn, imm } } else { Op::Vstr { d, words, rn, imm } });
    }
    // FLDMX and FSTMX, with an odd number of words (A7.7.235), are not emulated.
    let words = imm8 as u8;
    if before == up || words == 0 || words > 32 || (wide && !words.is_multiple_of(2)) {
        return None;
    }
    Some(if load {
        Op::Vldm { d, words, rn, write_back, decrement_before: before }
    } else {
        Op::Vstm { d, words, rn, write_back, decrement_before: before }
    })
}

/// Decodes transfers between one core register and the FPU (A6.6).
fn transfer(a: u32, b: u32) -> Option<Op> {
    let (rt, load) = (reg(b, 12), a & 0x10 != 0);
    let n = if b & 0x100 == 0 {
        match a >> 5 & 7 {
            0 => single(a, 0, b >> 7),
            7 if a & 15 == 1 => return Some(if load { Op::Vmrs { rt } } else { Op::Vmsr { rt } }),
            _ => return None,
        }
    } else if a & 0xc0 == 0 && b & 0x60 == 0 {
        // One word of a double-precision register.
        double(a, 0, b >> 7) + (a >> 5 & 1) as u8
    } else {
        return None;
    };
    Some(if load { Op::VmovToCore { rt, n } } else { Op::VmovToFloat { rt, n } })
}

/// Decodes transfers between two core registers and the FPU (A6.7).
fn pair(a: u32, b: u32) -> Option<Op> {
    if b & 0xd0 != 0x10 {
        return None;
    }
    let (rt, rt2) = (reg(b, 12), reg(a, 0));
    let m = if b & 0x100 == 0 { single(b, 0, b >> 5) } else { double(b, 0, b >> 5) };
    Some(if a & 0x10 != 0 { Op::VmovPairToCore { rt, rt2, m } } else { Op::VmovPairToFloat { rt, rt2, m } })
}
