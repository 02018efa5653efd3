//! Payload of messages: profiles with short frames send some numbers per frame.

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::State,
    tensor::{Tensor, param_range::ParamRange},
};
use wdgnn_link::header::Payload;

/// Copies the numbers that a later frame of the same sender carries.
#[inline(never)] // One copy for new and known neighbors.
pub(crate) fn merge<S: State, L: DelayLines, W: Tensor>(
    known: &mut Message<S, L, W>, later: &Message<S, L, W>, payload: Payload,
) {
    (known.tick, known.degree, known.state) = (later.tick, later.degree, later.state);
    copy_taps(&mut known.taps, &later.taps, payload.taps);
    copy(payload.wide.of_mut(known.wide.numbers_mut()), payload.wide.of(later.wide.numbers()));
}

/// Copies a run of the transmitted taps, counted over all delay lines.
fn copy_taps<L: DelayLines>(to: &mut L, from: &L, run: ParamRange) {
    for (first, line) in to.transmitted_mut() {
        let run = run.beyond(first as u16);
        copy(run.of_mut(line), run.of(from.transmitted_from(first)));
    }
}

/// The largest magnitude in a run of the transmitted taps.
pub(crate) fn max_tap<L: DelayLines>(lines: &L, run: ParamRange) -> f32 {
    lines.transmitted().fold(0.0, |largest, (first, line)| {
        let here = max_magnitude(run.beyond(first as u16).of(line));
        if here > largest { here } else { largest }
    })
}

/// `to = from`, up to the shorter length.
#[inline]
fn copy(to: &mut [f32], from: &[f32]) {
    let count = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..count), from.get(..count)) {
        to.copy_from_slice(from);
    }
}

/// Largest magnitude; NaN if any number is NaN.
#[inline(never)]
fn max_magnitude(numbers: &[f32]) -> f32 {
    // The bits of magnitudes have the order of the magnitudes.
    let twice = numbers.iter().fold(0, |largest: u32, x| largest.max(x.to_bits() << 1));
    f32::from_bits(twice >> 1)
}

#[cfg(test)]
mod tests {
    use wdgnn_core::filter::{DelayLine, LayerTaps};

    use super::*;

    #[test]
    fn max_tap_is_found_in_any_delay_line() {
        let above = LayerTaps { line: DelayLine([[3.0], [-8.0], [11.0]]), above: () };
        let two = LayerTaps { line: DelayLine([[1.0, -7.0], [9.0, 9.0]]), above };
        assert_eq!(max_tap(&two, ParamRange::ALL), 8.0, "last taps are not transmitted");
        assert_eq!(max_tap(&two, ParamRange { from: 0, to: 3 }), 7.0);
        assert_eq!(max_tap(&two, ParamRange { from: 2, to: 3 }), 3.0);
        assert_eq!(max_tap(&two, ParamRange::NONE), 0.0);
    }
}
