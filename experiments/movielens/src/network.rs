//! Network: WD-GNN, GNN and graph filter as one parameter vector, and their training.
//!
//! `u = Rᵀ(α_D · relu(Aᵀz) + α_W · Bᵀz + β) + ρ`, where z holds the six taps and a 1 for the
//! biases. The order of the parameters is that of `wdgnn-core`: α_D, α_W, β; A; B; R; ρ.

use rand::{RngExt as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;

/// K + 1 with the paper's K = 5.
pub const TAPS: usize = 6;
/// The taps and a constant 1.
pub const INPUTS: usize = TAPS + 1;
/// Hidden features G (the paper's appendix).
pub const HIDDEN: usize = 64;

// Places in the parameter vector.
const ALPHA_DEEP: usize = 0;
const ALPHA_WIDE: usize = 1;
const BETA: usize = 2;
const DEEP: usize = 3;
const WIDE: usize = DEEP + INPUTS * HIDDEN;
const READOUT: usize = WIDE + INPUTS * HIDDEN;
const READOUT_BIAS: usize = READOUT + HIDDEN;
const LEN: usize = READOUT_BIAS + 1;

/// Parameters of a network.
pub type Parameters = [f32; LEN];

// Training of the paper's appendix: Adam with its usual ε.
const EPOCHS: usize = 30;
const BATCH: usize = 5;
const LEARNING_RATE: f32 = 5.0e-3;
const DECAYS: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1.0e-8;

/// Trained parts of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// WD-GNN: both parts.
    WideAndDeep,
    /// GNN: the deep part only.
    Deep,
    /// Graph filter: the wide part only.
    Wide,
}

/// A user as the network sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Taps at the target movie, and a constant 1.
    pub inputs: [f32; INPUTS],
    /// The user's rating of the target movie.
    pub label: f32,
}

/// Loss of a prediction error e.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Loss {
    /// e²/2 below one star, |e| − ½ above.
    SmoothL1,
    /// e².
    Mse,
}

impl Loss {
    /// Derivative of the loss by the error.
    pub fn slope(self, error: f32) -> f32 {
        match self {
            Self::SmoothL1 => error.clamp(-1.0, 1.0),
            Self::Mse => 2.0 * error,
        }
    }
}

/// Outputs of the deep part, of the wide part and of the network.
fn forward(parameters: &Parameters, inputs: &[f32; INPUTS]) -> ([f32; HIDDEN], [f32; HIDDEN], f32) {
    let (mut deep, mut wide) = ([0.0; HIDDEN], [0.0; HIDDEN]);
    for (k, z) in inputs.iter().enumerate() {
        for g in 0..HIDDEN {
            deep[g] += parameters[DEEP + k * HIDDEN + g] * z;
            wide[g] += parameters[WIDE + k * HIDDEN + g] * z;
        }
    }
    let mut output = parameters[READOUT_BIAS];
    for g in 0..HIDDEN {
        deep[g] = deep[g].max(0.0);
        let sum = parameters[ALPHA_DEEP] * deep[g] + parameters[ALPHA_WIDE] * wide[g] + parameters[BETA];
        output += parameters[READOUT + g] * sum;
    }
    (deep, wide, output)
}

/// Predicted rating.
pub fn predict(parameters: &Parameters, inputs: &[f32; INPUTS]) -> f32 {
    forward(parameters, inputs).2
}

/// Parameters of a network that predicts one rating for all users.
pub fn constant(rating: f32) -> Parameters {
    let mut parameters = [0.0; LEN];
    parameters[READOUT_BIAS] = rating;
    parameters
}

/// α_W² ‖R‖²: change of the output per gradient step in the wide part, for ‖z‖ = 1.
pub fn wide_gain(parameters: &Parameters) -> f32 {
    let readout = parameters[READOUT..READOUT_BIAS].iter().map(|r| r * r).sum::<f32>();
    parameters[ALPHA_WIDE].powi(2) * readout
}

/// Adds the gradient of one sample's loss, times `factor`.
fn add_gradient(
    gradient: &mut Parameters, parameters: &Parameters, sample: &Sample, loss: Loss, factor: f32,
) {
    let (deep, wide, output) = forward(parameters, &sample.inputs);
    let slope = factor * loss.slope(output - sample.label);
    let [alpha_deep, alpha_wide, beta] = [ALPHA_DEEP, ALPHA_WIDE, BETA].map(|index| parameters[index]);
    for g in 0..HIDDEN {
        let hidden_slope = slope * parameters[READOUT + g];
        gradient[READOUT + g] += slope * (alpha_deep * deep[g] + alpha_wide * wide[g] + beta);
        gradient[ALPHA_DEEP] += hidden_slope * deep[g];
        gradient[ALPHA_WIDE] += hidden_slope * wide[g];
        gradient[BETA] += hidden_slope;
        let deep_slope = if deep[g] > 0.0 { hidden_slope * alpha_deep } else { 0.0 };
        for (k, z) in sample.inputs.iter().enumerate() {
            gradient[DEEP + k * HIDDEN + g] += deep_slope * z;
            gradient[WIDE + k * HIDDEN + g] += hidden_slope * alpha_wide * z;
        }
    }
    gradient[READOUT_BIAS] += slope;
}

