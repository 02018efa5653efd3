//! The gateway's line: a board with a radio stands between a PC that simulates robots and the air that real ones speak in. What it hears
//! goes up the line as it is, with the time of its arrival; what the PC has for a slot goes down, with the slot's time, and is sent then.
//!
//! The gateway has no key and knows neither ticks nor slots: times are microseconds of its own clock, and whose slot begins when is
//! decided by the PC, which can open frames (`wdgnn_link::tdma` goes by those only).
//!
//! A message is its kind, its fields and a CRC-32 over both, all in one COBS frame that ends with a zero: whoever joins late, or loses
//! bytes, is back in step at the next zero. The line has [`BAUD`], 8 bits, no parity, one stop bit. Numbers are little-endian.
//!
//! | message | kind | from | content |
//! |---|--:|---|---|
//! | hello | 16 | gateway | `u8` [`VERSION`]; `u8` the link profile that its radio carries, by its code in a frame; `u32` by chance, another at every start; `u32` each: the air's period, slots, lead, slot, delay and retry ([`Timing`], whose interval is the swarm's) |
//! | heard | 17 | gateway | `u64` when the first symbol came; the frame behind its length, without its checksum |
//! | spoilt | 18 | gateway | `u64` when a frame began that could not be read |
//! | fate | 19 | gateway | `u16` the number of a frame that was to be sent; `u8` what became of it ([`Fate`]); `u64` when its first symbol went out, or when that was decided |
//! | time | 20 | gateway | `u64` its time: everything that had come before was told before; `u16` frames that were lost on their way to the line; `u16` messages that could not be read. Both counts go round |
//! | ask | 32 | PC | `u8` [`VERSION`]: the gateway answers with a hello |
//! | send | 33 | PC | `u16` a number, any; `u64` when the slot begins; the frame |
//!
//! Kinds are none of the companion link's: a robot at the other end is told from a gateway.

use wdgnn_link::tdma::Timing;

use crate::companion::{CHECKSUM, unstuff};

/// Of these messages. The hello keeps its kind and the place of its version, so that another one is told by name.
pub const VERSION: u8 = 1;
/// Bits per second on the line: a frame in 1.3 ms. Twice a robot's, because a frame has to be there before its slot.
pub const BAUD: u32 = 1_000_000;
/// The longest frame: 127 bytes of the standard, less its checksum.
pub const LONGEST_FRAME: usize = 125;
/// The longest message: a frame to be sent (1 + 2 + 8 + 125), its checksum (4), COBS (1) and the zero.
pub const LARGEST: usize = 1 + 2 + 8 + LONGEST_FRAME + 4 + 2;

const HELLO: u8 = 16;
const HEARD: u8 = 17;
const SPOILT: u8 = 18;
const FATE: u8 = 19;
const TIME: u8 = 20;
const ASK: u8 = 32;
const SEND: u8 = 33;

/// What a gateway is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The link profile that its radio carries, by its code in a frame.
    pub profile: u8,
    /// By chance: another one after a restart.
    pub start: u32,
    /// When things happen in its air. The interval is the swarm's, of which it knows nothing: 1.
    pub timing: Timing,
}

/// What became of a frame that was to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was sent.
    Sent,
    /// The channel was not clear, also after the retry.
    Busy,
    /// It came when its slot had begun, and was dropped: nothing is sent in somebody else's time.
    Late,
    /// It is no robot's broadcast, its slot is too far away, or too many wait already.
    Refused,
}

impl Fate {
    const ALL: [Self; 4] = [Self::Sent, Self::Busy, Self::Late, Self::Refused];
}

