//! What instructions take, by the Cortex-M4 technical reference manual (ARM 100166, "Processor instruction timing" and
//! "FPU instruction set"), simplified. Memory without wait states: those are the chip's.

/// Every instruction takes this; the others come on top of it.
pub const INSTRUCTION: u64 = 1;
/// A load or store that does not follow another one: its address phase. Back to back they overlap.
pub const FIRST_ACCESS: u64 = 1;
/// Filling the pipeline after a branch: 1 to 3 by alignment and speculation.
pub const REFILL: u64 = 2;
/// One register of LDM, STM, PUSH, POP, LDRD, STRD, VLDM, VSTM.
pub const LIST_REGISTER: u64 = 1;
/// MLA and MLS; MUL and the long multiplications take the one cycle of any instruction.
pub const MULTIPLY_ACCUMULATE: u64 = 1;
/// SDIV and UDIV take 2 to 12; four bits of the quotient per cycle.
pub const DIVIDE_LEAST: u64 = 1;
/// Bits of the quotient that a division finds in a cycle.
pub const DIVIDE_BITS: u32 = 4;
/// VMLA, VMLS, VNMLA, VNMLS and the fused ones: 3.
pub const FLOAT_MULTIPLY_ACCUMULATE: u64 = 2;
/// VDIV and VSQRT: 14.
pub const FLOAT_DIVIDE: u64 = 13;
/// VMOV between a pair of core registers and the FPU: 2.
pub const FLOAT_PAIR: u64 = 1;
/// Barriers, MSR, CPS: 1 to 4 by what is under way; MRS and MSR: 2.
pub const SPECIAL: u64 = 1;
/// From an interrupt to the first instruction of its handler.
pub const EXCEPTION_ENTRY: u64 = 12;
/// 17 more words of an extended frame, lazily or not.
pub const EXCEPTION_FLOAT_FRAME: u64 = 12;
/// From the return to the first instruction of what was interrupted.
pub const EXCEPTION_RETURN: u64 = 10;

/// SDIV, UDIV: by how many more significant bits the dividend has than the divisor.
pub const fn divide(dividend: u32, divisor: u32) -> u64 {
    let bits = divisor.leading_zeros().saturating_sub(dividend.leading_zeros());
    DIVIDE_LEAST + bits.div_ceil(DIVIDE_BITS) as u64
}
