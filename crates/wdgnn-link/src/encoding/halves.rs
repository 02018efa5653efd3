//! Numbers in half precision (IEEE binary16), for radios with small frames.

use half::f16;

use wdgnn_core::math;

/// Numbers per loop iteration, which share the cost of the loop.
const SHORT_RUN: usize = 4;

/// 2¹¹²: the exponent bias of `f32`, 127, minus that of half precision, 15.
const HALF_SCALE: f32 = f32::from_bits((127 + 127 - 15) << 23);

/// Largest finite number in half precision.
const LARGEST_HALF: f32 = 65504.0;

/// Writes numbers in half precision, rounded to nearest even.
///
/// Numbers that are too large are written as the largest.
#[inline(never)]
pub fn write(bytes: &mut [u8], numbers: &[f32]) {
    for (half, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
        *half = f16::from_f32(math::clamp(math::flush_subnormal(*number), LARGEST_HALF)).to_le_bytes();
    }
}

/// Reads numbers in half precision, up to the shorter length.
///
/// Returns whether all of them are finite, which makes them admissible.
#[inline(never)]
pub fn read(numbers: &mut [f32], bytes: &[u8]) -> bool {
    let mut doubt = 0;
    let mut widen = |number: &mut f32, half: &[u8; 2]| {
        let bits = i32::from(i16::from_le_bytes(*half)).cast_unsigned();
        let magnitude = bits & 0x7fff;
        // The exponent of infinities and NaN carries into the next bit.
        doubt |= magnitude + 0x0400;
        // Exponent and mantissa are in place except for the difference of the exponent biases. The
        // multiplication corrects it exactly, also for subnormals below 2⁻¹⁴.
        *number = f32::from_bits(bits & 0x8000_0000 | magnitude << 13) * HALF_SCALE;
    };
    let count = numbers.len().min(bytes.len() / 2);
    let (runs, rest) = numbers.get_mut(..count).unwrap_or_default().as_chunks_mut::<SHORT_RUN>();
    let (half_runs, half_rest) = bytes.as_chunks().0.as_chunks::<SHORT_RUN>();
    for (run, halves) in runs.iter_mut().zip(half_runs) {
        run.iter_mut().zip(halves).for_each(|(number, half)| widen(number, half));
    }
    rest.iter_mut().zip(half_rest).for_each(|(number, half)| widen(number, half));
    doubt & 0x8000 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_precision_number_round_trips() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let mut number = [0.0];
            assert_eq!(read(&mut number, &bits.to_le_bytes()), half.is_finite(), "{bits:#x}");
            if half.is_finite() {
                assert_eq!(number[0].to_bits(), half.to_f32().to_bits(), "{bits:#x}");
                let mut written = [0; 2];
                write(&mut written, &number);
                // Senders write −0 as 0.
                assert_eq!(u16::from_le_bytes(written), if bits == 0x8000 { 0 } else { bits });
            }
        }
    }

    #[test]
    fn out_of_range_numbers_are_clipped_or_zeroed() {
        let mut written = [0; 8];
        write(&mut written, &[1.0e6, -1.0e30, 1.0e-40, -1.0e-40]);
        assert_eq!(written, [0xff, 0x7b, 0xff, 0xfb, 0, 0, 0, 0]);
    }
}
