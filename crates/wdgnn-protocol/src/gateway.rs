//! Serial messages between a PC with simulated robots and a radio gateway.
//!
//! The gateway is a board with a radio. It reports received frames with their arrival times, and
//! sends the PC's frames at the times that the PC sets.
//!
//! The gateway has no key and knows neither ticks nor slots. Times are microseconds of its clock.
//! The PC can decrypt frames, so it runs the slot clock (`wdgnn_link::tdma`).
//!
//! A message is its kind, its fields and a CRC-32 over both, in one COBS frame that ends with a
//! zero byte. A receiver that joins late or loses bytes resynchronizes at the next zero. The line
//! runs at [`BAUD`], 8 data bits, no parity, one stop bit. Numbers are little-endian.
//!
//! | message | kind | from | content |
//! |---|--:|---|---|
//! | hello | 16 | gateway | `u8` [`VERSION`]; `u8` code of the radio's link profile; `u32` boot id, a random number drawn at each start; `u32` each: period, slots, lead, slot, delay and retry ([`SlotTiming`] without its interval, which belongs to the swarm) |
//! | received | 17 | gateway | `u64` time of the first symbol; the frame without length byte and checksum |
//! | corrupt | 18 | gateway | `u64` time of the first symbol of a frame with a bad checksum |
//! | send done | 19 | gateway | `u16` frame number; `u8` result ([`SendResult`]); `u64` time of the first symbol, or of the decision not to send |
//! | time | 20 | gateway | `u64` current time: all earlier events have been reported; `u16` frames and messages lost in full queues; `u16` malformed messages from the PC. Both counters wrap |
//! | query | 32 | PC | `u8` [`VERSION`]: asks for a hello |
//! | send | 33 | PC | `u16` frame number, freely chosen; `u64` start of the slot; the frame |
//!
//! The kinds differ from those of the companion link, so that a PC can tell a robot from a gateway.

use wdgnn_link::tdma::SlotTiming;

use crate::companion::{CHECKSUM, cobs_decode};

/// Version of these messages. All versions share the kind of the hello and the position of its
/// version.
pub const VERSION: u8 = 1;
/// Baud rate: a frame takes 1.3 ms. Twice the rate of a robot, because a frame must arrive before
/// its slot.
pub const BAUD: u32 = 1_000_000;
/// Length of the longest frame: the 127 bytes of the standard minus its checksum.
pub const MAX_FRAME: usize = 125;
/// Length of the longest message: a frame to send (1 + 2 + 8 + 125), its checksum (4), COBS (1) and
/// the zero.
pub const MAX_MESSAGE: usize = 1 + 2 + 8 + MAX_FRAME + 4 + 2;

const HELLO: u8 = 16;
const RECEIVED: u8 = 17;
const CORRUPT: u8 = 18;
const SEND_DONE: u8 = 19;
const TIME: u8 = 20;
const QUERY: u8 = 32;
const SEND: u8 = 33;

/// Properties of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Code of the radio's link profile.
    pub profile: u8,
    /// Random number, drawn at each start. A change reveals a restart.
    pub boot_id: u32,
    /// Slot timing of the radio. The gateway does not know the swarm's interval and reports 1.
    pub timing: SlotTiming,
}

/// Result of a send request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendResult {
    /// The frame was sent.
    Sent,
    /// The channel was busy, also at the retry.
    Busy,
    /// The request came after the start of its slot. A late frame would collide with another
    /// robot's slot.
    Late,
    /// The frame is not a robot's broadcast, its slot is too far ahead, or the queue is full.
    Refused,
}

impl SendResult {
    const ALL: [Self; 4] = [Self::Sent, Self::Busy, Self::Late, Self::Refused];
}

