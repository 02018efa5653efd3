//! The profile for the nRF24 and Enhanced `ShockBurst`: short frames, several per exchange, each useful alone.

use crate::{
    encoding::{
        Codec,
        exact::check_length,
        half::{MOST_NUMBERS, check_first, count, fill, first_byte, write},
        halves,
    },
    error::FrameError,
    header::{Identity, Link, ONLY_A_BODY, Payload, Profile},
};
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array, Tensor, param_range::ParamRange},
};

/// The nRF24's 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Esb32;

/// Numbers per frame.
const PIECE: u16 = 6;
/// Set beside the number of a piece by who is nothing but a body to others.
const BODY: u8 = 0x80;
/// Version and profile, sender, boot, sequence, piece.
const SHORT_HEADER_BYTES: usize = 8;
/// Frames per exchange: three of taps (18 numbers), one of wide parameters.
const SHORT_FRAMES: u32 = 4;

/// Bits of a sequence that a frame tells; the rest is the receiver's to know.
const TOLD_BITS: u32 = 24;

/// The sequence nearest to `around` that ends in what a frame tells of it: so 24 bits, 11.6 hours of frames, never run out.
pub(crate) fn nearest(told: u32, around: u32) -> u32 {
    let (all, half) = (1_i64 << TOLD_BITS, 1_i64 << (TOLD_BITS - 1));
    let from = i64::from(around) - half;
    let found = from + (i64::from(told) - from).rem_euclid(all);
    // Nothing is before the beginning, nor behind the end.
    let found = if found < 0 { found + all } else { found };
    u32::try_from(found).unwrap_or_else(|_| (found - all) as u32)
}

impl Esb32 {
    fn length<S: State>() -> usize {
        SHORT_HEADER_BYTES + 2 * S::Array::LEN + 2 * usize::from(PIECE)
    }

    /// The taps' pieces come first, the wide parameters' behind them.
    fn span<C: DelayLines, W: Tensor>(piece: u8) -> Option<Payload> {
        let tap_pieces = (C::LEN as u16).div_ceil(PIECE);
        let piece = u16::from(piece);
        let run = |index: u16, count: u16| {
            let from = index * PIECE;
            (from < count).then_some(ParamRange { from, to: (from + PIECE).min(count) })
        };
        match piece.checked_sub(tap_pieces) {
            None => Some(Payload { taps: run(piece, C::LEN as u16)?, wide: ParamRange::NONE }),
            Some(wide) => Some(Payload { taps: ParamRange::NONE, wide: run(wide, count::<W>())? }),
        }
    }

    fn read_into<S: State, C: DelayLines, W: Tensor>(
        now: u32,
        frame: &[u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        let identity = Self::identity(frame, now).ok_or(FrameError::TooShort)?;
        let (header, content) = frame.split_first_chunk::<SHORT_HEADER_BYTES>().ok_or(FrameError::TooShort)?;
        let [first, .., piece] = *header;
        check_first(first, Profile::Esb32)?;
        let parts = Self::span::<C, W>(piece & !BODY).ok_or(FrameError::Dimensions)?;
        check_length(frame, Self::length::<S>())?;
        let (state, numbers) = content.split_at_checked(2 * S::Array::LEN).ok_or(FrameError::Truncated)?;
        (beacon.sender, beacon.boot, beacon.sequence) = (identity.sender, identity.boot, identity.sequence);
        let mut said = S::Array::ZERO;
        if !halves::read(said.as_mut(), state) {
            return Err(FrameError::NotAdmissible);
        }
        beacon.degree = if piece & BODY == 0 { 0 } else { ONLY_A_BODY };
        beacon.state = S::from_numbers(said);
        // What fills up a piece is zero: one value, one frame.
        let filling = fill(beacon, parts, numbers)?;
        if filling.iter().any(|byte| *byte != 0) {
            return Err(FrameError::NotAdmissible);
        }
        Ok(parts)
    }
}

impl Codec for Esb32 {
    const FRAMES: u32 = SHORT_FRAMES;
    const STATE_NUMBER_BYTES: usize = 2;
    const TELLS_DEGREE: bool = false;

