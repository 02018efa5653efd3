//! Cortex-M4F processor, without memory and peripherals.
//!
//! Section numbers such as A7.7.12 or B1.5.6 refer to the ARMv7-M Architecture Reference Manual
//! (ARM DDI 0403E).
//!
//! Memory, peripherals and interrupt lines are behind the trait [`Bus`]. The peripherals on the
//! private peripheral bus (NVIC, SysTick, system control block, cycle counter) are part of [`Cpu`].
#![allow(
    clippy::cast_possible_wrap,
    clippy::struct_excessive_bools,
    clippy::verbose_bit_mask,
    clippy::too_many_lines,
    reason = "registers are signed or unsigned by instruction, and decoding is one large match"
)]

mod cycles;
mod decode16;
mod decode32;
mod decode_fp;
mod exceptions;
mod execute;
mod float;
mod fpu;
mod half;
mod memory;
mod multiply;
mod op;
mod ppb;
mod run;
mod scs;
mod special;
mod stop;

use op::Op;
pub use stop::StopReason;

/// Size of a bus access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 8 bits.
    Byte,
    /// 16 bits, aligned.
    Half,
    /// 32 bits, aligned.
    Word,
}

/// Error response of the bus to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bus error at {address:#010x}")]
pub struct BusError {
    /// Address of the access.
    pub address: u32,
}

/// Memory, peripherals and interrupt lines around the processor.
///
/// All accesses are aligned. Addresses 0xE000_0000 to 0xE00F_FFFF (private peripheral bus) never
/// reach the bus.
pub trait Bus {
    /// Reads. A byte or halfword is in the least significant bits.
    fn load(&mut self, address: u32, size: Size) -> Result<u32, BusError>;

    /// Writes.
    fn store(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusError>;

    /// Fetches a halfword of an instruction.
    fn fetch(&mut self, address: u32) -> Result<u16, BusError>;

    /// Sets the time, in cycles, of the next access.
    ///
    /// Called before every access at or above 0x4000_0000 and every write below 0x2000_0000.
    fn set_time(&mut self, _cycles: u64) {}

    /// Returns the levels of all interrupt lines, or `None` if they have not changed.
    ///
    /// Called after every instruction with an access for which [`Bus::set_time`] is called.
    fn interrupt_lines(&mut self) -> Option<u64> {
        None
    }

    /// Returns whether [`Cpu::run`] must return now.
    ///
    /// Called after [`Bus::interrupt_lines`].
    fn should_return(&mut self) -> bool {
        false
    }
}

/// Reason why an instruction did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    Undefined,
    NoCoprocessor,
    InvalidState,
    InvalidPc,
    Unaligned,
    DivideByZero,
    Fetch,
    /// Bus error of a load or store at [`Cpu::fault_address`].
    Data,
    Unstacking,
    Supervisor,
    /// Not an exception: stops the emulator with [`Cpu::stop_reason`].
    Stop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sleep {
    #[default]
    No,
    /// WFE: until the event register is set.
    Event,
    /// WFI: until an interrupt is pending.
    Interrupt,
}

/// Decoded instruction. `bytes` is 0 for code that has not been decoded.
#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Op,
    bytes: u8,
}

const NOT_DECODED: Entry = Entry { op: Op::Nop, bytes: 0 };

/// Condition flags, Q and GE of the APSR (B1.4.2).
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    n: bool,
    z: bool,
    c: bool,
    v: bool,
    q: bool,
    /// `GE[3:0]`.
    ge: u8,
}

/// Processor state.
#[derive(Clone, Debug, Default)]
pub struct Cpu {
    /// Clock cycles since creation.
    ///
    /// The caller may increase it while the processor sleeps.
    pub cycles: u64,
    /// Executed instructions since creation.
    pub instructions: u64,

    /// R0 to R12, current SP, LR, PC, [`op::SINK`] and [`op::ZERO`].
    ///
    /// PC is the address of the current instruction plus 4, as instructions read it.
    ///
    /// The length is a power of two, so that masked indices need no bounds check.
    r: [u32; 32],
    /// Address of the next instruction.
    pc: u32,
    flags: Flags,
    /// ITSTATE (A7.3.3), zero outside of IT blocks.
    it: u8,
    /// EPSR.T. Every instruction faults while it is clear.
    thumb: bool,
    /// S0 to S31, as bits.
    s: [u32; 32],
    fpscr: u32,

    /// MSP while R13 is PSP, and PSP otherwise.
    banked_sp: u32,
    psp_in_use: bool,
    /// CONTROL.nPRIV.
    unprivileged: bool,
    /// CONTROL.SPSEL.
    spsel: bool,
    /// CONTROL.FPCA.
    fpca: bool,
    primask: bool,
    faultmask: bool,
    basepri: u8,
    /// IPSR, zero in thread mode.
    exception: u16,
    exclusive_monitor: bool,
    event_register: bool,
    sleep: Sleep,

