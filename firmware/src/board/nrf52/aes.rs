//! AES-128 by the chip's ECB peripheral (product specification, "ECB").
//!
//! A block takes 7 µs while the CPU sleeps; in software it takes 80 µs. If the peripheral fails the
//! FIPS-197 example at start, the robot logs an error and halts.

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

/// Example of FIPS-197, appendix C.1: key, plaintext, ciphertext.
const EXAMPLE: [[u8; 16]; 3] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
    [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a],
];

/// Timeout of one block.
const TIMEOUT_US: u32 = 200;

/// Block cipher on the ECB peripheral.
pub struct ChipAes(Key);

impl core::fmt::Debug for ChipAes {
    /// Does not reveal the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("ChipAes")
    }
}

/// DMA memory of the peripheral.
#[repr(C, align(4))]
struct Data {
    key: [u8; 16],
    plain: [u8; 16],
    encrypted: [u8; 16],
}

struct Shared(UnsafeCell<Data>);

// SAFETY: only the main thread uses it, and the peripheral while that thread waits.
unsafe impl Sync for Shared {}

static DATA: Shared = Shared(UnsafeCell::new(Data { key: [0; 16], plain: [0; 16], encrypted: [0; 16] }));

/// Encrypts a block. Returns false if the peripheral failed.
fn encrypt(key: &Key, block: &mut [u8; 16]) -> bool {
    let data = DATA.0.get();
    // SAFETY: the peripheral is idle.
    unsafe { ((*data).key, (*data).plain) = (*key, *block) };
    ECB.events_endecb().write_value(0);
    ECB.events_errorecb().write_value(0);
    ECB.ecbdataptr().write_value(data.expose_provenance() as u32);
    // The interrupt wakes the CPU but stays masked in the NVIC, so no handler runs.
    ECB.intenset().write(|w| w.set_endecb(true));
    compiler_fence(Ordering::SeqCst);
    ECB.tasks_startecb().write_value(1);
    let end = time::set_timeout(TIMEOUT_US);
    let done = loop {
        if ECB.events_endecb().read() != 0 || ECB.events_errorecb().read() != 0 {
            break true;
        }
        if time::has_passed(end) {
            break false;
        }
        cortex_m::asm::wfe();
    };
    time::clear_timeout();
    compiler_fence(Ordering::SeqCst);
    ECB.intenclr().write(|w| w.set_endecb(true));
    ECB.events_endecb().write_value(0);
    cortex_m::peripheral::NVIC::unpend(Interrupt::ECB);
    let good = done && ECB.events_errorecb().read() == 0;
    if !good {
        ECB.tasks_stopecb().write_value(1);
    }
    // SAFETY: the peripheral has finished or was stopped.
    *block = unsafe { ptr::read_volatile(&raw const (*data).encrypted) };
    good
}

impl ChipAes {
    /// Cipher with this key. Halts the robot if the peripheral does not work.
    pub fn new(key: &Key) -> Self {
        let [example, mut block, encrypted] = EXAMPLE;
        if !encrypt(&example, &mut block) || block != encrypted {
            defmt::error!("AES self-test failed, frames cannot be sealed");
            super::startup::halt();
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
            // The frame would be sent in plaintext. A reset is safer.
            cortex_m::peripheral::SCB::sys_reset();
        }
    }
}