/// What a gateway says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Up<'a> {
    /// What it is.
    Hello(Hello),
    /// It is a gateway that speaks another version.
    Other(u8),
    /// A frame was heard.
    Heard {
        /// When its first symbol came.
        began: u64,
        /// The frame.
        frame: &'a [u8],
    },
    /// A frame was heard that could not be read.
    Spoilt {
        /// When it began.
        began: u64,
    },
    /// What became of a frame.
    Fate {
        /// Its number.
        number: u16,
        /// What became of it.
        fate: Fate,
        /// When its first symbol went out, or when that was decided.
        at: u64,
    },
    /// What time it is: everything that had come before was told before.
    Time {
        /// The time.
        now: u64,
        /// Frames that were lost on their way to the line, going round.
        lost: u16,
        /// Messages that could not be read, going round.
        unread: u16,
    },
}

/// What a PC says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Down<'a> {
    /// Who is there?
    Ask {
        /// Of the PC.
        version: u8,
    },
    /// Send a frame.
    Send {
        /// Any, told again with its fate.
        number: u16,
        /// When its slot begins.
        at: u64,
        /// The frame.
        frame: &'a [u8],
    },
}

impl<'a> Up<'a> {
    /// Writes the message to the front of `place` and returns its length; [`LARGEST`] is room for any.
    #[must_use]
    pub fn encode(&self, place: &mut [u8]) -> Option<usize> {
        match *self {
            Self::Hello(Hello { profile, start, timing }) => {
                let Timing { period, slots, lead, slot, delay, retry, .. } = timing;
                let [a, b, c, d, e, f, g] =
                    [start, period, slots, lead, slot, delay, retry].map(u32::to_le_bytes);
                wrap(HELLO, [&[VERSION, profile], &a, &b, &c, &d, &e, &f, &g], place)
            }
            Self::Other(version) => wrap(HELLO, [&[version]], place),
            Self::Heard { began, frame } => wrap(HEARD, [&began.to_le_bytes(), frame], place),
            Self::Spoilt { began } => wrap(SPOILT, [&began.to_le_bytes()], place),
            Self::Fate { number, fate, at } => {
                wrap(FATE, [&number.to_le_bytes(), &[fate as u8][..], &at.to_le_bytes()], place)
            }
            Self::Time { now, lost, unread } => {
                wrap(TIME, [&now.to_le_bytes()[..], &lost.to_le_bytes(), &unread.to_le_bytes()], place)
            }
        }
    }

    /// Reads a message, without its zero; what it holds lies in `bytes`.
    #[must_use]
    pub fn decode(bytes: &'a mut [u8]) -> Option<Self> {
        let (kind, content) = unwrap(bytes)?;
        match kind {
            HELLO => {
                let (&version, content) = content.split_first()?;
                if version != VERSION {
                    return Some(Self::Other(version));
                }
                let (&profile, rest) = content.split_first()?;
                let mut numbers = [0; 7];
                let (words, []) = rest.as_chunks() else { return None };
                if words.len() != numbers.len() {
                    return None;
                }
                numbers.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_le_bytes(*word));
                let [start, period, slots, lead, slot, delay, retry] = numbers;
                let timing = Timing { period, interval: 1, slots, lead, slot, delay, retry };
                Some(Self::Hello(Hello { profile, start, timing }))
            }
            HEARD => {
                let (began, frame) = content.split_first_chunk()?;
                let fits = frame.len() <= LONGEST_FRAME;
                fits.then_some(Self::Heard { began: u64::from_le_bytes(*began), frame })
            }
            SPOILT => Some(Self::Spoilt { began: u64::from_le_bytes(content.try_into().ok()?) }),
            FATE => {
                let (number, rest) = content.split_first_chunk()?;
                let (fate, at) = rest.split_first()?;
                let fate = *Fate::ALL.get(usize::from(*fate))?;
                let at = u64::from_le_bytes(at.try_into().ok()?);
                Some(Self::Fate { number: u16::from_le_bytes(*number), fate, at })
            }
            TIME => {
                let (now, rest) = content.split_first_chunk()?;
                let (lost, unread) = rest.split_first_chunk()?;
                let [lost, unread] = [*lost, unread.try_into().ok()?].map(u16::from_le_bytes);
                Some(Self::Time { now: u64::from_le_bytes(*now), lost, unread })
            }
            _ => None,
        }
    }
}

