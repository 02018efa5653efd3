//! PWM (product specification, "PWM — Pulse width modulation").
//!
//! New compare values take effect at the start of a period. When a sequence has ended, its last
//! values continue without timed actions.

use crate::{
    peripheral::{Context, Peripheral, Registers},
    pins::{Pin, Pins, Waveform},
};

registers! {
    STOP = 0x004, SEQSTART_0 = 0x008, SEQSTART_1 = 0x00c, SEQEND0_STOP = 0, LOOPSDONE_SEQSTART0 = 2,
    LOOPSDONE_SEQSTART1 = 3, LOOPSDONE_STOP = 4, ENABLE = 0x500, MODE = 0x504, COUNTERTOP = 0x508,
    PRESCALER = 0x50c, DECODER = 0x510, LOOP = 0x514, SEQ = 0x520, PTR = SEQ, CNT = SEQ + 0x4,
    REFRESH = SEQ + 0x8, ENDDELAY = SEQ + 0xc, PSEL_OUT = 0x560;
    events: STOPPED = 0x104, SEQSTARTED = 0x108, SEQEND = 0x110, PWMPERIODEND = 0x118, LOOPSDONE = 0x11c
}
/// Size of the register group of one sequence.
const SEQ_BYTES: u32 = 0x20;
/// Number of channels.
const CHANNELS: usize = 4;
/// DECODER.LOAD: the fourth value of a step is the counter top.
const LOAD_WAVEFORM: u32 = 3;
/// Compare value: the pin falls at the compare value, and rises at it otherwise.
const FALLING_EDGE: u16 = 1 << 15;
/// Cycles of the 64 MHz clock per cycle of the 16 MHz clock.
const CYCLES_PER_CLOCK: u64 = 4;

/// Position in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    sequence: u32,
    step: u32,
    /// Periods until the next step, or until the end of the sequence.
    periods: u32,
}

/// Pulse width modulator.
#[derive(Clone, Debug, Default)]
pub struct Pwm {
    registers: Registers,
    /// Start of a period, while the counter runs.
    since: Option<u64>,
    /// Length of a period in cycles.
    period: u64,
    position: Option<Position>,
    loops_left: u32,
    /// SEQSTART that takes effect at the end of the period.
    pending_start: Option<u32>,
    stop_requested: bool,
    /// Time of the next timed action.
    due: Option<u64>,
}

impl Pwm {
    fn sequence_register(&self, register: u32, sequence: u32) -> u32 {
        self.registers.get(register + SEQ_BYTES * sequence)
    }

    /// Number of values per step, by DECODER.LOAD.
    fn values_per_step(&self) -> u32 {
        match self.registers.get(DECODER) & 3 {
            0 => 1,
            1 => 2,
            _ => 4,
        }
    }

    /// Cycles of a period with this counter top.
    fn period_of(&self, top: u16) -> u64 {
        let directions = 1 + u64::from(self.registers.get(MODE) & 1);
        (CYCLES_PER_CLOCK << (self.registers.get(PRESCALER) & 7)) * u64::from(top.max(1)) * directions
    }

    fn channel_pins(&self) -> impl Iterator<Item = (usize, Pin)> {
        (0..CHANNELS).filter_map(|channel| {
            Some((channel, Pin::selected(self.registers.get(PSEL_OUT + 4 * channel as u32))?))
        })
    }

    /// Releases the pins and stops the counter.
    fn halt(&mut self, pins: &mut Pins, now: u64) {
        for (_, pin) in self.channel_pins() {
            pins.set_waveform(pin, None, now);
        }
        (self.since, self.position, self.pending_start) = (None, None, None);
        (self.stop_requested, self.due) = (false, None);
    }

    /// Returns the end of the current period.
    fn period_end(&self, since: u64, now: u64) -> u64 {
        since + (now.saturating_sub(since) / self.period + 1) * self.period
    }

    /// Begins a sequence at the start of a period.
    fn begin(&mut self, sequence: u32, context: &mut Context<'_>) {
        context.raise(SEQSTARTED + sequence as u8);
        if self.sequence_register(CNT, sequence) & 0x7fff < self.values_per_step() {
            return self.end(sequence, context);
        }
        self.load(sequence, 0, context);
    }

