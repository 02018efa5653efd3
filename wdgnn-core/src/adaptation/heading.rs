//! Heading: the angle between commands and measured accelerations.
//!
//! The heading corrects motors that are rotated relative to the sensors, in the plane of the first
//! two outputs.
//!
//! ```text
//! (c, s, m) ← μ (c, s, m) + (u·a, u×a, |u||a|)        u the command, a the measured acceleration
//! heading = the direction of (c + p + q (m − |(c, s)|), s)
//! ```
//!
//! If the motors are rotated and nothing else is wrong, every a has the same angle to its u, and
//! |(c, s)| = m. The difference m − |(c, s)| is due to noise, delay or oscillation. It counts as
//! evidence for aligned motors, as the prior p does. Saturated commands count like any others, so a
//! braking robot learns its heading before it has stopped.

use crate::{math, tensor::Array};

/// μ: time constant of the sums, 200 ticks (2 s at 100 Hz).
const SUM_DECAY: f32 = 0.995;
/// p: prior weight of aligned motors, equal to 20 ticks at 10 m/s².
///
/// With 5 ticks, velocity noise of 0.2 m/s rotates commands by half a radian until it is recognized
/// as noise, and costs 2 % of the total velocity variation. With 20 ticks, the cost is negligible.
const ALIGNED_WEIGHT: f32 = 2_000.0;
/// q: weight of inconsistent directions as evidence for aligned motors.
///
/// Values from 6 to 50 perform equally. With 0, a delay of four ticks costs 4 % of the total
/// velocity variation.
const INCONSISTENCY_WEIGHT: f32 = 20.0;

/// Statistics of the motors' direction: c, s and m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heading([f32; 3]);

impl Heading {
    /// No statistics: aligned motors.
    pub(super) const ALIGNED: Self = Self([0.0; 3]);

    /// Updates the statistics with a command and the acceleration that followed.
    pub(super) fn learn(&mut self, command: [f32; 2], measured: [f32; 2]) {
        let ([x, y], [to_x, to_y]) = (command, measured);
        let most = math::sqrt((x * x + y * y) * (to_x * to_x + to_y * to_y));
        for (sum, product) in self.0.iter_mut().zip([x * to_x + y * to_y, x * to_y - y * to_x, most]) {
            *sum = SUM_DECAY * *sum + product;
        }
        if !self.0.iter().all(|sum| sum.is_finite()) {
            *self = Self::ALIGNED;
        }
    }

    /// Cosine and sine of the angle.
    fn direction(self) -> [f32; 2] {
        let [scalar, cross, most] = self.0;
        let straight = scalar
            + ALIGNED_WEIGHT
            + INCONSISTENCY_WEIGHT * (most - math::sqrt(scalar * scalar + cross * cross));
        let length = math::sqrt(straight * straight + cross * cross);
        if length > 0.0 && length.is_finite() { [straight / length, cross / length] } else { [1.0, 0.0] }
    }

    /// Rotates a command as the motors do.
    #[inline]
    pub(super) fn rotate<O: Array>(self, numbers: &mut O) {
        turn(numbers, self.direction());
    }

    /// Rotates a command against the motors' rotation.
    #[inline]
    pub(super) fn unrotate<O: Array>(self, numbers: &mut O) {
        let [cosine, sine] = self.direction();
        turn(numbers, [cosine, -sine]);
    }
}

#[inline]
fn turn<O: Array>(numbers: &mut O, [cosine, sine]: [f32; 2]) {
    if let [x, y, ..] = numbers.as_mut() {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Command of a braking robot at a tick.
    fn braking(tick: u32) -> [f32; 2] {
        [10.0, (tick % 7) as f32 - 3.0]
    }

    #[test]
    fn most_of_a_rotation_is_corrected_within_half_a_second() {
        for angle in [0.0_f32, 0.5, -1.0, 2.0] {
            let mut heading = Heading::ALIGNED;
            for tick in 0..50 {
                let mut measured = braking(tick);
                turn(&mut measured, [angle.cos(), angle.sin()]);
                heading.learn(braking(tick), measured);
            }
            let mut wanted = [3.0, -4.0];
            heading.unrotate(&mut wanted);
            turn(&mut wanted, [angle.cos(), angle.sin()]);
            let error = (wanted[0] - 3.0).hypot(wanted[1] + 4.0) / 5.0;
            // The prior for aligned motors leaves this error: weight 2,000 against 50 ticks of
            // about 100 each.
            let most = 0.4 * angle.abs();
            assert!(error <= most + 1.0e-5, "{angle}: relative error {error}");
            heading.unrotate(&mut wanted);
            heading.rotate(&mut wanted);
            assert!((wanted[0].hypot(wanted[1]) - 5.0).abs() < 1.0e-4, "a rotation preserves the length");
        }
    }

    #[test]
    fn uncorrelated_noise_hardly_changes_the_heading() {
        // The measured acceleration is large and independent of the command, as with velocity noise
        // of 0.2 m/s.
        let mut heading = Heading::ALIGNED;
        let mut random = 1_u32;
        let mut noise = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as f32 / 16_777_216.0 * 80.0 - 40.0
        };
        let mut furthest = 0.0_f32;
        for tick in 0..1_000 {
            let [x, y] = braking(tick);
            heading.learn([x, y], [x + noise(), y + noise()]);
            furthest = furthest.max(heading.direction()[1].abs());
        }
        assert!(furthest < 0.15, "{furthest}");
    }

    #[test]
    fn direction_is_always_a_unit_vector() {
        let mut heading = Heading::ALIGNED;
        for number in [1.0e30, f32::NAN, f32::INFINITY, 0.0, -1.0e19, 1.0e19] {
            heading.learn([number, 1.0], [1.0, number]);
            let [cosine, sine] = heading.direction();
            assert!((cosine.hypot(sine) - 1.0).abs() < 1.0e-3, "{number}: {cosine} {sine}");
        }
    }
}
