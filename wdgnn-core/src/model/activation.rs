//! Nonlinearity of the deep part.
//!
//! The activation is a property of the trained model, so the weight file stores it. It is not a
//! Cargo feature.

use crate::math;

/// Pointwise nonlinearity σ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activation {
    /// [`math::tanh`]: fast, with an error of at most 7 ulp.
    Tanh,
    /// [`math::tanh_libm`]: four times the cost, with an error of 2 ulp.
    TanhLibm,
    /// max(0, x).
    Relu,
}

impl Activation {
    /// All activations, in the order of their codes in weight files.
    pub const ALL: &'static [Self] = &[Self::Tanh, Self::TanhLibm, Self::Relu];

    /// Applies σ to every number, with one branch per slice.
    #[inline(never)]
    pub fn apply(self, numbers: &mut [f32]) {
        match self {
            Self::Tanh => tanh(numbers),
            Self::TanhLibm => numbers.iter_mut().for_each(|x| *x = math::tanh_libm(*x)),
            Self::Relu => numbers.iter_mut().for_each(|x| *x = if *x > 0.0 { *x } else { 0.0 }),
        }
    }

    /// σ′ at the argument whose value is `output`.
    ///
    /// Training needs only the value, so it does not store the argument.
    #[inline]
    pub fn derivative(self, output: f32) -> f32 {
        match self {
            Self::Tanh | Self::TanhLibm => 1.0 - output * output,
            Self::Relu => f32::from(u8::from(output > 0.0)),
        }
    }
}

/// Applies [`math::tanh`] to every number.
///
/// Groups of four take the fast path if none of their magnitudes exceeds 7.
fn tanh(numbers: &mut [f32]) {
    let (runs, rest) = numbers.as_chunks_mut::<4>();
    for run in runs {
        if run.iter().all(|&x| math::tanh_is_fit(x)) {
            for x in run {
                *x = math::tanh_fit(*x);
            }
        } else {
            tanh_each(run);
        }
    }
    if !rest.is_empty() {
        tanh_each(rest);
    }
}

#[inline(never)] // Rare and long: one copy in flash.
fn tanh_each(numbers: &mut [f32]) {
    for x in numbers {
        *x = math::tanh(*x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_of_a_slice_equals_tanh_of_each_number() {
        let ends = [6.99, 7.0, 8.9, 9.01, 9.02, 50.0, f32::INFINITY, f32::NAN];
        for (position, end) in (0..6).cycle().zip(ends.into_iter().chain(ends.map(|x| -x))) {
            let mut numbers = [0.5, -1.5, 0.0, -0.25, 3.0, 6.5];
            numbers[position] = end;
            let each = numbers.map(|x| math::tanh(x).to_bits());
            Activation::Tanh.apply(&mut numbers);
            assert_eq!(numbers.map(f32::to_bits), each, "{end} at {position}");
        }
    }

    #[test]
    fn slopes_agree_with_finite_differences() {
        for activation in Activation::ALL.iter().copied() {
            for x in [-2.0_f32, -0.3, 0.4, 1.7] {
                // Step 2⁻⁷: the error of the difference quotient (x³/3 terms, 2·10⁻⁵) is far below
                // the bound.
                let h = 0.007_812_5;
                let mut values = [x - h, x, x + h];
                activation.apply(&mut values);
                let difference = (values[2] - values[0]) / (2.0 * h);
                assert!(
                    (difference - activation.derivative(values[1])).abs() < 1.0e-4,
                    "{activation:?} at {x}"
                );
            }
        }
    }
}
