//! Flash, RAM and the two pages of information registers.

use crate::cpu::{BusFault, Size};

/// Where RAM begins.
pub const RAM: u32 = 0x2000_0000;
/// Factory information.
pub const FICR: u32 = 0x1000_0000;
/// User information, kept like flash.
pub const UICR: u32 = 0x1000_1000;
const INFORMATION_BYTES: u32 = 0x1000;
/// Bytes in a page of flash (product specification, NVMC).
pub const PAGE_BYTES: u32 = 4096;

/// RAM after power came. Not zero: a program that counts on zeros must be found out.
pub const UNTOUCHED: u8 = 0xa5;

/// What a chip remembers.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Code, weights and the store.
    pub flash: Vec<u8>,
    /// Variables.
    pub ram: Vec<u8>,
    /// Factory information.
    pub ficr: Vec<u8>,
    /// User information.
    pub uicr: Vec<u8>,
}

impl Memory {
    /// Erased flash, RAM full of what nobody wrote.
    #[must_use]
    pub fn new(flash_bytes: usize, ram_bytes: usize) -> Self {
        let information = || vec![0xff; INFORMATION_BYTES as usize];
        Self {
            flash: vec![0xff; flash_bytes],
            ram: vec![UNTOUCHED; ram_bytes],
            ficr: information(),
            uicr: information(),
        }
    }

    fn place(&self, address: u32) -> (&[u8], usize) {
        let (bytes, base) = match address {
            ..FICR => (&self.flash, 0),
            FICR..UICR => (&self.ficr, FICR),
            UICR..RAM => (&self.uicr, UICR),
            _ => (&self.ram, RAM),
        };
        (bytes, (address - base) as usize)
    }

    /// Reads from anywhere but peripherals.
    ///
    /// # Errors
    /// Where there is no memory.
    #[inline]
    pub fn load(&self, address: u32, size: Size) -> Result<u32, BusFault> {
        let fault = BusFault { address };
        let (bytes, at) = self.place(address);
        let bytes = bytes.get(at..).ok_or(fault)?;
        Ok(match size {
            Size::Byte => u32::from(*bytes.first().ok_or(fault)?),
            Size::Half => u32::from(u16::from_le_bytes(*bytes.first_chunk().ok_or(fault)?)),
            Size::Word => u32::from_le_bytes(*bytes.first_chunk().ok_or(fault)?),
        })
    }

    /// Writes to RAM.
    ///
    /// # Errors
    /// Where there is none.
    #[inline]
    pub fn store_ram(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusFault> {
        let fault = BusFault { address };
        let at = address.checked_sub(RAM).ok_or(fault)? as usize;
        let bytes = self.ram.get_mut(at..).ok_or(fault)?;
        match size {
            Size::Byte => *bytes.first_mut().ok_or(fault)? = value as u8,
            Size::Half => *bytes.first_chunk_mut().ok_or(fault)? = (value as u16).to_le_bytes(),
            Size::Word => *bytes.first_chunk_mut().ok_or(fault)? = value.to_le_bytes(),
        }
        Ok(())
    }

    /// What a DMA engine reads: RAM only (product specification, "EasyDMA"); zeros elsewhere.
    #[must_use]
    pub fn dma_read(&self, address: u32, count: usize) -> Vec<u8> {
        (0..count as u32)
            .map(|index| {
                let at = address.wrapping_add(index).wrapping_sub(RAM) as usize;
                self.ram.get(at).copied().unwrap_or_default()
            })
            .collect()
    }

    /// What a DMA engine writes: RAM only.
    pub fn dma_write(&mut self, address: u32, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            let at = address.wrapping_add(index as u32).wrapping_sub(RAM) as usize;
            if let Some(slot) = self.ram.get_mut(at) {
                *slot = *byte;
            }
        }
    }

    /// Flash and user information, to write by a programmer or by the flash controller.
    pub fn kept_mut(&mut self, address: u32) -> Option<&mut u8> {
        match address {
            ..FICR => self.flash.get_mut(address as usize),
            UICR..RAM => self.uicr.get_mut((address - UICR) as usize),
            _ => None,
        }
    }
}
