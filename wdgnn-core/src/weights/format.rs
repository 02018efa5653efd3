//! Magic bytes, version, header length and checksum of weight files.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};

/// Length of the header in bytes.
pub const HEADER_BYTES: usize = 108;
/// Maximum number of layers in a file.
pub const MAX_LAYERS: usize = 6;
/// Version of the file format.
pub const VERSION: u8 = 1;
/// First bytes of every file.
pub const MAGIC: [u8; 4] = *b"WDGN";

/// CRC-32 as in Ethernet, zip and PNG (ISO-HDLC).
///
/// It uses no table: a file is checked once per start, and a table would cost flash.
pub fn crc_32(bytes: &[u8]) -> u32 {
    const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(bytes)
}
