//! Keep learning: after each prediction the user tells the rating, and the wide part takes a step (eq. `onlinelearning`), with
//! all users' steps in one place.

use wdgnn_core::{
    taps::{Chain, NoChain, Stacked},
    tensor::{Filter, Tensor as _},
    wide::Model as _,
};

use crate::movie::{
    gradient::Loss,
    network::{RatingModel, TAPS},
};

/// How the wide part keeps learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Step size γ.
    pub step: f32,
    /// Gradient steps per user.
    pub steps: u32,
    /// Whether the wide part's bias learns as well.
    pub adapt_bias: bool,
    /// What a wrong prediction costs.
    pub loss: Loss,
}

/// A network that keeps learning.
#[derive(Clone, Debug)]
pub struct Online<'m, 'w> {
    model: &'m RatingModel<'w>,
    wide: Filter<TAPS, 1, 1>,
    /// What the wide part's bias has come to add to the output, `α_W Rᵀ(b − b†)`.
    bias: f32,
}

impl<'m, 'w> Online<'m, 'w> {
    /// Starts from the offline parameters.
    #[must_use]
    pub fn new(model: &'m RatingModel<'w>) -> Self {
        Self { model, wide: *model.offline(), bias: 0.0 }
    }

    /// The rating that a user with these six numbers would give: the core's arithmetic.
    #[must_use]
    pub fn predict(&self, taps: &[f32; TAPS]) -> f32 {
        let mut chains = chains(taps);
        let [rating] = self.model.infer(&self.wide, &[taps[0]], &mut chains);
        rating + self.bias
    }

    /// Learns from the rating that the user gave after all.
    pub fn learn(&mut self, taps: &[f32; TAPS], label: f32, rule: &Rule) {
        for _ in 0..rule.steps {
            let factor = self.model.gradient(&[rule.loss.slope(self.predict(taps) - label)]);
            self.model.descend(&mut self.wide, &chains(taps), &factor, rule.step);
            if rule.adapt_bias {
                // b moves by −γ α_W R g, and the output by α_W Rᵀ of that.
                self.bias -= rule.step * self.model.network().alpha_wide * factor.0[0];
            }
        }
    }
}

fn chains(taps: &[f32; TAPS]) -> Stacked<TAPS, 1, NoChain> {
    Stacked { chain: Chain(taps.map(|tap| [tap])), above: NoChain }
}

/// The step size from which on a user's own error no longer shrinks, for a loss of curvature 1:
/// `2 / (α_W² ‖R‖² (‖z‖² + 1))`, the 1 where the bias learns too.
#[must_use]
pub fn largest_stable_step(model: &RatingModel<'_>, taps: &[f32; TAPS], adapt_bias: bool) -> f32 {
    let alpha = model.network().alpha_wide;
    // The folded gradient of a unit slope is α_W ‖R‖².
    let metric = model.gradient(&[1.0]).norm();
    let squares = taps.iter().map(|z| z * z).sum::<f32>() + f32::from(u8::from(adapt_bias));
    2.0 / (alpha.abs() * metric * squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::network::{self, Architecture, Numbers, places};
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    const TAPS_OF_A_USER: [f32; TAPS] = [0.0, 1.5, 0.5, 1.0, 0.25, 0.75];

    fn numbers() -> Numbers {
        let mut numbers = Architecture::WideAndDeep.start(&mut ChaCha8Rng::seed_from_u64(4));
        numbers[places::ALPHA_WIDE] = 1.2;
        numbers
    }

    fn rule(step: f32, adapt_bias: bool) -> Rule {
        Rule { step, steps: 1, adapt_bias, loss: Loss::Mse }
    }

    #[test]
    fn a_step_in_the_folded_parameters_is_the_paper_s_step_in_b_and_b_s_bias() {
        // Move B and b themselves, as training sees them, and compare predictions (near 1, 70 roundings: 1e-5).
        let numbers = numbers();
        for adapt_bias in [false, true] {
            let model = network::model(&numbers, 1.0);
            let mut online = Online::new(&model);
            let error = online.predict(&TAPS_OF_A_USER) - 4.0;
            online.learn(&TAPS_OF_A_USER, 4.0, &rule(0.02, adapt_bias));
            let mut moved = numbers;
            for (k, row) in moved[places::WIDE].chunks_exact_mut(network::HIDDEN).enumerate() {
                let z = if k < TAPS { TAPS_OF_A_USER[k] } else { f32::from(u8::from(adapt_bias)) };
                for (b, r) in row.iter_mut().zip(&numbers[places::READOUT]) {
                    *b -= 0.02 * 1.2 * z * r * 2.0 * error;
                }
            }
            let reference = crate::movie::gradient::predict(&moved, &[0.5; TAPS]);
            assert!((online.predict(&[0.5; TAPS]) - reference).abs() < 1.0e-5, "bias: {adapt_bias}");
        }
    }

    #[test]
    fn below_the_stable_step_an_error_shrinks_and_above_it_grows() {
        let numbers = numbers();
        let model = network::model(&numbers, 1.0);
        for adapt_bias in [false, true] {
            // The squared loss has curvature 2.
            let limit = largest_stable_step(&model, &TAPS_OF_A_USER, adapt_bias) / 2.0;
            for (factor, shrinks) in [(0.9, true), (1.1, false)] {
                let mut online = Online::new(&model);
                let before = (online.predict(&TAPS_OF_A_USER) - 4.0).abs();
                online.learn(&TAPS_OF_A_USER, 4.0, &rule(factor * limit, adapt_bias));
                let after = (online.predict(&TAPS_OF_A_USER) - 4.0).abs();
                assert_eq!(after < before, shrinks, "bias: {adapt_bias}, factor {factor}");
            }
        }
    }

    #[test]
    fn several_steps_are_one_step_taken_several_times() {
        let numbers = numbers();
        let model = network::model(&numbers, 1.0);
        let (mut once, mut thrice) = (Online::new(&model), Online::new(&model));
        for _ in 0..3 {
            once.learn(&TAPS_OF_A_USER, 2.0, &rule(0.01, false));
        }
        thrice.learn(&TAPS_OF_A_USER, 2.0, &Rule { steps: 3, ..rule(0.01, false) });
        assert_eq!(once.predict(&TAPS_OF_A_USER), thrice.predict(&TAPS_OF_A_USER));
    }
}
