//! Numbers in half precision, IEEE binary16, as small radios carry them.

use half::f16;

use wdgnn_core::{math, tensor::kernels::SHORT_RUN};

/// 2¹¹²: the exponent's bias in `f32`, 127, less that in half precision, 15.
const HALF_SCALE: f32 = f32::from_bits((127 + 127 - 15) << 23);

/// The largest finite half-precision number.
const LARGEST_HALF: f32 = 65504.0;

/// Writes numbers in half precision, to nearest even; what is too large is written as the largest.
#[inline(never)]
pub fn write(bytes: &mut [u8], numbers: &[f32]) {
    for (half, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
        *half = f16::from_f32(math::clamp(math::flush(*number), LARGEST_HALF)).to_le_bytes();
    }
}

/// Reads numbers in half precision, as many as `numbers` has room for. Returns whether every one may enter the arithmetic: none is
/// infinite, none is no number.
#[inline(never)]
pub fn read(numbers: &mut [f32], bytes: &[u8]) -> bool {
    let mut doubt = 0;
    let mut widen = |number: &mut f32, half: &[u8; 2]| {
        let bits = i32::from(i16::from_le_bytes(*half)).cast_unsigned();
        let magnitude = bits & 0x7fff;
        // The largest exponent, of what is infinite or no number, carries into the next bit.
        doubt |= magnitude + 0x0400;
        // Exponent and mantissa at their place, off by the difference of the biases, which a multiplication makes up exactly:
        // also for numbers below 2⁻¹⁴, that are without a leading one.
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
    fn every_half_is_read_as_its_number_and_written_back() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let mut number = [0.0];
            assert_eq!(read(&mut number, &bits.to_le_bytes()), half.is_finite(), "{bits:#x}");
            if half.is_finite() {
                assert_eq!(number[0].to_bits(), half.to_f32().to_bits(), "{bits:#x}");
                let mut written = [0; 2];
                write(&mut written, &number);
                // There is one zero on the wire.
                assert_eq!(u16::from_le_bytes(written), if bits == 0x8000 { 0 } else { bits });
            }
        }
    }

    #[test]
    fn what_half_precision_cannot_hold_is_its_largest_or_zero() {
        let mut written = [0; 8];
        write(&mut written, &[1.0e6, -1.0e30, 1.0e-40, -1.0e-40]);
        assert_eq!(written, [0xff, 0x7b, 0xff, 0xfb, 0, 0, 0, 0]);
    }
}
