//! What can go wrong, as a number with a sentence.

use core::ffi::CStr;

use wdgnn_core::{WeightsError, weights::Field};
use wdgnn_link::Refusal;

// The enumeration is written out: the header is generated from it, and a macro would hide it.
macro_rules! errors {
    ($($name:ident: $sentence:literal;)+) => {
        impl Error {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// A sentence for people.
            pub fn text(self) -> &'static CStr {
                match self {
                    $(Self::$name => $sentence,)+
                }
            }
        }
    };
}

/// What can go wrong. Zero is success.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Nothing went wrong.
    None = 0,
    /// A pointer that is needed is null.
    Null = 1,
    /// The memory does not begin on a multiple of WDGNN_ALIGNMENT.
    MemoryMisaligned = 2,
    /// The memory is smaller than asked for.
    MemoryTooSmall = 3,
    /// There is no robot, or no listener, in this memory.
    NothingThere = 4,
    /// The buffer is too small.
    BufferTooSmall = 5,
    /// Another number of numbers than this kind has.
    WrongCount = 6,
    /// This kind is sealed and needs a key.
    KeyMissing = 7,
    /// This kind is not sealed, but a key was given.
    KeyUnused = 8,
    /// The state was not finite, or far out of range: the last one was carried on.
    StateRefused = 9,
    /// The profile's short header cannot tell this address, boot or sequence.
    Unspeakable = 10,
    /// The record is damaged, or of another model: nothing was taken up but, if it was whole, the boot count.
    RecordRefused = 11,
    /// The network was trained for more exchanges than this link profile has.
    ExchangeRate = 12,
    /// The key is neither 16 bytes nor 32 hexadecimal digits.
    KeyMalformed = 13,
    /// This kind changes its key in flight and needs a personal key.
    PersonalMissing = 14,
    /// This kind keeps its key, but a personal key or a roster was given.
    PersonalUnused = 15,
    /// The roster is not of whole keys, or has more than 64.
    RosterMalformed = 16,

    /// Not a weight file.
    NotWeights = 20,
    /// A weight file of an unknown version.
    WeightsVersion = 21,
    /// The weight file is shorter or longer than it says.
    WeightsTruncated = 22,
    /// The weight file is damaged.
    WeightsChecksum = 23,
    /// The weight file holds a number that is not finite or out of range.
    WeightsNotAdmissible = 24,
    /// The weight file does not begin on a multiple of four bytes.
    WeightsMisaligned = 25,
    /// The weight file is refused for a reason that has no number yet.
    WeightsOther = 29,
    /// The weight file's network has another number of input features.
    WeightsFeatures = 30,
    /// The weight file's network has another number of taps.
    WeightsTaps = 31,
    /// The weight file's network has another number of hidden features.
    WeightsHidden = 32,
    /// The weight file's network has another number of outputs.
    WeightsOutputs = 33,
    /// The weight file's network has another number of layers.
    WeightsLayers = 34,
    /// The weight file is for another task.
    WeightsTask = 35,
    /// The weight file has a code that this library does not know.
    WeightsCode = 36,

    /// Frame refused: shorter than a header.
    RefusedTooShort = 64,
    /// Frame refused: another version of the protocol.
    RefusedVersion = 65,
    /// Frame refused: another link profile.
    RefusedProfile = 66,
    /// Frame refused: another number of numbers.
    RefusedDimensions = 67,
    /// Frame refused: it ends before its content does.
    RefusedTruncated = 68,
    /// Frame refused: bytes behind its content.
    RefusedTrailing = 69,
    /// Frame refused: the sender flies another model.
    RefusedModel = 70,
    /// Frame refused: a number that is not finite or out of range.
    RefusedNotAdmissible = 71,
    /// Frame refused: one's own address.
    RefusedEcho = 72,
    /// Frame refused: not newer than what was last heard of its sender.
    RefusedOld = 73,
    /// Frame refused: a newcomer, and the table is full.
    RefusedTableFull = 74,
    /// Frame refused: more frames in one tick than are looked at.
    RefusedFlood = 75,
    /// Frame refused: not sealed with the swarm's key.
    RefusedForged = 76,
    /// Frame refused: a recording.
    RefusedReplayed = 77,
    /// Frame refused: sealed, but not of these ticks.
    RefusedUntimely = 78,
    /// Frame refused: one more sealed sender than there is room for.
    RefusedTooManySenders = 79,
    /// Frame refused: it contradicts what its sender said before, or what an honest robot can say.
    RefusedImplausible = 80,
    /// Frame refused: sealed in the name of somebody who does not exist in this swarm.
    RefusedUnlisted = 81,
    /// Frame refused: it brings a key, which was taken up or is handed on, and is no beacon. All is well.
    RefusedNewKey = 82,
    /// Frame refused for a reason that has no number yet.
    RefusedOther = 127,
}

