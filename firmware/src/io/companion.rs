//! The companion link's ports: poses come in over a serial line, accelerations and a status go out. The messages are
//! [`wdgnn_protocol::companion`]'s.

use embedded_io::{Read, ReadReady, Write};
use wdgnn_protocol::companion::{
    Command, KeyMessage, LARGEST, PoseMessage, Posed, Said, Status, Steering, encode,
};
use wdgnn_robot::ports::{Actuator, Sensed, Sensor};

/// The control period in milliseconds.
const TICK_MS: u16 = 10;

/// Where the robot is, as its companion says.
#[derive(Debug)]
pub struct Pose<R> {
    serial: R,
    frame: [u8; LARGEST],
    /// Bytes of the frame so far; more than there is room for marks a frame that is being passed over.
    length: usize,
    number: u16,
    /// A frame that brings the swarm's next key.
    key: Option<KeyMessage>,
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
        Self { serial, frame: [0; LARGEST], length: 0, number: 0, key: None }
    }

    /// The number of the newest pose.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The line, to start it anew.
    pub fn line(&mut self) -> &mut R {
        &mut self.serial
    }

    /// The frame with a key that came last, if one came: for the robot to hear.
    pub fn key(&mut self) -> Option<[u8; 40]> {
        self.key.take().map(|key| key.frame())
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
        match self.frame.get_mut(..length).and_then(Said::decode)? {
            Said::Pose(pose) => Some(pose),
            Said::Key(key) => {
                self.key = Some(key);
                None
            }
        }
    }
}

impl<R: Read + ReadReady, S: Posed> Sensor<S> for Pose<R> {
    type Error = NoPose;

    /// The newest of what has come since the last tick. Never waits.
    fn sense(&mut self) -> Result<Sensed<S>, NoPose> {
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
        Ok(Sensed { state: S::posed(&motion), age: (age_ms / TICK_MS).into() })
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

impl<W: Write, C: Steering> Actuator<C> for Acceleration<W> {
    type Error = NotSent;

    fn act(&mut self, command: &C) -> Result<(), NotSent> {
        self.say(&Command { acceleration: command.steering(), tick: self.tick, stop: 0 })
    }

    fn stop(&mut self) -> Result<(), NotSent> {
        self.say(&Command { acceleration: [0.0; 2], tick: self.tick, stop: 1 })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{collections::VecDeque, convert::Infallible, vec, vec::Vec};

    use serde::Serialize;
    use wdgnn_core::tasks::flocking::Motion;
    use wdgnn_protocol::companion::{CHECKSUM, Message, decode};

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

    fn sensed(pose: &mut Pose<Line>) -> Result<Motion, NoPose> {
        pose.sense().map(|sensed| sensed.state)
    }

    fn heard(bytes: Vec<u8>) -> Result<Motion, NoPose> {
        sensed(&mut Pose::new(Line(bytes.into())))
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
    fn a_stop_is_a_command_of_nothing() {
        let mut sent = [0; LARGEST];
        let mut serial: &mut [u8] = &mut sent;
        Actuator::<[f32; 2]>::stop(&mut Acceleration::new(&mut serial)).unwrap();
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
        assert_eq!(sensed(&mut pose), Err(NoPose::Silent));
        pose.serial.0.extend(&bytes[9..]);
        assert_eq!(sensed(&mut pose), Ok(motion(1.0)));
        assert_eq!(sensed(&mut pose), Err(NoPose::Silent));
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
