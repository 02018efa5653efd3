//! Messages on a serial line: postcard, a CRC-32 and COBS.
//!
//! A message is the postcard bytes of its value and a little-endian CRC-32 over them, in one COBS frame
//! that ends with a zero byte. A receiver that joins late or loses bytes resynchronizes at the next
//! zero.

use serde::{Deserialize, Serialize};

/// CRC-32/ISO-HDLC. Table-driven (1 KB), because the bitwise form takes an eighth of a robot's
/// processor time.
pub static CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// Bytes of the checksum.
pub const CHECKSUM_LEN: usize = 4;

/// Encodes a message into `line` and returns its length. `PLAIN` is the length of the longest message
/// with its checksum, before COBS.
pub fn encode<const PLAIN: usize>(message: &impl Serialize, line: &mut [u8]) -> Option<usize> {
    let mut plain = [0; PLAIN];
    let length = postcard::to_slice(message, &mut plain).ok()?.len();
    seal(&mut plain, length, line)
}

/// Decodes a message without its final zero, in place. The message has no further bytes.
pub fn decode<'a, M: Deserialize<'a>>(line: &'a mut [u8]) -> Option<M> {
    parse(open(line)?)
}

/// Adds a checksum to the first `length` bytes of `plain`, and encodes them as a COBS frame with its
/// final zero.
pub(crate) fn seal(plain: &mut [u8], length: usize, line: &mut [u8]) -> Option<usize> {
    let checksum = CHECKSUM.checksum(plain.get(..length)?).to_le_bytes();
    *plain.get_mut(length..)?.first_chunk_mut()? = checksum;
    let length = cobs::try_encode(plain.get(..length + checksum.len())?, line).ok()?;
    *line.get_mut(length)? = 0;
    Some(length + 1)
}

/// Decodes a COBS frame in place and returns the bytes before its checksum, if the checksum is correct.
pub(crate) fn open(line: &mut [u8]) -> Option<&[u8]> {
    let length = cobs_decode(line)?;
    let (plain, checksum) = line.get(..length)?.split_last_chunk::<CHECKSUM_LEN>()?;
    (CHECKSUM.checksum(plain) == u32::from_le_bytes(*checksum)).then_some(plain)
}

/// Decodes a postcard value that fills `plain`.
pub(crate) fn parse<'a, M: Deserialize<'a>>(plain: &'a [u8]) -> Option<M> {
    let (message, rest) = postcard::take_from_bytes(plain).ok()?;
    rest.is_empty().then_some(message)
}

/// Decodes COBS in place and returns the decoded length; `None` for an invalid frame.
///
/// The `cobs` crate's decoder indexes by received bytes, which could panic, and an image with a
/// reachable panic does not link.
fn cobs_decode(frame: &mut [u8]) -> Option<usize> {
    let (mut read, mut write) = (0, 0);
    while read < frame.len() {
        let code = usize::from(*frame.get(read)?);
        read += 1;
        for _ in 1..code {
            let byte = *frame.get(read)?;
            *frame.get_mut(write)? = byte;
            (read, write) = (read + 1, write + 1);
        }
        match code {
            0 => return None,
            // A zero byte, except at the end of the frame and after a run of 254 bytes.
            1..255 if read < frame.len() => {
                *frame.get_mut(write)? = 0;
                write += 1;
            }
            _ => {}
        }
    }
    Some(write)
}

/// Splits a byte stream into messages of at most `N` bytes with COBS.
#[derive(Clone, Debug)]
pub struct Deframer<const N: usize> {
    bytes: [u8; N],
    /// Bytes of the current message. A value above the capacity marks a message that is too long.
    length: usize,
}

impl<const N: usize> Default for Deframer<N> {
    fn default() -> Self {
        Self { bytes: [0; N], length: 0 }
    }
}

impl<const N: usize> Deframer<N> {
    /// Adds a byte. A zero returns the bytes before it, or an empty slice if they exceed the capacity.
    /// Consecutive zeros return `None`.
    pub fn push(&mut self, byte: u8) -> Option<&mut [u8]> {
        if byte != 0 {
            if let Some(slot) = self.bytes.get_mut(self.length) {
                *slot = byte;
            }
            self.length = self.length.saturating_add(1);
            return None;
        }
        let length = core::mem::take(&mut self.length);
        (length > 0).then(|| self.bytes.get_mut(..length).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    fn encoded(message: u32) -> Vec<u8> {
        let mut bytes = [0; 16];
        let length = encode::<9>(&message, &mut bytes).unwrap();
        bytes[..length].to_vec()
    }

    #[test]
    fn cobs_decoding_matches_the_cobs_crate() {
        let mut number = 1_u32;
        for length in 0..400 {
            // Many zeros, so that runs of all lengths occur.
            let plain: Vec<u8> = (0..length)
                .map(|_| {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if number >> 29 == 0 || length > 300 { (number >> 16) as u8 } else { 0 }
                })
                .collect();
            let mut stuffed = cobs::encode_vec(&plain);
            assert_eq!(cobs_decode(&mut stuffed), Some(plain.len()), "{length} bytes");
            assert_eq!(stuffed[..plain.len()], plain);
        }
        for bad in [&[0_u8][..], &[5, 1, 2], &[1, 0, 1], &[255, 7]] {
            assert_eq!(cobs_decode(&mut bad.to_vec()), None, "{bad:?}");
        }
    }

    #[test]
    fn encoding_matches_hand_worked_bytes_and_buffers_may_be_too_short() {
        // 300 is the varint ac 02; then its CRC-32.
        let [a, b, c, d] = CHECKSUM.checksum(&[0xac, 2]).to_le_bytes();
        assert_eq!(encoded(300), [7, 0xac, 2, a, b, c, d, 0]);
        assert_eq!(encode::<9>(&300_u32, &mut [0; 7]), None);
        assert_eq!(encode::<5>(&300_u32, &mut [0; 16]), None);
    }

    #[test]
    fn a_message_with_a_flipped_bit_or_further_bytes_is_rejected() {
        let good = encoded(300);
        let good = &good[..good.len() - 1];
        assert_eq!(decode::<u32>(&mut good.to_vec()), Some(300));
        assert_eq!(decode::<u8>(&mut good.to_vec()), None, "one byte more than its value");
        for bit in 0..good.len() * 8 {
            let mut bad = good.to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode::<u32>(&mut bad), None, "bit {bit}");
        }
    }

    #[test]
    fn deframer_resynchronizes_at_the_next_zero() {
        let good = encoded(5);
        let mut deframer = Deframer::<16>::default();
        let noise = [&[7; 500][..], &[0, 0, 3, 0]].concat();
        let mut found = Vec::new();
        for byte in noise.iter().chain(&good[4..]).chain(&good) {
            if let Some(bytes) = deframer.push(*byte) {
                found.push(decode::<u32>(bytes).is_some());
            }
        }
        // Too long, one byte, half a message, a whole message; two consecutive zeros give nothing.
        assert_eq!(found, [false, false, false, true]);
    }
}
