//! Loads and stores on the private peripheral bus (B3, C1).

use super::{
    Cpu, Size, Trap,
    exceptions::{BUS_FAULT, DEBUG_MONITOR, IRQ0, MEM_MANAGE, NMI, PEND_SV, SV_CALL, SYS_TICK, USAGE_FAULT},
    scs::{ASPEN, CONFIGURABLE_FAULTS, LSPEN, PRIORITY_BITS, SYSTICK_COUNTFLAG, TRCENA},
};

// Addresses of the registers.
registers! {
    DWT_CTRL = 0xe000_1000, DWT_CYCCNT = 0xe000_1004, ICTR = 0xe000_e004, SYST_CSR = 0xe000_e010,
    SYST_RVR = 0xe000_e014, SYST_CVR = 0xe000_e018, SYST_CALIB = 0xe000_e01c, NVIC_ISER0 = 0xe000_e100,
    NVIC_ISER1 = 0xe000_e104, NVIC_ICER0 = 0xe000_e180, NVIC_ICER1 = 0xe000_e184,
    NVIC_ISPR0 = 0xe000_e200, NVIC_ISPR1 = 0xe000_e204, NVIC_ICPR0 = 0xe000_e280,
    NVIC_ICPR1 = 0xe000_e284, NVIC_IABR0 = 0xe000_e300, NVIC_IABR1 = 0xe000_e304,
    NVIC_IPR0 = 0xe000_e400, NVIC_IPR15 = 0xe000_e43c, CPUID = 0xe000_ed00, ICSR = 0xe000_ed04,
    VTOR = 0xe000_ed08, AIRCR = 0xe000_ed0c, SCR = 0xe000_ed10, CCR = 0xe000_ed14, SHPR1 = 0xe000_ed18,
    SHPR3 = 0xe000_ed20, SHCSR = 0xe000_ed24, CFSR = 0xe000_ed28, HFSR = 0xe000_ed2c,
    MMFAR = 0xe000_ed34, BFAR = 0xe000_ed38, AFSR = 0xe000_ed3c, ID_PFR0 = 0xe000_ed40,
    ID_PFR1 = 0xe000_ed44, ID_DFR0 = 0xe000_ed48, ID_MMFR0 = 0xe000_ed50, ID_MMFR2 = 0xe000_ed58,
    ID_ISAR0 = 0xe000_ed60, ID_ISAR1 = 0xe000_ed64, ID_ISAR2 = 0xe000_ed68, ID_ISAR3 = 0xe000_ed6c,
    ID_ISAR4 = 0xe000_ed70, CPACR = 0xe000_ed88, DEMCR = 0xe000_edfc, STIR = 0xe000_ef00,
    FPCCR = 0xe000_ef34, FPCAR = 0xe000_ef38, FPDSCR = 0xe000_ef3c, MVFR0 = 0xe000_ef40,
    MVFR1 = 0xe000_ef44
}

/// Returns the exception number of the first priority in SHPRn or NVIC_IPRn.
///
/// Each of these registers has four priorities.
fn first_priority(address: u32) -> Option<usize> {
    match address {
        SHPR1..=SHPR3 => Some((address - (SHPR1 - 4)) as usize),
        NVIC_IPR0..=NVIC_IPR15 => Some((address - NVIC_IPR0) as usize + usize::from(IRQ0)),
        _ => None,
    }
}

impl Cpu {
    /// Rejects accesses of unprivileged code (B3.1.1).
    fn check_privilege(&mut self, address: u32) -> Result<(), Trap> {
        if self.is_privileged() {
            return Ok(());
        }
        self.fault_address = address;
        Err(Trap::Data)
    }

    /// Reads a register.
    #[inline(never)]
    pub(super) fn ppb_load(&mut self, address: u32, size: Size) -> Result<u32, Trap> {
        self.check_privilege(address)?;
        let value = self.ppb_word(address & !3) >> (8 * (address & 3));
        Ok(match size {
            Size::Word => value,
            Size::Half => value & 0xffff,
            Size::Byte => value & 0xff,
        })
    }

