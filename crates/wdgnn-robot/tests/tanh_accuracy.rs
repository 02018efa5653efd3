//! The error of `tanh` over a sample of all finite `f32` against `f64`.

use std::ops::Range;

use wdgnn_core::math::{TANH_MAX_ERROR, TANH_MAX_ULP, tanh, tanh_libm};
use wdgnn_core::model::activation::Activation;

/// Below 2⁻¹⁸ the exact value is within 2⁻¹³ of a unit in the last place of x, `x²/3 < 2⁻³⁷`: x is the only correct result.
const SAME_BELOW: f32 = 1.0 / (1 << 18) as f32;
/// Below 2⁻¹⁰ the series `x − x³/3 + 2x⁵/15` is exact to 10⁻²⁰ of x, and much faster than a call.
const SERIES_BELOW: f32 = 1.0 / 1024.0;
/// From here on the exact value is nearer to 1 than to any other `f32`: `1 − tanh x < 2⁻²⁵`.
const ONE_FROM: f32 = 9.02;

#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    ulp: f64,
    absolute: f64,
}

impl Worst {
    fn see(&mut self, found: f32, exact: f64) {
        let absolute = (f64::from(found) - exact).abs();
        self.absolute = self.absolute.max(absolute);
        self.ulp = self.ulp.max(absolute / unit_in_the_last_place(exact));
    }
}

/// The distance between adjacent `f32` around `x > 0`.
fn unit_in_the_last_place(x: f64) -> f64 {
    // Exponents as f64 stores them, with an offset of 1023; f32 has none below −126, and 23 bits behind its leading one.
    let exponent = (x.to_bits() >> 52).max(1023 - 126);
    f64::from_bits((exponent - 23) << 52)
}

fn exact_tanh(x: f32) -> f64 {
    let wide = f64::from(x);
    if x < SERIES_BELOW {
        let square = wide * wide;
        wide * (1.0 - square / 3.0 + 2.0 * square * square / 15.0)
    } else {
        wide.tanh()
    }
}

/// Runs `check` over every 101st `f32` in `floats`: a prime, so that all mantissas and exponents occur.
fn on_sample<R: Default>(floats: Range<f32>, check: impl Fn(&mut R, f32)) -> R {
    let mut result = R::default();
    for bits in (floats.start.to_bits()..floats.end.to_bits()).step_by(101) {
        check(&mut result, f32::from_bits(bits));
    }
    result
}

#[test]
fn small_floats_map_to_themselves() {
    on_sample(0.0..SAME_BELOW, |(): &mut (), x| assert_eq!(tanh(x).to_bits(), x.to_bits()));
}

#[test]
fn errors_are_within_the_documented_bounds() {
    let [ours, libm] = on_sample(SAME_BELOW..ONE_FROM, |[ours, libm]: &mut [Worst; 2], x| {
        let exact = exact_tanh(x);
        ours.see(tanh(x), exact);
        libm.see(tanh_libm(x), exact);
    });
    assert!(ours.ulp <= f64::from(TANH_MAX_ULP) && ours.absolute <= f64::from(TANH_MAX_ERROR), "{ours:?}");
    assert!(ours.ulp > 4.0, "the sample shows errors: {ours:?}");
    assert!(libm.ulp < 2.2, "{libm:?}");
}

#[test]
fn vectorized_tanh_equals_tanh_near_the_ends_of_the_fit() {
    // The ends of the fitted range. Below 6 the fit is far from 1, the only value that differs.
    on_sample(6.0..9.5, |(): &mut (), x| {
        let mut four = [x; 4];
        Activation::Tanh.apply(&mut four);
        assert_eq!(four[0].to_bits(), tanh(x).to_bits(), "at {x}");
    });
}

#[test]
fn large_floats_map_to_one() {
    assert!(1.0 - f64::from(ONE_FROM).tanh() < 1.0 / f64::from(1 << 25));
    on_sample(ONE_FROM..f32::INFINITY, |(): &mut (), x| assert_eq!(tanh(x), 1.0));
}

#[test]
fn tanh_is_odd() {
    for bits in (0..=f32::INFINITY.to_bits()).step_by(1009) {
        let x = f32::from_bits(bits);
        assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits(), "at {x}");
    }
}
