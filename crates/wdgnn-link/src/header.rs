//! What a frame is known by: its profile, its model, its sender, and which numbers it carries.

use wdgnn_core::{task::NodeId, tensor::param_range::ParamRange};

/// The protocol's version, the first byte of every frame.
pub const VERSION: u8 = 1;

/// The degree that a robot tells who is nothing but a body to others.
pub const ONLY_A_BODY: u8 = 255;

/// How a frame's content is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum Profile {
    /// Everything in `f32`, with the folded wide part C.
    Exact = 0,
    /// Everything in `f32`, with the unfolded wide part B: the paper's exchange to the letter.
    ExactUnfolded = 1,
    /// [`crate::encoding::half::Dot154`].
    Dot154 = 2,
    /// [`crate::encoding::half::EspNow`].
    EspNow = 3,
    /// [`crate::encoding::esb32::Esb32`].
    Esb32 = 4,
    /// [`crate::encoding::p2p57::P2p57`].
    P2p57 = 5,
}

impl Profile {
    /// Control ticks from one exchange to the next, at 100 ticks a second: what the air carries for 10 robots on 802.15.4, nRF24 and a
    /// Crazyflie, and for 50 on ESP-NOW.
    #[must_use]
    pub const fn interval(self) -> u16 {
        match self {
            Self::Exact | Self::ExactUnfolded => 1,
            Self::EspNow => 2,
            Self::Dot154 | Self::Esb32 | Self::P2p57 => 5,
        }
    }
}

/// What a frame must be made of to be ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Link {
    /// How the content is written.
    pub profile: Profile,
    /// The checksum of the weight file that the swarm flies.
    pub checksum: u32,
}

/// Who sent a frame, and which of its frames it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity {
    /// The sender.
    pub sender: NodeId,
    /// How often it was started.
    pub boot: u32,
    /// Its count of frames: at least its tick times the frames per exchange.
    pub sequence: u32,
}

/// Where frames are not sealed: a frame that is older than so many ticks is of somebody with another clock, so how old it is cannot be
/// known.
pub const OTHER_CLOCK_TICKS: u32 = 50;

/// Which of a beacon's numbers a frame carries. The state always goes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Payload {
    /// Which of the taps that travel.
    pub taps: ParamRange,
    /// Which of the wide parameters.
    pub wide: ParamRange,
}

impl Payload {
    /// Everything.
    pub const ALL: Self = Self { taps: ParamRange::ALL, wide: ParamRange::ALL };

    /// The state alone, which every frame carries.
    pub const STATE: Self = Self { taps: ParamRange::NONE, wide: ParamRange::NONE };
}
