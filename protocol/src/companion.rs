//! The companion link: a serial line to an autopilot, a motion-capture bridge or a PC (`firmware/companion.py`). Pose and velocity come
//! in, accelerations and a status go out, 100 times a second each.
//!
//! A message is its kind, the postcard bytes of its fields and a CRC-32 over both, all in one COBS frame that ends with a zero:
//! whoever joins late, or loses bytes, is back in step at the next zero.
//!
//! | message | kind | from | content, little-endian |
//! |---|--:|---|---|
//! | pose | 1 | companion | `f32` x, y in metres; `f32` vx, vy in m/s; `u16` its number, any; `u16` its age in ms |
//! | command | 2 | robot | `f32` ax, ay in m/s²; `u32` the swarm's tick; `u8` 1 when the robot is to come to rest by its own means, because it does not know where it is, else 0 |
//! | status | 3 | robot | `u32` the swarm's tick; `u16` the number of the pose it rests on; `u8` frames heard in this tick; `u8` refused; `u8` neighbours; `u8` others of one time with it; `u8` verdict: 0 clear, 1 limited, 2 no number, 3 alone and holding, 4 slowing, 5 stopping, 6 blind; `u8` 1 when a pose came since the last tick; `u8` in which ticks it speaks, modulo the exchange, 255 while it listens for a free slot; `u8` the epoch of the swarm's key that it uses |
//! | key | 4 | companion | 40 bytes: a frame that brings the swarm's next key (`docs/wire-format.md`), which the robot takes as if it had heard it |
//!
//! A companion needs no clock: robots keep the swarm's time by themselves, and tell it.

use postcard::fixint::le;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wdgnn_core::{task::State, tasks::flocking::Motion, tensor::Numbers};
use wdgnn_robot::{
    control_loop::Report,
    safety::{
        failsafe::Level,
        gate::{Isolation, Verdict},
    },
};

/// The longest message: a key (1 + 40), its checksum (4), COBS (1) and the zero.
pub const LARGEST: usize = 47;

/// CRC-32 as Ethernet has it. With its table of a kilobyte: bit by bit, it was an eighth of a robot's time.
pub static CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// Something that a companion or a robot says.
pub trait Message {
    /// Its first byte.
    const KIND: u8;
}

/// What a companion says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseMessage {
    /// Where the robot is, and how it moves.
    #[serde(with = "by_numbers")]
    pub motion: Motion,
    /// Any number, which the robot's status tells again.
    #[serde(with = "le")]
    pub number: u16,
    /// How old that is, in milliseconds.
    #[serde(with = "le")]
    pub age_ms: u16,
}

impl Message for PoseMessage {
    const KIND: u8 = 1;
}

/// What a companion hands over from the swarm's operator: a frame that brings a key, in two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMessage(pub [u8; 20], pub [u8; 20]);

impl KeyMessage {
    /// The frame.
    #[must_use]
    pub fn frame(&self) -> [u8; 40] {
        let mut frame = [0; 40];
        frame.iter_mut().zip(self.0.iter().chain(&self.1)).for_each(|(to, from)| *to = *from);
        frame
    }
}

impl Message for KeyMessage {
    const KIND: u8 = 4;
}

/// A state is its numbers.
mod by_numbers {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use wdgnn_core::{task::State as _, tasks::flocking::Motion};

    pub fn serialize<S: Serializer>(motion: &Motion, serializer: S) -> Result<S::Ok, S::Error> {
        motion.numbers().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Motion, D::Error> {
        <[f32; 4]>::deserialize(deserializer).map(Motion::from_numbers)
    }
}

/// What a robot wants to be done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// In m/s².
    pub acceleration: [f32; 2],
    /// The swarm's tick.
    #[serde(with = "le")]
    pub tick: u32,
    /// Come to rest by your own means.
    pub stop: u8,
}

impl Message for Command {
    const KIND: u8 = 2;
}

/// How a robot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The swarm's tick.
    #[serde(with = "le")]
    pub tick: u32,
    /// The number of the pose that it rests on.
    #[serde(with = "le")]
    pub pose: u16,
    /// Frames heard in this tick.
    pub heard: u8,
    /// Frames of these that were refused.
    pub refused: u8,
    /// Neighbours.
    pub neighbours: u8,
    /// Others of one time with it.
    pub company: u8,
    /// What the safety gate said.
    pub verdict: u8,
    /// 1 when a pose came since the last tick.
    pub sensed: u8,
    /// In which ticks it speaks, modulo the exchange; 255 while it listens for a free slot.
    pub turn: u8,
    /// The epoch of the swarm's key that it uses.
    pub epoch: u8,
}

impl Message for Status {
    const KIND: u8 = 3;
}

impl Status {
    /// Of a tick.
    pub fn new<O>(report: &Report<O>, pose: u16, company: u8, turn: Option<u32>, epoch: u8) -> Self {
        let verdict = match report.verdict {
            Verdict::Clear => 0,
            Verdict::Limited => 1,
            Verdict::Alone(Isolation::Hold) => 3,
            Verdict::Alone(Isolation::Slow) => 4,
            Verdict::Alone(Isolation::Stop) => 5,
            Verdict::Blind => 6,
            Verdict::Failsafe(Level::Slow) => 7,
            Verdict::Failsafe(Level::Stop) => 8,
            _ => 2,
        };
        let small = |count: u32| count.min(255) as u8;
        let (heard, refused) = (small(report.heard), small(report.refused.total()));
        let sensed = (report.errors.sensor == 0).into();
        let turn = turn.map_or(255, small);
        Self {
            tick: report.tick,
            pose,
            heard,
            refused,
            neighbours: report.neighbours,
            company,
            verdict,
            sensed,
            turn,
            epoch,
        }
    }
}

