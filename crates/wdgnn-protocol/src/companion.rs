//! Serial messages between a robot and its companion computer.
//!
//! The companion is an autopilot, a motion-capture bridge or a PC (`firmware/companion.py`). It
//! sends poses; the robot sends accelerations and a status, 100 times a second each.
//!
//! A message is its kind and the postcard bytes of its fields, on the line as in [`mod@line`].
//!
//! | message | kind | from | content, little-endian |
//! |---|--:|---|---|
//! | pose | 1 | companion | `f32` x, y in m; `f32` vx, vy in m/s; `u16` pose number, freely chosen; `u16` age in ms |
//! | command | 2 | robot | `f32` ax, ay in m/s²; `u32` swarm tick; `u8` 1 if the vehicle must stop on its own because the robot has no pose, else 0 |
//! | status | 3 | robot | `u32` swarm tick; `u16` number of the pose in use; `u8` frames received in this tick; `u8` of these rejected; `u8` neighbors; `u8` robots with a synchronized clock; `u8` verdict: 0 clear, 1 limited, 2 not finite, 3 alone and holding, 4 alone and slowing, 5 alone and stopping, 6 blind, 7 failsafe slowing, 8 failsafe stopping; `u8` 1 if a pose arrived since the last tick; `u8` tick of the robot's slot, modulo the exchange, 255 while it has no slot; `u8` epoch of the group key in use |
//! | key | 4 | companion | 40 bytes: a key update frame (`docs/wire-format.md`), handled like a frame from the radio |
//!
//! A companion needs no clock: robots synchronize with each other and report their tick.

use postcard::fixint::le;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wdgnn_core::{task::State, tasks::flocking::Motion, tensor::Array};
use wdgnn_robot::{
    control_loop::TickReport,
    safety::{
        failsafe::FailsafeLevel,
        gate::{IsolationPhase, Verdict},
    },
};

use crate::line;

/// Length of the longest message: a key (1 + 40), its checksum (4), COBS (1) and the zero.
pub const MAX_MESSAGE: usize = 47;

/// Message with a kind.
pub trait Message {
    /// First byte of the message.
    const KIND: u8;
}

/// Pose from a companion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoseMessage {
    /// Position and velocity.
    #[serde(with = "as_array")]
    pub motion: Motion,
    /// Freely chosen number, repeated in the robot's status.
    #[serde(with = "le")]
    pub number: u16,
    /// Age in milliseconds.
    #[serde(with = "le")]
    pub age_ms: u16,
}

impl Message for PoseMessage {
    const KIND: u8 = 1;
}

/// Key update frame from the operator, handed over by a companion, in two halves.
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

/// Serializes a state as an array of numbers.
mod as_array {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use wdgnn_core::{task::State as _, tasks::flocking::Motion};

    pub fn serialize<S: Serializer>(motion: &Motion, serializer: S) -> Result<S::Ok, S::Error> {
        motion.to_array().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Motion, D::Error> {
        <[f32; 4]>::deserialize(deserializer).map(Motion::from_array)
    }
}

/// Command from a robot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Acceleration in m/s².
    pub acceleration: [f32; 2],
    /// Swarm tick.
    #[serde(with = "le")]
    pub tick: u32,
    /// 1 if the vehicle must stop on its own.
    pub stop: u8,
}

impl Message for Command {
    const KIND: u8 = 2;
}

/// Status of a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Swarm tick.
    #[serde(with = "le")]
    pub tick: u32,
    /// Number of the pose in use.
    #[serde(with = "le")]
    pub pose: u16,
    /// Frames received in this tick.
    pub received: u8,
    /// Received frames that were rejected.
    pub rejected: u8,
    /// Number of neighbors.
    pub neighbors: u8,
    /// Number of robots with a synchronized clock.
    pub synchronized: u8,
    /// Verdict of the safety gate, by its code.
    pub verdict: u8,
    /// 1 if a pose arrived since the last tick.
    pub pose_received: u8,
    /// Tick of the robot's slot, modulo the exchange; 255 while it has no slot.
    pub turn: u8,
    /// Epoch of the group key in use.
    pub epoch: u8,
}

impl Message for Status {
    const KIND: u8 = 3;
}

