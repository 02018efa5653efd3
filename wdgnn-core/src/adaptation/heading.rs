//! The personal part's heading: by how much a robot's motors are turned against its senses, in the plane of its first two outputs.
//!
//! ```text
//! (c, s, m) ← μ (c, s, m) + (u·a, u×a, |u||a|)        u what the motors were told, a what the state did
//! heading = the direction of (c + p + q (m − |(c, s)|), s)
//! ```
//!
//! Where motors are turned and nothing else, every a lies at the same angle to its u, and |(c, s)| is all of m. What is missing of m was noise,
//! a delay or a swing: as evidence it is worth less than nothing, and speaks for motors that are straight, as p does at first. Commands at
//! their limit teach as well as others, so a robot that brakes has learned its heading before it has braked.

use crate::{math, tensor::Array};

/// μ: evidence is forgotten over two seconds.
const MEMORY: f32 = 0.995;
/// p: twenty ticks at 10 m/s². With five, noise of 0.2 m/s turns robots by half a radian before it is known to be noise, and costs 2 % of
/// the total; with twenty, next to nothing.
const STRAIGHT: f32 = 2_000.0;
/// q: from 6 to 50 it makes no difference; at 0, a delay of four ticks costs 4 % of the total.
const ODDITY: f32 = 20.0;

/// What a robot knows of the direction of its motors: c, s and m.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Heading([f32; 3]);

impl Heading {
    /// Nothing is known: straight.
    pub(super) const STRAIGHT: Self = Self([0.0; 3]);

    /// Holds what came of a command against it.
    pub(super) fn learn(&mut self, command: [f32; 2], came: [f32; 2]) {
        let ([x, y], [to_x, to_y]) = (command, came);
        let most = math::sqrt((x * x + y * y) * (to_x * to_x + to_y * to_y));
        for (sum, product) in self.0.iter_mut().zip([x * to_x + y * to_y, x * to_y - y * to_x, most]) {
            *sum = MEMORY * *sum + product;
        }
        if !self.0.iter().all(|sum| sum.is_finite()) {
            *self = Self::STRAIGHT;
        }
    }

    /// The cosine and the sine of the angle.
    fn direction(self) -> [f32; 2] {
        let [scalar, cross, most] = self.0;
        let straight = scalar + STRAIGHT + ODDITY * (most - math::sqrt(scalar * scalar + cross * cross));
        let length = math::sqrt(straight * straight + cross * cross);
        if length > 0.0 && length.is_finite() { [straight / length, cross / length] } else { [1.0, 0.0] }
    }

    /// What motors make of a command.
    #[inline]
    pub(super) fn there<O: Array>(self, numbers: &mut O) {
        turn(numbers, self.direction());
    }

    /// The command that they make this of.
    #[inline]
    pub(super) fn back<O: Array>(self, numbers: &mut O) {
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

    /// The command of a robot that brakes, at some tick.
    fn braking(tick: u32) -> [f32; 2] {
        [10.0, (tick % 7) as f32 - 3.0]
    }

    #[test]
    fn most_of_a_turn_is_made_up_for_within_half_a_second() {
        for angle in [0.0_f32, 0.5, -1.0, 2.0] {
            let mut heading = Heading::STRAIGHT;
            for tick in 0..50 {
                let mut came = braking(tick);
                turn(&mut came, [angle.cos(), angle.sin()]);
                heading.learn(braking(tick), came);
            }
            let mut wanted = [3.0, -4.0];
            heading.back(&mut wanted);
            turn(&mut wanted, [angle.cos(), angle.sin()]);
            let off = (wanted[0] - 3.0).hypot(wanted[1] + 4.0) / 5.0;
            // What the first belief in straight motors leaves: 2,000 against 50 ticks of about 100 each.
            let most = 0.4 * angle.abs();
            assert!(off <= most + 1.0e-5, "{angle}: off by {off}");
            heading.back(&mut wanted);
            heading.there(&mut wanted);
            assert!((wanted[0].hypot(wanted[1]) - 5.0).abs() < 1.0e-4, "a turn changes no length");
        }
    }

    #[test]
    fn what_does_not_hang_together_turns_nobody() {
        // What came is large, and has nothing to do with the command: velocities that are off by 0.2 m/s.
        let mut heading = Heading::STRAIGHT;
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
    fn a_heading_is_always_one() {
        let mut heading = Heading::STRAIGHT;
        for number in [1.0e30, f32::NAN, f32::INFINITY, 0.0, -1.0e19, 1.0e19] {
            heading.learn([number, 1.0], [1.0, number]);
            let [cosine, sine] = heading.direction();
            assert!((cosine.hypot(sine) - 1.0).abs() < 1.0e-3, "{number}: {cosine} {sine}");
        }
    }
}
