//! Why a weight file is refused.

use super::format::VERSION;

/// The part of a network that a weight file and a type can disagree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Field {
    /// Input features F.
    Features,
    /// Taps of the first layer and of the wide part.
    Taps,
    /// Hidden features G.
    Hidden,
    /// Outputs O.
    Outputs,
    /// Number of layers L.
    Layers,
    /// Taps of a later layer.
    LayerTaps,
    /// Output features of a layer.
    LayerFeatures,
    /// The task.
    Task,
    /// The activation's code.
    Activation,
    /// The reserved byte, which is 0.
    Reserved,
    /// The scale's code.
    Scale,
    /// A code of the learning rule.
    Learning,
}

/// Why a weight file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WeightsError {
    /// Not a weight file: it does not begin with `WDGN`.
    NotWeights,
    /// A version that this build does not read.
    Version {
        /// The file's version.
        found: u8,
    },
    /// The file is shorter than it says, or longer.
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes there.
        found: usize,
    },
    /// The file and the network's type differ, or a code is unknown (`expected` is then 0).
    Mismatch {
        /// In what.
        field: Field,
        /// What the type has.
        expected: u32,
        /// What the file has.
        found: u32,
    },
    /// The bytes were changed since they were written.
    Checksum,
    /// A NaN, an infinity, a subnormal or a number too large.
    NotAdmissible,
    /// The bytes do not begin on a multiple of four.
    Misaligned,
}

impl core::fmt::Display for WeightsError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotWeights => write!(formatter, "this is not a weight file"),
            Self::Version { found } => {
                write!(formatter, "weight file version {found} is unknown (this build reads {VERSION})")
            }
            Self::Truncated { needed, found } => {
                write!(formatter, "the weight file has {found} bytes, {needed} are needed")
            }
            Self::Mismatch {
                field: field @ (Field::Activation | Field::Reserved | Field::Scale | Field::Learning),
                found,
                ..
            } => write!(formatter, "{field:?} has the code {found}, which this build does not know"),
            Self::Mismatch { field, expected, found } => {
                write!(formatter, "{field:?} differs: {expected} here, {found} in the weight file")
            }
            Self::Checksum => write!(formatter, "the weight file is damaged: its checksum does not match"),
            Self::NotAdmissible => {
                write!(formatter, "the weight file holds a number that is not finite or is out of range")
            }
            Self::Misaligned => {
                write!(formatter, "the weight file does not begin on a multiple of four bytes")
            }
        }
    }
}

impl core::error::Error for WeightsError {}
