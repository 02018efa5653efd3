//! Features, loss and gradient by hand, in the plane and in space.

use super::*;
use crate::task::Task as _;

const TASK: Flocking = Flocking::DEFAULT;

/// Local loss J: variance of the velocities after the tick.
fn loss<const D: usize>(
    task: &Flocking<D>, own: &Motion<D>, neighbors: &[Motion<D>], command: &[f32; D],
) -> f32
where
    [f32; D]: SpatialVector,
{
    let next = own.velocity.add_scaled(task.period, command);
    let velocities = || neighbors.iter().map(|neighbor| neighbor.velocity).chain([next]);
    let n = 1.0 + neighbors.len() as f32;
    let mean = velocities().fold([0.0; D], |sum, v| sum.add_scaled(1.0, &v)).map(|sum| sum / n);
    velocities().map(|v| v.minus(&mean)).fold(0.0, |sum, off| sum + off.dot(&off)) / n
}

fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
    Motion { position: [x, y], velocity: [vx, vy] }
}

#[test]
fn features_by_hand() {
    // Neighbors 2 m to the east and 0.5 m to the south.
    let own = motion(0.0, 0.0, 1.0, 2.0);
    let neighbors = [motion(2.0, 0.0, 0.5, 0.0), motion(0.0, -0.5, 1.0, -1.0)];
    // 1/d⁴: −2/16 east; 0.5·16 = 8 north. 1/d²: −2/4 east; 0.5·4 = 2 north.
    assert_eq!(TASK.features(&own, neighbors.iter()), [0.5, 5.0, -0.125, 8.0, -0.5, 2.0]);
}

#[test]
fn features_saturate_at_the_floor_and_are_finite_at_distance_zero() {
    let own = motion(0.0, 0.0, 0.0, 0.0);
    let at = |x| TASK.features(&own, [motion(x, 0.0, 0.0, 0.0)].iter())[2];
    assert!((at(-0.3) - 0.3_f32.powi(-3)).abs() < 1.0e-4);
    assert_eq!(at(-0.15), at(-0.3) / 2.0);
    for floor in [0.0, -1.0, 0.3] {
        let task = Flocking { floor, ..TASK };
        assert!(task.features(&own, [own].iter()).iter().all(|x| x.is_finite()));
    }
}

#[test]
fn the_loss_is_the_variance_after_the_step() {
    let own = motion(0.0, 0.0, 0.0, 0.0);
    let neighbors = [motion(1.0, 0.0, 2.0, 0.0)];
    // Velocities 0.1 and 2: mean 1.05, variance 0.95².
    assert!((loss(&TASK, &own, &neighbors, &[10.0, 0.0]) - 0.9025).abs() < 1.0e-6);
}

#[test]
fn the_gradient_agrees_with_finite_differences() {
    let own = motion(0.0, 0.0, 1.0, -2.0);
    let neighbors = [motion(1.0, 0.0, 2.0, 0.5), motion(0.0, 1.0, -1.0, 3.0), motion(1.0, 1.0, 0.0, 0.0)];
    let output = [2.0, -3.0];
    let gradient = TASK.loss_gradient(&own, neighbors.iter(), &output);
    for axis in 0..2 {
        // The loss is quadratic, so a wide difference is exact: h = 2 keeps rounding (1e-7·4/4) far below the bound.
        let (mut up, mut down) = (output, output);
        up[axis] += 2.0;
        down[axis] -= 2.0;
        let difference = (loss(&TASK, &own, &neighbors, &up) - loss(&TASK, &own, &neighbors, &down)) / 4.0;
        assert!((difference - gradient[axis]).abs() < 1.0e-5, "{difference} {}", gradient[axis]);
    }
}

#[test]
fn loss_gradient_is_zero_without_neighbors() {
    let own = motion(0.0, 0.0, 5.0, 5.0);
    assert_eq!(TASK.loss_gradient(&own, [].iter(), &[1.0, 2.0]), [0.0, 0.0]);
}

