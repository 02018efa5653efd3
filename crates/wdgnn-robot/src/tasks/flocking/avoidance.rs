//! Collision avoidance: repulsion of near neighbors and avoidance of encounters.

use wdgnn_core::{
    math,
    task::Task as _,
    tasks::flocking::{Flocking, Motion, SpatialVector},
};

use crate::tasks::CollisionAvoidance;

/// Miss distance below which an encounter counts as head-on, in meters.
const HEAD_ON_METERS: f32 = 1.0e-4;

/// Distance below which the repulsion no longer grows, in meters.
const REPULSION_FLOOR_METERS: f32 = 0.05;

/// Factor of the quick test that excludes an encounter.
///
/// A robot cannot come too close if its squared distance exceeds this factor times (separation² +
/// (drift within the horizon)²): (a + b)² ≤ 2 (a² + b²), plus 1 % for rounding. Most neighbors pass
/// the test, so it comes first.
const OUT_OF_REACH: f32 = 2.02;

/// Shortest time in which the avoidance acts, in seconds.
///
/// Robots that fly side by side therefore separate slowly.
const MIN_PUSH_SECONDS: f32 = 0.05;

/// Horizon of unilateral avoidance, relative to that of cooperative avoidance.
///
/// With weak actuators, 2 leaves the fewest close pairs of {1, 1.5, 2}. It costs 0.3 % of the
/// velocity variation.
const UNILATERAL_HORIZON: f32 = 2.0;

impl<const D: usize> CollisionAvoidance for Flocking<D>
where
    [f32; D]: SpatialVector,
{
    #[inline]
    fn repulsion<'a>(
        &self, own: &Motion<D>, neighbors: impl Iterator<Item = &'a Motion<D>>, output: &[f32; D],
    ) -> [f32; D] {
        if self.repulsion <= 0.0 {
            return *output;
        }
        let range_squared = self.repulsion * self.repulsion;
        neighbors.fold(*output, |output, other| repel(self, own, other, range_squared, output))
    }

    /// Adds a push away from each neighbor on course for an encounter.
    fn avoid_cooperative<'a>(
        &self, own: &Motion<D>, neighbors: impl Iterator<Item = &'a Motion<D>>, command: [f32; D],
    ) -> [f32; D] {
        if self.separation <= 0.0 {
            return command;
        }
        let mut safe = command;
        for push in neighbors.filter_map(|other| push(self, own, other)) {
            safe = safe.zip(&push, |safe, push| safe + push);
        }
        self.saturate(&safe)
    }

    /// Adds the whole avoidance of each obstacle, with a longer horizon.
    ///
    /// The other robot may not receive, may not trust this robot, or may be unable to avoid it.
    fn avoid_unilateral(
        &self, own: &Motion<D>, obstacles: impl Iterator<Item = Motion<D>>, command: [f32; D],
    ) -> [f32; D] {
        if self.separation <= 0.0 {
            return command;
        }
        let cautious = Self { horizon: UNILATERAL_HORIZON * self.horizon, ..*self };
        let avoid = |safe, other| give_way(&cautious, own, &other, safe);
        self.saturate(&obstacles.fold(command, avoid))
    }

    fn is_approaching(&self, own: &Motion<D>, other: &Motion<D>) -> bool {
        own.position.minus(&other.position).dot(&own.velocity.minus(&other.velocity)) < 0.0
    }
}

/// Adds the repulsion of one neighbor within the squared range to `output`.
#[inline]
fn repel<const D: usize>(
    task: &Flocking<D>, own: &Motion<D>, other: &Motion<D>, range_squared: f32, output: [f32; D],
) -> [f32; D]
where
    [f32; D]: SpatialVector,
{
    let offset = own.position.minus(&other.position);
    let squared = offset.dot(&offset);
    if squared >= range_squared {
        return output;
    }
    let distance = math::sqrt(squared);
    let distance = if distance > REPULSION_FLOOR_METERS { distance } else { REPULSION_FLOOR_METERS };
    let force = task.strength * (1.0 / distance - 1.0 / task.repulsion) / distance;
    output.add_scaled(force, &offset)
}

