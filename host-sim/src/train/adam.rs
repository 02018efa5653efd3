//! Adam optimizer.

/// Decay of the mean gradient (the paper's β₁).
const FIRST: f32 = 0.9;
/// Decay of the mean squared gradient (the paper's β₂).
const SECOND: f32 = 0.999;
/// Avoids a division by zero (Adam's default).
const TINY: f32 = 1.0e-8;

/// Adam's state between steps.
#[derive(Clone, Debug)]
pub struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl Adam {
    /// Creates the state for a number of weights.
    pub fn new(weights: usize) -> Self {
        Self { first: vec![0.0; weights], second: vec![0.0; weights], steps: 0 }
    }

    /// Takes one step against the gradient.
    pub fn step(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32) {
        self.steps += 1;
        // libm gives equal weights on all platforms, unlike their powf.
        let first_bias = 1.0 - libm::powf(FIRST, self.steps as f32);
        let second_bias = 1.0 - libm::powf(SECOND, self.steps as f32);
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, g), (first, second)) in weights.iter_mut().zip(gradient).zip(moments) {
            *first = FIRST * *first + (1.0 - FIRST) * g;
            *second = SECOND * *second + (1.0 - SECOND) * g * g;
            *weight -= rate * (*first / first_bias) / ((*second / second_bias).sqrt() + TINY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let mut weights = [1.0, 1.0, 1.0];
        Adam::new(3).step(&mut weights, &[0.5, -200.0, 0.0], 0.1);
        assert!((weights[0] - 0.9).abs() < 1.0e-5);
        assert!((weights[1] - 1.1).abs() < 1.0e-5);
        assert_eq!(weights[2], 1.0);
    }
}
