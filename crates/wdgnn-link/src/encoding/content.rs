//! Lists of numbers in a frame, written behind a header and read in place.

use serde::Serialize;
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Array as _, Tensor, param_range::ParamRange},
};

use super::{Encoding, floats, halves};
use crate::{error::FrameError, header::Payload};

/// Writes a frame: its header by postcard, then lists of numbers in blocks.
///
/// A list takes half of the instructions that postcard takes for single numbers.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    rest: &'a mut [u8],
    length: usize,
}

impl<'a> Writer<'a> {
    /// Writes a header. Returns `None` if the buffer is too short.
    #[inline]
    pub fn new(header: &impl Serialize, buffer: &'a mut [u8]) -> Option<Self> {
        let length = postcard::to_slice(header, buffer).ok()?.len();
        Some(Self { rest: buffer.get_mut(length..)?, length })
    }

    /// Returns the next `length` bytes of the frame.
    fn take(&mut self, length: usize) -> Option<&'a mut [u8]> {
        let (bytes, rest) = core::mem::take(&mut self.rest).split_at_mut_checked(length)?;
        (self.rest, self.length) = (rest, self.length + length);
        Some(bytes)
    }

    /// Writes numbers as `f32`.
    pub fn floats(&mut self, numbers: &[f32]) -> Option<()> {
        floats::write(self.take(4 * numbers.len())?, numbers);
        Some(())
    }

    /// Writes numbers in half precision.
    pub fn halves(&mut self, numbers: &[f32]) -> Option<()> {
        halves::write(self.take(2 * numbers.len())?, numbers);
        Some(())
    }

    /// Writes a state as the profile `E` does.
    pub fn state<E: Encoding, S: State>(&mut self, state: &S) -> Option<()> {
        let numbers = state.to_array();
        if E::BYTES_PER_STATE_NUMBER == 2 {
            self.halves(numbers.as_ref())
        } else {
            self.floats(numbers.as_ref())
        }
    }

    /// Writes the transmitted taps as `f32`.
    #[inline]
    pub fn float_taps<L: DelayLines>(&mut self, lines: &L) -> Option<()> {
        lines.transmitted().try_for_each(|(_, line)| self.floats(line))
    }

    /// Writes a range of the transmitted taps in half precision.
    #[inline]
    pub fn half_taps<L: DelayLines>(&mut self, lines: &L, range: ParamRange) -> Option<()> {
        lines.transmitted().try_for_each(|(from, line)| self.halves(range.beyond(from as u16).of(line)))
    }

    /// Length of the frame in bytes.
    pub fn length(&self) -> usize {
        self.length
    }
}

/// Reads the state of a frame in profile `E`. Returns the bytes after it.
#[inline]
pub(crate) fn read_state<'a, E: Encoding, S: State, L, W>(
    content: &'a [u8], into: &mut Message<S, L, W>,
) -> Result<&'a [u8], FrameError> {
    let length = E::BYTES_PER_STATE_NUMBER * S::Array::LEN;
    let (bytes, rest) = content.split_at_checked(length).ok_or(FrameError::Truncated)?;
    let mut numbers = S::Array::ZERO;
    if E::BYTES_PER_STATE_NUMBER == 4 {
        numbers = floats::read_array(bytes);
    } else if !halves::read(numbers.as_mut(), bytes) {
        return Err(FrameError::NotAdmissible);
    }
    into.state = S::from_array(numbers);
    Ok(rest)
}

/// Reads all transmitted taps from little-endian `f32`. Returns whether all of them are admissible.
#[inline]
pub(super) fn read_taps<L: DelayLines>(lines: &mut L, bytes: &[u8]) -> bool {
    let mut is_admissible = true;
    for (from, line) in lines.transmitted_mut() {
        is_admissible &= floats::read(line, bytes.get(4 * from..).unwrap_or_default());
    }
    is_admissible
}

/// Reads taps and wide parameters in half precision. Returns the bytes after them.
///
/// # Errors
/// [`FrameError::Truncated`]; [`FrameError::NotAdmissible`] if a number is not finite.
pub(super) fn read_halves<'a, S, L: DelayLines, W: Tensor>(
    message: &mut Message<S, L, W>, payload: Payload, numbers: &'a [u8],
) -> Result<&'a [u8], FrameError> {
    let taps = 2 * payload.taps.count_within(L::LEN as u16);
    let (mut taps, numbers) = numbers.split_at_checked(taps).ok_or(FrameError::Truncated)?;
    let wide = payload.wide.of_mut(message.wide.numbers_mut());
    let (bytes, rest) = numbers.split_at_checked(2 * wide.len()).ok_or(FrameError::Truncated)?;
    let mut is_admissible = halves::read(wide, bytes);
    for (from, line) in message.taps.transmitted_mut() {
        let line = payload.taps.beyond(from as u16).of_mut(line);
        let (here, rest) = taps.split_at_checked(2 * line.len()).unwrap_or_default();
        is_admissible &= halves::read(line, here);
        taps = rest;
    }
    if is_admissible { Ok(rest) } else { Err(FrameError::NotAdmissible) }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::{
        filter::{DelayLine, LayerTaps},
        tasks::flocking::Motion,
        tensor::Filter,
    };

    use super::*;

    type Two = LayerTaps<2, 2, LayerTaps<3, 1, ()>>;

    fn lines(second: [f32; 2], above: [f32; 3]) -> Two {
        let above = LayerTaps { line: DelayLine(above.map(|z| [z])), above: () };
        LayerTaps { line: DelayLine([[1.0, second[0]], [second[1]; 2]]), above }
    }

    #[test]
    fn last_tap_of_each_line_is_not_transmitted() {
        let two = lines([-7.0, 9.0], [3.0, -8.0, 11.0]);
        let mut bytes = [0; 16];
        let mut writer = Writer::new(&(), &mut bytes).unwrap();
        assert_eq!((writer.float_taps(&two), writer.length()), (Some(()), 16));
        let mut read_back = Two::ZERO;
        assert!(read_taps(&mut read_back, &bytes));
        assert_eq!(read_back, lines([-7.0, 0.0], [3.0, -8.0, 0.0]));
    }

    #[test]
    fn range_of_halves_spans_lines() {
        let two = lines([-7.0, 9.0], [3.0, -8.0, 11.0]);
        let range = ParamRange { from: 1, to: 3 };
        let mut bytes = [0; 4];
        let mut writer = Writer::new(&(), &mut bytes).unwrap();
        assert_eq!((writer.half_taps(&two, range), writer.length()), (Some(()), 4));
        assert_eq!(Writer::new(&(), &mut [0; 3]).unwrap().half_taps(&two, range), None);
        let mut message = Message::<Motion<2>, Two, Filter<1, 1, 1>>::empty(Motion::REST);
        let payload = Payload { taps: range, wide: ParamRange::NONE };
        assert_eq!(read_halves(&mut message, payload, &bytes), Ok(&[][..]));
        assert_eq!(message.taps.line, DelayLine([[0.0, -7.0], [0.0; 2]]));
        assert_eq!(message.taps.above.line, DelayLine([[3.0], [0.0], [0.0]]));
    }
}
