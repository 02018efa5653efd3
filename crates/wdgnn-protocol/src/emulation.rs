//! Pipe messages between an emulated robot and the simulator.
//!
//! The robot sends one [`Hello`] at start. Each tick then has four steps:
//!
//! 1. The simulator sends a [`SensorInput`] and the robot's state.
//! 2. The robot sends its message, one [`FrameHeader`] with bytes per frame. The last one is marked.
//!    A robot without a message in this tick sends [`FrameHeader::NONE`].
//! 3. The simulator sends the received frames in this format. It first collects the frames of all
//!    robots.
//! 4. The robot sends a [`TickResult`].
//!
//! Either end leaves by closing its pipe.
//!
//! A message is the little-endian bytes of its fields in order, which is the memory layout on both
//! ends. Message types do not depend on a task: data of task-dependent length follow the message,
//! and [`ImageDimensions`] holds these lengths.

use bytemuck::{Pod, Zeroable};
use wdgnn_core::{model::shape::Shape as _, neighbors::MAX_NEIGHBORS, task::State, tensor::Array as _};
use wdgnn_link::error::FrameError;
use wdgnn_robot::{control_loop::TickReport, onboard::OnboardTask, safety::gate::Verdict};

/// Version of these messages. Detects an image that was built from another source tree.
pub const VERSION: u32 = 5;

/// First message of a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Hello {
    /// [`VERSION`].
    pub version: u32,
    /// The robot's address.
    pub id: u32,
    /// Boot count.
    pub boot: u32,
    /// 1 if the robot restored stored parameters.
    pub resumed: u32,
    /// Checksum of the weight file in the image.
    pub model: u32,
    /// Code of the link profile ([`wdgnn_link::header::Profile`]).
    pub profile: u32,
    /// 1 if frames are sealed.
    pub sealed: u32,
    /// Dimensions that the image was built for.
    pub dimensions: ImageDimensions,
}

/// Dimensions that a robot's image was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ImageDimensions {
    /// Task number, as in weight files.
    pub task: u32,
    /// Length of a state, which follows a [`SensorInput`].
    pub state: u32,
    /// Number of input features, F.
    pub features: u32,
    /// Number of taps, K + 1.
    pub taps: u32,
    /// Number of hidden features, G.
    pub hidden: u32,
    /// Number of outputs O: length of a command, which follows a [`TickResult`].
    pub outputs: u32,
    /// Capacity of the neighbor table.
    pub neighbors: u32,
    /// Number of wide parameters, which follow the command.
    pub wide: u32,
}

impl ImageDimensions {
    /// Dimensions of a robot with task `T`.
    #[must_use]
    pub fn of<T: OnboardTask>() -> Self {
        let size = T::Shape::DIMENSIONS;
        Self {
            task: T::ID.into(),
            state: <T::State as State>::Array::LEN as u32,
            features: size.features as u32,
            taps: size.taps as u32,
            hidden: size.hidden as u32,
            outputs: size.outputs as u32,
            neighbors: MAX_NEIGHBORS as u32,
            wide: (size.inputs(0) * size.outputs) as u32,
        }
    }
}

/// Start of a tick. The robot's state follows as `f32`, also if the sensor fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SensorInput {
    /// Tick number.
    pub tick: u32,
    /// 0 if the sensor fails in this tick.
    pub sensed: u32,
}

/// Maximum number of frame bytes that follow a [`FrameHeader`].
///
/// One more than the longest sealed frame of any task fits: 3-D flocking on the profile `exact` has
/// 586 bytes and a tag of 8.
pub const MAX_FRAME: usize = 640;

/// Header of a radio frame. [`FrameHeader::bytes`] bytes of the frame follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct FrameHeader {
    /// Length of the frame, or [`FrameHeader::NO_FRAME`]. At most [`MAX_FRAME`] bytes of a longer
    /// frame follow.
    pub length: u16,
    /// 1 for the last frame of a tick.
    pub last: u16,
}

impl FrameHeader {
    /// Length that marks a message without a frame.
    pub const NO_FRAME: u16 = u16::MAX;
    /// Message of a tick without frames.
    pub const NONE: Self = Self { length: Self::NO_FRAME, last: 1 };

    /// Header of `frame`, and the bytes that follow it.
    #[must_use]
    pub fn of(frame: &[u8], last: bool) -> (Self, &[u8]) {
        let length = frame.len().min(usize::from(Self::NO_FRAME) - 1) as u16;
        (Self { length, last: last.into() }, frame.get(..MAX_FRAME).unwrap_or(frame))
    }

    /// Number of bytes that follow; `None` if there is no frame.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        (self.length != Self::NO_FRAME).then_some(usize::from(self.length).min(MAX_FRAME))
    }
}

/// Counters of one tick. The robot's command follows, then its wide parameters for the next tick
/// (one row per tap and feature), both as `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TickResult {
    /// Tick number.
    pub tick: u32,
    /// Received frames, including rejected ones.
    pub received: u32,
    /// Rejected frames by reason, in the order of [`FrameError::ALL`].
    pub rejected: [u32; FrameError::ALL.len()],
    /// Neighbors after the exchange.
    pub neighbors: u32,
    /// 1 if the actuator was told to stop on its own.
    pub stopped: u32,
    /// Errors of sensor, send, receive, actuator and store.
    pub errors: [u32; 5],
}

impl TickResult {
    /// Counters of a tick report.
    #[must_use]
    pub fn new<O>(report: &TickReport<O>) -> Self {
        let errors = &report.errors;
        Self {
            tick: report.tick,
            received: report.received,
            rejected: core::array::from_fn(|index| {
                FrameError::ALL.get(index).map_or(0, |error| report.rejected.of(*error))
            }),
            neighbors: report.neighbors.into(),
            stopped: matches!(report.verdict, Verdict::Blind).into(),
            errors: [errors.sensor, errors.send, errors.receive, errors.actuator, errors.store],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_longer_than_the_limit_are_truncated() {
        let bytes = [7; MAX_FRAME + 9];
        let (short, content) = FrameHeader::of(&bytes[..3], false);
        assert_eq!((short, content), (FrameHeader { length: 3, last: 0 }, &[7; 3][..]));
        let (long, content) = FrameHeader::of(&bytes, true);
        assert_eq!((long.length, long.last), (MAX_FRAME as u16 + 9, 1));
        assert_eq!((content.len(), long.bytes()), (MAX_FRAME, Some(MAX_FRAME)));
        assert_eq!(FrameHeader::of(&[], true).0.bytes(), Some(0));
        assert_eq!(FrameHeader::NONE.bytes(), None);
    }

    #[test]
    fn frames_longer_than_u16_do_not_look_like_no_frame() {
        static LONG: [u8; 70_000] = [0; 70_000];
        assert_eq!(FrameHeader::of(&LONG, true).0.bytes(), Some(MAX_FRAME));
    }

    #[test]
    fn frames_of_the_flocking_robot_fit() {
        const { assert!(wdgnn_robot::onboard::BUFFER_LEN <= MAX_FRAME) };
    }
}
