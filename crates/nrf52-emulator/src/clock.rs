//! CLOCK and POWER, which share a page (product specification, "CLOCK — Clock control", "POWER — Power supply").

use crate::{
    MICROSECOND,
    block::{Block, Context, Peripheral, event},
};

const HFCLKSTART: u32 = 0x000;
const HFCLKSTOP: u32 = 0x004;
const LFCLKSTART: u32 = 0x008;
const LFCLKSTOP: u32 = 0x00c;
const HFCLKSTARTED: u8 = event(0x100);
const LFCLKSTARTED: u8 = event(0x104);
const RESETREAS: u32 = 0x400;
const HFCLKRUN: u32 = 0x408;
const HFCLKSTAT: u32 = 0x40c;
const LFCLKRUN: u32 = 0x414;
const LFCLKSTAT: u32 = 0x418;
const LFCLKSRCCOPY: u32 = 0x41c;
const LFCLKSRC: u32 = 0x518;
/// Running.
const STATE: u32 = 1 << 16;

/// The 32 MHz crystal's start-up and debounce, typical: 0.36 ms ("HFXO 32 MHz crystal oscillator", with the reset value of UICR's HFXO count on newer chips).
const HFXO_STARTS: u64 = 360 * MICROSECOND;
/// The 32.768 kHz crystal's, typical ("LFXO").
const LFXO_STARTS: u64 = 250_000 * MICROSECOND;
/// The RC oscillator's ("LFRC").
const LFRC_STARTS: u64 = 600 * MICROSECOND;

/// Clocks and power.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    block: Block,
    fast: Option<u64>,
    slow: Option<u64>,
    /// Why the chip was reset, since somebody last cleared it.
    reasons: u32,
    /// The board has no 32 kHz crystal: an oscillator that is started on one never runs.
    pub no_slow_crystal: bool,
}

impl Clock {
    /// A reset for a reason (RESETREAS's bits): the reasons add up, everything else is forgotten.
    pub fn reset(&mut self, reason: u32) {
        let (reasons, no_slow_crystal) = (self.reasons | reason, self.no_slow_crystal);
        *self = Self { reasons, no_slow_crystal, ..Self::default() };
        self.block.set(RESETREAS, reasons);
    }

    /// Whether the radio has its crystal.
    #[must_use]
    pub fn crystal(&self) -> bool {
        self.block.get(HFCLKSTAT) & 1 != 0
    }
}

impl Peripheral for Clock {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        match offset {
            HFCLKSTART => {
                self.block.set(HFCLKRUN, 1);
                self.fast = Some(context.at + HFXO_STARTS);
            }
            HFCLKSTOP => {
                self.block.set(HFCLKRUN, 0);
                self.block.set(HFCLKSTAT, 0);
                self.fast = None;
            }
            LFCLKSTART => {
                let source = self.block.get(LFCLKSRC) & 3;
                self.block.set(LFCLKRUN, 1);
                self.block.set(LFCLKSRCCOPY, source);
                let takes = if source == 1 { LFXO_STARTS } else { LFRC_STARTS };
                self.slow = (source != 1 || !self.no_slow_crystal).then_some(context.at + takes);
            }
            LFCLKSTOP => {
                self.block.set(LFCLKRUN, 0);
                self.block.set(LFCLKSTAT, 0);
                self.slow = None;
            }
            _ => {}
        }
    }

    fn written(&mut self, offset: u32, value: u32, _: &mut Context<'_>) {
        // Reasons are cleared by writing ones.
        if offset == RESETREAS {
            self.reasons &= !value;
            self.block.set(RESETREAS, self.reasons);
        }
    }

    fn due(&self) -> Option<u64> {
        [self.fast, self.slow].into_iter().flatten().min()
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        if self.fast == Some(context.at) {
            self.fast = None;
            self.block.set(HFCLKSTAT, STATE | 1);
            context.raise(HFCLKSTARTED);
        }
        if self.slow == Some(context.at) {
            self.slow = None;
            let source = self.block.get(LFCLKSRC) & 3;
            self.block.set(LFCLKSTAT, STATE | source);
            context.raise(LFCLKSTARTED);
        }
    }
}
