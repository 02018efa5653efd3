//! The separation guard and the repulsion as properties, against the same geometry in `f64` without a formula: the closest approach is
//! looked for.

use crate::common::prelude::*;
use proptest::prelude::*;
use wdgnn_core::tasks::flocking::Axes;
use wdgnn_robot::tasks::CollisionAvoidance as _;

/// Far above any push: nothing here is limited.
const LIMIT: f32 = 1.0e9;

fn task<const D: usize>() -> Flocking<D> {
    Flocking { limit: LIMIT, ..Flocking::SUMS }
}

/// What the guard adds for one neighbour.
fn push<const D: usize>(own: &Motion<D>, other: &Motion<D>) -> [f32; D]
where
    [f32; D]: Axes,
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

/// When two that fly on are closest within the horizon, found by thirds, and the offset then.
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

/// What the guard should add: along the offset at the closest approach, so that both together make up what is missing.
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
    [f32; D]: Axes,
{
    let (_, miss) = closest(own, other);
    // Head-on has a rule of its own.
    prop_assume!(length(miss) > 2.0e-3);
    let (found, expected) = (push(own, other), expected(own, other));
    // A rounding of the offset, some 10⁻⁷ m at these speeds, over the shortest time squared; and of everything else.
    let tolerance = 1.0e-3 * (1.0 + length(expected));
    let off = length(difference(found, expected.map(|x| x as f32)));
    prop_assert!(off <= tolerance, "{:?} in place of {:?}", found, expected);
    let back = push(other, own);
    prop_assert_eq!(found.map(|x| x + 0.0), back.map(|x| 0.0 - x), "both give way alike");
    Ok(())
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn in_the_plane_who_would_come_too_close_is_pushed_by_what_is_missing_and_nobody_else_is(
        own in motion::<2>(0.2, 3.0), other in motion::<2>(0.2, 3.0),
    ) {
        check_against_geometry(&own, &other)?;
    }

    #[test]
    fn in_space_too(own in motion::<3>(0.2, 3.0), other in motion::<3>(0.2, 3.0)) {
        check_against_geometry(&own, &other)?;
    }

    #[test]
    fn who_is_too_close_is_pushed_apart_also_when_nobody_approaches(
        angle in 0.0..core::f32::consts::TAU, apart in 0.005_f32..0.145, parting in 0.0_f32..3.0, aside in -3.0_f32..3.0,
    ) {
        let (sine, cosine) = angle.sin_cos();
        let own = Motion {
            position: [apart * cosine, apart * sine],
            velocity: [parting * cosine - aside * sine, parting * sine + aside * cosine],
        };
        let [x, y] = push(&own, &Motion::REST);
        // They never were closer than now: (0.15 − d)/0.05², along the line between them.
        let (along, across) = (x * cosine + y * sine, y * cosine - x * sine);
        let expected = (0.15 - apart) / (0.05 * 0.05);
        prop_assert!((along - expected).abs() < 1.0e-2 && across.abs() < 1.0e-2, "{} {} {}", along, across, expected);
    }

    #[test]
    fn head_on_at_any_speed_both_turn_the_same_way_round_and_no_harder_than_it_takes(
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
        prop_assert!(along.abs() <= 1.0e-2 * hardest, "{} along the way", along);
        // All of it at speeds that robots have; less, and still the same way, where they all but stand still.
        let share = speed / (speed + 1.0e-4);
        prop_assert!((across / hardest - share).abs() < 1.0e-2, "{} in place of {}", across, share * hardest);
        let [back_x, back_y] = push(&other, &own);
        prop_assert_eq!([x, y], [-back_x, -back_y]);
    }

    #[test]
    fn the_repulsion_is_its_formula_and_ends_at_its_reach(
        own in motion::<2>(0.3, 3.0), other in motion::<2>(0.3, 3.0),
    ) {
        let task = Flocking { limit: LIMIT, ..Flocking::NORMALISED };
        let found = task.repulsion(&own, [other].iter(), &[1.0, -2.0]);
        let offset = difference(own.position, other.position);
        // No nearer than 5 cm.
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
fn just_out_of_reach_nobody_is_repelled_and_just_within_everybody_is() {
    let task = Flocking { limit: LIMIT, repulsion: 0.5, strength: 20.0, ..Flocking::DEFAULT };
    let at = |x| Motion { position: [x, 0.0], velocity: [0.0; 2] };
    for beyond in [0.5, 0.500_001, 3.0] {
        assert_eq!(task.repulsion(&Motion::REST, [at(beyond)].iter(), &[1.0, 2.0]), [1.0, 2.0], "{beyond} m");
    }
    assert!(task.repulsion(&Motion::REST, [at(0.499)].iter(), &[1.0, 2.0])[0] < 1.0);
}