impl Architecture {
    /// Initial parameters: weights and biases from U(±1/√fan-in), α_D = α_W = 1, β = 0.
    ///
    /// All architectures draw the same numbers. A part that is left out stays zero.
    fn initial(self, random: &mut ChaCha8Rng) -> Parameters {
        let mut parameters = [0.0; LEN];
        for (part, fan_in) in [(DEEP..READOUT, TAPS), (READOUT..LEN, HIDDEN)] {
            let bound = 1.0 / (fan_in as f32).sqrt();
            parameters[part].fill_with(|| random.random_range(-bound..bound));
        }
        (parameters[ALPHA_DEEP], parameters[ALPHA_WIDE]) = (1.0, 1.0);
        let (alpha, part) = match self {
            Self::WideAndDeep => return parameters,
            Self::Deep => (ALPHA_WIDE, WIDE..READOUT),
            Self::Wide => (ALPHA_DEEP, DEEP..WIDE),
        };
        parameters[alpha] = 0.0;
        parameters[part].fill(0.0);
        parameters
    }

    /// Trains with Adam on shuffled batches and returns the parameters of the last epoch.
    pub fn train(self, samples: &[Sample], loss: Loss, random: &mut ChaCha8Rng) -> Parameters {
        let mut parameters = self.initial(random);
        let mut moments = [[0.0; 2]; LEN];
        let mut powers = [1.0; 2];
        let mut order: Vec<usize> = (0..samples.len()).collect();
        for _ in 0..EPOCHS {
            order.shuffle(random);
            for batch in order.chunks(BATCH) {
                let mut gradient = [0.0; LEN];
                for &index in batch {
                    let factor = 1.0 / batch.len() as f32;
                    add_gradient(&mut gradient, &parameters, &samples[index], loss, factor);
                }
                if self != Self::WideAndDeep {
                    // A single part has nothing to combine.
                    gradient[..DEEP].fill(0.0);
                }
                powers = [powers[0] * DECAYS[0], powers[1] * DECAYS[1]];
                for ((parameter, g), moments) in parameters.iter_mut().zip(gradient).zip(&mut moments) {
                    moments[0] = DECAYS[0] * moments[0] + (1.0 - DECAYS[0]) * g;
                    moments[1] = DECAYS[1] * moments[1] + (1.0 - DECAYS[1]) * g * g;
                    let deviation = (moments[1] / (1.0 - powers[1])).sqrt();
                    *parameter -= LEARNING_RATE * (moments[0] / (1.0 - powers[0])) / (deviation + EPSILON);
                }
            }
        }
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn gradients_agree_with_finite_differences() {
        let inputs = [0.0, 1.7, 0.9, 1.3, 0.8, 1.1, 1.0];
        for (architecture, loss, error) in [
            (Architecture::WideAndDeep, Loss::SmoothL1, 0.5),
            (Architecture::Deep, Loss::Mse, 2.0),
            (Architecture::Wide, Loss::SmoothL1, -3.0),
        ] {
            let mut parameters = architecture.initial(&mut ChaCha8Rng::seed_from_u64(3));
            parameters[..DEEP].iter_mut().for_each(|x| *x *= 1.3);
            let sample = Sample { inputs, label: predict(&parameters, &inputs) - error };
            let mut gradient = [0.0; LEN];
            add_gradient(&mut gradient, &parameters, &sample, loss, 1.0);
            let mut checked = 0;
            for (index, gradient) in gradient.into_iter().enumerate() {
                let [up, down] = [1.0 / 64.0, -1.0 / 64.0].map(|change| {
                    let mut changed = parameters;
                    changed[index] += change;
                    forward(&changed, &inputs)
                });
                // The output is linear in every parameter, except at ReLU's corner.
                if (0..HIDDEN).all(|g| (up.0[g] > 0.0) == (down.0[g] > 0.0)) {
                    let difference = loss.slope(error) * (up.2 - down.2) * 32.0;
                    assert!((difference - gradient).abs() < 2.0e-4 * (1.0 + gradient.abs()), "{index}");
                    checked += 1;
                }
            }
            assert!(checked > LEN / 2, "{checked} parameters are away from a corner");
        }
    }
}
