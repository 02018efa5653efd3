//! Frames of all profiles in one enum, for listeners.

use postcard::experimental::max_size::MaxSize;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};

use super::{
    Dot154Frame, Esb32Frame, EspNowFrame, ExactFrame, Frame, KeyUpdateFrame, P2p57Frame, PoseFrame,
    SealedDot154Frame, SealedEsb32Frame, SealedEspNowFrame, SealedExactFrame, SealedP2p57Frame,
    SealedPoseFrame, decode, poses::POSE_BYTE, sealed,
};
use crate::{
    encoding::{Encoding, esb32::Esb32, exact::Exact, half::Dot154},
    error::FrameError,
    header::FrameId,
    security::{ccm::BlockCipher, key_update::KEY_UPDATE_BYTE, peer_auth::PROOF_MARK, pose_key},
};

/// Frame of any profile with the dimensions of the flocking network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema, MaxSize)]
#[allow(clippy::large_enum_variant, reason = "no heap")]
pub enum AnyFrame {
    /// Message in profile `exact`.
    Exact(ExactFrame),
    /// Message in profile `dot154`.
    Dot154(Dot154Frame),
    /// Message in profile `espnow`.
    EspNow(EspNowFrame),
    /// Message in profile `esb32`.
    Esb32(Esb32Frame),
    /// Message in profile `p2p57`.
    P2p57(P2p57Frame),
    /// Sealed message in profile `exact`.
    SealedExact(SealedExactFrame),
    /// Sealed message in profile `dot154`.
    SealedDot154(SealedDot154Frame),
    /// Sealed message in profile `espnow`.
    SealedEspNow(SealedEspNowFrame),
    /// Sealed message in profile `esb32`.
    SealedEsb32(SealedEsb32Frame),
    /// Sealed message in profile `p2p57`.
    SealedP2p57(SealedP2p57Frame),
    /// Next group key for one robot.
    KeyUpdate(KeyUpdateFrame),
    /// Next group key for one robot, with tags of four bytes (`esb32`).
    ShortKeyUpdate(KeyUpdateFrame<4>),
    /// Poses of robots from a tracking system.
    Poses(PoseFrame),
    /// Sealed poses of robots.
    SealedPoses(SealedPoseFrame),
    /// Proofs of the sender's identity. Their number varies, so the frame is not decoded further.
    IdentityProof {
        /// Address of the sender.
        sender: u16,
        /// Number of times the sender has started.
        boot: u32,
        /// Number of the frame, as far as the header has it.
        sequence: u32,
    },
}

const EXACT: u8 = 0x01;
const DOT154: u8 = 0x21;
const ESPNOW: u8 = 0x31;
const ESB32: u8 = 0x41;
const P2P57: u8 = 0x51;

impl AnyFrame {
    /// Reads a frame. The first byte gives the profile; the length tells sealed frames from open ones.
    ///
    /// # Errors
    /// As [`decode`]; [`FrameError::Profile`] for an unknown first byte.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        match *bytes.first().ok_or(FrameError::TooShort)? {
            EXACT => Self::by_length(bytes, Self::Exact, Self::SealedExact),
            DOT154 => Self::by_length(bytes, Self::Dot154, Self::SealedDot154),
            ESPNOW => Self::by_length(bytes, Self::EspNow, Self::SealedEspNow),
            ESB32 => Self::by_length(bytes, Self::Esb32, Self::SealedEsb32),
            P2P57 => Self::by_length(bytes, Self::P2p57, Self::SealedP2p57),
            KEY_UPDATE_BYTE => Self::by_length(bytes, Self::ShortKeyUpdate, Self::KeyUpdate),
            POSE_BYTE => Self::by_length(bytes, Self::Poses, Self::SealedPoses),
            first if first & PROOF_MARK != 0 => match first ^ PROOF_MARK {
                EXACT => Self::proof::<Exact>(bytes),
                DOT154 | ESPNOW | P2P57 => Self::proof::<Dot154>(bytes),
                ESB32 => Self::proof::<Esb32>(bytes),
                _ => Err(FrameError::Profile),
            },
            _ => Err(FrameError::Profile),
        }
    }

    /// Reads a frame of the shorter type if the length is its length, and of the longer type otherwise.
    fn by_length<'a, S, L>(
        bytes: &'a [u8], shorter: fn(S) -> Self, longer: fn(L) -> Self,
    ) -> Result<Self, FrameError>
    where
        S: Frame + Deserialize<'a>,
        L: Frame + Deserialize<'a>,
    {
        if bytes.len() == S::BYTES { decode(bytes).map(shorter) } else { decode(bytes).map(longer) }
    }

    fn proof<E: Encoding>(bytes: &[u8]) -> Result<Self, FrameError> {
        let FrameId { sender, boot, sequence } = E::read_header(bytes, 0).ok_or(FrameError::TooShort)?.id;
        Ok(Self::IdentityProof { sender, boot, sequence })
    }

    /// Decrypts a sealed frame in place and reads the frame inside. Key updates are not sealed and are returned as they are.
    ///
    /// # Errors
    /// As [`sealed::unseal`] and [`AnyFrame::decode`].
    pub fn open<B: BlockCipher>(
        cipher: &B, model: u32, now: u32, frame: &mut [u8],
    ) -> Result<Self, FrameError> {
        let first = *frame.first().ok_or(FrameError::TooShort)?;
        let inside = match if first == KEY_UPDATE_BYTE { KEY_UPDATE_BYTE } else { first & !PROOF_MARK } {
            KEY_UPDATE_BYTE => frame,
            POSE_BYTE => return pose_key::unseal(cipher, &decode(frame)?).map(Self::Poses),
            EXACT => sealed::unseal::<Exact, B, 8>(cipher, model, now, frame)?,
            DOT154 | ESPNOW | P2P57 => sealed::unseal::<Dot154, B, 8>(cipher, model, now, frame)?,
            ESB32 => sealed::unseal::<Esb32, B, 4>(cipher, model, now, frame)?,
            _ => return Err(FrameError::Profile),
        };
        Self::decode(inside)
    }
}
