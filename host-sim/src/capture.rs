//! Capture of all frames of an episode as a pcap file, for Wireshark.
//!
//! A file is a header of 24 bytes, then one record per packet: 16 bytes and the packet.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::PathBuf,
};

use wdgnn_core::task::NodeId;
use wdgnn_link::tdma::SlotInfo;
use wdgnn_protocol::mac;
use wdgnn_robot::tasks::MotionModel as _;

use crate::{
    episode::{Observer, TickView},
    error::{Error, Result},
    world::Environment,
};

/// Frame checksum of IEEE 802.15.4 (§7.2.10).
const CHECKSUM: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_KERMIT);
/// Longest frame of radios other than 802.15.4: nRF24 frames have 32 bytes, Crazyflie frames 57,
/// and `dot154` frames are longer.
const OTHERS_BYTES: usize = 57;
/// Magic number of a file in the writer's byte order with times in microseconds.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
/// Largest packet for readers: longer than an unfolded message.
const MAX_PACKET_BYTES: u32 = 4096;
/// Link type of IEEE 802.15.4 with frame checksum (tcpdump.org's list).
const DOT154: u32 = 195;
/// Link type for private use: unchanged frames.
const PLAIN: u32 = 147;

/// Observer that writes all frames of an episode.
#[derive(Debug)]
pub struct Capture {
    path: PathBuf,
    /// Control period in seconds.
    period: f32,
    /// File with its link type, opened at the first frame, whose length selects the link type:
    /// lengths above 57 bytes that fit become IEEE 802.15.4 broadcasts.
    file: Option<(BufWriter<File>, u32)>,
    packets: u8,
}

impl Capture {
    /// Creates an observer that writes to `path`.
    pub fn new<W: Environment>(path: PathBuf, task: &W::Task) -> Self {
        Self { path, period: task.period(), file: None, packets: 0 }
    }

    /// Completes the file.
    pub fn finish(self) -> Result {
        let Self { path, file, .. } = self;
        file.map_or(Ok(()), |(mut file, _)| file.flush().map_err(|source| Error::Write { path, source }))
    }
}

impl<W: Environment> Observer<W> for Capture {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        let sent = moment.swarm.frames();
        let Some(longest) = sent.iter().flatten().map(|frame| frame.len()).max() else { return Ok(()) };
        let failed = |source| Error::Write { path: self.path.clone(), source };
        if self.file.is_none() {
            let fits = longest > OTHERS_BYTES && longest <= mac::MAX_PAYLOAD;
            let link = if fits { DOT154 } else { PLAIN };
            let mut file = BufWriter::new(File::create(&self.path).map_err(failed)?);
            file.write_all(&header(link)).map_err(failed)?;
            self.file = Some((file, link));
        }
        let Some((file, link)) = &mut self.file else { return Ok(()) };
        let microseconds = (f64::from(self.period) * f64::from(moment.scene.tick) * 1.0e6).round() as u64;
        for (robot, frame) in
            (0..).zip(sent).flat_map(|(id, frames)| frames.iter().map(move |frame| (id, frame)))
        {
            let packet = packet(*link, self.packets, robot, frame);
            self.packets = self.packets.wrapping_add(1);
            file.write_all(&record(microseconds, &packet)).map_err(failed)?;
        }
        Ok(())
    }
}

fn little_endian<const N: usize>(words: [u32; N]) -> Vec<u8> {
    words.map(u32::to_le_bytes).concat()
}

/// Returns the header of a file of version 2.4.
fn header(link: u32) -> Vec<u8> {
    little_endian([MICROSECONDS, 4 << 16 | 2, 0, 0, MAX_PACKET_BYTES, link])
}

/// Returns the record of a packet.
fn record(microseconds: u64, packet: &[u8]) -> Vec<u8> {
    let (seconds, fraction) = (microseconds / 1_000_000, microseconds % 1_000_000);
    let head = [seconds as u32, fraction as u32, packet.len() as u32, packet.len() as u32];
    [&little_endian(head), packet].concat()
}

/// Returns the packet on the channel.
fn packet(link: u32, sequence: u8, sender: NodeId, frame: &[u8]) -> Vec<u8> {
    if link == PLAIN {
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
    fn captures_have_the_golden_bytes() {
        let header = header(PLAIN);
        assert_eq!(header[..8], [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]);
        assert_eq!(header[8..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 147, 0, 0, 0]);
        let record = record(2_000_003, &packet(PLAIN, 3, 0x0102, &[7, 8]));
        assert_eq!(record, [2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8]);
    }
}
