//! The gradient of a training loss over all of a network's numbers, by hand.
//!
//! With `z` the six numbers of a user: `d = ReLU(Aᵀz + a)`, `w = Bᵀz + b`, `h = α_D d + α_W w + β`, `u = R·h + ρ`.
//! Backwards from `e = ∂J/∂u`: `∂h = e R`, and every sum above hands it on to its parts.

use crate::movie::network::{HIDDEN, NUMBERS, Numbers, TAPS, over, places};

/// One user as training sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The six numbers at the target node.
    pub taps: [f32; TAPS],
    /// The rating that the user gave.
    pub label: f32,
}

/// What a wrong prediction costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Loss {
    /// e²/2 up to an error of one star, |e| − ½ beyond it.
    SmoothL1,
    /// e².
    Mse,
}

impl Loss {
    /// The loss of an error e.
    #[must_use]
    pub fn value(self, error: f32) -> f32 {
        match self {
            Self::SmoothL1 if error.abs() < 1.0 => 0.5 * error * error,
            Self::SmoothL1 => error.abs() - 0.5,
            Self::Mse => error * error,
        }
    }

    /// Its derivative.
    #[must_use]
    pub fn slope(self, error: f32) -> f32 {
        match self {
            Self::SmoothL1 => error.clamp(-1.0, 1.0),
            Self::Mse => 2.0 * error,
        }
    }
}

/// The network's output and what the way back needs.
struct Forward {
    deep: [f32; HIDDEN],
    wide: [f32; HIDDEN],
    hidden: [f32; HIDDEN],
    output: f32,
}

fn forward(numbers: &Numbers, taps: &[f32; TAPS]) -> Forward {
    let network = over(numbers, 1.0);
    let (mut deep, mut wide) = (*network.deep.bias, *network.wide_bias);
    for ((z, a), b) in taps.iter().zip(network.deep.filter.as_flattened()).zip(network.wide.as_flattened()) {
        for i in 0..HIDDEN {
            deep[i] += z * a[i];
            wide[i] += z * b[i];
        }
    }
    let mut hidden = [0.0; HIDDEN];
    let mut output = network.readout_bias[0];
    for i in 0..HIDDEN {
        deep[i] = deep[i].max(0.0);
        hidden[i] = network.alpha_deep * deep[i] + network.alpha_wide * wide[i] + network.beta;
        output += network.readout[i][0] * hidden[i];
    }
    Forward { deep, wide, hidden, output }
}

/// The network's prediction.
#[must_use]
pub fn predict(numbers: &Numbers, taps: &[f32; TAPS]) -> f32 {
    forward(numbers, taps).output
}

/// Adds `∂J/∂u = slope(u − label) · share` of one sample, handed back to every number, to `gradient`.
pub fn accumulate(numbers: &Numbers, sample: &Sample, loss: Loss, share: f32, gradient: &mut Numbers) {
    let Forward { deep, wide, hidden, output } = forward(numbers, &sample.taps);
    let error = share * loss.slope(output - sample.label);
    let (alpha_deep, alpha_wide) = (numbers[places::ALPHA_DEEP], numbers[places::ALPHA_WIDE]);
    let readout = &numbers[places::READOUT];
    let (mut to_deep, mut to_wide) = ([0.0; HIDDEN], [0.0; HIDDEN]);
    let (mut alpha_deep_sum, mut alpha_wide_sum, mut beta_sum) = (0.0, 0.0, 0.0);
    for i in 0..HIDDEN {
        let to_hidden = error * readout[i];
        alpha_deep_sum += to_hidden * deep[i];
        alpha_wide_sum += to_hidden * wide[i];
        beta_sum += to_hidden;
        to_deep[i] = if deep[i] > 0.0 { alpha_deep * to_hidden } else { 0.0 };
        to_wide[i] = alpha_wide * to_hidden;
    }
    gradient[places::ALPHA_DEEP] += alpha_deep_sum;
    gradient[places::ALPHA_WIDE] += alpha_wide_sum;
    gradient[places::BETA] += beta_sum;
    to_filter(&mut gradient[places::DEEP], &sample.taps, &to_deep);
    to_filter(&mut gradient[places::WIDE], &sample.taps, &to_wide);
    for (sum, h) in gradient[places::READOUT].iter_mut().zip(hidden) {
        *sum += error * h;
    }
    gradient[places::READOUT_BIAS] += error;
}

/// A filter's weights take the taps' share, its bias takes all.
fn to_filter(gradient: &mut [f32], taps: &[f32; TAPS], to_output: &[f32; HIDDEN]) {
    for (row, z) in gradient.chunks_exact_mut(HIDDEN).zip(taps.iter().chain(&[1.0])) {
        for (sum, g) in row.iter_mut().zip(to_output) {
            *sum += z * g;
        }
    }
}

