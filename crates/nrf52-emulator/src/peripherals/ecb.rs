//! ECB (product specification, "ECB — AES electronic codebook mode encryption").

use aes::{
    Aes128,
    cipher::{BlockCipherEncrypt as _, KeyInit as _},
};

use crate::{
    MICROSECOND,
    peripheral::{Context, Peripheral, Registers},
};

registers! {
    STARTECB = 0x000, STOPECB = 0x004, ECBDATAPTR = 0x504;
    events: ENDECB = 0x100, ERRORECB = 0x104
}
/// "t_ECB, run time per 16 byte block": 7.2 µs.
const BLOCK_TIME: u64 = 72 * MICROSECOND / 10;

/// AES-128 encryption of one block.
#[derive(Clone, Debug, Default)]
pub struct Ecb {
    registers: Registers,
    ends_at: Option<u64>,
    /// Simulates a defective peripheral: STARTECB never completes. Survives resets.
    pub unresponsive: bool,
}

impl Peripheral for Ecb {
    fn registers(&mut self) -> &mut Registers {
        &mut self.registers
    }

    fn trigger(&mut self, offset: u32, context: &mut Context<'_>) {
        match offset {
            STARTECB => self.ends_at = (!self.unresponsive).then_some(context.now + BLOCK_TIME),
            STOPECB if self.ends_at.take().is_some() => context.raise(ERRORECB),
            _ => {}
        }
    }

    fn next_due(&self) -> Option<u64> {
        self.ends_at
    }

    /// Encrypts.
    ///
    /// The data structure at ECBDATAPTR holds key, cleartext and ciphertext, 16 bytes each.
    fn on_due(&mut self, context: &mut Context<'_>) {
        self.ends_at = None;
        let address = self.registers.get(ECBDATAPTR);
        let mut inputs = [[0; 16]; 2];
        for (input, address) in inputs.iter_mut().zip([address, address.wrapping_add(16)]) {
            input.copy_from_slice(&context.memory.dma_read(address, 16));
        }
        let [key, cleartext] = inputs;
        let mut block = cleartext.into();
        Aes128::new(&key.into()).encrypt_block(&mut block);
        context.memory.dma_write(address.wrapping_add(32), &block);
        context.raise(ENDECB);
    }
}