/// Message from a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromGateway<'a> {
    /// Properties of the gateway.
    Hello(Hello),
    /// Hello of a gateway with another protocol version.
    OtherVersion(u8),
    /// A received frame.
    Received {
        /// Time of the first symbol.
        start: u64,
        /// The frame.
        frame: &'a [u8],
    },
    /// A frame with a bad checksum.
    Corrupt {
        /// Time of the first symbol.
        start: u64,
    },
    /// Result of a send request.
    SendDone {
        /// Frame number.
        number: u16,
        /// The result.
        result: SendResult,
        /// Time of the first symbol, or of the decision not to send.
        at: u64,
    },
    /// Current time. All earlier events have been reported.
    Time {
        /// Current time.
        now: u64,
        /// Frames and messages lost in full queues; wraps.
        lost: u16,
        /// Malformed messages from the PC; wraps.
        malformed: u16,
    },
}

/// Message from a PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToGateway<'a> {
    /// Request for a hello.
    Query {
        /// Version of the PC.
        version: u8,
    },
    /// Request to send a frame.
    Send {
        /// Freely chosen number, repeated with the result.
        number: u16,
        /// Start of the slot.
        at: u64,
        /// The frame.
        frame: &'a [u8],
    },
}

impl<'a> FromGateway<'a> {
    /// Encodes the message into `buffer` and returns its length. [`MAX_MESSAGE`] bytes are enough
    /// for every message.
    #[must_use]
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        match *self {
            Self::Hello(Hello { profile, boot_id, timing }) => {
                let SlotTiming { period, slots, lead, slot, delay, retry, .. } = timing;
                let [a, b, c, d, e, f, g] =
                    [boot_id, period, slots, lead, slot, delay, retry].map(u32::to_le_bytes);
                encode_parts(HELLO, [&[VERSION, profile], &a, &b, &c, &d, &e, &f, &g], buffer)
            }
            Self::OtherVersion(version) => encode_parts(HELLO, [&[version]], buffer),
            Self::Received { start, frame } => encode_parts(RECEIVED, [&start.to_le_bytes(), frame], buffer),
            Self::Corrupt { start } => encode_parts(CORRUPT, [&start.to_le_bytes()], buffer),
            Self::SendDone { number, result, at } => encode_parts(
                SEND_DONE,
                [&number.to_le_bytes(), &[result as u8][..], &at.to_le_bytes()],
                buffer,
            ),
            Self::Time { now, lost, malformed } => encode_parts(
                TIME,
                [&now.to_le_bytes()[..], &lost.to_le_bytes(), &malformed.to_le_bytes()],
                buffer,
            ),
        }
    }

    /// Decodes a message without its final zero, in place.
    #[must_use]
    pub fn decode(bytes: &'a mut [u8]) -> Option<Self> {
        let (kind, content) = decode_parts(bytes)?;
        match kind {
            HELLO => {
                let (&version, content) = content.split_first()?;
                if version != VERSION {
                    return Some(Self::OtherVersion(version));
                }
                let (&profile, rest) = content.split_first()?;
                let mut numbers = [0; 7];
                let (words, []) = rest.as_chunks() else { return None };
                if words.len() != numbers.len() {
                    return None;
                }
                numbers.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
                let [boot_id, period, slots, lead, slot, delay, retry] = numbers;
                let timing = SlotTiming { period, interval: 1, slots, lead, slot, delay, retry };
                Some(Self::Hello(Hello { profile, boot_id, timing }))
            }
            RECEIVED => {
                let (start, frame) = content.split_first_chunk()?;
                let fits = frame.len() <= MAX_FRAME;
                fits.then_some(Self::Received { start: u64::from_le_bytes(*start), frame })
            }
            CORRUPT => Some(Self::Corrupt { start: u64::from_le_bytes(content.try_into().ok()?) }),
            SEND_DONE => {
                let (number, rest) = content.split_first_chunk()?;
                let (result, at) = rest.split_first()?;
                let result = *SendResult::ALL.get(usize::from(*result))?;
                let at = u64::from_le_bytes(at.try_into().ok()?);
                Some(Self::SendDone { number: u16::from_le_bytes(*number), result, at })
            }
            TIME => {
                let (now, rest) = content.split_first_chunk()?;
                let (lost, malformed) = rest.split_first_chunk()?;
                let [lost, malformed] = [*lost, malformed.try_into().ok()?].map(u16::from_le_bytes);
                Some(Self::Time { now: u64::from_le_bytes(*now), lost, malformed })
            }
            _ => None,
        }
    }
}

