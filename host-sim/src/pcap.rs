//! Captures of frames in the pcap format, as Wireshark and tcpdump have it: written here, and read from anywhere, also when
//! damaged.
//!
//! A file is a header of 24 bytes and records of 16 bytes and a packet. Its first four bytes tell the byte order and whether
//! times are in micro- or nanoseconds.

use std::io::{self, Write};

/// How packets in a capture begin (tcpdump.org's list of link types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// IEEE 802.15.4 with the frame checksum behind.
    Dot154 = 195,
    /// IEEE 802.15.4 without it.
    Dot154WithoutChecksum = 230,
    /// For private use: our frames as they are, for those that are too long for IEEE 802.15.4.
    Plain = 147,
}

impl LinkType {
    /// The link type with this number, if it is one of ours.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        [Self::Dot154, Self::Dot154WithoutChecksum, Self::Plain].into_iter().find(|link| *link as u32 == code)
    }
}

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const HEADER_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;

/// The longest packet that is taken for one: an unfolded beacon, and room.
const LONGEST: usize = 4096;

/// Two records that follow each other are not further apart: what tells times from noise.
const APART_SECONDS: u64 = 24 * 3600;

/// Writes a capture.
#[derive(Debug)]
pub struct Writer<W> {
    sink: W,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of version 2.4, little-endian, in microseconds.
    ///
    /// # Errors
    /// When the sink cannot be written.
    pub fn new(mut sink: W, link: LinkType) -> io::Result<Self> {
        let words = [MICROSECONDS, 4 << 16 | 2, 0, 0, LONGEST as u32, link as u32];
        sink.write_all(&words.map(u32::to_le_bytes).concat())?;
        Ok(Self { sink })
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// When the sink cannot be written.
    pub fn packet(&mut self, microseconds: u64, bytes: &[u8]) -> io::Result<()> {
        let (seconds, fraction) = (microseconds / 1_000_000, microseconds % 1_000_000);
        let words = [seconds as u32, fraction as u32, bytes.len() as u32, bytes.len() as u32];
        self.sink.write_all(&words.map(u32::to_le_bytes).concat())?;
        self.sink.write_all(bytes)
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// When the sink cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }
}

/// One packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet<'a> {
    /// When it was heard, since 1970.
    pub seconds: f64,
    /// What was heard.
    pub bytes: &'a [u8],
}

/// Four bytes as a number, in a capture's byte order.
type Word = fn([u8; 4]) -> u32;

/// Reads a capture, packet by packet. What cannot be a record is skipped up to what can.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    word: Word,
    /// Fractions per second.
    fractions: u32,
    last: Option<u64>,
    /// The number of the link type.
    pub link: u32,
    /// Bytes that were skipped.
    pub skipped: u64,
}

/// The four words of a record.
struct Record {
    seconds: u32,
    fraction: u32,
    captured: usize,
}

impl<'a> Reader<'a> {
    /// Whether this is the beginning of a capture.
    #[must_use]
    pub fn recognises(bytes: &[u8]) -> bool {
        Self::format(bytes).is_some()
    }

    fn format(bytes: &[u8]) -> Option<(Word, u32)> {
        let magic = *bytes.first_chunk()?;
        let orders: [Word; 2] = [u32::from_le_bytes, u32::from_be_bytes];
        orders.into_iter().find_map(|word| match word(magic) {
            MICROSECONDS => Some((word, 1_000_000)),
            NANOSECONDS => Some((word, 1_000_000_000)),
            _ => None,
        })
    }

