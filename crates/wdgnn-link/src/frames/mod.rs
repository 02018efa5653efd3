//! Radio frames as plain serde types, encoded by postcard.
//!
//! Each link profile has one struct. Its postcard encoding is the frame on the air, byte for byte:
//!
//! ```
//! # use wdgnn_link::frames::Dot154Frame;
//! # fn read(bytes: &[u8]) -> Result<(), postcard::Error> {
//! let frame: Dot154Frame = postcard::from_bytes(bytes)?;
//! let position = &frame.state.0[..2];
//! # Ok(())
//! # }
//! ```
//!
//! `postcard::from_bytes` accepts trailing bytes, other profiles and NaN. [`decode`] checks all three.
//!
//! The type parameters are the lists of numbers: [`Floats`] or [`Halves`]. Their defaults are the dimensions of the flocking
//! network (F = 6, K = 3, O = 2). Every field has a fixed length, so a frame type has exactly one length.
//! [`sealed`] has frames with encrypted content, [`control`] has frames that carry keys and proofs of identity,
//! [`poses`] those of a tracking system.

pub mod any;
pub mod control;
pub mod fixed;
pub mod header;
pub mod numbers;
pub mod poses;
pub mod profiles;
pub mod sealed;

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

use crate::error::FrameError;

pub use any::AnyFrame;
pub use control::{IdentityProofFrame, KeyUpdateFrame, Proof, Proofs};
pub use fixed::{Bytes, F16, U16Le, U24Le, U32Le};
pub use header::{CompactHeader, Esb32Header, ExactHeader};
pub use numbers::{Floats, Halves, NumberList};
pub use poses::{PoseFrame, PoseHeader, SealedPoseFrame};
pub use profiles::{Dot154Frame, Esb32Frame, EspNowFrame, ExactFrame, P2p57Frame};
pub use sealed::{
    SealedDot154Frame, SealedEsb32Frame, SealedEspNowFrame, SealedExactFrame, SealedFrame, SealedP2p57Frame,
};

/// Frame of one length with content that can be checked.
pub trait Frame: Serialize + MaxSize + Schema {
    /// Length in bytes.
    const BYTES: usize = Self::POSTCARD_MAX_SIZE;

    /// Checks everything that postcard does not: version, profile, counts and numbers.
    ///
    /// # Errors
    /// The first reason in the order of [`FrameError`].
    fn check(&self) -> Result<(), FrameError>;
}

/// Writes a frame to the start of `buffer`. Returns its length, or `None` if the buffer is too short.
#[must_use]
pub fn encode<F: Frame>(frame: &F, buffer: &mut [u8]) -> Option<usize> {
    postcard::to_slice(frame, buffer).ok().map(|bytes| bytes.len())
}

/// Reads a frame that fills `bytes` exactly, and checks it.
///
/// # Errors
/// [`FrameError::Truncated`], [`FrameError::Trailing`], or a reason from [`Frame::check`].
pub fn decode<'a, F: Frame + Deserialize<'a>>(bytes: &'a [u8]) -> Result<F, FrameError> {
    let (frame, rest) = postcard::take_from_bytes::<F>(bytes).map_err(|_| FrameError::Truncated)?;
    if !rest.is_empty() {
        return Err(FrameError::Trailing);
    }
    frame.check().map(|()| frame)
}
