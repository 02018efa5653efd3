//! Collision avoidance and repulsion as properties, compared with a numerical search for the closest approach in `f64`.

use crate::common::prelude::*;
use proptest::prelude::*;
use wdgnn_core::tasks::flocking::SpatialVector;
use wdgnn_robot::tasks::CollisionAvoidance as _;

/// Above every push, so that no push is limited.
const LIMIT: f32 = 1.0e9;

fn task<const D: usize>() -> Flocking<D> {
    Flocking { limit: LIMIT, ..Flocking::SUMMED_FEATURES }
}

/// Push away from one neighbor.
fn push<const D: usize>(own: &Motion<D>, other: &Motion<D>) -> [f32; D]
where
    [f32; D]: SpatialVector,
{
    task::<D>().avoid_cooperative(own, [*other].iter(), [0.0; D])
}

fn difference<const D: usize>(a: [f32; D], b: [f32; D]) -> [f64; D] {
    core::array::from_fn(|axis| f64::from(a[axis]) - f64::from(b[axis]))
}

fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length<const D: usize>(a: [f64; D]) -> f64 {
    dot(a, a).sqrt()
}

/// Time and offset of the closest approach within the horizon, by ternary search.
fn closest<const D: usize>(own: &Motion<D>, other: &Motion<D>) -> (f64, [f64; D]) {
    let (offset, drift) =
        (difference(own.position, other.position), difference(own.velocity, other.velocity));
    let at = |time: f64| -> [f64; D] { core::array::from_fn(|axis| offset[axis] + time * drift[axis]) };
    let (mut from, mut to) = (0.0, f64::from(task::<D>().horizon));
    for _ in 0..200 {
        let (first, second) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
        if length(at(first)) <= length(at(second)) { to = second } else { from = first }
    }
    (from, at(from))
}

/// Expected push: along the offset at the closest approach, so that both pushes together restore the separation.
fn expected<const D: usize>(own: &Motion<D>, other: &Motion<D>) -> [f64; D] {
    let (time, miss) = closest(own, other);
    let separation = f64::from(task::<D>().separation);
    let time = time.max(0.05);
    let strength = (separation - length(miss)).max(0.0) / (time * time * length(miss));
    miss.map(|x| strength * x)
}

fn motion<const D: usize>(reach: f32, speed: f32) -> impl Strategy<Value = Motion<D>> {
    let vector = move |range: f32| prop::array::uniform::<_, D>(-range..range);
    (vector(reach), vector(speed)).prop_map(|(position, velocity)| Motion { position, velocity })
}

fn check_against_geometry<const D: usize>(own: &Motion<D>, other: &Motion<D>) -> Result<(), TestCaseError>
where
    [f32; D]: SpatialVector,
{
    let (_, miss) = closest(own, other);
    // Head-on encounters have a separate rule.
    prop_assume!(length(miss) > 2.0e-3);
    let (found, expected) = (push(own, other), expected(own, other));
    // The offset is rounded by some 10⁻⁷ m at these speeds, divided by the shortest time squared.
    let tolerance = 1.0e-3 * (1.0 + length(expected));
    let off = length(difference(found, expected.map(|x| x as f32)));
    prop_assert!(off <= tolerance, "{:?} instead of {:?}", found, expected);
    let back = push(other, own);
    prop_assert_eq!(found.map(|x| x + 0.0), back.map(|x| 0.0 - x), "both are pushed equally");
    Ok(())
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn in_the_plane_the_push_restores_the_separation(
        own in motion::<2>(0.2, 3.0), other in motion::<2>(0.2, 3.0),
    ) {
        check_against_geometry(&own, &other)?;
    }

    #[test]
    fn in_space_the_push_restores_the_separation(own in motion::<3>(0.2, 3.0), other in motion::<3>(0.2, 3.0)) {
        check_against_geometry(&own, &other)?;
    }

    #[test]
    fn robots_that_are_too_close_are_pushed_apart_even_if_they_separate(
        angle in 0.0..core::f32::consts::TAU, apart in 0.005_f32..0.145, parting in 0.0_f32..3.0, aside in -3.0_f32..3.0,
    ) {
        let (sine, cosine) = angle.sin_cos();
        let own = Motion {
            position: [apart * cosine, apart * sine],
            velocity: [parting * cosine - aside * sine, parting * sine + aside * cosine],
        };
        let [x, y] = push(&own, &Motion::REST);
        // Now is the closest approach: (0.15 − d)/0.05², along the line between the robots.
        let (along, across) = (x * cosine + y * sine, y * cosine - x * sine);
        let expected = (0.15 - apart) / (0.05 * 0.05);
        prop_assert!((along - expected).abs() < 1.0e-2 && across.abs() < 1.0e-2, "{} {} {}", along, across, expected);
    }

    #[test]
    fn head_on_robots_turn_in_one_direction_with_the_least_push(
        angle in 0.0..core::f32::consts::TAU, exponent in -5.0_f32..1.0, ahead in 0.0_f32..0.09,
    ) {
        let speed = 10.0_f32.powf(exponent);
        let (sine, cosine) = angle.sin_cos();
        let velocity = [speed * cosine, speed * sine];
        let own = Motion { position: [0.0; 2], velocity };
        let other = Motion { position: velocity.map(|v| ahead * v), velocity: [0.0; 2] };
        let [x, y] = push(&own, &other);
        let (along, across) = (x * cosine + y * sine, y * cosine - x * sine);
        let time = ahead.max(0.05);
        let hardest = 0.15 / (time * time);
        prop_assert!(along.abs() <= 1.0e-2 * hardest, "{} along the path", along);
        // The full push at speeds of robots; a smaller one in the same direction near standstill.
        let share = speed / (speed + 1.0e-4);
        prop_assert!((across / hardest - share).abs() < 1.0e-2, "{} instead of {}", across, share * hardest);
        let [back_x, back_y] = push(&other, &own);
        prop_assert_eq!([x, y], [-back_x, -back_y]);
    }

    #[test]
    fn repulsion_follows_its_formula_and_ends_at_its_range(
        own in motion::<2>(0.3, 3.0), other in motion::<2>(0.3, 3.0),
    ) {
        let task = Flocking { limit: LIMIT, ..Flocking::<2>::MEAN_FEATURES };
        let found = task.repulsion(&own, [other].iter(), &[1.0, -2.0]);
        let offset = difference(own.position, other.position);
        // The distance is at least 5 cm.
        let distance = length(offset).max(0.05);
        let force = f64::from(task.strength) * (1.0 / distance - 1.0 / f64::from(task.repulsion));
        let force = if length(offset) < f64::from(task.repulsion) { force } else { 0.0 };
        for (axis, said) in [1.0, -2.0].into_iter().enumerate() {
            let expected = said + force * offset[axis] / distance;
            prop_assert!((f64::from(found[axis]) - expected).abs() < 1.0e-3, "{} {}", found[axis], expected);
        }
    }
}

#[test]
fn repulsion_acts_only_within_its_range() {
    let task = Flocking { limit: LIMIT, repulsion: 0.5, strength: 20.0, ..Flocking::DEFAULT };
    let at = |x| Motion { position: [x, 0.0], velocity: [0.0; 2] };
    for beyond in [0.5, 0.500_001, 3.0] {
        assert_eq!(task.repulsion(&Motion::REST, [at(beyond)].iter(), &[1.0, 2.0]), [1.0, 2.0], "{beyond} m");
    }
    assert!(task.repulsion(&Motion::REST, [at(0.499)].iter(), &[1.0, 2.0])[0] < 1.0);
}
