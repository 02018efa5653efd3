//! Exceptions (B1.5): priorities, entry, return and faults. Interrupt lines (B3.4).

use super::{Bus, Cpu, Sleep, StopReason, Trap, cycles, scs};

pub const NMI: u16 = 2;
pub const HARD_FAULT: u16 = 3;
pub const MEM_MANAGE: u16 = 4;
pub const BUS_FAULT: u16 = 5;
pub const USAGE_FAULT: u16 = 6;
pub const SV_CALL: u16 = 11;
pub const DEBUG_MONITOR: u16 = 12;
pub const PEND_SV: u16 = 14;
pub const SYS_TICK: u16 = 15;
/// Exception number of external interrupt 0.
pub const IRQ0: u16 = 16;

/// Execution priority of thread mode without masks, below all exceptions.
const THREAD_PRIORITY: i16 = 256;
/// Bytes of a basic frame: R0 to R3, R12, LR, return address and xPSR.
const BASIC_FRAME: u32 = 0x20;
/// Bytes of an extended frame: a basic frame, S0 to S15, FPSCR and a reserved word.
const EXTENDED_FRAME: u32 = 0x68;

impl Cpu {
    /// Sets the level of interrupt line `irq`, 0 to 63.
    pub fn set_interrupt_line(&mut self, irq: usize, high: bool) {
        let bit = 1u64 << (irq & 63);
        self.set_interrupt_lines(if high { self.scs.line_levels | bit } else { self.scs.line_levels & !bit });
    }

    /// Sets the levels of all interrupt lines (B3.4.1).
    ///
    /// A high line pends its interrupt. While the interrupt is active, only a rising edge pends it
    /// again. A pending interrupt remains pending until it is taken or cleared.
    pub(super) fn set_interrupt_lines(&mut self, levels: u64) {
        let rising = levels & !self.scs.line_levels;
        if levels != self.scs.line_levels {
            self.scs.line_levels = levels;
            self.pend_external(levels & (!self.scs.active_external() | rising));
        }
    }

    /// Pends external interrupts, one bit each.
    pub(super) fn pend_external(&mut self, bits: u64) {
        let new = u128::from(bits) << IRQ0 & !self.scs.pending;
        if new != 0 {
            self.pend(new);
        }
    }

    /// Pends exceptions, one bit each.
    pub(super) fn pend(&mut self, bits: u128) {
        if self.scs.scr & scs::SEVONPEND != 0 && bits & !self.scs.pending != 0 {
            self.set_event();
        }
        self.scs.pending |= bits;
        self.update_pending();
    }

    /// Returns the group priority of a priority value (B1.5.4).
    fn group_bits(&self, priority: u8) -> i16 {
        i16::from(priority) & self.scs.group_mask()
    }

    /// Returns the priority of an exception, with its subpriority.
    fn priority(&self, number: u16) -> i16 {
        match number {
            0..=1 => -3,
            NMI => -2,
            HARD_FAULT => -1,
            _ => i16::from(self.scs.priorities[usize::from(number)]),
        }
    }

    fn group_priority(&self, number: u16) -> i16 {
        let priority = self.priority(number);
        if priority < 0 { priority } else { priority & self.scs.group_mask() }
    }

    /// Returns the group priority of the active exceptions, without masks.
    fn active_priority(&self) -> i16 {
        bits(self.scs.active).map(|number| self.group_priority(number)).min().unwrap_or(THREAD_PRIORITY)
    }

    /// Returns the execution priority with BASEPRI, FAULTMASK and a given PRIMASK.
    fn masked_priority(&self, primask: bool) -> i16 {
        let mut priority = self.active_priority();
        if self.basepri != 0 {
            priority = priority.min(self.group_bits(self.basepri));
        }
        if primask {
            priority = priority.min(0);
        }
        if self.faultmask {
            priority = priority.min(-1);
        }
        priority
    }

    /// Returns the execution priority: ExecutionPriority (B1.5.4).
    pub(super) fn execution_priority(&self) -> i16 {
        self.masked_priority(self.primask)
    }

    /// Returns the pending and enabled exception with the highest priority.
    pub(super) fn highest_pending(&self) -> Option<u16> {
        let candidates = self.scs.pending & self.scs.enabled;
        bits(candidates).min_by_key(|number| (self.priority(*number), *number))
    }

    /// Returns the pending exception that preempts the current execution.
    pub(super) fn next_exception(&self) -> Option<u16> {
        self.highest_pending().filter(|number| self.group_priority(*number) < self.execution_priority())
    }

    /// Checks for an exception to take or a wake-up.
    ///
    /// Must be called after a change of priorities, masks or pending bits.
    pub(super) fn update_pending(&mut self) {
        if self.scs.pending & self.scs.enabled == 0 {
            return;
        }
        if self.next_exception().is_some() {
            self.slow_path = true;
            self.sleep = Sleep::No;
        } else if self.sleep == Sleep::Interrupt {
            // WFI wakes up as if PRIMASK were clear (B1.5.19).
            let pending = self.highest_pending();
            if pending.is_some_and(|number| self.group_priority(number) < self.masked_priority(false)) {
                self.sleep = Sleep::No;
            }
        }
    }

