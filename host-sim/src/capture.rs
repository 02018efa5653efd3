//! Capture of all frames of a swarm, for Wireshark.

use std::{fs::File, io::BufWriter, path::Path};

use wdgnn_core::task::NodeId;
use wdgnn_link::tdma::SlotInfo;
use wdgnn_protocol::mac;

use crate::{
    error::{Error, Result},
    pcap::{LinkType, Writer},
};

/// Frame checksum of IEEE 802.15.4 (§7.2.10).
const CHECKSUM: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_KERMIT);

/// Longest frame of radios other than 802.15.4: nRF24 frames have 32 bytes, Crazyflie frames 57,
/// and `dot154` frames are longer.
const OTHERS_BYTES: usize = 57;

/// Open capture file.
#[derive(Debug)]
pub struct Capture {
    path: Box<Path>,
    link: LinkType,
    writer: Writer<BufWriter<File>>,
    packets: u8,
}

impl Capture {
    /// Begins a capture of frames of up to `longest` bytes. Lengths above 57 bytes that fit become
    /// IEEE 802.15.4 broadcasts; other frames are written unchanged.
    pub fn create(path: &Path, longest: usize) -> Result<Self> {
        let fits = longest > OTHERS_BYTES && longest <= mac::MAX_PAYLOAD;
        let link = if fits { LinkType::Dot154 } else { LinkType::Plain };
        let failed = |source| Error::Write { path: path.into(), source };
        let file = File::create(path).map_err(failed)?;
        let writer = Writer::new(BufWriter::new(file), link).map_err(failed)?;
        Ok(Self { path: path.into(), link, writer, packets: 0 })
    }

    /// Appends a frame of `sender`.
    pub fn frame(&mut self, microseconds: u64, sender: NodeId, frame: &[u8]) -> Result {
        let packet = packet(self.link, self.packets, sender, frame);
        self.packets = self.packets.wrapping_add(1);
        let written = self.writer.packet(microseconds, &packet);
        written.map_err(|source| Error::Write { path: self.path.to_path_buf(), source })
    }

    /// Completes the file.
    pub fn finish(self) -> Result {
        let path = self.path;
        self.writer.finish().map_err(|source| Error::Write { path: path.to_path_buf(), source })?;
        Ok(())
    }
}

/// Returns the packet on the channel.
fn packet(link: LinkType, sequence: u8, sender: NodeId, frame: &[u8]) -> Vec<u8> {
    if link == LinkType::Plain {
        return frame.to_vec();
    }
    let mut packet = [&mac::header(sequence, sender, SlotInfo::default()), frame].concat();
    packet.extend(CHECKSUM.checksum(&packet).to_le_bytes());
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_frame_becomes_an_802_15_4_broadcast_with_a_checksum() {
        let packet = packet(LinkType::Dot154, 3, 0x0102, b"a beacon");
        let (body, checksum) = packet.split_last_chunk().unwrap();
        assert_eq!(mac::parse(body).map(|(_, frame)| frame), Some(&b"a beacon"[..]));
        assert_eq!(CHECKSUM.checksum(body), u16::from_le_bytes(*checksum));
    }

    #[test]
    fn frames_of_other_radios_are_written_unchanged() {
        assert_eq!(packet(LinkType::Plain, 3, 0x0102, b"a beacon"), b"a beacon");
    }
}
