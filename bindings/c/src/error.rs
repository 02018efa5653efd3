//! Error codes and their messages.

use core::ffi::CStr;

use wdgnn_core::weights::{HeaderField, WeightsError};
use wdgnn_link::error::FrameError;

// Only the messages come from the macro: cbindgen reads the enumeration, which must be written out.
macro_rules! errors {
    ($($name:ident: $message:literal;)+) => {
        impl Error {
            /// All errors.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Message for people.
            pub fn message(self) -> &'static CStr {
                match self {
                    $(Self::$name => $message,)+
                }
            }
        }
    };
}

/// Error code. Zero is success.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Success.
    None = 0,
    /// A required pointer is null or misaligned.
    Null = 1,
    /// The memory is not aligned to WDGNN_ALIGNMENT.
    MemoryMisaligned = 2,
    /// The memory is smaller than wdgnn_robot_bytes or wdgnn_listener_bytes.
    MemoryTooSmall = 3,
    /// No robot or listener in this memory, or no neighbor with this index.
    NotFound = 4,
    /// The buffer is smaller than wdgnn_max_frame_bytes or wdgnn_max_record_bytes.
    BufferTooSmall = 5,
    /// The length of the state is not wdgnn_state_len.
    StateLength = 6,
    /// The robot type is sealed and needs a group key.
    KeyMissing = 7,
    /// The robot type is not sealed but has a group key.
    KeyUnused = 8,
    /// The state is not finite or out of range. The robot extrapolates the last state.
    StateRejected = 9,
    /// Address, boot count or sequence number exceeds the short header of the link profile.
    HeaderOverflow = 10,
    /// The record is damaged or from another model. From an intact record of another model, the robot takes the boot count only.
    RecordRejected = 11,
    /// The network was trained for more exchanges per second than the link profile has.
    ExchangeRate = 12,
    /// A key is neither 16 bytes nor 32 hexadecimal digits.
    KeyMalformed = 13,
    /// The robot type has key rotation and needs a personal key.
    PersonalKeyMissing = 14,
    /// The robot type has no key rotation but has a personal key or peer keys.
    PersonalKeyUnused = 15,
    /// The peer keys are not whole keys of 16 bytes, or more than 64.
    PeerKeysMalformed = 16,

    /// Not a weight file.
    NotWeights = 20,
    /// Unknown version of the weight file.
    WeightsVersion = 21,
    /// The length of the weight file differs from its header.
    WeightsTruncated = 22,
    /// The weight file is damaged.
    WeightsChecksum = 23,
    /// The weight file has a number that is not finite or out of range.
    WeightsInvalidNumber = 24,
    /// The weight file is not aligned to four bytes.
    WeightsMisaligned = 25,
    /// The weight file was rejected for a reason without a code.
    WeightsOther = 29,
    /// The network in the weight file has a different number of input features.
    WeightsFeatures = 30,
    /// The network in the weight file has a different number of taps.
    WeightsTaps = 31,
    /// The network in the weight file has a different number of hidden features.
    WeightsHidden = 32,
    /// The network in the weight file has a different number of outputs.
    WeightsOutputs = 33,
    /// The network in the weight file has a different number of layers.
    WeightsLayers = 34,
    /// The weight file is for another task.
    WeightsTask = 35,
    /// The weight file has an unknown code in its header.
    WeightsCode = 36,

    /// Frame rejected: shorter than a header.
    FrameTooShort = 64,
    /// Frame rejected: another protocol version.
    FrameVersion = 65,
    /// Frame rejected: another link profile.
    FrameProfile = 66,
    /// Frame rejected: different number of states, taps or wide parameters.
    FrameDimensions = 67,
    /// Frame rejected: shorter than its content.
    FrameTruncated = 68,
    /// Frame rejected: extra bytes after its content.
    FrameTrailing = 69,
    /// Frame rejected: the sender has another model.
    FrameModel = 70,
    /// Frame rejected: a number is not finite or out of range.
    FrameInvalidNumber = 71,
    /// Frame rejected: the sender has the address of this robot.
    FrameOwnAddress = 72,
    /// Frame rejected: not newer than the last frame of its sender.
    FrameOld = 73,
    /// Frame rejected: new sender, and the neighbor table is full.
    FrameTableFull = 74,
    /// Frame rejected: too many frames in this tick.
    FrameFlood = 75,
    /// Frame rejected: not sealed with the group key.
    FrameForged = 76,
    /// Frame rejected: sealed, but a replay of an earlier frame.
    FrameReplayed = 77,
    /// Frame rejected: sealed, but its tick is too far from the current tick.
    FrameOutOfWindow = 78,
    /// Frame rejected: sealed, but no room for the replay state of another sender.
    FrameTooManySenders = 79,
    /// Frame rejected: contradicts earlier frames of its sender or the physical limits of a robot.
    FrameImplausible = 80,
    /// Frame rejected: the address of its sender is outside the swarm.
    FrameUnknownSender = 81,
    /// Not an error: the frame is a key update, which the robot stores or relays. It is not a message.
    FrameKeyUpdate = 82,
    /// Frame rejected for a reason without a code.
    FrameOther = 127,
}