impl Status {
    /// Status after a tick.
    pub fn new<O>(report: &TickReport<O>, pose: u16, synchronized: u8, turn: Option<u32>, epoch: u8) -> Self {
        let verdict = match report.verdict {
            Verdict::Clear => 0,
            Verdict::Limited => 1,
            Verdict::Alone(IsolationPhase::Hold) => 3,
            Verdict::Alone(IsolationPhase::Slow) => 4,
            Verdict::Alone(IsolationPhase::Stop) => 5,
            Verdict::Blind => 6,
            Verdict::Failsafe(FailsafeLevel::Slow) => 7,
            Verdict::Failsafe(FailsafeLevel::Stop) => 8,
            _ => 2,
        };
        let small = |count: u32| count.min(255) as u8;
        let (received, rejected) = (small(report.received), small(report.rejected.total()));
        let pose_received = (report.errors.sensor == 0).into();
        let turn = turn.map_or(255, small);
        Self {
            tick: report.tick,
            pose,
            received,
            rejected,
            neighbors: report.neighbors,
            synchronized,
            verdict,
            pose_received,
            turn,
            epoch,
        }
    }
}

/// State that follows from a pose: position and velocity in the plane, or part of them.
#[diagnostic::on_unimplemented(
    message = "a companion computer cannot supply the state `{Self}`",
    label = "this task does not run on this board",
    note = "poses hold position and velocity in the plane; if that is enough, implement `wdgnn_protocol::companion::FromPose`"
)]
pub trait FromPose: State {
    /// State of a robot with this motion.
    fn from_pose(motion: &Motion) -> Self;
}

impl FromPose for Motion {
    fn from_pose(motion: &Motion) -> Self {
        *motion
    }
}

/// Command that fits into a command message: two numbers.
#[diagnostic::on_unimplemented(
    message = "a companion computer cannot execute the command `{Self}`",
    label = "this task does not run on this board",
    note = "command messages hold two numbers, such as an acceleration in the plane"
)]
pub trait PlanarCommand: Array {
    /// The two numbers of the message.
    fn components(&self) -> [f32; 2];
}

impl PlanarCommand for [f32; 2] {
    fn components(&self) -> [f32; 2] {
        *self
    }
}

/// Encodes a message into `frame` and returns its length. [`MAX_MESSAGE`] bytes are enough for
/// every message.
pub fn encode<M: Message + Serialize>(message: &M, frame: &mut [u8]) -> Option<usize> {
    let mut plain = [0; MAX_MESSAGE];
    let (kind, rest) = plain.split_first_mut()?;
    *kind = M::KIND;
    let length = 1 + postcard::to_slice(message, rest).ok()?.len();
    line::seal(&mut plain, length, frame)
}

/// Decodes a message of kind `M` without its final zero.
#[must_use]
pub fn decode<M: Message + DeserializeOwned>(frame: &mut [u8]) -> Option<M> {
    parse(line::open(frame)?)
}

/// Message from a companion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CompanionMessage {
    /// Pose of the robot.
    Pose(PoseMessage),
    /// Key update for the swarm.
    Key(KeyMessage),
}

impl CompanionMessage {
    /// Decodes a message without its final zero.
    #[must_use]
    pub fn decode(frame: &mut [u8]) -> Option<Self> {
        let plain = line::open(frame)?;
        parse(plain).map(Self::Pose).or_else(|| parse(plain).map(Self::Key))
    }
}

/// Parses a message of kind `M` without its checksum.
fn parse<M: Message + DeserializeOwned>(plain: &[u8]) -> Option<M> {
    let (kind, fields) = plain.split_first()?;
    if *kind == M::KIND { line::parse(fields) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_survives_a_round_trip_and_is_rejected_as_another_kind() {
        let motion = Motion { position: [1.0, -2.0], velocity: [0.5, 0.0] };
        let pose = PoseMessage { motion, number: 7, age_ms: 256 };
        let mut frame = [0; MAX_MESSAGE];
        let length = encode(&pose, &mut frame).unwrap();
        assert_eq!((length, frame.iter().position(|byte| *byte == 0)), (27, Some(26)));
        let [mut same, mut said] = [frame; 2];
        assert_eq!(decode::<Command>(&mut same[..26]), None);
        assert_eq!(decode(&mut frame[..26]), Some(pose));
        assert_eq!(CompanionMessage::decode(&mut said[..26]), Some(CompanionMessage::Pose(pose)));
        assert_eq!(encode(&pose, &mut [0; 26]), None, "buffer too short");
        let key = KeyMessage([0xf1; 20], [7; 20]);
        assert_eq!(encode(&key, &mut frame), Some(MAX_MESSAGE), "longest message");
        assert_eq!(CompanionMessage::decode(&mut frame[..MAX_MESSAGE - 1]), Some(CompanionMessage::Key(key)));
        assert_eq!((key.frame()[19], key.frame()[20]), (0xf1, 7));
    }
}
