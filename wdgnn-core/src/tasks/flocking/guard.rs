//! Keeping apart: a repulsion of close neighbours, and the separation guard that has the last word.

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
};
use crate::math;

/// Below this offset at the closest approach, two robots are taken to meet head-on.
const HEAD_ON_METRES: f32 = 1.0e-4;

/// The repulsion grows no further below this distance.
const NEAREST_METRES: f32 = 0.05;

/// Who is further away than separation and drift within the horizon together does not come too close: (a + b)² ≤ 2 (a² + b²), and a
/// percent for rounding. Most are, so that this is all that is done about them.
const OUT_OF_REACH: f32 = 2.02;

/// The separation guard pushes as if it had at least this long: robots side by side part gently.
const SHORTEST_PUSH_SECONDS: f32 = 0.05;

impl<const D: usize> Flocking<D>
where
    [f32; D]: Axes,
{
    /// `steered` with the repulsion of one neighbour; `reach_squared` is the square of its reach.
    #[inline]
    pub(super) fn repel(
        &self,
        own: &Motion<D>,
        other: &Motion<D>,
        reach_squared: f32,
        steered: [f32; D],
    ) -> [f32; D] {
        let offset = own.position.minus(&other.position);
        let squared = offset.dot(&offset);
        if squared >= reach_squared {
            return steered;
        }
        let distance = math::sqrt(squared);
        let distance = if distance > NEAREST_METRES { distance } else { NEAREST_METRES };
        let force = self.strength * (1.0 / distance - 1.0 / self.repulsion) / distance;
        steered.plus(force, &offset)
    }

    /// The acceleration that keeps two robots apart, if they fly on as they do: with m the offset at the closest approach
    /// within the horizon, `(separation − |m|)/τ²` along m. Both robots do so, and `a·τ²` makes up what is missing.
    #[inline]
    pub(super) fn push(&self, own: &Motion<D>, other: &Motion<D>) -> Option<[f32; D]> {
        let offset = own.position.minus(&other.position);
        let drift = own.velocity.minus(&other.velocity);
        let speed_squared = drift.dot(&drift);
        let reach = self.separation * self.separation + self.horizon * self.horizon * speed_squared;
        if offset.dot(&offset) > OUT_OF_REACH * reach {
            return None;
        }
        self.push_near(&offset, &drift, speed_squared)
    }

    /// The same, with an offset and a drift.
    #[inline(never)] // once, and rare
    fn push_near(&self, offset: &[f32; D], drift: &[f32; D], speed_squared: f32) -> Option<[f32; D]> {
        let approach = -offset.dot(drift);
        // The time of the closest approach, between now and the horizon.
        let time = if approach <= 0.0 {
            0.0
        } else if approach >= speed_squared * self.horizon {
            self.horizon
        } else {
            approach / speed_squared
        };
        let miss = offset.plus(time, drift);
        let squared = miss.dot(&miss);
        if squared >= self.separation * self.separation {
            return None;
        }
        let distance = math::sqrt(squared);
        let (direction, length) = if distance > HEAD_ON_METRES {
            (miss, distance)
        } else {
            // Head-on there is no side to give way to: both turn the same way round.
            let across = drift.across();
            (across, across.length() + HEAD_ON_METRES)
        };
        let time = if time > SHORTEST_PUSH_SECONDS { time } else { SHORTEST_PUSH_SECONDS };
        let strength = (self.separation - distance) / (time * time * length);
        Some(direction.zip(&direction, |x, _| strength * x))
    }

    /// `command`, or as much more of it away from the other robot as it takes to go all of the missing way alone: with m the offset at
    /// the closest approach, `2 (separation − |m|)/τ²` along m. Who steers away already is left alone, who steers at the other one is
    /// turned round.
    pub(super) fn give_way(&self, own: &Motion<D>, other: &Motion<D>, command: [f32; D]) -> [f32; D] {
        let Some(push) = self.push(own, other) else { return command };
        let half = push.length();
        let missing = 2.0 * half - command.dot(&push) / half;
        if missing > 0.0 { command.plus(missing / half, &push) } else { command }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;
    use crate::tasks::task::Task as _;

    const TASK: Flocking = Flocking { separation: 0.13, ..Flocking::DEFAULT };

    fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
        Motion { position: [x, y], velocity: [vx, vy] }
    }

    #[test]
    fn the_guard_leaves_alone_who_does_not_meet() {
        let own = motion(0.0, 0.0, 1.0, 0.0);
        let far = motion(1.0, 0.0, 0.0, 0.0);
        let parting = motion(-0.2, 0.0, 0.0, 0.0);
        assert_eq!(TASK.keep_safe(&own, [far, parting].iter(), [1.0, 2.0]), [1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn who_is_out_of_reach_would_not_be_pushed(
            angle in 0.0_f32..7.0,
            drift in proptest::array::uniform2(-20.0_f32..20.0),
            beyond in 1.0_f32..1.2,
        ) {
            let speed_squared = drift.dot(&drift);
            let reach = TASK.separation * TASK.separation + TASK.horizon * TASK.horizon * speed_squared;
            let distance = math::sqrt(OUT_OF_REACH * reach) * beyond;
            let (sine, cosine) = libm::sincosf(angle);
            let offset = [distance * cosine, distance * sine];
            prop_assume!(offset.dot(&offset) > OUT_OF_REACH * reach);
            prop_assert_eq!(TASK.push_near(&offset, &drift, speed_squared), None);
        }
    }

    #[test]
    fn the_guard_pushes_apart_who_would_meet() {
        // 0.2 m ahead and 0.1 m aside, closing at 4 m/s: passes at 0.1 m in 0.05 s. (0.13 − 0.1)/0.05² = 12, to the side.
        let own = motion(0.0, 0.0, 4.0, 0.0);
        let other = motion(0.2, -0.1, 0.0, 0.0);
        let [x, y] = Flocking { limit: 100.0, ..TASK }.keep_safe(&own, [other].iter(), [1.0, 2.0]);
        assert!((x - 1.0).abs() < 1.0e-3 && (y - 14.0).abs() < 1.0e-3, "{x} {y}");
        assert_eq!(TASK.keep_safe(&own, [other].iter(), [1.0, 2.0]), [1.0, 10.0], "never beyond the limit");
        let off = Flocking { separation: 0.0, ..TASK };
        assert_eq!(off.keep_safe(&own, [other].iter(), [1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn who_gives_way_goes_all_of_the_missing_way_alone() {
        // As above: a push of 12 to the side would be half of it.
        let own = motion(0.0, 0.0, 4.0, 0.0);
        let other = motion(0.2, -0.1, 0.0, 0.0);
        for (asked, given) in [(2.0, 24.0), (0.0, 24.0), (-5.0, 24.0), (30.0, 30.0)] {
            let [x, y] = TASK.give_way(&own, &other, [1.0, asked]);
            assert!((x - 1.0).abs() < 1.0e-3 && (y - given).abs() < 1.0e-3, "{asked}: {x} {y}");
        }
        assert_eq!(
            TASK.give_way(&own, &motion(0.2, 5.0, 0.0, 0.0), [1.0, 2.0]),
            [1.0, 2.0],
            "nobody is in the way"
        );
    }

    #[test]
    fn the_guard_is_finite_head_on_and_on_the_same_spot() {
        let own = motion(0.0, 0.0, 4.0, 0.0);
        for other in [motion(0.2, 0.0, -4.0, 0.0), own, motion(0.0, 0.0, 1.0, 1.0)] {
            let safe = TASK.keep_safe(&own, [other].iter(), [0.0, 0.0]);
            assert!(safe.iter().all(|u| u.is_finite()), "{safe:?}");
        }
        assert!(
            TASK.keep_safe(&own, [motion(0.2, 0.0, -4.0, 0.0)].iter(), [0.0, 0.0])[1] > 1.0,
            "it turns aside"
        );
    }

    #[test]
    fn repulsion_by_hand() {
        // 0.25 m apart: 20 · (1/0.25 − 1/0.5) = 40 m/s².
        let own = motion(0.0, 0.0, 0.0, 0.0);
        let task = Flocking::NORMALISED;
        let steered =
            task.steer(&own, [motion(0.25, 0.0, 0.0, 0.0), motion(0.0, 0.6, 0.0, 0.0)].iter(), &[1.0, 2.0]);
        assert!((steered[0] + 39.0).abs() < 1.0e-4 && steered[1] == 2.0, "{steered:?}");
        assert_eq!(task.steer(&own, [own].iter(), &[1.0, 2.0]), [1.0, 2.0], "finite on the same spot");
        let none = Flocking::DEFAULT.steer(&own, [motion(0.25, 0.0, 0.0, 0.0)].iter(), &[1.0, 2.0]);
        assert_eq!(none, [1.0, 2.0]);
    }

    const IN_SPACE: Flocking<3> = Flocking { separation: 0.13, ..Flocking::SUMS };

    /// Flies two robots for a second without a wish of their own, and returns how close they came.
    fn closest(mut robots: [Motion<3>; 2]) -> f32 {
        let mut closest = f32::INFINITY;
        for _ in 0..100 {
            let [a, b] = robots;
            let commands =
                [IN_SPACE.keep_safe(&a, [b].iter(), [0.0; 3]), IN_SPACE.keep_safe(&b, [a].iter(), [0.0; 3])];
            for (robot, command) in robots.iter_mut().zip(commands) {
                robot.velocity = robot.velocity.plus(IN_SPACE.period, &command);
                *robot = robot.after(IN_SPACE.period);
            }
            let apart = robots[0].position.minus(&robots[1].position).length();
            closest = if apart < closest { apart } else { closest };
        }
        closest
    }

    #[test]
    fn in_space_the_guard_keeps_apart_who_would_meet_from_any_side() {
        for axis in 0..3 {
            for aside in [0.0, 0.02, -0.05] {
                let (mut a, mut b) = (Motion::REST, Motion::REST);
                (a.position[axis], a.velocity[axis]) = (-0.3, 2.0);
                (b.position[axis], b.velocity[axis]) = (0.3, -2.0);
                b.position[(axis + 1) % 3] = aside;
                // The guard counts on what ten ticks can do, and accelerations are limited per axis.
                let closest = closest([a, b]);
                assert!(closest > 0.09, "{closest} m along axis {axis}, {aside} m aside");
            }
        }
    }

    #[test]
    fn in_space_two_robots_that_meet_head_on_turn_the_same_way_round() {
        for drift in [[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0], [2.0, -3.0, 1.0]] {
            let own = Motion { position: [0.0; 3], velocity: drift };
            let other = Motion { position: drift.map(|v| 0.05 * v), velocity: [0.0; 3] };
            let there = IN_SPACE.push(&own, &other).unwrap();
            let back = IN_SPACE.push(&other, &own).unwrap();
            assert_eq!(there, back.map(|u| -u), "{drift:?}");
            assert!(there.dot(&drift).abs() < 1.0e-3 && there.length() > 1.0, "{there:?} across {drift:?}");
        }
        let still = Motion::REST;
        assert_eq!(IN_SPACE.push(&still, &still), Some([0.0; 3]), "finite on the same spot");
    }

    #[test]
    fn level_flight_in_space_is_flight_in_the_plane() {
        let raised = |[x, y]: [f32; 2]| [x, y, 0.0];
        let lift =
            |motion: Motion| Motion { position: raised(motion.position), velocity: raised(motion.velocity) };
        let own = motion(0.0, 0.0, 4.0, 0.0);
        for other in [motion(0.2, -0.1, 0.0, 0.0), motion(0.2, 0.0, -4.0, 0.0), own] {
            let [plane, space] =
                [TASK.push(&own, &other).map(raised), IN_SPACE.push(&lift(own), &lift(other))];
            assert_eq!(plane, space);
        }
    }
}
