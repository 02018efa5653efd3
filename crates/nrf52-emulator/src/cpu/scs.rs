//! The private peripheral bus: NVIC, system control block, SysTick, FPU control, cycle counter (B3, C1).

use super::{
    Cpu, Size, Trap,
    exceptions::{BUS_FAULT, EXTERNAL, HARD_FAULT, MEM_MANAGE, NMI, PEND_SV, SV_CALL, SYS_TICK, USAGE_FAULT},
};

/// The nRF52 has eight priorities.
pub const PRIORITY_BITS: u8 = 0xe0;

// CFSR (B3.2.15).
pub const IBUSERR: u32 = 1 << 8;
pub const PRECISERR: u32 = 1 << 9;
pub const UNSTKERR: u32 = 1 << 11;
pub const STKERR: u32 = 1 << 12;
pub const BFARVALID: u32 = 1 << 15;
pub const UNDEFINSTR: u32 = 1 << 16;
pub const INVSTATE: u32 = 1 << 17;
pub const INVPC: u32 = 1 << 18;
pub const NOCP: u32 = 1 << 19;
pub const UNALIGNED: u32 = 1 << 24;
pub const DIVBYZERO: u32 = 1 << 25;
// HFSR (B3.2.16).
pub const VECTTBL: u32 = 1 << 1;
pub const FORCED: u32 = 1 << 30;

// SCR (B3.2.7).
const SLEEPONEXIT: u32 = 1 << 1;
const SEVONPEND: u32 = 1 << 4;
// CCR (B3.2.8).
const NONBASETHRDENA: u32 = 1 << 0;
const UNALIGN_TRP: u32 = 1 << 3;
const DIV_0_TRP: u32 = 1 << 4;
const STKALIGN: u32 = 1 << 9;
// SysTick's CSR (B3.3.3).
const TICK_ENABLE: u32 = 1 << 0;
const TICK_INT: u32 = 1 << 1;
pub const TICK_COUNTED: u32 = 1 << 16;
// FPCCR (B3.2.21).
pub const ASPEN: u32 = 1 << 31;
pub const LSPEN: u32 = 1 << 30;
/// DEMCR.TRCENA
pub const TRACE: u32 = 1 << 24;

/// Exceptions without an enable bit of their own.
const ALWAYS: u128 = 1 << NMI | 1 << HARD_FAULT | 1 << SV_CALL | 1 << 12 | 1 << PEND_SV | 1 << SYS_TICK;
/// Those that SHCSR enables, and the bit there.
pub const CONFIGURABLE: [(u16, u32); 3] = [(MEM_MANAGE, 16), (BUS_FAULT, 17), (USAGE_FAULT, 18)];

/// Registers of the private peripherals.
#[derive(Clone, Debug)]
pub struct Scs {
    /// Of the external interrupt lines.
    pub levels: u64,
    /// By exception number, as the two others.
    pub pending: u128,
    pub enabled: u128,
    pub active: u128,
    pub priorities: [u8; 80],
    pub vtor: u32,
    pub prigroup: u32,
    pub scr: u32,
    pub ccr: u32,
    pub cfsr: u32,
    pub hfsr: u32,
    pub mmfar: u32,
    pub bfar: u32,
    pub afsr: u32,
    pub cpacr: u32,
    pub fpccr: u32,
    pub fpcar: u32,
    pub fpdscr: u32,
    pub tick_control: u32,
    pub tick_reload: u32,
    /// The counter, while it stands.
    pub tick_value: u32,
    /// The cycle at which the counter reaches zero; never, while it stands.
    pub tick_due: u64,
    pub demcr: u32,
    pub dwt_control: u32,
    /// CYCCNT without the cycles, or all of it while it stands.
    cycle_offset: u32,
}

impl Scs {
    /// As after a reset, with lines as they are.
    pub fn new(levels: u64) -> Self {
        Self {
            levels,
            pending: u128::from(levels) << EXTERNAL,
            enabled: ALWAYS,
            active: 0,
            priorities: [0; 80],
            vtor: 0,
            prigroup: 0,
            scr: 0,
            ccr: STKALIGN,
            cfsr: 0,
            hfsr: 0,
            mmfar: 0,
            bfar: 0,
            afsr: 0,
            cpacr: 0,
            fpccr: ASPEN | LSPEN,
            fpcar: 0,
            fpdscr: 0,
            tick_control: 4,
            tick_reload: 0,
            tick_value: 0,
            tick_due: u64::MAX,
            demcr: 0,
            dwt_control: 0,
            cycle_offset: 0,
        }
    }

