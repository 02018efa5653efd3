//! Authentication: AES-128 in CCM mode around any profile, with one key per swarm.
//!
//! What a frame says about itself (its header) is authenticated, what it carries is encrypted too, and a tag follows. Nobody
//! without the key can make a frame that is accepted, change one, or tell a wrong key from another swarm. A group key does not stop
//! an insider: plausibility (`Behavior::probation`) and clipped agreement (`Learning::clip`) limit what one can do.
//!
//! **Freshness is by time.** A frame's sequence tells the swarm's time, which never comes twice under one key
//! (`Node::first_tick`). A receiver refuses what is older than [`LATE_TICKS`](super::replay::LATE_TICKS), what is more than
//! [`GUARD_TICKS`](super::replay::GUARD_TICKS) from the future, what is no newer than the last frame of that name, and what was sent before it began to listen.
//! The boot count is there for the nonce (sender ‖ boot ‖ sequence ‖ 0) and for nothing else: who was started how often orders
//! nothing, so nobody is silenced by a large count in its name, for longer than the guard by any frame in its name, or because it
//! lost its own count.
//!
//! **Keys change.** A robot with a personal key ([`SealedWith::rekeyed`]) takes the swarm's next one from its operator in flight
//! ([`crate::security::key_update`]).
//!
//! **Names are proven** between pairs of robots, where the operator has told them the keys for that ([`SealedWith::knowing`],
//! [`crate::security::peer_auth`]).
//!
//! **Names.** Where the swarm's number of robots is known ([`Codec::among`]), nobody beyond it is heard. A sender must be
//! remembered only until whatever was accepted of it is too late to be accepted again: then it makes room for another.

#[cfg(feature = "aes")]
use crate::{encoding::esb32::Esb32, security::aes::Aes};
use crate::{
    encoding::{Codec, halves},
    error::FrameError,
    header::{Identity, Link, Payload, Profile},
    security::{
        ccm::{self, BlockCipher, Nonce},
        key::Key,
        key_ring::{Brought, Epochs, Kept, Spare},
        key_update::KIND,
        peer_auth::{MARK, Names, PROOF_BYTES, Said},
        replay::Senders,
    },
};
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::{NodeId, State},
    tensor::{Array as _, Tensor},
};

/// A frame longer than this, tag included, is not looked into, unless one's own are longer: the largest radio frame there is a
/// profile for, twice over.
const LONGEST: usize = 512;

/// The longest frame that can be sealed, tag included: the `exact` frame of robots in space has 594 bytes.
const ROOM: usize = 640;

/// A profile with a tag of 8 bytes, by AES in software.
#[cfg(feature = "aes")]
pub type Sealed<C> = SealedWith<C, Aes, 8>;

/// The nRF24's profile with a tag of 4 bytes, which is all that fits.
#[cfg(feature = "aes")]
pub type SealedEsb32 = SealedWith<Esb32, Aes, 4>;

/// Where an exchange has one frame, so many beacons are between two frames with proofs, at least; where it has more, the first one is a beacon's.
const BEACONS_BETWEEN: u32 = 1;

/// A swarm of so many robots can change its key in flight: each of them keeps the frames that bring it to the others, 36 bytes each.
pub const ROSTER: usize = 64;

/// [`Sealed`] with keys that can change in flight.
#[cfg(feature = "aes")]
pub type Rekeyable<C> = SealedWith<C, Aes, 8, ROSTER>;

/// [`SealedEsb32`] likewise.
#[cfg(feature = "aes")]
pub type RekeyableEsb32 = SealedWith<Esb32, Aes, 4, ROSTER>;

/// Any profile, authenticated by the block cipher `B` with a tag of `TAG` bytes, with room for the next keys of `ROSTER` robots.
pub struct SealedWith<C, B, const TAG: usize, const ROSTER: usize = 0> {
    inner: C,
    cipher: B,
    senders: Senders,
    /// Where keys change.
    epochs: Option<Epochs<ROSTER>>,
    /// Where names are proven.
    names: Option<Names<ROSTER>>,
    own: NodeId,
    /// The last frame that was read was a proof of its sender's name.
    was_proof: bool,
}

impl<C, B, const TAG: usize, const ROSTER: usize> core::fmt::Debug for SealedWith<C, B, TAG, ROSTER> {
    /// Tells nothing about the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Sealed").field("senders", &self.senders.count()).finish_non_exhaustive()
    }
}

