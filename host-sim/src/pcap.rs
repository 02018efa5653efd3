//! Writer of pcap files, the capture format of Wireshark and tcpdump.
//!
//! A file is a header of 24 bytes, then one record per packet: 16 bytes and the packet.

use std::io::{self, Write};

/// Link types of a capture (tcpdump.org's list).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// IEEE 802.15.4 with frame checksum.
    Dot154 = 195,
    /// Private use: unchanged frames that are too long for IEEE 802.15.4.
    Plain = 147,
}

/// Magic number of a file in the writer's byte order with times in microseconds.
const MICROSECONDS: u32 = 0xa1b2_c3d4;

/// Largest packet for readers: longer than an unfolded message.
const MAX_PACKET_BYTES: u32 = 4096;

/// Writer of a capture.
#[derive(Debug)]
pub struct Writer<W> {
    sink: W,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of version 2.4, little-endian, in microseconds.
    pub fn new(mut sink: W, link: LinkType) -> io::Result<Self> {
        let words = [MICROSECONDS, 4 << 16 | 2, 0, 0, MAX_PACKET_BYTES, link as u32];
        sink.write_all(&words.map(u32::to_le_bytes).concat())?;
        Ok(Self { sink })
    }

    /// Adds a packet.
    pub fn packet(&mut self, microseconds: u64, bytes: &[u8]) -> io::Result<()> {
        let (seconds, fraction) = (microseconds / 1_000_000, microseconds % 1_000_000);
        let words = [seconds as u32, fraction as u32, bytes.len() as u32, bytes.len() as u32];
        self.sink.write_all(&words.map(u32::to_le_bytes).concat())?;
        self.sink.write_all(bytes)
    }

    /// Ends the capture.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_have_the_golden_bytes() {
        let mut writer = Writer::new(Vec::new(), LinkType::Plain).unwrap();
        writer.packet(2_000_003, &[7, 8]).unwrap();
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes[..8], [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]);
        assert_eq!(bytes[8..24], [0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 147, 0, 0, 0]);
        assert_eq!(bytes[24..], [2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8]);
    }
}
