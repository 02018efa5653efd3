//! Profiles with taps and parameters in half precision and one frame per exchange.
//!
//! * [`Dot154`], IEEE 802.15.4: state in `f32`, all taps, and 12 wide parameters in rotation (one tap
//!   of C for two outputs and six features) or as many as fit. At most 116 bytes with a tag of 8.
//! * [`EspNow`]: all wide parameters, or as many as fit. At most 250 bytes.
//!
//! Half precision is IEEE 754 binary16, rounded to nearest even. Larger magnitudes are sent as the
//! largest finite number.

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array, Tensor, param_range::ParamRange},
};

use super::{
    Encoding, OutgoingMessage, check_length, check_model,
    content::{Writer, read_halves},
    floats,
};
use crate::{
    error::FrameError,
    frames::{CompactHeader, U16Le, U32Le},
    header::{FrameId, Header, PROTOCOL_VERSION, Payload, Profile},
};

/// Largest number of wide parameters: the header counts their parts in one byte.
pub(crate) const MAX_NUMBERS: usize = 128;

/// Length of the longest tag in bytes. Frames leave room for it, sealed or not.
pub const MAX_TAG_LEN: usize = 8;

/// Length of a [`CompactHeader`] in bytes.
pub(crate) const HEADER_LEN: usize = 17;

/// First byte of every frame with a compact header.
pub(crate) const fn first_byte(profile: Profile) -> u8 {
    PROTOCOL_VERSION | (profile as u8) << 4
}

/// Checks version and profile of a compact frame.
pub(crate) fn check_first(first: u8, profile: Profile) -> Result<(), FrameError> {
    match first {
        _ if first & 0x0f != PROTOCOL_VERSION => Err(FrameError::Version),
        _ if first != first_byte(profile) => Err(FrameError::Profile),
        _ => Ok(()),
    }
}

/// Reads a compact header.
pub(super) fn read_header(frame: &[u8]) -> Option<Header> {
    let &[_, _, c0, c1, c2, c3, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, degree] =
        frame.first_chunk::<HEADER_LEN>()?;
    let id = FrameId {
        sender: u16::from_le_bytes([i0, i1]),
        boot: u32::from_le_bytes([b0, b1, b2, b3]),
        sequence: u32::from_le_bytes([s0, s1, s2, s3]),
    };
    Some(Header { id, model: Some(u32::from_le_bytes([c0, c1, c2, c3])), degree })
}

/// The compact header of part `part` of a message.
pub(super) fn compact_header<S, L, W>(
    out: &OutgoingMessage<'_, S, L, W>, profile: Profile, part: u8,
) -> CompactHeader {
    CompactHeader {
        version_and_profile: first_byte(profile),
        part,
        model: U32Le::new(out.model),
        sender: U16Le::new(out.message.sender),
        boot: U32Le::new(out.boot),
        sequence: U32Le::new(out.sequence),
        degree: out.message.degree,
    }
}

/// IEEE 802.15.4.
pub type Dot154 = Half<{ Profile::Dot154 as u8 }, 12, 116>;

/// ESP-NOW.
pub type EspNow = Half<{ Profile::EspNow as u8 }, { u16::MAX }, 250>;

/// State in `f32`, all taps and up to `RUN` wide parameters in half precision, in `LIMIT` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half<const CODE: u8, const RUN: u16, const LIMIT: usize>;

impl<const CODE: u8, const RUN: u16, const LIMIT: usize> Half<CODE, RUN, LIMIT> {
    /// Length of a frame without wide parameters.
    const fn min_len<S: State, L: DelayLines>() -> usize {
        HEADER_LEN + 4 * S::Array::LEN + 2 * L::LEN
    }

    /// Number of wide parameters per frame: `RUN`, or as many as fit.
    const fn max_run<S: State, L: DelayLines>() -> u16 {
        let room = LIMIT.saturating_sub(Self::min_len::<S, L>() + MAX_TAG_LEN) / 2;
        if room < RUN as usize { room as u16 } else { RUN }
    }

    fn run<S: State, L: DelayLines, W: Tensor>(part: u8) -> ParamRange {
        let run = ParamRange::chunk(part.into(), Self::max_run::<S, L>(), W::LEN as u16);
        run.unwrap_or(ParamRange::NONE)
    }

    /// Number of frames that carry all wide parameters; 0 if none fits.
    fn parts<S: State, L: DelayLines, W: Tensor>() -> u32 {
        const {
            let length = Self::max_run::<S, L>();
            if length == 0 { 0 } else { (W::LEN as u16).div_ceil(length) as u32 }
        }
    }

    /// Length of a frame with these wide parameters.
    fn length<S: State, L: DelayLines>(run: ParamRange) -> usize {
        Self::min_len::<S, L>() + 2 * run.count_within(u16::MAX)
    }
}

impl<const CODE: u8, const RUN: u16, const LIMIT: usize> Encoding for Half<CODE, RUN, LIMIT> {
    const PROFILE: Profile = if CODE == Profile::Dot154 as u8 { Profile::Dot154 } else { Profile::EspNow };
    const FRAMES_PER_EXCHANGE: u32 = 1;
    const HEADER_LEN: usize = HEADER_LEN;
    /// A proof takes 70 µs on an nRF52840. With six, a frame is ready 0.2 ms before its slot.
    const MAX_PROOFS_PER_FRAME: usize = if CODE == Profile::Dot154 as u8 { 6 } else { usize::MAX };

    fn has_room_for<S: State, L: DelayLines, W: Tensor>() -> bool {
        Self::max_run::<S, L>() > 0 && W::LEN <= MAX_NUMBERS
    }

    fn max_frame_len<S: State, L: DelayLines, W: Tensor>() -> usize {
        Self::length::<S, L>(Self::run::<S, L, W>(0))
    }

    fn read_header(frame: &[u8], _: u32) -> Option<Header> {
        read_header(frame)
    }

    fn encode<S: State, L: DelayLines, W: Tensor>(
        out: &OutgoingMessage<'_, S, L, W>, _: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        let part = (out.round % Self::parts::<S, L, W>().max(1)) as u8;
        let Message { state, taps, wide, .. } = out.message;
        let mut writer = Writer::new(&compact_header(out, Self::PROFILE, part), buffer)?;
        writer.floats(state.to_array().as_ref())?;
        writer.half_taps(taps, ParamRange::ALL)?;
        writer.halves(Self::run::<S, L, W>(part).of(wide.numbers()))?;
        Some(writer.length())
    }

    fn decode<S: State, L: DelayLines, W: Tensor>(
        frame: &[u8], header: &Header, model: u32, into: &mut Message<S, L, W>,
    ) -> Result<Payload, FrameError> {
        let (&[first, part, ..], content) =
            frame.split_first_chunk::<HEADER_LEN>().ok_or(FrameError::TooShort)?;
        check_first(first, Self::PROFILE)?;
        if u32::from(part) >= Self::parts::<S, L, W>() {
            return Err(FrameError::Dimensions);
        }
        let wide = Self::run::<S, L, W>(part);
        check_length(frame, Self::length::<S, L>(wide))?;
        let (state, numbers) = content.split_at_checked(4 * S::Array::LEN).ok_or(FrameError::Truncated)?;
        into.state = S::from_array(floats::read_array(state));
        check_model(header, model)?;
        let payload = Payload { taps: ParamRange::ALL, wide };
        read_halves(into, payload, numbers)?;
        if into.state.is_admissible() { Ok(payload) } else { Err(FrameError::NotAdmissible) }
    }
}
