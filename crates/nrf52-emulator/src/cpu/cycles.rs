//! Instruction timing of the Cortex-M4, simplified.
//!
//! Cortex-M4 technical reference manual (ARM 100166), "Processor instruction timing" and "FPU
//! instruction set". Memory has no wait states; [`Chip`](crate::Chip) adds those of flash.

/// Base cost of every instruction. The other constants are added to it.
pub const INSTRUCTION: u64 = 1;
/// Address phase of a load or store that does not follow another one.
///
/// Back-to-back accesses overlap.
pub const FIRST_ACCESS: u64 = 1;
/// Pipeline refill after a branch.
///
/// On the chip it takes 1 to 3 cycles, by alignment and speculation.
pub const REFILL: u64 = 2;
/// Each register of LDM, STM, PUSH, POP, LDRD, STRD, VLDM or VSTM.
pub const LIST_REGISTER: u64 = 1;
/// MLA and MLS. MUL and the long multiplications take one cycle.
pub const MULTIPLY_ACCUMULATE: u64 = 1;
/// Minimum of SDIV and UDIV, which take 2 to 12 cycles.
pub const DIVIDE_MIN: u64 = 1;
/// Quotient bits that SDIV and UDIV compute per cycle.
pub const DIVIDE_BITS: u32 = 4;
/// VMLA, VMLS, VNMLA, VNMLS and their fused variants, which take 3 cycles.
pub const FLOAT_MULTIPLY_ACCUMULATE: u64 = 2;
/// VDIV and VSQRT, which take 14 cycles.
pub const FLOAT_DIVIDE: u64 = 13;
/// VMOV between two core registers and the FPU, which takes 2 cycles.
pub const FLOAT_PAIR: u64 = 1;
/// MRS and MSR, which take 2 cycles.
pub const SPECIAL: u64 = 1;
/// Exception entry: from the interrupt to the first instruction of its handler.
pub const EXCEPTION_ENTRY: u64 = 12;
/// Stacking or unstacking of the 17 FP words in an extended frame.
pub const EXCEPTION_FLOAT_FRAME: u64 = 12;
/// Exception return: up to the first instruction of the interrupted code.
pub const EXCEPTION_RETURN: u64 = 10;

/// Returns the extra cycles of SDIV and UDIV.
///
/// They depend on the difference between the significant bits of the operands.
pub const fn divide(dividend: u32, divisor: u32) -> u64 {
    let bits = divisor.leading_zeros().saturating_sub(dividend.leading_zeros());
    DIVIDE_MIN + bits.div_ceil(DIVIDE_BITS) as u64
}
