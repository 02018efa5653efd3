//! The weight file's frame: what it begins with, how long its header is, and its checksum.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

/// Length of the header in bytes.
pub const HEADER_BYTES: usize = 108;
/// The most layers that a file can describe.
pub const MAX_LAYERS: usize = 6;
/// The file format's version.
pub const VERSION: u8 = 1;
/// What every file begins with.
pub const MAGIC: [u8; 4] = *b"WDGN";

/// CRC-32 as in Ethernet, zip and PNG. Without a table: a file is checked once per start, flash is dear.
pub fn crc_32(bytes: &[u8]) -> u32 {
    const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(bytes)
}
