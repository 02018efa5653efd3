//! The companion link: a serial line to an autopilot or a motion-capture bridge. Pose and velocity come in, accelerations go out.
//!
//! A message is the postcard bytes of its fields and a CRC-32 over them, all in one COBS frame that ends with a zero: whoever
//! joins late, or loses bytes, is back in step at the next zero.
//!
//! | message | from | content, little-endian |
//! |---|---|---|
//! | pose | companion | `f32` x, y in metres; `f32` vx, vy in m/s; `u32` the swarm's time in ms, or 2³² − 1 for none; CRC-32 |
//! | acceleration | robot | `f32` ax, ay in m/s²; CRC-32 |
//!
//! The swarm's time is what all companions agree on, by GPS, motion capture or a network. It numbers the ticks: robots exchange in the
//! same ones, and sealed frames of other times are refused.

use embedded_io::{Read, ReadReady, Write};
use postcard::fixint::le;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wdgnn_core::{
    flocking::Motion,
    ports::{Actuator, Sensed, Sensor},
};

/// The longest message: a pose (20), its checksum (4), COBS (1) and the zero.
pub const LARGEST: usize = 26;

/// The time of a companion that has no clock.
pub const NO_TIME: u32 = u32::MAX;

/// What a companion says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseMessage {
    /// Where the robot is, and how it moves.
    pub motion: Motion,
    /// The swarm's time in milliseconds, or [`NO_TIME`].
    #[serde(with = "le")]
    pub milliseconds: u32,
}

/// CRC-32 as Ethernet has it.
const CHECKSUM: crc::Crc<u32, crc::NoTable> = crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);

/// Writes a message to the front of `frame` and returns its length.
pub fn encode<M: Serialize>(message: &M, frame: &mut [u8; LARGEST]) -> Option<usize> {
    let mut plain = [0; LARGEST];
    let length = postcard::to_slice(message, &mut plain).ok()?.len();
    let seal = CHECKSUM.checksum(plain.get(..length)?).to_le_bytes();
    *plain.get_mut(length..)?.first_chunk_mut()? = seal;
    let length = cobs::try_encode(plain.get(..length + seal.len())?, frame).ok()?;
    *frame.get_mut(length)? = 0;
    Some(length + 1)
}

/// Reads a message, without its zero.
#[must_use]
pub fn decode<M: DeserializeOwned>(frame: &mut [u8]) -> Option<M> {
    let length = cobs::decode_in_place(frame).ok()?;
    let (plain, seal) = frame.get(..length)?.split_last_chunk()?;
    let (message, rest) = postcard::take_from_bytes(plain).ok()?;
    (rest.is_empty() && CHECKSUM.checksum(plain) == u32::from_le_bytes(*seal)).then_some(message)
}

/// Where the robot is, as its companion says.
#[derive(Debug)]
pub struct Pose<R> {
    serial: R,
    frame: [u8; LARGEST],
    /// Bytes of the frame so far; more than there is room for marks a frame that is being passed over.
    length: usize,
    milliseconds: u32,
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
        Self { serial, frame: [0; LARGEST], length: 0, milliseconds: NO_TIME }
    }

    /// The swarm's time in milliseconds that came with the newest pose; once for each.
    pub fn take_time(&mut self) -> Option<u32> {
        let time = core::mem::replace(&mut self.milliseconds, NO_TIME);
        (time != NO_TIME).then_some(time)
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
        // A line that never falls silent must not hold up the tick: a tick's worth of bytes at 1 Mbit/s is 1,000.
        for _ in 0..1_000 {
            if !self.serial.read_ready().map_err(|_| NoPose::Line)? {
                break;
            }
            let mut byte = [0];
            if self.serial.read(&mut byte).map_err(|_| NoPose::Line)? == 0 {
                break;
            }
            newest = self.take(byte[0]).or(newest);
        }
        let PoseMessage { motion, milliseconds } = newest.ok_or(NoPose::Silent)?;
        self.milliseconds = milliseconds;
        Ok(Sensed::now(motion))
    }
}

