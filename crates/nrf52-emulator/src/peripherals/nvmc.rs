//! NVMC (product specification, "NVMC — Non-volatile memory controller").
//!
//! A word write takes 41 µs and a page erase 85 ms. The processor stalls meanwhile, because it
//! fetches from the flash that is busy.

use crate::{
    MICROSECOND,
    memory::{Memory, PAGE_BYTES, UICR_BASE},
    peripheral::{Context, Peripheral, Registers},
};

registers! {
    READY = 0x400, READYNEXT = 0x408, CONFIG = 0x504, ERASEPAGE = 0x508, ERASEALL = 0x50c,
    ERASEUICR = 0x514, ERASEPAGEPARTIAL = 0x518, ERASEPAGEPARTIALCFG = 0x51c, ICACHECNF = 0x540
}
/// CONFIG: write enabled.
const WEN: u32 = 1;
/// CONFIG: erase enabled.
const EEN: u32 = 2;

/// "t_WRITE, time to write one word": at most 41 µs.
const WRITE_TIME: u64 = 41 * MICROSECOND;
/// "t_ERASEPAGE": at most 85 ms.
const ERASE_PAGE_MS: u32 = 85;
const ERASE_PAGE_TIME: u64 = ERASE_PAGE_MS as u64 * 1000 * MICROSECOND;
/// "t_ERASEALL": at most 169 ms.
const ERASE_ALL_TIME: u64 = 169_000 * MICROSECOND;

/// Flash controller.
#[derive(Clone, Debug, Default)]
pub struct Nvmc {
    registers: Registers,
    /// Time until which the processor stalls.
    pub stalled_until: u64,
    /// First address of each erase, in order.
    pub erases: Vec<u32>,
    /// Number of words written.
    pub words_written: u64,
    /// Pages under partial erase, each with the milliseconds spent on it.
    partial_erases: Vec<(u32, u32)>,
    /// Modified ranges as address and length, for [`Cpu::invalidate_code`].
    ///
    /// [`Cpu::invalidate_code`]: crate::cpu::Cpu::invalidate_code
    pub modified_ranges: Vec<(u32, u32)>,
    /// Number of word writes and erases until a simulated power failure.
    ///
    /// Later ones have no effect.
    pub power_fails_after: Option<u64>,
}

impl Nvmc {
    /// Resets the registers.
    ///
    /// Operations in progress, counters and partial erases are unaffected.
    pub fn reset(&mut self) {
        self.registers = Self::power_on().registers;
    }

    /// Returns whether the instruction cache is enabled.
    pub fn cache_enabled(&self) -> bool {
        self.registers.get(ICACHECNF) & 1 != 0
    }

    /// Returns whether the next write or erase has power, and counts it.
    fn consume_power(&mut self) -> bool {
        match &mut self.power_fails_after {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }

    /// Writes a word to flash or UICR, which can only clear bits.
    ///
    /// Returns `false` when writes are disabled or the address is not aligned.
    pub fn write(&mut self, now: u64, memory: &mut Memory, address: u32, value: u32) -> bool {
        if self.registers.get(CONFIG) & 3 != WEN || !address.is_multiple_of(4) {
            return false;
        }
        self.stalled_until = self.stalled_until.max(now) + WRITE_TIME;
        if !self.consume_power() {
            return true;
        }
        self.words_written += 1;
        for (index, byte) in (0..).zip(value.to_le_bytes()) {
            if let Some(slot) = memory.nonvolatile_mut(address + index) {
                *slot &= byte;
            }
        }
        self.modified_ranges.push((address, 4));
        true
    }

    fn erase(&mut self, memory: &mut Memory, from: u32, bytes: u32) {
        if !self.consume_power() {
            return;
        }
        (from..from + bytes).for_each(|address| {
            if let Some(slot) = memory.nonvolatile_mut(address) {
                *slot = 0xff;
            }
        });
        self.modified_ranges.push((from, bytes));
        self.erases.push(from);
    }
}

impl Peripheral for Nvmc {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn reset_values() -> &'static [(u32, u32)] {
        &[(READY, 1), (READYNEXT, 1), (ERASEPAGEPARTIALCFG, 10)]
    }

    fn on_write(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        if self.registers.get(CONFIG) & 3 != EEN {
            return;
        }
        let stall = |nvmc: &mut Self, time| nvmc.stalled_until = nvmc.stalled_until.max(context.now) + time;
        match offset {
            ERASEPAGE => {
                stall(self, ERASE_PAGE_TIME);
                self.erase(context.memory, value & !(PAGE_BYTES - 1), PAGE_BYTES);
            }
            ERASEPAGEPARTIAL => {
                let page = value & !(PAGE_BYTES - 1);
                let milliseconds = self.registers.get(ERASEPAGEPARTIALCFG) & 0x7f;
                stall(self, u64::from(milliseconds) * 1000 * MICROSECOND);
                let index = self.partial_erases.iter().position(|(other, _)| *other == page);
                let earlier = index.map_or(0, |index| self.partial_erases.swap_remove(index).1);
                let total = earlier + milliseconds;
                if total >= ERASE_PAGE_MS {
                    self.erase(context.memory, page, PAGE_BYTES);
                } else {
                    self.partial_erases.push((page, total));
                }
            }
            ERASEALL if value & 1 != 0 => {
                stall(self, ERASE_ALL_TIME);
                let bytes = context.memory.flash.len() as u32;
                self.erase(context.memory, 0, bytes);
                self.erase(context.memory, UICR_BASE, PAGE_BYTES);
            }
            ERASEUICR if value & 1 != 0 => {
                stall(self, ERASE_PAGE_TIME);
                self.erase(context.memory, UICR_BASE, PAGE_BYTES);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pins::Pins;

    #[test]
    fn partial_erases_of_a_page_add_up_to_85_ms() {
        let (mut nvmc, mut memory) = (Nvmc::power_on(), Memory::new(8192, 64));
        memory.flash.fill(0);
        nvmc.registers.store(CONFIG, EEN);
        for part in 1..=9 {
            let mut pins = Pins::default();
            let mut context = Context::new(0, &mut memory, &mut pins);
            nvmc.on_write(ERASEPAGEPARTIAL, 0, &mut context);
            assert_eq!(memory.flash[0] == 0xff, part == 9, "after {part} partial erases of 10 ms");
        }
        assert_eq!(memory.flash[4096], 0, "the other page is not erased");
    }
}
