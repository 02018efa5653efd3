//! State of the registers on the private peripheral bus (B3, C1).
//!
//! NVIC, system control block, SysTick, FPU control and the cycle counter of DWT.

use super::{
    Cpu,
    exceptions::{
        BUS_FAULT, DEBUG_MONITOR, HARD_FAULT, IRQ0, MEM_MANAGE, NMI, PEND_SV, SV_CALL, SYS_TICK, USAGE_FAULT,
    },
};

/// Implemented bits of a priority: the nRF52 has eight priorities.
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
pub const SLEEPONEXIT: u32 = 1 << 1;
pub const SEVONPEND: u32 = 1 << 4;
// CCR (B3.2.8).
pub const NONBASETHRDENA: u32 = 1 << 0;
pub const UNALIGN_TRP: u32 = 1 << 3;
pub const DIV_0_TRP: u32 = 1 << 4;
pub const STKALIGN: u32 = 1 << 9;
// SYST_CSR (B3.3.3).
const SYSTICK_ENABLE: u32 = 1 << 0;
const SYSTICK_TICKINT: u32 = 1 << 1;
pub const SYSTICK_COUNTFLAG: u32 = 1 << 16;
// FPCCR (B3.2.21).
pub const ASPEN: u32 = 1 << 31;
pub const LSPEN: u32 = 1 << 30;
// DEMCR (C1.6.5).
pub const TRCENA: u32 = 1 << 24;

/// Exceptions that cannot be disabled, one bit each.
const ALWAYS_ENABLED: u128 =
    1 << NMI | 1 << HARD_FAULT | 1 << SV_CALL | 1 << DEBUG_MONITOR | 1 << PEND_SV | 1 << SYS_TICK;
/// Faults with an enable bit in SHCSR: exception number and bit.
pub const CONFIGURABLE_FAULTS: [(u16, u32); 3] = [(MEM_MANAGE, 16), (BUS_FAULT, 17), (USAGE_FAULT, 18)];

/// System control space: registers of the private peripheral bus.
#[derive(Clone, Debug, Default)]
pub struct Scs {
    /// Levels of the external interrupt lines.
    pub line_levels: u64,
    /// Pending exceptions, one bit per exception number.
    pub pending: u128,
    /// Enabled exceptions, one bit per exception number.
    pub enabled: u128,
    /// Active exceptions, one bit per exception number.
    pub active: u128,
    /// Priorities by exception number.
    pub priorities: Vec<u8>,
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
    pub systick_control: u32,
    pub systick_reload: u32,
    /// SysTick counter while it does not run.
    pub systick_value: u32,
    /// Cycle at which the SysTick counter reaches zero, or `u64::MAX`.
    pub systick_due: u64,
    pub demcr: u32,
    pub dwt_control: u32,
    /// CYCCNT minus the processor's cycles while it runs, CYCCNT otherwise.
    cycle_offset: u32,
}

impl Scs {
    /// Returns the reset state for given levels of the interrupt lines.
    pub fn new(line_levels: u64) -> Self {
        Self {
            line_levels,
            pending: u128::from(line_levels) << IRQ0,
            enabled: ALWAYS_ENABLED,
            priorities: vec![0; 80],
            ccr: STKALIGN,
            fpccr: ASPEN | LSPEN,
            systick_control: 4,
            systick_due: u64::MAX,
            ..Self::default()
        }
    }

    pub fn active_external(&self) -> u64 {
        (self.active >> IRQ0) as u64
    }

    /// Returns whether CPACR allows FP instructions (B3.2.20).
    pub fn allows_fp(&self, privileged: bool) -> bool {
        match self.cpacr >> 20 & 3 {
            3 => true,
            1 => privileged,
            _ => false,
        }
    }

    /// Returns the bits of a priority that determine preemption (B1.5.4).
    pub fn group_mask(&self) -> i16 {
        (0xff << (self.prigroup + 1) & 0xff) as i16
    }

    fn cycle_counter_enabled(&self) -> bool {
        self.demcr & TRCENA != 0 && self.dwt_control & 1 != 0
    }

    /// Returns CYCCNT.
    pub fn cycle_count(&self, cycles: u64) -> u32 {
        if self.cycle_counter_enabled() {
            self.cycle_offset.wrapping_add(cycles as u32)
        } else {
            self.cycle_offset
        }
    }

    pub fn set_cycle_count(&mut self, cycles: u64, value: u32) {
        self.cycle_offset =
            if self.cycle_counter_enabled() { value.wrapping_sub(cycles as u32) } else { value };
    }

    /// Returns the SysTick counter (B3.3.5): zero for one cycle, then the reload value.
    pub fn systick_count(&self, cycles: u64) -> u32 {
        if self.systick_due == u64::MAX {
            return self.systick_value;
        }
        let left = self.systick_due.saturating_sub(cycles);
        if left > u64::from(self.systick_reload) { 0 } else { left as u32 }
    }

    /// Sets the SysTick counter, which runs if it is enabled.
    ///
    /// With a reload value of zero it stops at zero.
    pub fn start_systick(&mut self, cycles: u64, value: u32) {
        self.systick_value = value;
        let left = if value == 0 { u64::from(self.systick_reload) + 1 } else { u64::from(value) };
        let runs = self.systick_control & SYSTICK_ENABLE != 0 && (value != 0 || self.systick_reload != 0);
        self.systick_due = if runs { cycles + left } else { u64::MAX };
    }
}

impl Cpu {
    /// Updates SysTick after its counter has reached zero, once or more often.
    pub(super) fn update_systick(&mut self) {
        if self.cycles < self.scs.systick_due {
            return;
        }
        let period = u64::from(self.scs.systick_reload) + 1;
        let late = self.cycles - self.scs.systick_due;
        self.scs.systick_due = if self.scs.systick_reload == 0 {
            self.scs.systick_value = 0;
            u64::MAX
        } else {
            self.cycles + period - late % period
        };
        self.scs.systick_control |= SYSTICK_COUNTFLAG;
        if self.scs.systick_control & SYSTICK_TICKINT != 0 {
            self.pend(1 << SYS_TICK);
        }
    }

    /// Updates `fp_ready`.
    pub(super) fn update_fp_ready(&mut self) {
        // Without FPCCR.ASPEN, FP instructions do not set CONTROL.FPCA.
        let tracked = self.fpca || self.scs.fpccr & ASPEN == 0;
        self.fp_ready = tracked && self.scs.allows_fp(self.is_privileged());
    }
}