/// The gradient of the mean loss over a batch.
#[must_use]
pub fn of_batch<'s>(
    numbers: &Numbers,
    batch: impl ExactSizeIterator<Item = &'s Sample>,
    loss: Loss,
) -> Numbers {
    let mut gradient = [0.0; NUMBERS];
    let share = 1.0 / batch.len() as f32;
    for sample in batch {
        accumulate(numbers, sample, loss, share, &mut gradient);
    }
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::network::{Architecture, model};
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use wdgnn_core::{
        taps::{Chain, NoChain, Stacked},
        wide::Model as _,
    };

    const SAMPLE: Sample = Sample { taps: [0.0, 1.7, 0.9, 1.3, 0.8, 1.1], label: 4.0 };

    fn numbers() -> Numbers {
        let mut numbers = Architecture::WideAndDeep.start(&mut ChaCha8Rng::seed_from_u64(3));
        numbers[places::ALPHA_DEEP] = 0.8;
        numbers[places::ALPHA_WIDE] = 1.3;
        numbers[places::BETA] = 0.2;
        numbers
    }

    #[test]
    fn every_number_s_gradient_agrees_with_finite_differences() {
        // Kept away from the corners of ReLU and of the loss, u is linear in every single number and the loss is at most
        // quadratic: a central difference is exact but for rounding (losses near 8 have 5e-7, over 2h = 1/32: 3e-5).
        let numbers = numbers();
        for (loss, label) in [(Loss::Mse, 4.0), (Loss::SmoothL1, 4.0), (Loss::SmoothL1, 0.5)] {
            let sample = Sample { label, ..SAMPLE };
            let gradient = of_batch(&numbers, [sample].iter(), loss);
            let at = |numbers: &Numbers| loss.value(predict(numbers, &sample.taps) - label);
            let mut checked = 0;
            for index in 0..NUMBERS {
                let (mut up, mut down) = (numbers, numbers);
                let h = 0.015_625;
                up[index] += h;
                down[index] -= h;
                let pattern = |numbers: &Numbers| forward(numbers, &sample.taps).deep.map(|d| d > 0.0);
                if pattern(&up) != pattern(&down) {
                    continue;
                }
                let difference = (at(&up) - at(&down)) / (2.0 * h);
                assert!(
                    (difference - gradient[index]).abs() < 2.0e-4 * (1.0 + gradient[index].abs()),
                    "{loss:?}, number {index}: {difference} and {}",
                    gradient[index]
                );
                checked += 1;
            }
            assert!(checked > NUMBERS * 9 / 10, "only {checked} numbers were away from a corner");
        }
    }

    #[test]
    fn a_batch_s_gradient_is_the_mean_of_its_samples() {
        let numbers = numbers();
        let other = Sample { taps: [0.0, 0.2, 0.1, 0.4, 0.3, 0.2], label: 1.0 };
        let single = |sample: &Sample| of_batch(&numbers, [*sample].iter(), Loss::Mse);
        let (a, b, both) =
            (single(&SAMPLE), single(&other), of_batch(&numbers, [SAMPLE, other].iter(), Loss::Mse));
        for index in 0..NUMBERS {
            let mean = f32::midpoint(a[index], b[index]);
            assert!((both[index] - mean).abs() <= 1.0e-5 * (1.0 + mean.abs()), "number {index}");
        }
    }

    #[test]
    fn a_missing_part_never_gets_a_gradient() {
        for (architecture, place) in [(Architecture::Deep, places::WIDE), (Architecture::Wide, places::DEEP)]
        {
            let numbers = architecture.start(&mut ChaCha8Rng::seed_from_u64(3));
            let gradient = of_batch(&numbers, [SAMPLE].iter(), Loss::SmoothL1);
            assert!(gradient[place].iter().all(|&g| g == 0.0), "{architecture:?}");
            assert!(gradient[places::READOUT].iter().any(|&g| g != 0.0), "{architecture:?}");
        }
    }

    #[test]
    fn training_and_the_core_predict_the_same() {
        // The core folds B and R before it sums, training does not: 64 products near 1 round 1e-7 each.
        let numbers = numbers();
        let model = model(&numbers, 1.0);
        let mut chains = Stacked { chain: Chain(SAMPLE.taps.map(|z| [z])), above: NoChain };
        let [core] = model.infer(model.offline(), &[SAMPLE.taps[0]], &mut chains);
        assert!((core - predict(&numbers, &SAMPLE.taps)).abs() < 1.0e-5);
    }

    #[test]
    fn the_losses_by_hand() {
        assert_eq!((Loss::SmoothL1.value(0.5), Loss::SmoothL1.slope(0.5)), (0.125, 0.5));
        assert_eq!((Loss::SmoothL1.value(-3.0), Loss::SmoothL1.slope(-3.0)), (2.5, -1.0));
        assert_eq!((Loss::Mse.value(-3.0), Loss::Mse.slope(-3.0)), (9.0, -6.0));
    }
}
