//! The loop: exceptions that are due, instructions, and what they touched.

use super::{Bus, BusFault, Cpu, Entry, Flags, Sleep, Stop, Trap, cycles, decode16, decode32, op::Op};

/// The processor cannot go on; `self.stop` says why.
#[derive(Debug)]
struct Halt;

impl Cpu {
    /// [`Cpu::run`], or one step of it.
    pub(super) fn go(&mut self, bus: &mut impl Bus, until_cycles: u64, once: bool) -> Result<(), Stop> {
        // Out of the processor for as long as it runs: an instruction is executed where it lies in there.
        let mut cache = std::mem::take(&mut self.cache);
        let result = self.go_with(&mut cache, bus, until_cycles, once);
        self.cache = cache;
        result.map_err(|Halt| self.stop)
    }

    #[inline(never)]
    fn go_with(
        &mut self,
        cache: &mut [Entry],
        bus: &mut impl Bus,
        until_cycles: u64,
        once: bool,
    ) -> Result<(), Halt> {
        while self.cycles < until_cycles {
            if self.attend || self.cycles >= self.scs.tick_due {
                match self.attend_to(bus) {
                    Ok(true) => {}
                    Ok(false) if once || self.sleep != Sleep::No => return Ok(()),
                    Ok(false) => continue,
                    Err(stop) => return self.halt(Err(stop)),
                }
            }
            self.one(cache, bus)?;
            if self.touched && self.after_touch(bus) || once {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Keeps what stopped the processor, for a result that fits into a register.
    #[cold]
    fn halt(&mut self, result: Result<(), Stop>) -> Result<(), Halt> {
        result.map_err(|stop| {
            self.stop = stop;
            Halt
        })
    }

    /// The rare things before an instruction. Returns whether one may be executed now.
    #[cold]
    #[inline(never)]
    fn attend_to(&mut self, bus: &mut impl Bus) -> Result<bool, Stop> {
        if self.reset_requested {
            return Err(Stop::ResetRequested);
        }
        if self.locked_up {
            return Err(self.stop);
        }
        self.tick();
        if self.sleep != Sleep::No {
            return Ok(false);
        }
        self.attend = false;
        if let Some(number) = self.next_exception() {
            self.enter(bus, number)?;
            return Ok(false);
        }
        if !self.thumb {
            self.trapped(bus, Trap::InvalidState)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Peripherals were accessed. Returns whether they want attention.
    #[inline(never)]
    fn after_touch(&mut self, bus: &mut impl Bus) -> bool {
        self.touched = false;
        if let Some(levels) = bus.lines() {
            self.set_lines(levels);
        }
        bus.attention()
    }

    /// One instruction.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the loop around it is all that the processor does")]
    fn one(&mut self, cache: &mut [Entry], bus: &mut impl Bus) -> Result<(), Halt> {
        let (pc, it) = (self.pc, self.it);
        let decoded;
        let entry = match cache.get((pc / 2) as usize) {
            Some(entry) if entry.bytes != 0 => entry,
            _ => match decode(cache, bus, pc) {
                Ok(entry) => {
                    decoded = entry;
                    &decoded
                }
                Err(BusFault { address }) => {
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
            // ITAdvance (A7.3.3), before the instruction: an exception return brings a state of its own.
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
        let result = self.trapped(bus, trap);
        self.halt(result)
    }

    /// ConditionPassed (A7.3.1).
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

/// Decodes, and keeps what is of flash.
#[cold]
#[inline(never)]
fn decode(cache: &mut [Entry], bus: &mut impl Bus, pc: u32) -> Result<Entry, BusFault> {
    let mut fetch = |address| {
        // No code in the system region (B3.1).
        if address >= 0xe000_0000 { Err(BusFault { address }) } else { bus.fetch(address) }
    };
    let first = fetch(pc)?;
    let entry = if decode32::is_wide(first) {
        let second = fetch(pc.wrapping_add(2))?;
        Entry { op: decode32::decode(pc, first, second), bytes: 4 }
    } else {
        Entry { op: decode16::decode(pc, first), bytes: 2 }
    };
    if let Some(kept) = cache.get_mut((pc / 2) as usize) {
        *kept = entry;
    }
    Ok(entry)
}
