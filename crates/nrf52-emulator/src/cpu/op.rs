//! What an instruction is once decoded: eight bytes, so that the cache of decodes stays small.
//!
//! Addresses that depend on the place of an instruction (branches, literals) are absolute already.

/// A register: 0..=15, or [`SINK`] or [`ZERO`].
pub type Reg = u8;
/// Where the result of a comparison goes.
pub const SINK: Reg = 16;
/// A register that always reads as zero: MOV is ORR with it, MVN is ORN, BFC is BFI.
pub const ZERO: Reg = 17;

/// Data processing (A5.3.1).
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

/// Shifts (A7.4). An amount of 32 is possible with [`Shift::Lsr`] and [`Shift::Asr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    Rrx,
}

/// What a load or store moves, and how a load widens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

/// Addressing of pairs and lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The base stays.
    Offset,
    /// The base becomes the address.
    Pre,
    /// The address is the base, which moves afterwards.
    Post,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extend {
    SignedHalf,
    UnsignedHalf,
    SignedByte16,
    UnsignedByte16,
    SignedByte,
    UnsignedByte,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reverse {
    Bytes,
    BytesOfHalves,
    Bits,
    SignedHalf,
    /// CLZ has the same shape.
    LeadingZeros,
}

/// Multiplications with a result of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Long {
    Smull,
    Umull,
    Smlal,
    Umlal,
    Umaal,
    // SMLALBB, SMLALBT, SMLALTB, SMLALTT: which half of each operand.
    SmlalHalf { top_n: bool, top_m: bool },
    Smlald { cross: bool },
    Smlsld { cross: bool },
}

/// The DSP extension's multiplications with a result of 32 bits; the accumulator is [`ZERO`] where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dsp {
    Half { top_n: bool, top_m: bool },
    Wide { top_m: bool },
    DualAdd { cross: bool },
    DualSub { cross: bool },
    MostAdd { round: bool },
    MostSub { round: bool },
    AbsoluteDifferences,
}

/// Saturating sums (A7.7.100 ff.).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saturating {
    Add,
    DoubleAdd,
    Sub,
    DoubleSub,
}

/// Lanes of parallel additions and subtractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    Add16,
    AddSubExchange,
    SubAddExchange,
    Sub16,
    Add8,
    Sub8,
}

/// What parallel additions do with what does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    Signed,
    SignedSaturating,
    SignedHalving,
    Unsigned,
    UnsignedSaturating,
    UnsignedHalving,
}

/// Floating point with operands `d`, `n`, `m` (A7.5).
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
    /// `n` is 1 for VCMPE, which only differs in the cumulative flags.
    Cmp,
    CmpZero,
    /// From the half `n` (0 bottom, 1 top) of `m`.
    FromHalf,
    /// To the half `n` of `d`.
    ToHalf,
    FromSigned,
    FromUnsigned,
    /// Toward zero.
    ToSigned,
    ToUnsigned,
    /// As FPSCR says.
    ToSignedRounding,
    ToUnsignedRounding,
}

/// One instruction.
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
    // Sets flags, but not the carry of logical operations.
    AluImmS { alu: Alu, rd: Reg, rn: Reg, imm: u32 },
    // Sets flags; logical operations take the carry from bit 31 of the immediate (A5.3.2).
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
    // PKHBT with [`Shift::Lsl`], PKHTB with [`Shift::Asr`].
    Pack { rd: Reg, rn: Reg, rm: Reg, shift: Shift, amount: u8 },

    Ldr { rt: Reg, rn: Reg, imm: u32 },
    Str { rt: Reg, rn: Reg, imm: u32 },
    Load { access: Access, rt: Reg, rn: Reg, imm: u32 },
    LoadPre { access: Access, rt: Reg, rn: Reg, imm: u32 },
    LoadPost { access: Access, rt: Reg, rn: Reg, imm: u32 },
    LoadReg { access: Access, rt: Reg, rn: Reg, rm: Reg, lsl: u8 },
    LoadAt { access: Access, rt: Reg, address: u32 },
    Store { access: Access, rt: Reg, rn: Reg, imm: u32 },
    StorePre { access: Access, rt: Reg, rn: Reg, imm: u32 },
    StorePost { access: Access, rt: Reg, rn: Reg, imm: u32 },
    StoreReg { access: Access, rt: Reg, rn: Reg, rm: Reg, lsl: u8 },
    LoadPair { rt: Reg, rt2: Reg, rn: Reg, index: Index, imm: i16 },
    StorePair { rt: Reg, rt2: Reg, rn: Reg, index: Index, imm: i16 },
    // `down`: the list ends below the base (LDMDB).
    LoadMany { rn: Reg, list: u16, write_back: bool, down: bool },
    StoreMany { rn: Reg, list: u16, write_back: bool, down: bool },
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
    // Permanently undefined: UDF.
    Udf,
    // A coprocessor that a Cortex-M4 does not have.
    NoCoprocessor,
    // Not known here: loud.
    Unknown { code: u32 },
    Mrs { rd: Reg, special: u8 },
    Msr { rn: Reg, mask: u8, special: u8 },
    Cps { disable: bool, primask: bool, faultmask: bool },
    Sev,
    Wfe,
    Wfi,

    Fp { kind: Fp, d: u8, n: u8, m: u8 },
    VmovImm { d: u8, bits: u32 },
    // Between a float and a fixed-point number of 16 or 32 bits, `fraction` of them behind the point.
    VcvtFixed { d: u8, to_fixed: bool, signed: bool, bits: u8, fraction: u8 },
    VmovToCore { rt: Reg, n: u8 },
    VmovToFloat { rt: Reg, n: u8 },
    VmovPairToCore { rt: Reg, rt2: Reg, m: u8 },
    VmovPairToFloat { rt: Reg, rt2: Reg, m: u8 },
    Vmrs { rt: Reg },
    Vmsr { rt: Reg },
    // `words` is 1 or 2; a literal's base is the PC, aligned.
    Vldr { d: u8, words: u8, rn: Reg, imm: i16 },
    Vstr { d: u8, words: u8, rn: Reg, imm: i16 },
    // `words` singles from `d` on.
    Vldm { d: u8, words: u8, rn: Reg, write_back: bool, down: bool },
    Vstm { d: u8, words: u8, rn: Reg, write_back: bool, down: bool },
}

const _: () = assert!(size_of::<Op>() == 8);

impl Op {
    /// What a 16-bit instruction does in an IT block: the same, without flags (A7.3.2).
    /// Comparisons keep setting them.
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
