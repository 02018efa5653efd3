//! Reasons why the processor stops.

use std::fmt;

/// Reason why the processor has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Instruction that is not emulated.
    UnknownInstruction {
        /// Address of the instruction.
        pc: u32,
        /// Instruction of 16 or 32 bits.
        code: u32,
    },
    /// The vector table cannot be read at reset.
    VectorTable {
        /// Address of the failed access.
        address: u32,
    },
    /// Lockup: a fault that no handler can take.
    Lockup {
        /// Address of the instruction that faulted.
        pc: u32,
    },
    /// BKPT. `set_register(15, pc + 2)` continues after it.
    Breakpoint {
        /// Address of the instruction.
        pc: u32,
        /// Operand. 0xAB is semihosting.
        number: u8,
    },
    /// AIRCR.SYSRESETREQ is set.
    ///
    /// The caller must call [`Cpu::reset`](super::Cpu::reset).
    ResetRequested,
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownInstruction { pc, code } => {
                write!(formatter, "instruction {code:#x} at {pc:#010x} is not emulated")
            }
            Self::VectorTable { address } => write!(formatter, "no vector table at {address:#010x}"),
            Self::Lockup { pc } => write!(formatter, "lockup at {pc:#010x}"),
            Self::Breakpoint { pc, number } => write!(formatter, "breakpoint {number:#x} at {pc:#010x}"),
            Self::ResetRequested => formatter.write_str("system reset requested"),
        }
    }
}

impl core::error::Error for StopReason {}