    /// Loads the values of a step and starts a period with them.
    fn load(&mut self, sequence: u32, step: u32, context: &mut Context<'_>) {
        let now = context.now;
        let per_step = self.values_per_step();
        let pointer = self.sequence_register(PTR, sequence).wrapping_add(2 * per_step * step);
        let bytes = context.memory.dma_read(pointer, 2 * per_step as usize);
        let value = |index: usize| u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]]);
        let load = self.registers.get(DECODER) & 3;
        let top =
            if load == LOAD_WAVEFORM { value(3) } else { self.registers.get(COUNTERTOP) as u16 } & 0x7fff;
        self.period = self.period_of(top);
        self.since = Some(now);
        for (channel, pin) in self.channel_pins() {
            let value = match load {
                0 => value(0),
                1 => value(channel / 2),
                LOAD_WAVEFORM if channel == 3 => continue,
                _ => value(channel),
            };
            let (compare, falls) = ((value & !FALLING_EDGE).min(top), value & FALLING_EDGE != 0);
            let counts = if falls { compare } else { top - compare };
            let high = self.period * u64::from(counts) / u64::from(top.max(1));
            let waveform = Waveform { since: now, period: self.period, high, starts_high: falls };
            context.pins.set_waveform(pin, Some(waveform), now);
        }
        let is_last = (step + 2) * per_step > self.sequence_register(CNT, sequence) & 0x7fff;
        let delay = if is_last { self.sequence_register(ENDDELAY, sequence) } else { 0 };
        let periods = 1 + (self.sequence_register(REFRESH, sequence) & 0x00ff_ffff) + (delay & 0x00ff_ffff);
        self.position = Some(Position { sequence, step, periods });
        self.due = Some(now + self.period);
    }

    /// Ends a sequence: the other one follows in a loop.
    fn end(&mut self, sequence: u32, context: &mut Context<'_>) {
        self.position = None;
        context.raise(SEQEND + sequence as u8);
        if self.registers.shortcut_enabled(SEQEND0_STOP + sequence) {
            self.stop_requested = true;
        }
        if self.loops_left == 0 {
            return;
        }
        if sequence == 0 {
            self.pending_start = Some(1);
            return;
        }
        self.loops_left -= 1;
        if self.loops_left > 0 {
            self.pending_start = Some(0);
            return;
        }
        context.raise(LOOPSDONE);
        self.stop_requested |= self.registers.shortcut_enabled(LOOPSDONE_STOP);
        for (shortcut, first) in [(LOOPSDONE_SEQSTART0, 0), (LOOPSDONE_SEQSTART1, 1)] {
            if self.registers.shortcut_enabled(shortcut) {
                self.loops_left = self.registers.get(LOOP) & 0xffff;
                self.pending_start = Some(first);
            }
        }
    }

    /// Performs requests at the start of a period.
    fn begin_period(&mut self, context: &mut Context<'_>) {
        if self.stop_requested {
            self.halt(context.pins, context.now);
            context.raise(STOPPED);
        } else if let Some(sequence) = self.pending_start.take() {
            self.begin(sequence, context);
        }
    }
}

impl Peripheral for Pwm {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn reset_values() -> &'static [(u32, u32)] {
        &[
            (COUNTERTOP, 0x3ff),
            (PSEL_OUT, u32::MAX),
            (PSEL_OUT + 4, u32::MAX),
            (PSEL_OUT + 8, u32::MAX),
            (PSEL_OUT + 12, u32::MAX),
        ]
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        if self.registers.get(ENABLE) & 1 == 0 {
            return;
        }
        match offset {
            SEQSTART_0 | SEQSTART_1 => {
                self.pending_start = Some(u32::from(offset == SEQSTART_1));
                self.loops_left = self.registers.get(LOOP) & 0xffff;
                self.position = None;
            }
            STOP => self.stop_requested = true,
            _ => return,
        }
        match self.since {
            Some(since) => self.due = Some(self.period_end(since, context.now)),
            None => self.begin_period(context),
        }
    }

    fn on_write(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        if offset == ENABLE && value & 1 == 0 {
            self.halt(context.pins, context.now);
        }
    }

    fn next_due(&self) -> Option<u64> {
        self.due
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        self.due = None;
        context.raise(PWMPERIODEND);
        if let Some(position) = &mut self.position {
            position.periods -= 1;
            if position.periods > 0 {
                self.due = Some(context.now + self.period);
            } else {
                let Position { sequence, step, .. } = *position;
                let per_step = self.values_per_step();
                if (step + 2) * per_step > self.sequence_register(CNT, sequence) & 0x7fff {
                    self.end(sequence, context);
                } else {
                    self.load(sequence, step + 1, context);
                }
            }
        }
        if self.stop_requested || self.position.is_none() {
            self.begin_period(context);
        }
    }
}

#[cfg(test)]
mod tests;
