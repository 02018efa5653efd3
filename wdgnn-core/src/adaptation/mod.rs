//! The personal part: what a robot learns about itself and keeps to itself.
//!
//! What is shared is agreed on: the wide parameters are averaged with the neighbors', so they can hold nothing that is true of one
//! robot only, such as a motor that pulls to the left. That is what the personal part is for. It is not sent, and averaged with
//! nobody. It is learned from what happened, not from what the loss predicts:
//!
//! ```text
//! u = ϑ⁻¹(κ · network(z) + b)
//! s ← (1 − φ) s + (a − (ϑ(u) − b))                a surprise: what the state did, against what the command should have done
//! b ← clip[ b − w λ φ s ]                         an output bias that makes up for it
//! κ ← κ · (1 − η c)                               a gain, by whether commands brought the robot nearer
//! ϑ ← the angle from u to a                       a heading, by where commands led
//! ```
//!
//! **The bias** descends ½‖a − (u − b)‖², with the surprise in place of its gradient: the gradient of a velocity that is noisy is noisier by a hundred,
//! and the surprise forgets the noise as fast as it comes. Its curvature is 1 in every direction, so the bound of the paper's Theorem 1
//! holds without a ridge: an error shrinks by a fixed factor per tick, and what is left is what the truth moved by in the meantime
//! (a test says so). Where the command was clamped there was no choice, and nothing is learned. A large command tells of the motors' strength and
//! direction more than of their bias, so its surprise counts for less: w is a half where the command is as large as the largest bias.
//!
//! **The gain.** The loss looks one tick ahead with the model that a command acts at once. Where actuators lag or commands come late, that
//! is not what happens, and a swarm swings about its mean for ever. So a robot holds where it is against how it came there
//! ([`crate::task::Task::overshoot`]), in the last tick and in the one before it: c, the larger of the two, between −1 and 1, is near −1 while
//! commands do what they should. It is above zero for a swing that goes on and on, be it from tick to tick or slow, and for noise: then the
//! robot lowers the gain of its own network. Below zero the gain comes back, more slowly. A robot that is told to move, and senses to the last
//! bit what it sensed before, has senses that stand still: it would go after a difference that nothing makes smaller, for ever. So it lowers its
//! gain, too, and learns nothing else.
//!
//! **The heading** makes up for motors that are turned against what the robot senses (see `heading.rs`). It is learned anew
//! after a restart.

mod heading;

use crate::{adaptation::heading::Heading, math, online::Learning, tensor::Array};

/// Memory of c per tick: 20 ticks, the length of a swing at a delay of four ticks.
const MEMORY: f32 = 0.95;
/// η: a twentieth of the gain per tick where a robot goes the wrong way all the time.
const CAUTION: f32 = 0.05;
/// Share of that by which the gain comes back where commands do what they should.
const COURAGE: f32 = 0.1;
/// Swings smaller than this sum of products are let be: 5 cm/s, changing by as much per tick, over the memory.
const SMALLEST: f32 = 0.1;
/// The gain falls no lower. At 0.15, velocity noise of 0.2 m/s costs 0.6 % more; at 0.08, robots that differ cost 0.2 % more: from there on a
/// robot's own bias does more harm by its noise than the network's gain does.
pub const MIN_GAIN: f32 = 0.1;
/// Commands below this may leave no trace in what a robot senses of itself.
const MIN_COMMAND: f32 = 0.01;
/// φ: a surprise is forgotten over ten ticks.
const FADING: f32 = 0.1;

/// What a robot has learned about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LocalAdaptation<O> {
    /// The bias b of every output.
    pub bias: O,
    /// The gain κ of the network's output, between [`MIN_GAIN`] and 1.
    pub gain: f32,
    /// The surprise s.
    surprise: O,
    /// The heading ϑ.
    heading: Heading,
    /// Sums over the memory: the products with the last change and with the one before, and the largest that both could have been.
    outcome: [f32; 3],
}

impl<O: Array> LocalAdaptation<O> {
    /// Nothing learned yet.
    pub const NONE: Self =
        Self { bias: O::ZERO, gain: 1.0, surprise: O::ZERO, heading: Heading::STRAIGHT, outcome: [0.0; 3] };

    /// What a robot has learned before, if it may be: finite, and within what `rule` allows.
    #[must_use]
    pub fn restored(bias: O, gain: f32, rule: &Learning) -> Option<Self> {
        let kept = bias.as_ref().iter().all(|b| b.abs() <= rule.bias_clip);
        (kept && (MIN_GAIN..=1.0).contains(&gain)).then_some(Self { bias, gain, ..Self::NONE })
    }

