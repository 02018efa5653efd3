//! Poses of robots from a tracking system, and the command that starts and stops the swarm.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use wdgnn_core::tensor::serde_array;

use super::{
    Frame,
    fixed::{Bytes, U16Le, U32Le, array_newtype},
    sealed::SealedFrame,
};
use crate::{
    error::FrameError,
    header::{FrameId, PROTOCOL_VERSION},
};

/// First byte of a pose frame: version 1 and a kind where messages have their profile.
pub const POSE_BYTE: u8 = PROTOCOL_VERSION | 0x60;
/// Number of poses in a frame: ten robots and a virtual leader. Larger swarms alternate between frames.
pub const MAX_POSES: usize = 11;
/// Address of the virtual leader.
pub const LEADER: u8 = 254;
/// Entry without a robot.
pub const NO_ROBOT: u8 = 255;

/// Header of a pose frame: 14 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct PoseHeader {
    /// Kind of frame: [`POSE_BYTE`].
    pub kind: u8,
    /// Number of the last command, odd while the swarm drives ([`Switch`]).
    pub command: u8,
    /// Address of the sender.
    pub sender: U16Le,
    /// Number of times the sender has started.
    pub boot: U32Le,
    /// Tick in which the frame is sent.
    pub sequence: U32Le,
    /// Time from the exposure of the image to the first symbol of the frame, in 0.1 ms.
    pub age: U16Le,
}

impl PoseHeader {
    /// Sender and number of the frame.
    pub fn id(&self) -> FrameId {
        FrameId { sender: self.sender.get(), boot: self.boot.get(), sequence: self.sequence.get() }
    }
}

/// `N` integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words<const N: usize>(#[serde(with = "serde_array")] pub [U16Le; N]);

array_newtype!(Words, U16Le);

/// Poses that a camera saw in one image, after the seal of the frame was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct PoseFrame {
    /// Header in clear text.
    pub header: PoseHeader,
    /// Address of each robot; [`NO_ROBOT`] marks an unused entry.
    pub robots: Bytes<MAX_POSES>,
    /// Positions to the right, in millimeters plus 32,768.
    pub x: Words<MAX_POSES>,
    /// Positions upward, in millimeters plus 32,768.
    pub y: Words<MAX_POSES>,
    /// Headings, counterclockwise from the x axis, in 1/65,536 of a turn.
    pub headings: Words<MAX_POSES>,
}

/// Sealed pose frame.
pub type SealedPoseFrame = SealedFrame<PoseHeader, { 7 * MAX_POSES }>;

impl Frame for PoseFrame {
    fn check(&self) -> Result<(), FrameError> {
        if self.header.kind == POSE_BYTE { Ok(()) } else { Err(FrameError::Version) }
    }
}

/// Pose of a robot on the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// Position in meters.
    pub position: [f32; 2],
    /// Heading in 1/65,536 of a turn, from −32,768 to 32,767.
    pub heading: i16,
}

impl PoseFrame {
    /// Frame without poses.
    pub fn new(header: PoseHeader) -> Self {
        let empty = Words::default();
        Self { header, robots: Bytes([NO_ROBOT; MAX_POSES]), x: empty, y: empty, headings: empty }
    }

    /// Writes a pose to the first unused entry. Positions are limited to ±32.767 m. Returns false without an unused entry.
    pub fn push(&mut self, robot: u8, pose: &Pose) -> bool {
        let Some(entry) = self.robots.0.iter().position(|robot| *robot == NO_ROBOT) else { return false };
        let [x, y] = pose.position.map(|meters| {
            let rounded = (1_000.0 * meters + 32_768.5).clamp(1.0, 65_535.0);
            U16Le::new(rounded as u16)
        });
        let heading = U16Le::new(pose.heading.cast_unsigned());
        for (list, number) in [(&mut self.x, x), (&mut self.y, y), (&mut self.headings, heading)] {
            list.0.get_mut(entry).into_iter().for_each(|slot| *slot = number);
        }
        self.robots.0.get_mut(entry).into_iter().for_each(|slot| *slot = robot);
        true
    }

    /// Robots with their poses.
    pub fn poses(&self) -> impl Iterator<Item = (u8, Pose)> {
        let meters = |number: &U16Le| (f32::from(number.get()) - 32_768.0) / 1_000.0;
        let numbers = self.x.0.iter().zip(&self.y.0).zip(&self.headings.0);
        let all = self.robots.0.iter().zip(numbers).map(move |(robot, ((x, y), heading))| {
            (*robot, Pose { position: [meters(x), meters(y)], heading: heading.get().cast_signed() })
        });
        all.filter(|(robot, _)| *robot != NO_ROBOT)
    }
}

/// Start and stop of a swarm by numbered commands. The newest command wins, whichever member sends it.
///
/// Odd commands start, even ones stop. A robot stands until it hears the first command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch(Option<u8>);

impl Switch {
    /// Number of the last command.
    pub fn command(self) -> u8 {
        self.0.unwrap_or(0)
    }

    /// Whether the swarm drives.
    pub fn is_on(self) -> bool {
        self.command() % 2 == 1
    }

    /// Issues the next command: starts a standing swarm and stops a driving one.
    pub fn toggle(&mut self) {
        self.0 = Some(self.command().wrapping_add(1));
    }

    /// Takes a command of another member. Returns false if it is older than the own one.
    pub fn follow(&mut self, command: u8) -> bool {
        let newer = command.wrapping_sub(self.command()).cast_signed();
        if newer > 0 || self.0.is_none() {
            self.0 = Some(command);
        }
        newer >= 0 || self.0 == Some(command)
    }
}