impl<'a> Down<'a> {
    /// As [`Up::encode`].
    #[must_use]
    pub fn encode(&self, place: &mut [u8]) -> Option<usize> {
        match *self {
            Self::Ask { version } => wrap(ASK, [&[version]], place),
            Self::Send { number, at, frame } => {
                wrap(SEND, [&number.to_le_bytes()[..], &at.to_le_bytes(), frame], place)
            }
        }
    }

    /// As [`Up::decode`].
    #[must_use]
    pub fn decode(bytes: &'a mut [u8]) -> Option<Self> {
        let (kind, content) = unwrap(bytes)?;
        match kind {
            ASK => Some(Self::Ask { version: *content.first()? }),
            SEND => {
                let (number, rest) = content.split_first_chunk()?;
                let (at, frame) = rest.split_first_chunk()?;
                let (number, at) = (u16::from_le_bytes(*number), u64::from_le_bytes(*at));
                (frame.len() <= LONGEST_FRAME).then_some(Self::Send { number, at, frame })
            }
            _ => None,
        }
    }
}

/// Kind, content and checksum in COBS, with a zero behind it.
fn wrap<const PARTS: usize>(kind: u8, content: [&[u8]; PARTS], place: &mut [u8]) -> Option<usize> {
    // Without COBS and the zero.
    let mut plain = [0; LARGEST - 2];
    let (first, mut rest) = plain.split_first_mut()?;
    *first = kind;
    let mut length = 1;
    for part in content {
        let (here, behind) = rest.split_at_mut_checked(part.len())?;
        here.iter_mut().zip(part).for_each(|(to, byte)| *to = *byte);
        (rest, length) = (behind, length + part.len());
    }
    let seal = CHECKSUM.checksum(plain.get(..length)?).to_le_bytes();
    *plain.get_mut(length..)?.first_chunk_mut()? = seal;
    let length = cobs::try_encode(plain.get(..length + seal.len())?, place).ok()?;
    *place.get_mut(length)? = 0;
    Some(length + 1)
}

/// A message's kind and content, if its checksum is right.
fn unwrap(bytes: &mut [u8]) -> Option<(u8, &[u8])> {
    let length = unstuff(bytes)?;
    let (plain, seal) = bytes.get(..length)?.split_last_chunk()?;
    let (kind, content) = plain.split_first()?;
    (CHECKSUM.checksum(plain) == u32::from_le_bytes(*seal)).then_some((*kind, content))
}

/// Puts the bytes of a line together to messages.
#[derive(Clone, Debug)]
pub struct Line {
    bytes: [u8; LARGEST],
    /// Bytes so far; more than there is room for mark a message that is being passed over.
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { bytes: [0; LARGEST], length: 0 }
    }
}

