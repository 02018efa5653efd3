//! Taps of all delay lines as bytes, first line first, without the last tap of each line.

use wdgnn_core::{
    filter::DelayLines,
    tensor::{kernels, param_range::ParamRange},
};

use super::halves;

/// Writes all transmitted taps as little-endian `f32`, as far as there is room.
pub(super) fn write<C: DelayLines>(chains: &C, bytes: &mut [u8]) {
    for (from, line) in chains.sent() {
        kernels::write(bytes.get_mut(4 * from..).unwrap_or_default(), line);
    }
}

/// Reads all transmitted taps from little-endian `f32`. Returns whether all of them are admissible.
#[inline]
pub(super) fn read<C: DelayLines>(chains: &mut C, bytes: &[u8]) -> bool {
    let mut admissible = true;
    chains.for_each_transmitted(|from, line| {
        admissible &= kernels::read(line, bytes.get(4 * from..).unwrap_or_default());
    });
    admissible
}

/// Writes a run of the transmitted taps in half precision. Returns the number of bytes, or `None` without room.
pub(super) fn write_halves<C: DelayLines>(chains: &C, run: ParamRange, bytes: &mut [u8]) -> Option<usize> {
    let mut written = 0;
    for (from, line) in chains.sent() {
        let numbers = run.beyond(from as u16).of(line);
        halves::write(bytes.get_mut(written..written + 2 * numbers.len())?, numbers);
        written += 2 * numbers.len();
    }
    Some(written)
}

/// Reads a run of the transmitted taps from half precision. Returns whether all of them are finite.
pub(super) fn read_halves<C: DelayLines>(chains: &mut C, run: ParamRange, mut bytes: &[u8]) -> bool {
    let mut admissible = true;
    chains.for_each_transmitted(|from, line| {
        let numbers = run.beyond(from as u16).of_mut(line);
        let (here, rest) = bytes.split_at_checked(2 * numbers.len()).unwrap_or_default();
        admissible &= halves::read(numbers, here);
        bytes = rest;
    });
    admissible
}

#[cfg(test)]
mod tests {
    use wdgnn_core::filter::{DelayLine, NoDelayLine, Stacked};

    use super::*;

    #[test]
    fn last_tap_of_each_line_is_not_transmitted() {
        let above = Stacked { chain: DelayLine([[3.0], [-8.0], [11.0]]), above: NoDelayLine };
        let two = Stacked { chain: DelayLine([[1.0, -7.0], [9.0, 9.0]]), above };
        let mut bytes = [0; 16];
        write(&two, &mut bytes);
        let mut read_back = Stacked::ZERO;
        assert!(read(&mut read_back, &bytes));
        let above = Stacked { chain: DelayLine([[3.0], [-8.0], [0.0]]), above: NoDelayLine };
        assert_eq!(read_back, Stacked { chain: DelayLine([[1.0, -7.0], [0.0, 0.0]]), above });
    }

    #[test]
    fn run_of_halves_goes_across_lines() {
        let above = Stacked { chain: DelayLine([[3.0], [-8.0], [11.0]]), above: NoDelayLine };
        let two = Stacked { chain: DelayLine([[1.0, -7.0], [9.0, 9.0]]), above };
        let run = ParamRange { from: 1, to: 3 };
        let mut bytes = [0; 4];
        assert_eq!(write_halves(&two, run, &mut bytes), Some(4));
        assert_eq!(write_halves(&two, run, &mut [0; 3]), None);
        let mut read_back = Stacked::ZERO;
        assert!(read_halves(&mut read_back, run, &bytes));
        let above = Stacked { chain: DelayLine([[3.0], [0.0], [0.0]]), above: NoDelayLine };
        assert_eq!(read_back, Stacked { chain: DelayLine([[0.0, -7.0], [0.0, 0.0]]), above });
    }
}
