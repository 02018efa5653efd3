//! WDT (product specification, "WDT — Watchdog timer").

use crate::peripheral::{Context, Peripheral, Registers};

registers! {
    START = 0x000, RUNSTATUS = 0x400, REQSTATUS = 0x404, CRV = 0x504, RREN = 0x508, RR = 0x600
}
/// Value that a reload request must write to `RR[n]`.
const RELOAD: u32 = 0x6e52_4635;
/// Cycles of the 64 MHz clock per 8 cycles of the 32.768 kHz clock.
const CYCLES_PER_8_TICKS: u64 = 15_625;

/// Watchdog timer. It keeps running after a soft reset and a lockup reset.
#[derive(Clone, Debug, Default)]
pub struct Wdt {
    registers: Registers,
    times_out_at: Option<u64>,
    /// Reload registers written since the last reload, one bit each.
    reload_requests: u32,
    /// The watchdog has timed out, and the chip must be reset.
    pub timed_out: bool,
}

impl Wdt {
    fn reload(&mut self, now: u64) {
        let enabled = self.registers.get(RREN);
        self.reload_requests = 0;
        self.registers.set(REQSTATUS, enabled);
        let ticks = u64::from(self.registers.get(CRV)) + 1;
        self.times_out_at = Some(now + ticks * CYCLES_PER_8_TICKS / 8);
    }
}

impl Peripheral for Wdt {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        if offset == START && self.times_out_at.is_none() {
            self.registers.set(RUNSTATUS, 1);
            self.reload(context.now);
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        if (RR..RR + 32).contains(&offset) && value == RELOAD && self.times_out_at.is_some() {
            self.reload_requests |= 1 << ((offset - RR) / 4);
            let enabled = self.registers.get(RREN);
            self.registers.set(REQSTATUS, enabled & !self.reload_requests);
            if self.reload_requests & enabled == enabled {
                self.reload(context.now);
            }
        }
    }

    fn next_due(&self) -> Option<u64> {
        self.times_out_at
    }

    fn on_due(&mut self, _: &mut Context<'_>) {
        self.times_out_at = None;
        self.timed_out = true;
    }
}