    fn profile(_: bool) -> Profile {
        Profile::Esb32
    }

    /// A state must leave room for a piece and a tag, and the taps must go into all frames of an exchange but one.
    fn fits<S: State, C: DelayLines, W: Tensor>() -> bool {
        Self::length::<S>() + 4 <= 32
            && C::LEN <= (SHORT_FRAMES as usize - 1) * PIECE as usize
            && W::LEN <= MOST_NUMBERS
    }

    fn bytes<S: State, C: DelayLines, W: Tensor>() -> usize {
        Self::length::<S>()
    }

    fn header_bytes() -> usize {
        SHORT_HEADER_BYTES
    }

    fn identity(frame: &[u8], now: u32) -> Option<Identity> {
        let &[_, sender, boot_low, boot_high, s0, s1, s2, _] = frame.first_chunk::<SHORT_HEADER_BYTES>()?;
        Some(Identity {
            sender: sender.into(),
            boot: u16::from_le_bytes([boot_low, boot_high]).into(),
            sequence: nearest(u32::from_le_bytes([s0, s1, s2, 0]), now.saturating_mul(SHORT_FRAMES)),
        })
    }

    /// `None`, too, for what its short header cannot tell: an address beyond 255, a boot beyond 65,535. Of a sequence it tells the
    /// lower 24 bits.
    fn encode<S: State, C: DelayLines, W: Tensor>(
        &self,
        _: &Link,
        beacon: &Message<S, C, W>,
        round: u32,
        index: u32,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let tap_pieces = u32::from((C::LEN as u16).div_ceil(PIECE));
        let wide_pieces = u32::from(count::<W>().div_ceil(PIECE)).max(1);
        let piece = if index < tap_pieces { index } else { tap_pieces + round % wide_pieces } as u8;
        let parts = Self::span::<C, W>(piece)?;
        let sender = u8::try_from(beacon.sender).ok()?;
        let boot = u16::try_from(beacon.boot).ok()?.to_le_bytes();
        let [s0, s1, s2, _] = beacon.sequence.to_le_bytes();
        let body = if beacon.degree == ONLY_A_BODY { BODY } else { 0 };
        let frame = buffer.get_mut(..Self::length::<S>())?;
        let (header, rest) = frame.split_first_chunk_mut()?;
        *header = [first_byte(Profile::Esb32), sender, boot[0], boot[1], s0, s1, s2, piece | body];
        let (state, rest) = rest.split_at_mut_checked(2 * S::Array::LEN)?;
        halves::write(state, beacon.state.numbers().as_ref());
        let used = write(beacon, parts, rest)?;
        // A last piece that is shorter is filled up: all frames have one length.
        rest.get_mut(used..)?.fill(0);
        Some(Self::length::<S>())
    }

    fn decode<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        _: &Link,
        now: u32,
        frame: &[u8],
    ) -> Result<(Message<S, C, W>, Payload), FrameError> {
        let mut beacon = Message::silent(S::zero());
        Self::read_into(now, frame, &mut beacon).map(|parts| (beacon, parts))
    }

    fn read<S: State, C: DelayLines, W: Tensor>(
        &mut self,
        _: &Link,
        now: u32,
        frame: &mut [u8],
        beacon: &mut Message<S, C, W>,
    ) -> Result<Payload, FrameError> {
        Self::read_into(now, frame, beacon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_known_by_its_lower_bits_as_long_as_clocks_differ_by_less_than_five_hours() {
        const HALF: u32 = 1 << 23;
        for around in [0, 5, HALF, (1 << 24) - 1, 1 << 24, (77 << 24) + 123, u32::MAX - HALF, u32::MAX] {
            for off in [0, 1, 1000, HALF - 1] {
                for sequence in [around.saturating_sub(off), around.saturating_add(off)] {
                    let told = sequence & 0x00ff_ffff;
                    assert_eq!(nearest(told, around), sequence, "{sequence:#x} near {around:#x}");
                }
            }
        }
    }
}
