//! RNG (product specification, "RNG — Random number generator").
//!
//! Bytes come from a seeded pseudorandom generator, so runs are reproducible.

use crate::{
    MICROSECOND,
    peripheral::{Context, Peripheral, Registers},
};

registers! {
    START = 0x000, VALRDY_STOP = 0, VALUE = 0x508;
    events: VALRDY = 0x100
}
/// Time to generate one byte with bias correction, typical: 120 µs.
const BYTE_TIME: u64 = 120 * MICROSECOND;

/// Random number generator.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    registers: Registers,
    next_byte_at: Option<u64>,
    state: u64,
}

impl Rng {
    /// Sets the state of the pseudorandom generator.
    pub fn seed(&mut self, seed: u64) {
        self.state = seed;
    }

    /// Resets the registers. The pseudorandom sequence continues.
    pub fn reset(&mut self) {
        *self = Self { state: self.state, ..Self::default() };
    }
}

impl Peripheral for Rng {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    /// START generates bytes; STOP, the only other task, ends that.
    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        self.next_byte_at = (offset == START).then_some(context.now + BYTE_TIME);
    }

    fn next_due(&self) -> Option<u64> {
        self.next_byte_at
    }

    fn on_due(&mut self, context: &mut Context<'_>) {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.registers.set(VALUE, ((mixed >> 32) & 0xff) as u32);
        self.next_byte_at =
            (!self.registers.shortcut_enabled(VALRDY_STOP)).then_some(context.now + BYTE_TIME);
        context.raise(VALRDY);
    }
}
