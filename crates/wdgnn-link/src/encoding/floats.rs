//! Numbers as little-endian `f32`.

use wdgnn_core::{math, tensor::Array};

/// Fills `numbers` from little-endian bytes, up to the shorter length.
///
/// Replaces numbers that are not [`math::is_admissible`] by 0. Returns whether all of them are
/// admissible.
#[inline(never)]
pub fn read(numbers: &mut [f32], bytes: &[u8]) -> bool {
    let decoded = || bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let mut doubts = 0;
    for (number, decoded) in numbers.iter_mut().zip(decoded()) {
        let doubt = math::quick_admissible(decoded);
        // Numbers that need the full test are 0 for now. The compiler would turn a plain copy into
        // `memcpy`, which is slow on unaligned bytes.
        *number = f32::from_bits(decoded.to_bits() & !(doubt >> 31).cast_unsigned());
        doubts |= doubt;
    }
    if doubts >= 0 {
        return true;
    }
    let mut all = true;
    for (number, decoded) in numbers.iter_mut().zip(decoded()) {
        let admissible = math::is_admissible(decoded);
        *number = if admissible { decoded } else { 0.0 };
        all &= admissible;
    }
    all
}

/// Writes numbers as little-endian bytes, up to the shorter length.
///
/// Subnormals are written as zero.
#[inline(never)]
pub fn write(bytes: &mut [u8], numbers: &[f32]) {
    for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
        *bytes = math::flush_subnormal(*number).to_le_bytes();
    }
}

/// Reads an array without checking its numbers. All are zero if bytes are missing.
pub fn read_array<A: Array>(bytes: &[u8]) -> A {
    let mut array = A::ZERO;
    let numbers = array.as_mut();
    for (number, bytes) in numbers.iter_mut().zip(bytes.get(..4 * A::LEN).unwrap_or_default().as_chunks().0) {
        *number = f32::from_le_bytes(*bytes);
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_inadmissible_number_is_found_at_every_position() {
        for position in 0..22 {
            for bad in [f32::NAN, f32::NEG_INFINITY, 1.0e-40, -2.0e18] {
                let mut bytes = [[0; 4]; 22];
                bytes[position] = bad.to_le_bytes();
                assert!(!read(&mut [0.0; 22], bytes.as_flattened()), "{bad} at {position}");
            }
        }
    }

    #[test]
    fn numbers_round_trip() {
        // Tiny numbers, large numbers and zeros of both signs need the full test, and pass it.
        let written = [1.0_f32, -0.0, 1.0e-30, -2.5, 0.0, 1.15e18, 7.0, -1.0e-37, 3.0];
        let bytes = written.map(f32::to_le_bytes);
        let mut numbers = [0.0; 9];
        assert!(read(&mut numbers, bytes.as_flattened()));
        assert_eq!(numbers.map(f32::to_bits), written.map(f32::to_bits));
    }

    #[test]
    fn subnormals_are_written_as_zero() {
        let mut bytes = [0xff; 8];
        write(&mut bytes, &[1.0, 1.0e-40]);
        assert_eq!(bytes, [0, 0, 0x80, 0x3f, 0, 0, 0, 0]);
    }

    #[test]
    fn arrays_with_missing_bytes_are_zero() {
        assert_eq!(read_array::<[f32; 1]>(&[0, 0, 0x80, 0x3f, 9]), [1.0]);
        assert_eq!(read_array::<[f32; 2]>(&[0, 0, 0x80, 0x3f, 0, 0, 0x80]), [0.0, 0.0]);
    }
}
