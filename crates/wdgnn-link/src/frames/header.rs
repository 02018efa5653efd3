//! Headers of frames.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

use super::fixed::{U16Le, U24Le, U32Le};

/// Header of `exact` and `exact-unfolded`: 22 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct ExactHeader {
    /// Version of the protocol: 1.
    pub version: u8,
    /// Profile: 0 for `exact`, 1 for `exact-unfolded`.
    pub profile: u8,
    /// Number of state numbers.
    pub state_numbers: u8,
    /// Number of transmitted taps.
    pub tap_numbers: U16Le,
    /// Number of wide parameters.
    pub wide_numbers: U16Le,
    /// CRC-32 of the sender's weight file.
    pub model: U32Le,
    /// Address of the sender.
    pub sender: U16Le,
    /// Number of times the sender has started.
    pub boot: U32Le,
    /// Number of the frame: at least the sender's tick times the frames per exchange.
    pub sequence: U32Le,
    /// Number of the sender's neighbors; 255 if the sender is an obstacle only.
    pub degree: u8,
}

/// Header of `dot154`, `espnow` and `p2p57`: 17 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct CompactHeader {
    /// Version of the protocol in bits 0 to 3, profile in bits 4 to 6; bit 7 marks a frame with identity proofs.
    pub version_and_profile: u8,
    /// Run of wide parameters that the frame carries.
    pub part: u8,
    /// CRC-32 of the sender's weight file.
    pub model: U32Le,
    /// Address of the sender.
    pub sender: U16Le,
    /// Number of times the sender has started.
    pub boot: U32Le,
    /// Number of the frame: at least the sender's tick times the frames per exchange.
    pub sequence: U32Le,
    /// Number of the sender's neighbors; 255 if the sender is an obstacle only.
    pub degree: u8,
}

/// Header of `esb32`: 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
pub struct Esb32Header {
    /// Version of the protocol in bits 0 to 3, profile in bits 4 to 6; bit 7 marks a frame with identity proofs.
    pub version_and_profile: u8,
    /// Address of the sender.
    pub sender: u8,
    /// Number of times the sender has started.
    pub boot: U16Le,
    /// Low 24 bits of the number of the frame.
    pub sequence: U24Le,
    /// Numbers that follow the state; bit 7 is set if the sender is an obstacle only.
    pub piece: u8,
}
