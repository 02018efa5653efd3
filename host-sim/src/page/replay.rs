//! One swarm flown under every controller and recorded, small enough to live inside a page.

use rayon::prelude::*;
use serde::Serialize;
use wdgnn_core::flocking::Motion;

use crate::{
    controllers::Fleet,
    error::Result,
    flight::{Observer, Scene, fly},
    seeds::{Purpose, generator},
    start::{Condition, start},
};

/// The paper's three moments, 0.00, 0.49 and 1.99 s, in ticks.
pub const MOMENTS: [u32; 3] = [0, 49, 199];

/// Robots shown at most. They are numbered from the inside of the rings, so that these are the swarm's core.
const ROBOTS: usize = 1000;

/// Robots times frames recorded per controller: 120 robots at every tick, more of them at fewer. A sample takes about 7 bytes,
/// so that seven recordings stay near 1.2 MB.
const SAMPLES: usize = 24_000;

/// A recorded swarm.
#[derive(Clone, Debug, Serialize)]
pub struct Replay {
    /// Length of a tick in seconds.
    pub period: f32,
    /// Radio range in metres.
    pub radius: f32,
    /// Robots that were recorded.
    pub robots: usize,
    /// Ticks that were recorded, ascending; the first is 0.
    pub ticks: Vec<u32>,
    /// Where every robot starts, x and y in turn, in mm.
    pub start: Vec<i32>,
    /// The flights.
    pub flights: Vec<Recording>,
}

/// One controller's flight.
#[derive(Clone, Debug, Serialize)]
pub struct Recording {
    /// Name in JSON, also that of the controller's colour.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Velocity variation at every tick of the flight, in m²/s².
    pub variation: Vec<f64>,
    /// Velocities in mm/s, x and y in turn, robot by robot, each as the change since the frame before. Positions are not
    /// recorded: commands are constant over a tick, so that positions are the velocities' trapezoids.
    pub velocity: Vec<i32>,
}

/// The ticks of a flight that are recorded for this many robots.
fn ticks(flight: u32, robots: usize) -> Vec<u32> {
    let frames = (SAMPLES / robots.max(1)).max(2) as u32;
    let stride = flight.div_ceil(frames).max(1) as usize;
    let mut ticks: Vec<u32> = (0..flight).step_by(stride).collect();
    ticks.extend(MOMENTS.into_iter().chain([flight.saturating_sub(1)]).filter(|&tick| tick < flight));
    ticks.sort_unstable();
    ticks.dedup();
    ticks
}

fn thousandths(value: f32) -> i32 {
    (value * 1000.0).round() as i32
}

/// Records velocities at some ticks.
struct Recorder<'a> {
    ticks: &'a [u32],
    before: Vec<i32>,
    changes: Vec<i32>,
}

impl Observer for Recorder<'_> {
    fn see(&mut self, scene: &Scene<'_>, _: &[[f32; 2]]) {
        if self.ticks.binary_search(&scene.tick).is_err() {
            return;
        }
        let now = scene.motions.iter().flat_map(|motion| motion.velocity).map(thousandths);
        for (before, now) in self.before.iter_mut().zip(now) {
            self.changes.push(now - *before);
            *before = now;
        }
    }
}

/// Flies the first held-out swarm of `seed` under every controller.
///
/// # Errors
/// Models that do not fit, conditions that cannot be.
pub fn record(fleet: &Fleet, condition: &Condition, seed: u64) -> Result<Replay> {
    let period = fleet.task()?.period;
    let start = start(condition, &mut generator(seed, Purpose::Testing, 0))?;
    let robots = start.len().min(ROBOTS);
    let ticks = ticks(condition.ticks, robots);
    let flights = fleet
        .controllers()
        .into_par_iter()
        .map(|controller| {
            let mut recorder = Recorder { ticks: &ticks, before: vec![0; 2 * robots], changes: Vec::new() };
            let mut pilot = fleet.pilot(controller, &start, 0)?;
            let flight = fly(condition, &start, period, pilot.as_mut(), &mut recorder);
            Ok(Recording {
                name: controller.name(),
                title: controller.title(),
                variation: flight.variation.iter().map(|&value| super::five_digits(value)).collect(),
                velocity: recorder.changes,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let place = |motion: &Motion| motion.position.map(thousandths);
    let start = start.iter().take(robots).flat_map(place).collect();
    Ok(Replay { period, radius: condition.radius, robots, ticks, start, flights })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;

    #[test]
    fn the_moments_are_recorded_whatever_the_number_of_robots() {
        assert_eq!(ticks(200, 50), (0..200).collect::<Vec<_>>());
        for robots in [1, 121, 500, 1000] {
            let ticks = ticks(200, robots);
            assert!(MOMENTS.iter().all(|moment| ticks.contains(moment)), "{robots}: {ticks:?}");
            assert!(ticks.len() <= SAMPLES / robots + 3);
        }
    }

    #[test]
    fn velocities_are_recorded_as_changes() {
        let scene = |tick, velocity| (tick, [Motion { position: [0.0; 2], velocity }]);
        let mut recorder = Recorder { ticks: &[0, 2], before: vec![0; 2], changes: Vec::new() };
        for (tick, motions) in [scene(0, [1.0, -2.0]), scene(1, [9.0, 9.0]), scene(2, [1.2504, -2.5])] {
            recorder.see(&Scene { tick, motions: &motions, links: &Links::within(&motions, 1.0) }, &[]);
        }
        assert_eq!(recorder.changes, [1000, -2000, 250, -500]);
    }
}
