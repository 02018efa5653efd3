//! A Cortex-M4F, instruction by instruction, by the ARMv7-M Architecture Reference Manual (ARM DDI 0403E): its sections
//! are cited as A7.7.12 or B1.5.6.
//!
//! Memory, peripherals and interrupt lines are the [`Bus`]'s. The private peripherals (NVIC, SysTick, system control,
//! cycle counter) are in here.
#![allow(
    clippy::cast_possible_wrap,
    clippy::struct_excessive_bools,
    clippy::verbose_bit_mask,
    clippy::too_many_lines,
    reason = "a processor is made of flags, one big choice, and registers that are signed or not as one looks at them"
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
mod run;
mod scs;
mod scs_store;
mod special;

use op::Op;

/// Bytes of a bus access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// One.
    Byte,
    /// Two, aligned.
    Half,
    /// Four, aligned.
    Word,
}

/// Nothing answered at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusFault {
    /// Where.
    pub address: u32,
}

/// What is around the processor.
///
/// Accesses are aligned; 0xE000_0000 to 0xE00F_FFFF never gets here.
pub trait Bus {
    /// Reads; a byte or half is in the lowest bits.
    ///
    /// # Errors
    /// Nothing is there.
    fn load(&mut self, address: u32, size: Size) -> Result<u32, BusFault>;

    /// Writes.
    ///
    /// # Errors
    /// Nothing is there, or it cannot be written.
    fn store(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusFault>;

    /// 16 bits of code.
    ///
    /// # Errors
    /// Nothing is there, or it is no code.
    fn fetch(&mut self, address: u32) -> Result<u16, BusFault>;

    /// The time, before every access to 0x4000_0000 or above and every write to code.
    fn time(&mut self, _cycles: u64) {}

    /// Asked after every instruction that accessed 0x4000_0000 or above: the new levels of all interrupt lines, if
    /// they may have changed.
    fn lines(&mut self) -> Option<u64> {
        None
    }

    /// Asked at the same moments: whether [`Cpu::run`] returns at once.
    fn attention(&mut self) -> bool {
        false
    }
}

/// What [`Cpu::step`] cannot go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An instruction that is not known here: `code` has 16 or 32 bits.
    Undefined {
        /// Its address.
        pc: u32,
        /// What it is.
        code: u32,
    },
    /// The reset vector cannot be read.
    Bus {
        /// Where the processor was.
        pc: u32,
        /// What it wanted to read.
        address: u32,
    },
    /// A fault where none can be handled.
    Lockup {
        /// Where.
        pc: u32,
    },
    /// BKPT. To go on behind it: `set_register(15, pc + 2)`.
    Breakpoint {
        /// Its address.
        pc: u32,
        /// Its operand: 0xAB is semihosting.
        number: u8,
    },
    /// AIRCR.SYSRESETREQ was written: [`Cpu::reset`] is due.
    ResetRequested,
}

/// Why an instruction did not complete. Addresses are in [`Cpu::fault_address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trap {
    Undefined,
    NoCoprocessor,
    InvalidState,
    InvalidPc,
    Unaligned,
    DivideByZero,
    Fetch,
    Data,
    Unstacking,
    Supervisor,
    /// Not of the architecture: `self.stop` says what.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sleep {
    No,
    /// Until the event register is set.
    Event,
    /// Until an interrupt.
    Interrupt,
}

/// A decoded instruction; `bytes` is 0 where nothing was decoded yet.
#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Op,
    bytes: u8,
}

const NOT_DECODED: Entry = Entry { op: Op::Nop, bytes: 0 };

/// The condition flags, and the rest of the APSR (B1.4.2).
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    n: bool,
    z: bool,
    c: bool,
    v: bool,
    q: bool,
    /// Four bits.
    ge: u8,
}

/// The processor.
#[derive(Clone, Debug)]
pub struct Cpu {
    /// Clock cycles since it was made. The owner may move it on while it is asleep.
    pub cycles: u64,
    /// Instructions since it was made.
    pub instructions: u64,

    /// R0 to R12, the current SP, LR, the PC as instructions read it, then [`op::SINK`] and [`op::ZERO`]. A power of two:
    /// indexing needs no check.
    r: [u32; 32],
    /// The address of the next instruction.
    pc: u32,
    flags: Flags,
    /// ITSTATE (A7.3.3): zero outside of IT blocks.
    it: u8,
    /// EPSR.T; without it every instruction faults.
    thumb: bool,
    /// The floating-point registers, as bits.
    s: [u32; 32],
    fpscr: u32,

    /// MSP while PSP is in use, or the other way round.
    other_sp: u32,
    on_psp: bool,
    /// CONTROL: nPRIV, SPSEL, FPCA.
    unprivileged: bool,
    spsel: bool,
    fpca: bool,
    primask: bool,
    faultmask: bool,
    basepri: u8,
    /// IPSR: 0 in thread mode.
    exception: u16,
    exclusive: bool,
    event: bool,
    sleep: Sleep,

    /// FP instructions need no further look: allowed, and the context is marked.
    float_ready: bool,
    /// The next step looks at more than the next instruction.
    attend: bool,
    /// An access left for peripherals.
    touched: bool,
    locked_up: bool,
    reset_requested: bool,
    fault_address: u32,
    stop: Stop,
    /// The instruction that a load or store would be back to back with.
    last_access: u64,
    cache: Vec<Entry>,
    scs: scs::Scs,
}

