//! Sensor and actuator over a serial line to a companion computer.
//!
//! [`PoseSensor`] receives poses; [`CommandSender`] sends accelerations and a status. The messages
//! are defined in [`wdgnn_protocol::companion`].

use embedded_io::{Read, ReadReady, Write};
use wdgnn_protocol::{
    companion::{
        Command, CompanionMessage, FromPose, KeyMessage, MAX_MESSAGE, PlanarCommand, PoseMessage, Status,
        encode,
    },
    line::Deframer,
};
use wdgnn_robot::ports::{Actuator, Measurement, Sensor};

/// Control period in milliseconds.
const TICK_MS: u16 = 10;

/// Sensor that receives poses from a companion.
#[derive(Debug)]
pub struct PoseSensor<R> {
    serial: R,
    line: Deframer<MAX_MESSAGE>,
    number: u16,
    /// Latest key update.
    key: Option<KeyMessage>,
}

/// Reason why there is no pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// No pose arrived since the last tick.
    #[error("no pose arrived since the last tick")]
    Missing,
    /// The serial line failed.
    #[error("the serial line failed")]
    Serial,
}

impl<R: Read + ReadReady> PoseSensor<R> {
    /// Sensor on a serial line.
    pub fn new(serial: R) -> Self {
        Self { serial, line: Deframer::default(), number: 0, key: None }
    }

    /// Number of the latest pose.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The serial line.
    pub fn serial_mut(&mut self) -> &mut R {
        &mut self.serial
    }

    /// Takes the latest key update frame. The robot handles it like a frame from the radio.
    pub fn take_key_update(&mut self) -> Option<[u8; 40]> {
        self.key.take().map(|key| key.frame())
    }

    fn push(&mut self, byte: u8) -> Option<PoseMessage> {
        match self.line.push(byte).and_then(CompanionMessage::decode)? {
            CompanionMessage::Pose(pose) => Some(pose),
            CompanionMessage::Key(key) => {
                self.key = Some(key);
                None
            }
        }
    }
}

impl<R: Read + ReadReady, S: FromPose> Sensor<S> for PoseSensor<R> {
    type Error = PoseError;

    /// Returns the latest pose that arrived since the last tick. Never blocks.
    fn sense(&mut self) -> Result<Measurement<S>, PoseError> {
        let mut newest = None;
        let mut bytes = [0; 32];
        // Reads at most 1,000 bytes, a tick at 1 Mbit/s, so that a saturated line cannot delay the
        // tick.
        for _ in 0..1_000 / bytes.len() {
            if !self.serial.read_ready().map_err(|_| PoseError::Serial)? {
                break;
            }
            let count = self.serial.read(&mut bytes).map_err(|_| PoseError::Serial)?;
            for byte in bytes.iter().take(count) {
                if let Some(message) = self.push(*byte) {
                    newest = Some(message);
                }
            }
        }
        let PoseMessage { motion, number, age_ms } = newest.ok_or(PoseError::Missing)?;
        self.number = number;
        Ok(Measurement { state: S::from_pose(&motion), age: (age_ms / TICK_MS).into() })
    }
}

/// Actuator that sends each command to a companion, followed by the status of the tick before.
#[derive(Debug)]
pub struct CommandSender<W> {
    serial: W,
    tick: u32,
    status: Option<Status>,
}

impl<W: Write> CommandSender<W> {
    /// Actuator on a serial line.
    pub fn new(serial: W) -> Self {
        Self { serial, tick: 0, status: None }
    }

    /// Sets the tick number of the next command.
    pub fn set_tick(&mut self, tick: u32) {
        self.tick = tick;
    }

    /// Sets the status that goes out with the next command.
    pub fn set_status(&mut self, status: Status) {
        self.status = Some(status);
    }

    /// Writes command and status at once: the line rejects a write while another one is in
    /// progress.
    fn write(&mut self, command: &Command) -> Result<(), SendError> {
        let mut both = [0; 2 * MAX_MESSAGE];
        let first = encode(command, &mut both).ok_or(SendError)?;
        let rest = both.get_mut(first..).ok_or(SendError)?;
        let second = self.status.take().and_then(|status| encode(&status, rest)).unwrap_or(0);
        self.serial.write_all(both.get(..first + second).ok_or(SendError)?).map_err(|_| SendError)
    }
}

/// The command could not be written to the serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the command could not be written to the serial line")]
pub struct SendError;

impl<W: Write, C: PlanarCommand> Actuator<C> for CommandSender<W> {
    type Error = SendError;

