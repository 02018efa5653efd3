//! Online learning: predict a user's rating, receive it, and take gradient steps in the wide part.
//!
//! A step moves the wide part by `ΔB = −γ α_W z Rᵀ ∂J/∂u`, and the output at another input x by
//! `α_W xᵀΔB R = −γ α_W² ‖R‖² ∂J/∂u · zᵀx`. So the change of the wide part is one number per input.

use crate::network::{self, INPUTS, Loss, Parameters, Sample, TAPS};

/// Reaction to a rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// None: the predictor stays as trained.
    Fixed,
    /// Gradient steps per rating, in the wide part and, if `bias`, in its bias.
    Gradient { step_size: f32, steps: u32, bias: bool, loss: Loss },
    /// Mean of the ratings received: a baseline.
    RunningMean,
}

/// A rating predictor that may adapt to each rating it receives.
#[derive(Clone, Debug)]
pub struct Predictor<'a> {
    parameters: &'a Parameters,
    rule: Rule,
    /// Change of the output per input.
    change: [f32; INPUTS],
    /// Number of ratings received.
    received: f32,
}

impl<'a> Predictor<'a> {
    /// A predictor that starts from offline parameters.
    pub fn new(parameters: &'a Parameters, rule: Rule) -> Self {
        Self { parameters, rule, change: [0.0; INPUTS], received: 0.0 }
    }

    /// Predicted rating.
    fn predict(&self, inputs: &[f32; INPUTS]) -> f32 {
        let adapted: f32 = self.change.iter().zip(inputs).map(|(c, z)| c * z).sum();
        network::predict(self.parameters, inputs) + adapted
    }

    /// Adapts to the rating of one user.
    fn learn(&mut self, sample: &Sample) {
        self.received += 1.0;
        match self.rule {
            Rule::Fixed => {}
            Rule::Gradient { step_size, steps, bias, loss } => {
                let factor = step_size * network::wide_gain(self.parameters);
                for _ in 0..steps {
                    let slope = loss.slope(self.predict(&sample.inputs) - sample.label);
                    let adapted = if bias { INPUTS } else { TAPS };
                    for (change, z) in self.change.iter_mut().zip(&sample.inputs).take(adapted) {
                        *change -= factor * slope * z;
                    }
                }
            }
            Rule::RunningMean => {
                self.change[TAPS] += (sample.label - self.predict(&sample.inputs)) / self.received;
            }
        }
    }

    /// Predicts, then learns, user by user. Returns the root mean square error.
    pub fn predict_then_learn(&mut self, stream: &[Sample]) -> f64 {
        root_mean_square(stream.iter().map(|sample| {
            let error = self.predict(&sample.inputs) - sample.label;
            self.learn(sample);
            error
        }))
    }

    /// Root mean square error without learning.
    pub fn test(&self, users: &[Sample]) -> f64 {
        root_mean_square(users.iter().map(|sample| self.predict(&sample.inputs) - sample.label))
    }
}

fn root_mean_square(errors: impl ExactSizeIterator<Item = f32>) -> f64 {
    let count = errors.len() as f64;
    (errors.map(|error| f64::from(error).powi(2)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;
    use wdgnn_core::{
        filter::{DelayLine, LayerTaps, scale::Scale},
        model::{
            GradientMetric, Model as _,
            activation::Activation,
            deep::{EndOfStack, Layer},
            folded::Folded,
            network::Network,
        },
    };

    use super::*;
    use crate::network::{Architecture, HIDDEN};

    #[test]
    fn predictions_and_online_steps_agree_with_the_core() {
        type CoreNetwork<'w> = Network<'w, 1, TAPS, HIDDEN, 1, Layer<'w, TAPS, 1, HIDDEN, EndOfStack>>;
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let samples = [(); 60].map(|()| {
            let inputs = std::array::from_fn(|k| if k < TAPS { random.random_range(0.0..2.0) } else { 1.0 });
            Sample { inputs, label: random.random_range(1.0..5.0) }
        });
        let parameters = Architecture::WideAndDeep.train(&samples, Loss::SmoothL1, &mut random);
        let network = CoreNetwork::from_numbers(&parameters, Activation::Relu, Scale::Sum).unwrap();
        let core = Folded::new(network, GradientMetric::Paper);
        let mut wide = *core.offline();
        let (step_size, loss) = (0.02, Loss::SmoothL1);
        let rule = Rule::Gradient { step_size, steps: 1, bias: false, loss };
        let mut predictor = Predictor::new(&parameters, rule);
        for sample in &samples {
            let taps = std::array::from_fn(|k| [sample.inputs[k]]);
            let mut lines = LayerTaps { line: DelayLine(taps), above: () };
            let [rating] = core.infer(&wide, &taps[0], &mut lines);
            // The core folds B and R before it sums: some hundred roundings of numbers near 1.
            assert!((predictor.predict(&sample.inputs) - rating).abs() < 1.0e-4);
            let factor = core.gradient(&[loss.slope(rating - sample.label)]);
            core.descend(&mut wide, &lines, &factor, step_size);
            predictor.learn(sample);
        }
        assert_ne!(wide, *core.offline());
    }

    #[test]
    fn running_mean_by_hand() {
        let sample = |label| Sample { inputs: [1.0; INPUTS], label };
        let initial = network::constant(3.0);
        let mut mean = Predictor::new(&initial, Rule::RunningMean);
        // Predicts 3, 1, 1.5: errors 2, −1, −1.5. Then predicts 2.
        assert_eq!(mean.predict_then_learn(&[1.0, 2.0, 3.0].map(sample)), (7.25_f64 / 3.0).sqrt());
        assert_eq!(mean.test(&[2.0, 5.0].map(sample)), 4.5_f64.sqrt());
    }
}