#[cfg(feature = "aes")]
impl<C: Codec, const TAG: usize, const ROSTER: usize> SealedWith<C, Aes, TAG, ROSTER> {
    /// Seals `inner`'s frames with a swarm's key, in software.
    #[must_use]
    pub fn new(inner: C, key: &Key) -> Self {
        Self::with_cipher(inner, Aes::new(key))
    }
}

/// Whose frame a beacon's is.
fn identity_of<S, H, W>(beacon: &Message<S, H, W>) -> Identity {
    Identity { sender: beacon.sender, boot: beacon.boot, sequence: beacon.sequence }
}

/// A frame's parts: what tells whose it is, what is encrypted, and the tag.
type Pieces<'a> = (&'a mut [u8], &'a mut [u8], &'a mut [u8]);

impl<C: Codec, B: BlockCipher, const TAG: usize, const ROSTER: usize> SealedWith<C, B, TAG, ROSTER> {
    /// Seals `inner`'s frames by a block cipher that has the swarm's key.
    #[must_use]
    pub const fn with_cipher(inner: C, cipher: B) -> Self {
        const { assert!(TAG == 4 || TAG == 8, "tags have 4 or 8 bytes") };
        Self { inner, cipher, senders: Senders::new(), epochs: None, names: None, own: 0, was_proof: false }
    }

    /// The same for the robot with this name and this personal key, whose image has the swarm's key of this epoch: it takes the next one
    /// from its operator in flight. Where there is no room for others' frames, it changes nothing.
    #[must_use]
    pub fn rekeyed(mut self, name: NodeId, personal: &Key, epoch: u8, key: &Key) -> Self {
        if ROSTER > 0 {
            self.epochs = Some(Epochs::new::<B>(name, personal, epoch, key));
        }
        self
    }

    /// The same for the robot with this name and this personal key, whom the operator told the keys by which the others prove their names to
    /// it, by name ([`crate::security::peer_auth`]): whose name is not proven to it is nothing but a body. Where it was told none, or there is no room, it changes nothing.
    #[must_use]
    pub fn knowing(mut self, name: NodeId, personal: &Key, roster: &'static [Key]) -> Self {
        if ROSTER > 0 && !roster.is_empty() {
            self.own = name;
            self.names = Some(Names::new(personal, roster));
        }
        self
    }

    /// What only those have who have room for a roster: nobody else pays for it.
    fn used<X>(part: &mut Option<X>) -> Option<&mut X> {
        if ROSTER > 0 { part.as_mut() } else { None }
    }

    /// Where names are proven.
    fn names(&self) -> Option<&Names<ROSTER>> {
        if ROSTER > 0 { self.names.as_ref() } else { None }
    }

    /// Whether a frame has proofs in it.
    fn has_proofs(frame: &[u8]) -> bool {
        ROSTER > 0 && frame.first().is_some_and(|first| *first & MARK != 0)
    }

    /// Reads the inside of a frame with proofs: its state, and what it says to this robot.
    fn read_proofs<S: State, H: DelayLines, W: Tensor>(
        &mut self,
        link: Link,
        now: u32,
        inside: &[u8],
        identity: &Identity,
        beacon: &mut Message<S, H, W>,
    ) -> Result<Payload, FrameError> {
        let (header, content) = inside.split_at_checked(C::header_bytes()).ok_or(FrameError::TooShort)?;
        let length = C::STATE_NUMBER_BYTES * S::Array::LEN;
        let (state, proofs) = content.split_at_checked(length).ok_or(FrameError::Truncated)?;
        if !proofs.len().is_multiple_of(PROOF_BYTES) {
            return Err(FrameError::Trailing);
        }
        let mut numbers = S::Array::ZERO;
        if C::STATE_NUMBER_BYTES == 2 {
            if !halves::read(numbers.as_mut(), state) {
                return Err(FrameError::NotAdmissible);
            }
        } else {
            numbers = S::Array::from_bytes(state);
        }
        (beacon.sender, beacon.boot, beacon.sequence) = (identity.sender, identity.boot, identity.sequence);
        beacon.state = S::from_numbers(numbers);
        // Where a header tells it, it is its last byte.
        beacon.degree = if C::TELLS_DEGREE { header.last().copied().unwrap_or(0) } else { 0 };
        if !beacon.state.admissible() {
            return Err(FrameError::NotAdmissible);
        }
        let said = match &mut self.names {
            Some(names) => names.read::<B>(self.own, identity, state, proofs, now),
            None => Said::Nothing,
        };
        match said {
            Said::Forged => return Err(FrameError::Forged),
            // Of somebody in whose name something newer was heard, only a proof counts.
            Said::Nothing if self.senders.cannot_be(identity, C::FRAMES, now) => {
                return Err(FrameError::Replayed);
            }
            Said::Nothing => {}
            Said::Proof => self.was_proof = true,
        }
        if C::checksum(inside).is_some_and(|checksum| checksum != link.checksum) {
            return Err(FrameError::Model);
        }
        Ok(Payload::STATE)
    }

