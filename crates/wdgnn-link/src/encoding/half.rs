//! Profiles with a compact header and with taps and parameters in half precision.
//!
//! * [`Dot154`], IEEE 802.15.4: state in `f32`, all taps, and 12 wide parameters in rotation (one tap
//!   of C for two outputs and six features) or as many as fit. At most 116 bytes with a tag of 8.
//! * [`EspNow`]: all wide parameters, or as many as fit. At most 250 bytes.
//! * [`P2p57`], peer-to-peer packets of a Crazyflie: two frames per exchange with the state in half
//!   precision, one half of the taps, and a few wide parameters in rotation. The limit of the firmware is
//!   60 bytes; 57 bytes pass every version. A robot that misses one frame still knows the state of its
//!   neighbor and combines the new half of the taps with the other half of the previous exchange.
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
    content::{Writer, read_halves, read_state},
    read_long_header,
};
use crate::{
    error::FrameError,
    frames::{CompactHeader, U16Le, U32Le},
    header::{Header, PROTOCOL_VERSION, Payload, Profile},
};

/// Largest number of wide parameters: the header counts their parts in one byte.
pub(crate) const MAX_NUMBERS: usize = 128;

/// Length of the longest tag in bytes. Frames leave room for it, sealed or not.
pub const MAX_TAG_LEN: usize = 8;

/// Length of a [`CompactHeader`] in bytes.
const HEADER_LEN: usize = 17;

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

/// IEEE 802.15.4.
pub type Dot154 = Half<{ Profile::Dot154 as u8 }, 12, 116>;

/// ESP-NOW.
pub type EspNow = Half<{ Profile::EspNow as u8 }, { u16::MAX }, 250>;

/// Peer-to-peer packets of a Crazyflie.
pub type P2p57 = Half<{ Profile::P2p57 as u8 }, { u16::MAX }, 57, 2, 2>;

/// State with `STATE` bytes per number, taps in `FRAMES` frames, and up to `RUN` wide parameters per frame
/// of `LIMIT` bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half<
    const CODE: u8,
    const RUN: u16,
    const LIMIT: usize,
    const FRAMES: u16 = 1,
    const STATE: usize = 4,
>;

impl<const CODE: u8, const RUN: u16, const LIMIT: usize, const FRAMES: u16, const STATE: usize>
    Half<CODE, RUN, LIMIT, FRAMES, STATE>
{
    /// Largest number of taps per frame.
    const fn max_taps<L: DelayLines>() -> u16 {
        (L::LEN as u16).div_ceil(FRAMES)
    }

    /// Number of wide parameters per frame: `RUN`, or as many as fit.
    const fn max_run<S: State, L: DelayLines>() -> u16 {
        let used = HEADER_LEN + STATE * S::Array::LEN + 2 * Self::max_taps::<L>() as usize + MAX_TAG_LEN;
        let room = LIMIT.saturating_sub(used) / 2;
        if room < RUN as usize { room as u16 } else { RUN }
    }

    /// Number of frames that carry all wide parameters; 0 if none fits.
    fn parts<S: State, L: DelayLines, W: Tensor>() -> u32 {
        const {
            let length = Self::max_run::<S, L>();
            if length == 0 { 0 } else { (W::LEN as u16).div_ceil(length).next_multiple_of(FRAMES) as u32 }
        }
    }

    /// Numbers of a part.
    fn payload<S: State, L: DelayLines, W: Tensor>(part: u8) -> Payload {
        let part = u16::from(part);
        let taps = ParamRange::chunk(part % FRAMES, Self::max_taps::<L>(), L::LEN as u16);
        let wide = ParamRange::chunk(part, Self::max_run::<S, L>(), W::LEN as u16);
        Payload { taps: taps.unwrap_or(ParamRange::NONE), wide: wide.unwrap_or(ParamRange::NONE) }
    }

    fn length<S: State>(payload: Payload) -> usize {
        let count = |range: ParamRange| range.count_within(u16::MAX);
        HEADER_LEN + STATE * S::Array::LEN + 2 * (count(payload.taps) + count(payload.wide))
    }
}

impl<const CODE: u8, const RUN: u16, const LIMIT: usize, const FRAMES: u16, const STATE: usize> Encoding
    for Half<CODE, RUN, LIMIT, FRAMES, STATE>
{
    const PROFILE: Profile = Profile::ALL[CODE as usize];
    const FRAMES_PER_EXCHANGE: u32 = FRAMES as u32;
    const HEADER_LEN: usize = HEADER_LEN;
    const BYTES_PER_STATE_NUMBER: usize = STATE;
    /// A proof takes 70 µs on an nRF52840. With six, a frame is ready 0.2 ms before its slot.
    const MAX_PROOFS_PER_FRAME: usize = if CODE == Profile::Dot154 as u8 { 6 } else { usize::MAX };

    fn has_room_for<S: State, L: DelayLines, W: Tensor>() -> bool {
        Self::max_run::<S, L>() > 0 && W::LEN <= MAX_NUMBERS
    }

    fn max_frame_len<S: State, L: DelayLines, W: Tensor>() -> usize {
        Self::length::<S>(Self::payload::<S, L, W>(0))
    }

    fn read_header(frame: &[u8], _: u32) -> Option<Header> {
        read_long_header(frame.get(2..)?)
    }

    fn encode<S: State, L: DelayLines, W: Tensor>(
        out: &OutgoingMessage<'_, S, L, W>, index: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        let frames = u32::from(FRAMES);
        let rounds = (Self::parts::<S, L, W>() / frames).max(1);
        let part = (frames * (out.round % rounds) + index % frames) as u8;
        let payload = Self::payload::<S, L, W>(part);
        let Message { sender, degree, state, taps, wide, .. } = out.message;
        let header = CompactHeader {
            version_and_profile: first_byte(Self::PROFILE),
            part,
            model: U32Le::new(out.model),
            sender: U16Le::new(*sender),
            boot: U32Le::new(out.boot),
            sequence: U32Le::new(out.sequence),
            degree: *degree,
        };
        let mut writer = Writer::new(&header, buffer)?;
        writer.state::<Self, S>(state)?;
        writer.half_taps(taps, payload.taps)?;
        writer.halves(payload.wide.of(wide.numbers()))?;
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
        let payload = Self::payload::<S, L, W>(part);
        check_length(frame, Self::length::<S>(payload))?;
        let numbers = read_state::<Self, _, _, _>(content, into)?;
        check_model(header, model)?;
        read_halves(into, payload, numbers)?;
        if into.state.is_admissible() { Ok(payload) } else { Err(FrameError::NotAdmissible) }
    }
}
