//! RTC (product specification, "RTC — Real-time counter"): 24 bits that count the 32,768 Hz clock.

use crate::block::{Block, Context, Peripheral};

const START: u32 = 0x000;
const STOP: u32 = 0x004;
const CLEAR: u32 = 0x008;
const TRIGOVRFLW: u32 = 0x00c;
const COUNTER: u32 = 0x504;
const PRESCALER: u32 = 0x508;
const CC: u32 = 0x540;
const OVERFLOW: u8 = 1;
/// The number of the event COMPARE[0], at 0x140.
const COMPARE: u8 = 16;
const SPAN: u64 = 1 << 24;

/// A counter of the slow clock.
#[derive(Clone, Debug, Default)]
pub struct Rtc {
    block: Block,
    running: bool,
    count: u64,
    since: u64,
    looked: u64,
    /// Cycles of the fast clock in 2¹² of the slow one: it is off by parts per million of its own.
    pub cycles_per_4096: u64,
}

impl Rtc {
    fn step_4096(&self) -> u64 {
        self.cycles_per_4096 * (u64::from(self.block.get(PRESCALER) & 0xfff) + 1)
    }

    fn now(&self, at: u64) -> u64 {
        let steps = if self.running { ((at - self.since) * 4096) / self.step_4096() } else { 0 };
        self.count + steps
    }

    fn reaches(&self, count: u64) -> u64 {
        self.since + ((count - self.count) * self.step_4096()).div_ceil(4096)
    }

    fn next(&self, target: u64) -> u64 {
        let mut count = self.count - self.count % SPAN + target;
        while count <= self.count || self.reaches(count) <= self.looked {
            count += SPAN;
        }
        self.reaches(count)
    }

    fn targets(&self) -> [(u8, u64); 5] {
        let channel = |n: u8| (COMPARE + n, u64::from(self.block.get(CC + 4 * u32::from(n)) & 0x00ff_ffff));
        [(OVERFLOW, 0), channel(0), channel(1), channel(2), channel(3)]
    }
}

impl Peripheral for Rtc {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn reading(&mut self, offset: u32, at: u64) {
        if offset == COUNTER {
            let count = self.now(at) % SPAN;
            self.block.set(COUNTER, count as u32);
        }
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        self.count = self.now(context.at);
        self.since = context.at;
        match offset {
            START => self.running = true,
            STOP => self.running = false,
            CLEAR => self.count = 0,
            TRIGOVRFLW => self.count = 0x00ff_fff0,
            _ => {}
        }
        self.looked = context.at;
    }

    fn written(&mut self, offset: u32, _: u32, context: &mut Context<'_>) {
        if (CC..CC + 16).contains(&offset) {
            self.looked = context.at;
        }
    }

    fn due(&self) -> Option<u64> {
        self.running.then(|| self.targets().into_iter().map(|(_, target)| self.next(target)).min()).flatten()
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        let due: Vec<u8> = self
            .targets()
            .into_iter()
            .filter(|(_, target)| self.next(*target) == context.at)
            .map(|(event, _)| event)
            .collect();
        self.looked = context.at;
        for event in due {
            context.raise(event);
        }
    }
}