errors! {
    None: c"success";
    Null: c"a required pointer is null or misaligned";
    MemoryMisaligned: c"the memory is not aligned to WDGNN_ALIGNMENT";
    MemoryTooSmall: c"the memory is smaller than wdgnn_robot_bytes or wdgnn_listener_bytes";
    NotFound: c"no robot or listener in this memory (not created, or overwritten), or no neighbor with this index";
    BufferTooSmall: c"the buffer is smaller than wdgnn_max_frame_bytes or wdgnn_max_record_bytes";
    StateLength: c"the length of the state is not wdgnn_state_len";
    KeyMissing: c"the robot type is sealed and needs a group key";
    KeyUnused: c"the robot type is not sealed but has a group key: use the sealed type";
    StateRejected: c"the state is not finite or out of range: the robot extrapolates the last state";
    HeaderOverflow: c"address, boot count or sequence number exceeds the short header of the link profile";
    RecordRejected: c"the record is damaged or from another model: no parameters were restored";
    ExchangeRate: c"the network was trained for more exchanges per second than the link profile has";
    KeyMalformed: c"a key is neither 16 bytes nor 32 hexadecimal digits";
    PersonalKeyMissing: c"the robot type has key rotation and needs a personal key";
    PersonalKeyUnused: c"the robot type has no key rotation but has a personal key or peer keys: use the type with key rotation";
    PeerKeysMalformed: c"the peer keys are not whole keys of 16 bytes, or more than 64";
    NotWeights: c"not a weight file";
    WeightsVersion: c"unknown version of the weight file";
    WeightsTruncated: c"the length of the weight file differs from its header";
    WeightsChecksum: c"the weight file is damaged: wrong checksum";
    WeightsInvalidNumber: c"the weight file has a number that is not finite or out of range";
    WeightsMisaligned: c"the weight file is not aligned to four bytes";
    WeightsOther: c"the weight file was rejected";
    WeightsFeatures: c"the network in the weight file has a different number of input features";
    WeightsTaps: c"the network in the weight file has a different number of taps";
    WeightsHidden: c"the network in the weight file has a different number of hidden features";
    WeightsOutputs: c"the network in the weight file has a different number of outputs";
    WeightsLayers: c"the network in the weight file has a different number of layers";
    WeightsTask: c"the weight file is for another task";
    WeightsCode: c"the weight file has an unknown code in its header";
    FrameTooShort: c"frame rejected: shorter than a header";
    FrameVersion: c"frame rejected: another protocol version";
    FrameProfile: c"frame rejected: another link profile";
    FrameDimensions: c"frame rejected: different number of states, taps or wide parameters";
    FrameTruncated: c"frame rejected: shorter than its content";
    FrameTrailing: c"frame rejected: extra bytes after its content";
    FrameModel: c"frame rejected: the sender has another model";
    FrameInvalidNumber: c"frame rejected: a number is not finite or out of range";
    FrameOwnAddress: c"frame rejected: the sender has the address of this robot";
    FrameOld: c"frame rejected: not newer than the last frame of its sender";
    FrameTableFull: c"frame rejected: new sender, and the neighbor table is full of active neighbors";
    FrameFlood: c"frame rejected: too many frames in this tick";
    FrameForged: c"frame rejected: not sealed with the group key";
    FrameReplayed: c"frame rejected: sealed, but a replay of an earlier frame";
    FrameOutOfWindow: c"frame rejected: sealed, but its tick is too far from the current tick";
    FrameTooManySenders: c"frame rejected: sealed, but no room for the replay state of another sender";
    FrameImplausible: c"frame rejected: contradicts earlier frames of its sender or the physical limits of a robot";
    FrameUnknownSender: c"frame rejected: the address of its sender is outside the swarm";
    FrameKeyUpdate: c"the frame is a key update, not a message";
    FrameOther: c"frame rejected";
}

impl Error {
    /// Error with this code.
    pub(crate) fn with_code(code: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| *error as i32 == code)
    }
}

/// Code of the first frame error. The codes follow the order of `FrameError`.
const FIRST_FRAME_ERROR: i32 = Error::FrameTooShort as i32;

impl From<FrameError> for Error {
    fn from(error: FrameError) -> Self {
        Self::with_code(FIRST_FRAME_ERROR + error as i32).unwrap_or(Self::FrameOther)
    }
}

impl From<WeightsError> for Error {
    fn from(error: WeightsError) -> Self {
        match error {
            WeightsError::NotWeights => Self::NotWeights,
            WeightsError::Version { .. } => Self::WeightsVersion,
            WeightsError::Length { .. } => Self::WeightsTruncated,
            WeightsError::Checksum => Self::WeightsChecksum,
            WeightsError::NotAdmissible => Self::WeightsInvalidNumber,
            WeightsError::Misaligned => Self::WeightsMisaligned,
            WeightsError::UnknownCode { .. } => Self::WeightsCode,
            WeightsError::Mismatch { field, .. } => match field {
                HeaderField::Features => Self::WeightsFeatures,
                HeaderField::Taps | HeaderField::LayerTaps => Self::WeightsTaps,
                HeaderField::Hidden | HeaderField::LayerFeatures => Self::WeightsHidden,
                HeaderField::Outputs => Self::WeightsOutputs,
                HeaderField::Layers => Self::WeightsLayers,
                HeaderField::Task => Self::WeightsTask,
                _ => Self::WeightsCode,
            },
            _ => Self::WeightsOther,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_error_has_a_unique_code_and_message() {
        for frame_error in FrameError::ALL {
            let error = Error::from(*frame_error);
            assert_ne!(error, Error::FrameOther, "{frame_error:?}");
            assert_eq!(error as usize, 64 + *frame_error as usize);
        }
        for error in Error::ALL {
            let same = Error::ALL.iter().filter(|other| other.message() == error.message());
            assert_eq!((same.count(), Error::with_code(*error as i32)), (1, Some(*error)));
        }
    }
}
