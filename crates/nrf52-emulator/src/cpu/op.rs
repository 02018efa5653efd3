//! Decoded instructions of eight bytes each.
//!
//! Branch targets and literal addresses are absolute.

/// Register number: 0 to 15, [`SINK`] or [`ZERO`].
pub type Reg = u8;
/// Register that discards the result of a comparison.
pub const SINK: Reg = 16;
/// Register that reads as zero.
///
/// With it, ORR decodes MOV, ORN decodes MVN and BFI decodes BFC.
pub const ZERO: Reg = 17;

/// Data-processing operation (A5.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sbc,
    Sub,
    Rsb,
}

/// Shift (A7.4). [`Shift::Lsr`] and [`Shift::Asr`] allow an amount of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    Rrx,
}

/// Size and sign extension of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

/// Addressing mode of LDRD and STRD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Offset: the base is unchanged.
    Offset,
    /// Pre-indexed: the base becomes the address.
    Pre,
    /// Post-indexed: the address is the base, which changes after the access.
    Post,
}

/// Sign or zero extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extend {
    SignedHalf,
    UnsignedHalf,
    SignedByte16,
    UnsignedByte16,
    SignedByte,
    UnsignedByte,
}

/// Instruction with one source register: REV, REV16, RBIT, REVSH and CLZ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reverse {
    Bytes,
    BytesOfHalves,
    Bits,
    SignedHalf,
    LeadingZeros,
}

/// Multiplication with a 64-bit result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Long {
    Smull,
    Umull,
    Smlal,
    Umlal,
    Umaal,
    // SMLALBB, SMLALBT, SMLALTB, SMLALTT: `top_n` and `top_m` select the halves of the operands.
    SmlalHalf { top_n: bool, top_m: bool },
    Smlald { cross: bool },
    Smlsld { cross: bool },
}

/// DSP multiplication with a 32-bit result.
///
/// The accumulator is [`ZERO`] if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dsp {
    Half { top_n: bool, top_m: bool },
    Wide { top_m: bool },
    DualAdd { cross: bool },
    DualSub { cross: bool },
    MostSignificantAdd { round: bool },
    MostSignificantSub { round: bool },
    AbsoluteDifferences,
}

/// Saturating addition or subtraction (A7.7.100 ff.).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturating {
    Add,
    DoubleAdd,
    Sub,
    DoubleSub,
}

/// Lanes of a parallel addition or subtraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    Add16,
    AddSubExchange,
    SubAddExchange,
    Sub16,
    Add8,
    Sub8,
}

/// Signedness and overflow of a parallel addition or subtraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    Signed,
    SignedSaturating,
    SignedHalving,
    Unsigned,
    UnsignedSaturating,
    UnsignedHalving,
}

/// FP operation with operands `d`, `n` and `m` (A7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fp {
    Mla,
    Mls,
    Nmla,
    Nmls,
    Mul,
    Nmul,
    Add,
    Sub,
    Div,
    FusedMla,
    FusedMls,
    FusedNmla,
    FusedNmls,
    Mov,
    Abs,
    Neg,
    Sqrt,
    /// VCMP, and VCMPE with `n` = 1.
    ///
    /// They differ only in the cumulative exception flags.
    Cmp,
    CmpZero,
    /// VCVTB and VCVTT from the half `n` of `m`: 0 bottom, 1 top.
    FromHalf,
    /// VCVTB and VCVTT to the half `n` of `d`: 0 bottom, 1 top.
    ToHalf,
    FromSigned,
    FromUnsigned,
    /// VCVT, which rounds toward zero.
    ToSigned,
    ToUnsigned,
    /// VCVTR, which rounds by FPSCR.RMode.
    ToSignedRounding,
    ToUnsignedRounding,
}

/// Decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Nop,
    MovImm { rd: Reg, s: bool, imm: u32 },
    MovReg { rd: Reg, rm: Reg },
    MovPc { rm: Reg },
    MovTop { rd: Reg, imm: u16 },
    AddImm { rd: Reg, rn: Reg, s: bool, imm: u32 },
    SubImm { rd: Reg, rn: Reg, s: bool, imm: u32 },
    CmpImm { rn: Reg, imm: u32 },
    AddReg { rd: Reg, rn: Reg, rm: Reg, s: bool },
    SubReg { rd: Reg, rn: Reg, rm: Reg, s: bool },
    CmpReg { rn: Reg, rm: Reg },
    AddPc { rm: Reg },
    AluImm { alu: Alu, rd: Reg, rn: Reg, imm: u32 },
    // Sets flags. Logical operations leave the carry unchanged.
    AluImmS { alu: Alu, rd: Reg, rn: Reg, imm: u32 },
    // Sets flags. Logical operations set the carry to bit 31 of the immediate (A5.3.2).
    AluImmC { alu: Alu, rd: Reg, rn: Reg, imm: u32 },
    AluReg { alu: Alu, rd: Reg, rn: Reg, rm: Reg, shift: Shift, amount: u8, s: bool },
    ShiftImm { shift: Shift, rd: Reg, rm: Reg, amount: u8, s: bool },
    ShiftReg { shift: Shift, rd: Reg, rn: Reg, rm: Reg, s: bool },
    Bfi { rd: Reg, rn: Reg, lsb: u8, width: u8 },
    Ubfx { rd: Reg, rn: Reg, lsb: u8, width: u8 },
    Sbfx { rd: Reg, rn: Reg, lsb: u8, width: u8 },
    Extend { kind: Extend, rd: Reg, rn: Reg, rm: Reg, rotate: u8 },
    Reverse { kind: Reverse, rd: Reg, rm: Reg },
    Mul { rd: Reg, rn: Reg, rm: Reg, s: bool },
    Mla { rd: Reg, rn: Reg, rm: Reg, ra: Reg },
    Mls { rd: Reg, rn: Reg, rm: Reg, ra: Reg },
    MulLong { kind: Long, lo: Reg, hi: Reg, rn: Reg, rm: Reg },
    Dsp { kind: Dsp, rd: Reg, rn: Reg, rm: Reg, ra: Reg },
    Udiv { rd: Reg, rn: Reg, rm: Reg },
    Sdiv { rd: Reg, rn: Reg, rm: Reg },
    Ssat { rd: Reg, rn: Reg, bits: u8, shift: Shift, amount: u8 },
    Usat { rd: Reg, rn: Reg, bits: u8, shift: Shift, amount: u8 },
    Ssat16 { rd: Reg, rn: Reg, bits: u8 },
    Usat16 { rd: Reg, rn: Reg, bits: u8 },
    Saturating { kind: Saturating, rd: Reg, rn: Reg, rm: Reg },
    Parallel { lanes: Lanes, kind: Parallel, rd: Reg, rn: Reg, rm: Reg },
    Sel { rd: Reg, rn: Reg, rm: Reg },
    // PKHBT with `Shift::Lsl`, PKHTB with `Shift::Asr`.
    Pack { rd: Reg, rn: Reg, rm: Reg, shift: Shift, amount: u8 },

    Ldr { rt: Reg, rn: Reg, imm: u32 },
    Str { rt: Reg, rn: Reg, imm: u32 },
    Load { access: Access, rt: Reg, rn: Reg, imm: u32 },
    LoadPre { access: Access, rt: Reg, rn: Reg, imm: u32 },
    LoadPost { access: Access, rt: Reg, rn: Reg, imm: u32 },
    LoadReg { access: Access, rt: Reg, rn: Reg, rm: Reg, lsl: u8 },
    LoadLiteral { access: Access, rt: Reg, address: u32 },
    Store { access: Access, rt: Reg, rn: Reg, imm: u32 },
    StorePre { access: Access, rt: Reg, rn: Reg, imm: u32 },
    StorePost { access: Access, rt: Reg, rn: Reg, imm: u32 },
    StoreReg { access: Access, rt: Reg, rn: Reg, rm: Reg, lsl: u8 },
    LoadPair { rt: Reg, rt2: Reg, rn: Reg, index: Index, imm: i16 },
    StorePair { rt: Reg, rt2: Reg, rn: Reg, index: Index, imm: i16 },
    // `decrement_before` is set for LDMDB, STMDB and PUSH.
    LoadMultiple { rn: Reg, list: u16, write_back: bool, decrement_before: bool },
    StoreMultiple { rn: Reg, list: u16, write_back: bool, decrement_before: bool },
    LoadExclusive { access: Access, rt: Reg, rn: Reg, words: u8 },
    StoreExclusive { access: Access, rd: Reg, rt: Reg, rn: Reg, words: u8 },
    ClearExclusive,
    TableBranch { rn: Reg, rm: Reg, half: bool },

    B { target: u32 },
    BCond { cond: u8, target: u32 },
    Bl { target: u32 },
    Bx { rm: Reg },
    Blx { rm: Reg },
    Cbz { rn: Reg, nonzero: bool, target: u32 },
    It { state: u8 },

    Svc,
    Bkpt { number: u8 },
    Udf,
    // Coprocessor other than the FPU: a Cortex-M4 has none.
    NoCoprocessor,
    // Not emulated: stops the processor.
    Unknown { code: u32 },
    Mrs { rd: Reg, special: u8 },
    Msr { rn: Reg, mask: u8, special: u8 },
    Cps { disable: bool, primask: bool, faultmask: bool },
    Sev,
    Wfe,
    Wfi,

    Fp { kind: Fp, d: u8, n: u8, m: u8 },
    VmovImm { d: u8, bits: u32 },
    // Converts between a float and a fixed-point number of 16 or 32 bits with `fraction` fraction
    // bits.
    VcvtFixed { d: u8, to_fixed: bool, signed: bool, bits: u8, fraction: u8 },
    VmovToCore { rt: Reg, n: u8 },
    VmovToFloat { rt: Reg, n: u8 },
    VmovPairToCore { rt: Reg, rt2: Reg, m: u8 },
    VmovPairToFloat { rt: Reg, rt2: Reg, m: u8 },
    Vmrs { rt: Reg },
    Vmsr { rt: Reg },
    // `words` is 1 or 2. Base 15 is the aligned PC.
    Vldr { d: u8, words: u8, rn: Reg, imm: i16 },
    Vstr { d: u8, words: u8, rn: Reg, imm: i16 },
    // `words` single-precision registers, starting at `d`.
    Vldm { d: u8, words: u8, rn: Reg, write_back: bool, decrement_before: bool },
    Vstm { d: u8, words: u8, rn: Reg, write_back: bool, decrement_before: bool },
}

const _: () = assert!(size_of::<Op>() == 8);

impl Op {
    /// Returns a 16-bit instruction as executed in an IT block (A7.3.2).
    ///
    /// It does not set the condition flags, unless it is a comparison.
    pub fn without_flags(self) -> Self {
        let mut op = self;
        match &mut op {
            Op::MovImm { s, .. }
            | Op::AddImm { s, .. }
            | Op::SubImm { s, .. }
            | Op::AddReg { s, .. }
            | Op::SubReg { s, .. }
            | Op::ShiftImm { s, .. }
            | Op::ShiftReg { s, .. }
            | Op::Mul { s, .. } => *s = false,
            Op::AluReg { s, rd, .. } if *rd != SINK => *s = false,
            Op::AluImmS { alu, rd, rn, imm } if *rd != SINK => {
                op = Op::AluImm { alu: *alu, rd: *rd, rn: *rn, imm: *imm };
            }
            _ => {}
        }
        op
    }
}
