//! Link profiles: how a beacon is put into frames for one kind of radio.
//!
//! A profile is chosen at compile time, as the type of a node's codec. All of them carry the same beacon; they differ in how many
//! of its numbers go into one frame and how many bytes a number takes. Every frame is useful alone: nothing is put together
//! again from several.

use crate::{
    error::FrameError,
    header::{Identity, Link, Payload, Profile},
    security::key_ring::Kept,
};
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::{NodeId, State},
    tensor::Tensor,
};

pub mod esb32;
pub mod exact;
pub mod half;
pub mod halves;
pub mod p2p57;
mod taps;

/// A link profile.
pub trait Codec {
    /// Frames per exchange.
    const FRAMES: u32;

    /// Whether frames are authenticated. On a link that is, a robot trusts nobody more than it must.
    const SEALED: bool = false;

    /// Whether frames carry how many neighbors their sender has, as the last byte of their header. All of them tell of who is nothing but a body.
    const TELLS_DEGREE: bool = true;

    /// How many bytes a number of the state takes. The state stands behind the header in every frame.
    const STATE_NUMBER_BYTES: usize = 4;

    /// Whether there is room for what is to be known of proofs of names ([`crate::security::peer_auth`]).
    const PROVES: bool = false;

    /// Proofs of names in a frame, at most, where there is room for more than there is time.
    const PROOFS: usize = usize::MAX;

    /// The profile's code in a frame, for a node that keeps C (`folded`) or B.
    fn profile(folded: bool) -> Profile;

    /// The swarm has so many robots, with addresses from 0 on: where frames are sealed, nobody else is heard. 0 hears everybody.
    fn set_robots(&mut self, _robots: NodeId) {}

    /// The same in a swarm of so many robots.
    #[must_use]
    fn among(mut self, robots: NodeId) -> Self
    where
        Self: Sized,
    {
        self.set_robots(robots);
        self
    }

    /// Whether this profile's frames have room for what a node says. Whoever builds robots of one network asserts it at compile time.
    #[must_use]
    fn fits<S: State, C: DelayLines, W: Tensor>() -> bool {
        true
    }

    /// The length of the longest frame in bytes.
    fn bytes<S: State, C: DelayLines, W: Tensor>() -> usize;

    /// How many bytes at the front of a frame tell whose it is. They are never encrypted.
    fn header_bytes() -> usize;

    /// Whose frame this is, if it is long enough to tell. Of a sequence that a short header tells in part, the rest is as it is nearest
    /// to the tick `now`.
    fn identity(frame: &[u8], now: u32) -> Option<Identity>;

    /// The checksum of its sender's weight file, where a header tells it.
    #[must_use]
    fn checksum(_frame: &[u8]) -> Option<u32> {
        None
    }

    /// Whose frame this is if it is a swarm member's, whenever it was sent: for one that was refused as untimely at tick `now`. Where
    /// frames are sealed, one that is no newer than the last of its sender tells nothing, nor does one from before the tick `since`:
    /// it may be a recording.
    fn vouch(&mut self, _link: &Link, now: u32, _since: u32, frame: &[u8]) -> Option<Identity> {
        Self::identity(frame, now)
    }

    /// A tick begins.
    fn begin(&mut self, _now: u32) {}

    /// Writes what a robot hands on of others in place of frame `index` of the exchange with number `round`, and returns its length;
    /// mostly nothing.
    fn hand_on(&mut self, _round: u32, _index: u32, _buffer: &mut [u8]) -> Option<usize> {
        None
    }

    /// Writes a frame that proves the sender's name to others, in place of this beacon's frame `index`, and returns its length; mostly
    /// nothing.
    fn prove<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        _link: &Link,
        _beacon: &Message<S, C, W>,
        _round: u32,
        _index: u32,
        _buffer: &mut [u8],
    ) -> Option<usize> {
        None
    }

    /// Whether names have to be proven here.
    fn wants_proofs(&self) -> bool {
        false
    }

    /// Whether the last frame that was read was a proof of its sender's name.
    fn was_proof(&self) -> bool {
        false
    }

    /// Whether a name is proven at tick `now`.
    fn proven(&self, _name: NodeId, _now: u32) -> bool {
        true
    }

    /// The last frame in this name contradicts what was said before. If that was proven, it is as if it had not been heard; if not, its owner may have
    /// come.
    fn contradicted(&mut self, _name: NodeId, _now: u32) {}

    /// Nobody knows any more who speaks in this name: it has to be proven anew.
    fn lapse(&mut self, _name: NodeId) {}

    /// How often a name was asked for a proof in vain.
    fn asked(&self, _name: NodeId) -> u8 {
        0
    }

    /// Which of the swarm's keys is in use: 0 is the first one.
    fn epoch(&self) -> u8 {
        0
    }

    /// What is to be kept of keys over a restart, where they change.
    fn kept_keys(&self) -> Option<Kept> {
        None
    }

    /// Takes up what was kept of keys.
    fn take_up_keys(&mut self, _kept: &Kept) {}

    /// Whether keys have changed since they were kept; or, told so, that they are kept.
    fn keys_unsaved(&mut self, _saved: bool) -> bool {
        false
    }

    /// Writes frame `index` of the exchange with number `round` to the front of `buffer` and returns its length, or `None` when the
    /// buffer is too short.
    fn encode<S: State, C: DelayLines, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Message<S, C, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize>;

    /// Reads a frame heard at tick `now`.
    ///
    /// # Errors
    /// Why it is refused.
    fn decode<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        now: u32,
        frame: &[u8],
    ) -> Result<(Message<S, C, W>, Payload), FrameError>;

    /// [`Codec::decode`] into a beacon that is there already: what the frame does not carry stays as it was, and what it holds after a
    /// refusal means nothing, except that [`FrameError::Model`] leaves who and where the sender is. A sealed frame is opened in place;
    /// whose it is can still be read from it.
    ///
    /// # Errors
    /// Why it is refused.
    #[inline]
    fn read<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        now: u32,
        frame: &mut [u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        let (decoded, parts) = self.decode(link, now, frame)?;
        *beacon = decoded;
        Ok(parts)
    }
}
