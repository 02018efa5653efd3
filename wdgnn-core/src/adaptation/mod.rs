//! Local adaptation: calibration of bias, gain and heading of a robot's own actuators.
//!
//! The wide parameters are averaged with those of the neighbors, so they cannot represent a
//! property of a single robot, such as a motor that pulls to the left. [`ActuatorCalibration`]
//! represents it. Robots neither send nor average these parameters. They learn them from measured
//! accelerations a instead of from the predicted loss. The paper has no such parameters.
//!
//! ```text
//! u = ϑ⁻¹(κ · network(z) + b)
//! s ← (1 − φ) s + (a − (ϑ(u) − b))     residual: measured minus expected acceleration, filtered
//! b ← clip[ b − w λ φ s ]              output bias that compensates the residual
//! κ ← κ · (1 − η c)                    gain, by whether commands reduced the velocity error
//! ϑ ← the angle from u to a            heading, by the direction of the response
//! ```
//!
//! **Bias.** The bias descends ½‖a − (u − b)‖² in steps of λ ([`Learning::bias_step`]), with the
//! filtered residual s instead of the gradient. Velocity differences amplify noise a hundredfold,
//! and the filter removes it again. The curvature is 1 in every direction, so the bound of the
//! paper's Theorem 1 holds without a ridge: the error shrinks by a fixed factor per tick, plus the
//! change of the true value in the meantime (tested below). Components whose command was clamped do
//! not learn. A large command depends more on the strength and direction of the motors than on
//! their bias, so its residual has less weight: w = ½ if the command is as large as the largest
//! bias.
//!
//! **Gain.** The loss assumes that a command acts within one tick. With slow actuators or delayed
//! commands, robots correct too much and the swarm oscillates around its mean velocity. Each robot
//! therefore tests whether its commands still reduce its velocity error e, its difference to the mean
//! velocity of its neighborhood ([`crate::task::Task::overshoot`]):
//!
//! 1. It multiplies e with the robot's velocity change in the last tick, and with the change in the
//!    tick before. A negative product means that the change reduced the error.
//! 2. Both products are averaged over 20 ticks and divided by their largest possible value. c is the
//!    larger of the two, between −1 and 1.
//! 3. Near −1, commands work. The gain recovers slowly, up to 1.
//! 4. A positive c means that the error grows with the robot's own motion: an oscillation, fast or
//!    slow, or noise. The gain decreases, down to [`MIN_GAIN`].
//!
//! If a robot commands a motion and its measurement does not change in any bit, its sensors have
//! stalled. It then lowers the gain and learns nothing else.
//!
//! **Heading.** The heading corrects motors that are rotated relative to the sensors
//! (`heading.rs`). It is not stored, so a robot learns it again after a restart.

mod heading;

use crate::{adaptation::heading::Heading, math, online::Learning, tensor::Array};

/// Decay of the averages of c per tick: 20 ticks.
///
/// That is the period of an oscillation with a delay of four ticks.
const PRODUCT_DECAY: f32 = 0.95;
/// η: largest decrease of the gain per tick, as a share of the gain.
const GAIN_DECREASE: f32 = 0.05;
/// Rate at which the gain recovers, relative to [`GAIN_DECREASE`].
const GAIN_RECOVERY: f32 = 0.1;
/// Smallest sum of products that changes the gain.
///
/// Oscillations of 5 cm/s that change by 5 cm/s per tick reach it within the averaging time.
const MIN_PRODUCT_SUM: f32 = 0.1;
/// Smallest gain of the network.
///
/// With 0.15, velocity noise of 0.2 m/s costs 0.6 % more. With 0.08, differing robots cost 0.2 %
/// more, because the noise of a robot's own bias then outweighs the network's gain.
pub const MIN_GAIN: f32 = 0.1;
/// Commands below this value may leave the measurement unchanged.
const MIN_COMMAND: f32 = 0.01;
/// φ: decay of the residual per tick, a time constant of ten ticks.
const RESIDUAL_DECAY: f32 = 0.1;

