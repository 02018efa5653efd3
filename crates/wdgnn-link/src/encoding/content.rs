//! Lists of numbers in a frame, borrowed from a message.
//!
//! The types serialize as tuples of numbers, so postcard writes them without a length.

use serde::{Serialize, Serializer, ser::SerializeTuple as _};
use wdgnn_core::{
    filter::DelayLines,
    math,
    message::Message,
    tensor::{Tensor, kernels, param_range::ParamRange},
};

use super::halves;
use crate::{error::FrameError, frames::fixed::F16, header::Payload};

/// Numbers as `f32`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatList<'a>(pub &'a [f32]);

/// Numbers in half precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfList<'a>(pub &'a [f32]);

/// Transmitted taps as `f32`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatTaps<'a, L>(pub &'a L);

/// Range of the transmitted taps in half precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfTaps<'a, L>(pub &'a L, pub ParamRange);

impl Serialize for FloatList<'_> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(self.0.len())?;
        for number in self.0 {
            tuple.serialize_element(&math::flush(*number))?;
        }
        tuple.end()
    }
}

impl Serialize for HalfList<'_> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(self.0.len())?;
        for number in self.0 {
            tuple.serialize_element(&F16::new(*number))?;
        }
        tuple.end()
    }
}

impl<L: DelayLines> Serialize for FloatTaps<'_, L> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(L::LEN)?;
        for (_, line) in self.0.transmitted() {
            for number in line {
                tuple.serialize_element(&math::flush(*number))?;
            }
        }
        tuple.end()
    }
}

impl<L: DelayLines> Serialize for HalfTaps<'_, L> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(lines, range) = self;
        let mut tuple = serializer.serialize_tuple(range.count(L::LEN as u16))?;
        for (from, line) in lines.transmitted() {
            for number in range.beyond(from as u16).of(line) {
                tuple.serialize_element(&F16::new(*number))?;
            }
        }
        tuple.end()
    }
}

/// Reads all transmitted taps from little-endian `f32`. Returns whether all of them are admissible.
#[inline]
pub(super) fn read_taps<L: DelayLines>(lines: &mut L, bytes: &[u8]) -> bool {
    let mut is_admissible = true;
    lines.for_each_transmitted(|from, line| {
        is_admissible &= kernels::read(line, bytes.get(4 * from..).unwrap_or_default());
    });
    is_admissible
}

/// Reads taps and wide parameters in half precision. Returns the bytes after them.
///
/// # Errors
/// [`FrameError::Truncated`]; [`FrameError::NotAdmissible`] if a number is not finite.
pub(super) fn read_halves<'a, S, L: DelayLines, W: Tensor>(
    message: &mut Message<S, L, W>,
    payload: Payload,
    numbers: &'a [u8],
) -> Result<&'a [u8], FrameError> {
    let taps = 2 * payload.taps.count(L::LEN as u16);
    let (mut taps, numbers) = numbers.split_at_checked(taps).ok_or(FrameError::Truncated)?;
    let wide = payload.wide.of_mut(message.wide.numbers_mut());
    let (bytes, rest) = numbers.split_at_checked(2 * wide.len()).ok_or(FrameError::Truncated)?;
    let mut is_admissible = halves::read(wide, bytes);
    message.taps.for_each_transmitted(|from, line| {
        let line = payload.taps.beyond(from as u16).of_mut(line);
        let (here, rest) = taps.split_at_checked(2 * line.len()).unwrap_or_default();
        is_admissible &= halves::read(line, here);
        taps = rest;
    });
    if is_admissible { Ok(rest) } else { Err(FrameError::NotAdmissible) }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{
        filter::{DelayLine, NoDelayLine, Stacked},
        tasks::flocking::Motion,
        tensor::Filter,
    };

    use super::*;

    type Two = Stacked<2, 2, Stacked<3, 1, NoDelayLine>>;

    fn lines(second: [f32; 2], above: [f32; 3]) -> Two {
        let above = Stacked { line: DelayLine(above.map(|z| [z])), above: NoDelayLine };
        Stacked { line: DelayLine([[1.0, second[0]], [second[1]; 2]]), above }
    }

    #[test]
    fn last_tap_of_each_line_is_not_transmitted() {
        let two = lines([-7.0, 9.0], [3.0, -8.0, 11.0]);
        let mut bytes = [0; 16];
        assert_eq!(postcard::to_slice(&FloatTaps(&two), &mut bytes).map(|bytes| bytes.len()), Ok(16));
        let mut read_back = Two::ZERO;
        assert!(read_taps(&mut read_back, &bytes));
        assert_eq!(read_back, lines([-7.0, 0.0], [3.0, -8.0, 0.0]));
    }

    #[test]
    fn range_of_halves_spans_lines() {
        let two = lines([-7.0, 9.0], [3.0, -8.0, 11.0]);
        let range = ParamRange { from: 1, to: 3 };
        let mut bytes = [0; 4];
        assert_eq!(postcard::to_slice(&HalfTaps(&two, range), &mut bytes).map(|bytes| bytes.len()), Ok(4));
        assert!(postcard::to_slice(&HalfTaps(&two, range), &mut [0; 3]).is_err());
        let mut message = Message::<Motion<2>, Two, Filter<1, 1, 1>>::empty(Motion::REST);
        let payload = Payload { taps: range, wide: ParamRange::NONE };
        assert_eq!(read_halves(&mut message, payload, &bytes), Ok(&[][..]));
        assert_eq!(message.taps.line, DelayLine([[0.0, -7.0], [0.0; 2]]));
        assert_eq!(message.taps.above.line, DelayLine([[3.0], [0.0], [0.0]]));
    }
}
