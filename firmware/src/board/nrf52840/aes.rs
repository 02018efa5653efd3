//! The chip's AES: a block in about 7 µs, where software takes 80.
//!
//! It was never tried on a chip, so it is tried at every start: if the example of FIPS-197 does not come out as printed, and for any block
//! that the chip does not finish, software takes its place.

use core::{
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use embassy_nrf::pac;
use wdgnn_core::{
    ccm::{Block, BlockCipher},
    cipher::Aes,
    seal::Key,
};

/// Appendix C.1 of FIPS-197: key, plain block, encrypted block.
const EXAMPLE: [Block; 3] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
    [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a],
];

/// A block takes 7.2 µs by the data sheet, 460 cycles; a turn of the loop at least four.
const PATIENCE: u32 = 1_000;

/// AES-128 by the chip, or by software where the chip fails.
pub struct ChipAes {
    /// For the chip, if it is to be trusted.
    key: Option<Key>,
    software: Aes,
}

impl core::fmt::Debug for ChipAes {
    /// Tells nothing about the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("ChipAes").field("works", &self.key.is_some()).finish_non_exhaustive()
    }
}

/// What the chip reads and writes.
#[repr(C, align(4))]
struct Data {
    key: Key,
    plain: Block,
    encrypted: Block,
}

/// One block, encrypted by the chip; `None` when it does not finish.
fn encrypt(key: &Key, plain: Block) -> Option<Block> {
    let mut data = Data { key: *key, plain, encrypted: [0; 16] };
    let chip = pac::ECB;
    chip.events_endecb().write_value(0);
    chip.events_errorecb().write_value(0);
    chip.ecbdataptr().write_value((&raw mut data).expose_provenance() as u32);
    // The chip reads what was written before, and not what comes later.
    compiler_fence(Ordering::SeqCst);
    chip.tasks_startecb().write_value(1);
    let mut turns = 0..PATIENCE;
    let done = turns.any(|_| chip.events_endecb().read() != 0 || chip.events_errorecb().read() != 0);
    if !done || chip.events_errorecb().read() != 0 {
        // It must not write to this place of the stack once somebody else has it.
        chip.tasks_stopecb().write_value(1);
        return None;
    }
    compiler_fence(Ordering::SeqCst);
    // SAFETY: it is this function's own, and the chip has finished with it.
    #[allow(unsafe_code, reason = "the chip wrote it behind the compiler's back")]
    Some(unsafe { ptr::read_volatile(&raw const data.encrypted) })
}

impl ChipAes {
    /// The chip with a key, or software where the chip does not do what it should.
    #[must_use]
    pub fn new(key: &Key) -> Self {
        let [example, plain, encrypted] = EXAMPLE;
        let works = encrypt(&example, plain) == Some(encrypted);
        if !works {
            defmt::warn!("the chip's AES does not work; software takes its place");
        }
        Self { key: works.then_some(*key), software: Aes::new(key) }
    }
}

impl BlockCipher for ChipAes {
    fn encrypt(&self, block: &mut Block) {
        match self.key.as_ref().and_then(|key| encrypt(key, *block)) {
            Some(encrypted) => *block = encrypted,
            None => self.software.encrypt(block),
        }
    }
}
