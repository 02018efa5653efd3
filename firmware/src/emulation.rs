//! What an emulated robot and its world say to each other: fixed-size messages over two pipes, the same on both ends.
//!
//! The robot says [`Hello`] once. Then, every tick: the world says what the robot senses ([`Situation`]); the robot says the frames
//! of its beacon (one [`Frame`] each, the last one marked, or that there is none in this tick); the world says what the robot hears, in
//! the same way; the robot says what it did ([`Outcome`]). Everybody speaks before anybody hears, so the world collects all beacons in between. Either end
//! leaves by closing its pipe.
//!
//! Messages are their fields' little-endian bytes in order, which is what both ends have in memory.

use bytemuck::{Pod, Zeroable};
use wdgnn_core::{
    refusal::Refusal,
    robot::{self, BUFFER_BYTES, FEATURES, HIDDEN, NEIGHBOURS, OUTPUTS, TAPS},
    tick::Report,
};

/// Of these messages. Both ends come from one source tree; an image from an older one is told apart by this.
pub const VERSION: u32 = 2;

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
    /// Its link profile, by its code in a frame ([`wdgnn_core::message::Profile`]).
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
    /// F.
    pub features: u32,
    /// K + 1.
    pub taps: u32,
    /// G.
    pub hidden: u32,
    /// O.
    pub outputs: u32,
    /// Neighbours in the table.
    pub neighbours: u32,
}

impl Dimensions {
    /// Those of this build.
    pub const HERE: Self = Self {
        features: FEATURES as u32,
        taps: TAPS as u32,
        hidden: HIDDEN as u32,
        outputs: OUTPUTS as u32,
        neighbours: NEIGHBOURS as u32,
    };
}

/// What a robot senses.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Situation {
    /// The tick's number.
    pub tick: u32,
    /// 0 when the sensor fails in this tick.
    pub sensed: u32,
    /// In metres.
    pub position: [f32; 2],
    /// In metres per second.
    pub velocity: [f32; 2],
}

/// Room for a frame in a message: the longest, sealed, and a byte more, rounded up to a word.
pub const FRAME_ROOM: usize = BUFFER_BYTES.next_multiple_of(4);

/// A frame on its way from or to the air.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Frame {
    /// Its length; [`Frame::NOTHING`] when the air was silent. A frame longer than there is room for is cut.
    pub length: u16,
    /// 1 on the last frame of a tick.
    pub last: u16,
    /// Its bytes.
    pub bytes: [u8; FRAME_ROOM],
}

impl Frame {
    /// The length that means that there is no frame.
    pub const NOTHING: u16 = u16::MAX;

    /// The air was silent.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { length: Self::NOTHING, last: 1, bytes: [0; FRAME_ROOM] }
    }

    /// A message of `frame`.
    #[must_use]
    pub fn of(frame: &[u8], last: bool) -> Self {
        let mut message = Self::nothing();
        message.fill(frame, last);
        message
    }

    /// Puts `frame` into this message.
    pub fn fill(&mut self, frame: &[u8], last: bool) {
        self.length = frame.len().min(usize::from(Self::NOTHING) - 1) as u16;
        self.last = last.into();
        self.bytes.iter_mut().zip(frame).for_each(|(to, from)| *to = *from);
    }

    /// The frame, as far as there is room for it; `None` when there is none.
    #[must_use]
    pub fn content(&self) -> Option<&[u8]> {
        let length = usize::from(self.length).min(FRAME_ROOM);
        if self.length == Self::NOTHING { None } else { self.bytes.get(..length) }
    }
}

/// What a robot did in a tick: everything that its report counts, its command, and its parameters for the next tick.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Outcome {
    /// The tick's number.
    pub tick: u32,
    /// The command in m/s².
    pub command: [f32; OUTPUTS],
    /// The wide parameters, one row per tap and feature.
    pub wide: [[f32; OUTPUTS]; TAPS * FEATURES],
    /// Frames heard, refused ones included.
    pub heard: u32,
    /// Frames refused, in the order of [`Refusal::ALL`].
    pub refused: [u32; Refusal::ALL.len()],
    /// Neighbours after hearing.
    pub neighbours: u32,
    /// Errors of sensor, send, receive, actuator and store.
    pub errors: [u32; 5],
}

impl Outcome {
    /// What a robot reports.
    #[must_use]
    pub fn new(report: &Report<[f32; OUTPUTS]>, wide: &robot::RobotWide<'_>) -> Self {
        let mut rows = [[0.0; OUTPUTS]; TAPS * FEATURES];
        for (to, from) in rows.iter_mut().zip(wide.rows()) {
            *to = *from;
        }
        let errors = &report.errors;
        Self {
            tick: report.tick,
            command: report.command,
            wide: rows,
            heard: report.heard,
            refused: core::array::from_fn(|index| {
                Refusal::ALL.get(index).map_or(0, |refusal| report.refused.of(*refusal))
            }),
            neighbours: report.neighbours.into(),
            errors: [errors.sensor, errors.send, errors.receive, errors.actuator, errors.store],
        }
    }
}
