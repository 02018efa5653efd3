//! How a swarm starts: on rings, every pair at least 0.1 m apart, everybody connected, velocities at random.

use std::f32::consts::TAU;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::flocking::Motion;

use crate::{
    error::{Error, Result},
    links::{Links, distance},
};

/// The smallest distance between two robots at the start, in metres (the paper's).
pub const CLOSEST_METRES: f32 = 0.1;

/// More draws than this for one start mean that there is none to be had.
const DRAWS: usize = 1000;

/// The circumstances of a flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// How many robots.
    pub robots: usize,
    /// Radio range in metres; the robots' spacing at the start goes with it.
    pub radius: f32,
    /// Largest starting speed per axis in m/s.
    pub speed: f32,
    /// Length of the flight in ticks.
    pub ticks: u32,
}

impl Condition {
    /// The paper's: 50 robots, 2 m, 3 m/s, 2 s.
    pub const PAPER: Self = Self { robots: 50, radius: 2.0, speed: 3.0, ticks: 200 };

    /// Checks what a user asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] with the option to change.
    pub fn check(&self) -> Result {
        let largest = usize::from(u16::MAX);
        if self.robots == 0 || self.robots > largest {
            return Err(Error::usage(format!(
                "--robots {} cannot be: give between 1 and {largest}, the number of addresses",
                self.robots
            )));
        }
        if !(self.radius.is_finite() && self.radius > CLOSEST_METRES) {
            return Err(Error::usage(format!(
                "--radius {} cannot be: give more than {CLOSEST_METRES}, the smallest distance at the start, in metres",
                self.radius
            )));
        }
        if !(self.speed.is_finite() && self.speed >= 0.0) {
            return Err(Error::usage(format!("--speed {} cannot be: give 0 or more, in m/s", self.speed)));
        }
        Ok(())
    }
}

/// A start under `condition`.
///
/// # Errors
/// [`Error::Usage`] when no start with everybody connected is found.
pub fn start(condition: &Condition, random: &mut ChaCha8Rng) -> Result<Vec<Motion>> {
    for _ in 0..DRAWS {
        let mut motions = rings(condition, random);
        let links = Links::within(&motions, condition.radius);
        let apart = links.pairs().all(|(a, b)| distance(&motions[a], &motions[b]) >= CLOSEST_METRES);
        if apart && links.connected() {
            set_off(condition, random, &mut motions);
            return Ok(motions);
        }
    }
    Err(Error::usage(format!(
        "no start found in which all of {} robots are connected at a radius of {} m; try a larger --radius",
        condition.robots, condition.radius
    )))
}

/// Ring m has radius (m+1)(r+0.1)/2 and one robot per (r+0.1)/2 of its length; then every radius is jittered by ±(r−0.1)/4
/// and every angle by as much along the ring. What is left for the last ring keeps that spacing.
fn rings(condition: &Condition, random: &mut ChaCha8Rng) -> Vec<Motion> {
    let spacing = f32::midpoint(condition.radius, CLOSEST_METRES);
    let jitter = (condition.radius - CLOSEST_METRES) / 4.0;
    let mut motions = Vec::with_capacity(condition.robots);
    for ring in 1_u16.. {
        let ring_radius = f32::from(ring) * spacing;
        let room = (TAU * ring_radius / spacing).floor() as usize;
        for place in 0..room {
            if motions.len() == condition.robots {
                return motions;
            }
            let radius = ring_radius + uniform(random, jitter);
            let angle = TAU * place as f32 / room as f32 + uniform(random, jitter) / ring_radius;
            // libm, so that a seed starts the same swarm on every machine.
            let position = [radius * libm::cosf(angle), radius * libm::sinf(angle)];
            motions.push(Motion { position, velocity: [0.0; 2] });
        }
    }
    motions
}

/// Every robot's velocity is drawn from [−v, v]², and so is one velocity that the whole swarm has in common.
fn set_off(condition: &Condition, random: &mut ChaCha8Rng, motions: &mut [Motion]) {
    let common = [uniform(random, condition.speed), uniform(random, condition.speed)];
    for motion in motions {
        motion.velocity = common.map(|common| common + uniform(random, condition.speed));
    }
}

fn uniform(random: &mut ChaCha8Rng, reach: f32) -> f32 {
    if reach > 0.0 { random.random_range(-reach..=reach) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::{Purpose, generator};

    #[test]
    fn every_start_is_apart_and_connected() {
        for (index, robots) in (0..).zip([1, 2, 25, 50, 100]) {
            let condition = Condition { robots, ..Condition::PAPER };
            let motions = start(&condition, &mut generator(3, Purpose::Testing, index)).unwrap();
            assert_eq!(motions.len(), robots);
            let links = Links::within(&motions, condition.radius);
            assert!(links.connected());
            assert!(links.pairs().all(|(a, b)| distance(&motions[a], &motions[b]) >= CLOSEST_METRES));
            assert!(motions.iter().flat_map(|m| m.velocity).all(|v| v.abs() <= 2.0 * condition.speed));
        }
    }

    #[test]
    fn impossible_conditions_are_told() {
        let robots = Condition { robots: 0, ..Condition::PAPER };
        assert!(robots.check().unwrap_err().to_string().contains("--robots 0"));
        let many = Condition { robots: 70_000, ..Condition::PAPER };
        assert!(many.check().unwrap_err().to_string().contains("65535"));
        for radius in [-1.0, 0.0, 0.1, f32::NAN] {
            assert!(Condition { radius, ..Condition::PAPER }.check().is_err(), "{radius}");
        }
        assert!(Condition { speed: -1.0, ..Condition::PAPER }.check().is_err());
        assert!(Condition::PAPER.check().is_ok());
    }
}