#[test]
fn normalized_features_are_means_over_all_robots() {
    let own = motion(0.0, 0.0, 1.0, 2.0);
    let neighbors = [motion(2.0, 0.0, 0.0, 0.0), motion(0.0, -0.5, 0.5, 0.0)];
    let sums = Flocking::DEFAULT.features(&own, neighbors.iter());
    let means = Flocking::<2>::MEAN_FEATURES.features(&own, neighbors.iter());
    assert_eq!(means, sums.map(|x| x / 3.0));
    assert_eq!(Flocking::<2>::MEAN_FEATURES.features(&own, [].iter()), [0.0; 6]);
}

#[test]
fn constants_round_trip() {
    for task in [Flocking::DEFAULT, Flocking::<2>::MEAN_FEATURES] {
        assert_eq!(Flocking::from_constants(&task.constants()), task);
    }
}

#[test]
fn overshoot_is_negative_on_approach() {
    // The mean of 3 and 1 is 2, so it is 1 off; it was slower before, so it is moving away.
    let others = [motion(1.0, 0.0, 1.0, 0.0)];
    let own = motion(0.0, 0.0, 3.0, 0.0);
    let overshoot = |older: f32, before: f32| {
        let [older, before] = [older, before].map(|x| motion(0.0, 0.0, x, 0.0));
        TASK.overshoot([&older, &before, &own], others.iter())
    };
    assert_eq!(overshoot(2.5, 2.5), [0.5, 0.0, 0.5]);
    assert_eq!(overshoot(5.0, 4.0), [-1.0, -1.0, 2.0]);
    assert_eq!(overshoot(3.0, 4.0), [-1.0, 1.0, 2.0], "there and back again");
    let achieved = TASK.realized_command(&motion(0.0, 0.0, 2.5, 0.0), &own);
    assert_eq!(achieved, Some([0.5 / TASK.period, 0.0]));
}

fn in_space(position: [f32; 3], velocity: [f32; 3]) -> Motion<3> {
    Motion { position, velocity }
}

#[test]
fn features_in_space_by_hand() {
    // Neighbors 2 m to the east and 0.5 m below.
    let own = in_space([0.0; 3], [1.0, 2.0, -1.0]);
    let neighbors =
        [in_space([2.0, 0.0, 0.0], [0.5, 0.0, 1.0]), in_space([0.0, 0.0, -0.5], [1.0, -1.0, 0.0])];
    // 1/d⁴: −2/16 east; 0.5·16 = 8 up. 1/d²: −2/4 east; 0.5·4 = 2 up.
    let sums = [0.5, 5.0, -3.0, -0.125, 0.0, 8.0, -0.5, 0.0, 2.0];
    assert_eq!(Flocking::<3>::SUMMED_FEATURES.features(&own, neighbors.iter()), sums);
    assert_eq!(Flocking::<3>::MEAN_FEATURES.features(&own, neighbors.iter()), sums.map(|x| x / 3.0));
}

#[test]
fn the_gradient_in_space_agrees_with_finite_differences() {
    let task = Flocking::<3>::SUMMED_FEATURES;
    let own = in_space([0.0; 3], [1.0, -2.0, 0.5]);
    let neighbors = [in_space([1.0; 3], [2.0, 0.5, -1.0]), in_space([-1.0; 3], [-1.0, 3.0, 2.0])];
    let output = [2.0, -3.0, 4.0];
    let gradient = task.loss_gradient(&own, neighbors.iter(), &output);
    for axis in 0..3 {
        // As in the plane.
        let at = |offset: f32| {
            let mut command = output;
            command[axis] += offset;
            loss(&task, &own, &neighbors, &command)
        };
        let difference = (at(2.0) - at(-2.0)) / 4.0;
        assert!((difference - gradient[axis]).abs() < 1.0e-5, "{difference} {}", gradient[axis]);
    }
}

#[test]
fn flocking_in_plane_and_space_have_different_ids() {
    assert_eq!((Flocking::<2>::ID, Flocking::<3>::ID), (1, 3));
}
