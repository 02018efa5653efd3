//! Profile for the nRF24 and Enhanced `ShockBurst`: four frames of 32 bytes per exchange.
//!
//! Each frame has the state in half precision and a piece of six numbers: taps in all frames of an
//! exchange but the last, wide parameters in the last.

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array, Tensor, param_range::ParamRange},
};

use super::{
    Encoding, OutgoingMessage, check_length,
    content::{Writer, read_halves, read_state},
    half::{MAX_NUMBERS, check_first, first_byte},
};
use crate::{
    error::FrameError,
    frames::{Esb32Header, U16Le, U24Le},
    header::{FrameId, Header, OBSTACLE_ONLY, Payload, Profile},
};

/// Frames of 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Esb32;

/// Numbers per frame.
const PIECE: u16 = 6;
/// Bit of the header's piece that marks a robot as [`OBSTACLE_ONLY`].
const OBSTACLE: u8 = 0x80;
/// Version and profile, sender, boot, sequence, piece.
const HEADER_LEN: usize = 8;
/// Frames per exchange: three of taps (18 numbers), one of wide parameters.
const FRAMES_PER_EXCHANGE: u32 = 4;

/// Zeros that fill a piece.
const PADDING: &[f32] = &[0.0; PIECE as usize];

/// Bits of the sequence number in a header.
const SEQUENCE_BITS: u32 = 24;

/// Completes the low bits of a sequence number to the number nearest to `around`.
///
/// 24 bits, 11.6 hours of frames, are therefore never used up.
pub(crate) fn nearest(low: u32, around: u32) -> u32 {
    let (all, half) = (1_i64 << SEQUENCE_BITS, 1_i64 << (SEQUENCE_BITS - 1));
    let from = i64::from(around) - half;
    let found = from + (i64::from(low) - from).rem_euclid(all);
    // Sequence numbers are neither negative nor above `u32::MAX`.
    let found = if found < 0 { found + all } else { found };
    u32::try_from(found).unwrap_or_else(|_| (found - all) as u32)
}

impl Esb32 {
    fn length<S: State>() -> usize {
        HEADER_LEN + 2 * S::Array::LEN + 2 * usize::from(PIECE)
    }

    /// Numbers of a piece: pieces of taps come first, then those of wide parameters.
    fn payload<L: DelayLines, W: Tensor>(piece: u8) -> Option<Payload> {
        let tap_pieces = (L::LEN as u16).div_ceil(PIECE);
        let piece = u16::from(piece);
        let (taps, wide) = match piece.checked_sub(tap_pieces) {
            None => (ParamRange::chunk(piece, PIECE, L::LEN as u16)?, ParamRange::NONE),
            Some(index) => (ParamRange::NONE, ParamRange::chunk(index, PIECE, W::LEN as u16)?),
        };
        Some(Payload { taps, wide })
    }
}

impl Encoding for Esb32 {
    const PROFILE: Profile = Profile::Esb32;
    const FRAMES_PER_EXCHANGE: u32 = FRAMES_PER_EXCHANGE;
    const HEADER_LEN: usize = HEADER_LEN;
    const BYTES_PER_STATE_NUMBER: usize = 2;

    /// State, piece and tag must fit one frame, and all taps must fit the frames of an exchange but one.
    fn has_room_for<S: State, L: DelayLines, W: Tensor>() -> bool {
        Self::length::<S>() + 4 <= 32
            && L::LEN <= (FRAMES_PER_EXCHANGE as usize - 1) * PIECE as usize
            && W::LEN <= MAX_NUMBERS
    }

    fn max_frame_len<S: State, L: DelayLines, W: Tensor>() -> usize {
        Self::length::<S>()
    }

    fn read_header(frame: &[u8], now: u32) -> Option<Header> {
        let &[_, sender, b0, b1, s0, s1, s2, piece] = frame.first_chunk::<HEADER_LEN>()?;
        let id = FrameId {
            sender: sender.into(),
            boot: u16::from_le_bytes([b0, b1]).into(),
            sequence: nearest(u32::from_le_bytes([s0, s1, s2, 0]), now.saturating_mul(FRAMES_PER_EXCHANGE)),
        };
        let degree = if piece & OBSTACLE == 0 { 0 } else { OBSTACLE_ONLY };
        Some(Header { id, model: None, degree })
    }

    /// `None` also for an address above 255 or a boot count above 65,535.
    fn encode<S: State, L: DelayLines, W: Tensor>(
        out: &OutgoingMessage<'_, S, L, W>, index: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        let Message { sender, degree, state, taps, wide, .. } = out.message;
        let tap_pieces = u32::from((L::LEN as u16).div_ceil(PIECE));
        let wide_pieces = u32::from((W::LEN as u16).div_ceil(PIECE)).max(1);
        let piece = if index < tap_pieces { index } else { tap_pieces + out.round % wide_pieces } as u8;
        let payload = Self::payload::<L, W>(piece)?;
        let obstacle = if *degree == OBSTACLE_ONLY { OBSTACLE } else { 0 };
        let header = Esb32Header {
            version_and_profile: first_byte(Profile::Esb32),
            sender: u8::try_from(*sender).ok()?,
            boot: U16Le::new(u16::try_from(out.boot).ok()?),
            sequence: U24Le::new(out.sequence),
            piece: piece | obstacle,
        };
        let wide = payload.wide.of(wide.numbers());
        let used = payload.taps.count_within(L::LEN as u16) + wide.len();
        let mut writer = Writer::new(&header, buffer)?;
        writer.state::<Self, S>(state)?;
        // One of taps and wide parameters is empty; zeros fill the piece.
        writer.half_taps(taps, payload.taps)?;
        writer.halves(wide)?;
        writer.halves(PADDING.get(used..).unwrap_or_default())?;
        Some(writer.length())
    }

    fn decode<S: State, L: DelayLines, W: Tensor>(
        frame: &[u8], _: &Header, _: u32, into: &mut Message<S, L, W>,
    ) -> Result<Payload, FrameError> {
        let (&[first, .., piece], content) =
            frame.split_first_chunk::<HEADER_LEN>().ok_or(FrameError::TooShort)?;
        check_first(first, Profile::Esb32)?;
        let payload = Self::payload::<L, W>(piece & !OBSTACLE).ok_or(FrameError::Dimensions)?;
        check_length(frame, Self::length::<S>())?;
        let numbers = read_state::<Self, _, _, _>(content, into)?;
        let padding = read_halves(into, payload, numbers)?;
        // Padding is zero, so that each message has one encoding.
        if into.state.is_admissible() && padding.iter().all(|byte| *byte == 0) {
            Ok(payload)
        } else {
            Err(FrameError::NotAdmissible)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_completed_if_clocks_differ_by_less_than_five_hours() {
        const HALF: u32 = 1 << 23;
        for around in [0, 5, HALF, (1 << 24) - 1, 1 << 24, (77 << 24) + 123, u32::MAX - HALF, u32::MAX] {
            for off in [0, 1, 1000, HALF - 1] {
                for sequence in [around.saturating_sub(off), around.saturating_add(off)] {
                    let low = sequence & 0x00ff_ffff;
                    assert_eq!(nearest(low, around), sequence, "{sequence:#x} near {around:#x}");
                }
            }
        }
    }
}