/// Parameters that a robot learned about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActuatorCalibration<O> {
    /// Bias b of each output.
    pub bias: O,
    /// Gain κ of the network's output, between [`MIN_GAIN`] and 1.
    pub gain: f32,
    /// Filtered residual s.
    residual: O,
    /// Heading ϑ.
    heading: Heading,
    /// Decayed sums: products with the last and the earlier change, and their bound.
    products: [f32; 3],
}

impl<O: Array> ActuatorCalibration<O> {
    /// Initial values: no bias, gain 1, aligned motors.
    pub const NEUTRAL: Self =
        Self { bias: O::ZERO, gain: 1.0, residual: O::ZERO, heading: Heading::ALIGNED, products: [0.0; 3] };

    /// Restores a stored bias and gain; `None` if they are not finite or out of range.
    ///
    /// `rule` limits the bias. The gain must be between [`MIN_GAIN`] and 1.
    pub fn from_stored(bias: O, gain: f32, rule: &Learning) -> Option<Self> {
        let kept = bias.as_ref().iter().all(|b| b.abs() <= rule.bias_clip);
        (kept && (MIN_GAIN..=1.0).contains(&gain)).then_some(Self { bias, gain, ..Self::NEUTRAL })
    }

    /// Applies gain, bias and heading to the network's output.
    #[inline]
    pub fn apply(&self, output: &mut O) {
        for (u, b) in output.as_mut().iter_mut().zip(self.bias.as_ref()) {
            *u = self.gain * *u + b;
        }
        self.heading.unrotate(output);
    }

    /// Learns the bias and the heading from the response to `command`.
    ///
    /// `realized` is the output that the state followed ([`crate::task::Task::realized_command`]). `limit`
    /// is the largest command: components that equal it were clamped and do not change the
    /// bias.
    pub fn adapt_bias(&mut self, command: &O, realized: &O, limit: &O, rule: &Learning) {
        let Learning { bias_step, bias_clip, adapts_gain, .. } = *rule;
        if realized.as_ref().iter().all(|a| *a == 0.0) {
            if adapts_gain && command.as_ref().iter().any(|u| u.abs() > MIN_COMMAND) {
                self.lower(GAIN_DECREASE);
            }
            return;
        }
        if adapts_gain {
            self.learn_heading(command, realized);
        }
        let mut done = *command;
        self.heading.rotate(&mut done);
        let clip_squared = bias_clip * bias_clip;
        let wanted =
            done.as_ref().iter().zip(self.bias.as_ref()).fold(0.0, |sum, (u, b)| sum + (u - b) * (u - b));
        let step = bias_step * RESIDUAL_DECAY * clip_squared / (clip_squared + wanted);
        let own = self.bias.as_mut().iter_mut().zip(self.residual.as_mut());
        let free = command.as_ref().iter().zip(limit.as_ref()).map(|(u, limit)| u != limit);
        for (((b, s), free), (u, a)) in own.zip(free).zip(done.as_ref().iter().zip(realized.as_ref())) {
            let next = (1.0 - RESIDUAL_DECAY) * *s + (a - (u - *b));
            *s = if next.is_finite() { next } else { 0.0 };
            if free && step.is_finite() {
                *b = math::clamp(*b - step * *s, bias_clip);
            }
        }
    }

    /// Learns the heading from a command and its response without the bias.
    fn learn_heading(&mut self, command: &O, realized: &O) {
        let (commanded, measured, bias) = (command.as_ref(), realized.as_ref(), self.bias.as_ref());
        if let ([x, y, ..], [to_x, to_y, ..], [bias_x, bias_y, ..]) = (commanded, measured, bias) {
            self.heading.learn([*x, *y], [to_x + bias_x, to_y + bias_y]);
        }
    }

    /// Updates the gain with the result of [`crate::task::Task::overshoot`].
    #[inline]
    pub fn adapt_gain(&mut self, products: [f32; 3]) {
        for (sum, x) in self.products.iter_mut().zip(products) {
            *sum = PRODUCT_DECAY * *sum + x;
        }
        let [last, before, most] = self.products;
        if !(last.is_finite() && before.is_finite() && most.is_finite()) {
            self.products = [0.0; 3];
            return;
        }
        if most > MIN_PRODUCT_SUM {
            let c = 2.0 * if last > before { last } else { before } / most;
            let rate = if c > 0.0 { GAIN_DECREASE } else { GAIN_RECOVERY * GAIN_DECREASE };
            self.lower(rate * c);
        }
    }

