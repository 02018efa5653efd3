//! Sealed frames: header in clear text, encrypted content, tag.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    Frame,
    fixed::Bytes,
    header::{CompactHeader, Esb32Header, ExactHeader, FrameHeader},
};
use crate::{
    error::FrameError,
    header::FrameId,
    security::ccm::{self, BlockCipher, Nonce},
};

/// Sealed frame with `N` bytes of encrypted content and a tag of `TAG` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SealedFrame<H, const N: usize, const TAG: usize = 8> {
    /// Header in clear text.
    pub header: H,
    /// Encrypted content.
    pub ciphertext: Bytes<N>,
    /// Tag of model, header and content.
    pub tag: Bytes<TAG>,
}

/// Sealed message in profile `exact`.
pub type SealedExactFrame = SealedFrame<ExactHeader, 280>;
/// Sealed message in profile `dot154`.
pub type SealedDot154Frame = SealedFrame<CompactHeader, 76>;
/// Sealed message in profile `espnow`.
pub type SealedEspNowFrame = SealedFrame<CompactHeader, 148>;
/// Sealed message in profile `p2p57`.
pub type SealedP2p57Frame = SealedFrame<CompactHeader, 32>;
/// Sealed message in profile `esb32`.
pub type SealedEsb32Frame = SealedFrame<Esb32Header, 20, 4>;

impl<H, const N: usize, const TAG: usize> Frame for SealedFrame<H, N, TAG>
where
    H: FrameHeader + Serialize + Schema,
{
    /// The tag is all there is to check, and it needs the key.
    fn check(&self) -> Result<(), FrameError> {
        Ok(())
    }
}

/// Decrypts a sealed frame in place and returns the frame inside: header and content without the tag.
///
/// `now` is the tick of the receiver and `model` is its model. They complete headers that do not have all of it (`esb32`).
/// The caller has to check that the frame is new: a recorded frame opens as often as it is replayed.
///
/// # Errors
/// [`FrameError::TooShort`] without room for header and tag; [`FrameError::Forged`] for a wrong key or an altered frame.
pub fn open<'f, H: FrameHeader, B: BlockCipher, const TAG: usize>(
    cipher: &B,
    model: u32,
    now: u32,
    frame: &'f mut [u8],
) -> Result<&'f mut [u8], FrameError> {
    let (header, _) = postcard::take_from_bytes::<H>(frame).map_err(|_| FrameError::TooShort)?;
    let inside = frame.len().checked_sub(TAG).ok_or(FrameError::TooShort)?;
    let (open, tag) = frame.split_at_mut_checked(inside).ok_or(FrameError::TooShort)?;
    let (clear, content) = open.split_at_mut_checked(H::BYTES).ok_or(FrameError::TooShort)?;
    let model = header.model().unwrap_or(model).to_le_bytes();
    if !ccm::open(cipher, &nonce(&header.identity(now)), [&model, clear], content, tag) {
        return Err(FrameError::Forged);
    }
    Ok(open)
}

/// Nonce of a sealed frame.
fn nonce(identity: &FrameId) -> Nonce {
    let [i0, i1] = identity.sender.to_le_bytes();
    let [b0, b1, b2, b3] = identity.boot.to_le_bytes();
    let [s0, s1, s2, s3] = identity.sequence.to_le_bytes();
    [i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, 0, 0, 0]
}