    pub fn active_external(&self) -> u64 {
        (self.active >> EXTERNAL) as u64
    }

    pub fn traps_division(&self) -> bool {
        self.ccr & DIV_0_TRP != 0
    }

    pub fn traps_unaligned(&self) -> bool {
        self.ccr & UNALIGN_TRP != 0
    }

    pub fn aligns_stack(&self) -> bool {
        self.ccr & STKALIGN != 0
    }

    pub fn allows_thread_from_nested(&self) -> bool {
        self.ccr & NONBASETHRDENA != 0
    }

    pub fn sleeps_on_exit(&self) -> bool {
        self.scr & SLEEPONEXIT != 0
    }

    pub fn sev_on_pend(&self) -> bool {
        self.scr & SEVONPEND != 0
    }

    /// FPCCR.ASPEN: using the FPU marks the context.
    pub fn marks_float(&self) -> bool {
        self.fpccr & ASPEN != 0
    }

    /// CPACR (B3.2.20).
    pub fn allows_float(&self, privileged: bool) -> bool {
        match self.cpacr >> 20 & 3 {
            3 => true,
            1 => privileged,
            _ => false,
        }
    }

    /// Which bits of a priority decide about preemption (B1.5.4).
    pub fn group_mask(&self) -> i16 {
        (0xff << (self.prigroup + 1) & 0xff) as i16
    }

    fn counting(&self) -> bool {
        self.demcr & TRACE != 0 && self.dwt_control & 1 != 0
    }

    /// CYCCNT; exactly this again makes the offset from a value.
    pub fn cycle_count(&self, cycles: u64) -> u32 {
        if self.counting() { self.cycle_offset.wrapping_add(cycles as u32) } else { self.cycle_offset }
    }

    pub fn set_cycle_count(&mut self, cycles: u64, value: u32) {
        self.cycle_offset = if self.counting() { value.wrapping_sub(cycles as u32) } else { value };
    }

    /// SysTick's counter (B3.3.5): zero for one cycle, then the reload value.
    pub fn tick_count(&self, cycles: u64) -> u32 {
        if self.tick_due == u64::MAX {
            return self.tick_value;
        }
        let left = self.tick_due.saturating_sub(cycles);
        if left > u64::from(self.tick_reload) { 0 } else { left as u32 }
    }

    /// Starts SysTick from `value`, or stops it there. With a reload value of zero it ends at zero.
    pub fn start_tick(&mut self, cycles: u64, value: u32) {
        self.tick_value = value;
        let left = if value == 0 { u64::from(self.tick_reload) + 1 } else { u64::from(value) };
        let runs = self.tick_control & TICK_ENABLE != 0 && (value != 0 || self.tick_reload != 0);
        self.tick_due = if runs { cycles + left } else { u64::MAX };
    }
}

/// Four priorities from an exception number on.
pub fn four_priorities(address: u32) -> Option<usize> {
    match address {
        0xe000_ed18..=0xe000_ed20 => Some((address - 0xe000_ed14) as usize),
        0xe000_e400..=0xe000_e43c => Some((address - 0xe000_e400) as usize + usize::from(EXTERNAL)),
        _ => None,
    }
}

impl Cpu {
    /// SysTick reached zero: as often as it did.
    pub(super) fn tick(&mut self) {
        if self.cycles < self.scs.tick_due {
            return;
        }
        let period = u64::from(self.scs.tick_reload) + 1;
        let late = self.cycles - self.scs.tick_due;
        self.scs.tick_due = if self.scs.tick_reload == 0 {
            self.scs.tick_value = 0;
            u64::MAX
        } else {
            self.cycles + period - late % period
        };
        self.scs.tick_control |= TICK_COUNTED;
        if self.scs.tick_control & TICK_INT != 0 {
            self.pend(1 << SYS_TICK);
        }
    }

    /// Whether FP instructions need a further look before.
    pub(super) fn reconsider_float(&mut self) {
        let marked = self.fpca || !self.scs.marks_float();
        self.float_ready = marked && self.scs.allows_float(self.privileged());
    }

    /// Unprivileged code has no access (B3.1.1).
    pub(super) fn refuse(&mut self, address: u32) -> Result<(), Trap> {
        if self.privileged() {
            return Ok(());
        }
        self.fault_address = address;
        Err(Trap::Data)
    }

    #[inline(never)]
    pub(super) fn private_load(&mut self, address: u32, size: Size) -> Result<u32, Trap> {
        self.refuse(address)?;
        let value = self.private_word(address & !3) >> (8 * (address & 3));
        Ok(match size {
            Size::Word => value,
            Size::Half => value & 0xffff,
            Size::Byte => value & 0xff,
        })
    }

