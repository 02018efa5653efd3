//! One robot's end of a radio link: messages out, messages in.
//!
//! A frame passes through its stages in one direction: header, freshness and tag
//! ([`LinkSecurity::open`]), content ([`Encoding::decode`]), replay window ([`LinkSecurity::record_frame`]).
//! It leaves as a [`Reception`] or as a [`FrameError`].

use core::marker::PhantomData;

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::{NodeId, State},
    tensor::{Array as _, Tensor},
};

#[cfg(feature = "aes")]
use crate::{
    encoding::esb32::Esb32,
    security::{
        aes::Aes,
        group_key::GroupKey,
        managed_keys::{ManagedKeys, ROSTER_CAPACITY},
    },
};
use crate::{
    encoding::{Encoding, OutgoingMessage, content::read_state},
    error::FrameError,
    header::{FrameId, OBSTACLE_ONLY, Payload},
    security::{
        LinkSecurity, Open, SecurityState,
        peer_auth::{PROOF_LEN, PROOF_MARK},
    },
};

/// Link with tags of 8 bytes and AES in software.
#[cfg(feature = "aes")]
pub type Sealed<E> = Link<E, GroupKey<Aes, 8>>;

/// Link on an nRF24 with tags of 4 bytes: a frame has no room for more.
#[cfg(feature = "aes")]
pub type SealedEsb32 = Link<Esb32, GroupKey<Aes, 4>>;

/// [`Sealed`] with key rotation and peer authentication.
#[cfg(feature = "aes")]
pub type Managed<E> = Link<E, ManagedKeys<Aes, 8, ROSTER_CAPACITY>>;

/// [`SealedEsb32`] with key rotation and peer authentication.
#[cfg(feature = "aes")]
pub type ManagedEsb32 = Link<Esb32, ManagedKeys<Aes, 4, ROSTER_CAPACITY>>;

/// Content of a received frame, besides the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// Number of the frame.
    pub sequence: u32,
    /// Numbers of the message that the frame carried.
    pub payload: Payload,
    /// Whether the frame proved the sender's identity to this robot.
    pub is_proof: bool,
    /// Whether the sender runs the receiver's weight file. If not, the message has only sender and state.
    pub shares_model: bool,
}

impl Reception {
    /// A whole message with frame number `sequence`.
    pub const fn whole(sequence: u32) -> Self {
        Self { sequence, payload: Payload::ALL, is_proof: false, shares_model: true }
    }

    /// Rejects a frame of another weight file.
    ///
    /// # Errors
    /// [`FrameError::Model`].
    pub fn of_own_model(self) -> Result<Self, FrameError> {
        if self.shares_model { Ok(self) } else { Err(FrameError::Model) }
    }
}

/// A robot's end of a link, independent of the dimensions of its messages.
pub trait RadioLink {
    /// Frames per exchange.
    fn frames_per_exchange(&self) -> u32;

    /// Whether frames are authenticated.
    fn is_sealed(&self) -> bool;

    /// Whether every frame carries a whole message.
    fn sends_whole_messages(&self) -> bool;

    /// Checksum of the robot's weight file.
    fn model_checksum(&self) -> u32;

    /// Number of times the robot has started.
    fn boot_count(&self) -> u32;

    /// Sets the boot count after a restart. Frame numbers start again.
    fn set_boot_count(&mut self, boot: u32);

    /// [`SecurityState::requires_proof`] without dynamic dispatch: open robots then contain no code for proofs.
    fn requires_proof(&self) -> bool;

    /// Identities and keys.
    fn security(&self) -> &dyn SecurityState;

    /// Identities and keys, mutable.
    fn security_mut(&mut self) -> &mut dyn SecurityState;

    /// Sender and number of a frame, without any check.
    fn frame_id(&self, now: u32, frame: &[u8]) -> Option<FrameId>;

    /// Authenticates a frame that [`FrameError::OutOfWindow`] rejected: its sender has another clock.
    ///
    /// Frames of ticks before `since` may be recordings and return `None`.
    fn authenticate_late_frame(&mut self, now: u32, since: u32, frame: &[u8]) -> Option<FrameId>;
}

