//! CLOCK and POWER, which share one register page.
//!
//! Product specification, "CLOCK — Clock control" and "POWER — Power supply".

use crate::{
    MICROSECOND,
    peripheral::{Context, Peripheral, Registers},
};

registers! {
    HFCLKSTART = 0x000, HFCLKSTOP = 0x004, LFCLKSTART = 0x008, LFCLKSTOP = 0x00c, RESETREAS = 0x400,
    HFCLKRUN = 0x408, HFCLKSTAT = 0x40c, LFCLKRUN = 0x414, LFCLKSTAT = 0x418, LFCLKSRCCOPY = 0x41c,
    LFCLKSRC = 0x518;
    events: HFCLKSTARTED = 0x100, LFCLKSTARTED = 0x104
}
/// LFCLKSRC: 32.768 kHz crystal.
const SRC_XTAL: u32 = 1;
/// HFCLKSTAT and LFCLKSTAT: the clock is running.
const STATE_RUNNING: u32 = 1 << 16;

/// Start-up and debounce time of the 32 MHz crystal, typical ("HFXO").
const HFXO_STARTUP: u64 = 360 * MICROSECOND;
/// Start-up time of the 32.768 kHz crystal, typical ("LFXO").
const LFXO_STARTUP: u64 = 250_000 * MICROSECOND;
/// Start-up time of the 32.768 kHz RC oscillator ("LFRC").
const LFRC_STARTUP: u64 = 600 * MICROSECOND;

/// CLOCK and POWER.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    registers: Registers,
    /// Time at which the high-frequency crystal will have started.
    hfxo_ready_at: Option<u64>,
    /// Time at which the low-frequency clock will have started.
    lfclk_ready_at: Option<u64>,
    /// RESETREAS, which survives resets.
    reset_reasons: u32,
    /// Simulates a board without a 32.768 kHz crystal.
    ///
    /// LFCLKSTART with that source never completes. Survives resets.
    pub lfxo_missing: bool,
}

impl Clock {
    /// Resets the peripheral and adds `reason` to RESETREAS.
    pub fn reset(&mut self, reason: u32) {
        let (reset_reasons, lfxo_missing) = (self.reset_reasons | reason, self.lfxo_missing);
        *self = Self { reset_reasons, lfxo_missing, ..Self::default() };
        self.registers.set(RESETREAS, reset_reasons);
    }
}

impl Peripheral for Clock {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        match offset {
            HFCLKSTART => {
                self.registers.set(HFCLKRUN, 1);
                self.hfxo_ready_at = Some(context.now + HFXO_STARTUP);
            }
            HFCLKSTOP => {
                self.registers.set(HFCLKRUN, 0);
                self.registers.set(HFCLKSTAT, 0);
                self.hfxo_ready_at = None;
            }
            LFCLKSTART => {
                let source = self.registers.get(LFCLKSRC) & 3;
                self.registers.set(LFCLKRUN, 1);
                self.registers.set(LFCLKSRCCOPY, source);
                let startup = if source == SRC_XTAL { LFXO_STARTUP } else { LFRC_STARTUP };
                let starts = source != SRC_XTAL || !self.lfxo_missing;
                self.lfclk_ready_at = starts.then_some(context.now + startup);
            }
            LFCLKSTOP => {
                self.registers.set(LFCLKRUN, 0);
                self.registers.set(LFCLKSTAT, 0);
                self.lfclk_ready_at = None;
            }
            _ => {}
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        // Writing 1 clears a bit.
        if offset == RESETREAS {
            self.reset_reasons &= !value;
            self.registers.set(RESETREAS, self.reset_reasons);
        }
    }

    fn next_due(&self) -> Option<u64> {
        [self.hfxo_ready_at, self.lfclk_ready_at].into_iter().flatten().min()
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        if self.hfxo_ready_at == Some(context.now) {
            self.hfxo_ready_at = None;
            self.registers.set(HFCLKSTAT, STATE_RUNNING | 1);
            context.raise(HFCLKSTARTED);
        }
        if self.lfclk_ready_at == Some(context.now) {
            self.lfclk_ready_at = None;
            let source = self.registers.get(LFCLKSRC) & 3;
            self.registers.set(LFCLKSTAT, STATE_RUNNING | source);
            context.raise(LFCLKSTARTED);
        }
    }
}
