//! Group key with key rotation and peer authentication, for up to `ROSTER_CAPACITY` robots.
//!
//! A robot with a personal key receives the swarm's next key in flight ([`super::key_update`]). A robot
//! with a roster of pair keys checks the identity of its peers ([`super::peer_auth`]). Without them,
//! the type behaves as [`GroupKey`].

use heapless::Vec;
use wdgnn_core::task::NodeId;

use super::{
    LinkSecurity, PeerEvent, PeerIdentity, SecurityState,
    ccm::{self, BlockCipher, Nonce},
    group_key::GroupKey,
    key::Key,
    key_ring::{KeyRing, SpareKey, StoredKeys},
    key_update::KEY_UPDATE_BYTE,
    peer_auth::{MAX_PROOFS_PER_FRAME, PROOF_MARK, PeerAuth},
};
use crate::{
    encoding::Encoding,
    error::FrameError,
    header::{FrameId, Header},
};

/// Number of robots in a swarm whose key can change in flight.
///
/// Each robot keeps the key updates of all others, 36 bytes each.
pub const ROSTER_CAPACITY: usize = 64;

/// Messages between two frames with proofs, where an exchange has one frame.
const MESSAGES_BETWEEN: u32 = 1;

/// Group key that changes in flight, and proofs of identity.
pub struct ManagedKeys<B, const TAG: usize, const ROSTER_CAPACITY: usize> {
    group: GroupKey<B, TAG>,
    ring: Option<KeyRing<ROSTER_CAPACITY>>,
    peers: Option<PeerAuth<ROSTER_CAPACITY>>,
    own: NodeId,
}

impl<B, const TAG: usize, const ROSTER_CAPACITY: usize> core::fmt::Debug
    for ManagedKeys<B, TAG, ROSTER_CAPACITY>
{
    /// Omits the keys.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("ManagedKeys").field("group", &self.group).finish_non_exhaustive()
    }
}

impl<B: BlockCipher, const TAG: usize, const ROSTER_CAPACITY: usize> ManagedKeys<B, TAG, ROSTER_CAPACITY> {
    /// Keys of a robot with neither rotation nor peer authentication.
    pub const fn new(group: GroupKey<B, TAG>) -> Self {
        Self { group, ring: None, peers: None, own: 0 }
    }

    /// Adds key rotation: the image has the swarm's key of `epoch`, and `personal` decrypts the next.
    #[inline(never)] // returns its stack before the flight
    pub fn set_key_rotation(&mut self, own: NodeId, personal: &Key, epoch: u8, key: &Key) {
        self.own = own;
        self.ring = Some(KeyRing::new::<B>(own, personal, epoch, key));
    }

    /// Adds peer authentication with the pair keys of all robots, by address.
    ///
    /// A robot whose identity is not proved is only an obstacle. An empty roster changes nothing.
    #[inline(never)]
    pub fn set_peer_keys(&mut self, own: NodeId, personal: &Key, roster: &'static [Key]) {
        if !roster.is_empty() {
            self.own = own;
            self.peers = Some(PeerAuth::new(personal, roster));
        }
    }

    /// Whether a frame contains identity proofs.
    fn has_proofs(frame: &[u8]) -> bool {
        frame.first().is_some_and(|first| *first & PROOF_MARK != 0)
    }

    /// Reads a key update; every other frame is `Ok`.
    fn read_key_update(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        let Some(ring) = self.ring.as_mut().filter(|_| frame.first() == Some(&KEY_UPDATE_BYTE)) else {
            return Ok(());
        };
        Err(ring.receive_update(&self.group.cipher, TAG, frame))
    }

    /// Decrypts with the key in use or, around a change, with the next or the previous key.
    fn unlock(
        cipher: &B, ring: Option<&mut KeyRing<ROSTER_CAPACITY>>, sender: NodeId, nonce: &Nonce,
        associated: [&[u8]; 2], content: &mut [u8], tag: &[u8],
    ) -> bool {
        let Some(ring) = ring else { return ccm::open(cipher, nonce, associated, content, tag) };
        if ccm::try_open(cipher, nonce, associated, content, tag) {
            return true;
        }
        if let Some((key, spare)) = ring.spare() {
            let cipher = B::with_key(&key);
            if spare == SpareKey::Expired {
                if ccm::verify(&cipher, nonce, associated, content, tag) {
                    ring.late = Some(sender);
                }
            } else if ccm::try_open(&cipher, nonce, associated, content, tag) {
                ring.heard_next |= spare == SpareKey::Next;
                return true;
            }
        }
        content.fill(0);
        false
    }
}

