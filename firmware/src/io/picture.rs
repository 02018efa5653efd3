//! Pictures of a display of 5 × 5 LEDs: 25 bits, from the upper left to the lower right.

/// Motor board missing: a wheel with a cross.
pub const MOTORS: u32 = 0b10001_01010_00100_01010_10001;
/// Robot tilted: an arrow upward.
pub const TILT: u32 = 0b00100_01110_10101_00100_00100;
/// No poses: an eye.
pub const NO_POSES: u32 = 0b00000_01110_10101_01110_00000;
/// Camera does not see this robot: an eye with a line.
pub const UNSEEN: u32 = 0b00001_01110_10101_01110_10000;
/// No chassis is set: a question mark.
pub const NO_CHASSIS: u32 = 0b01110_00010_00100_00000_00100;
/// Gateway.
pub const GATEWAY: u32 = 0b11111_10001_10101_10001_11111;

/// Digits from 0.
const DIGITS: [u32; 10] = [
    0b01110_01010_01010_01010_01110,
    0b00100_01100_00100_00100_01110,
    0b01110_00010_01110_01000_01110,
    0b01110_00010_00110_00010_01110,
    0b01010_01010_01110_00010_00010,
    0b01110_01000_01110_00010_01110,
    0b01110_01000_01110_01010_01110,
    0b01110_00010_00100_01000_01000,
    0b01110_01010_01110_01010_01110,
    0b01110_01010_01110_00010_01110,
];

/// Last digit of an address, with a column on the left from 10 on and one on the right from 20 on.
pub fn address(address: u16) -> u32 {
    let digit = DIGITS.get(usize::from(address % 10)).copied().unwrap_or_default();
    let left = if address / 10 % 10 % 2 == 1 { 0b10000 } else { 0 };
    let right = u32::from(!(address / 20).is_multiple_of(5));
    let column = left | right;
    digit | column | column << 5 | column << 10 | column << 15 | column << 20
}

/// As many LEDs as there are neighbors, row by row.
pub fn neighbors(count: u8) -> u32 {
    let dark = 25_u32.saturating_sub(count.into());
    (0x01ff_ffff >> dark) << dark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_neighbors_are_distinct() {
        assert_eq!(neighbors(7), 0b11111_11000_00000_00000_00000);
        assert_eq!((neighbors(0), neighbors(200)), (0, 0x01ff_ffff));
        for one in 0..40 {
            assert!((0..one).all(|other| address(one) != address(other)), "{one}");
        }
    }
}