impl<'a> ToGateway<'a> {
    /// Encodes the message into `buffer` and returns its length. [`MAX_MESSAGE`] bytes are enough
    /// for every message.
    #[must_use]
    pub fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        match *self {
            Self::Query { version } => encode_parts(QUERY, [&[version]], buffer),
            Self::Send { number, at, frame } => {
                encode_parts(SEND, [&number.to_le_bytes()[..], &at.to_le_bytes(), frame], buffer)
            }
        }
    }

    /// Decodes a message without its final zero, in place.
    #[must_use]
    pub fn decode(bytes: &'a mut [u8]) -> Option<Self> {
        let (kind, content) = decode_parts(bytes)?;
        match kind {
            QUERY => Some(Self::Query { version: *content.first()? }),
            SEND => {
                let (number, rest) = content.split_first_chunk()?;
                let (at, frame) = rest.split_first_chunk()?;
                let (number, at) = (u16::from_le_bytes(*number), u64::from_le_bytes(*at));
                (frame.len() <= MAX_FRAME).then_some(Self::Send { number, at, frame })
            }
            _ => None,
        }
    }
}

/// Encodes kind, content and checksum as a COBS frame with its final zero.
fn encode_parts<const PARTS: usize>(kind: u8, content: [&[u8]; PARTS], buffer: &mut [u8]) -> Option<usize> {
    // Without the overhead of COBS and the zero.
    let mut plain = [0; MAX_MESSAGE - 2];
    let (first, mut rest) = plain.split_first_mut()?;
    *first = kind;
    let mut length = 1;
    for part in content {
        let (here, behind) = rest.split_at_mut_checked(part.len())?;
        here.iter_mut().zip(part).for_each(|(to, byte)| *to = *byte);
        (rest, length) = (behind, length + part.len());
    }
    let checksum = CHECKSUM.checksum(plain.get(..length)?).to_le_bytes();
    *plain.get_mut(length..)?.first_chunk_mut()? = checksum;
    let length = cobs::try_encode(plain.get(..length + checksum.len())?, buffer).ok()?;
    *buffer.get_mut(length)? = 0;
    Some(length + 1)
}

/// Decodes a COBS frame and returns kind and content if the checksum is correct.
fn decode_parts(bytes: &mut [u8]) -> Option<(u8, &[u8])> {
    let length = cobs_decode(bytes)?;
    let (plain, checksum) = bytes.get(..length)?.split_last_chunk()?;
    let (kind, content) = plain.split_first()?;
    (CHECKSUM.checksum(plain) == u32::from_le_bytes(*checksum)).then_some((*kind, content))
}

/// Splits a byte stream into messages.
#[derive(Clone, Debug)]
pub struct Deframer {
    bytes: [u8; MAX_MESSAGE],
    /// Bytes of the current message. A value above the capacity marks a message that is too long.
    length: usize,
}

impl Default for Deframer {
    fn default() -> Self {
        Self { bytes: [0; MAX_MESSAGE], length: 0 }
    }
}

impl Deframer {
    /// Adds a byte. A zero returns the bytes before it, or an empty slice if they exceed
    /// [`MAX_MESSAGE`]. Consecutive zeros return `None`.
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

    const TIMING: SlotTiming =
        SlotTiming { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };

    fn bytes(encode: impl Fn(&mut [u8]) -> Option<usize>) -> Vec<u8> {
        let mut buffer = [0xee; MAX_MESSAGE];
        let length = encode(&mut buffer).unwrap();
        buffer[..length].to_vec()
    }