    /// Lowers the gain by this share; a negative share raises it.
    fn lower(&mut self, share: f32) {
        self.gain = (self.gain * (1.0 - share)).clamp(MIN_GAIN, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limit that no command of these tests reaches.
    const FREE: [f32; 1] = [99.0];
    const RULE: Learning = Learning { bias_step: 0.015, bias_clip: 5.0, adapts_gain: true, ..Learning::OFF };

    #[test]
    fn adaptation_matches_a_hand_computed_example() {
        let mut adaptation = ActuatorCalibration::<[f32; 2]>::NEUTRAL;
        let mut output = [3.0, -4.0];
        adaptation.apply(&mut output);
        assert_eq!(output, [3.0, -4.0], "initial values leave the output unchanged");
        // The command is 3 and −4, the response 1 and −4.5. The second axis is clamped. The command
        // has the length 5 of the largest bias, so its weight is ½.
        let bias_only = Learning { adapts_gain: false, ..RULE };
        adaptation.adapt_bias(&[3.0, -4.0], &[1.0, -4.5], &[4.0, -4.0], &bias_only);
        assert_eq!(adaptation.bias, [2.0 * 0.015 * RESIDUAL_DECAY * 0.5, 0.0]);
        adaptation.bias = [-1.0, 2.0];
        adaptation.gain = 0.5;
        adaptation.apply(&mut output);
        assert_eq!(output, [0.5, 0.0]);
    }

    /// Simulates an actuator with the bias `pull`; returns the largest excess error.
    ///
    /// The bound of Theorem 1 is (product of the factors) · (first error) + (change of the true
    /// value).
    fn above_bound(pull: impl Fn(f32) -> f32) -> f32 {
        // Slower of the two modes, z² − (2 − φ − λφ) z + (1 − φ) = 0, and the bound's constant for
        // a pair of modes.
        let factor = 0.989_f32;
        let constant = 2.0;
        let mut adaptation = ActuatorCalibration::<[f32; 1]>::NEUTRAL;
        let (mut above, mut bound, mut before) = (f32::NEG_INFINITY, constant * pull(0.0).abs(), pull(0.0));
        for tick in 0..2_000 {
            let truth = pull(tick as f32);
            bound = factor * bound + constant * (truth - before).abs();
            before = truth;
            let mut command = [if tick % 50 < 25 { 2.0 } else { -2.0 }];
            adaptation.apply(&mut command);
            adaptation.adapt_bias(&command, &[command[0] + truth], &FREE, &RULE);
            let error = (adaptation.bias[0] + truth).abs();
            above = above.max(error - bound - 1.0e-3);
        }
        above
    }

    #[test]
    fn bias_error_stays_within_theorem_1_without_a_ridge() {
        assert!(above_bound(|_| 1.5) <= 0.0, "a motor with a constant bias");
        assert!(above_bound(|tick| 1.5 + (tick / 200.0).sin()) <= 0.0, "a wind that varies");
        assert!(above_bound(|tick| if tick < 900.0 { -3.0 } else { 2.0 }) <= 0.0, "a payload that falls off");
    }

    #[test]
    fn velocity_noise_hardly_changes_the_bias() {
        // Velocity noise of 0.2 m/s with alternating sign: 40 m/s² of apparent acceleration.
        let mut adaptation = ActuatorCalibration::<[f32; 1]>::NEUTRAL;
        let mut largest = 0.0_f32;
        for tick in 0..1_000 {
            let seen = if tick == 0 {
                20.0
            } else if tick % 2 == 0 {
                40.0
            } else {
                -40.0
            };
            let mut command = [0.0];
            adaptation.apply(&mut command);
            adaptation.adapt_bias(&command, &[command[0] + seen], &FREE, &RULE);
            largest = largest.max(adaptation.bias[0].abs());
        }
        assert!(largest < 0.1, "{largest}");
    }

    #[test]
    fn bias_stays_finite_and_within_its_limit() {
        let mut adaptation = ActuatorCalibration::<[f32; 2]>::NEUTRAL;
        for _ in 0..10_000 {
            adaptation.adapt_bias(&[0.0; 2], &[-10.0, 1.0e30], &[1.0; 2], &RULE);
        }
        assert_eq!(adaptation.bias, [5.0, -5.0]);
        adaptation.adapt_bias(&[0.0; 2], &[f32::NAN, f32::NEG_INFINITY], &[1.0; 2], &RULE);
        assert!(adaptation.bias.iter().all(|b| b.abs() <= 5.0), "{adaptation:?}");
    }

    #[test]
    fn stalled_sensors_lower_the_gain_and_nothing_else() {
        let mut adaptation = ActuatorCalibration::<[f32; 2]>::NEUTRAL;
        for _ in 0..20 {
            adaptation.adapt_bias(&[0.001, 0.0], &[0.0; 2], &[4.0, 5.0], &RULE);
        }
        assert_eq!(
            adaptation,
            ActuatorCalibration::NEUTRAL,
            "commands near zero may leave the measurement unchanged"
        );
        for _ in 0..20 {
            adaptation.adapt_bias(&[3.0, 4.0], &[0.0; 2], &[4.0, 5.0], &RULE);
        }
        assert!(adaptation.gain < 0.4, "{}", adaptation.gain);
        for _ in 0..100 {
            adaptation.adapt_bias(&[3.0, 4.0], &[0.0; 2], &[4.0, 5.0], &RULE);
        }
        assert_eq!(adaptation, ActuatorCalibration { gain: MIN_GAIN, ..ActuatorCalibration::NEUTRAL });
    }

    #[test]
    fn rotated_motors_are_corrected_by_the_heading_and_not_the_bias() {
        let mut adaptation = ActuatorCalibration::<[f32; 2]>::NEUTRAL;
        let motors = |[x, y]: [f32; 2]| [-y, x];
        for tick in 0..200 {
            let mut command = if tick % 40 < 20 { [6.0, 0.0] } else { [-6.0, 0.0] };
            adaptation.apply(&mut command);
            adaptation.adapt_bias(&command, &motors(command), &[99.0; 2], &RULE);
        }
        let mut command = [6.0, 0.0];
        adaptation.apply(&mut command);
        let [x, y] = motors(command);
        assert!((x - 6.0).abs() < 1.5 && y.abs() < 3.0, "{x} {y}");
    }

    #[test]
    fn oscillation_lowers_the_gain_and_braking_does_not() {
        let mut braking = ActuatorCalibration::<[f32; 2]>::NEUTRAL;
        let mut oscillating = braking;
        for tick in 0..200 {
            braking.adapt_gain([-0.1, -0.1, 0.2]);
            let sign = if tick % 4 == 0 { -0.03 } else { 0.03 };
            oscillating.adapt_gain([sign, -sign, 0.04]);
        }
        assert_eq!(braking.gain, 1.0);
        assert!(oscillating.gain < 0.6, "{}", oscillating.gain);
        for _ in 0..10_000 {
            oscillating.adapt_gain([0.05, 0.0, 0.1]);
        }
        assert_eq!(oscillating.gain, MIN_GAIN);
        oscillating.adapt_gain([f32::NAN, 0.0, f32::INFINITY]);
        assert!(oscillating.gain.is_finite());
    }

    #[test]
    fn values_outside_the_rule_are_not_restored() {
        assert!(ActuatorCalibration::from_stored([5.0, -1.0], 0.5, &RULE).is_some());
        assert!(ActuatorCalibration::from_stored([5.1, 0.0], 0.5, &RULE).is_none());
        assert!(ActuatorCalibration::from_stored([0.0, f32::NAN], 0.5, &RULE).is_none());
        assert!(ActuatorCalibration::from_stored([0.0, 0.0], 1.5, &RULE).is_none());
    }
}
