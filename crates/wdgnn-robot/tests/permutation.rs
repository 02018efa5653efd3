//! Permutation equivariance: addresses do not matter.

use crate::common::prelude::*;

const ROBOTS: usize = 12;
const TICKS: u32 = 30;

/// Results of learning robots with these addresses on a fixed course.
fn deeds(ids: &[u16]) -> Vec<Vec<TickResult<[f32; 2]>>> {
    let mut rng = seeded(4);
    let mut robots: Vec<_> = ids.iter().map(|id| robot(*id, Learning::paper(1.0))).collect();
    let mut motions = start(&mut rng, ROBOTS);
    (0..TICKS)
        .map(|tick| {
            let deeds = exchange(&mut robots, tick, &motions, &links(&motions, 1.8));
            // The course does not depend on the commands, so differences do not feed back.
            for motion in &mut motions {
                fly(motion, [rng.random_range(-5.0..5.0), rng.random_range(-5.0..5.0)]);
            }
            deeds
        })
        .collect()
}

#[test]
fn new_addresses_in_equal_order_change_no_bit() {
    let usual: Vec<u16> = (0..ROBOTS as u16).collect();
    let renamed: Vec<u16> = usual.iter().map(|id| 3 * id + 40_000).collect();
    assert_eq!(deeds(&usual), deeds(&renamed));
}

#[test]
fn new_addresses_in_another_order_change_only_rounding() {
    let usual: Vec<u16> = (0..ROBOTS as u16).collect();
    let shuffled = [7, 2, 11, 0, 5, 9, 1, 10, 3, 8, 6, 4];
    // Features reach 1/d³ ≤ 1/floor³ = 125, and 11 of them are summed in a different order; α_W C and the weights of the layer
    // amplify them less than twice, four taps deep. Learning accumulates the error of every tick.
    let bound = 125.0 * 11.0 * ROUNDING * 2.0 * f64::from(TICKS);
    let mut largest: f64 = 0.0;
    for (expected, found) in deeds(&usual).iter().zip(deeds(&shuffled)) {
        for (expected, found) in expected.iter().zip(found) {
            for (a, b) in expected.output.iter().zip(found.output) {
                largest = largest.max((f64::from(*a) - f64::from(b)).abs());
            }
        }
    }
    println!("largest difference {largest:e}, bound {bound:e}");
    assert!(largest > 0.0, "the order matters");
    assert!(largest <= bound, "{largest:e} > {bound:e}");
}
