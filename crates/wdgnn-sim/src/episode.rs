//! Episode: one swarm in one world from its start to its end, and its metrics.
//!
//! ```text
//! every tick:  links → score → sense → swarm: send, receive, act, learn → observers → world step
//! ```

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use serde::{Deserialize, Serialize};
use wdgnn_core::task::Task;

use crate::{
    counters::Counters,
    error::{Error, Result},
    links::{Links, distance, squared},
    scene::{ParamView, Scene, Swarm},
    threads::{MIN_PARALLEL_LOOKUPS, chunk_len, for_each_chunk},
    world::{OutputOf, Scenario, StateOf, World},
};

/// Distances below which pairs count as close, in meters.
pub const CLOSE_METRES: [f32; 3] = [0.1, 0.2, 0.3];

/// View of a tick for observers: true states, commands and the swarm.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct TickView<'a, W: World> {
    /// World of the episode.
    pub world: &'a W,
    /// Tick number and true states.
    pub scene: Scene<'a, StateOf<W>>,
    /// Commands of this tick.
    pub commands: &'a [OutputOf<W>],
    /// Swarm that computed the commands.
    pub swarm: &'a dyn Swarm<W::Task>,
}

/// Observer of an episode, such as a recorder, a capture or a digest.
pub trait Observer<W: World> {
    /// Observes a tick.
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result;

    /// Reports a robot that was lost unintentionally.
    fn robot_lost(&mut self, _tick: u32, _story: &str) {}
}

/// Metrics of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeMetrics {
    /// Score at every tick.
    pub score: Vec<f64>,
    /// Smallest distance between two robots at any tick, in meters.
    pub min_distance: f32,
    /// Pairs closer than each of [`CLOSE_METRES`], summed over the ticks.
    pub close_pairs: [u32; 3],
    /// Pairs closer than the first of [`CLOSE_METRES`] that neither robot could avoid.
    pub unavoidable: u32,
    /// Disagreement of the robots' parameters at the end, relative to the trained ones.
    pub disagreement: Option<f64>,
    /// Counters of the radio medium, if there is one.
    pub counters: Option<Counters>,
}

impl EpisodeMetrics {
    /// Sum of the scores; for flocking, the total velocity variation (eq. `totalVariance`).
    pub fn total(&self) -> f64 {
        self.score.iter().sum()
    }

    /// Score at the end.
    pub fn last(&self) -> f64 {
        self.score.last().copied().unwrap_or_default()
    }
}

/// World and robots at the start of an episode.
#[derive(Clone, Debug)]
pub struct Episode<W: World> {
    /// World of the episode.
    pub world: W,
    /// Scenario of the episode.
    pub scenario: Scenario,
    /// Initial state of each robot.
    pub states: Vec<StateOf<W>>,
}

impl<W: World> Episode<W> {
    /// Draws an episode of `world` under `scenario`.
    pub fn draw(world: &W, scenario: &Scenario, random: &mut rand_chacha::ChaCha8Rng) -> Result<Self> {
        let mut world = world.clone();
        let states = world.begin(scenario, random)?;
        Ok(Self { world, scenario: *scenario, states })
    }

    /// Returns the running episode before its first tick.
    pub fn begin(&self) -> RunningEpisode<W> {
        let ticks = self.scenario.ticks as usize;
        RunningEpisode {
            world: self.world.clone(),
            scenario: self.scenario,
            tick: 0,
            states: self.states.clone(),
            places: Vec::new(),
            links: Links::default(),
            sensed: Vec::new(),
            commands: Vec::with_capacity(self.states.len()),
            flight: EpisodeMetrics {
                // Endless episodes grow the vector.
                score: Vec::with_capacity(ticks.min(1 << 16)),
                min_distance: f32::INFINITY,
                close_pairs: [0; 3],
                unavoidable: 0,
                disagreement: None,
                counters: None,
            },
        }
    }

    /// Runs a swarm to the end of the episode.
    pub fn fly(
        &self, task: &W::Task, swarm: &mut dyn Swarm<W::Task>, observers: &mut [&mut dyn Observer<W>],
        stop: &AtomicBool,
    ) -> Result<EpisodeMetrics> {
        let mut running = self.begin();
        for tick in 0..self.scenario.ticks {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            running.decide(swarm)?;
            for story in swarm.lost() {
                for observer in &mut *observers {
                    observer.robot_lost(tick, &story);
                }
            }
            let moment = running.moment(swarm);
            observers.iter_mut().try_for_each(|observer| observer.observe(&moment))?;
            running.advance(task);
        }
        Ok(running.finish(swarm))
    }

