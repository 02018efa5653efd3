//! Profile for a Crazyflie's peer-to-peer packets: two frames of at most 57 bytes per exchange.
//!
//! Each frame has the state in half precision, one half of the taps, and a few wide parameters in
//! rotation. A robot that misses one frame still knows the state of its neighbor and combines the new
//! half of the taps with the other half of the previous exchange.

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array, Tensor, param_range::ParamRange},
};

use super::{
    Encoding, OutgoingMessage, check_length, check_model,
    content::{Writer, read_halves},
    half::{HEADER_LEN, MAX_NUMBERS, MAX_TAG_LEN, check_first, compact_header, read_header},
    halves,
};
use crate::{
    error::FrameError,
    header::{Header, Payload, Profile},
};

/// Peer-to-peer packets of a Crazyflie.
///
/// The limit of its firmware is 60 bytes; 57 bytes pass every version of the firmware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct P2p57;

/// Length of the longest frame with its tag.
const LIMIT: usize = 57;
/// Frames per exchange: even parts have the first half of the taps, odd parts the second half.
const HALVES: u32 = 2;

impl P2p57 {
    /// Largest number of taps per frame.
    const fn max_taps<L: DelayLines>() -> u16 {
        (L::LEN as u16).div_ceil(HALVES as u16)
    }

    /// Number of wide parameters per frame: as many as fit.
    const fn max_run<S: State, L: DelayLines>() -> u16 {
        let room = LIMIT.saturating_sub(HEADER_LEN + 2 * S::Array::LEN + MAX_TAG_LEN) / 2;
        (room as u16).saturating_sub(Self::max_taps::<L>())
    }

    /// Number of parts, two per exchange.
    const fn parts<S: State, L: DelayLines, W: Tensor>() -> u32 {
        let length = Self::max_run::<S, L>();
        if length == 0 { 0 } else { ((W::LEN as u16).div_ceil(length) as u32).next_multiple_of(HALVES) }
    }

    /// Numbers of a part.
    fn payload<S: State, L: DelayLines, W: Tensor>(part: u8) -> Payload {
        let part = u16::from(part);
        let taps = ParamRange::chunk(part % HALVES as u16, Self::max_taps::<L>(), L::LEN as u16);
        let wide = ParamRange::chunk(part, Self::max_run::<S, L>(), W::LEN as u16);
        Payload { taps: taps.unwrap_or(ParamRange::NONE), wide: wide.unwrap_or(ParamRange::NONE) }
    }

    fn length<S: State>(payload: Payload) -> usize {
        HEADER_LEN
            + 2 * (S::Array::LEN + payload.taps.count_within(u16::MAX) + payload.wide.count_within(u16::MAX))
    }
}

impl Encoding for P2p57 {
    const PROFILE: Profile = Profile::P2p57;
    const FRAMES_PER_EXCHANGE: u32 = HALVES;
    const HEADER_LEN: usize = HEADER_LEN;
    const BYTES_PER_STATE_NUMBER: usize = 2;

    fn has_room_for<S: State, L: DelayLines, W: Tensor>() -> bool {
        Self::max_run::<S, L>() > 0 && W::LEN <= MAX_NUMBERS
    }

    fn max_frame_len<S: State, L: DelayLines, W: Tensor>() -> usize {
        Self::length::<S>(Self::payload::<S, L, W>(0))
    }

    fn read_header(frame: &[u8], _: u32) -> Option<Header> {
        read_header(frame)
    }

    fn encode<S: State, L: DelayLines, W: Tensor>(
        out: &OutgoingMessage<'_, S, L, W>, index: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        let rounds = (Self::parts::<S, L, W>() / HALVES).max(1);
        let part = (HALVES * (out.round % rounds) + index % HALVES) as u8;
        let payload = Self::payload::<S, L, W>(part);
        let Message { state, taps, wide, .. } = out.message;
        let mut writer = Writer::new(&compact_header(out, Profile::P2p57, part), buffer)?;
        writer.halves(state.to_array().as_ref())?;
        writer.half_taps(taps, payload.taps)?;
        writer.halves(payload.wide.of(wide.numbers()))?;
        Some(writer.length())
    }

    fn decode<S: State, L: DelayLines, W: Tensor>(
        frame: &[u8], header: &Header, model: u32, into: &mut Message<S, L, W>,
    ) -> Result<Payload, FrameError> {
        let (&[first, part, ..], content) =
            frame.split_first_chunk::<HEADER_LEN>().ok_or(FrameError::TooShort)?;
        check_first(first, Profile::P2p57)?;
        if u32::from(part) >= Self::parts::<S, L, W>() {
            return Err(FrameError::Dimensions);
        }
        let payload = Self::payload::<S, L, W>(part);
        check_length(frame, Self::length::<S>(payload))?;
        let numbers = read_state(content, into)?;
        check_model(header, model)?;
        read_halves(into, payload, numbers)?;
        if into.state.is_admissible() { Ok(payload) } else { Err(FrameError::NotAdmissible) }
    }
}

/// Reads a state in half precision. Returns the bytes after it.
pub(super) fn read_state<'a, S: State, L, W>(
    content: &'a [u8], into: &mut Message<S, L, W>,
) -> Result<&'a [u8], FrameError> {
    let (bytes, rest) = content.split_at_checked(2 * S::Array::LEN).ok_or(FrameError::Truncated)?;
    let mut state = S::Array::ZERO;
    if !halves::read(state.as_mut(), bytes) {
        return Err(FrameError::NotAdmissible);
    }
    into.state = S::from_array(state);
    Ok(rest)
}