/// Sends and receives messages with state `S`, delay lines `L` and wide parameters `W`.
///
/// The trait hides profile and security: a simulator keeps links of all kinds behind it.
pub trait MessageLink<S, L, W>: RadioLink {
    /// Length of the longest frame in bytes.
    fn max_frame_len(&self) -> usize;

    /// Writes frame `index` of exchange `round`. Returns its length, or `None` if it cannot be written.
    ///
    /// A link with managed keys occasionally writes a control frame instead of a message.
    fn send(
        &mut self, message: &Message<S, L, W>, round: u32, index: u32, buffer: &mut [u8],
    ) -> Option<usize>;

    /// Reads a frame at tick `now` into `into`. Numbers that the frame does not carry are unchanged.
    ///
    /// A sealed frame is decrypted in place.
    ///
    /// # Errors
    /// The reason of the rejection. The message is then undefined.
    fn receive(
        &mut self, now: u32, frame: &mut [u8], into: &mut Message<S, L, W>,
    ) -> Result<Reception, FrameError>;
}

/// A robot's end of a link with profile `E` and security `S`.
#[derive(Debug)]
pub struct Link<E, S = Open> {
    model: u32,
    boot: u32,
    sequence: u32,
    security: S,
    encoding: PhantomData<E>,
}

impl<E> Link<E> {
    /// A link without security for robots with the weight file of checksum `model`.
    pub const fn open(model: u32) -> Self {
        Self::new(model, Open)
    }
}

impl<E, S> Link<E, S> {
    /// A link for robots with the weight file of checksum `model`.
    pub const fn new(model: u32, security: S) -> Self {
        Self { model, boot: 0, sequence: 0, security, encoding: PhantomData }
    }
}

impl<E: Encoding, S: LinkSecurity> Link<E, S> {
    /// Security of the link, to add keys in place.
    pub fn keys_mut(&mut self) -> &mut S {
        &mut self.security
    }

    /// Sets the number of robots ([`SecurityState::set_swarm_size`]).
    #[must_use]
    pub fn with_swarm_size(mut self, robots: NodeId) -> Self {
        self.security.set_swarm_size(robots);
        self
    }

    /// Writes a frame with identity proofs, if peers are due. Returns its length.
    fn send_proofs<X: State, L: DelayLines, W: Tensor>(
        &mut self, out: &OutgoingMessage<'_, X, L, W>, index: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        // Where an exchange has several frames, the first is always a message.
        if !S::AUTHENTICATES_PEERS
            || out.message.degree == OBSTACLE_ONLY
            || (E::FRAMES_PER_EXCHANGE > 1 && index == 0)
        {
            return None;
        }
        let front = E::HEADER_LEN + E::BYTES_PER_STATE_NUMBER * X::Array::LEN;
        let max =
            E::MAX_PROOFS_PER_FRAME.min(E::max_frame_len::<X, L, W>().saturating_sub(front) / PROOF_LEN);
        let id = out.id();
        let peers = self.security.choose_peers(
            &id,
            id.sequence / E::FRAMES_PER_EXCHANGE,
            out.round,
            E::FRAMES_PER_EXCHANGE == 1,
            max,
        );
        if peers.is_empty() {
            return None;
        }
        E::encode(out, index, buffer)?;
        let length = front + PROOF_LEN * peers.len();
        let (front, proofs) = buffer.get_mut(..length)?.split_at_mut_checked(front)?;
        self.security.write_proofs(&id, front.get(E::HEADER_LEN..)?, &peers, proofs);
        *front.first_mut()? |= PROOF_MARK;
        self.security.seal::<E>(self.model, &id, length, buffer)
    }

    /// Reads state and proofs of a frame with identity proofs.
    fn receive_proofs<X: State, L, W>(
        &mut self, now: u32, id: &FrameId, inside: &[u8], into: &mut Message<X, L, W>,
    ) -> Result<bool, FrameError> {
        let content = inside.get(E::HEADER_LEN..).ok_or(FrameError::TooShort)?;
        let proofs = read_state::<E, _, _, _>(content, into)?;
        if !proofs.len().is_multiple_of(PROOF_LEN) {
            return Err(FrameError::Trailing);
        }
        if !into.state.is_admissible() {
            return Err(FrameError::NotAdmissible);
        }
        let state = content.get(..content.len() - proofs.len()).unwrap_or_default();
        self.security.check_proofs(id, E::FRAMES_PER_EXCHANGE, state, proofs, now)
    }
}

