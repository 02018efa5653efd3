//! Listening in on a swarm: bytes of a capture or a serial line to frames, frames to beacons, and everything that was not one
//! counted.

pub mod ear;
pub mod serial;

pub use ear::{Ear, ProfileName, Sighting};
pub use serial::Splitter;

use wdgnn_link::error::Refusals;

/// What was heard in all.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Frames.
    pub frames: u64,
    /// Frames refused, by reason.
    pub refused: Refusals,
    /// Packets that were damaged, or nobody's that we know.
    pub foreign: u64,
    /// Bytes between frames that were skipped.
    pub skipped: u64,
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, RngExt as _};

    use super::*;
    use crate::{
        capture,
        pcap::{LinkType, Reader, Writer},
        seeds::{Purpose, generator},
    };

    #[test]
    fn damage_of_any_kind_is_read_to_its_end_and_every_byte_is_accounted_for() {
        let mut random = generator(9, Purpose::Testing, 0);
        for _ in 0..300 {
            let mut writer = Writer::new(Vec::new(), LinkType::Dot154).unwrap();
            for sequence in 0..20 {
                let mut frame = vec![0; random.random_range(1..116)];
                random.fill_bytes(&mut frame);
                let packet = capture::packet(LinkType::Dot154, sequence, 7, &frame);
                writer.packet(u64::from(sequence) * 10_000, &packet).unwrap();
            }
            let mut bytes = writer.finish().unwrap();
            for _ in 0..random.random_range(0..6) {
                let place = random.random_range(24..bytes.len());
                match random.random_range(0..3) {
                    0 => bytes[place] ^= 1 << random.random_range(0..8),
                    1 => drop(bytes.remove(place)),
                    _ => bytes.insert(place, random.random()),
                }
            }
            let (mut ear, mut read) = (Ear::new(0), 24);
            let mut reader = Reader::new(&bytes).unwrap();
            for packet in reader.by_ref() {
                read += 16 + packet.bytes.len() as u64;
                if let Some(frame) = capture::frame(LinkType::Dot154, packet.bytes) {
                    assert!(ear.listen(frame).content.is_none(), "noise is no beacon");
                }
            }
            assert_eq!(read + reader.skipped, bytes.len() as u64);
            // The same bytes as a serial line.
            let mut splitter = Splitter::default();
            splitter.feed(&bytes, |frame| drop(ear.listen(frame)));
            splitter.finish();
            assert!(splitter.skipped <= bytes.len() as u64);
        }
    }
}