    /// Returns xPSR: APSR, ITSTATE, T and IPSR (B1.4.2).
    pub fn xpsr(&self) -> u32 {
        let it = u32::from(self.it);
        self.apsr()
            | (it & 3) << 25
            | u32::from(self.thumb) << 24
            | (it >> 2) << 10
            | u32::from(self.exception)
    }

    /// Stacks a frame and enters an exception: ExceptionEntry (B1.5.6).
    pub(super) fn enter_exception(&mut self, bus: &mut impl Bus, number: u16) -> Result<(), StopReason> {
        self.cycles += cycles::EXCEPTION_ENTRY;
        let extended = self.fpca;
        let stacked = self.push_frame(bus, extended);
        let from_thread = self.exception == 0;
        let exc_return = match (from_thread, self.psp_in_use) {
            (false, _) => 0xffff_fff1,
            (true, false) => 0xffff_fff9,
            (true, true) => 0xffff_fffd,
        };
        self.r[14] = if extended { exc_return & !0x10 } else { exc_return };
        let mut number = number;
        if stacked.is_err() {
            // A derived exception replaces the original one (B1.5.11).
            self.scs.cfsr |= scs::STKERR;
            number = self.escalate(BUS_FAULT)?;
        }
        self.take_exception(bus, number)
    }

    /// Stacks a basic or extended frame: PushStack (B1.5.6).
    fn push_frame(&mut self, bus: &mut impl Bus, extended: bool) -> Result<(), Trap> {
        let force = extended || self.scs.ccr & scs::STKALIGN != 0;
        let unaligned = force && self.r[13] & 4 != 0;
        let size = if extended { EXTENDED_FRAME } else { BASIC_FRAME };
        let frame = self.r[13].wrapping_sub(size) & if force { !7 } else { !3 };
        self.r[13] = frame;
        let xpsr = self.xpsr() | u32::from(unaligned) << 9;
        let core = [self.r[0], self.r[1], self.r[2], self.r[3], self.r[12], self.r[14], self.pc, xpsr];
        let words = (0..).map(|at| frame.wrapping_add(4 * at));
        for (address, value) in words.zip(core) {
            self.write_word(bus, address, value)?;
        }
        if extended {
            self.cycles += cycles::EXCEPTION_FLOAT_FRAME;
            // Lazy stacking (B1.5.7) is not emulated: the FP registers are stored at exception
            // entry.
            self.scs.fpcar = frame.wrapping_add(BASIC_FRAME);
            for at in 0..16 {
                let value = self.s[at];
                self.write_word(bus, frame.wrapping_add(BASIC_FRAME + 4 * at as u32), value)?;
            }
            self.write_word(bus, frame.wrapping_add(0x60), self.fpscr)?;
        }
        Ok(())
    }

    /// Activates an exception and loads its vector: ExceptionTaken (B1.5.6).
    fn take_exception(&mut self, bus: &mut impl Bus, number: u16) -> Result<(), StopReason> {
        let bit = 1u128 << number;
        self.scs.pending &= !bit;
        self.scs.active |= bit;
        self.exception = number;
        self.use_stack(false);
        self.fpca = false;
        self.update_fp_ready();
        self.it = 0;
        self.exclusive_monitor = false;
        self.event_register = true;
        self.sleep = Sleep::No;
        let Ok(vector) = self.read_word(bus, self.scs.vtor.wrapping_add(4 * u32::from(number))) else {
            self.scs.hfsr |= scs::VECTTBL;
            if number == HARD_FAULT || number == NMI || self.faultmask {
                return Err(self.lock_up());
            }
            return self.take_exception(bus, HARD_FAULT);
        };
        self.thumb = vector & 1 != 0;
        self.pc = vector & !1;
        // A late-arriving exception may preempt this one, or the vector may lack the Thumb bit.
        self.slow_path = true;
        Ok(())
    }