    /// FP instructions need no checks: CPACR allows them and FPCA is up to date.
    fp_ready: bool,
    /// The next step must check for reset, lockup, sleep and exceptions.
    slow_path: bool,
    /// The current instruction has accessed a peripheral or written to flash.
    bus_accessed: bool,
    locked_up: bool,
    reset_requested: bool,
    fault_address: u32,
    stop_reason: StopReason,
    /// Value of `instructions` at the last load or store.
    last_access: u64,
    cache: Vec<Entry>,
    scs: scs::Scs,
}

impl Cpu {
    /// Creates a processor that needs a [`Cpu::reset`].
    ///
    /// Instructions at addresses below `code_bytes` are decoded once. After a change of that
    /// memory, the caller must call [`Cpu::invalidate_code`].
    pub fn new(code_bytes: u32) -> Self {
        let cache = vec![NOT_DECODED; (code_bytes / 2) as usize];
        Self { thumb: true, last_access: u64::MAX, cache, scs: scs::Scs::new(0), ..Self::default() }
    }

    /// Resets the processor (B1.5.5). Interrupt lines keep their levels.
    pub fn reset(&mut self, bus: &mut impl Bus) {
        self.reset_to(bus, 0);
    }

    /// Resets the processor and loads SP and PC from the vector table at `table`.
    ///
    /// Emulates a bootloader. VTOR is 0, as after any reset.
    pub fn reset_to(&mut self, bus: &mut impl Bus, table: u32) {
        let cache = std::mem::take(&mut self.cache);
        let (cycles, instructions) = (self.cycles, self.instructions);
        let scs = scs::Scs::new(self.scs.line_levels);
        *self = Self { cycles, instructions, cache, scs, ..Self::new(0) };
        let mut vector = |address| bus.load(address, Size::Word);
        match (vector(table), vector(table + 4)) {
            (Ok(sp), Ok(pc)) => {
                self.r[13] = sp & !3;
                self.r[14] = 0xffff_ffff;
                self.thumb = pc & 1 != 0;
                self.pc = pc & !1;
                self.slow_path = !self.thumb;
            }
            (Err(BusError { address }), _) | (_, Err(BusError { address })) => {
                self.locked_up = true;
                self.slow_path = true;
                self.stop_reason = StopReason::VectorTable { address };
            }
        }
        self.update_pending();
    }

    /// Takes a pending exception or executes one instruction.
    ///
    /// Does nothing while the processor sleeps.
    pub fn step(&mut self, bus: &mut impl Bus) -> Result<(), StopReason> {
        self.run_loop(bus, u64::MAX, true)
    }

    /// Runs until a number of cycles, sleep, or [`Bus::should_return`].
    pub fn run(&mut self, bus: &mut impl Bus, until_cycles: u64) -> Result<(), StopReason> {
        self.run_loop(bus, until_cycles, false)
    }

    /// Returns whether the processor waits in WFE or WFI and SysTick is not due.
    pub fn is_asleep(&self) -> bool {
        self.sleep != Sleep::No && self.cycles < self.scs.systick_due
    }

    /// Returns the cycle at which SysTick next reaches zero, if it runs.
    ///
    /// Sleep must not extend past it.
    pub fn systick_due(&self) -> Option<u64> {
        (self.scs.systick_due != u64::MAX).then_some(self.scs.systick_due)
    }

    /// Returns the number of the active exception, 0 in thread mode.
    ///
    /// Interrupt 0 is exception 16.
    pub fn active_exception(&self) -> u16 {
        self.exception
    }

    /// Returns R0 to R12, SP (13), LR (14) or the address of the next instruction (15).
    pub fn register(&self, n: usize) -> u32 {
        if n == 15 { self.pc } else { self.r[n & 15] }
    }

    /// Returns the address of the next instruction.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Sets R0 to R12, SP (13), LR (14) or the address of the next instruction (15).
    pub fn set_register(&mut self, n: usize, value: u32) {
        match n {
            13 => self.r[13] = value & !3,
            15 => self.pc = value & !1,
            _ => self.r[n & 15] = value,
        }
    }

    /// Returns S0 to S31, as bits.
    pub fn fp_registers(&self) -> &[u32; 32] {
        &self.s
    }

    /// Discards decoded instructions in a range of memory that has changed.
    pub fn invalidate_code(&mut self, address: u32, bytes: u32) {
        // A 32-bit instruction may start one halfword earlier.
        let first = (address.saturating_sub(2) / 2) as usize;
        let last = (address.saturating_add(bytes).div_ceil(2) as usize).min(self.cache.len());
        if let Some(entries) = self.cache.get_mut(first..last) {
            entries.fill(NOT_DECODED);
        }
    }
}

/// Returns the length in bytes of an instruction, or `None` if it is not emulated.
///
/// `second` is the following halfword, which 16-bit instructions ignore.
pub fn instruction_length(first: u16, second: u16) -> Option<usize> {
    let (op, bytes) = if decode32::is_wide(first) {
        (decode32::decode(0, first, second), 4)
    } else {
        (decode16::decode(0, first), 2)
    };
    (!matches!(op, Op::Unknown { .. })).then_some(bytes)
}
