//! Episodes of the same swarms with and without faults.

use std::sync::atomic::AtomicBool;

use super::row::{MORE_PAIRS, Nearness};
use crate::{
    controllers::{Controller, EXPERT, EvalConfig, ONLINE},
    counters::Counters,
    episode::{Episode, EpisodeMetrics, Observer, TickView},
    error::Result,
    medium::{
        delivery::excluded_robots,
        options::{Faults, Trust},
    },
    seeds::{Purpose, generator},
    swarm::faulty_hardware::FaultyHardware,
    threads,
    world::{Environment, Scenario, StateOf},
};

/// Setup of the episodes of a table.
#[derive(Clone, Debug)]
pub struct Bench<W: Environment> {
    /// Models and profile.
    pub eval: EvalConfig<W>,
    pub condition: Scenario,
    /// Swarms per row.
    pub swarms: usize,
    /// Seed of the swarms and of the faults.
    pub seed: u64,
    /// Trust among robots.
    pub trust: Trust,
}

/// One episode with faults and the states of all robots at all ticks.
#[derive(Clone, Debug)]
pub struct FaultFlight<W: Environment> {
    pub flight: EpisodeMetrics,
    world: W,
    states: Vec<Vec<StateOf<W>>>,
}

impl<W: Environment> FaultFlight<W> {
    /// Returns the sum of the scores of the robots that `odd` does not exclude.
    pub fn total(&self, odd: &[bool]) -> f64 {
        (0..self.states.len()).map(|tick| self.score(tick, odd)).sum()
    }

    /// Returns the score of these robots at the end.
    pub fn last(&self, odd: &[bool]) -> f64 {
        self.states.len().checked_sub(1).map_or(0.0, |tick| self.score(tick, odd))
    }

    fn score(&self, tick: usize, odd: &[bool]) -> f64 {
        let counted = self.states[tick].iter().zip(odd).filter(|(_, odd)| !**odd);
        let counted: Vec<StateOf<W>> = counted.map(|(state, _)| *state).collect();
        self.world.score(tick as u32, &counted)
    }
}

/// Episodes of all swarms with one set of faults.
#[derive(Clone, Debug)]
pub struct FaultFlights<W: Environment> {
    /// One episode per swarm.
    pub flights: Vec<FaultFlight<W>>,
    faults: Faults,
}

impl<W: Environment> FaultFlights<W> {
    /// Returns the cost relative to fault-free episodes of the same swarms.
    pub fn ratio(&self, without: &Self) -> f64 {
        let total = |flown: &Self| -> f64 {
            let numbered = (0..).zip(&flown.flights);
            numbered.map(|(swarm, flight)| flight.total(&self.odd(swarm, flight))).sum()
        };
        total(self) / total(without)
    }

    /// Returns the distances between robots, given the expert's close pairs per episode.
    pub fn nearness(&self, expert: f64) -> Nearness {
        let flights = || self.flights.iter().map(|flown| &flown.flight);
        let per_flight = |count: u32| f64::from(count) / self.flights.len() as f64;
        let nearest = flights().map(|flight| f64::from(flight.min_distance)).fold(f64::INFINITY, f64::min);
        let unavoidable = per_flight(flights().map(|flight| flight.unavoidable).sum());
        Nearness {
            close_pairs: self.close_pairs(),
            expert,
            unavoidable,
            most_close_pairs: expert + unavoidable + MORE_PAIRS,
            nearest,
        }
    }

    /// Returns the pairs closer than 0.1 m, in pair-ticks per episode.
    pub fn close_pairs(&self) -> f64 {
        let close: u32 = self.flights.iter().map(|flown| flown.flight.close_pairs[0]).sum();
        f64::from(close) / self.flights.len() as f64
    }

    /// Returns the mean total score.
    pub fn total(&self) -> f64 {
        let sum: f64 = self.flights.iter().map(|flown| flown.flight.total()).sum();
        sum / self.flights.len() as f64
    }

    /// Returns the mean final score.
    pub fn last(&self) -> f64 {
        let numbered = (0..).zip(&self.flights);
        let sum: f64 = numbered.map(|(swarm, flight)| flight.last(&self.odd(swarm, flight))).sum();
        sum / self.flights.len() as f64
    }

    /// Returns the mean final disagreement of parameters.
    pub fn disagreement(&self) -> f64 {
        let sum: f64 = self.flights.iter().filter_map(|flown| flown.flight.disagreement).sum();
        sum / self.flights.len() as f64
    }

    /// Returns whether all states equal those of another run, bit for bit.
    pub fn same(&self, other: &Self) -> bool {
        let pairs = self.flights.iter().zip(&other.flights);
        self.flights.len() == other.flights.len() && pairs.into_iter().all(|(a, b)| a.states == b.states)
    }

    /// Returns the sum of the counters of all swarms.
    pub fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        self.flights
            .iter()
            .filter_map(|flown| flown.flight.counters.as_ref())
            .for_each(|counters| sum.add(counters));
        sum
    }

    fn odd(&self, swarm: u64, flown: &FaultFlight<W>) -> Vec<bool> {
        excluded_robots(&self.faults, swarm, flown.states.first().map_or(0, Vec::len))
    }
}

