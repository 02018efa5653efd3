//! Reasons why the processor stops.

/// Reason why the processor has stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// Instruction that is not emulated.
    #[error("instruction {code:#x} at {pc:#010x} is not emulated")]
    UnknownInstruction {
        /// Address of the instruction.
        pc: u32,
        /// Instruction of 16 or 32 bits.
        code: u32,
    },
    /// The vector table cannot be read at reset.
    #[error("no vector table at {address:#010x}")]
    VectorTable {
        /// Address of the failed access.
        address: u32,
    },
    /// Lockup: a fault that no handler can take.
    #[error("lockup at {pc:#010x}")]
    Lockup {
        /// Address of the instruction that faulted.
        pc: u32,
    },
    /// BKPT. `set_register(15, pc + 2)` continues after it.
    #[error("breakpoint {number:#x} at {pc:#010x}")]
    Breakpoint {
        /// Address of the instruction.
        pc: u32,
        /// Operand. 0xAB is semihosting.
        number: u8,
    },
    /// AIRCR.SYSRESETREQ is set.
    ///
    /// The caller must call [`Cpu::reset`](super::Cpu::reset).
    #[error("system reset requested")]
    #[default]
    ResetRequested,
}
