//! The gradient of a training loss over all of a network's numbers, by the trainer's own network.

use wdgnn_core::{activation::Activation, shape::Dimensions};

use crate::{
    movie::network::{HIDDEN, NUMBERS, Numbers, TAPS},
    train::net::{Net, Sums},
};

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

/// A network's dimensions.
const SIZE: Dimensions = Dimensions { features: 1, layers: 1, taps: TAPS, hidden: HIDDEN, outputs: 1 };

fn net(numbers: &Numbers) -> Net<'_> {
    Net::new(SIZE, Activation::Relu, numbers)
}

/// The network's prediction.
#[must_use]
pub fn predict(numbers: &Numbers, taps: &[f32; TAPS]) -> f32 {
    net(numbers).forward(vec![taps.to_vec()]).output[0]
}

/// The gradient of the mean loss over a batch.
#[must_use]
pub fn of_batch<'s>(
    numbers: &Numbers,
    batch: impl ExactSizeIterator<Item = &'s Sample>,
    loss: Loss,
) -> Numbers {
    let net = net(numbers);
    let count = batch.len();
    let (taps, labels): (Vec<[f32; TAPS]>, Vec<f32>) =
        batch.map(|sample| (sample.taps, sample.label)).unzip();
    let pass = net.forward(vec![taps.into_flattened()]);
    let errors: Vec<f32> =
        pass.output.iter().zip(&labels).map(|(output, label)| loss.slope(output - label)).collect();
    let mut sums = Sums::new(&net);
    net.backward(&pass, &errors, &mut [Vec::new()], &mut sums);
    sums.count = count;
    let mut gradient = [0.0; NUMBERS];
    sums.finish(&net, &mut gradient);
    gradient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::network::{Architecture, model, places};
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
                let pattern = |numbers: &Numbers| {
                    let pass = net(numbers).forward(vec![sample.taps.to_vec()]);
                    pass.values[0].iter().map(|value| *value > 0.0).collect::<Vec<bool>>()
                };
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
