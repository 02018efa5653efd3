//! Security of a link: authenticated encryption, replay window, key rotation and peer authentication.
//!
//! | type | protects from | needs |
//! |---|---|---|
//! | [`Open`] | nothing | nothing |
//! | [`GroupKey`](group_key::GroupKey) | outsiders | one key per swarm |
//! | [`ManagedKeys`](managed_keys::ManagedKeys) | outsiders, stolen robots, impersonation by members | a personal key per robot |

use heapless::Vec;
use wdgnn_core::task::NodeId;

use crate::{
    encoding::Encoding,
    error::FrameError,
    header::{FrameId, Header},
};
use key_ring::StoredKeys;
use peer_auth::MAX_PROOFS_PER_FRAME;

#[cfg(feature = "aes")]
pub mod aes;
pub mod ccm;
pub mod group_key;
pub mod key;
pub mod key_ring;
pub mod key_update;
pub mod managed_keys;
pub mod peer_auth;
pub mod pose_key;
pub mod replay;

/// Whether a sender's address is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerIdentity {
    /// The link does not authenticate peers.
    NotRequired,
    /// The sender has not proved its identity, or the proof has expired.
    Unproven,
    /// The sender has proved its identity.
    Proven,
}

/// Event that a robot reports about a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerEvent {
    /// The last frame contradicts earlier frames of the peer.
    Contradicted,
    /// The peer was out of reach: another robot may use its address now.
    Returned,
}

/// State of a link's security that does not depend on the profile: identities and keys.
///
/// The defaults are those of a link without identities and with a constant key.
pub trait SecurityState {
    /// Begins a tick.
    fn begin_tick(&mut self, _now: u32) {}

    /// Sets the number of robots: senders with higher addresses are rejected. 0 accepts all.
    fn set_swarm_size(&mut self, _robots: NodeId) {}

    /// Whether peers must prove their identity.
    fn requires_proof(&self) -> bool {
        false
    }

    /// Identity of a sender at tick `now`.
    fn peer_identity(&self, _sender: NodeId, _now: u32) -> PeerIdentity {
        PeerIdentity::NotRequired
    }

    /// Number of challenges that a sender has not answered.
    fn unanswered_challenges(&self, _sender: NodeId) -> u8 {
        0
    }

    /// Takes note of an event.
    fn report_peer_event(&mut self, _sender: NodeId, _event: PeerEvent, _now: u32) {}

    /// Number of the key in use; 0 is the first.
    fn key_epoch(&self) -> u8 {
        0
    }

    /// Keys to store over a restart; `None` if keys do not change.
    fn stored_keys(&self) -> Option<StoredKeys> {
        None
    }

    /// Restores stored keys.
    fn restore_keys(&mut self, _keys: &StoredKeys) {}

    /// Whether keys have changed since they were stored.
    fn has_unsaved_keys(&self) -> bool {
        false
    }

    /// Takes note that the keys were stored.
    fn mark_keys_saved(&mut self) {}
}

/// Protection of the frames of a link.
pub trait LinkSecurity: SecurityState {
    /// Bytes that sealing adds to a frame.
    const TAG_LEN: usize;
    /// Whether frames are authenticated.
    const IS_SEALED: bool;
    /// Whether frames with identity proofs are read.
    const AUTHENTICATES_PEERS: bool = false;

    /// Writes a key update for another robot. Returns its length; `None` without a pending update.
    fn write_key_update(&mut self, _round: u32, _buffer: &mut [u8]) -> Option<usize> {
        None
    }

    /// Chooses up to `max` peers. The next frame proves this robot's identity to them.
    ///
    /// `is_only_frame` tells that the proofs would replace the message of this exchange.
    fn choose_peers(
        &mut self, _id: &FrameId, _now: u32, _round: u32, _is_only_frame: bool, _max: usize,
    ) -> Vec<u8, MAX_PROOFS_PER_FRAME> {
        Vec::new()
    }

    /// Writes proofs for the chosen peers.
    fn write_proofs(&self, _id: &FrameId, _state: &[u8], _peers: &[u8], _proofs: &mut [u8]) {}

    /// Checks the proofs of a frame. Returns whether one of them proves the sender's identity to this robot.
    ///
    /// # Errors
    /// [`FrameError::Forged`]; [`FrameError::Replayed`] without a proof for this robot.
    fn check_proofs(
        &mut self, _id: &FrameId, _frames: u32, _state: &[u8], _proofs: &[u8], _now: u32,
    ) -> Result<bool, FrameError> {
        Ok(false)
    }

    /// Seals a frame of `length` bytes at the start of `buffer`. Returns the length of the sealed frame.
    fn seal<E: Encoding>(&self, model: u32, id: &FrameId, length: usize, buffer: &mut [u8]) -> Option<usize>;

    /// Opens a new frame in place. Returns its header and the frame without its tag.
    ///
    /// # Errors
    /// The reason of the rejection; [`FrameError::KeyUpdate`] for a valid key update.
    fn open<'f, E: Encoding>(
        &mut self, model: u32, now: u32, frame: &'f mut [u8], max_len: usize,
    ) -> Result<(Header, &'f mut [u8]), FrameError>;

    /// Takes note of a valid frame. Frames of its sender with lower numbers are rejected from now on.
    fn record_frame(&mut self, _id: &FrameId, _now: u32) {}

    /// Authenticates a frame that was rejected because of its time. Returns its sender and number.
    ///
    /// Frames of ticks before `since` may be recordings and return `None`.
    fn authenticate_late_frame<E: Encoding>(
        &mut self, model: u32, now: u32, since: u32, frame: &[u8],
    ) -> Option<FrameId>;
}

/// No security: every frame in the right format is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open;

impl SecurityState for Open {}

impl LinkSecurity for Open {
    const TAG_LEN: usize = 0;
    const IS_SEALED: bool = false;

    #[inline]
    fn seal<E: Encoding>(&self, _: u32, _: &FrameId, length: usize, _: &mut [u8]) -> Option<usize> {
        Some(length)
    }

    #[inline]
    fn open<'f, E: Encoding>(
        &mut self, _: u32, now: u32, frame: &'f mut [u8], _: usize,
    ) -> Result<(Header, &'f mut [u8]), FrameError> {
        Ok((E::read_header(frame, now).ok_or(FrameError::TooShort)?, frame))
    }

    fn authenticate_late_frame<E: Encoding>(
        &mut self, _: u32, now: u32, _: u32, frame: &[u8],
    ) -> Option<FrameId> {
        E::read_header(frame, now).map(|header| header.id)
    }
}