    fn act(&mut self, command: &C) -> Result<(), SendError> {
        self.write(&Command { acceleration: command.components(), tick: self.tick, stop: 0 })
    }

    fn stop(&mut self) -> Result<(), SendError> {
        self.write(&Command { acceleration: [0.0; 2], tick: self.tick, stop: 1 })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{collections::VecDeque, convert::Infallible, vec, vec::Vec};

    use serde::Serialize;
    use wdgnn_core::tasks::flocking::Motion;
    use wdgnn_protocol::{
        companion::{Message, decode},
        line::CHECKSUM,
    };

    use super::*;

    /// Serial line that delivers these bytes.
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
        let mut frame = [0; MAX_MESSAGE];
        let length = encode(message, &mut frame).unwrap();
        frame[..length].to_vec()
    }

    fn message(x: f32) -> Vec<u8> {
        encoded(&PoseMessage { motion: motion(x), number: x as u16, age_ms: 10 * x as u16 })
    }

    fn sensed(pose: &mut PoseSensor<Line>) -> Result<Motion, PoseError> {
        pose.sense().map(|sensed| sensed.state)
    }

    fn heard(bytes: Vec<u8>) -> Result<Motion, PoseError> {
        sensed(&mut PoseSensor::new(Line(bytes.into())))
    }

    #[test]
    fn command_matches_hand_worked_bytes() {
        let mut sent = [0xee; 24];
        let mut serial: &mut [u8] = &mut sent;
        let mut sender = CommandSender::new(&mut serial);
        sender.set_tick(7);
        sender.act(&[1.0, -0.5]).unwrap();
        // Kind 2, 1.0 = 00 00 80 3f, −0.5 = 00 00 00 bf, tick 7, no stop, and the CRC-32 of all.
        // COBS removes the zeros.
        let plain = [2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0];
        let checksum = CHECKSUM.checksum(&plain).to_le_bytes();
        assert_eq!(checksum, [0xf0, 0x2c, 0x70, 0x87]);
        let expected = [2, 2, 1, 3, 0x80, 0x3f, 1, 1, 3, 0xbf, 7, 1, 1, 1, 5, 0xf0, 0x2c, 0x70, 0x87, 0];
        assert_eq!(sent[..expected.len()], expected);
        assert_eq!(sent[expected.len()..], [0xee; 4]);
    }

    #[test]
    fn stop_sends_zero_acceleration_and_the_stop_flag() {
        let mut sent = [0; MAX_MESSAGE];
        let mut serial: &mut [u8] = &mut sent;
        Actuator::<[f32; 2]>::stop(&mut CommandSender::new(&mut serial)).unwrap();
        let length = sent.iter().position(|byte| *byte == 0).unwrap();
        let command: Command = decode(&mut sent[..length]).unwrap();
        assert_eq!(command, Command { acceleration: [0.0; 2], tick: 0, stop: 1 });
    }

    #[test]
    fn latest_pose_is_used_with_its_age_and_number() {
        let mut pose = PoseSensor::new(Line([message(1.0), message(3.0)].concat().into()));
        assert_eq!(pose.sense(), Ok(Measurement { state: motion(3.0), age: 3 }));
        assert_eq!(pose.number(), 3);
    }

    #[test]
    fn a_missing_pose_is_an_error_and_a_partial_message_is_completed_later() {
        let bytes = message(1.0);
        let mut pose = PoseSensor::new(Line(bytes[..9].to_vec().into()));
        assert_eq!(sensed(&mut pose), Err(PoseError::Missing));
        pose.serial.0.extend(&bytes[9..]);
        assert_eq!(sensed(&mut pose), Ok(motion(1.0)));
        assert_eq!(sensed(&mut pose), Err(PoseError::Missing));
    }

    #[test]
    fn damaged_overlong_and_unknown_frames_are_skipped() {
        let good = message(1.0);
        for bit in 0..(good.len() - 1) * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(heard(bad.clone()), Err(PoseError::Missing), "bit {bit}");
            assert_eq!(heard([bad, message(2.0)].concat()), Ok(motion(2.0)), "bit {bit}");
        }
        assert_eq!(heard([vec![7; 500], vec![0], message(2.0)].concat()), Ok(motion(2.0)));
        let command = encoded(&Command { acceleration: [1.0, 2.0], tick: 3, stop: 0 });
        assert_eq!(heard(command), Err(PoseError::Missing));
    }
}
