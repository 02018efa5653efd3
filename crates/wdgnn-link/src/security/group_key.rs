//! Authenticated encryption of any profile: AES-128 in CCM mode with one key per swarm.
//!
//! The header of a frame is authenticated, its content is also encrypted, and a tag follows. Without
//! the key, an attacker can neither make nor change an accepted frame. The key authenticates
//! membership, not identity: a member can impersonate any other. [`super::managed_keys`] adds
//! identities; plausibility checks and robust averaging in `wdgnn-robot` limit what a member can do.
//!
//! **Freshness.** A sequence number contains the swarm's time, and no time occurs twice under one key.
//! A receiver rejects frames that are older than [`MAX_FRAME_AGE_TICKS`](super::replay::MAX_FRAME_AGE_TICKS), more than
//! [`MAX_FRAME_LEAD_TICKS`](super::replay::MAX_FRAME_LEAD_TICKS) in the future, not newer than the last frame of their
//! sender, or older than the receiver's start. The boot count is part of the nonce (sender ‖ boot ‖
//! sequence ‖ 0) and does not order frames. So neither a large boot count nor a lost one silences a
//! robot, and a frame in its name silences it for no longer than the guard time.

use wdgnn_core::task::NodeId;

use super::{
    LinkSecurity, SecurityState,
    ccm::{self, BlockCipher, Nonce},
    replay::ReplayWindow,
};
#[cfg(feature = "aes")]
use super::{aes::Aes, key::Key};
use crate::{
    encoding::Encoding,
    error::FrameError,
    header::{FrameId, Header},
};

/// Longest frame with tag that is opened, unless the robot's own frames are longer.
///
/// It is twice the longest radio frame for which there is a profile.
pub(super) const MAX_OPENED: usize = 512;

/// Longest frame with tag that can be sealed. The `exact` frame of robots in space has 594 bytes.
pub(crate) const MAX_SEALED: usize = 640;

/// Group key with the block cipher `B` and tags of `TAG` bytes.
pub struct GroupKey<B, const TAG: usize> {
    pub(super) cipher: B,
    pub(super) replay: ReplayWindow,
}

impl<B, const TAG: usize> core::fmt::Debug for GroupKey<B, TAG> {
    /// Omits the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("GroupKey").field("senders", &self.replay.count()).finish_non_exhaustive()
    }
}

#[cfg(feature = "aes")]
impl<const TAG: usize> GroupKey<Aes, TAG> {
    /// Security by a swarm's key, with AES in software.
    pub fn new(key: &Key) -> Self {
        Self::with_cipher(Aes::new(key))
    }
}

/// Header, content and tag of a sealed frame.
type Sections<'a> = (&'a mut [u8], &'a mut [u8], &'a mut [u8]);

/// Nonce of a frame.
pub(super) fn nonce(id: &FrameId) -> Nonce {
    let [i0, i1] = id.sender.to_le_bytes();
    let [b0, b1, b2, b3] = id.boot.to_le_bytes();
    let [s0, s1, s2, s3] = id.sequence.to_le_bytes();
    [i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, 0, 0, 0]
}

/// Checksum that is authenticated together with the header: that of the sender's weight file.
///
/// Headers without a checksum (`esb32`) are authenticated with the receiver's checksum.
pub(super) fn associated_model(header: &Header, model: u32) -> [u8; 4] {
    header.model.unwrap_or(model).to_le_bytes()
}

impl<B: BlockCipher, const TAG: usize> GroupKey<B, TAG> {
    /// Security by a block cipher that has the swarm's key.
    pub const fn with_cipher(cipher: B) -> Self {
        const { assert!(TAG == 4 || TAG == 8, "tags have 4 or 8 bytes") };
        Self { cipher, replay: ReplayWindow::new() }
    }

