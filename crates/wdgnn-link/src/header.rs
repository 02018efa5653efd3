//! Identification of a frame: profile, sender, number and content.

use serde::{Deserialize, Serialize};
use wdgnn_core::{task::NodeId, tensor::param_range::ParamRange};

/// Version of the protocol, in the first byte of every frame.
pub const PROTOCOL_VERSION: u8 = 1;

/// Degree in the messages of a robot that others must avoid but not follow.
///
/// The robot does not know its position, or its actuators do not follow its commands.
pub const OBSTACLE_ONLY: u8 = 255;

/// Age in ticks beyond which an open frame belongs to another clock, so that its age is unknown.
pub const MAX_PLAUSIBLE_AGE_TICKS: u32 = 50;

/// Format of the content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
#[repr(u8)]
pub enum Profile {
    /// [`crate::encoding::exact::Exact`]
    Exact = 0,
    /// [`crate::encoding::exact::ExactUnfolded`]
    ExactUnfolded = 1,
    /// [`crate::encoding::half::Dot154`]
    Dot154 = 2,
    /// [`crate::encoding::half::EspNow`]
    EspNow = 3,
    /// [`crate::encoding::esb32::Esb32`]
    Esb32 = 4,
    /// [`crate::encoding::half::P2p57`]
    P2p57 = 5,
}

impl Profile {
    /// All profiles, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Exact, Self::ExactUnfolded, Self::Dot154, Self::EspNow, Self::Esb32, Self::P2p57];

    /// Control ticks per exchange at 100 ticks a second.
    ///
    /// The radio carries that rate for 10 robots on IEEE 802.15.4, nRF24 and a Crazyflie, and for 50
    /// robots on ESP-NOW.
    pub const fn exchange_ticks(self) -> u16 {
        match self {
            Self::Exact | Self::ExactUnfolded => 1,
            Self::EspNow => 2,
            Self::Dot154 | Self::Esb32 | Self::P2p57 => 5,
        }
    }
}

/// Sender and number of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrameId {
    /// Address of the sender.
    pub sender: NodeId,
    /// Number of times the sender has started.
    pub boot: u32,
    /// Number of the frame: at least the sender's tick times the frames per exchange.
    pub sequence: u32,
}

/// Header of a frame, common to all profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Sender and number.
    pub id: FrameId,
    /// Checksum of the sender's weight file, if the header contains it.
    pub model: Option<u32>,
    /// Number of neighbors of the sender, or [`OBSTACLE_ONLY`].
    pub degree: u8,
}

/// Numbers of a message that a frame carries. Every frame carries the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Range of the transmitted taps.
    pub taps: ParamRange,
    /// Range of the wide parameters.
    pub wide: ParamRange,
}

impl Payload {
    /// The whole message.
    pub const ALL: Self = Self { taps: ParamRange::ALL, wide: ParamRange::ALL };

    /// The state only.
    pub const STATE: Self = Self { taps: ParamRange::NONE, wide: ParamRange::NONE };
}