/// Acceleration that separates two robots if both apply it.
///
/// With m the offset at the closest approach within the horizon, at time τ, it is
/// `(separation − |m|)/τ²` along m: together the two robots move by `a·τ²`. It assumes that
/// velocities otherwise stay constant.
#[inline]
fn push<const D: usize>(task: &Flocking<D>, own: &Motion<D>, other: &Motion<D>) -> Option<[f32; D]>
where
    [f32; D]: SpatialVector,
{
    let offset = own.position.minus(&other.position);
    let drift = own.velocity.minus(&other.velocity);
    let speed_squared = drift.dot(&drift);
    let reach = task.separation * task.separation + task.horizon * task.horizon * speed_squared;
    if offset.dot(&offset) > OUT_OF_REACH * reach {
        return None;
    }
    push_near(task, &offset, &drift, speed_squared)
}

/// [`push`] for a robot that passed the quick test, by its offset and drift.
#[inline(never)] // One copy in flash; it runs rarely.
fn push_near<const D: usize>(
    task: &Flocking<D>, offset: &[f32; D], drift: &[f32; D], speed_squared: f32,
) -> Option<[f32; D]>
where
    [f32; D]: SpatialVector,
{
    let approach = -offset.dot(drift);
    // The time of the closest approach, between now and the horizon.
    let time = if approach <= 0.0 {
        0.0
    } else if approach >= speed_squared * task.horizon {
        task.horizon
    } else {
        approach / speed_squared
    };
    let miss = offset.add_scaled(time, drift);
    let squared = miss.dot(&miss);
    if squared >= task.separation * task.separation {
        return None;
    }
    let distance = math::sqrt(squared);
    let (direction, length) = if distance > HEAD_ON_METERS {
        (miss, distance)
    } else {
        // A head-on encounter has no preferred side: both robots turn in the same sense.
        let across = perpendicular(drift);
        (across, across.length() + HEAD_ON_METERS)
    };
    let time = if time > MIN_PUSH_SECONDS { time } else { MIN_PUSH_SECONDS };
    let strength = (task.separation - distance) / (time * time * length);
    Some(direction.zip(&direction, |x, _| strength * x))
}

/// Changes `command` so that this robot alone avoids the encounter.
///
/// With m the offset at the closest approach, the acceleration is `2 (separation − |m|)/τ²` along
/// m. A command that already avoids enough stays unchanged.
fn give_way<const D: usize>(
    task: &Flocking<D>, own: &Motion<D>, other: &Motion<D>, command: [f32; D],
) -> [f32; D]
where
    [f32; D]: SpatialVector,
{
    let Some(push) = push(task, own, other) else { return command };
    let half = push.length();
    let missing = 2.0 * half - command.dot(&push) / half;
    if missing > 0.0 { command.add_scaled(missing / half, &push) } else { command }
}

