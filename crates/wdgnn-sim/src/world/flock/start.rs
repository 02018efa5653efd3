//! Initial states of flocking: rings or shells of connected robots, random velocities.
//!
//! All pairs are at least 0.1 m apart.

use std::f32::consts::TAU;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::tasks::flocking::Motion;

use super::motion::place;
use crate::{
    error::{Error, Result},
    links::connected,
    world::scenario::{CLOSEST_METRES, Scenario},
};

/// Draws after which a scenario counts as impossible.
const DRAWS: usize = 1000;

/// Draws an initial state under `scenario`, with robots placed by `rings`.
pub fn start<const D: usize>(
    rings: fn(&Scenario, &mut ChaCha8Rng) -> Vec<Motion<D>>, scenario: &Scenario, random: &mut ChaCha8Rng,
) -> Result<Vec<Motion<D>>> {
    for _ in 0..DRAWS {
        let mut motions = rings(scenario, random);
        let places: Vec<[f32; 3]> = motions.iter().map(place).collect();
        if connected(&places, scenario.radius, CLOSEST_METRES) {
            set_off(scenario, random, &mut motions);
            return Ok(motions);
        }
    }
    Err(Error::usage(format!(
        "found no start that connects all {} robots at --radius {}: try another --seed or a larger --radius",
        scenario.robots, scenario.radius
    )))
}

/// Places robots on rings.
///
/// Ring m has radius (m+1)(r+0.1)/2 and one robot per (r+0.1)/2 of its length. Radii are jittered
/// by ±(r−0.1)/4, and angles by the same length along the ring. The last ring keeps the spacing if
/// it is not full.
pub fn rings(scenario: &Scenario, random: &mut ChaCha8Rng) -> Vec<Motion<2>> {
    let spacing = f32::midpoint(scenario.radius, CLOSEST_METRES);
    let jitter = (scenario.radius - CLOSEST_METRES) / 4.0;
    let mut motions = Vec::with_capacity(scenario.robots);
    for ring in 1_u16.. {
        let ring_radius = f32::from(ring) * spacing;
        let room = (TAU * ring_radius / spacing).floor() as usize;
        for place in 0..room {
            if motions.len() == scenario.robots {
                return motions;
            }
            let radius = ring_radius + uniform(random, jitter);
            let angle = TAU * place as f32 / room as f32 + uniform(random, jitter) / ring_radius;
            // libm gives identical swarms on every machine.
            let position = [radius * libm::cosf(angle), radius * libm::sinf(angle)];
            motions.push(Motion { position, velocity: [0.0; 2] });
        }
    }
    motions
}

/// Places robots on shells in space.
///
/// Shell m has radius (m+1)(r+0.1)/2 and one robot per square of that spacing on its surface.
/// Robots follow the golden angle and are jittered along all three axes.
pub fn shells(scenario: &Scenario, random: &mut ChaCha8Rng) -> Vec<Motion<3>> {
    /// π(3 − √5): robots of one shell never line up.
    const GOLDEN_ANGLE: f32 = 2.399_963_2;
    let spacing = f32::midpoint(scenario.radius, CLOSEST_METRES);
    let jitter = (scenario.radius - CLOSEST_METRES) / 8.0;
    let mut motions = Vec::with_capacity(scenario.robots);
    for shell in 1_u16.. {
        let radius = f32::from(shell) * spacing;
        let room = (2.0 * TAU * f32::from(shell) * f32::from(shell)).floor() as usize;
        for place in 0..room {
            if motions.len() == scenario.robots {
                return motions;
            }
            let height = 1.0 - 2.0 * (place as f32 + 0.5) / room as f32;
            let around = libm::sqrtf(1.0 - height * height);
            let angle = GOLDEN_ANGLE * place as f32;
            let direction = [around * libm::cosf(angle), around * libm::sinf(angle), height];
            let position = direction.map(|x| radius * x + uniform(random, jitter));
            motions.push(Motion { position, velocity: [0.0; 3] });
        }
    }
    motions
}

/// Draws velocities: one for the swarm and one per robot, from [−v, v] on each axis.
fn set_off<const D: usize>(scenario: &Scenario, random: &mut ChaCha8Rng, motions: &mut [Motion<D>]) {
    let common: [f32; D] = std::array::from_fn(|_| uniform(random, scenario.speed));
    for motion in motions {
        motion.velocity = common.map(|common| common + uniform(random, scenario.speed));
    }
}

fn uniform(random: &mut ChaCha8Rng, reach: f32) -> f32 {
    if reach > 0.0 { random.random_range(-reach..=reach) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        links::{Links, distance},
        seeds::{Purpose, generator},
    };

    fn check<const D: usize>(rings: fn(&Scenario, &mut ChaCha8Rng) -> Vec<Motion<D>>) {
        for (index, robots) in (0..).zip([1, 2, 25, 50, 100]) {
            let scenario = Scenario { robots, ..Scenario::PAPER };
            let motions = start(rings, &scenario, &mut generator(3, Purpose::Testing, index)).unwrap();
            assert_eq!(motions.len(), robots);
            let places: Vec<[f32; 3]> = motions.iter().map(place).collect();
            assert!(connected(&places, scenario.radius, CLOSEST_METRES));
            let links = Links::within(&places, scenario.radius);
            assert!(links.pairs().all(|(a, b)| distance(&places[a], &places[b]) >= CLOSEST_METRES));
            assert!(motions.iter().flat_map(|m| m.velocity).all(|v| v.abs() <= 2.0 * scenario.speed));
        }
    }

    #[test]
    fn initial_states_are_separated_and_connected() {
        check(rings);
        check(shells);
    }
}
