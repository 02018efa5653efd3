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
//! | status | 3 | robot | `u32` the swarm's tick; `u16` the number of the pose it rests on; `u8` frames heard in this tick; `u8` refused; `u8` neighbours; `u8` others of one time with it; `u8` verdict: 0 clear, 1 limited, 2 no number, 3 alone and holding, 4 slowing, 5 stopping, 6 blind; `u8` 1 when a pose came since the last tick; `u8` in which ticks it speaks, modulo the exchange, 255 while it listens for a free slot |
//!
//! A companion needs no clock: robots keep the swarm's time by themselves, and tell it.

use embedded_io::{Read, ReadReady, Write};
use postcard::fixint::le;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wdgnn_core::{
    flocking::Motion,
    ports::{Actuator, Sensed, Sensor},
    safety::Verdict,
    task::Isolation,
    tick::Report,
};

/// The longest message: a pose (1 + 20), its checksum (4), COBS (1) and the zero.
pub const LARGEST: usize = 27;

/// The control period in milliseconds.
const TICK_MS: u16 = 10;

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

/// A state is its numbers.
mod by_numbers {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use wdgnn_core::{flocking::Motion, task::State as _};

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
}

impl Message for Status {
    const KIND: u8 = 3;
}

impl Status {
    /// Of a tick.
    pub fn new<O>(report: &Report<O>, pose: u16, company: u8, turn: Option<u32>) -> Self {
        let verdict = match report.verdict {
            Verdict::Clear => 0,
            Verdict::Limited => 1,
            Verdict::Alone(Isolation::Hold) => 3,
            Verdict::Alone(Isolation::Slow) => 4,
            Verdict::Alone(Isolation::Stop) => 5,
            Verdict::Blind => 6,
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
        }
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
fn unstuff(frame: &mut [u8]) -> Option<usize> {
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
    let (plain, seal) = frame.get(..length)?.split_last_chunk()?;
    let (kind, fields) = plain.split_first()?;
    let (message, rest) = postcard::take_from_bytes(fields).ok()?;
    let good = *kind == M::KIND && rest.is_empty() && CHECKSUM.checksum(plain) == u32::from_le_bytes(*seal);
    good.then_some(message)
}

/// Where the robot is, as its companion says.
#[derive(Debug)]
pub struct Pose<R> {
    serial: R,
    frame: [u8; LARGEST],
    /// Bytes of the frame so far; more than there is room for marks a frame that is being passed over.
    length: usize,
    number: u16,
}

/// Why there is no pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPose {
    /// None came since the last tick.
    Silent,
    /// The serial line failed.
    Line,
}

impl<R: Read + ReadReady> Pose<R> {
    /// Listens to `serial`.
    pub fn new(serial: R) -> Self {
        Self { serial, frame: [0; LARGEST], length: 0, number: 0 }
    }

    /// The number of the newest pose.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The line, to start it anew.
    pub fn line(&mut self) -> &mut R {
        &mut self.serial
    }

    fn take(&mut self, byte: u8) -> Option<PoseMessage> {
        if byte != 0 {
            if let Some(place) = self.frame.get_mut(self.length) {
                *place = byte;
            }
            self.length = self.length.saturating_add(1);
            return None;
        }
        let length = core::mem::take(&mut self.length);
        self.frame.get_mut(..length).and_then(decode)
    }
}

impl<R: Read + ReadReady> Sensor<Motion> for Pose<R> {
    type Error = NoPose;

    /// The newest of what has come since the last tick. Never waits.
    fn sense(&mut self) -> Result<Sensed<Motion>, NoPose> {
        let mut newest = None;
        let mut bytes = [0; 32];
        // A line that never falls silent must not hold up the tick: a tick's worth of bytes at 1 Mbit/s is 1,000.
        for _ in 0..1_000 / bytes.len() {
            if !self.serial.read_ready().map_err(|_| NoPose::Line)? {
                break;
            }
            let count = self.serial.read(&mut bytes).map_err(|_| NoPose::Line)?;
            for byte in bytes.iter().take(count) {
                if let Some(message) = self.take(*byte) {
                    newest = Some(message);
                }
            }
        }
        let PoseMessage { motion, number, age_ms } = newest.ok_or(NoPose::Silent)?;
        self.number = number;
        Ok(Sensed { state: motion, age: (age_ms / TICK_MS).into() })
    }
}

/// Accelerations for the companion to carry out, each with the status of the tick before behind it.
#[derive(Debug)]
pub struct Acceleration<W> {
    serial: W,
    tick: u32,
    status: Option<Status>,
}

impl<W: Write> Acceleration<W> {
    /// Speaks to `serial`.
    pub fn new(serial: W) -> Self {
        Self { serial, tick: 0, status: None }
    }

    /// A tick begins.
    pub fn begin(&mut self, tick: u32) {
        self.tick = tick;
    }

    /// The status goes out with the next command.
    pub fn tell(&mut self, status: Status) {
        self.status = Some(status);
    }

