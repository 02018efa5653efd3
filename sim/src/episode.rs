//! A flight: a swarm from its start to its end in a world, and what is measured on the way.
//!
//! ```text
//! every tick:  who hears whom → score → sense → swarm: speak, hear, act, learn → observers → the world moves everybody
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
    threads::{LOOKS, share, spread},
    world::{OutputOf, Scenario, StateOf, World},
};

/// Pairs closer than these count as close, in metres.
pub const CLOSE_METRES: [f32; 3] = [0.1, 0.2, 0.3];

/// A tick as observers see it: how things truly are, what robots are about to do, and the swarm that decided it.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct TickView<'a, W: World> {
    /// The world.
    pub world: &'a W,
    /// The tick and everybody in it.
    pub scene: Scene<'a, StateOf<W>>,
    /// What robots are about to do.
    pub commands: &'a [OutputOf<W>],
    /// The swarm.
    pub swarm: &'a dyn Swarm<W::Task>,
}

/// Whoever watches a flight: a recorder for the page, a capture, a digest, a collector of training samples.
pub trait Observer<W: World> {
    /// Sees a tick.
    fn see(&mut self, moment: &TickView<'_, W>) -> Result;

    /// Hears of a robot that was lost without being asked to.
    fn lost(&mut self, _tick: u32, _story: &str) {}
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeMetrics {
    /// The score at every tick.
    pub score: Vec<f64>,
    /// Smallest distance between two robots at any tick, in metres.
    pub min_distance: f32,
    /// Pairs closer than each of [`CLOSE_METRES`], summed over the ticks.
    pub close_pairs: [u32; 3],
    /// Those of them closer than the first that neither of the two could have avoided.
    pub unavoidable: u32,
    /// How far the robots' parameters were apart at the end, relative to those that were trained.
    pub disagreement: Option<f64>,
    /// What was counted on the air, where there was one.
    pub counters: Option<Counters>,
}

impl EpisodeMetrics {
    /// The sum of the scores; for flocking the total velocity variation (eq. `totalVariance`).
    pub fn total(&self) -> f64 {
        self.score.iter().sum()
    }

    /// The score at the end.
    pub fn last(&self) -> f64 {
        self.score.last().copied().unwrap_or_default()
    }
}

/// A world with everybody at the start.
#[derive(Clone, Debug)]
pub struct Episode<W: World> {
    /// The world.
    pub world: W,
    /// The circumstances.
    pub scenario: Scenario,
    /// Every robot.
    pub states: Vec<StateOf<W>>,
}

impl<W: World> Episode<W> {
    /// A start of `world` under `condition`.
    pub fn draw(world: &W, scenario: &Scenario, random: &mut rand_chacha::ChaCha8Rng) -> Result<Self> {
        let mut world = world.clone();
        let states = world.begin(scenario, random)?;
        Ok(Self { world, scenario: *scenario, states })
    }

    /// The flight before its first tick.
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
                // Whoever flies on and on has room for more made on the way.
                score: Vec::with_capacity(ticks.min(1 << 16)),
                min_distance: f32::INFINITY,
                close_pairs: [0; 3],
                unavoidable: 0,
                disagreement: None,
                counters: None,
            },
        }
    }

    /// Flies a swarm from here to the end.
    pub fn fly(
        &self,
        task: &W::Task,
        swarm: &mut dyn Swarm<W::Task>,
        observers: &mut [&mut dyn Observer<W>],
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
                    observer.lost(tick, &story);
                }
            }
            let moment = running.moment(swarm);
            observers.iter_mut().try_for_each(|observer| observer.see(&moment))?;
            running.advance(task);
        }
        Ok(running.finish(swarm))
    }

    /// The same with nobody watching.
    pub fn run_unobserved(&self, task: &W::Task, swarm: &mut dyn Swarm<W::Task>) -> Result<EpisodeMetrics> {
        self.fly(task, swarm, &mut [], &AtomicBool::new(false))
    }
}

/// A flight under way, for whoever has a word to say between two ticks: [`Aloft::think`], then [`Aloft::go`].
#[derive(Clone, Debug)]
pub struct RunningEpisode<W: World> {
    /// The world.
    pub world: W,
    /// The circumstances.
    pub scenario: Scenario,
    /// The tick's number.
    pub tick: u32,
    /// Every robot, as it truly is.
    pub states: Vec<StateOf<W>>,
    /// Where everybody was when robots last thought, in metres.
    pub places: Vec<[f32; 3]>,
    /// Who heard whom then.
    pub links: Links,
    /// What robots sensed of themselves then.
    pub sensed: Vec<StateOf<W>>,
    /// What robots are about to do, once they have thought.
    pub commands: Vec<OutputOf<W>>,
    /// What was measured so far.
    pub flight: EpisodeMetrics,
}