    /// Where keys change.
    fn epochs(&mut self) -> Option<&mut Epochs<ROSTER>> {
        Self::used(&mut self.epochs)
    }

    /// Takes note of somebody who speaks with the key before, if it does. That opens nothing.
    fn note_late(&mut self, late: bool, name: NodeId) -> bool {
        if let Some(epochs) = self.epochs().filter(|_| late) {
            epochs.is_late(name);
        }
        false
    }

    /// Takes in a frame that brings a key, if this is one and keys change here.
    fn brings_key(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        if ROSTER == 0 || frame.first() != Some(&KIND) {
            return Ok(());
        }
        let Some(epochs) = &mut self.epochs else { return Ok(()) };
        Err(match epochs.bring(&self.cipher, TAG, frame) {
            Brought::Taken => FrameError::NewKey,
            Brought::Old => FrameError::Replayed,
            Brought::Forged => FrameError::Forged,
        })
    }

    /// Opens what was sealed with the key in use; around a change, also with the one before or behind.
    fn unlock(
        &mut self,
        identity: &Identity,
        associated: [&[u8]; 2],
        content: &mut [u8],
        tag: &[u8],
    ) -> bool {
        let nonce = Self::nonce(identity);
        if ROSTER == 0 || self.epochs.is_none() {
            return ccm::open(&self.cipher, &nonce, associated, content, tag);
        }
        if ccm::try_open(&self.cipher, &nonce, associated, content, tag) {
            return true;
        }
        let opened = match self.epochs().and_then(Epochs::spare) {
            Some(Spare::Next(key)) => {
                let opened = ccm::try_open(&B::with_key(&key), &nonce, associated, content, tag);
                if let Some(epochs) = self.epochs().filter(|_| opened) {
                    epochs.heard_next();
                }
                opened
            }
            Some(Spare::Before(key)) => ccm::try_open(&B::with_key(&key), &nonce, associated, content, tag),
            Some(Spare::Late(key)) => {
                let late = ccm::verify(&B::with_key(&key), &nonce, associated, content, tag);
                self.note_late(late, identity.sender)
            }
            None => false,
        };
        if !opened {
            content.fill(0);
        }
        opened
    }

    fn nonce(identity: &Identity) -> Nonce {
        let [i0, i1] = identity.sender.to_le_bytes();
        let [b0, b1, b2, b3] = identity.boot.to_le_bytes();
        let [s0, s1, s2, s3] = identity.sequence.to_le_bytes();
        [i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, 0, 0, 0]
    }

    fn pieces(frame: &mut [u8]) -> Option<Pieces<'_>> {
        let (header, rest) = frame.split_at_mut_checked(C::header_bytes())?;
        let (content, tag) = rest.len().checked_sub(TAG).and_then(|at| rest.split_at_mut_checked(at))?;
        Some((header, content, tag))
    }

    /// The checksum that a frame is authenticated with, beside its header: that of its sender's weight file. Where headers tell it, somebody
    /// with another model can be told from somebody without the key; short headers do not, and there the receiver's own is meant.
    fn sealed_checksum(link: Link, frame: &[u8]) -> [u8; 4] {
        C::checksum(frame).unwrap_or(link.checksum).to_le_bytes()
    }

    /// Keeps count of a frame whose seal was good and whose content can be read: only such a one counts as its sender's last.
    fn remember<R>(&mut self, read: &Result<R, FrameError>, identity: &Identity, now: u32) {
        if matches!(read, Ok(_) | Err(FrameError::Model)) {
            if let Some(names) = Self::used(&mut self.names) {
                names.hear(identity.sender, now, self.senders.last(identity.sender));
            }
            self.senders.remember(identity, now);
        }
    }

    /// Opens a fresh frame of somebody with the key, in place: returns the frame inside and whose it is.
    #[inline(never)] // its stack is given back before the frame inside is read
    fn open<'f>(
        &mut self,
        link: Link,
        now: u32,
        frame: &'f mut [u8],
        longest: usize,
    ) -> Result<(&'f mut [u8], Identity), FrameError> {
        self.brings_key(frame)?;
        self.was_proof = false;
        let identity = C::identity(frame, now).ok_or(FrameError::TooShort)?;
        match self.senders.fresh(&identity, C::FRAMES, now) {
            // Somebody else may have spoken in its name, but it alone can prove it.
            Err(FrameError::Replayed)
                if Self::has_proofs(frame)
                    && self.names().is_some_and(|names| names.newer(&identity, C::FRAMES, now)) => {}
            fresh => fresh?,
        }
        if frame.len() > longest {
            return Err(FrameError::Trailing);
        }
        let checksum = Self::sealed_checksum(link, frame);
        let (header, content, tag) = Self::pieces(frame).ok_or(FrameError::TooShort)?;
        let inside = header.len() + content.len();
        let associated: [&[u8]; 2] = [&checksum, header];
        if !self.unlock(&identity, associated, content, tag) {
            return Err(FrameError::Forged);
        }
        let inside = frame.get_mut(..inside).ok_or(FrameError::TooShort)?;
        Ok((inside, identity))
    }

    /// Seals a frame of so many bytes at the front of `buffer`, and returns how long it is then.
    #[inline]
    fn close(&self, link: Link, identity: &Identity, length: usize, buffer: &mut [u8]) -> Option<usize> {
        // A node's counts stop at their last numbers, so that those may come again; and nobody could read a longer frame.
        if identity.sequence == u32::MAX || identity.boot == u32::MAX || length + TAG > ROOM {
            return None;
        }
        let (header, content, tag) = Self::pieces(buffer.get_mut(..length + TAG)?)?;
        let associated: [&[u8]; 2] = [&link.checksum.to_le_bytes(), header];
        ccm::seal(&self.cipher, &Self::nonce(identity), associated, content, tag)?;
        Some(length + TAG)
    }

    /// The longest frame that is looked into.
    fn longest<S: State, H: DelayLines, W: Tensor>() -> usize {
        (C::bytes::<S, H, W>() + TAG).max(LONGEST)
    }
}

