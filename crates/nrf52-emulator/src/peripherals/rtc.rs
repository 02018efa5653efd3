//! RTC (product specification, "RTC — Real-time counter").
//!
//! A 24-bit counter of the 32.768 kHz clock.

use crate::peripheral::{Context, Peripheral, Registers};

registers! {
    START = 0x000, STOP = 0x004, CLEAR = 0x008, TRIGOVRFLW = 0x00c, COUNTER = 0x504, PRESCALER = 0x508,
    CC = 0x540
}
/// Number of the event OVRFLW, at 0x104.
const OVRFLW: u8 = 1;
/// Number of the event `COMPARE[0]`, at 0x140.
const COMPARE: u8 = 16;
/// Number of counter values.
const PERIOD: u64 = 1 << 24;

/// Real-time counter.
#[derive(Clone, Debug, Default)]
pub struct Rtc {
    registers: Registers,
    running: bool,
    /// Count at `since`, without wrapping at 24 bits.
    count: u64,
    /// Time in cycles to which `count` applies.
    since: u64,
    /// Time until which events have been generated.
    compared_until: u64,
    /// Cycles of the 64 MHz clock per 4096 cycles of the 32.768 kHz clock.
    pub cycles_per_4096_ticks: u64,
}

impl Rtc {
    /// Cycles of the 64 MHz clock per 4096 counts, with the prescaler.
    fn cycles_per_4096_counts(&self) -> u64 {
        self.cycles_per_4096_ticks * (u64::from(self.registers.get(PRESCALER) & 0xfff) + 1)
    }

    fn count_at(&self, now: u64) -> u64 {
        let counts =
            if self.running { ((now - self.since) * 4096) / self.cycles_per_4096_counts() } else { 0 };
        self.count + counts
    }

    fn time_of(&self, count: u64) -> u64 {
        self.since + ((count - self.count) * self.cycles_per_4096_counts()).div_ceil(4096)
    }

    /// Returns the next time after `compared_until` at which COUNTER is `target`.
    fn next_match(&self, target: u64) -> u64 {
        let mut count = self.count - self.count % PERIOD + target;
        while count <= self.count || self.time_of(count) <= self.compared_until {
            count += PERIOD;
        }
        self.time_of(count)
    }

    /// Returns all events with the counter values that generate them.
    fn targets(&self) -> [(u8, u64); 5] {
        let channel =
            |n: u8| (COMPARE + n, u64::from(self.registers.get(CC + 4 * u32::from(n)) & 0x00ff_ffff));
        [(OVRFLW, 0), channel(0), channel(1), channel(2), channel(3)]
    }
}

impl Peripheral for Rtc {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn before_read(&mut self, offset: u32, context: &Context<'_>) {
        if offset == COUNTER {
            let count = self.count_at(context.now) % PERIOD;
            self.registers.set(COUNTER, count as u32);
        }
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        self.count = self.count_at(context.now);
        self.since = context.now;
        match offset {
            START => self.running = true,
            STOP => self.running = false,
            CLEAR => self.count = 0,
            TRIGOVRFLW => self.count = 0x00ff_fff0,
            _ => {}
        }
        self.compared_until = context.now;
    }

    fn on_write(&mut self, offset: u32, _: u32, context: &mut Context<'_>) {
        // A new compare value matches only in the future.
        if (CC..CC + 16).contains(&offset) {
            self.compared_until = context.now;
        }
    }

    fn next_due(&self) -> Option<u64> {
        let matches = || self.targets().into_iter().map(|(_, target)| self.next_match(target));
        self.running.then(|| matches().min()).flatten()
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        let due: Vec<u8> = self
            .targets()
            .into_iter()
            .filter(|(_, target)| self.next_match(*target) == context.now)
            .map(|(event, _)| event)
            .collect();
        self.compared_until = context.now;
        for event in due {
            context.raise(event);
        }
    }
}