    fn sections<E: Encoding>(frame: &mut [u8]) -> Option<Sections<'_>> {
        let (header, rest) = frame.split_at_mut_checked(E::HEADER_LEN)?;
        let (content, tag) = rest.len().checked_sub(TAG).and_then(|at| rest.split_at_mut_checked(at))?;
        Some((header, content, tag))
    }

    /// Decrypts a frame in place with `unlock`. Returns the frame without its tag.
    #[inline(never)] // returns its stack before the content is read
    pub(crate) fn decrypt<'f, E: Encoding>(
        header: &Header, model: u32, frame: &'f mut [u8], max_len: usize,
        unlock: impl FnOnce(&Nonce, [&[u8]; 2], &mut [u8], &[u8]) -> bool,
    ) -> Result<&'f mut [u8], FrameError> {
        if frame.len() > max_len.max(MAX_OPENED) {
            return Err(FrameError::Trailing);
        }
        let model = associated_model(header, model);
        let (clear, content, tag) = Self::sections::<E>(frame).ok_or(FrameError::TooShort)?;
        let inside = clear.len() + content.len();
        if !unlock(&nonce(&header.id), [&model, clear], content, tag) {
            return Err(FrameError::Forged);
        }
        frame.get_mut(..inside).ok_or(FrameError::TooShort)
    }

    /// Authenticates a frame whenever it was sent, with `verify`.
    pub(super) fn authenticate_with<E: Encoding>(
        &self, model: u32, now: u32, since: u32, frame: &[u8],
        verify: impl FnOnce(&Header, &Nonce, [&[u8]; 2], &[u8], &[u8]) -> bool,
    ) -> Option<FrameId> {
        let header = E::read_header(frame, now)?;
        let id = header.id;
        let too_old = id.sequence / E::FRAMES_PER_EXCHANGE < since;
        if too_old || frame.len() > MAX_SEALED || self.replay.is_impossible(&id, E::FRAMES_PER_EXCHANGE, now)
        {
            return None;
        }
        let model = associated_model(&header, model);
        let (clear, rest) = frame.split_at_checked(E::HEADER_LEN)?;
        let (content, tag) = rest.len().checked_sub(TAG).and_then(|at| rest.split_at_checked(at))?;
        verify(&header, &nonce(&id), [&model, clear], content, tag).then_some(id)
    }
}

impl<B, const TAG: usize> SecurityState for GroupKey<B, TAG> {
    fn set_swarm_size(&mut self, robots: NodeId) {
        self.replay.robots = (robots > 0).then_some(robots);
    }
}

impl<B: BlockCipher, const TAG: usize> LinkSecurity for GroupKey<B, TAG> {
    const TAG_LEN: usize = TAG;
    const IS_SEALED: bool = true;

    /// `None` also for a frame that is too long to be read, and for the last sequence number and boot count.
    #[inline]
    fn seal<E: Encoding>(&self, model: u32, id: &FrameId, length: usize, buffer: &mut [u8]) -> Option<usize> {
        // Counters stop at their last value, which may therefore occur twice.
        if id.sequence == u32::MAX || id.boot == u32::MAX || length + TAG > MAX_SEALED {
            return None;
        }
        let (header, content, tag) = Self::sections::<E>(buffer.get_mut(..length + TAG)?)?;
        ccm::seal(&self.cipher, &nonce(id), [&model.to_le_bytes(), header], content, tag)?;
        Some(length + TAG)
    }

    fn open<'f, E: Encoding>(
        &mut self, model: u32, now: u32, frame: &'f mut [u8], max_len: usize,
    ) -> Result<(Header, &'f mut [u8]), FrameError> {
        let header = E::read_header(frame, now).ok_or(FrameError::TooShort)?;
        self.replay.check(&header.id, E::FRAMES_PER_EXCHANGE, now)?;
        let inside = Self::decrypt::<E>(&header, model, frame, max_len, |nonce, clear, content, tag| {
            ccm::open(&self.cipher, nonce, clear, content, tag)
        })?;
        Ok((header, inside))
    }

    fn record_frame(&mut self, id: &FrameId, now: u32) {
        self.replay.remember(id, now);
    }

    fn authenticate_late_frame<E: Encoding>(
        &mut self, model: u32, now: u32, since: u32, frame: &[u8],
    ) -> Option<FrameId> {
        self.authenticate_with::<E>(model, now, since, frame, |_, nonce, clear, content, tag| {
            ccm::verify(&self.cipher, nonce, clear, content, tag)
        })
    }
}