    /// Reads `bytes`; `None` when they do not begin as a capture does.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (word, fractions) = Self::format(bytes)?;
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        // The upper bits tell about checksums.
        let link = word(*header.last_chunk()?) & 0x03ff_ffff;
        Some(Self { rest, word, fractions, last: None, link, skipped: 0 })
    }

    /// The record at an offset, if what stands there can be one.
    fn record(&self, offset: usize) -> Option<Record> {
        let words = self.rest.get(offset..)?.first_chunk::<RECORD_BYTES>()?;
        let (words, _) = words.as_chunks::<4>();
        let [seconds, fraction, captured, original] = *words else { return None };
        let [seconds, fraction, captured, original] =
            [seconds, fraction, captured, original].map(|bytes| (self.word)(bytes));
        let fits = self.rest.len() - offset - RECORD_BYTES >= captured as usize;
        let near = self.last.is_none_or(|last| last.abs_diff(seconds.into()) < APART_SECONDS);
        // Zeros are everywhere, and nobody captures nothing.
        let length = captured > 0 && captured <= original && original as usize <= LONGEST;
        let possible = fraction < self.fractions && length;
        (possible && fits && near).then_some(Record { seconds, fraction, captured: captured as usize })
    }

    /// Whether a record stands at an offset and another one, or the end, behind it.
    fn believable(&self, offset: usize) -> bool {
        self.record(offset).is_some_and(|record| {
            let next = offset + RECORD_BYTES + record.captured;
            next == self.rest.len() || self.record(next).is_some()
        })
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.skipped += bytes as u64;
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Packet<'a>;

    fn next(&mut self) -> Option<Packet<'a>> {
        if self.record(0).is_none() {
            let found = (1..self.rest.len()).find(|offset| self.believable(*offset));
            self.skip(found.unwrap_or(self.rest.len()));
        }
        let record = self.record(0)?;
        let (bytes, rest) = self.rest[RECORD_BYTES..].split_at(record.captured);
        self.rest = rest;
        self.last = Some(record.seconds.into());
        let fraction = f64::from(record.fraction) / f64::from(self.fractions);
        Some(Packet { seconds: f64::from(record.seconds) + fraction, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten packets, a hundredth of a second apart.
    fn capture() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), LinkType::Dot154).unwrap();
        for count in 0..10_u8 {
            writer
                .packet(5_000_000 + u64::from(count) * 10_000, &vec![count; 20 + usize::from(count)])
                .unwrap();
        }
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> (Vec<u8>, u64) {
        let mut reader = Reader::new(bytes).unwrap();
        let found = reader.by_ref().map(|packet| packet.bytes.first().copied().unwrap_or(255)).collect();
        (found, reader.skipped)
    }

    #[test]
    fn a_capture_is_these_bytes() {
        let mut writer = Writer::new(Vec::new(), LinkType::Plain).unwrap();
        writer.packet(2_000_003, &[7, 8]).unwrap();
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes[..8], [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]);
        assert_eq!(bytes[8..24], [0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 147, 0, 0, 0]);
        assert_eq!(bytes[24..], [2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 8]);
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = capture();
        let reader = Reader::new(&bytes).unwrap();
        assert_eq!(LinkType::from_code(reader.link), Some(LinkType::Dot154));
        let last = reader.last().unwrap();
        assert_eq!((last.seconds, last.bytes), (5.09, &[9; 29][..]));
        assert_eq!(read(&bytes), ((0..10).collect(), 0));
    }

    #[test]
    fn both_byte_orders_and_both_units_are_read() {
        for (magic, fraction) in [(MICROSECONDS, 250_000_u32), (NANOSECONDS, 250_000_000)] {
            let words = [magic, 2 << 16 | 4, 0, 0, 65535, 230, 9, fraction, 1, 1];
            let big = [words.map(u32::to_be_bytes).concat(), vec![42]].concat();
            let little = [words.map(u32::to_le_bytes).concat(), vec![42]].concat();
            for bytes in [big, little] {
                let mut reader = Reader::new(&bytes).unwrap();
                assert_eq!(reader.link, 230);
                assert_eq!(reader.next(), Some(Packet { seconds: 9.25, bytes: &[42] }));
                assert_eq!(reader.next(), None);
            }
        }
    }

    #[test]
    fn what_is_no_capture_is_none() {
        assert!(Reader::new(b"").is_none());
        assert!(Reader::new(b"\xd4\xc3\xb2\xa1").is_none(), "a beginning alone");
        assert!(Reader::new(&[0; 100]).is_none());
    }

    #[test]
    fn noise_between_records_is_skipped_and_counted() {
        let bytes = capture();
        // Before the third record: 24 + 36 + 37.
        for noise in [1, 5, 16, 100] {
            let damaged = [&bytes[..97], &vec![0xee; noise], &bytes[97..]].concat();
            assert_eq!(read(&damaged), ((0..10).collect(), noise as u64));
        }
    }

    #[test]
    fn a_damaged_length_costs_one_packet_and_a_lost_byte_no_more() {
        let bytes = capture();
        let mut damaged = bytes.clone();
        damaged[97 + 10] = 0xff; // The third record's length becomes 16 million.
        assert_eq!(read(&damaged), (vec![0, 1, 3, 4, 5, 6, 7, 8, 9], 16 + 22));
        let mut cut = bytes.clone();
        cut.remove(97 + 20); // A byte of the third packet: it takes one of the fourth record.
        let (found, skipped) = read(&cut);
        assert_eq!(found, [0, 1, 2, 4, 5, 6, 7, 8, 9]);
        assert_eq!(skipped, 16 + 23 - 1);
    }

    #[test]
    fn every_truncation_ends_well() {
        let bytes = capture();
        for length in HEADER_BYTES..bytes.len() {
            let (found, skipped) = read(&bytes[..length]);
            assert!(found.iter().copied().eq(0..found.len() as u8));
            let whole: usize = found.iter().map(|count| RECORD_BYTES + 20 + usize::from(*count)).sum();
            assert_eq!(HEADER_BYTES + whole + skipped as usize, length);
        }
    }
}
