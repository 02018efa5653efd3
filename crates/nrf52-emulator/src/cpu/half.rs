//! Half precision, of which the FPU only knows conversions (A2.5, FPHalfToSingle and FPSingleToHalf).

/// To single precision: exact. `alternative` is FPSCR.AHP, without infinities and NaNs.
pub fn to_single(half: u16, alternative: bool) -> u32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    match (exponent, fraction) {
        (0, 0) => sign,
        (0, _) => {
            // Subnormal: normalise.
            let shift = fraction.leading_zeros() - 21;
            sign | (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13
        }
        (31, 0) if !alternative => sign | 0x7f80_0000,
        // A NaN becomes quiet.
        (31, _) if !alternative => sign | 0x7fc0_0000 | fraction << 13,
        _ => sign | (exponent + 112) << 23 | fraction << 13,
    }
}

/// Which way a result that lies between two numbers goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Rounding {
    /// FPSCR.RMode
    pub const fn of(fpscr: u32) -> Self {
        match fpscr >> 22 & 3 {
            0 => Self::Nearest,
            1 => Self::Up,
            2 => Self::Down,
            _ => Self::Zero,
        }
    }
}

/// To half precision. NaNs are quieted, or, with `default_nan`, forgotten.
pub fn from_single(single: u32, alternative: bool, rounding: Rounding, default_nan: bool) -> u16 {
    let sign = (single >> 16 & 0x8000) as u16;
    let (exponent, fraction) = (single >> 23 & 0xff, single & 0x7f_ffff);
    if exponent == 255 {
        return match (alternative, fraction) {
            (false, 0) => sign | 0x7c00,
            (false, _) if default_nan => 0x7e00,
            (false, _) => sign | 0x7e00 | (fraction >> 13) as u16,
            // The alternative format has neither: infinity is the largest number, NaN is zero.
            (true, 0) => sign | 0x7fff,
            (true, _) => sign,
        };
    }
    if exponent == 0 && fraction == 0 {
        return sign;
    }
    // The value is significand * 2^(power - 23); one half ulp is 2^(max(power, -14) - 10).
    let (significand, power) =
        if exponent == 0 { (fraction, -126) } else { (fraction | 0x80_0000, exponent.cast_signed() - 127) };
    let drop = (13 + (-14 - power).max(0)).min(31).cast_unsigned();
    let (kept, rest) = (significand >> drop, significand & ((1 << drop) - 1));
    let middle = 1u32 << (drop - 1);
    let up = match rounding {
        Rounding::Nearest => rest > middle || rest == middle && kept & 1 != 0,
        Rounding::Up => rest != 0 && sign == 0,
        Rounding::Down => rest != 0 && sign != 0,
        Rounding::Zero => false,
    };
    let rounded = kept + u32::from(up);
    // The hidden bit counts itself into the exponent, as does a carry.
    let bits = if power >= -14 { ((power + 14).cast_unsigned() << 10) + rounded } else { rounded };
    let most = if alternative { 0x7fff } else { 0x7bff };
    if bits > most {
        let infinite = match rounding {
            Rounding::Nearest => true,
            Rounding::Up => sign == 0,
            Rounding::Down => sign != 0,
            Rounding::Zero => false,
        };
        return sign | if infinite && !alternative { 0x7c00 } else { most as u16 };
    }
    sign | bits as u16
}