impl<C: Codec, B: BlockCipher, const TAG: usize, const ROSTER: usize> Codec
    for SealedWith<C, B, TAG, ROSTER>
{
    const FRAMES: u32 = C::FRAMES;
    const SEALED: bool = true;
    const TELLS_DEGREE: bool = C::TELLS_DEGREE;
    const STATE_NUMBER_BYTES: usize = C::STATE_NUMBER_BYTES;
    const PROVES: bool = ROSTER > 0;

    fn set_robots(&mut self, robots: NodeId) {
        self.senders.robots = (robots > 0).then_some(robots);
    }

    fn profile(folded: bool) -> Profile {
        C::profile(folded)
    }

    fn fits<S: State, H: DelayLines, W: Tensor>() -> bool {
        C::fits::<S, H, W>()
    }

    fn bytes<S: State, H: DelayLines, W: Tensor>() -> usize {
        C::bytes::<S, H, W>() + TAG
    }

    fn header_bytes() -> usize {
        C::header_bytes()
    }

    fn identity(frame: &[u8], now: u32) -> Option<Identity> {
        C::identity(frame, now)
    }

    fn checksum(frame: &[u8]) -> Option<u32> {
        C::checksum(frame)
    }

    fn begin(&mut self, now: u32) {
        if let Some(key) = self.epochs().and_then(|epochs| epochs.begin(now)) {
            self.cipher = B::with_key(&key);
        }
    }

    fn hand_on(&mut self, round: u32, index: u32, buffer: &mut [u8]) -> Option<usize> {
        if ROSTER == 0 || index.saturating_add(1) < C::FRAMES {
            return None;
        }
        let Self { senders, epochs, .. } = self;
        let near = |name| senders.knows(name);
        epochs.as_mut()?.hand_on::<B>(round, TAG, near, buffer)
    }

    fn prove<S: State, H: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        beacon: &Message<S, H, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        if ROSTER == 0 {
            return None;
        }
        let names = self.names.as_mut()?;
        let in_place = if C::FRAMES > 1 { index > 0 } else { names.may_speak(round, BEACONS_BETWEEN) };
        if !in_place {
            return None;
        }
        let front = C::header_bytes() + C::STATE_NUMBER_BYTES * S::Array::LEN;
        let most = C::PROOFS.min(C::bytes::<S, H, W>().saturating_sub(front) / PROOF_BYTES);
        let chosen = names.choose(beacon.sender, round, beacon.sequence / C::FRAMES, most);
        if chosen.is_empty() {
            return None;
        }
        self.inner.encode(link, beacon, round, index, buffer)?;
        let length = front + PROOF_BYTES * chosen.len();
        let (front, proofs) = buffer.get_mut(..length)?.split_at_mut_checked(front)?;
        let state = front.get(C::header_bytes()..)?;
        let identity = identity_of(beacon);
        self.names()?.write::<B>(&identity, state, &chosen, proofs);
        *front.first_mut()? |= MARK;
        self.close(*link, &identity, length, buffer)
    }

    fn wants_proofs(&self) -> bool {
        self.names().is_some()
    }

    fn was_proof(&self) -> bool {
        ROSTER > 0 && self.was_proof
    }

    fn proven(&self, name: NodeId, now: u32) -> bool {
        self.names().is_none_or(|names| names.proven(name, now))
    }

    fn contradicted(&mut self, name: NodeId, now: u32) {
        let Some(names) = Self::used(&mut self.names) else { return };
        if names.proven(name, now) {
            self.senders.put_back(name, names.before(name));
        } else {
            names.ask_again(name);
        }
    }

    fn lapse(&mut self, name: NodeId) {
        if let Some(names) = Self::used(&mut self.names) {
            names.lapse(name);
        }
    }

    fn asked(&self, name: NodeId) -> u8 {
        self.names().map_or(0, |names| names.asked(name))
    }

    fn epoch(&self) -> u8 {
        self.epochs.as_ref().map_or(0, Epochs::epoch)
    }

    fn kept_keys(&self) -> Option<Kept> {
        if ROSTER > 0 { self.epochs.as_ref().map(Epochs::kept) } else { None }
    }

    fn take_up_keys(&mut self, kept: &Kept) {
        if let Some(key) = self.epochs().and_then(|epochs| epochs.take_up(kept)) {
            self.cipher = B::with_key(&key);
        }
    }

    fn keys_unsaved(&mut self, saved: bool) -> bool {
        self.epochs().is_some_and(|epochs| {
            epochs.unsaved &= !saved;
            epochs.unsaved
        })
    }

    fn vouch(&mut self, link: &Link, now: u32, since: u32, frame: &[u8]) -> Option<Identity> {
        let identity = C::identity(frame, now)?;
        let too_old = identity.sequence / C::FRAMES < since;
        if too_old || self.senders.cannot_be(&identity, C::FRAMES, now) {
            return None;
        }
        let checksum = Self::sealed_checksum(*link, frame);
        let (header, rest) = frame.split_at_checked(C::header_bytes())?;
        let (content, tag) = rest.len().checked_sub(TAG).and_then(|at| rest.split_at_checked(at))?;
        let associated: [&[u8]; 2] = [&checksum, header];
        let nonce = Self::nonce(&identity);
        let by = |cipher: &B| frame.len() <= ROOM && ccm::verify(cipher, &nonce, associated, content, tag);
        let authentic = by(&self.cipher)
            || match self.epochs().and_then(Epochs::spare) {
                Some(Spare::Next(key) | Spare::Before(key)) => by(&B::with_key(&key)),
                Some(Spare::Late(key)) => {
                    let late = by(&B::with_key(&key));
                    self.note_late(late, identity.sender)
                }
                None => false,
            };
        authentic.then_some(identity)
    }

    /// `None`, too, for a frame longer than can be read again, and for a sequence or a boot count that has come to its end.
    fn encode<S: State, H: DelayLines, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Message<S, H, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let length = self.inner.encode(link, beacon, round, index, buffer)?;
        self.close(*link, &identity_of(beacon), length, buffer)
    }

    fn decode<S: State, H: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        now: u32,
        frame: &[u8],
    ) -> Result<(Message<S, H, W>, Payload), FrameError> {
        let mut copy = [0; ROOM + 1];
        let copy = copy.get_mut(..frame.len().min(ROOM + 1)).unwrap_or_default();
        copy.iter_mut().zip(frame).for_each(|(to, from)| *to = *from);
        let (inside, identity) = self.open(*link, now, copy, Self::longest::<S, H, W>())?;
        let decoded = if Self::has_proofs(inside) {
            let mut beacon = Message::silent(S::zero());
            self.read_proofs(*link, now, inside, &identity, &mut beacon).map(|parts| (beacon, parts))
        } else {
            self.inner.decode(link, now, inside)
        };
        self.remember(&decoded, &identity, now);
        decoded
    }

    fn read<S: State, H: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        now: u32,
        frame: &mut [u8],
        beacon: &mut Message<S, H, W>,
    ) -> Result<Payload, FrameError> {
        let (inside, identity) = self.open(*link, now, frame, Self::longest::<S, H, W>())?;
        let parts = if Self::has_proofs(inside) {
            self.read_proofs(*link, now, inside, &identity, beacon)
        } else {
            self.inner.read(link, now, inside, beacon)
        };
        self.remember(&parts, &identity, now);
        parts
    }
}