impl Cpu {
    /// Before [`Cpu::reset`]. Decodes of code at 0..`code_bytes` are kept.
    #[must_use]
    pub fn new(code_bytes: u32) -> Self {
        Self {
            cycles: 0,
            instructions: 0,
            r: [0; 32],
            pc: 0,
            flags: Flags::default(),
            it: 0,
            thumb: true,
            s: [0; 32],
            fpscr: 0,
            other_sp: 0,
            on_psp: false,
            unprivileged: false,
            spsel: false,
            fpca: false,
            primask: false,
            faultmask: false,
            basepri: 0,
            exception: 0,
            exclusive: false,
            event: false,
            sleep: Sleep::No,
            float_ready: false,
            attend: false,
            touched: false,
            locked_up: false,
            reset_requested: false,
            fault_address: 0,
            stop: Stop::ResetRequested,
            last_access: u64::MAX,
            cache: vec![NOT_DECODED; (code_bytes / 2) as usize],
            scs: scs::Scs::new(0),
        }
    }

    /// Reset (B1.5.5). Interrupt lines keep their levels, which are not the processor's.
    pub fn reset(&mut self, bus: &mut impl Bus) {
        self.reset_to(bus, 0);
    }

    /// Reset, and then what a bootloader does: the stack and the program of the vector table at an address. VTOR stays where reset
    /// puts it, at 0: to set it is the program's business.
    pub fn reset_to(&mut self, bus: &mut impl Bus, table: u32) {
        let cache = std::mem::take(&mut self.cache);
        let (cycles, instructions) = (self.cycles, self.instructions);
        let scs = scs::Scs::new(self.scs.levels);
        *self = Self { cycles, instructions, cache, scs, ..Self::new(0) };
        let mut vector = |address| bus.load(address, Size::Word);
        match (vector(table), vector(table + 4)) {
            (Ok(sp), Ok(pc)) => {
                self.r[13] = sp & !3;
                self.r[14] = 0xffff_ffff;
                self.thumb = pc & 1 != 0;
                self.pc = pc & !1;
                self.attend = !self.thumb;
            }
            (Err(BusFault { address }), _) | (_, Err(BusFault { address })) => {
                self.locked_up = true;
                self.attend = true;
                self.stop = Stop::Bus { pc: 0, address };
            }
        }
        self.reconsider();
    }

    /// Takes an exception if one is due, or executes one instruction. Does nothing when asleep.
    ///
    /// # Errors
    /// What it cannot go on from.
    pub fn step(&mut self, bus: &mut impl Bus) -> Result<(), Stop> {
        self.go(bus, u64::MAX, true)
    }

    /// Steps until `until_cycles`, or asleep, or the bus wants attention.
    ///
    /// # Errors
    /// What it cannot go on from.
    pub fn run(&mut self, bus: &mut impl Bus, until_cycles: u64) -> Result<(), Stop> {
        self.go(bus, until_cycles, false)
    }

    /// In WFE or WFI, and nothing to wake it.
    #[must_use]
    pub fn asleep(&self) -> bool {
        self.sleep != Sleep::No && self.cycles < self.scs.tick_due
    }

    /// The cycle at which SysTick reaches zero, if it runs: as late as one may sleep.
    #[must_use]
    pub fn tick_due(&self) -> Option<u64> {
        (self.scs.tick_due != u64::MAX).then_some(self.scs.tick_due)
    }

    /// The exception that is being handled, 0 in thread mode; external interrupts begin at 16.
    #[must_use]
    pub fn active_exception(&self) -> u16 {
        self.exception
    }

    /// R0 to R12, SP, LR; 15 is [`Cpu::pc`].
    #[must_use]
    pub fn register(&self, n: usize) -> u32 {
        if n == 15 { self.pc } else { self.r[n & 15] }
    }

    /// The address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Sets R0 to R12, SP, LR or the PC.
    pub fn set_register(&mut self, n: usize, v: u32) {
        match n {
            13 => self.r[13] = v & !3,
            15 => self.pc = v & !1,
            _ => self.r[n & 15] = v,
        }
    }

    /// The floating-point registers, as bits.
    #[must_use]
    pub fn float_registers(&self) -> &[u32; 32] {
        &self.s
    }

    /// Flash was written: forgets what was decoded from there.
    pub fn forget(&mut self, address: u32, bytes: u32) {
        // An instruction may begin before.
        let first = (address.saturating_sub(2) / 2) as usize;
        let last = (address.saturating_add(bytes).div_ceil(2) as usize).min(self.cache.len());
        if let Some(entries) = self.cache.get_mut(first..last) {
            entries.fill(NOT_DECODED);
        }
    }
}

/// Whether an instruction is one that [`Cpu`] knows, and how many bytes it has: for looking through whole images.
#[must_use]
pub fn knows(first: u16, second: u16) -> (bool, u32) {
    if decode32::is_wide(first) {
        (!matches!(decode32::decode(0, first, second), Op::Unknown { .. }), 4)
    } else {
        (!matches!(decode16::decode(0, first), Op::Unknown { .. }), 2)
    }
}