impl<B: BlockCipher, const TAG: usize, const ROSTER_CAPACITY: usize> SecurityState
    for ManagedKeys<B, TAG, ROSTER_CAPACITY>
{
    fn begin_tick(&mut self, now: u32) {
        if let Some(key) = self.ring.as_mut().and_then(|ring| ring.begin(now)) {
            self.group.cipher = B::with_key(&key);
        }
    }

    fn set_swarm_size(&mut self, robots: NodeId) {
        self.group.set_swarm_size(robots);
    }

    fn requires_proof(&self) -> bool {
        self.peers.is_some()
    }

    fn peer_identity(&self, sender: NodeId, now: u32) -> PeerIdentity {
        match &self.peers {
            None => PeerIdentity::NotRequired,
            Some(peers) if peers.is_proven(sender, now) => PeerIdentity::Proven,
            Some(_) => PeerIdentity::Unproven,
        }
    }

    fn unanswered_challenges(&self, sender: NodeId) -> u8 {
        self.peers.as_ref().map_or(0, |peers| peers.unanswered_challenges(sender))
    }

    fn report_peer_event(&mut self, sender: NodeId, event: PeerEvent, now: u32) {
        let Some(peers) = &mut self.peers else { return };
        if event == PeerEvent::Contradicted && peers.is_proven(sender, now) {
            self.group.replay.put_back(sender, peers.before(sender));
        } else {
            peers.report(sender, event);
        }
    }

    fn key_epoch(&self) -> u8 {
        self.ring.as_ref().map_or(0, KeyRing::epoch)
    }

    fn stored_keys(&self) -> Option<StoredKeys> {
        self.ring.as_ref().map(KeyRing::to_stored)
    }

    fn restore_keys(&mut self, keys: &StoredKeys) {
        if let Some(key) = self.ring.as_mut().and_then(|ring| ring.restore(keys)) {
            self.group.cipher = B::with_key(&key);
        }
    }

    fn has_unsaved_keys(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| ring.unsaved)
    }

    fn mark_keys_saved(&mut self) {
        if let Some(ring) = &mut self.ring {
            ring.unsaved = false;
        }
    }
}

impl<B: BlockCipher, const TAG: usize, const ROSTER_CAPACITY: usize> LinkSecurity
    for ManagedKeys<B, TAG, ROSTER_CAPACITY>
{
    const TAG_LEN: usize = TAG;
    const IS_SEALED: bool = true;
    const AUTHENTICATES_PEERS: bool = true;

    fn write_key_update(&mut self, round: u32, buffer: &mut [u8]) -> Option<usize> {
        let Self { group, ring, .. } = self;
        ring.as_mut()?.relay::<B>(round, TAG, |sender| group.replay.knows(sender), buffer)
    }

    fn choose_peers(
        &mut self, id: &FrameId, now: u32, round: u32, is_only_frame: bool, max: usize,
    ) -> Vec<u8, MAX_PROOFS_PER_FRAME> {
        match &mut self.peers {
            Some(peers) if !is_only_frame || peers.has_paused(round, MESSAGES_BETWEEN) => {
                peers.choose(id.sender, round, now, max)
            }
            _ => Vec::new(),
        }
    }

    fn write_proofs(&self, id: &FrameId, state: &[u8], peers: &[u8], proofs: &mut [u8]) {
        if let Some(auth) = &self.peers {
            auth.write::<B>(id, state, peers, proofs);
        }
    }

    fn check_proofs(
        &mut self, id: &FrameId, frames: u32, state: &[u8], proofs: &[u8], now: u32,
    ) -> Result<bool, FrameError> {
        let Self { peers, group, own, .. } = self;
        let is_proof =
            peers.as_mut().map_or(Ok(false), |peers| peers.read::<B>(*own, id, state, proofs, now))?;
        // A frame that is not newer than the sender's last one needs a proof.
        if !is_proof && group.replay.is_impossible(id, frames, now) {
            return Err(FrameError::Replayed);
        }
        Ok(is_proof)
    }

    #[inline]
    fn seal<E: Encoding>(&self, model: u32, id: &FrameId, length: usize, buffer: &mut [u8]) -> Option<usize> {
        self.group.seal::<E>(model, id, length, buffer)
    }

    fn open<'f, E: Encoding>(
        &mut self, model: u32, now: u32, frame: &'f mut [u8], max_len: usize,
    ) -> Result<(Header, &'f mut [u8]), FrameError> {
        self.read_key_update(frame)?;
        let header = E::read_header(frame, now).ok_or(FrameError::TooShort)?;
        let id = &header.id;
        match self.group.replay.check(id, E::FRAMES_PER_EXCHANGE, now) {
            // A member may have used the sender's address; the owner alone can prove its identity.
            Err(FrameError::Replayed)
                if Self::has_proofs(frame)
                    && self
                        .peers
                        .as_ref()
                        .is_some_and(|peers| peers.is_newer(id, E::FRAMES_PER_EXCHANGE, now)) => {}
            fresh => fresh?,
        }
        let Self { group, ring, .. } = self;
        let inside = GroupKey::<B, TAG>::decrypt::<E>(
            &header,
            model,
            frame,
            max_len,
            |nonce, clear, content, tag| {
                Self::unlock(&group.cipher, ring.as_mut(), id.sender, nonce, clear, content, tag)
            },
        )?;
        Ok((header, inside))
    }

    fn record_frame(&mut self, id: &FrameId, now: u32) {
        if let Some(peers) = &mut self.peers {
            peers.hear(id.sender, now, self.group.replay.last(id.sender));
        }
        self.group.replay.remember(id, now);
    }

    fn authenticate_late_frame<E: Encoding>(
        &mut self, model: u32, now: u32, since: u32, frame: &[u8],
    ) -> Option<FrameId> {
        let Self { group, ring, .. } = self;
        group.authenticate_with::<E>(model, now, since, frame, |header, nonce, clear, content, tag| {
            let by = |cipher: &B| ccm::verify(cipher, nonce, clear, content, tag);
            if by(&group.cipher) {
                return true;
            }
            let Some(ring) = ring else { return false };
            let spare = ring.spare().filter(|(key, _)| by(&B::with_key(key)));
            if let Some((_, SpareKey::Expired)) = spare {
                ring.late = Some(header.id.sender);
            }
            spare.is_some_and(|(_, spare)| spare != SpareKey::Expired)
        })
    }
}
