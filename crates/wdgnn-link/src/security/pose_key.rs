//! Authenticated pose frames ([`crate::frames::poses`]).
//!
//! Pose frames are sealed with the group key: AES-128-CCM with a tag of eight bytes. The nonce has the first byte of
//! the frame behind sender, boot count and sequence, so that it differs from the nonce of a message.

use super::{
    ccm::{self, BlockCipher, Nonce},
    group_key,
    replay::{MAX_FRAME_AGE_TICKS, MAX_FRAME_LEAD_TICKS},
};
use crate::{
    error::FrameError,
    frames::{
        Bytes, Frame as _, decode, encode,
        poses::{POSE_BYTE, PoseFrame, PoseHeader, SealedPoseFrame},
    },
    header::FrameId,
};

/// Length of the header in clear text.
const HEADER_LEN: usize = 14;

/// Sealed pose frames with the group key of a swarm.
pub struct PoseKey<B> {
    cipher: B,
    /// Frames of earlier ticks are recordings.
    since: u32,
    /// First tick of acceptable poses.
    next: u32,
}

impl<B> core::fmt::Debug for PoseKey<B> {
    /// Omits the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("PoseKey").field("since", &self.since).finish_non_exhaustive()
    }
}

fn nonce(id: &FrameId) -> Nonce {
    let mut nonce = group_key::nonce(id);
    nonce[10] = POSE_BYTE;
    nonce
}

fn header(frame: &[u8]) -> Option<PoseHeader> {
    let whole = frame.len() == SealedPoseFrame::BYTES && frame.first() == Some(&POSE_BYTE);
    postcard::from_bytes(frame.get(..HEADER_LEN).filter(|_| whole)?).ok()
}

/// Decrypts a frame. A recording opens as often as it is replayed.
///
/// # Errors
/// [`FrameError::Forged`] for a wrong key or an altered frame.
pub fn unseal(cipher: &impl BlockCipher, sealed: &SealedPoseFrame) -> Result<PoseFrame, FrameError> {
    let mut inside = [0; PoseFrame::BYTES];
    let (clear, content) = inside.split_at_mut(HEADER_LEN);
    postcard::to_slice(&sealed.header, clear).map_err(|_| FrameError::TooShort)?;
    content.copy_from_slice(&sealed.ciphertext.0);
    let Bytes(tag) = sealed.tag;
    if !ccm::open(cipher, &nonce(&sealed.header.id()), [clear, &[]], content, &tag) {
        return Err(FrameError::Forged);
    }
    decode(&inside)
}

impl<B: BlockCipher> PoseKey<B> {
    /// Security by a block cipher that has the swarm's key. Frames of ticks before `since` are recordings.
    pub const fn new(cipher: B, since: u32) -> Self {
        Self { cipher, since, next: 0 }
    }

    /// Sets the tick before which frames are recordings.
    pub fn set_since(&mut self, tick: u32) {
        self.since = tick;
    }

    /// Writes a sealed frame to the start of `buffer` and returns its length.
    ///
    /// `None` if the buffer is too short, and for the last sequence and boot count.
    pub fn seal(&self, frame: &PoseFrame, buffer: &mut [u8]) -> Option<usize> {
        let id = frame.header.id();
        if id.sequence == u32::MAX || id.boot == u32::MAX {
            return None;
        }
        let length = encode(frame, buffer)?;
        let (front, tag) = buffer.get_mut(..SealedPoseFrame::BYTES)?.split_at_mut_checked(length)?;
        let (clear, content) = front.split_at_mut_checked(HEADER_LEN)?;
        ccm::seal(&self.cipher, &nonce(&id), [clear, &[]], content, tag)?;
        Some(SealedPoseFrame::BYTES)
    }

    /// Opens a frame of this tick or of the ticks next to it. Poses must be newer than the last accepted ones.
    ///
    /// # Errors
    /// The reason of the rejection.
    pub fn open(&mut self, now: u32, frame: &[u8]) -> Result<PoseFrame, FrameError> {
        let sealed: SealedPoseFrame = decode(frame)?;
        let sequence = header(frame).ok_or(FrameError::Profile)?.sequence.get();
        let latest = now.saturating_add(MAX_FRAME_LEAD_TICKS);
        if sequence < self.since.max(now.saturating_sub(MAX_FRAME_AGE_TICKS)) || sequence > latest {
            return Err(FrameError::OutOfWindow);
        }
        let frame = unseal(&self.cipher, &sealed)?;
        if frame.poses().next().is_some() {
            // After the swarm's time went back, the last poses are from the future.
            if sequence < self.next && self.next <= latest.saturating_add(1) {
                return Err(FrameError::Replayed);
            }
            self.next = sequence.saturating_add(1);
        }
        Ok(frame)
    }

    /// Authenticates a frame whenever it was sent, except a recording: its sender has another clock.
    pub fn authenticate(&self, frame: &[u8]) -> Option<FrameId> {
        let id = header(frame)?.id();
        let (clear, rest) = frame.split_at_checked(HEADER_LEN)?;
        let (content, tag) = rest.split_at_checked(PoseFrame::BYTES - HEADER_LEN)?;
        let verified = ccm::verify(&self.cipher, &nonce(&id), [clear, &[]], content, tag);
        (verified && id.sequence >= self.since).then_some(id)
    }
}
