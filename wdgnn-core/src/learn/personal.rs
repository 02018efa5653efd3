//! The personal part: what a robot learns about itself and keeps to itself.
//!
//! What is shared is agreed on: the wide parameters are averaged with the neighbours', so they can hold nothing that is true of one
//! robot only, such as a motor that pulls to the left. That is what the personal part is for. It is not sent, and averaged with
//! nobody:
//!
//! ```text
//! u = κ · network(z) + b
//! b ← clip[ b − γ_p ∂J/∂u ]                       an output bias, by the same local loss as the wide part
//! κ ← κ · (1 − η max(c − c₀, 0))                  a gain, by what came of the commands
//! ```
//!
//! The loss looks one tick ahead with the model that a command acts at once. Where actuators lag or commands come late, that is not
//! what happens, and a swarm swings about its mean for ever. So a robot holds what its loss says against how its state really
//! changed ([`crate::Task::outcome`]): c, between −1 and 1, is near −1 while commands do what they should, and 0 for a
//! swing that goes on and on. Above c₀ the robot lowers the gain of its own network.

use crate::{learn::online::Learning, net::tensor::Numbers};

/// Memory of c per tick: 20 ticks, the length of a swing at a delay of four ticks.
const MEMORY: f32 = 0.95;
/// c₀: a swing that goes on has c = 0; one that dies away by itself is let be.
const SWINGING: f32 = -0.1;
/// η: a tenth of the gain per tick where a robot goes the wrong way all the time, 1 % in a steady swing.
const CAUTION: f32 = 0.1;
/// Share of that by which the gain comes back where commands do what they should.
const COURAGE: f32 = 0.02;
/// Swings smaller than this sum of products are noise: 0.16 m/s, changing by as much per tick, over the memory.
const SMALLEST: f32 = 0.5;
/// The gain falls no lower.
pub const LEAST_GAIN: f32 = 0.05;

/// What a robot has learned about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Personal<O> {
    /// The bias b of every output.
    pub bias: O,
    /// The gain κ of the network's output, between [`LEAST_GAIN`] and 1.
    pub gain: f32,
    /// Sums over the memory: the products, and the largest that they could have been.
    outcome: [f32; 2],
}

impl<O: Numbers> Personal<O> {
    /// Nothing learned yet.
    pub const NOTHING: Self = Self { bias: O::ZERO, gain: 1.0, outcome: [0.0; 2] };

    /// What a robot has learned before, if it may be: finite, and within what `rule` allows.
    #[must_use]
    pub fn restored(bias: O, gain: f32, rule: &Learning) -> Option<Self> {
        let kept = bias.as_ref().iter().all(|b| b.abs() <= rule.personal_clip);
        (kept && (LEAST_GAIN..=1.0).contains(&gain)).then_some(Self { bias, gain, outcome: [0.0; 2] })
    }

    /// Puts the personal part on top of the network's output.
    #[inline]
    pub fn apply(&self, output: &mut O) {
        for (u, b) in output.as_mut().iter_mut().zip(self.bias.as_ref()) {
            *u = self.gain * *u + b;
        }
    }

    /// Takes a step against the gradient of the loss, and stays within the clip. What is no number becomes nothing.
    #[inline]
    pub fn descend(&mut self, gradient: &O, step: f32, clip: f32) {
        for (b, g) in self.bias.as_mut().iter_mut().zip(gradient.as_ref()) {
            let next = *b - step * g;
            *b = if next > clip {
                clip
            } else if next < -clip {
                -clip
            } else if next.is_finite() {
                next
            } else {
                0.0
            };
        }
    }

    /// Heeds what came of the commands: the `product` and the `largest` that it could be, from [`crate::Task::outcome`].
    #[inline]
    pub fn heed(&mut self, (product, largest): (f32, f32)) {
        let [sum, most] = &mut self.outcome;
        *sum = MEMORY * *sum + product;
        *most = MEMORY * *most + largest;
        if !(sum.is_finite() && most.is_finite()) {
            self.outcome = [0.0; 2];
            return;
        }
        if *most > SMALLEST {
            let above = *sum / *most - SWINGING;
            let rate = if above > 0.0 { CAUTION } else { COURAGE * CAUTION };
            let gain = self.gain * (1.0 - rate * above);
            self.gain = gain.clamp(LEAST_GAIN, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_personal_part_by_hand() {
        let mut personal = Personal::<[f32; 2]>::NOTHING;
        let mut output = [3.0, -4.0];
        personal.apply(&mut output);
        assert_eq!(output, [3.0, -4.0], "nothing learned, nothing changed");
        personal.descend(&[0.01, -0.02], 100.0, 5.0);
        assert_eq!(personal.bias, [-1.0, 2.0]);
        personal.gain = 0.5;
        personal.apply(&mut output);
        assert_eq!(output, [0.5, 0.0]);
    }

    #[test]
    fn the_bias_never_leaves_its_clip_and_is_always_a_number() {
        let mut personal = Personal::<[f32; 2]>::NOTHING;
        personal.descend(&[-1.0, 1.0e30], 100.0, 5.0);
        assert_eq!(personal.bias, [5.0, -5.0]);
        personal.descend(&[f32::NAN, f32::NEG_INFINITY], 100.0, 5.0);
        assert_eq!(personal.bias, [0.0, 5.0]);
    }

    #[test]
    fn a_swing_lowers_the_gain_and_braking_does_not() {
        let mut braking = Personal::<[f32; 2]>::NOTHING;
        let mut swinging = braking;
        for tick in 0..100 {
            braking.heed((-0.2, 0.2));
            swinging.heed((if tick % 2 == 0 { 0.03 } else { -0.03 }, 0.04));
        }
        assert_eq!(braking.gain, 1.0);
        assert!(swinging.gain < 0.6, "{}", swinging.gain);
        for _ in 0..10_000 {
            swinging.heed((0.1, 0.1));
        }
        assert_eq!(swinging.gain, LEAST_GAIN);
        swinging.heed((f32::NAN, f32::INFINITY));
        assert!(swinging.gain.is_finite());
    }

    #[test]
    fn what_is_restored_is_within_the_rule() {
        let rule = Learning { personal_step: 100.0, personal_clip: 5.0, ..Learning::OFF };
        assert!(Personal::restored([5.0, -1.0], 0.5, &rule).is_some());
        assert!(Personal::restored([5.1, 0.0], 0.5, &rule).is_none());
        assert!(Personal::restored([0.0, f32::NAN], 0.5, &rule).is_none());
        assert!(Personal::restored([0.0, 0.0], 1.5, &rule).is_none());
    }
}
