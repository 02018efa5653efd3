//! SEGGER RTT: reads the firmware's log from RAM, as a debug probe does.

use crate::{Chip, cpu::Size, memory::RAM_BASE};

/// First bytes of an initialized control block.
const IDENTIFIER: &[u8; 10] = b"SEGGER RTT";
// Offsets of up-channel 0 in the control block.
const BUFFER: u32 = 28;
const SIZE: u32 = 32;
const WRITE_POSITION: u32 = 36;
const READ_POSITION: u32 = 40;
/// Maximum buffer size.
///
/// Larger values mean that the control block is not initialized.
const MAX_SIZE: u32 = 1 << 16;

/// Reader of RTT up-channel 0.
#[derive(Clone, Copy, Debug)]
pub struct Rtt {
    control_block: u32,
}

impl Rtt {
    /// Creates a reader for the control block at an address.
    ///
    /// The address is the value of the symbol `_SEGGER_RTT` in the ELF file.
    pub fn new(control_block: u32) -> Self {
        Self { control_block }
    }

    /// Returns the bytes logged since the last call, and removes them from the buffer.
    ///
    /// Returns nothing while the control block is not initialized.
    pub fn read(&self, chip: &mut Chip) -> Vec<u8> {
        let identifier: Vec<u8> = (0..IDENTIFIER.len() as u32)
            .filter_map(|index| chip.memory().load(self.control_block + index, Size::Byte).ok())
            .map(|byte| byte as u8)
            .collect();
        if identifier != IDENTIFIER {
            return Vec::new();
        }
        let [buffer, size, write, mut read] = [BUFFER, SIZE, WRITE_POSITION, READ_POSITION]
            .map(|offset| chip.memory().load(self.control_block + offset, Size::Word).unwrap_or_default());
        if buffer < RAM_BASE || size == 0 || size > MAX_SIZE || write >= size || read >= size {
            return Vec::new();
        }
        let mut bytes = Vec::new();
        while read != write {
            bytes.extend(chip.memory().load(buffer + read, Size::Byte).map(|byte| byte as u8));
            read = (read + 1) % size;
        }
        let _ = chip.memory_mut().store_ram(self.control_block + READ_POSITION, Size::Word, read);
        bytes
    }
}
