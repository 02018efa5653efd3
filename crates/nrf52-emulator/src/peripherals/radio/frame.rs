//! IEEE 802.15.4 frames and their duration.

use std::sync::Arc;

use crate::MICROSECOND;

/// Duration of one byte in cycles: two symbols of 16 µs.
pub const BYTE_TIME: u64 = 32 * MICROSECOND;
/// Bytes of preamble (4), start-of-frame delimiter (1) and length (1).
pub const HEADER_BYTES: u64 = 6;

/// Frame on the air.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Length byte (PHR) as transmitted.
    ///
    /// A valid one is the number of bytes in `content` plus two for the CRC.
    pub length: u8,
    /// Bytes after the length byte, without the CRC.
    pub content: Arc<[u8]>,
    /// The CRC is valid.
    pub crc_ok: bool,
    /// Channel as offset from 2400 MHz in MHz, as in the register FREQUENCY.
    pub channel: u32,
}

impl Frame {
    /// Returns the duration from preamble to CRC, in cycles.
    pub fn duration(&self) -> u64 {
        (HEADER_BYTES + u64::from(self.length & 0x7f)) * BYTE_TIME
    }
}

/// Result of a frame at one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reception {
    /// Received with a valid CRC.
    Good,
    /// Received with an invalid CRC, after a collision or a truncated transmission.
    Corrupted,
    /// Not received, because the receiver did not listen during the whole frame.
    Missed,
}

/// Frame at one receiver, in cycles of the receiver's clock.
#[derive(Clone, Debug)]
pub struct IncomingFrame {
    pub start: u64,
    pub end: u64,
    pub frame: Frame,
    /// Overlaps another frame.
    pub collided: bool,
    /// Listed in `receptions` already.
    pub reported: bool,
}