impl<W: World> RunningEpisode<W> {
    /// The first half of a tick: who hears whom, how things are, and what robots decide.
    pub fn decide(&mut self, swarm: &mut dyn Swarm<W::Task>) -> Result {
        let Self { world, tick, states, .. } = self;
        self.places.clear();
        self.places.extend(states.iter().map(W::place));
        world.links(*tick, &self.places, &self.scenario, &mut self.links);
        self.flight.score.push(world.score(*tick, states));
        world.sense(*tick, states, &mut self.sensed);
        let scene = Scene { tick: *tick, states: &self.sensed, places: &self.places, links: &self.links };
        swarm.fly(&scene, &mut self.commands)?;
        self.flight.near(&self.places, &self.links, swarm);
        Ok(())
    }

    /// The tick as observers see it.
    pub fn moment<'a>(&'a self, swarm: &'a dyn Swarm<W::Task>) -> TickView<'a, W> {
        let Self { world, tick, states, places, links, commands, .. } = self;
        TickView { world, scene: Scene { tick: *tick, states, places, links }, commands, swarm }
    }

    /// The second half: everybody moves.
    pub fn advance(&mut self, task: &W::Task) {
        self.world.step(task, self.tick, &mut self.states, &self.commands);
        self.tick += 1;
    }

    /// The end of it: what was measured, and what a swarm has to say about itself.
    pub fn finish(self, swarm: &dyn Swarm<W::Task>) -> EpisodeMetrics {
        let disagreement = disagreement(swarm, self.states.len());
        EpisodeMetrics { disagreement, counters: swarm.counters(), ..self.flight }
    }
}

impl EpisodeMetrics {
    /// Measures how near robots are to each other.
    fn near<T: Task>(&mut self, places: &[[f32; 3]], links: &Links, swarm: &dyn Swarm<T>) {
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

/// The smallest distance among linked robots that are in the sky (infinite when there are none), and how many pairs are closer than
/// each of [`CLOSE_METRES`].
pub fn closeness(places: &[[f32; 3]], links: &Links, is_present: impl Fn(usize) -> bool) -> (f32, [u32; 3]) {
    let some = share(places.len(), LOOKS);
    if some >= places.len() {
        return closeness_of(0..places.len(), places, links, is_present);
    }
    let is_present: Vec<bool> = (0..places.len()).map(is_present).collect();
    let mut found = vec![(f32::INFINITY, [0; 3]); places.len().div_ceil(some)];
    spread((0..).step_by(some).zip(&mut found), |(first, found)| {
        let robots = first..places.len().min(first + some);
        *found = closeness_of(robots, places, links, |robot| is_present[robot]);
    });
    found.into_iter().fold((f32::INFINITY, [0; 3]), |(smallest, close), (other, more)| {
        (smallest.min(other), std::array::from_fn(|limit| close[limit] + more[limit]))
    })
}

/// The same of pairs whose smaller robot is one of these.
fn closeness_of(
    robots: Range<usize>,
    places: &[[f32; 3]],
    links: &Links,
    is_present: impl Fn(usize) -> bool,
) -> (f32, [u32; 3]) {
    let mut smallest = f32::INFINITY;
    let mut close = [0; 3];
    // Farther than this, nothing is to be said but how far the nearest are.
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

/// How far the parameters of robots that learn are apart: the root of their mean squared distance from their mean, relative to the
/// size of those that were trained. Nothing where nobody learns.
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
    let some = share(views.len(), LOOKS);
    spread(squares.chunks_mut(some).zip(views.chunks(some)), |(squares, views)| {
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
        assert_eq!(closeness(&places, &links, |robot| robot != 1), (f32::INFINITY, [0; 3]), "one is gone");
    }

    #[test]
    fn many_are_as_close_on_threads_as_one_after_the_other() {
        let places: Vec<[f32; 3]> = (0..2 * LOOKS)
            .map(|robot| [0.09 * robot as f32 % 70.0, 0.4 * (robot / 250) as f32, 0.0])
            .collect();
        let (links, is_present) = (Links::within(&places, 1.0), |robot: usize| !robot.is_multiple_of(7));
        let one_by_one = closeness_of(0..places.len(), &places, &links, is_present);
        assert_eq!(closeness(&places, &links, is_present), one_by_one);
        assert!(one_by_one.1.iter().all(|close| *close > 100), "{one_by_one:?}");
    }
}
