//! A capture of what a swarm says, for Wireshark and for `host-sim sniff`.

use std::{fs::File, io::BufWriter, path::Path};

use wdgnn_core::task::NodeId;
use wdgnn_link::tdma::Note;
use wdgnn_protocol::mac;

use crate::{
    error::{Error, Result},
    pcap::{LinkType, Writer},
};

/// The checksum behind an IEEE 802.15.4 frame (§7.2.10).
pub const CHECKSUM: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_KERMIT);

/// The longest frame of a radio that is no 802.15.4: an nRF24's has 32 bytes, a Crazyflie's 57, and `dot154`'s are longer.
const OTHERS_BYTES: usize = 57;

/// A capture that is being written.
#[derive(Debug)]
pub struct Capture {
    path: Box<Path>,
    link: LinkType,
    writer: Writer<BufWriter<File>>,
    packets: u8,
}

impl Capture {
    /// Begins a capture of frames that have at most `longest` bytes: as IEEE 802.15.4 broadcasts where they fit, otherwise as they
    /// are. So are those of 57 bytes and less, which are an nRF24's or a Crazyflie's and no 802.15.4.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn create(path: &Path, longest: usize) -> Result<Self> {
        let fits = longest > OTHERS_BYTES && longest <= mac::LARGEST_CONTENT;
        let link = if fits { LinkType::Dot154 } else { LinkType::Plain };
        let failed = |source| Error::Write { path: path.into(), source };
        let file = File::create(path).map_err(failed)?;
        let writer = Writer::new(BufWriter::new(file), link).map_err(failed)?;
        Ok(Self { path: path.into(), link, writer, packets: 0 })
    }

    /// Adds a frame that `sender` said.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn frame(&mut self, microseconds: u64, sender: NodeId, frame: &[u8]) -> Result {
        let packet = packet(self.link, self.packets, sender, frame);
        self.packets = self.packets.wrapping_add(1);
        let written = self.writer.packet(microseconds, &packet);
        written.map_err(|source| Error::Write { path: self.path.to_path_buf(), source })
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> Result {
        let path = self.path;
        self.writer.finish().map_err(|source| Error::Write { path: path.to_path_buf(), source })?;
        Ok(())
    }
}

/// A frame as it is on the air.
#[must_use]
pub fn packet(link: LinkType, sequence: u8, sender: NodeId, frame: &[u8]) -> Vec<u8> {
    if link == LinkType::Plain {
        return frame.to_vec();
    }
    let mut packet = [&mac::header(sequence, sender, Note::default()), frame].concat();
    if link == LinkType::Dot154 {
        packet.extend(CHECKSUM.checksum(&packet).to_le_bytes());
    }
    packet
}

/// The frame in a packet; `None` when it is damaged or nobody's that we know.
#[must_use]
pub fn frame(link: LinkType, packet: &[u8]) -> Option<&[u8]> {
    match link {
        LinkType::Plain => Some(packet),
        LinkType::Dot154WithoutChecksum => mac::content(packet).map(|(_, frame)| frame),
        LinkType::Dot154 => {
            let (packet, checksum) = packet.split_last_chunk()?;
            let good = CHECKSUM.checksum(packet) == u16::from_le_bytes(*checksum);
            if good { mac::content(packet).map(|(_, frame)| frame) } else { None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_from_its_packet() {
        for link in [LinkType::Dot154, LinkType::Dot154WithoutChecksum, LinkType::Plain] {
            assert_eq!(frame(link, &packet(link, 3, 0x0102, b"a beacon")), Some(&b"a beacon"[..]));
        }
    }

    #[test]
    fn a_packet_that_is_damaged_or_foreign_has_no_frame() {
        let good = packet(LinkType::Dot154, 3, 0x0102, b"a beacon");
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(frame(LinkType::Dot154, &bad), None, "bit {bit}");
        }
        // An acknowledgement: frame control, sequence number, checksum.
        assert_eq!(frame(LinkType::Dot154WithoutChecksum, &[0x02, 0x00, 7]), None);
        assert_eq!(frame(LinkType::Dot154, &[]), None);
    }
}
