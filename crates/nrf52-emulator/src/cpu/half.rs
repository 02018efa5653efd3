//! Conversions between half and single precision (A2.5).

/// Converts to single precision, exactly.
///
/// `alternative` is FPSCR.AHP, a format without infinities and NaNs.
pub fn to_single(half: u16, alternative: bool) -> u32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    match (exponent, fraction) {
        (0, 0) => sign,
        (0, _) => {
            // Normalizes a subnormal number.
            let shift = fraction.leading_zeros() - 21;
            sign | (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13
        }
        (31, 0) if !alternative => sign | 0x7f80_0000,
        // NaNs become quiet.
        (31, _) if !alternative => sign | 0x7fc0_0000 | fraction << 13,
        _ => sign | (exponent + 112) << 23 | fraction << 13,
    }
}

/// Rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Rounding {
    /// Returns FPSCR.RMode.
    pub const fn from_fpscr(fpscr: u32) -> Self {
        match fpscr >> 22 & 3 {
            0 => Self::Nearest,
            1 => Self::Up,
            2 => Self::Down,
            _ => Self::Zero,
        }
    }
}

/// Converts to half precision.
///
/// NaNs become quiet or, with `default_nan`, the default NaN.
pub fn from_single(single: u32, alternative: bool, rounding: Rounding, default_nan: bool) -> u16 {
    let sign = (single >> 16 & 0x8000) as u16;
    let (exponent, fraction) = (single >> 23 & 0xff, single & 0x7f_ffff);
    if exponent == 255 {
        return match (alternative, fraction) {
            (false, 0) => sign | 0x7c00,
            (false, _) if default_nan => 0x7e00,
            (false, _) => sign | 0x7e00 | (fraction >> 13) as u16,
            // The alternative format maps infinity to its largest number and NaN to zero.
            (true, 0) => sign | 0x7fff,
            (true, _) => sign,
        };
    }
    if exponent == 0 && fraction == 0 {
        return sign;
    }
    // The value is significand * 2^(power - 23). The unit in the last place of the half-precision
    // result is 2^(max(power, -14) - 10).
    let (significand, power) =
        if exponent == 0 { (fraction, -126) } else { (fraction | 0x80_0000, exponent.cast_signed() - 127) };
    let drop = (13 + (-14 - power).max(0)).min(31).cast_unsigned();
    let (high, rest) = (significand >> drop, significand & ((1 << drop) - 1));
    let middle = 1u32 << (drop - 1);
    let up = match rounding {
        Rounding::Nearest => rest > middle || rest == middle && high & 1 != 0,
        Rounding::Up => rest != 0 && sign == 0,
        Rounding::Down => rest != 0 && sign != 0,
        Rounding::Zero => false,
    };
    let rounded = high + u32::from(up);
    // The hidden bit and a carry of the rounding add to the exponent.
    let bits = if power >= -14 { ((power + 14).cast_unsigned() << 10) + rounded } else { rounded };
    let max = if alternative { 0x7fff } else { 0x7bff };
    if bits > max {
        let infinite = match rounding {
            Rounding::Nearest => true,
            Rounding::Up => sign == 0,
            Rounding::Down => sign != 0,
            Rounding::Zero => false,
        };
        return sign | if infinite && !alternative { 0x7c00 } else { max as u16 };
    }
    sign | bits as u16
}