/// A vector perpendicular to `vector`, with at least 0.81 times its length.
///
/// It is an odd function: the perpendicular of −v is the negative. Two robots on a head-on course
/// therefore turn in the same sense. In space, it drops the smallest component and rotates the other
/// two by 90°. Level flight drops the third component, so the result equals that of the plane.
fn perpendicular<const D: usize>(vector: &[f32; D]) -> [f32; D] {
    let mut across = [0.0; D];
    match (vector.as_slice(), across.as_mut_slice()) {
        ([x, y], [a, b]) => (*a, *b) = (-y, *x),
        ([x, y, z], [a, b, c]) => {
            let [along_x, along_y, along_z] = [x.abs(), y.abs(), z.abs()];
            (*a, *b, *c) = if along_z <= along_x && along_z <= along_y {
                (-y, *x, 0.0)
            } else if along_x <= along_y {
                (0.0, -z, *y)
            } else {
                (*z, 0.0, -x)
            };
        }
        _ => {}
    }
    across
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    const TASK: Flocking = Flocking { separation: 0.13, ..Flocking::DEFAULT };

    fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
        Motion { position: [x, y], velocity: [vx, vy] }
    }

    #[test]
    fn command_is_unchanged_without_an_encounter() {
        let own = motion(0.0, 0.0, 1.0, 0.0);
        let far = motion(1.0, 0.0, 0.0, 0.0);
        let parting = motion(-0.2, 0.0, 0.0, 0.0);
        assert_eq!(TASK.avoid_cooperative(&own, [far, parting].iter(), [1.0, 2.0]), [1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn robots_excluded_by_the_quick_test_need_no_push(
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
            prop_assert_eq!(push_near(&TASK, &offset, &drift, speed_squared), None);
        }
    }

    #[test]
    fn cooperative_avoidance_pushes_to_the_side() {
        // 0.2 m ahead, 0.1 m aside and closing at 4 m/s: passes at 0.1 m in 0.05 s. The push is
        // (0.13 − 0.1)/0.05² = 12, to the side.
        let own = motion(0.0, 0.0, 4.0, 0.0);
        let other = motion(0.2, -0.1, 0.0, 0.0);
        let [x, y] = Flocking { limit: 100.0, ..TASK }.avoid_cooperative(&own, [other].iter(), [1.0, 2.0]);
        assert!((x - 1.0).abs() < 1.0e-3 && (y - 14.0).abs() < 1.0e-3, "{x} {y}");
        assert_eq!(
            TASK.avoid_cooperative(&own, [other].iter(), [1.0, 2.0]),
            [1.0, 10.0],
            "the command stays within the limit"
        );
        let off = Flocking { separation: 0.0, ..TASK };
        assert_eq!(off.avoid_cooperative(&own, [other].iter(), [1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn unilateral_avoidance_supplies_the_whole_push() {
        // In the encounter of the test above, cooperative avoidance pushes by 12 to the side, half
        // of 24.
        let own = motion(0.0, 0.0, 4.0, 0.0);
        let other = motion(0.2, -0.1, 0.0, 0.0);
        for (commanded, expected) in [(2.0, 24.0), (0.0, 24.0), (-5.0, 24.0), (30.0, 30.0)] {
            let [x, y] = give_way(&TASK, &own, &other, [1.0, commanded]);
            assert!((x - 1.0).abs() < 1.0e-3 && (y - expected).abs() < 1.0e-3, "{commanded}: {x} {y}");
        }
        assert_eq!(
            give_way(&TASK, &own, &motion(0.2, 5.0, 0.0, 0.0), [1.0, 2.0]),
            [1.0, 2.0],
            "no encounter leaves the command unchanged"
        );
    }

    #[test]
    fn avoidance_is_finite_head_on_and_at_zero_distance() {
        let own = motion(0.0, 0.0, 4.0, 0.0);
        for other in [motion(0.2, 0.0, -4.0, 0.0), own, motion(0.0, 0.0, 1.0, 1.0)] {
            let safe = TASK.avoid_cooperative(&own, [other].iter(), [0.0, 0.0]);
            assert!(safe.iter().all(|u| u.is_finite()), "{safe:?}");
        }
        assert!(
            TASK.avoid_cooperative(&own, [motion(0.2, 0.0, -4.0, 0.0)].iter(), [0.0, 0.0])[1] > 1.0,
            "the robot turns aside"
        );
    }

    #[test]
    fn repulsion_matches_a_hand_computed_example() {
        // 0.25 m apart: 20 · (1/0.25 − 1/0.5) = 40 m/s².
        let own = motion(0.0, 0.0, 0.0, 0.0);
        let task = Flocking::<2>::MEAN_FEATURES;
        let repelled = task.repulsion(
            &own,
            [motion(0.25, 0.0, 0.0, 0.0), motion(0.0, 0.6, 0.0, 0.0)].iter(),
            &[1.0, 2.0],
        );
        assert!((repelled[0] + 39.0).abs() < 1.0e-4 && repelled[1] == 2.0, "{repelled:?}");
        assert_eq!(task.repulsion(&own, [own].iter(), &[1.0, 2.0]), [1.0, 2.0], "finite at zero distance");
        let none = Flocking::DEFAULT.repulsion(&own, [motion(0.25, 0.0, 0.0, 0.0)].iter(), &[1.0, 2.0]);
        assert_eq!(none, [1.0, 2.0]);
    }

    const IN_SPACE: Flocking<3> = Flocking { separation: 0.13, ..Flocking::SUMMED_FEATURES };

    /// Simulates two robots without commands for a second; returns the least distance.
    fn closest(mut robots: [Motion<3>; 2]) -> f32 {
        let mut closest = f32::INFINITY;
        for _ in 0..100 {
            let [a, b] = robots;
            let commands = [
                IN_SPACE.avoid_cooperative(&a, [b].iter(), [0.0; 3]),
                IN_SPACE.avoid_cooperative(&b, [a].iter(), [0.0; 3]),
            ];
            for (robot, command) in robots.iter_mut().zip(commands) {
                robot.velocity = robot.velocity.add_scaled(IN_SPACE.period, &command);
                *robot = robot.extrapolate(IN_SPACE.period);
            }
            let apart = robots[0].position.minus(&robots[1].position).length();
            closest = if apart < closest { apart } else { closest };
        }
        closest
    }

    #[test]
    fn avoidance_in_space_works_along_every_axis() {
        for axis in 0..3 {
            for aside in [0.0, 0.02, -0.05] {
                let (mut a, mut b) = (Motion::REST, Motion::REST);
                (a.position[axis], a.velocity[axis]) = (-0.3, 2.0);
                (b.position[axis], b.velocity[axis]) = (0.3, -2.0);
                b.position[(axis + 1) % 3] = aside;
                // Avoidance plans for ten ticks, and accelerations are limited per axis.
                let closest = closest([a, b]);
                assert!(closest > 0.09, "{closest} m along axis {axis}, {aside} m aside");
            }
        }
    }

    #[test]
    fn head_on_robots_in_space_turn_in_one_sense() {
        for drift in [[4.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 4.0], [2.0, -3.0, 1.0]] {
            let own = Motion { position: [0.0; 3], velocity: drift };
            let other = Motion { position: drift.map(|v| 0.05 * v), velocity: [0.0; 3] };
            let there = push(&IN_SPACE, &own, &other).unwrap();
            let back = push(&IN_SPACE, &other, &own).unwrap();
            assert_eq!(there, back.map(|u| -u), "{drift:?}");
            assert!(there.dot(&drift).abs() < 1.0e-3 && there.length() > 1.0, "{there:?} across {drift:?}");
        }
        let still = Motion::REST;
        assert_eq!(push(&IN_SPACE, &still, &still), Some([0.0; 3]), "finite at zero distance");
    }

    #[test]
    fn level_flight_in_space_equals_flight_in_the_plane() {
        let raised = |[x, y]: [f32; 2]| [x, y, 0.0];
        let lift =
            |motion: Motion| Motion { position: raised(motion.position), velocity: raised(motion.velocity) };
        let own = motion(0.0, 0.0, 4.0, 0.0);
        for other in [motion(0.2, -0.1, 0.0, 0.0), motion(0.2, 0.0, -4.0, 0.0), own] {
            let [plane, space] =
                [push(&TASK, &own, &other).map(raised), push(&IN_SPACE, &lift(own), &lift(other))];
            assert_eq!(plane, space);
        }
    }

    #[test]
    fn perpendiculars_are_orthogonal_odd_and_long_enough() {
        for x in [-2.0_f32, 0.0, 0.5, 3.0] {
            for y in [-1.0_f32, 0.0, 0.5, 4.0] {
                assert_eq!([x, y].dot(&perpendicular(&[x, y])), 0.0);
                assert_eq!(
                    perpendicular(&[x, y, 0.0]),
                    [-y, x, 0.0],
                    "level flight gives the result of the plane"
                );
                for z in [-3.0_f32, 0.0, 0.5, 1.0] {
                    let vector = [x, y, z];
                    let across = perpendicular(&vector);
                    assert_eq!(vector.dot(&across), 0.0, "{vector:?}");
                    assert_eq!(perpendicular(&vector.map(|x| -x)), across.map(|x| -x), "{vector:?}");
                    // The smallest of three components is dropped: at most a third of the squared
                    // length.
                    assert!(across.length() >= 0.81 * vector.length(), "{vector:?}");
                }
            }
        }
    }
}