impl Line {
    /// Takes a byte; with a zero, what came before it. None of nothing, `Some` of no bytes for what was too long.
    pub fn take(&mut self, byte: u8) -> Option<&mut [u8]> {
        if byte != 0 {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
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

    const TIMING: Timing =
        Timing { period: 10_000, interval: 1, slots: 2, lead: 900, slot: 4_530, delay: 211, retry: 350 };

    fn bytes(encode: impl Fn(&mut [u8]) -> Option<usize>) -> Vec<u8> {
        let mut place = [0xee; LARGEST];
        let length = encode(&mut place).unwrap();
        place[..length].to_vec()
    }

    #[test]
    fn messages_are_these_bytes() {
        let send = Down::Send { number: 0x0102, at: 1_000, frame: &[7, 0, 9] };
        // Kind 33, the number, 1,000 = e8 03 and six zeros, the frame, then their CRC-32 (zlib's); COBS takes the zeros out.
        let plain = [33, 2, 1, 0xe8, 3, 0, 0, 0, 0, 0, 0, 7, 0, 9];
        let [a, b, c, d] = CHECKSUM.checksum(&plain).to_le_bytes();
        assert_eq!([a, b, c, d], [0x8d, 0x4e, 0x7b, 0x70]);
        let expected = [6, 33, 2, 1, 0xe8, 3, 1, 1, 1, 1, 1, 2, 7, 6, 9, a, b, c, d, 0];
        assert_eq!(bytes(|place| send.encode(place)), expected);
        let time = Up::Time { now: 0x0102_0304_0506_0708, lost: 0x0a0b, unread: 0x0c0d };
        let plain = [20, 8, 7, 6, 5, 4, 3, 2, 1, 0x0b, 0x0a, 0x0d, 0x0c];
        let [a, b, c, d] = CHECKSUM.checksum(&plain).to_le_bytes();
        assert_eq!([a, b, c, d], [0xd6, 0x70, 0xf0, 0xb0]);
        let expected = [&[18][..], &plain, &[a, b, c, d, 0]].concat();
        assert_eq!(bytes(|place| time.encode(place)), expected);
    }

    #[test]
    fn every_message_comes_back_and_none_is_taken_for_one_of_the_other_end() {
        let frame = [0x5a; LONGEST_FRAME];
        let mut up = Vec::from([
            Up::Hello(Hello { profile: 2, start: 0xdead_beef, timing: TIMING }),
            Up::Other(VERSION + 1),
            Up::Heard { began: 7, frame: &frame },
            Up::Heard { began: 7, frame: &[] },
            Up::Spoilt { began: u64::MAX },
            Up::Time { now: 3, lost: 1, unread: 2 },
        ]);
        up.extend(Fate::ALL.map(|fate| Up::Fate { number: 9, fate, at: 4 }));
        for message in up {
            let mut bytes = bytes(|place| message.encode(place));
            assert_eq!(bytes.pop(), Some(0));
            assert_eq!(Down::decode(&mut bytes.clone()), None, "{message:?}");
            assert_eq!(Up::decode(&mut bytes), Some(message));
        }
        for message in [Down::Ask { version: 1 }, Down::Send { number: 1, at: 2, frame: &frame }] {
            let mut bytes = bytes(|place| message.encode(place));
            assert_eq!(bytes.pop(), Some(0));
            assert!(bytes.len() < LARGEST && !bytes.contains(&0));
            assert_eq!(Up::decode(&mut bytes.clone()), None, "{message:?}");
            assert_eq!(Down::decode(&mut bytes), Some(message));
        }
        let most = Down::Send { number: 1, at: 2, frame: &frame };
        assert_eq!(bytes(|place| most.encode(place)).len(), LARGEST, "the longest of all");
        assert_eq!(most.encode(&mut [0; LARGEST - 1]), None, "no room");
        assert_eq!(
            Down::Send { number: 1, at: 2, frame: &[1; LONGEST_FRAME + 1] }.encode(&mut [0; 300]),
            None
        );
    }

    #[test]
    fn a_message_with_any_bit_changed_is_none() {
        let good = bytes(|place| Up::Heard { began: 77, frame: &[1, 0, 3] }.encode(place));
        for bit in 0..(good.len() - 1) * 8 {
            let mut bad = good[..good.len() - 1].to_vec();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Up::decode(&mut bad), None, "bit {bit}");
        }
    }

    #[test]
    fn a_line_is_in_step_again_at_the_next_zero() {
        let good = bytes(|place| Up::Spoilt { began: 5 }.encode(place));
        let mut line = Line::default();
        let noise = [&[7; 500][..], &[0, 0, 3, 0]].concat();
        let mut found = Vec::new();
        for byte in noise.iter().chain(&good[4..]).chain(&good) {
            if let Some(bytes) = line.take(*byte) {
                found.push(Up::decode(bytes).is_some());
            }
        }
        // Too long, one byte, half a message, a whole one; between two zeros there is nothing.
        assert_eq!(found, [false, false, false, true]);
    }
}