    /// Runs a swarm to the end of the episode without observers.
    pub fn run_unobserved(&self, task: &W::Task, swarm: &mut dyn Swarm<W::Task>) -> Result<EpisodeMetrics> {
        self.fly(task, swarm, &mut [], &AtomicBool::new(false))
    }
}

/// Episode between two ticks, for callers that step it.
///
/// Each tick calls [`RunningEpisode::decide`], then [`RunningEpisode::advance`].
#[derive(Clone, Debug)]
pub struct RunningEpisode<W: World> {
    /// World of the episode.
    pub world: W,
    /// Scenario of the episode.
    pub scenario: Scenario,
    /// Tick number.
    pub tick: u32,
    /// True state of each robot.
    pub states: Vec<StateOf<W>>,
    /// Position of each robot at the last call of `decide`, in meters.
    pub places: Vec<[f32; 3]>,
    /// Links at the last call of `decide`.
    pub links: Links,
    /// Measurement state of each robot at the last call of `decide`.
    pub sensed: Vec<StateOf<W>>,
    /// Commands of the last call of `decide`.
    pub commands: Vec<OutputOf<W>>,
    /// Metrics up to the current tick.
    pub flight: EpisodeMetrics,
}

impl<W: World> RunningEpisode<W> {
    /// Runs the first half of a tick: links, score, sensing and commands.
    pub fn decide(&mut self, swarm: &mut dyn Swarm<W::Task>) -> Result {
        let Self { world, tick, states, .. } = self;
        self.places.clear();
        self.places.extend(states.iter().map(W::position));
        world.links(*tick, &self.places, &self.scenario, &mut self.links);
        self.flight.score.push(world.score(*tick, states));
        world.sense(*tick, states, &mut self.sensed);
        let scene = Scene { tick: *tick, states: &self.sensed, places: &self.places, links: &self.links };
        swarm.fly(&scene, &mut self.commands)?;
        self.flight.measure_distances(&self.places, &self.links, swarm);
        Ok(())
    }

    /// Returns the view of the tick for observers.
    pub fn moment<'a>(&'a self, swarm: &'a dyn Swarm<W::Task>) -> TickView<'a, W> {
        let Self { world, tick, states, places, links, commands, .. } = self;
        TickView { world, scene: Scene { tick: *tick, states, places, links }, commands, swarm }
    }

    /// Runs the second half of a tick: the world applies the commands.
    pub fn advance(&mut self, task: &W::Task) {
        self.world.step(task, self.tick, &mut self.states, &self.commands);
        self.tick += 1;
    }

    /// Ends the episode and returns its metrics, including the swarm's own counters.
    pub fn finish(self, swarm: &dyn Swarm<W::Task>) -> EpisodeMetrics {
        let disagreement = disagreement(swarm, self.states.len());
        EpisodeMetrics { disagreement, counters: swarm.counters(), ..self.flight }
    }
}

impl EpisodeMetrics {
    /// Measures distances between robots.
    fn measure_distances<T: Task>(&mut self, places: &[[f32; 3]], links: &Links, swarm: &dyn Swarm<T>) {
        let is_present = |robot| swarm.is_present(robot);
        let (smallest, close) = closeness(places, links, is_present);
        if close[0] > 0 {
            let pairs = links.pairs().filter(|(a, b)| is_present(*a) && is_present(*b));
            let close = pairs.filter(|(a, b)| distance(&places[*a], &places[*b]) < CLOSE_METRES[0]);
            self.unavoidable += close.filter(|(a, b)| !swarm.avoidable(*a, *b)).count() as u32;
        }
        self.min_distance = self.min_distance.min(smallest);
        for (sum, close) in self.close_pairs.iter_mut().zip(close) {
            *sum += close;
        }
    }
}

