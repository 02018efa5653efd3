//! What a program logs over RTT: a ring in its RAM that a debug probe empties while the program runs.

use crate::{chip::Chip, cpu::Size, memory::RAM};

/// Reads a program's log.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    /// Where the control block lies (`_SEGGER_RTT`).
    block: u32,
}

impl Rtt {
    /// At the control block's address.
    #[must_use]
    pub fn new(block: u32) -> Self {
        Self { block }
    }

    /// What was logged since this was last called.
    pub fn take(&self, chip: &mut Chip) -> Vec<u8> {
        // The identifier (16 bytes), the numbers of channels up and down, then the first channel up: name, buffer, size,
        // written, read, flags.
        let word = |chip: &Chip, offset: u32| {
            chip.memory().load(self.block + offset, Size::Word).unwrap_or_default()
        };
        let identifier: Vec<u8> = (0..10)
            .filter_map(|index| chip.memory().load(self.block + index, Size::Byte).ok())
            .map(|byte| byte as u8)
            .collect();
        if identifier != *b"SEGGER RTT" {
            return Vec::new();
        }
        let [buffer, size, written, mut read] = [28, 32, 36, 40].map(|offset| word(chip, offset));
        if buffer < RAM || size == 0 || size > 1 << 16 || written >= size || read >= size {
            return Vec::new();
        }
        let mut bytes = Vec::new();
        while read != written {
            bytes.extend(chip.memory().load(buffer + read, Size::Byte).map(|byte| byte as u8));
            read = (read + 1) % size;
        }
        let _ = chip.memory_mut().store_ram(self.block + 40, Size::Word, read);
        bytes
    }
}
