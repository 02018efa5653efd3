//! The chip's AES: a block in about 7 µs, where software takes 80.
//!
//! It was never tried on a chip, so it is tried at every start: if the example of FIPS-197 does not come out as printed, and for any block
//! that the chip does not finish, software takes its place.

use core::{
    ptr,
    sync::atomic::{Ordering, compiler_fence},
};

use aes::{
    Aes128,
    cipher::{
        BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, Key, KeyInit,
        KeySizeUser, ParBlocksSizeUser,
        array::Array,
        consts::{U1, U8, U13, U16},
    },
};
use ccm::Ccm;
use embassy_nrf::pac;

/// What seals this board's frames.
pub type ChipCcm = Ccm<ChipAes, U8, U13>;

type Block = Array<u8, U16>;

/// Appendix C.1 of FIPS-197: key, plain block, encrypted block.
const EXAMPLE: [[u8; 16]; 3] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
    [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a],
];

/// A block takes 7.2 µs by the data sheet, 460 cycles; a turn of the loop at least four.
const PATIENCE: u32 = 1_000;

/// AES-128 by the chip, or by software where the chip fails.
pub struct ChipAes {
    /// For the chip, if it is to be trusted.
    key: Option<[u8; 16]>,
    software: Aes128,
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
    key: [u8; 16],
    plain: [u8; 16],
    encrypted: [u8; 16],
}

/// One block, encrypted by the chip; `None` when it does not finish.
fn encrypt(key: &[u8; 16], plain: [u8; 16]) -> Option<[u8; 16]> {
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

impl KeySizeUser for ChipAes {
    type KeySize = U16;
}

impl KeyInit for ChipAes {
    fn new(key: &Key<Self>) -> Self {
        let [example, plain, encrypted] = EXAMPLE;
        let works = encrypt(&example, plain) == Some(encrypted);
        if !works {
            defmt::warn!("the chip's AES does not work; software takes its place");
        }
        Self { key: works.then_some((*key).into()), software: Aes128::new(key) }
    }
}

impl BlockSizeUser for ChipAes {
    type BlockSize = U16;
}

impl BlockCipherEncrypt for ChipAes {
    fn encrypt_with_backend(&self, closure: impl BlockCipherEncClosure<BlockSize = U16>) {
        closure.call(self);
    }
}

impl ParBlocksSizeUser for ChipAes {
    type ParBlocksSize = U1;
}

impl BlockCipherEncBackend for ChipAes {
    #[inline(never)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block>) {
        let plain = *block.get_in();
        let encrypted = self.key.as_ref().and_then(|key| encrypt(key, plain.into()));
        *block.get_out() = encrypted.map_or_else(
            || {
                let mut block = plain;
                self.software.encrypt_block(&mut block);
                block
            },
            Into::into,
        );
    }
}