errors! {
    None: c"nothing went wrong";
    Null: c"a pointer that is needed is null";
    MemoryMisaligned: c"the memory does not begin on a multiple of WDGNN_ALIGNMENT";
    MemoryTooSmall: c"the memory is smaller than wdgnn_robot_bytes or wdgnn_listener_bytes says";
    NothingThere: c"there is no robot, or no listener, in this memory: it was not created, or was overwritten";
    BufferTooSmall: c"the buffer is smaller than wdgnn_frame_bytes or wdgnn_record_bytes says";
    WrongCount: c"this kind of robot has another number of numbers in its state";
    KeyMissing: c"this kind of robot is sealed and needs a key";
    KeyUnused: c"this kind of robot is not sealed, but was given a key: choose its sealed sister";
    StateRefused: c"the state is not finite or far out of range: the last one was carried on";
    Unspeakable: c"the link profile's short header cannot tell this address, boot count or sequence";
    RecordRefused: c"the record is damaged or of another model: no parameters were taken up";
    ExchangeRate: c"the network was trained for more exchanges a second than this link profile has";
    KeyMalformed: c"the key is neither 16 bytes nor 32 hexadecimal digits";
    PersonalMissing: c"this kind of robot changes its key in flight and needs a personal key";
    PersonalUnused: c"this kind of robot keeps its key, but was given a personal key or a roster: choose its rekeyable sister";
    RosterMalformed: c"the roster is not of keys of 16 bytes, or has more than 64";
    NotWeights: c"this is not a weight file";
    WeightsVersion: c"the weight file has a version that this library does not read";
    WeightsTruncated: c"the weight file is shorter or longer than it says";
    WeightsChecksum: c"the weight file is damaged: its checksum does not match";
    WeightsNotAdmissible: c"the weight file holds a number that is not finite or is out of range";
    WeightsMisaligned: c"the weight file does not begin on a multiple of four bytes";
    WeightsOther: c"the weight file is refused";
    WeightsFeatures: c"the weight file's network has another number of input features";
    WeightsTaps: c"the weight file's network has another number of taps";
    WeightsHidden: c"the weight file's network has another number of hidden features";
    WeightsOutputs: c"the weight file's network has another number of outputs";
    WeightsLayers: c"the weight file's network has another number of layers";
    WeightsTask: c"the weight file is for another task";
    WeightsCode: c"the weight file has a code that this library does not know";
    RefusedTooShort: c"frame refused: shorter than a header";
    RefusedVersion: c"frame refused: another version of the protocol";
    RefusedProfile: c"frame refused: another link profile";
    RefusedDimensions: c"frame refused: another number of state, tap or wide numbers";
    RefusedTruncated: c"frame refused: it ends before its content does";
    RefusedTrailing: c"frame refused: bytes behind its content";
    RefusedModel: c"frame refused: the sender flies another model";
    RefusedNotAdmissible: c"frame refused: a number that is not finite or is out of range";
    RefusedEcho: c"frame refused: it carries this robot's own address";
    RefusedOld: c"frame refused: not newer than what was last heard of its sender";
    RefusedTableFull: c"frame refused: a newcomer, and the table is full of neighbours that are still talking";
    RefusedFlood: c"frame refused: more frames in one tick than a robot looks at";
    RefusedForged: c"frame refused: not sealed with the swarm's key";
    RefusedReplayed: c"frame refused: sealed, but not newer than the last frame of its sender";
    RefusedUntimely: c"frame refused: sealed, but not of these ticks";
    RefusedTooManySenders: c"frame refused: sealed by one more sender than a robot keeps count of";
    RefusedImplausible: c"frame refused: it contradicts its sender, or no honest robot can say it";
    RefusedUnlisted: c"frame refused: no robot of this swarm has its sender's address";
    RefusedNewKey: c"frame refused: it brings a key, which was taken, and is no beacon";
    RefusedOther: c"frame refused";
}

impl Error {
    /// The one with this number.
    pub(crate) fn with_code(code: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|error| *error as i32 == code)
    }
}

/// The number of a reason's error: reasons count from zero.
const FIRST_REFUSAL: i32 = Error::RefusedTooShort as i32;

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::with_code(FIRST_REFUSAL + refusal as i32).unwrap_or(Self::RefusedOther)
    }
}

impl From<WeightsError> for Error {
    fn from(error: WeightsError) -> Self {
        match error {
            WeightsError::NotWeights => Self::NotWeights,
            WeightsError::Version { .. } => Self::WeightsVersion,
            WeightsError::Truncated { .. } => Self::WeightsTruncated,
            WeightsError::Checksum => Self::WeightsChecksum,
            WeightsError::NotAdmissible => Self::WeightsNotAdmissible,
            WeightsError::Misaligned => Self::WeightsMisaligned,
            WeightsError::Mismatch { field, .. } => match field {
                Field::Features => Self::WeightsFeatures,
                Field::Taps | Field::LayerTaps => Self::WeightsTaps,
                Field::Hidden | Field::LayerFeatures => Self::WeightsHidden,
                Field::Outputs => Self::WeightsOutputs,
                Field::Layers => Self::WeightsLayers,
                Field::Task => Self::WeightsTask,
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
    fn every_reason_to_refuse_a_frame_has_a_number_and_a_sentence_of_its_own() {
        for refusal in Refusal::ALL {
            let error = Error::from(*refusal);
            assert_ne!(error, Error::RefusedOther, "{refusal:?}");
            assert_eq!(error as usize, 64 + *refusal as usize);
        }
        for error in Error::ALL {
            let same = Error::ALL.iter().filter(|other| other.text() == error.text());
            assert_eq!((same.count(), Error::with_code(*error as i32)), (1, Some(*error)));
        }
    }
}