    /// Unstacks a frame and returns from an exception: ExceptionReturn (B1.5.8).
    pub(super) fn exception_return(&mut self, bus: &mut impl Bus, code: u32) -> Result<(), Trap> {
        self.cycles += cycles::EXCEPTION_RETURN;
        let returning = self.exception;
        let bit = 1u128 << returning;
        let nested = (self.scs.active & !bit) != 0;
        let to_thread = code & 8 != 0;
        let legal = match code & 0xf {
            0x1 => nested,
            0x9 | 0xd => !nested || self.scs.ccr & scs::NONBASETHRDENA != 0,
            _ => false,
        };
        if self.scs.active & bit == 0 || !legal || code & 0x0fff_ffe0 != 0x0fff_ffe0 {
            self.deactivate(returning);
            self.r[14] = code;
            return Err(Trap::InvalidPc);
        }
        let extended = code & 0x10 == 0;
        let psp = code & 0xf == 0xd;
        let frame = *self.stack_pointer(psp);
        let Ok(words) = self.read_frame(bus, frame) else { return Err(Trap::Unstacking) };
        let xpsr = words[7];
        if (xpsr & 0x1ff == 0) != to_thread {
            self.deactivate(returning);
            self.r[14] = code;
            return Err(Trap::InvalidPc);
        }
        if extended {
            self.pop_fp_frame(bus, frame.wrapping_add(BASIC_FRAME)).map_err(|_| Trap::Unstacking)?;
            self.cycles += cycles::EXCEPTION_FLOAT_FRAME;
        }
        self.deactivate(returning);
        self.fpca = extended;
        self.exception = (xpsr & 0x1ff) as u16;
        if to_thread {
            self.spsel = psp;
        }
        self.use_stack(psp);
        self.update_fp_ready();
        let size = if extended { EXTENDED_FRAME } else { BASIC_FRAME };
        let force = extended || self.scs.ccr & scs::STKALIGN != 0;
        let align = if force && xpsr & 0x200 != 0 { 4 } else { 0 };
        self.r[13] = frame.wrapping_add(size) | align;
        self.r[..4].copy_from_slice(&words[..4]);
        self.r[12] = words[4];
        self.r[14] = words[5];
        self.pc = words[6] & !1;
        self.set_flags(xpsr);
        self.flags.ge = (xpsr >> 16 & 15) as u8;
        self.it = (xpsr >> 25 & 3 | xpsr >> 8 & 0xfc) as u8;
        self.thumb = xpsr & 1 << 24 != 0;
        self.exclusive_monitor = false;
        self.event_register = true;
        self.slow_path = true;
        // A line that is still high pends its interrupt again (B3.4.1).
        if returning >= IRQ0 && self.scs.line_levels >> (returning - IRQ0) & 1 != 0 {
            self.pend(bit);
        }
        if to_thread && self.scs.scr & scs::SLEEPONEXIT != 0 {
            self.enter_sleep(Sleep::Interrupt);
        }
        Ok(())
    }

    fn read_frame(&mut self, bus: &mut impl Bus, frame: u32) -> Result<[u32; 8], Trap> {
        let mut words = [0; 8];
        for (at, word) in words.iter_mut().enumerate() {
            *word = self.read_word(bus, frame.wrapping_add(4 * at as u32))?;
        }
        Ok(words)
    }

    fn pop_fp_frame(&mut self, bus: &mut impl Bus, from: u32) -> Result<(), Trap> {
        for at in 0..16 {
            self.s[at] = self.read_word(bus, from.wrapping_add(4 * at as u32))?;
        }
        self.fpscr = self.read_word(bus, from.wrapping_add(0x40))?;
        Ok(())
    }

    /// Deactivates an exception: DeActivate (B1.5.8).
    ///
    /// Clears FAULTMASK, except after NMI.
    fn deactivate(&mut self, number: u16) {
        self.scs.active &= !(1u128 << number);
        if number != NMI {
            self.faultmask = false;
        }
    }

    /// Enters the exception of a trap, or stops the processor.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_trap(&mut self, bus: &mut impl Bus, trap: Trap) -> Result<(), StopReason> {
        let (status, number) = match trap {
            Trap::Stop => return Err(self.stop_reason),
            Trap::Supervisor => (0, SV_CALL),
            Trap::Undefined => (scs::UNDEFINSTR, USAGE_FAULT),
            Trap::InvalidState => (scs::INVSTATE, USAGE_FAULT),
            Trap::InvalidPc => (scs::INVPC, USAGE_FAULT),
            Trap::NoCoprocessor => (scs::NOCP, USAGE_FAULT),
            Trap::Unaligned => (scs::UNALIGNED, USAGE_FAULT),
            Trap::DivideByZero => (scs::DIVBYZERO, USAGE_FAULT),
            Trap::Fetch => (scs::IBUSERR, BUS_FAULT),
            Trap::Data => (scs::PRECISERR | scs::BFARVALID, BUS_FAULT),
            Trap::Unstacking => (scs::UNSTKERR, BUS_FAULT),
        };
        self.scs.cfsr |= status;
        if trap == Trap::Data {
            self.scs.bfar = self.fault_address;
        }
        let number = self.escalate(number)?;
        self.enter_exception(bus, number)
    }

    /// Returns the given synchronous exception, or HardFault (B1.5.14).
    ///
    /// HardFault handles exceptions that are disabled or have too low a priority.
    fn escalate(&mut self, number: u16) -> Result<u16, StopReason> {
        let current = self.execution_priority();
        let enabled = self.scs.enabled >> number & 1 != 0;
        if enabled && self.group_priority(number) < current {
            return Ok(number);
        }
        if current <= -1 {
            return Err(self.lock_up());
        }
        self.scs.hfsr |= scs::FORCED;
        Ok(HARD_FAULT)
    }

    fn lock_up(&mut self) -> StopReason {
        self.locked_up = true;
        self.slow_path = true;
        self.stop_reason = StopReason::Lockup { pc: self.pc };
        self.stop_reason
    }
}

/// Returns the numbers of the set bits.
fn bits(mut set: u128) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros() as u16);
        set &= set.wrapping_sub(1);
        number
    })
}
