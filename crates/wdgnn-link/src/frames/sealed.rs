//! Sealed frames: header in clear text, encrypted content, tag.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    Frame,
    fixed::Bytes,
    header::{CompactHeader, Esb32Header, ExactHeader},
};
use crate::{
    encoding::Encoding,
    error::FrameError,
    security::{
        ccm::{self, BlockCipher},
        group_key::{GroupKey, MAX_SEALED},
    },
};

/// Sealed frame with `N` bytes of encrypted content and a tag of `TAG` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema, MaxSize)]
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
    H: Serialize + MaxSize + Schema,
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
pub fn unseal<'f, E: Encoding, B: BlockCipher, const TAG: usize>(
    cipher: &B, model: u32, now: u32, frame: &'f mut [u8],
) -> Result<&'f mut [u8], FrameError> {
    let header = E::read_header(frame, now).ok_or(FrameError::TooShort)?;
    GroupKey::<B, TAG>::decrypt::<E>(&header, model, frame, MAX_SEALED, |nonce, clear, content, tag| {
        ccm::open(cipher, nonce, clear, content, tag)
    })
}