    #[test]
    fn encoding_matches_hand_worked_bytes() {
        let send = ToGateway::Send { number: 0x0102, at: 1_000, frame: &[7, 0, 9] };
        // Kind 33, the number, 1,000 = e8 03 and six zeros, the frame, and the CRC-32 of all. COBS
        // removes the zeros.
        let plain = [33, 2, 1, 0xe8, 3, 0, 0, 0, 0, 0, 0, 7, 0, 9];
        let [a, b, c, d] = CHECKSUM.checksum(&plain).to_le_bytes();
        assert_eq!([a, b, c, d], [0x8d, 0x4e, 0x7b, 0x70]);
        let expected = [6, 33, 2, 1, 0xe8, 3, 1, 1, 1, 1, 1, 2, 7, 6, 9, a, b, c, d, 0];
        assert_eq!(bytes(|buffer| send.encode(buffer)), expected);
        let time = FromGateway::Time { now: 0x0102_0304_0506_0708, lost: 0x0a0b, malformed: 0x0c0d };
        let plain = [20, 8, 7, 6, 5, 4, 3, 2, 1, 0x0b, 0x0a, 0x0d, 0x0c];
        let [a, b, c, d] = CHECKSUM.checksum(&plain).to_le_bytes();
        assert_eq!([a, b, c, d], [0xd6, 0x70, 0xf0, 0xb0]);
        let expected = [&[18][..], &plain, &[a, b, c, d, 0]].concat();
        assert_eq!(bytes(|buffer| time.encode(buffer)), expected);
    }

    #[test]
    fn every_message_survives_a_round_trip_and_is_rejected_in_the_other_direction() {
        let frame = [0x5a; MAX_FRAME];
        let mut from_gateway = Vec::from([
            FromGateway::Hello(Hello { profile: 2, boot_id: 0xdead_beef, timing: TIMING }),
            FromGateway::OtherVersion(VERSION + 1),
            FromGateway::Received { start: 7, frame: &frame },
            FromGateway::Received { start: 7, frame: &[] },
            FromGateway::Corrupt { start: u64::MAX },
            FromGateway::Time { now: 3, lost: 1, malformed: 2 },
        ]);
        from_gateway.extend(SendResult::ALL.map(|result| FromGateway::SendDone { number: 9, result, at: 4 }));
        for message in from_gateway {
            let mut bytes = bytes(|buffer| message.encode(buffer));
            assert_eq!(bytes.pop(), Some(0));
            assert_eq!(ToGateway::decode(&mut bytes.clone()), None, "{message:?}");
            assert_eq!(FromGateway::decode(&mut bytes), Some(message));
        }
        for message in [ToGateway::Query { version: 1 }, ToGateway::Send { number: 1, at: 2, frame: &frame }]
        {
            let mut bytes = bytes(|buffer| message.encode(buffer));
            assert_eq!(bytes.pop(), Some(0));
            assert!(bytes.len() < MAX_MESSAGE && !bytes.contains(&0));
            assert_eq!(FromGateway::decode(&mut bytes.clone()), None, "{message:?}");
            assert_eq!(ToGateway::decode(&mut bytes), Some(message));
        }
        let longest = ToGateway::Send { number: 1, at: 2, frame: &frame };
        assert_eq!(bytes(|buffer| longest.encode(buffer)).len(), MAX_MESSAGE, "longest message");
        assert_eq!(longest.encode(&mut [0; MAX_MESSAGE - 1]), None, "buffer too short");
        assert_eq!(
            ToGateway::Send { number: 1, at: 2, frame: &[1; MAX_FRAME + 1] }.encode(&mut [0; 300]),
            None
        );
    }

    #[test]
    fn a_message_with_one_flipped_bit_is_rejected() {
        let good = bytes(|buffer| FromGateway::Received { start: 77, frame: &[1, 0, 3] }.encode(buffer));
        for bit in 0..(good.len() - 1) * 8 {
            let mut bad = good[..good.len() - 1].to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FromGateway::decode(&mut bad), None, "bit {bit}");
        }
    }

    #[test]
    fn deframer_resynchronizes_at_the_next_zero() {
        let good = bytes(|buffer| FromGateway::Corrupt { start: 5 }.encode(buffer));
        let mut deframer = Deframer::default();
        let noise = [&[7; 500][..], &[0, 0, 3, 0]].concat();
        let mut found = Vec::new();
        for byte in noise.iter().chain(&good[4..]).chain(&good) {
            if let Some(bytes) = deframer.push(*byte) {
                found.push(FromGateway::decode(bytes).is_some());
            }
        }
        // Too long, one byte, half a message, a whole message; two consecutive zeros give nothing.
        assert_eq!(found, [false, false, false, true]);
    }
}