/// Accelerations for the companion to carry out.
#[derive(Debug)]
pub struct Acceleration<W> {
    serial: W,
}

impl<W: Write> Acceleration<W> {
    /// Speaks to `serial`.
    pub fn new(serial: W) -> Self {
        Self { serial }
    }
}

/// The command did not get through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSent;

impl<W: Write> Actuator<[f32; 2]> for Acceleration<W> {
    type Error = NotSent;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), NotSent> {
        let mut frame = [0; LARGEST];
        let length = encode(command, &mut frame).ok_or(NotSent)?;
        let frame = frame.get(..length).ok_or(NotSent)?;
        self.serial.write_all(frame).map_err(|_| NotSent)
    }

    fn stop(&mut self) -> Result<(), NotSent> {
        self.act(&[0.0; 2])
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
            let byte = self.0.pop_front();
            buffer.iter_mut().zip(byte).for_each(|(to, byte)| *to = byte);
            Ok(usize::from(byte.is_some()))
        }
    }

    fn motion(x: f32) -> Motion {
        Motion { position: [x, -2.0], velocity: [0.5, 0.0] }
    }

    fn message(x: f32) -> Vec<u8> {
        let mut frame = [0; LARGEST];
        let message = PoseMessage { motion: motion(x), milliseconds: 1000 * x as u32 };
        let length = encode(&message, &mut frame).unwrap();
        frame[..length].to_vec()
    }

    fn heard(bytes: Vec<u8>) -> Result<Motion, NoPose> {
        Pose::new(Line(bytes.into())).sense().map(|sensed| sensed.state)
    }

    #[test]
    fn an_acceleration_is_these_bytes() {
        let mut sent = [0xee; 16];
        let mut serial: &mut [u8] = &mut sent;
        Acceleration::new(&mut serial).act(&[1.0, -0.5]).unwrap();
        // 1.0 = 00 00 80 3f, −0.5 = 00 00 00 bf, then their CRC-32, fb 4a 3d 03 (zlib's); COBS takes the zeros out.
        assert_eq!(sent, [1, 1, 3, 0x80, 0x3f, 1, 1, 6, 0xbf, 0xfb, 0x4a, 0x3d, 0x03, 0, 0xee, 0xee]);
    }

    #[test]
    fn the_newest_pose_counts() {
        assert_eq!(heard([message(1.0), message(3.0)].concat()), Ok(motion(3.0)));
    }

    #[test]
    fn the_time_is_told_once_with_its_pose() {
        let mut pose = Pose::new(Line([message(1.0), message(3.0)].concat().into()));
        assert_eq!(pose.take_time(), None);
        pose.sense().unwrap();
        assert_eq!(pose.take_time(), Some(3000));
        assert_eq!(pose.take_time(), None);

        let mut frame = [0; LARGEST];
        let length = encode(&PoseMessage { motion: motion(1.0), milliseconds: NO_TIME }, &mut frame).unwrap();
        pose.serial.0.extend(&frame[..length]);
        pose.sense().unwrap();
        assert_eq!(pose.take_time(), None, "a companion without a clock");
    }

    #[test]
    fn nothing_new_is_an_error_and_half_a_message_waits_for_its_rest() {
        let bytes = message(1.0);
        let mut pose = Pose::new(Line(bytes[..9].to_vec().into()));
        assert_eq!(pose.sense(), Err(NoPose::Silent));
        pose.serial.0.extend(&bytes[9..]);
        assert_eq!(pose.sense(), Ok(Sensed::now(motion(1.0))));
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
        let mut acceleration = [0; LARGEST];
        let length = encode(&[1.0_f32, 2.0], &mut acceleration).unwrap();
        assert_eq!(heard(acceleration[..length].to_vec()), Err(NoPose::Silent));
    }
}