    fn private_word(&mut self, address: u32) -> u32 {
        self.tick();
        let external = |bits: u128, at: u32| (bits >> EXTERNAL) as u64 >> (8 * (at & 4));
        let scs = &mut self.scs;
        let word = |bits: u128| external(bits, address) as u32;
        if let Some(first) = four_priorities(address) {
            return scs.priorities[first..first + 4]
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        match address {
            // 48 lines in the nRF52840: two registers' worth.
            0xe000_e004 => 1,
            0xe000_e010 => {
                let value = scs.tick_control;
                scs.tick_control &= !TICK_COUNTED;
                value
            }
            0xe000_e014 => scs.tick_reload,
            0xe000_e018 => scs.tick_count(self.cycles),
            // No reference clock, no known calibration.
            0xe000_e01c => 0xc000_0000,
            0xe000_e100 | 0xe000_e104 | 0xe000_e180 | 0xe000_e184 => word(scs.enabled),
            0xe000_e200 | 0xe000_e204 | 0xe000_e280 | 0xe000_e284 => word(scs.pending),
            0xe000_e300 | 0xe000_e304 => word(scs.active),
            0xe000_ed00 => 0x410f_c241,
            0xe000_ed04 => self.icsr(),
            0xe000_ed08 => scs.vtor,
            0xe000_ed0c => 0xfa05_0000 | scs.prigroup << 8,
            0xe000_ed10 => scs.scr,
            0xe000_ed14 => scs.ccr,
            0xe000_ed24 => self.shcsr(),
            0xe000_ed28 => scs.cfsr,
            0xe000_ed2c => scs.hfsr,
            0xe000_ed34 => scs.mmfar,
            0xe000_ed38 => scs.bfar,
            0xe000_ed3c => scs.afsr,
            // What the processor has (B4.1): as a Cortex-M4 says.
            0xe000_ed40 => 0x30,
            0xe000_ed44 => 0x200,
            0xe000_ed48 => 0x0010_0000,
            0xe000_ed50 => 0x0010_0030,
            0xe000_ed58 => 0x0100_0000,
            0xe000_ed60 => 0x0114_1110,
            0xe000_ed64 => 0x0211_2000,
            0xe000_ed68 => 0x2123_2231,
            0xe000_ed6c => 0x0111_1131,
            0xe000_ed70 => 0x0131_0132,
            0xe000_ed88 => scs.cpacr,
            // DHCSR (no debugger) and MPU_TYPE (none) are zero like all others.
            0xe000_edfc => scs.demcr,
            0xe000_ef34 => scs.fpccr,
            0xe000_ef38 => scs.fpcar,
            0xe000_ef3c => scs.fpdscr,
            0xe000_ef40 => 0x1011_0021,
            0xe000_ef44 => 0x1100_0011,
            // Four comparators, which nobody sees match.
            0xe000_1000 => 0x4000_0000 | scs.dwt_control,
            0xe000_1004 => scs.cycle_count(self.cycles),
            _ => 0,
        }
    }

    /// ICSR (B3.2.4).
    fn icsr(&self) -> u32 {
        let scs = &self.scs;
        let pending = |number: u16, bit: u32| ((scs.pending >> number & 1) as u32) << bit;
        let others = scs.active & !(1u128 << self.exception);
        u32::from(self.exception)
            | u32::from(others == 0) << 11
            | u32::from(self.most_urgent().unwrap_or(0)) << 12
            | u32::from(scs.pending >> EXTERNAL != 0) << 22
            | pending(SYS_TICK, 26)
            | pending(PEND_SV, 28)
            | pending(NMI, 31)
    }

    /// SHCSR (B3.2.13).
    fn shcsr(&self) -> u32 {
        let scs = &self.scs;
        let active = |number: u16, bit: u32| ((scs.active >> number & 1) as u32) << bit;
        let pending = |number: u16, bit: u32| ((scs.pending >> number & 1) as u32) << bit;
        let enabled = CONFIGURABLE.iter().map(|(number, bit)| ((scs.enabled >> number & 1) as u32) << bit);
        enabled.sum::<u32>()
            | active(MEM_MANAGE, 0)
            | active(BUS_FAULT, 1)
            | active(USAGE_FAULT, 3)
            | active(SV_CALL, 7)
            | active(12, 8)
            | active(PEND_SV, 10)
            | active(SYS_TICK, 11)
            | pending(USAGE_FAULT, 12)
            | pending(MEM_MANAGE, 13)
            | pending(BUS_FAULT, 14)
            | pending(SV_CALL, 15)
    }
}
