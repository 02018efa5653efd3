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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum WeightsError {
    /// The file does not begin with `WDGN`.
    #[error("this is not a weight file")]
    NotWeights,
    /// The version is not supported by this build.
    #[error("weight file version {found} is unknown (this build reads {VERSION})")]
    Version {
        /// Version of the file.
        found: u8,
    },
    /// The file, or the buffer to write to, has another length than needed.
    #[error("the weight file has {found} bytes, {needed} are needed")]
    Length {
        /// Required bytes.
        needed: usize,
        /// Available bytes.
        found: usize,
    },
    /// The file has an unknown code.
    #[error("{field:?} has the code {code}, which this build does not know")]
    UnknownCode {
        /// Field with the code.
        field: HeaderField,
        /// The code.
        code: u8,
    },
    /// The file and the network type differ.
    #[error("{field:?} differs: {expected} here, {found} in the weight file")]
    Mismatch {
        /// Field that differs.
        field: HeaderField,
        /// Value in the network type.
        expected: u32,
        /// Value in the file.
        found: u32,
    },
    /// The checksum does not match: the file is damaged.
    #[error("the weight file is damaged: its checksum does not match")]
    Checksum,
    /// The file contains a NaN, an infinity, a subnormal or a number that is too large.
    #[error("the weight file holds a number that is not finite or is out of range")]
    NotAdmissible,
    /// The file does not start at a multiple of four bytes.
    #[error("the weight file does not begin on a multiple of four bytes")]
    Misaligned,
}