/// A state that a pose tells: position and velocity in the plane, or less.
#[diagnostic::on_unimplemented(
    message = "a companion computer cannot tell a robot its `{Self}`",
    label = "no task of this board's",
    note = "its poses are position and velocity in the plane; where that is enough, implement `wdgnn_protocol::companion::Posed`"
)]
pub trait Posed: State {
    /// The state of a robot that moves so.
    fn posed(motion: &Motion) -> Self;
}

impl Posed for Motion {
    fn posed(motion: &Motion) -> Self {
        *motion
    }
}

/// A command that a companion can be told: two numbers.
#[diagnostic::on_unimplemented(
    message = "a companion computer cannot be told a command of `{Self}`",
    label = "no task of this board's",
    note = "its messages carry two numbers, such as an acceleration in the plane"
)]
pub trait Steering: Numbers {
    /// The numbers that the message carries.
    fn steering(&self) -> [f32; 2];
}

impl Steering for [f32; 2] {
    fn steering(&self) -> [f32; 2] {
        *self
    }
}

/// Writes a message to the front of `frame` and returns its length; [`LARGEST`] is room for any.
pub fn encode<M: Message + Serialize>(message: &M, frame: &mut [u8]) -> Option<usize> {
    let mut plain = [0; LARGEST];
    let (kind, rest) = plain.split_first_mut()?;
    *kind = M::KIND;
    let length = 1 + postcard::to_slice(message, rest).ok()?.len();
    let seal = CHECKSUM.checksum(plain.get(..length)?).to_le_bytes();
    *plain.get_mut(length..)?.first_chunk_mut()? = seal;
    let length = cobs::try_encode(plain.get(..length + seal.len())?, frame).ok()?;
    *frame.get_mut(length)? = 0;
    Some(length + 1)
}

/// Undoes COBS in place and returns what is left, if it was any. By hand: the crate's decoder indexes by what came over the line, and
/// an image in which something could panic does not link.
pub(crate) fn unstuff(frame: &mut [u8]) -> Option<usize> {
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
            // A zero, unless the frame ends here or the run was a full one.
            1..255 if read < frame.len() => {
                *frame.get_mut(write)? = 0;
                write += 1;
            }
            _ => {}
        }
    }
    Some(write)
}

/// Reads a message of this kind, without its zero.
#[must_use]
pub fn decode<M: Message + DeserializeOwned>(frame: &mut [u8]) -> Option<M> {
    let length = unstuff(frame)?;
    of_kind(frame.get(..length)?)
}

/// What a companion says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    /// Where the robot is.
    Pose(PoseMessage),
    /// A key for the swarm.
    Key(KeyMessage),
}

impl Said {
    /// Reads a message, without its zero.
    #[must_use]
    pub fn decode(frame: &mut [u8]) -> Option<Self> {
        let length = unstuff(frame)?;
        let content = frame.get(..length)?;
        of_kind(content).map(Self::Pose).or_else(|| of_kind(content).map(Self::Key))
    }
}

/// Reads what is left of a message of this kind without COBS.
fn of_kind<M: Message + DeserializeOwned>(content: &[u8]) -> Option<M> {
    let (plain, seal) = content.split_last_chunk()?;
    let (kind, fields) = plain.split_first()?;
    if *kind != M::KIND {
        return None;
    }
    let (message, rest) = postcard::take_from_bytes(fields).ok()?;
    let good = rest.is_empty() && CHECKSUM.checksum(plain) == u32::from_le_bytes(*seal);
    good.then_some(message)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn every_message_comes_back_from_its_frame_and_from_no_other_kind() {
        let motion = Motion { position: [1.0, -2.0], velocity: [0.5, 0.0] };
        let pose = PoseMessage { motion, number: 7, age_ms: 256 };
        let mut frame = [0; LARGEST];
        let length = encode(&pose, &mut frame).unwrap();
        assert_eq!((length, frame.iter().position(|byte| *byte == 0)), (27, Some(26)));
        let [mut same, mut said] = [frame; 2];
        assert_eq!(decode::<Command>(&mut same[..26]), None);
        assert_eq!(decode(&mut frame[..26]), Some(pose));
        assert_eq!(Said::decode(&mut said[..26]), Some(Said::Pose(pose)));
        assert_eq!(encode(&pose, &mut [0; 26]), None, "no room");
        let key = KeyMessage([0xf1; 20], [7; 20]);
        assert_eq!(encode(&key, &mut frame), Some(LARGEST), "the longest of all");
        assert_eq!(Said::decode(&mut frame[..LARGEST - 1]), Some(Said::Key(key)));
        assert_eq!((key.frame()[19], key.frame()[20]), (0xf1, 7));
    }

    #[test]
    fn cobs_is_undone_as_the_crate_does_it() {
        let mut number = 1_u32;
        for length in 0..400 {
            // Zeros often, so that runs of every length come up.
            let plain: Vec<u8> = (0..length)
                .map(|_| {
                    number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if number >> 29 == 0 || length > 300 { (number >> 16) as u8 } else { 0 }
                })
                .collect();
            let mut stuffed = cobs::encode_vec(&plain);
            assert_eq!(unstuff(&mut stuffed), Some(plain.len()), "{length} bytes");
            assert_eq!(stuffed[..plain.len()], plain);
        }
        for bad in [&[0_u8][..], &[5, 1, 2], &[1, 0, 1], &[255, 7]] {
            assert_eq!(unstuff(&mut bad.to_vec()), None, "{bad:?}");
        }
    }
}
