//! Train: Adam over shuffled batches, as the paper's appendix has it.

use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::{
    movie::{
        gradient::{self, Loss, Sample},
        network::{Architecture, NUMBERS, Numbers},
    },
    train::adam::Adam,
};

/// The paper's epochs.
pub const EPOCHS: usize = 30;
/// The paper's batch.
const BATCH: usize = 5;
/// The paper's learning rate.
const RATE: f32 = 5.0e-3;
/// The network after the last epoch.
#[must_use]
pub fn train(
    architecture: Architecture,
    samples: &[Sample],
    loss: Loss,
    epochs: usize,
    random: &mut ChaCha8Rng,
) -> Numbers {
    let mut numbers = architecture.start(random);
    let mut adam = Adam::new(NUMBERS);
    let mut order: Vec<usize> = (0..samples.len()).collect();
    for _ in 0..epochs {
        order.shuffle(random);
        for batch in order.chunks(BATCH) {
            let mut gradient = gradient::of_batch(&numbers, batch.iter().map(|&index| &samples[index]), loss);
            if !architecture.combines() {
                gradient[..3].fill(0.0);
            }
            adam.step(&mut numbers, &gradient, RATE);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::network::places;
    use rand::{RngExt as _, SeedableRng as _};

    #[test]
    fn all_architectures_learn_a_linear_rule() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let samples: Vec<Sample> = (0..300)
            .map(|_| {
                let taps = std::array::from_fn(|_| random.random_range(0.0..1.0));
                Sample { taps, label: 3.0 + taps[1] - taps[3] }
            })
            .collect();
        for architecture in [Architecture::WideAndDeep, Architecture::Deep, Architecture::Wide] {
            let mut random = ChaCha8Rng::seed_from_u64(2);
            let numbers = train(architecture, &samples, Loss::SmoothL1, EPOCHS, &mut random);
            let errors = samples.iter().map(|s| (gradient::predict(&numbers, &s.taps) - s.label).powi(2));
            let rmse = (errors.sum::<f32>() / samples.len() as f32).sqrt();
            // The labels' deviation is 0.41.
            assert!(rmse < 0.1, "{architecture:?}: {rmse}");
            assert_eq!(numbers[places::BETA] != 0.0, architecture.combines());
        }
    }
}
