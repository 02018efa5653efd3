//! The error of `tanh` over every finite `f32` against `f64`: the documented bounds are the measured maxima.

use std::{ops::Range, thread};
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

    fn or(self, other: Self) -> Self {
        Self { ulp: self.ulp.max(other.ulp), absolute: self.absolute.max(other.absolute) }
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

/// Runs `check` over the bits of every `f32` in `floats`, on all cores. Pieces are interleaved, since the slow ones
/// (subnormal squares on x86) are adjacent.
fn on_all_cores<R: Default + Send>(floats: Range<f32>, check: impl Fn(&mut R, f32) + Sync) -> Vec<R> {
    const PIECE: usize = 1 << 20;
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let (start, end) = (floats.start.to_bits(), floats.end.to_bits());
    let work = |worker: usize| {
        let mut result = R::default();
        for from in (start..end).step_by(PIECE).skip(worker).step_by(threads) {
            for bits in from..end.min(from + PIECE as u32) {
                check(&mut result, f32::from_bits(bits));
            }
        }
        result
    };
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..threads).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn small_floats_map_to_themselves() {
    on_all_cores(0.0..SAME_BELOW, |(): &mut (), x| assert_eq!(tanh(x).to_bits(), x.to_bits()));
}

#[test]
fn documented_errors_are_the_measured_maxima() {
    let worst = on_all_cores(SAME_BELOW..ONE_FROM, |[ours, libm]: &mut [Worst; 2], x| {
        let exact = exact_tanh(x);
        ours.see(tanh(x), exact);
        libm.see(tanh_libm(x), exact);
    });
    let over_all = |which: usize| worst.iter().map(|worst| worst[which]).fold(Worst::default(), Worst::or);
    let (ours, libm) = (over_all(0), over_all(1));
    println!("tanh: {:.3} ulp, {:.3e} absolute", ours.ulp, ours.absolute);
    println!("libm::tanhf: {:.3} ulp, {:.3e} absolute", libm.ulp, libm.absolute);
    assert!(ours.ulp <= f64::from(TANH_MAX_ULP), "{ours:?}");
    assert!(ours.ulp > f64::from(TANH_MAX_ULP - 1), "the documented bound could be tighter: {ours:?}");
    assert!(ours.absolute <= f64::from(TANH_MAX_ERROR), "{ours:?}");
    assert!(
        ours.absolute > 0.99 * f64::from(TANH_MAX_ERROR),
        "the documented bound could be tighter: {ours:?}"
    );
    assert!(libm.ulp < 2.2, "{libm:?}");
}

#[test]
fn vectorized_tanh_equals_tanh_near_the_ends_of_the_fit() {
    // The ends of the fitted range. Below 6 the fit is far from 1, the only value that differs.
    on_all_cores(6.0..9.5, |(): &mut (), x| {
        let mut four = [x; 4];
        Activation::Tanh.apply(&mut four);
        assert_eq!(four[0].to_bits(), tanh(x).to_bits(), "at {x}");
    });
}

#[test]
fn large_floats_map_to_one() {
    assert!(1.0 - f64::from(ONE_FROM).tanh() < 1.0 / f64::from(1 << 25));
    on_all_cores(ONE_FROM..f32::INFINITY, |(): &mut (), x| assert_eq!(tanh(x), 1.0));
}

#[test]
fn tanh_is_odd() {
    // Every 1009th float (a prime, so that all mantissas and exponents occur): a sample suffices, since the code looks at
    // the sign in one place only.
    for bits in (0..=f32::INFINITY.to_bits()).step_by(1009) {
        let x = f32::from_bits(bits);
        assert_eq!(tanh(-x).to_bits(), (-tanh(x)).to_bits(), "at {x}");
    }
}