    /// Puts the personal part on top of the network's output.
    #[inline]
    pub fn apply(&self, output: &mut O) {
        for (u, b) in output.as_mut().iter_mut().zip(self.bias.as_ref()) {
            *u = self.gain * *u + b;
        }
        self.heading.back(output);
    }

    /// Learns from what came of a command: `realized` is the output that the state really followed ([`crate::task::Task::realized_command`]), `most`
    /// what would have become of a larger one: where it is the same, there was no choice.
    pub fn adapt_bias(&mut self, command: &O, realized: &O, most: &O, rule: &Learning) {
        let Learning { bias_step, bias_clip, adapts_gain, .. } = *rule;
        if realized.as_ref().iter().all(|a| *a == 0.0) {
            if adapts_gain && command.as_ref().iter().any(|u| u.abs() > MIN_COMMAND) {
                self.lower(CAUTION);
            }
            return;
        }
        if adapts_gain {
            self.aim(command, realized);
        }
        let mut done = *command;
        self.heading.there(&mut done);
        let clip_squared = bias_clip * bias_clip;
        let wanted =
            done.as_ref().iter().zip(self.bias.as_ref()).fold(0.0, |sum, (u, b)| sum + (u - b) * (u - b));
        let step = bias_step * FADING * clip_squared / (clip_squared + wanted);
        let own = self.bias.as_mut().iter_mut().zip(self.surprise.as_mut());
        let free = command.as_ref().iter().zip(most.as_ref()).map(|(u, most)| u != most);
        for (((b, s), free), (u, a)) in own.zip(free).zip(done.as_ref().iter().zip(realized.as_ref())) {
            let next = (1.0 - FADING) * *s + (a - (u - *b));
            *s = if next.is_finite() { next } else { 0.0 };
            if free && step.is_finite() {
                *b = math::clamp(*b - step * *s, bias_clip);
            }
        }
    }

    /// Learns the heading from where a command led, apart from where the bias makes up for.
    fn aim(&mut self, command: &O, realized: &O) {
        let (told, came, bias) = (command.as_ref(), realized.as_ref(), self.bias.as_ref());
        if let ([x, y, ..], [to_x, to_y, ..], [bias_x, bias_y, ..]) = (told, came, bias) {
            self.heading.learn([*x, *y], [to_x + bias_x, to_y + bias_y]);
        }
    }

    /// Heeds what came of the commands, from [`crate::task::Task::overshoot`].
    #[inline]
    pub fn adapt_gain(&mut self, outcome: [f32; 3]) {
        for (sum, x) in self.outcome.iter_mut().zip(outcome) {
            *sum = MEMORY * *sum + x;
        }
        let [last, before, most] = self.outcome;
        if !(last.is_finite() && before.is_finite() && most.is_finite()) {
            self.outcome = [0.0; 3];
            return;
        }
        if most > SMALLEST {
            let c = 2.0 * if last > before { last } else { before } / most;
            let rate = if c > 0.0 { CAUTION } else { COURAGE * CAUTION };
            self.lower(rate * c);
        }
    }

