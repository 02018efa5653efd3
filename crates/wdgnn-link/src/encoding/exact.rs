//! Profile `exact`: all numbers in `f32` in one frame. The paper's exchange.
//!
//! A frame is a header, the sender's state, its taps and its wide parameters. All fields are
//! little-endian and have a fixed length (`docs/wire-format.md`).

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array, Tensor},
};

use super::{
    Encoding, OutgoingMessage, check_length, check_model,
    content::{Writer, read_state, read_taps},
    floats, read_long_header,
};
use crate::{
    error::FrameError,
    frames::{ExactHeader, U16Le, U32Le},
    header::{Header, PROTOCOL_VERSION, Payload, Profile},
};

/// Length of the header in bytes.
pub const HEADER_LEN: usize = 22;

/// Profile `exact` for networks with folded wide part C.
pub type Exact = Float<{ Profile::Exact as u8 }>;

/// Profile `exact-unfolded` for networks with the paper's wide part B.
pub type ExactUnfolded = Float<{ Profile::ExactUnfolded as u8 }>;

/// All numbers in `f32` in one frame, with profile `CODE` in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Float<const CODE: u8>;

/// Numbers of the state, the taps and the wide parameters.
const fn dimensions<S: State, L: DelayLines, W: Tensor>() -> (u8, u16, u16) {
    const { assert!(S::Array::LEN < 1 << 8 && L::LEN < 1 << 16 && W::LEN < 1 << 16) };
    (S::Array::LEN as u8, L::LEN as u16, W::LEN as u16)
}

/// Length of every frame in bytes.
pub const fn frame_len<S: State, L: DelayLines, W: Tensor>() -> usize {
    HEADER_LEN + 4 * (S::Array::LEN + L::LEN + W::LEN)
}

impl<const CODE: u8> Encoding for Float<CODE> {
    const PROFILE: Profile = Profile::ALL[CODE as usize];
    const FRAMES_PER_EXCHANGE: u32 = 1;
    const SENDS_WHOLE_MESSAGES: bool = true;
    const HEADER_LEN: usize = HEADER_LEN;

    fn max_frame_len<S: State, L: DelayLines, W: Tensor>() -> usize {
        frame_len::<S, L, W>()
    }

    #[inline]
    fn read_header(frame: &[u8], _: u32) -> Option<Header> {
        read_long_header(frame.get(7..)?)
    }

    fn encode<S: State, L: DelayLines, W: Tensor>(
        out: &OutgoingMessage<'_, S, L, W>, _: u32, buffer: &mut [u8],
    ) -> Option<usize> {
        let (state_numbers, tap_numbers, wide_numbers) = dimensions::<S, L, W>();
        let Message { sender, degree, state, taps, wide, .. } = out.message;
        let header = ExactHeader {
            version: PROTOCOL_VERSION,
            profile: CODE,
            state_numbers,
            tap_numbers: U16Le::new(tap_numbers),
            wide_numbers: U16Le::new(wide_numbers),
            model: U32Le::new(out.model),
            sender: U16Le::new(*sender),
            boot: U32Le::new(out.boot),
            sequence: U32Le::new(out.sequence),
            degree: *degree,
        };
        let mut writer = Writer::new(&header, buffer)?;
        writer.state::<Self, S>(state)?;
        writer.float_taps(taps)?;
        writer.floats(wide.numbers())?;
        Some(writer.length())
    }

    #[inline]
    fn decode<S: State, L: DelayLines, W: Tensor>(
        frame: &[u8], header: &Header, model: u32, into: &mut Message<S, L, W>,
    ) -> Result<Payload, FrameError> {
        let (front, content) = frame.split_first_chunk::<HEADER_LEN>().ok_or(FrameError::TooShort)?;
        let [version, profile, state_numbers, t0, t1, w0, w1, ..] = *front;
        if version != PROTOCOL_VERSION {
            return Err(FrameError::Version);
        }
        if profile != CODE {
            return Err(FrameError::Profile);
        }
        let found = (state_numbers, u16::from_le_bytes([t0, t1]), u16::from_le_bytes([w0, w1]));
        if found != dimensions::<S, L, W>() {
            return Err(FrameError::Dimensions);
        }
        check_length(frame, frame_len::<S, L, W>())?;
        let numbers = read_state::<Self, _, _, _>(content, into)?;
        let (taps, wide) = numbers.split_at_checked(4 * L::LEN).ok_or(FrameError::Truncated)?;
        check_model(header, model)?;
        // Numbers are read in place: copies by value took four fifths of the time of decoding.
        let is_admissible = into.state.is_admissible()
            & read_taps(&mut into.taps, taps)
            & floats::read(into.wide.numbers_mut(), wide);
        if is_admissible { Ok(Payload::ALL) } else { Err(FrameError::NotAdmissible) }
    }
}
