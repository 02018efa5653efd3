//! What an emulated robot and its world say to each other over two pipes, the same on both ends.
//!
//! The robot says [`Hello`] once. Then, every tick: the world says what the robot senses ([`Situation`]); the robot says the frames
//! of its beacon (one [`Frame`] each, the last one marked, or that there is none in this tick); the world says what the robot hears, in
//! the same way; the robot says what it did ([`Outcome`]). Everybody speaks before anybody hears, so the world collects all beacons in
//! between. Either end leaves by closing its pipe.
//!
//! Messages are their fields' little-endian bytes in order, which is what both ends have in memory. None has a dimension of a task in
//! its type: what is as long as the task wants follows its message, and [`Dimensions`] tells how long that is.

use bytemuck::{Pod, Zeroable};
use wdgnn_core::{model::shape::Shape as _, task::State, tensor::Numbers as _};
use wdgnn_link::error::Refusal;
use wdgnn_robot::{
    control_loop::Report,
    onboard::{NEIGHBOURS, Onboard},
    safety::gate::Verdict,
};

/// Of these messages. Both ends come from one source tree; an image from an older one is told apart by this.
pub const VERSION: u32 = 5;

/// A robot introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Hello {
    /// [`VERSION`].
    pub version: u32,
    /// The robot's address.
    pub id: u32,
    /// How often it was started before.
    pub boot: u32,
    /// 1 when it took up stored parameters.
    pub resumed: u32,
    /// The checksum of the weight file in its image.
    pub model: u32,
    /// Its link profile, by its code in a frame ([`wdgnn_link::header::Profile`]).
    pub profile: u32,
    /// 1 when its frames are sealed.
    pub sealed: u32,
    /// What the image was built for.
    pub dimensions: Dimensions,
}

/// What a robot's image was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Dimensions {
    /// The task's number in weight files.
    pub task: u32,
    /// Numbers of a state, which follow a [`Situation`].
    pub state: u32,
    /// F.
    pub features: u32,
    /// K + 1.
    pub taps: u32,
    /// G.
    pub hidden: u32,
    /// O: numbers of a command, which follow an [`Outcome`].
    pub outputs: u32,
    /// Neighbours in the table.
    pub neighbours: u32,
    /// Numbers of the wide part, which follow the command.
    pub wide: u32,
}

impl Dimensions {
    /// Those of a task's robot.
    #[must_use]
    pub fn of<T: Onboard>() -> Self {
        let size = T::Shape::DIMENSIONS;
        Self {
            task: T::NUMBER.into(),
            state: <T::State as State>::Numbers::COUNT as u32,
            features: size.features as u32,
            taps: size.taps as u32,
            hidden: size.hidden as u32,
            outputs: size.outputs as u32,
            neighbours: NEIGHBOURS as u32,
            wide: (size.inputs(0) * size.outputs) as u32,
        }
    }
}

/// What a robot senses. The numbers of its state follow, as `f32`, whether it senses them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Situation {
    /// The tick's number.
    pub tick: u32,
    /// 0 when the sensor fails in this tick.
    pub sensed: u32,
}

/// The most bytes of a frame that travel: holds the longest frame of any task, sealed, and a byte more. The longest is three-dimensional
/// flocking's on the profile `exact`, 586 bytes and a tag of 8.
pub const FRAME_ROOM: usize = 640;

/// A frame on its way from or to the air. Its bytes follow, as many as [`Frame::bytes`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Frame {
    /// Its length; [`Frame::NOTHING`] when the air was silent. Of a frame longer than [`FRAME_ROOM`], no more than that travels.
    pub length: u16,
    /// 1 on the last frame of a tick.
    pub last: u16,
}

impl Frame {
    /// The length that means that there is no frame.
    pub const NOTHING: u16 = u16::MAX;
    /// The air was silent.
    pub const SILENCE: Self = Self { length: Self::NOTHING, last: 1 };

    /// The message for `frame`, and what of it follows.
    #[must_use]
    pub fn of(frame: &[u8], last: bool) -> (Self, &[u8]) {
        let length = frame.len().min(usize::from(Self::NOTHING) - 1) as u16;
        (Self { length, last: last.into() }, frame.get(..FRAME_ROOM).unwrap_or(frame))
    }

    /// How many bytes follow; `None` when there is no frame.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        (self.length != Self::NOTHING).then_some(usize::from(self.length).min(FRAME_ROOM))
    }
}

/// What a robot did in a tick: everything that its report counts. The numbers of its command follow, then those of its wide
/// parameters for the next tick, one row per tap and feature, as `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Outcome {
    /// The tick's number.
    pub tick: u32,
    /// Frames heard, refused ones included.
    pub heard: u32,
    /// Frames refused, in the order of [`Refusal::ALL`].
    pub refused: [u32; Refusal::ALL.len()],
    /// Neighbours after hearing.
    pub neighbours: u32,
    /// 1 when the actuator was to come to rest by its own means.
    pub stopped: u32,
    /// Errors of sensor, send, receive, actuator and store.
    pub errors: [u32; 5],
}

impl Outcome {
    /// What a robot reports.
    #[must_use]
    pub fn new<O>(report: &Report<O>) -> Self {
        let errors = &report.errors;
        Self {
            tick: report.tick,
            heard: report.heard,
            refused: core::array::from_fn(|index| {
                Refusal::ALL.get(index).map_or(0, |refusal| report.refused.of(*refusal))
            }),
            neighbours: report.neighbours.into(),
            stopped: matches!(report.verdict, Verdict::Blind).into(),
            errors: [errors.sensor, errors.send, errors.receive, errors.actuator, errors.store],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_tells_its_length_and_no_more_than_the_room_travels() {
        let bytes = [7; FRAME_ROOM + 9];
        let (short, content) = Frame::of(&bytes[..3], false);
        assert_eq!((short, content), (Frame { length: 3, last: 0 }, &[7; 3][..]));
        let (long, content) = Frame::of(&bytes, true);
        assert_eq!((long.length, long.last), (FRAME_ROOM as u16 + 9, 1));
        assert_eq!((content.len(), long.bytes()), (FRAME_ROOM, Some(FRAME_ROOM)));
        assert_eq!(Frame::of(&[], true).0.bytes(), Some(0));
        assert_eq!(Frame::SILENCE.bytes(), None);
    }

    #[test]
    fn a_frame_without_end_is_not_taken_for_silence() {
        static ENDLESS: [u8; 70_000] = [0; 70_000];
        assert_eq!(Frame::of(&ENDLESS, true).0.bytes(), Some(FRAME_ROOM));
    }

    #[test]
    fn the_room_holds_the_frames_of_the_flocking_robot() {
        const { assert!(wdgnn_robot::onboard::BUFFER_BYTES <= FRAME_ROOM) };
    }
}