    /// Lowers the gain by this share, or raises it.
    fn lower(&mut self, share: f32) {
        self.gain = (self.gain * (1.0 - share)).clamp(MIN_GAIN, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No command of these tests is so large.
    const FREE: [f32; 1] = [99.0];
    const RULE: Learning = Learning { bias_step: 0.015, bias_clip: 5.0, adapts_gain: true, ..Learning::OFF };

    #[test]
    fn the_personal_part_by_hand() {
        let mut adaptation = LocalAdaptation::<[f32; 2]>::NONE;
        let mut output = [3.0, -4.0];
        adaptation.apply(&mut output);
        assert_eq!(output, [3.0, -4.0], "nothing learned, nothing changed");
        // Told 3 and −4, it did 1 and −4; the second axis was at its limit. A command of 5, the largest bias, counts half.
        let blunt = Learning { adapts_gain: false, ..RULE };
        adaptation.adapt_bias(&[3.0, -4.0], &[1.0, -4.5], &[4.0, -4.0], &blunt);
        assert_eq!(adaptation.bias, [2.0 * 0.015 * FADING * 0.5, 0.0]);
        adaptation.bias = [-1.0, 2.0];
        adaptation.gain = 0.5;
        adaptation.apply(&mut output);
        assert_eq!(output, [0.5, 0.0]);
    }

    /// Flies for a while with an actuator that adds `pull`, and returns the largest amount by which the error is above the bound of
    /// Theorem 1: (product of the factors) · (first error) + (what the truth has moved by).
    fn above_bound(pull: impl Fn(f32) -> f32) -> f32 {
        // The slower of the two modes, z² − (2 − φ − λφ) z + (1 − φ) = 0, and the bound's constant for a pair of modes.
        let factor = 0.989_f32;
        let constant = 2.0;
        let mut adaptation = LocalAdaptation::<[f32; 1]>::NONE;
        let (mut above, mut bound, mut before) = (f32::NEG_INFINITY, constant * pull(0.0).abs(), pull(0.0));
        for tick in 0..2_000 {
            let truth = pull(tick as f32);
            bound = factor * bound + constant * (truth - before).abs();
            before = truth;
            let mut command = [if tick % 50 < 25 { 2.0 } else { -2.0 }];
            adaptation.apply(&mut command);
            adaptation.adapt_bias(&command, &[command[0] + truth], &FREE, &RULE);
            let off = (adaptation.bias[0] + truth).abs();
            above = above.max(off - bound - 1.0e-3);
        }
        above
    }

    #[test]
    fn the_bias_keeps_within_the_bound_of_theorem_1_without_a_ridge() {
        assert!(above_bound(|_| 1.5) <= 0.0, "a motor that pulls");
        assert!(above_bound(|tick| 1.5 + (tick / 200.0).sin()) <= 0.0, "a wind that turns");
        assert!(
            above_bound(|tick| if tick < 900.0 { -3.0 } else { 2.0 }) <= 0.0,
            "a payload that is dropped"
        );
    }

    #[test]
    fn noise_on_velocities_hardly_moves_the_bias() {
        // Velocities that are off by 0.2 m/s, to one side and the other: 40 m/s² of acceleration that was none.
        let mut adaptation = LocalAdaptation::<[f32; 1]>::NONE;
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
    fn the_bias_never_leaves_its_clip_and_is_always_a_number() {
        let mut adaptation = LocalAdaptation::<[f32; 2]>::NONE;
        for _ in 0..10_000 {
            adaptation.adapt_bias(&[0.0; 2], &[-10.0, 1.0e30], &[1.0; 2], &RULE);
        }
        assert_eq!(adaptation.bias, [5.0, -5.0]);
        adaptation.adapt_bias(&[0.0; 2], &[f32::NAN, f32::NEG_INFINITY], &[1.0; 2], &RULE);
        assert!(adaptation.bias.iter().all(|b| b.abs() <= 5.0), "{adaptation:?}");
    }

    #[test]
    fn who_senses_nothing_of_its_commands_lowers_its_gain_and_learns_nothing_else() {
        let mut adaptation = LocalAdaptation::<[f32; 2]>::NONE;
        for _ in 0..20 {
            adaptation.adapt_bias(&[0.001, 0.0], &[0.0; 2], &[4.0, 5.0], &RULE);
        }
        assert_eq!(adaptation, LocalAdaptation::NONE, "what was next to nothing may leave no trace");
        for _ in 0..20 {
            adaptation.adapt_bias(&[3.0, 4.0], &[0.0; 2], &[4.0, 5.0], &RULE);
        }
        assert!(adaptation.gain < 0.4, "{}", adaptation.gain);
        for _ in 0..100 {
            adaptation.adapt_bias(&[3.0, 4.0], &[0.0; 2], &[4.0, 5.0], &RULE);
        }
        assert_eq!(adaptation, LocalAdaptation { gain: MIN_GAIN, ..LocalAdaptation::NONE });
    }

    #[test]
    fn turned_motors_are_turned_back_and_taken_for_no_bias() {
        let mut adaptation = LocalAdaptation::<[f32; 2]>::NONE;
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
    fn a_swing_lowers_the_gain_and_braking_does_not() {
        let mut braking = LocalAdaptation::<[f32; 2]>::NONE;
        let mut swinging = braking;
        for tick in 0..200 {
            braking.adapt_gain([-0.1, -0.1, 0.2]);
            let sign = if tick % 4 == 0 { -0.03 } else { 0.03 };
            swinging.adapt_gain([sign, -sign, 0.04]);
        }
        assert_eq!(braking.gain, 1.0);
        assert!(swinging.gain < 0.6, "{}", swinging.gain);
        for _ in 0..10_000 {
            swinging.adapt_gain([0.05, 0.0, 0.1]);
        }
        assert_eq!(swinging.gain, MIN_GAIN);
        swinging.adapt_gain([f32::NAN, 0.0, f32::INFINITY]);
        assert!(swinging.gain.is_finite());
    }

    #[test]
    fn what_is_restored_is_within_the_rule() {
        assert!(LocalAdaptation::restored([5.0, -1.0], 0.5, &RULE).is_some());
        assert!(LocalAdaptation::restored([5.1, 0.0], 0.5, &RULE).is_none());
        assert!(LocalAdaptation::restored([0.0, f32::NAN], 0.5, &RULE).is_none());
        assert!(LocalAdaptation::restored([0.0, 0.0], 1.5, &RULE).is_none());
    }
}