impl<E: Encoding, S: LinkSecurity> RadioLink for Link<E, S> {
    #[inline]
    fn frames_per_exchange(&self) -> u32 {
        E::FRAMES_PER_EXCHANGE
    }

    #[inline]
    fn is_sealed(&self) -> bool {
        S::IS_SEALED
    }

    #[inline]
    fn sends_whole_messages(&self) -> bool {
        E::SENDS_WHOLE_MESSAGES && !S::AUTHENTICATES_PEERS
    }

    fn model_checksum(&self) -> u32 {
        self.model
    }

    fn boot_count(&self) -> u32 {
        self.boot
    }

    fn set_boot_count(&mut self, boot: u32) {
        (self.boot, self.sequence) = (boot, 0);
    }

    #[inline]
    fn requires_proof(&self) -> bool {
        self.security.requires_proof()
    }

    #[inline]
    fn security(&self) -> &dyn SecurityState {
        &self.security
    }

    #[inline]
    fn security_mut(&mut self) -> &mut dyn SecurityState {
        &mut self.security
    }

    #[inline]
    fn frame_id(&self, now: u32, frame: &[u8]) -> Option<FrameId> {
        E::read_header(frame, now).map(|header| header.id)
    }

    fn authenticate_late_frame(&mut self, now: u32, since: u32, frame: &[u8]) -> Option<FrameId> {
        self.security.authenticate_late_frame::<E>(self.model, now, since, frame)
    }
}

impl<E: Encoding, X: State, L: DelayLines, W: Tensor, S: LinkSecurity> MessageLink<X, L, W> for Link<E, S> {
    fn max_frame_len(&self) -> usize {
        E::max_frame_len::<X, L, W>() + S::TAG_LEN
    }

    fn send(
        &mut self, message: &Message<X, L, W>, round: u32, index: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        if index.saturating_add(1) >= E::FRAMES_PER_EXCHANGE
            && let Some(length) = self.security.write_key_update(round, buffer)
        {
            return Some(length);
        }
        // The number tells the tick and never occurs twice.
        let sequence = self.sequence.max(message.tick.saturating_mul(E::FRAMES_PER_EXCHANGE));
        self.sequence = sequence.saturating_add(1);
        let out = OutgoingMessage { message, boot: self.boot, sequence, model: self.model, round };
        if let Some(length) = self.send_proofs(&out, index, buffer) {
            return Some(length);
        }
        let length = E::encode(&out, index, buffer)?;
        self.security.seal::<E>(self.model, &out.id(), length, buffer)
    }

    #[inline]
    fn receive(
        &mut self, now: u32, frame: &mut [u8], into: &mut Message<X, L, W>,
    ) -> Result<Reception, FrameError> {
        let max_len = E::max_frame_len::<X, L, W>() + S::TAG_LEN;
        let (header, inside) = self.security.open::<E>(self.model, now, frame, max_len)?;
        let FrameId { sender, sequence, .. } = header.id;
        (into.sender, into.tick, into.degree) = (sender, sequence / E::FRAMES_PER_EXCHANGE, header.degree);
        let shares_model = header.model.is_none_or(|model| model == self.model);
        let mut reception = Reception { payload: Payload::STATE, shares_model, ..Reception::whole(sequence) };
        if S::AUTHENTICATES_PEERS && inside.first().is_some_and(|first| *first & PROOF_MARK != 0) {
            reception.is_proof = self.receive_proofs(now, &header.id, inside, into)?;
        } else {
            match E::decode(inside, &header, self.model, into) {
                Ok(payload) => reception.payload = payload,
                Err(FrameError::Model) => {}
                Err(error) => return Err(error),
            }
        }
        self.security.record_frame(&header.id, now);
        Ok(reception)
    }
}