    fn ppb_word(&mut self, address: u32) -> u32 {
        self.update_systick();
        let external = |bits: u128, at: u32| (bits >> IRQ0) as u64 >> (8 * (at & 4));
        let scs = &mut self.scs;
        let word = |bits: u128| external(bits, address) as u32;
        if let Some(first) = first_priority(address) {
            return scs.priorities[first..first + 4]
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        match address {
            // Up to 64 interrupt lines. The nRF52840 has 48.
            ICTR => 1,
            SYST_CSR => {
                let value = scs.systick_control;
                scs.systick_control &= !SYSTICK_COUNTFLAG;
                value
            }
            SYST_RVR => scs.systick_reload,
            SYST_CVR => scs.systick_count(self.cycles),
            // No reference clock, no calibration value.
            SYST_CALIB => 0xc000_0000,
            NVIC_ISER0 | NVIC_ISER1 | NVIC_ICER0 | NVIC_ICER1 => word(scs.enabled),
            NVIC_ISPR0 | NVIC_ISPR1 | NVIC_ICPR0 | NVIC_ICPR1 => word(scs.pending),
            NVIC_IABR0 | NVIC_IABR1 => word(scs.active),
            CPUID => 0x410f_c241,
            ICSR => self.icsr(),
            VTOR => scs.vtor,
            AIRCR => 0xfa05_0000 | scs.prigroup << 8,
            SCR => scs.scr,
            CCR => scs.ccr,
            SHCSR => self.shcsr(),
            CFSR => scs.cfsr,
            HFSR => scs.hfsr,
            MMFAR => scs.mmfar,
            BFAR => scs.bfar,
            AFSR => scs.afsr,
            // Processor features (B4.1) of a Cortex-M4.
            ID_PFR0 => 0x30,
            ID_PFR1 => 0x200,
            ID_DFR0 => 0x0010_0000,
            ID_MMFR0 => 0x0010_0030,
            ID_MMFR2 => 0x0100_0000,
            ID_ISAR0 => 0x0114_1110,
            ID_ISAR1 => 0x0211_2000,
            ID_ISAR2 => 0x2123_2231,
            ID_ISAR3 => 0x0111_1131,
            ID_ISAR4 => 0x0131_0132,
            CPACR => scs.cpacr,
            DEMCR => scs.demcr,
            FPCCR => scs.fpccr,
            FPCAR => scs.fpcar,
            FPDSCR => scs.fpdscr,
            MVFR0 => 0x1011_0021,
            MVFR1 => 0x1100_0011,
            // Four comparators, which never match.
            DWT_CTRL => 0x4000_0000 | scs.dwt_control,
            DWT_CYCCNT => scs.cycle_count(self.cycles),
            // All others read as zero, among them DHCSR (no debugger) and MPU_TYPE (no MPU).
            _ => 0,
        }
    }

    /// Returns ICSR (B3.2.4).
    fn icsr(&self) -> u32 {
        let scs = &self.scs;
        let pending = |number: u16, bit: u32| ((scs.pending >> number & 1) as u32) << bit;
        let others = scs.active & !(1u128 << self.exception);
        u32::from(self.exception)
            | u32::from(others == 0) << 11
            | u32::from(self.highest_pending().unwrap_or(0)) << 12
            | u32::from(scs.pending >> IRQ0 != 0) << 22
            | pending(SYS_TICK, 26)
            | pending(PEND_SV, 28)
            | pending(NMI, 31)
    }

    /// Returns SHCSR (B3.2.13).
    fn shcsr(&self) -> u32 {
        let scs = &self.scs;
        let active = |number: u16, bit: u32| ((scs.active >> number & 1) as u32) << bit;
        let pending = |number: u16, bit: u32| ((scs.pending >> number & 1) as u32) << bit;
        let enabled =
            CONFIGURABLE_FAULTS.iter().map(|(number, bit)| ((scs.enabled >> number & 1) as u32) << bit);
        enabled.sum::<u32>()
            | active(MEM_MANAGE, 0)
            | active(BUS_FAULT, 1)
            | active(USAGE_FAULT, 3)
            | active(SV_CALL, 7)
            | active(DEBUG_MONITOR, 8)
            | active(PEND_SV, 10)
            | active(SYS_TICK, 11)
            | pending(USAGE_FAULT, 12)
            | pending(MEM_MANAGE, 13)
            | pending(BUS_FAULT, 14)
            | pending(SV_CALL, 15)
    }

    /// Writes a register.
    #[inline(never)]
    pub(super) fn ppb_store(&mut self, address: u32, size: Size, value: u32) -> Result<(), Trap> {
        // Only STIR accepts unprivileged writes, with CCR.USERSETMPEND (B3.4.3).
        if address != STIR || self.scs.ccr & 2 == 0 {
            self.check_privilege(address)?;
        }
        let (word, at) = (address & !3, 8 * (address & 3));
        let lanes = match size {
            Size::Word => u32::MAX,
            Size::Half => 0xffff << at,
            Size::Byte => 0xff << at,
        };
        let value = value << at & lanes;
        if let Some(first) = first_priority(word) {
            for lane in (0..4).filter(|lane| lanes >> (8 * lane) & 1 != 0) {
                self.scs.priorities[first + lane] = (value >> (8 * lane)) as u8 & PRIORITY_BITS;
            }
        } else {
            // A narrow write to any other register writes zero to the rest of the word. That is
            // correct for write-one-to-set and write-one-to-clear registers.
            self.ppb_store_word(word, value);
        }
        self.update_pending();
        Ok(())
    }

    fn ppb_store_word(&mut self, address: u32, value: u32) {
        self.update_systick();
        let cycles = self.cycles;
        let external = u128::from(value) << (u32::from(IRQ0) + 8 * (address & 4));
        let scs = &mut self.scs;
        match address {
            SYST_CSR => {
                let count = scs.systick_count(cycles);
                scs.systick_control = scs.systick_control & SYSTICK_COUNTFLAG | value & 7;
                scs.start_systick(cycles, count);
            }
            SYST_RVR => {
                // A running counter uses the new value at its next reload.
                scs.systick_reload = value & 0x00ff_ffff;
                if scs.systick_due == u64::MAX {
                    scs.start_systick(cycles, scs.systick_value);
                }
            }
            SYST_CVR => {
                scs.systick_control &= !SYSTICK_COUNTFLAG;
                scs.start_systick(cycles, 0);
            }
            NVIC_ISER0 | NVIC_ISER1 => scs.enabled |= external,
            NVIC_ICER0 | NVIC_ICER1 => scs.enabled &= !external,
            NVIC_ISPR0 | NVIC_ISPR1 => self.pend(external),
            NVIC_ICPR0 | NVIC_ICPR1 => {
                scs.pending &= !external;
                // A high line keeps its interrupt pending (B3.4.1).
                let high = scs.line_levels & !scs.active_external();
                scs.pending |= u128::from(high) << IRQ0;
            }
            STIR => self.pend_external(1u64.checked_shl(value & 0x1ff).unwrap_or(0)),
            ICSR => self.store_icsr(value),
            VTOR => scs.vtor = value & 0xffff_ff80,
            AIRCR if value >> 16 == 0x05fa => {
                scs.prigroup = value >> 8 & 7;
                if value & 4 != 0 {
                    self.reset_requested = true;
                    self.slow_path = true;
                }
            }
            SCR => scs.scr = value & 0x16,
            CCR => scs.ccr = value & 0x31b,
            SHCSR => {
                for (number, bit) in CONFIGURABLE_FAULTS {
                    scs.enabled = scs.enabled & !(1 << number) | u128::from(value >> bit & 1) << number;
                }
            }
            CFSR => scs.cfsr &= !value,
            HFSR => scs.hfsr &= !value,
            MMFAR => scs.mmfar = value,
            BFAR => scs.bfar = value,
            AFSR => scs.afsr &= !value,
            CPACR => scs.cpacr = value & 0x00f0_0000,
            FPCCR => scs.fpccr = value & (ASPEN | LSPEN),
            FPCAR => scs.fpcar = value & !7,
            FPDSCR => scs.fpdscr = value & 0x07c0_0000,
            DEMCR => {
                let count = scs.cycle_count(cycles);
                scs.demcr = value & (TRCENA | 0x000f_07f1);
                scs.set_cycle_count(cycles, count);
            }
            DWT_CTRL => {
                let count = scs.cycle_count(cycles);
                scs.dwt_control = value & 0x0fff_ffff;
                scs.set_cycle_count(cycles, count);
            }
            DWT_CYCCNT => scs.set_cycle_count(cycles, value),
            _ => {}
        }
        self.update_fp_ready();
    }

    fn store_icsr(&mut self, value: u32) {
        for (number, bit) in [(NMI, 31), (PEND_SV, 28), (SYS_TICK, 26)] {
            if value >> bit & 1 != 0 {
                self.pend(1 << number);
            }
        }
        for (number, bit) in [(PEND_SV, 27), (SYS_TICK, 25)] {
            if value >> bit & 1 != 0 {
                self.scs.pending &= !(1u128 << number);
            }
        }
    }
}
