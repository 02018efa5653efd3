//! The profile for a Crazyflie's peer-to-peer packets: two frames of at most 57 bytes per exchange, each useful alone.
//!
//! Every frame has the state in half precision, one half of the taps, and a few of the wide parameters in rotation. Whoever misses one
//! of the two still knows where its neighbor is, and has half of its new taps beside the other half of the exchange before.

use crate::{
    encoding::{
        Codec,
        exact::check_length,
        half::{
            HEADER_BYTES, MOST_NUMBERS, ShortFront, TAG_BYTES, check_first, count, fill, first_byte, write,
        },
        halves,
    },
    error::FrameError,
    header::{Identity, Link, Payload, Profile},
};
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array, Tensor, param_range::ParamRange},
};

/// A Crazyflie's peer-to-peer packets: 60 bytes are the limit of its firmware, 57 go through every version of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct P2p57;

/// Bytes of a frame with its tag, at most.
const LIMIT: usize = 57;
/// Frames per exchange: even parts have the first half of the taps, odd ones the second.
const HALVES: u32 = 2;

impl P2p57 {
    /// How many taps go into a frame, at most.
    const fn taps<C: DelayLines>() -> u16 {
        (C::LEN as u16).div_ceil(HALVES as u16)
    }

    /// How many wide parameters go into a frame: as many as fit.
    const fn most<S: State, C: DelayLines>() -> u16 {
        let room = LIMIT.saturating_sub(HEADER_BYTES + 2 * S::Array::LEN + TAG_BYTES) / 2;
        (room as u16).saturating_sub(Self::taps::<C>())
    }

    /// How many parts there are, two to an exchange.
    const fn parts<S: State, C: DelayLines, W: Tensor>() -> u32 {
        let most = Self::most::<S, C>();
        if most == 0 { 0 } else { (count::<W>().div_ceil(most) as u32).next_multiple_of(HALVES) }
    }

    /// What a part carries.
    fn span<S: State, C: DelayLines, W: Tensor>(part: u8) -> Payload {
        let run = |index: u16, length: u16, count: u16| {
            let from = index.saturating_mul(length);
            if from < count { ParamRange { from, to: from.saturating_add(length).min(count) } } else { ParamRange::NONE }
        };
        let part = u16::from(part);
        Payload {
            taps: run(part % HALVES as u16, Self::taps::<C>(), C::LEN as u16),
            wide: run(part, Self::most::<S, C>(), count::<W>()),
        }
    }

    fn length<S: State>(parts: Payload) -> usize {
        let numbers = |span: ParamRange| usize::from(span.to.saturating_sub(span.from));
        HEADER_BYTES + 2 * (S::Array::LEN + numbers(parts.taps) + numbers(parts.wide))
    }

    fn read_into<S: State, C: DelayLines, W: Tensor>(
        link: Link,
        frame: &[u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        let (header, content) = ShortFront::take(frame).ok_or(FrameError::TooShort)?;
        check_first(header.first, Profile::P2p57)?;
        if u32::from(header.part) >= Self::parts::<S, C, W>() {
            return Err(FrameError::Dimensions);
        }
        let parts = Self::span::<S, C, W>(header.part);
        check_length(frame, Self::length::<S>(parts))?;
        let (state, numbers) = content.split_at_checked(2 * S::Array::LEN).ok_or(FrameError::Truncated)?;
        let mut said = S::Array::ZERO;
        if !halves::read(said.as_mut(), state) {
            return Err(FrameError::NotAdmissible);
        }
        (beacon.sender, beacon.boot, beacon.sequence) = (header.sender, header.boot, header.sequence);
        (beacon.degree, beacon.state) = (header.degree, S::from_numbers(said));
        if header.checksum != link.checksum {
            return Err(FrameError::Model);
        }
        fill(beacon, parts, numbers)?;
        Ok(parts)
    }
}

impl Codec for P2p57 {
    const FRAMES: u32 = HALVES;
    const STATE_NUMBER_BYTES: usize = 2;

    fn profile(_: bool) -> Profile {
        Profile::P2p57
    }

    fn fits<S: State, C: DelayLines, W: Tensor>() -> bool {
        Self::most::<S, C>() > 0 && W::LEN <= MOST_NUMBERS
    }

    fn bytes<S: State, C: DelayLines, W: Tensor>() -> usize {
        Self::length::<S>(Self::span::<S, C, W>(0))
    }

    fn header_bytes() -> usize {
        HEADER_BYTES
    }

    fn identity(frame: &[u8], _now: u32) -> Option<Identity> {
        let (ShortFront { sender, boot, sequence, .. }, _) = ShortFront::take(frame)?;
        Some(Identity { sender, boot, sequence })
    }

    fn checksum(frame: &[u8]) -> Option<u32> {
        ShortFront::take(frame).map(|(header, _)| header.checksum)
    }

    fn encode<S: State, C: DelayLines, W: Tensor>(
        &self,
        link: &Link,
        beacon: &Message<S, C, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let rounds = (Self::parts::<S, C, W>() / HALVES).max(1);
        let part = (HALVES * (round % rounds) + index % HALVES) as u8;
        let (first, checksum) = (first_byte(Profile::P2p57), link.checksum);
        let Message { sender, boot, sequence, degree, .. } = *beacon;
        let header = ShortFront { first, part, checksum, sender, boot, sequence, degree };
        let (front, rest) = buffer.split_first_chunk_mut()?;
        *front = header.bytes();
        let (state, rest) = rest.split_at_mut_checked(2 * S::Array::LEN)?;
        halves::write(state, beacon.state.numbers().as_ref());
        let parts = Self::span::<S, C, W>(part);
        Some(HEADER_BYTES + state.len() + write(beacon, parts, rest)?)
    }

    fn decode<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &[u8],
    ) -> Result<(Message<S, C, W>, Payload), FrameError> {
        let mut beacon = Message::silent(S::zero());
        Self::read_into(*link, frame, &mut beacon).map(|parts| (beacon, parts))
    }

    fn read<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        link: &Link,
        _: u32,
        frame: &mut [u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        Self::read_into(*link, frame, beacon)
    }
}
