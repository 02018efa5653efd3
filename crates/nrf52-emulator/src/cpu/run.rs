//! Main loop: pending exceptions, instructions and their effects on the bus.

use super::{Bus, BusError, Cpu, Entry, Flags, Sleep, StopReason, Trap, cycles, decode16, decode32, op::Op};

/// The processor has stopped, with the reason in [`Cpu::stop_reason`].
///
/// A `Result` with this error fits into a register, unlike one with [`StopReason`].
#[derive(Debug)]
struct Halt;

impl Cpu {
    /// Performs [`Cpu::run`], or one step with `once`.
    pub(super) fn run_loop(
        &mut self, bus: &mut impl Bus, until_cycles: u64, once: bool,
    ) -> Result<(), StopReason> {
        // Moved out of `self`, so that `execute` can borrow an instruction from the cache.
        let mut cache = std::mem::take(&mut self.cache);
        let result = self.run_with_cache(&mut cache, bus, until_cycles, once);
        self.cache = cache;
        result.map_err(|Halt| self.stop_reason)
    }

    #[inline(never)]
    fn run_with_cache(
        &mut self, cache: &mut [Entry], bus: &mut impl Bus, until_cycles: u64, once: bool,
    ) -> Result<(), Halt> {
        while self.cycles < until_cycles {
            if self.slow_path || self.cycles >= self.scs.systick_due {
                match self.handle_slow_path(bus) {
                    Ok(true) => {}
                    Ok(false) if once || self.sleep != Sleep::No => return Ok(()),
                    Ok(false) => continue,
                    Err(stop) => return self.halt(Err(stop)),
                }
            }
            self.execute_one(cache, bus)?;
            if self.bus_accessed && self.after_bus_access(bus) || once {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Stores the stop reason.
    #[cold]
    fn halt(&mut self, result: Result<(), StopReason>) -> Result<(), Halt> {
        result.map_err(|stop| {
            self.stop_reason = stop;
            Halt
        })
    }

    /// Handles rare conditions before an instruction.
    ///
    /// Returns whether an instruction can be executed.
    #[cold]
    #[inline(never)]
    fn handle_slow_path(&mut self, bus: &mut impl Bus) -> Result<bool, StopReason> {
        if self.reset_requested {
            return Err(StopReason::ResetRequested);
        }
        if self.locked_up {
            return Err(self.stop_reason);
        }
        self.update_systick();
        if self.sleep != Sleep::No {
            return Ok(false);
        }
        self.slow_path = false;
        if let Some(number) = self.next_exception() {
            self.enter_exception(bus, number)?;
            return Ok(false);
        }
        if !self.thumb {
            self.handle_trap(bus, Trap::InvalidState)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Updates interrupt lines after a peripheral access.
    ///
    /// Returns whether the loop must return.
    #[inline(never)]
    fn after_bus_access(&mut self, bus: &mut impl Bus) -> bool {
        self.bus_accessed = false;
        if let Some(levels) = bus.interrupt_lines() {
            self.set_interrupt_lines(levels);
        }
        bus.should_return()
    }

    /// Executes one instruction.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called once, in the main loop")]
    fn execute_one(&mut self, cache: &mut [Entry], bus: &mut impl Bus) -> Result<(), Halt> {
        let (pc, it) = (self.pc, self.it);
        let decoded;
        let entry = match cache.get((pc / 2) as usize) {
            Some(entry) if entry.bytes != 0 => entry,
            _ => match decode(cache, bus, pc) {
                Ok(entry) => {
                    decoded = entry;
                    &decoded
                }
                Err(BusError { address }) => {
                    self.fault_address = address;
                    return self.trap(bus, Trap::Fetch);
                }
            },
        };
        self.instructions += 1;
        self.cycles += cycles::INSTRUCTION;
        self.r[15] = pc.wrapping_add(4);
        self.pc = pc.wrapping_add(u32::from(entry.bytes));
        let without_flags;
        let mut op = &entry.op;
        if it != 0 {
            // ITAdvance (A7.3.3) comes before the instruction, because an exception return sets
            // ITSTATE.
            self.it = if it & 7 == 0 { 0 } else { it & 0xe0 | it << 1 & 0x1f };
            if !self.condition(it >> 4) && !matches!(op, Op::Bkpt { .. }) {
                return Ok(());
            }
            if entry.bytes == 2 {
                without_flags = op.without_flags();
                op = &without_flags;
            }
        }
        match self.execute(bus, op) {
            Ok(()) => Ok(()),
            Err(trap) => {
                if trap != Trap::Supervisor {
                    self.pc = pc;
                    self.it = it;
                }
                self.trap(bus, trap)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn trap(&mut self, bus: &mut impl Bus, trap: Trap) -> Result<(), Halt> {
        let result = self.handle_trap(bus, trap);
        self.halt(result)
    }

    /// Returns whether a condition holds: ConditionPassed (A7.3.1).
    #[inline]
    pub(super) fn condition(&self, condition: u8) -> bool {
        let Flags { n, z, c, v, .. } = self.flags;
        let holds = match condition >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => c && !z,
            5 => n == v,
            6 => n == v && !z,
            _ => return true,
        };
        holds != (condition & 1 != 0)
    }
}

/// Decodes an instruction and stores it if the cache covers its address.
#[cold]
#[inline(never)]
fn decode(cache: &mut [Entry], bus: &mut impl Bus, pc: u32) -> Result<Entry, BusError> {
    let mut fetch = |address| {
        // The system region is execute-never (B3.1).
        if address >= 0xe000_0000 { Err(BusError { address }) } else { bus.fetch(address) }
    };
    let first = fetch(pc)?;
    let entry = if decode32::is_wide(first) {
        let second = fetch(pc.wrapping_add(2))?;
        Entry { op: decode32::decode(pc, first, second), bytes: 4 }
    } else {
        Entry { op: decode16::decode(pc, first), bytes: 2 }
    };
    if let Some(slot) = cache.get_mut((pc / 2) as usize) {
        *slot = entry;
    }
    Ok(entry)
}
