//! TIMER (product specification, "TIMER — Timer/counter"): counts a 16 MHz clock divided by a power of two, or tasks.

use crate::block::{Block, Context, Peripheral};

const START: u32 = 0x000;
const STOP: u32 = 0x004;
const COUNT: u32 = 0x008;
const CLEAR: u32 = 0x00c;
const SHUTDOWN: u32 = 0x010;
const CAPTURE: u32 = 0x040;
const MODE: u32 = 0x504;
const BITMODE: u32 = 0x508;
const PRESCALER: u32 = 0x510;
const CC: u32 = 0x540;
/// The number of the event COMPARE[0], at 0x140.
const COMPARE: u8 = 16;
/// Capture and compare registers; TIMER3 and 4 have six.
const CHANNELS: u32 = 6;
/// Cycles of the 64 MHz clock in one of the timer's 16 MHz.
const DIVISION: u64 = 4;

/// A timer or counter.
#[derive(Clone, Debug)]
pub struct Timer {
    block: Block,
    running: bool,
    /// The count at `since`.
    count: u32,
    since: u64,
    /// Compares up to here have happened.
    looked: u64,
}

impl Default for Timer {
    fn default() -> Self {
        // PRESCALER is 4 after a reset.
        Self { block: Block::with(&[(PRESCALER, 4)]), running: false, count: 0, since: 0, looked: 0 }
    }
}

impl Timer {
    fn counts_tasks(&self) -> bool {
        self.block.get(MODE) != 0
    }

    fn mask(&self) -> u32 {
        match self.block.get(BITMODE) & 3 {
            1 => 0xff,
            2 => 0x00ff_ffff,
            3 => u32::MAX,
            _ => 0xffff,
        }
    }

    fn step(&self) -> u64 {
        DIVISION << self.block.get(PRESCALER).min(9)
    }

    fn now(&self, at: u64) -> u32 {
        let steps = if self.running && !self.counts_tasks() { (at - self.since) / self.step() } else { 0 };
        (u64::from(self.count) + steps) as u32 & self.mask()
    }

    fn settle(&mut self, at: u64) {
        let (count, steps) = (self.now(at), (at - self.since) / self.step());
        self.count = count;
        // The part of a step that has passed is not lost while the timer runs.
        self.since = if self.running && !self.counts_tasks() { self.since + steps * self.step() } else { at };
    }

    /// When channel `n` compares next, after what was looked at.
    fn compares(&self, n: u32) -> Option<u64> {
        if !self.running || self.counts_tasks() {
            return None;
        }
        let span = u64::from(self.mask()) + 1;
        let target = u64::from(self.block.get(CC + 4 * n) & self.mask());
        let mut steps = (target + span - u64::from(self.count) % span) % span;
        // The count reaches the target; being there already is no event.
        while steps == 0 || self.since + steps * self.step() <= self.looked {
            steps += span;
        }
        Some(self.since + steps * self.step())
    }

    fn compared(&mut self, n: u32, context: &mut Context<'_>) {
        context.raise(COMPARE + n as u8);
        if self.block.short(n) {
            self.settle(context.at);
            (self.count, self.since) = (0, context.at);
        }
        if self.block.short(8 + n) {
            self.settle(context.at);
            self.running = false;
        }
    }
}

impl Peripheral for Timer {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        self.settle(context.at);
        match offset {
            START => {
                self.running = true;
                (self.since, self.looked) = (context.at, context.at);
            }
            STOP | SHUTDOWN => self.running = false,
            COUNT if self.counts_tasks() && self.running => {
                self.count = self.count.wrapping_add(1) & self.mask();
                for n in (0..CHANNELS)
                    .filter(|n| self.block.get(CC + 4 * n) & self.mask() == self.count)
                    .collect::<Vec<_>>()
                {
                    self.compared(n, context);
                }
            }
            CLEAR => (self.count, self.since) = (0, context.at),
            CAPTURE..0x058 => {
                let count = self.now(context.at);
                self.block.set(CC + offset - CAPTURE, count);
            }
            _ => {}
        }
    }

    fn written(&mut self, offset: u32, _: u32, context: &mut Context<'_>) {
        // A compare register that is written looks ahead from now.
        if (CC..CC + 4 * CHANNELS).contains(&offset) {
            self.looked = context.at;
        }
    }

    fn due(&self) -> Option<u64> {
        (0..CHANNELS).filter_map(|n| self.compares(n)).min()
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        let due: Vec<u32> = (0..CHANNELS).filter(|n| self.compares(*n) == Some(context.at)).collect();
        self.looked = context.at;
        for n in due {
            self.compared(n, context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MICROSECOND, memory::Memory};

    fn timer(prescaler: u32) -> Timer {
        let mut timer = Timer::default();
        timer.block.store(BITMODE, 3);
        timer.block.store(PRESCALER, prescaler);
        timer
    }

    fn does(timer: &mut Timer, at: u64, act: impl FnOnce(&mut Timer, &mut Context<'_>)) -> Vec<u8> {
        let mut memory = Memory::new(0, 0);
        let mut context = Context { at, memory: &mut memory, raised: Vec::new() };
        act(timer, &mut context);
        context.raised
    }

    #[test]
    fn microseconds_are_counted_captured_and_compared() {
        let mut timer = timer(4);
        does(&mut timer, 0, |timer, context| timer.task(START, context));
        does(&mut timer, 1234 * MICROSECOND + 63, |timer, context| timer.task(CAPTURE + 4, context));
        assert_eq!(timer.block.get(CC + 4), 1234);
        timer.block.store(CC, 2000);
        does(&mut timer, 1300 * MICROSECOND, |timer, context| timer.written(CC, 2000, context));
        assert_eq!(timer.compares(0), Some(2000 * MICROSECOND));
        assert_eq!(does(&mut timer, 2000 * MICROSECOND, Timer::elapse), [COMPARE]);
        // Once round: 2³² µs later.
        assert_eq!(timer.compares(0), Some((2000 + (1 << 32)) * MICROSECOND));
    }

    #[test]
    fn a_counter_counts_tasks_and_wraps_at_16_bits() {
        let mut timer = timer(0);
        timer.block.store(MODE, 2);
        timer.block.store(BITMODE, 0);
        does(&mut timer, 0, |timer, context| timer.task(START, context));
        for _ in 0..65_537 {
            does(&mut timer, 5, |timer, context| timer.task(COUNT, context));
        }
        does(&mut timer, 9, |timer, context| timer.task(CAPTURE, context));
        assert_eq!(timer.block.get(CC), 1);
    }
}
