//! Errors of reading and writing weight files.

use super::format::VERSION;

/// Header field in which a weight file and a network type can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum HeaderField {
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
    /// Code of the activation.
    Activation,
    /// Code of the scale.
    Scale,
    /// Code of the learning rule.
    Learning,
}

/// Reason for rejecting a weight file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WeightsError {
    /// The file does not begin with `WDGN`.
    NotWeights,
    /// The version is not supported by this build.
    Version {
        /// Version of the file.
        found: u8,
    },
    /// The file, or the buffer to write to, has another length than needed.
    Length {
        /// Required bytes.
        needed: usize,
        /// Available bytes.
        found: usize,
    },
    /// The file and the network type differ, or the file has an unknown code.
    ///
    /// For an unknown code, `expected` is 0.
    Mismatch {
        /// Field that differs.
        field: HeaderField,
        /// Value in the network type.
        expected: u32,
        /// Value in the file.
        found: u32,
    },
    /// The checksum does not match: the file is damaged.
    Checksum,
    /// The file contains a NaN, an infinity, a subnormal or a number that is too large.
    NotAdmissible,
    /// The file does not start at a multiple of four bytes.
    Misaligned,
}

impl core::fmt::Display for WeightsError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotWeights => write!(formatter, "this is not a weight file"),
            Self::Version { found } => {
                write!(formatter, "weight file version {found} is unknown (this build reads {VERSION})")
            }
            Self::Length { needed, found } => {
                write!(formatter, "the weight file has {found} bytes, {needed} are needed")
            }
            Self::Mismatch {
                field: field @ (HeaderField::Activation | HeaderField::Scale | HeaderField::Learning),
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