/// Returns the smallest distance of linked, present robots, and counts close pairs.
///
/// The distance is infinite if there is no pair. Counts are for each of [`CLOSE_METRES`].
pub fn closeness(places: &[[f32; 3]], links: &Links, is_present: impl Fn(usize) -> bool) -> (f32, [u32; 3]) {
    let chunk = chunk_len(places.len(), MIN_PARALLEL_LOOKUPS);
    if chunk >= places.len() {
        return closeness_of(0..places.len(), places, links, is_present);
    }
    let is_present: Vec<bool> = (0..places.len()).map(is_present).collect();
    let mut found = vec![(f32::INFINITY, [0; 3]); places.len().div_ceil(chunk)];
    for_each_chunk((0..).step_by(chunk).zip(&mut found), |(first, found)| {
        let robots = first..places.len().min(first + chunk);
        *found = closeness_of(robots, places, links, |robot| is_present[robot]);
    });
    found.into_iter().fold((f32::INFINITY, [0; 3]), |(smallest, close), (other, more)| {
        (smallest.min(other), std::array::from_fn(|limit| close[limit] + more[limit]))
    })
}

/// Computes [`closeness`] for pairs whose smaller robot number is in `robots`.
fn closeness_of(
    robots: Range<usize>, places: &[[f32; 3]], links: &Links, is_present: impl Fn(usize) -> bool,
) -> (f32, [u32; 3]) {
    let mut smallest = f32::INFINITY;
    let mut close = [0; 3];
    // Pairs farther apart than this affect only the smallest distance.
    let [.., far] = CLOSE_METRES;
    let mut nearest = f32::INFINITY;
    for a in robots {
        let place = &places[a];
        for b in links.of(a).iter().map(|b| *b as usize).filter(|b| a < *b) {
            let square = squared(place, &places[b]);
            if (square < nearest || square <= far * far * 1.001) && is_present(a) && is_present(b) {
                nearest = nearest.min(square);
                let distance = distance(place, &places[b]);
                smallest = smallest.min(distance);
                for (close, limit) in close.iter_mut().zip(CLOSE_METRES) {
                    *close += u32::from(distance < limit);
                }
            }
        }
    }
    (smallest, close)
}

/// Computes the disagreement of learning robots' parameters.
///
/// This is the root mean squared distance from their mean, relative to the norm of the trained
/// parameters. Returns `None` where robots do not learn.
pub fn disagreement<T: Task>(swarm: &dyn Swarm<T>, robots: usize) -> Option<f64> {
    if !swarm.learns() {
        return None;
    }
    let those = (0..robots).filter(|robot| swarm.counts(*robot));
    let views: Vec<ParamView<'_>> = those.filter_map(|robot| swarm.robot(robot)).collect();
    let first = views.first()?;
    let size = first.offline.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
    let mut mean = vec![0.0_f32; first.wide.len()];
    let part = 1.0 / views.len() as f32;
    for view in &views {
        mean.iter_mut().zip(view.wide).for_each(|(mean, x)| *mean += part * x);
    }
    let squared = |wide: &[f32]| {
        let sum = wide.iter().zip(&mean).fold(0.0_f32, |sum, (a, b)| sum + (a - b) * (a - b));
        f64::from(sum.sqrt()).powi(2)
    };
    let mut squares = vec![0.0; views.len()];
    let chunk = chunk_len(views.len(), MIN_PARALLEL_LOOKUPS);
    for_each_chunk(squares.chunks_mut(chunk).zip(views.chunks(chunk)), |(squares, views)| {
        squares.iter_mut().zip(views).for_each(|(square, view)| *square = squared(view.wide));
    });
    let sum: f64 = squares.iter().sum();
    (size > 0.0).then(|| (sum / views.len() as f64).sqrt() / f64::from(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_pairs_are_counted_once() {
        let places = [[0.0, 0.0, 0.0], [0.05, 0.0, 0.0]];
        let links = Links::within(&places, 1.0);
        assert_eq!(closeness(&places, &links, |_| true), (0.05, [1, 1, 1]));
        assert_eq!(closeness(&places, &links, |robot| robot != 1), (f32::INFINITY, [0; 3]), "one is absent");
    }

    #[test]
    fn closeness_does_not_depend_on_threads() {
        let places: Vec<[f32; 3]> = (0..2 * MIN_PARALLEL_LOOKUPS)
            .map(|robot| [0.09 * robot as f32 % 70.0, 0.4 * (robot / 250) as f32, 0.0])
            .collect();
        let (links, is_present) = (Links::within(&places, 1.0), |robot: usize| !robot.is_multiple_of(7));
        let one_by_one = closeness_of(0..places.len(), &places, &links, is_present);
        assert_eq!(closeness(&places, &links, is_present), one_by_one);
        assert!(one_by_one.1.iter().all(|close| *close > 100), "{one_by_one:?}");
    }
}
