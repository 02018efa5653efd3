//! Writes to the private peripherals.

use super::{
    Cpu, Size, Trap,
    exceptions::{EXTERNAL, NMI, PEND_SV, SYS_TICK},
    scs::{ASPEN, CONFIGURABLE, LSPEN, PRIORITY_BITS, TICK_COUNTED, TRACE, four_priorities},
};

impl Cpu {
    #[inline(never)]
    pub(super) fn private_store(&mut self, address: u32, size: Size, value: u32) -> Result<(), Trap> {
        // B3.4.3: STIR, which alone may be open to all (CCR.USERSETMPEND).
        if address != 0xe000_ef00 || self.scs.ccr & 2 == 0 {
            self.refuse(address)?;
        }
        let (word, at) = (address & !3, 8 * (address & 3));
        let lanes = match size {
            Size::Word => u32::MAX,
            Size::Half => 0xffff << at,
            Size::Byte => 0xff << at,
        };
        let value = value << at & lanes;
        if let Some(first) = four_priorities(word) {
            for lane in (0..4).filter(|lane| lanes >> (8 * lane) & 1 != 0) {
                self.scs.priorities[first + lane] = (value >> (8 * lane)) as u8 & PRIORITY_BITS;
            }
        } else {
            // Other registers have a byte written with the others' bytes zero, which is right for bits that do something
            // when set, and for the status that such bits clear.
            self.private_store_word(word, value);
        }
        self.reconsider();
        Ok(())
    }

    fn private_store_word(&mut self, address: u32, value: u32) {
        self.tick();
        let cycles = self.cycles;
        let external = u128::from(value) << (u32::from(EXTERNAL) + 8 * (address & 4));
        let scs = &mut self.scs;
        match address {
            0xe000_e010 => {
                let count = scs.tick_count(cycles);
                scs.tick_control = scs.tick_control & TICK_COUNTED | value & 7;
                scs.start_tick(cycles, count);
            }
            0xe000_e014 => {
                // Takes effect with the next reload.
                scs.tick_reload = value & 0x00ff_ffff;
                if scs.tick_due == u64::MAX {
                    scs.start_tick(cycles, scs.tick_value);
                }
            }
            0xe000_e018 => {
                scs.tick_control &= !TICK_COUNTED;
                scs.start_tick(cycles, 0);
            }
            0xe000_e100 | 0xe000_e104 => scs.enabled |= external,
            0xe000_e180 | 0xe000_e184 => scs.enabled &= !external,
            0xe000_e200 | 0xe000_e204 => self.pend(external),
            0xe000_e280 | 0xe000_e284 => {
                scs.pending &= !external;
                // B3.4.1: a line that is high keeps its interrupt pending.
                let high = scs.levels & !scs.active_external();
                scs.pending |= u128::from(high) << EXTERNAL;
            }
            0xe000_ef00 => self.pend_external(1u64.checked_shl(value & 0x1ff).unwrap_or(0)),
            0xe000_ed04 => self.store_icsr(value),
            0xe000_ed08 => scs.vtor = value & 0xffff_ff80,
            0xe000_ed0c if value >> 16 == 0x05fa => {
                scs.prigroup = value >> 8 & 7;
                if value & 4 != 0 {
                    self.reset_requested = true;
                    self.attend = true;
                }
            }
            0xe000_ed10 => scs.scr = value & 0x16,
            0xe000_ed14 => scs.ccr = value & 0x31b,
            0xe000_ed24 => {
                for (number, bit) in CONFIGURABLE {
                    scs.enabled = scs.enabled & !(1 << number) | u128::from(value >> bit & 1) << number;
                }
            }
            0xe000_ed28 => scs.cfsr &= !value,
            0xe000_ed2c => scs.hfsr &= !value,
            0xe000_ed34 => scs.mmfar = value,
            0xe000_ed38 => scs.bfar = value,
            0xe000_ed3c => scs.afsr &= !value,
            0xe000_ed88 => scs.cpacr = value & 0x00f0_0000,
            0xe000_ef34 => scs.fpccr = value & (ASPEN | LSPEN),
            0xe000_ef38 => scs.fpcar = value & !7,
            0xe000_ef3c => scs.fpdscr = value & 0x07c0_0000,
            0xe000_edfc => {
                let count = scs.cycle_count(cycles);
                scs.demcr = value & (TRACE | 0x000f_07f1);
                scs.set_cycle_count(cycles, count);
            }
            0xe000_1000 => {
                let count = scs.cycle_count(cycles);
                scs.dwt_control = value & 0x0fff_ffff;
                scs.set_cycle_count(cycles, count);
            }
            0xe000_1004 => scs.set_cycle_count(cycles, value),
            _ => {}
        }
        self.reconsider_float();
    }

    fn store_icsr(&mut self, value: u32) {
        let set = [(NMI, 31), (PEND_SV, 28), (SYS_TICK, 26)];
        for (number, bit) in set.into_iter().filter(|(_, bit)| value >> bit & 1 != 0) {
            let _: u32 = bit;
            self.pend(1 << number);
        }
        for (number, bit) in [(PEND_SV, 27), (SYS_TICK, 25)] {
            if value >> bit & 1 != 0 {
                self.scs.pending &= !(1u128 << number);
            }
        }
    }
}