    /// In one go: a line that is occupied by one message has no ear for the next.
    fn say(&mut self, command: &Command) -> Result<(), NotSent> {
        let mut both = [0; 2 * LARGEST];
        let first = encode(command, &mut both).ok_or(NotSent)?;
        let rest = both.get_mut(first..).ok_or(NotSent)?;
        let second = self.status.take().and_then(|status| encode(&status, rest)).unwrap_or(0);
        self.serial.write_all(both.get(..first + second).ok_or(NotSent)?).map_err(|_| NotSent)
    }
}

/// The command did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSent;

impl<W: Write> Actuator<[f32; 2]> for Acceleration<W> {
    type Error = NotSent;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), NotSent> {
        self.say(&Command { acceleration: *command, tick: self.tick, stop: 0 })
    }

    fn stop(&mut self) -> Result<(), NotSent> {
        self.say(&Command { acceleration: [0.0; 2], tick: self.tick, stop: 1 })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{collections::VecDeque, convert::Infallible, vec, vec::Vec};

    use super::*;

    /// A line that has these bytes to say.
    struct Line(VecDeque<u8>);

    impl embedded_io::ErrorType for Line {
        type Error = Infallible;
    }

    impl ReadReady for Line {
        fn read_ready(&mut self) -> Result<bool, Infallible> {
            Ok(!self.0.is_empty())
        }
    }

    impl Read for Line {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
            let count = buffer.len().min(self.0.len());
            buffer.iter_mut().zip(self.0.drain(..count)).for_each(|(to, byte)| *to = byte);
            Ok(count)
        }
    }

    fn motion(x: f32) -> Motion {
        Motion { position: [x, -2.0], velocity: [0.5, 0.0] }
    }

    fn encoded<M: Message + Serialize>(message: &M) -> Vec<u8> {
        let mut frame = [0; LARGEST];
        let length = encode(message, &mut frame).unwrap();
        frame[..length].to_vec()
    }

    fn message(x: f32) -> Vec<u8> {
        encoded(&PoseMessage { motion: motion(x), number: x as u16, age_ms: 10 * x as u16 })
    }

    fn heard(bytes: Vec<u8>) -> Result<Motion, NoPose> {
        Pose::new(Line(bytes.into())).sense().map(|sensed| sensed.state)
    }

    #[test]
    fn a_command_is_these_bytes() {
        let mut sent = [0xee; 24];
        let mut serial: &mut [u8] = &mut sent;
        let mut acceleration = Acceleration::new(&mut serial);
        acceleration.begin(7);
        acceleration.act(&[1.0, -0.5]).unwrap();
        // Kind 2, 1.0 = 00 00 80 3f, −0.5 = 00 00 00 bf, tick 7, no stop, then their CRC-32 (zlib's); COBS takes the zeros out.
        let plain = [2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0];
        let seal = CHECKSUM.checksum(&plain).to_le_bytes();
        assert_eq!(seal, [0xf0, 0x2c, 0x70, 0x87]);
        let expected = [2, 2, 1, 3, 0x80, 0x3f, 1, 1, 3, 0xbf, 7, 1, 1, 1, 5, 0xf0, 0x2c, 0x70, 0x87, 0];
        assert_eq!(sent[..expected.len()], expected);
        assert_eq!(sent[expected.len()..], [0xee; 4]);
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

    #[test]
    fn a_stop_is_a_command_of_nothing() {
        let mut sent = [0; LARGEST];
        let mut serial: &mut [u8] = &mut sent;
        Acceleration::new(&mut serial).stop().unwrap();
        let length = sent.iter().position(|byte| *byte == 0).unwrap();
        let command: Command = decode(&mut sent[..length]).unwrap();
        assert_eq!(command, Command { acceleration: [0.0; 2], tick: 0, stop: 1 });
    }

    #[test]
    fn the_newest_pose_counts_and_tells_its_age_and_number() {
        let mut pose = Pose::new(Line([message(1.0), message(3.0)].concat().into()));
        assert_eq!(pose.sense(), Ok(Sensed { state: motion(3.0), age: 3 }));
        assert_eq!(pose.number(), 3);
    }

    #[test]
    fn nothing_new_is_an_error_and_half_a_message_waits_for_its_rest() {
        let bytes = message(1.0);
        let mut pose = Pose::new(Line(bytes[..9].to_vec().into()));
        assert_eq!(pose.sense(), Err(NoPose::Silent));
        pose.serial.0.extend(&bytes[9..]);
        assert_eq!(pose.sense().map(|sensed| sensed.state), Ok(motion(1.0)));
        assert_eq!(pose.sense(), Err(NoPose::Silent));
    }

    #[test]
    fn damaged_overlong_and_foreign_frames_are_passed_over() {
        let good = message(1.0);
        for bit in 0..(good.len() - 1) * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(heard(bad.clone()), Err(NoPose::Silent), "bit {bit}");
            assert_eq!(heard([bad, message(2.0)].concat()), Ok(motion(2.0)), "bit {bit}");
        }
        assert_eq!(heard([vec![7; 500], vec![0], message(2.0)].concat()), Ok(motion(2.0)));
        let command = encoded(&Command { acceleration: [1.0, 2.0], tick: 3, stop: 0 });
        assert_eq!(heard(command), Err(NoPose::Silent));
    }
}
