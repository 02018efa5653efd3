//! The chip's AES (product specification, "ECB"): a block in 7 µs, during which the processor sleeps, where software takes 80 awake.
//!
//! A chip whose AES does not answer as FIPS-197 prints cannot seal in time: it says so at the start and does not fly.

use core::{
    cell::UnsafeCell,
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use super::time;
use nrf_pac::{ECB, Interrupt};
use wdgnn_link::security::{
    ccm::{Block, BlockCipher},
    key::Key,
};

/// Appendix C.1 of FIPS-197: key, plain block, encrypted block.
const EXAMPLE: [[u8; 16]; 3] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
    [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a],
];

/// Microseconds after which a block counts as lost.
const PATIENCE_US: u32 = 200;

/// AES-128 by the chip, with this key.
pub struct ChipAes(Key);

impl core::fmt::Debug for ChipAes {
    /// Tells nothing about the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("ChipAes")
    }
}

/// What the chip reads and writes.
#[repr(C, align(4))]
struct Data {
    key: [u8; 16],
    plain: [u8; 16],
    encrypted: [u8; 16],
}

struct Shared(UnsafeCell<Data>);

// SAFETY: touched only by the robot's thread, and by the chip while that thread waits for it.
unsafe impl Sync for Shared {}

static DATA: Shared = Shared(UnsafeCell::new(Data { key: [0; 16], plain: [0; 16], encrypted: [0; 16] }));

/// Encrypts a block with a key; says whether the chip answered.
fn encrypt(key: &Key, block: &mut [u8; 16]) -> bool {
    let data = DATA.0.get();
    // SAFETY: the chip is not at work.
    unsafe { ((*data).key, (*data).plain) = (*key, *block) };
    ECB.events_endecb().write_value(0);
    ECB.events_errorecb().write_value(0);
    ECB.ecbdataptr().write_value(data.expose_provenance() as u32);
    // It pends its interrupt, which wakes the processor and is never taken.
    ECB.intenset().write(|w| w.set_endecb(true));
    compiler_fence(Ordering::SeqCst);
    ECB.tasks_startecb().write_value(1);
    let end = time::wake_after(PATIENCE_US);
    let done = loop {
        if ECB.events_endecb().read() != 0 || ECB.events_errorecb().read() != 0 {
            break true;
        }
        if time::has_come(end) {
            break false;
        }
        cortex_m::asm::wfe();
    };
    time::wake_no_more();
    compiler_fence(Ordering::SeqCst);
    ECB.intenclr().write(|w| w.set_endecb(true));
    ECB.events_endecb().write_value(0);
    cortex_m::peripheral::NVIC::unpend(Interrupt::ECB);
    let good = done && ECB.events_errorecb().read() == 0;
    if !good {
        ECB.tasks_stopecb().write_value(1);
    }
    // SAFETY: the chip has finished with it.
    *block = unsafe { ptr::read_volatile(&raw const (*data).encrypted) };
    good
}

impl ChipAes {
    /// The chip with a key.
    pub fn new(key: &Key) -> Self {
        let [example, mut block, encrypted] = EXAMPLE;
        if !encrypt(&example, &mut block) || block != encrypted {
            defmt::error!("the chip's AES does not work: this robot cannot seal its frames");
            super::start::give_up();
        }
        Self(*key)
    }
}

impl BlockCipher for ChipAes {
    fn with_key(key: &Key) -> Self {
        Self(*key)
    }

    fn encrypt(&self, block: &mut Block) {
        if !encrypt(&self.0, block) {
            // Whatever would be sealed now could be read: better a robot that starts again.
            cortex_m::peripheral::SCB::sys_reset();
        }
    }
}
