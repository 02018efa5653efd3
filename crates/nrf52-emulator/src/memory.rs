//! Flash, RAM and the information registers FICR and UICR.

use crate::cpu::{BusError, Size};

/// First address of RAM.
pub const RAM_BASE: u32 = 0x2000_0000;
/// First address of the factory information configuration registers.
pub const FICR_BASE: u32 = 0x1000_0000;
/// First address of the user information configuration registers.
pub const UICR_BASE: u32 = 0x1000_1000;
/// Offset of NFCPINS in UICR.
const NFCPINS: usize = 0x20c;
const INFORMATION_BYTES: u32 = 0x1000;
/// Bytes per flash page (product specification, "NVMC").
pub const PAGE_BYTES: u32 = 4096;

/// Value of every RAM byte after power-on.
///
/// It is not zero, so that firmware that reads uninitialized RAM fails.
pub const RAM_FILL: u8 = 0xa5;

/// Contents of a chip's memories.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Flash, from address 0.
    pub flash: Vec<u8>,
    /// RAM, from [`RAM_BASE`].
    pub ram: Vec<u8>,
    /// FICR, from [`FICR_BASE`].
    pub ficr: Vec<u8>,
    /// UICR, from [`UICR_BASE`].
    pub uicr: Vec<u8>,
}

impl Memory {
    /// Creates erased flash, FICR and UICR, and RAM filled with [`RAM_FILL`].
    pub fn new(flash_bytes: usize, ram_bytes: usize) -> Self {
        let information = || vec![0xff; INFORMATION_BYTES as usize];
        Self {
            flash: vec![0xff; flash_bytes],
            ram: vec![RAM_FILL; ram_bytes],
            ficr: information(),
            uicr: information(),
        }
    }

    /// Returns the memory at an address, and the index in it.
    fn locate(&self, address: u32) -> (&[u8], usize) {
        let (bytes, base) = match address {
            ..FICR_BASE => (&self.flash, 0),
            FICR_BASE..UICR_BASE => (&self.ficr, FICR_BASE),
            UICR_BASE..RAM_BASE => (&self.uicr, UICR_BASE),
            _ => (&self.ram, RAM_BASE),
        };
        (bytes, (address - base) as usize)
    }

    /// Reads from flash, FICR, UICR or RAM.
    #[inline]
    pub fn load(&self, address: u32, size: Size) -> Result<u32, BusError> {
        let error = BusError { address };
        let (bytes, at) = self.locate(address);
        let bytes = bytes.get(at..).ok_or(error)?;
        Ok(match size {
            Size::Byte => u32::from(*bytes.first().ok_or(error)?),
            Size::Half => u32::from(u16::from_le_bytes(*bytes.first_chunk().ok_or(error)?)),
            Size::Word => u32::from_le_bytes(*bytes.first_chunk().ok_or(error)?),
        })
    }

    /// Writes to RAM.
    #[inline]
    pub fn store_ram(&mut self, address: u32, size: Size, value: u32) -> Result<(), BusError> {
        let error = BusError { address };
        let at = address.checked_sub(RAM_BASE).ok_or(error)? as usize;
        let bytes = self.ram.get_mut(at..).ok_or(error)?;
        match size {
            Size::Byte => *bytes.first_mut().ok_or(error)? = value as u8,
            Size::Half => *bytes.first_chunk_mut().ok_or(error)? = (value as u16).to_le_bytes(),
            Size::Word => *bytes.first_chunk_mut().ok_or(error)? = value.to_le_bytes(),
        }
        Ok(())
    }

    /// Reads with EasyDMA, which accesses only RAM. Other addresses read as zero.
    pub fn dma_read(&self, address: u32, count: usize) -> Vec<u8> {
        (0..count as u32)
            .map(|index| {
                let at = address.wrapping_add(index).wrapping_sub(RAM_BASE) as usize;
                self.ram.get(at).copied().unwrap_or_default()
            })
            .collect()
    }

    /// Writes with EasyDMA, which accesses only RAM.
    ///
    /// Bytes for other addresses are ignored.
    pub fn dma_write(&mut self, address: u32, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            let at = address.wrapping_add(index as u32).wrapping_sub(RAM_BASE) as usize;
            if let Some(slot) = self.ram.get_mut(at) {
                *slot = *byte;
            }
        }
    }

    /// Returns UICR.NFCPINS: P0.09 and P0.10 belong to the NFC antenna.
    pub(crate) fn nfc_enabled(&self) -> bool {
        self.uicr[NFCPINS] & 1 != 0
    }

    /// Returns a byte of flash or UICR for modification.
    pub fn nonvolatile_mut(&mut self, address: u32) -> Option<&mut u8> {
        match address {
            ..FICR_BASE => self.flash.get_mut(address as usize),
            UICR_BASE..RAM_BASE => self.uicr.get_mut((address - UICR_BASE) as usize),
            _ => None,
        }
    }
}