impl<W: Environment> Bench<W> {
    /// Creates a setup.
    pub fn new(
        eval: EvalConfig<W>, condition: Scenario, swarms: usize, seed: u64, trust: Trust,
    ) -> Result<Self> {
        condition.check()?;
        eval.check()?;
        Ok(Self { eval, condition, swarms, seed, trust })
    }

    /// Runs all swarms with faults.
    pub fn fly(&self, faults: &Faults) -> Result<FaultFlights<W>> {
        let faults = Faults { seed: self.seed, trust: self.trust, ..faults.clone() };
        let mut eval = self.eval.clone();
        eval.set_faults(Some(faults.clone()), self.condition.robots)?;
        let (task, online) = (eval.task()?, Controller::named(ONLINE)?);
        let flights = threads::try_map(self.swarms, |swarm| {
            let mut random = generator(self.seed, Purpose::Testing, swarm as u64);
            let start = Episode::draw(&eval.world, &self.condition, &mut random)?;
            let mut flown = eval.swarm(&online, &start, swarm as u64)?;
            let mut recorder = Recorder::<StateOf<W>>(Vec::new());
            let stop = AtomicBool::new(false);
            let flight = start.fly(&task, flown.as_mut(), &mut [&mut recorder], &stop)?;
            Ok(FaultFlight { flight, world: start.world.clone(), states: recorder.0 })
        })?;
        Ok(FaultFlights { flights, faults })
    }

    /// Returns the expert's close pairs per episode with the sensor and motor faults; `None`
    /// without an expert.
    pub fn expert_pairs(&self, faults: &Faults) -> Result<Option<f64>> {
        let Ok(expert) = Controller::named(EXPERT) else { return Ok(None) };
        let Self { eval, condition, seed, .. } = self;
        let (faults, task) = (Faults { seed: *seed, ..faults.clone() }, eval.task()?);
        let pairs: Vec<f64> = threads::try_map(self.swarms, |swarm| {
            let swarm = swarm as u64;
            let mut random = generator(*seed, Purpose::Testing, swarm);
            let start = Episode::draw(&eval.world, condition, &mut random)?;
            let knowing = eval.swarm(&expert, &start, swarm)?;
            let mut flown = FaultyHardware::new(knowing, &faults, W::layout(), swarm, condition.robots);
            Ok(f64::from(start.run_unobserved(&task, &mut flown)?.close_pairs[0]))
        })?;
        Ok(Some(pairs.iter().sum::<f64>() / self.swarms as f64))
    }

    /// Returns a setup with another length and at most this number of swarms.
    #[must_use]
    pub fn longer(&self, ticks: u32, swarms: usize) -> Self {
        let condition = Scenario { ticks, ..self.condition };
        Self { condition, swarms: self.swarms.min(swarms), ..self.clone() }
    }

    /// Returns the command that runs these swarms with fault settings such as `drop-chance=0.3`.
    pub fn command(&self, settings: &str) -> String {
        let Scenario { robots, ticks, .. } = self.condition;
        let mut command = format!(
            "host-sim eval --task {} --profile {} --robots {robots} --ticks {ticks} --swarms {} --seed {}",
            W::NAME,
            self.eval.profile.name(),
            self.swarms,
            self.seed
        );
        if let Some(body) = self.eval.world.body().filter(|body| !body.is_default()) {
            command.extend([" --body ", &body.to_string()]);
        }
        if let Some(step) = self.eval.step {
            command.extend([" --step-size ", &step.to_string()]);
        }
        command.extend(settings.split_whitespace().flat_map(|setting| [" --fault ", setting]));
        command + if self.trust == Trust::Plain { " --no-robustness" } else { "" }
    }

    /// Returns the exchanges per episode.
    pub fn exchanges(&self) -> u32 {
        self.condition.ticks.div_ceil(self.eval.profile.exchange_ticks())
    }
}

/// Observer that records all states.
struct Recorder<S>(Vec<Vec<S>>);

impl<W: Environment> Observer<W> for Recorder<StateOf<W>> {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        self.0.push(moment.scene.states.to_vec());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::Motion;

    use super::*;
    use crate::world::flock::Flock;

    #[test]
    fn excluded_robots_do_not_count() {
        let motion = |velocity| Motion { position: [0.0; 2], velocity };
        let tick = |far| vec![motion([1.0, 0.0]), motion([100.0, 100.0]), motion([far, 0.0])];
        let flight = EpisodeMetrics {
            score: Vec::new(),
            min_distance: 0.0,
            close_pairs: [0; 3],
            unavoidable: 0,
            disagreement: None,
            counters: None,
        };
        let flown = FaultFlight { flight, world: Flock::<2>::default(), states: vec![tick(3.0), tick(5.0)] };
        let odd = [false, true, false];
        // The robots differ from their mean by 1 m/s, then by 2 m/s.
        assert!((flown.total(&odd) - 5.0).abs() < 1.0e-12);
        assert!((flown.last(&odd) - 4.0).abs() < 1.0e-12);
        assert!(flown.last(&[false; 3]) > 1000.0);
    }
}
