//! TIMER (product specification, "TIMER — Timer/counter").
//!
//! Counts a 16 MHz clock divided by a power of two, or COUNT tasks.

use crate::peripheral::{Context, Peripheral, Registers};

registers! {
    START = 0x000, STOP = 0x004, COUNT = 0x008, CLEAR = 0x00c, SHUTDOWN = 0x010, CAPTURE = 0x040,
    MODE = 0x504, BITMODE = 0x508, PRESCALER = 0x510, CC = 0x540
}
/// Number of the event `COMPARE[0]`, at 0x140.
const COMPARE: u8 = 16;
/// Number of capture/compare registers of TIMER3 and TIMER4.
///
/// TIMER0 to TIMER2 have only four on the chip.
const CHANNELS: u32 = 6;
/// Cycles of the 64 MHz clock per cycle of the 16 MHz timer clock.
const CYCLES_PER_CLOCK: u64 = 4;

/// Timer or counter.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    registers: Registers,
    running: bool,
    /// Count at `since`.
    count: u32,
    /// Time in cycles to which `count` applies.
    since: u64,
    /// Time until which COMPARE events have been generated.
    compared_until: u64,
}

impl Timer {
    fn is_counter(&self) -> bool {
        self.registers.get(MODE) != 0
    }

    /// Largest count, by BITMODE.
    fn mask(&self) -> u32 {
        match self.registers.get(BITMODE) & 3 {
            1 => 0xff,
            2 => 0x00ff_ffff,
            3 => u32::MAX,
            _ => 0xffff,
        }
    }

    fn cycles_per_count(&self) -> u64 {
        CYCLES_PER_CLOCK << self.registers.get(PRESCALER).min(9)
    }

    fn count_at(&self, now: u64) -> u32 {
        let counts =
            if self.running && !self.is_counter() { (now - self.since) / self.cycles_per_count() } else { 0 };
        (u64::from(self.count) + counts) as u32 & self.mask()
    }

    /// Moves `count` and `since` to the current time.
    fn advance(&mut self, now: u64) {
        let (count, counts) = (self.count_at(now), (now - self.since) / self.cycles_per_count());
        self.count = count;
        // A running timer keeps the fraction of a count that has passed.
        self.since = if self.running && !self.is_counter() {
            self.since + counts * self.cycles_per_count()
        } else {
            now
        };
    }

    /// Returns the next time after `compared_until` at which the counter is `CC[n]`.
    fn next_match(&self, n: u32) -> Option<u64> {
        if !self.running || self.is_counter() {
            return None;
        }
        let period = u64::from(self.mask()) + 1;
        let target = u64::from(self.registers.get(CC + 4 * n) & self.mask());
        let mut counts = (target + period - u64::from(self.count) % period) % period;
        // COMPARE[n] is generated when the counter changes to CC[n], not while it is equal.
        while counts == 0 || self.since + counts * self.cycles_per_count() <= self.compared_until {
            counts += period;
        }
        Some(self.since + counts * self.cycles_per_count())
    }

    /// Generates `COMPARE[n]` and performs its shortcuts to CLEAR and STOP.
    fn compare(&mut self, n: u32, context: &mut Context<'_>) {
        context.raise(COMPARE + n as u8);
        if self.registers.shortcut_enabled(n) {
            self.advance(context.now);
            (self.count, self.since) = (0, context.now);
        }
        if self.registers.shortcut_enabled(8 + n) {
            self.advance(context.now);
            self.running = false;
        }
    }
}

impl Peripheral for Timer {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn reset_values() -> &'static [(u32, u32)] {
        &[(PRESCALER, 4)]
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        self.advance(context.now);
        match offset {
            START => {
                self.running = true;
                (self.since, self.compared_until) = (context.now, context.now);
            }
            STOP | SHUTDOWN => self.running = false,
            COUNT if self.is_counter() && self.running => {
                self.count = self.count.wrapping_add(1) & self.mask();
                for n in (0..CHANNELS)
                    .filter(|n| self.registers.get(CC + 4 * n) & self.mask() == self.count)
                    .collect::<Vec<_>>()
                {
                    self.compare(n, context);
                }
            }
            CLEAR => (self.count, self.since) = (0, context.now),
            CAPTURE..0x058 => {
                let count = self.count_at(context.now);
                self.registers.set(CC + offset - CAPTURE, count);
            }
            _ => {}
        }
    }

    fn on_write(&mut self, offset: u32, _: u32, context: &mut Context<'_>) {
        // A new compare value matches only in the future.
        if (CC..CC + 4 * CHANNELS).contains(&offset) {
            self.compared_until = context.now;
        }
    }

    fn next_due(&self) -> Option<u64> {
        (0..CHANNELS).filter_map(|n| self.next_match(n)).min()
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        let due: Vec<u32> = (0..CHANNELS).filter(|n| self.next_match(*n) == Some(context.now)).collect();
        self.compared_until = context.now;
        for n in due {
            self.compare(n, context);
        }
    }
}
