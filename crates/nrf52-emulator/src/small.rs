//! The small ones: ECB, RNG and WDT.

use aes::{
    Aes128,
    cipher::{BlockCipherEncrypt as _, KeyInit as _},
};

use crate::{
    MICROSECOND,
    block::{Block, Context, Peripheral, event},
};

/// AES by the chip (product specification, "ECB — AES electronic codebook mode encryption").
#[derive(Clone, Debug, Default)]
pub struct Ecb {
    block: Block,
    ends: Option<u64>,
    /// It never answers: for the test of a chip whose AES is broken.
    pub broken: bool,
}

const STARTECB: u32 = 0x000;
const STOPECB: u32 = 0x004;
const ECBDATAPTR: u32 = 0x504;
const ENDECB: u8 = event(0x100);
const ERRORECB: u8 = event(0x104);
/// "t_ECB, run time per 16 byte block": 7.2 µs.
const BLOCK_TAKES: u64 = 72 * MICROSECOND / 10;

impl Peripheral for Ecb {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        match offset {
            STARTECB => self.ends = (!self.broken).then_some(context.at + BLOCK_TAKES),
            STOPECB if self.ends.take().is_some() => context.raise(ERRORECB),
            _ => {}
        }
    }

    fn due(&self) -> Option<u64> {
        self.ends
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        self.ends = None;
        let at = self.block.get(ECBDATAPTR);
        let mut data = [[0; 16]; 2];
        for (part, address) in data.iter_mut().zip([at, at.wrapping_add(16)]) {
            part.copy_from_slice(&context.memory.dma_read(address, 16));
        }
        let [key, plain] = data;
        let mut block = plain.into();
        Aes128::new(&key.into()).encrypt_block(&mut block);
        context.memory.dma_write(at.wrapping_add(32), &block);
        context.raise(ENDECB);
    }
}

/// Random numbers (product specification, "RNG — Random number generator"), from a seed.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    block: Block,
    next: Option<u64>,
    state: u64,
}

const VALRDY: u8 = event(0x100);
const VALUE: u32 = 0x508;
/// "Time to generate one byte", with bias correction, typical: 120 µs.
const BYTE_TAKES: u64 = 120 * MICROSECOND;

impl Rng {
    /// A generator with this seed; it goes on over resets.
    pub fn seed(&mut self, seed: u64) {
        self.state = seed;
    }

    /// A reset.
    pub fn reset(&mut self) {
        *self = Self { state: self.state, ..Self::default() };
    }
}

impl Peripheral for Rng {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        self.next = (offset == 0).then_some(context.at + BYTE_TAKES);
    }

    fn due(&self) -> Option<u64> {
        self.next
    }

    fn elapse(&mut self, context: &mut Context<'_>) {
        // SplitMix64: any good mixing will do.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.block.set(VALUE, ((mixed >> 32) & 0xff) as u32);
        self.next = (!self.block.short(0)).then_some(context.at + BYTE_TAKES);
        context.raise(VALRDY);
    }
}

/// The watchdog (product specification, "WDT — Watchdog timer"). It goes on over a soft reset, not over its own.
#[derive(Clone, Debug, Default)]
pub struct Wdt {
    block: Block,
    bites: Option<u64>,
    fed: u32,
    /// It has bitten: the chip is to be reset.
    pub bitten: bool,
}

const RUNSTATUS: u32 = 0x400;
const REQSTATUS: u32 = 0x404;
const CRV: u32 = 0x504;
const RREN: u32 = 0x508;
const RR: u32 = 0x600;
/// "Reload request".
const RELOAD: u32 = 0x6e52_4635;
/// Cycles of 64 MHz in one of 32,768 Hz, times 8: 15,625.
const SLOW_CYCLES_8: u64 = 15_625;

impl Wdt {
    fn reload(&mut self, at: u64) {
        let enabled = self.block.get(RREN);
        self.fed = 0;
        self.block.set(REQSTATUS, enabled);
        self.bites = Some(at + (u64::from(self.block.get(CRV)) + 1) * SLOW_CYCLES_8 / 8);
    }
}

impl Peripheral for Wdt {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_>) {
        if offset == 0 && self.bites.is_none() {
            self.block.set(RUNSTATUS, 1);
            self.reload(context.at);
        }
    }

    fn written(&mut self, offset: u32, value: u32, context: &mut Context<'_>) {
        if (RR..RR + 32).contains(&offset) && value == RELOAD && self.bites.is_some() {
            self.fed |= 1 << ((offset - RR) / 4);
            let enabled = self.block.get(RREN);
            self.block.set(REQSTATUS, enabled & !self.fed);
            if self.fed & enabled == enabled {
                self.reload(context.at);
            }
        }
    }

    fn due(&self) -> Option<u64> {
        self.bites
    }

    fn elapse(&mut self, _: &mut Context<'_>) {
        self.bites = None;
        self.bitten = true;
    }
}
