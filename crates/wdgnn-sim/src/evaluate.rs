//! Parallel evaluation of controllers over many swarms.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use serde::{Deserialize, Serialize};

use crate::{
    controllers::{Controller, EvalConfig},
    counters::Counters,
    episode::{Episode, EpisodeMetrics, Observer, TickView},
    error::Result,
    jobs::{self, Schedule},
    seeds::{Purpose, generator},
    world::{Environment, Scenario, World},
};

/// Mean and standard deviation over swarms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanStd {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    pub std: f64,
}

impl MeanStd {
    /// Computes mean and standard deviation of `values`.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, std: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } }
    }
}

/// Metrics of one controller over all swarms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Sum of the scores; for flocking, the total velocity variation.
    pub total: MeanStd,
    /// Score at the end.
    #[serde(rename = "final")]
    pub last: MeanStd,
    /// Smallest distance between two robots in any swarm, in meters.
    pub min_distance: f64,
    /// Pairs closer than 0.1 m, in pair-ticks per swarm.
    pub close_pairs: f64,
    /// Pairs closer than 0.2 m, in pair-ticks per swarm.
    pub close_pairs_200_mm: f64,
    /// Pairs closer than 0.3 m, in pair-ticks per swarm.
    pub close_pairs_300_mm: f64,
    /// Mean disagreement of the robots' parameters at the end; null where robots do not learn.
    pub disagreement: Option<f64>,
    /// Received frames on a radio medium, rejected ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heard: Option<u64>,
    /// Rejected frames on a radio medium, by reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<BTreeMap<&'static str, u64>>,
}

impl Summary {
    /// Summarizes episodes.
    pub fn of(flights: &[EpisodeMetrics]) -> Self {
        let collect = |value: fn(&EpisodeMetrics) -> f64| flights.iter().map(value).collect::<Vec<f64>>();
        let disagreements: Option<Vec<f64>> = flights.iter().map(|flight| flight.disagreement).collect();
        let all_counters: Option<Vec<&Counters>> =
            flights.iter().map(|flight| flight.counters.as_ref()).collect();
        let counters = all_counters.map(|all_counters| {
            let mut sum = Counters::default();
            for counters in all_counters {
                sum.add(counters);
            }
            sum
        });
        Self {
            total: MeanStd::of(&collect(EpisodeMetrics::total)),
            last: MeanStd::of(&collect(EpisodeMetrics::last)),
            min_distance: collect(|flight| f64::from(flight.min_distance))
                .into_iter()
                .fold(f64::INFINITY, f64::min),
            close_pairs: MeanStd::of(&collect(|flight| f64::from(flight.close_pairs[0]))).mean,
            close_pairs_200_mm: MeanStd::of(&collect(|flight| f64::from(flight.close_pairs[1]))).mean,
            close_pairs_300_mm: MeanStd::of(&collect(|flight| f64::from(flight.close_pairs[2]))).mean,
            disagreement: disagreements.map(|values| MeanStd::of(&values).mean),
            heard: counters.as_ref().map(|counters| counters.heard),
            refused: counters.map(|counters| counters.refused_by_name()),
        }
    }
}

/// Results of one controller.
#[derive(Clone, Debug)]
pub struct ControllerResult {
    /// Name in JSON and CSV.
    pub name: &'static str,
    /// Name in tables.
    pub title: Cow<'static, str>,
    /// Whether short tables and pages show it.
    pub shown: bool,
    /// Metrics of one episode per swarm.
    pub flights: Vec<EpisodeMetrics>,
    /// Summary of the episodes.
    pub summary: Summary,
}

impl ControllerResult {
    /// Returns the total relative to that of `reference` in the same swarms.
    ///
    /// The field `std` holds the standard error over swarms: that of a ratio of means of paired
    /// values, by linearization. Swarms that are hard for both controllers add little to it.
    #[must_use]
    pub fn ratio_to(&self, reference: &Self) -> MeanStd {
        let mean = self.summary.total.mean / reference.summary.total.mean;
        let pairs = self.flights.iter().zip(&reference.flights);
        let residuals: Vec<f64> =
            pairs.map(|(flight, reference)| flight.total() - mean * reference.total()).collect();
        let error = MeanStd::of(&residuals).std / (residuals.len() as f64).sqrt();
        MeanStd { mean, std: error / reference.summary.total.mean }
    }

    /// Returns whether the controller is a bound that no robot can reach.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.title.starts_with("bound")
    }

    /// Returns the title without searched parameters.
    #[must_use]
    pub fn law(&self) -> &str {
        self.title.split(", gain").next().unwrap_or(&self.title)
    }

    /// Collects a controller's episodes.
    pub fn of<W: Environment>(controller: &Controller<W>, flights: &[EpisodeMetrics]) -> Self {
        let Controller { name, title, shown, .. } = controller.clone();
        Self { name, title, shown, flights: flights.to_vec(), summary: Summary::of(flights) }
    }
}

/// Returns the results of the controller with this name, if it was evaluated.
pub fn find<'a>(outcomes: &'a [ControllerResult], name: &str) -> Option<&'a ControllerResult> {
    outcomes.iter().find(|outcome| outcome.name == name)
}

/// Set of episodes with one scenario.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a, W: Environment> {
    /// Networks and how they are run.
    pub eval: &'a EvalConfig<W>,
    /// Controllers to evaluate.
    pub controllers: &'a [Controller<W>],
    /// Scenario of the episodes.
    pub scenario: &'a Scenario,
    /// Number of held-out swarms.
    pub swarms: usize,
    /// Seed of the swarms.
    pub seed: u64,
}

impl<W: Environment> Case<'_, W> {
    fn start(&self, swarm: usize) -> Result<Episode<W>> {
        let mut random = generator(self.seed, Purpose::Testing, swarm as u64);
        Episode::draw(&self.eval.world, self.scenario, &mut random)
    }

    /// Large swarms use all threads, so their episodes run frames do not overlap.
    fn schedule(&self) -> Schedule {
        if self.eval.is_large { Schedule::Sequential } else { Schedule::Parallel }
    }

    fn fly(
        &self, controller: usize, swarm: usize, start: &Episode<W>, done: &(dyn Fn() + Sync),
    ) -> Result<EpisodeMetrics> {
        let mut flown = self.eval.swarm(&self.controllers[controller], start, swarm as u64)?;
        let watchers: &mut [&mut dyn Observer<W>] =
            if self.eval.is_large { &mut [&mut Ticks(done)] } else { &mut [] };
        let flight = start.fly(&self.eval.task()?, flown.as_mut(), watchers, &AtomicBool::new(false))?;
        if !self.eval.is_large {
            done();
        }
        Ok(flight)
    }

    fn outcomes(&self, flights: &[EpisodeMetrics]) -> Vec<ControllerResult> {
        let flights = flights.chunks(self.swarms);
        self.controllers
            .iter()
            .zip(flights)
            .map(|(one, flights)| ControllerResult::of(one, flights))
            .collect()
    }
}

/// Initial state of an episode, drawn by the first job that needs it.
type SharedEpisode<W> = Mutex<Option<Arc<Episode<W>>>>;

/// Runs the swarms of every case under each of its controllers, as [jobs] named `work`.
///
/// Calls `done` from any thread after every episode, or after every tick of large swarms
/// ([`progress_steps`]).
pub fn evaluate_all<W: Environment>(
    work: &str, cases: &[Case<'_, W>], done: &(dyn Fn() + Sync),
) -> Result<Vec<Vec<ControllerResult>>> {
    run_cases(cases, done, |schedule, count, job| jobs::map(work, schedule, count, job))
}

/// Runs `swarms` held-out swarms under each controller in this process.
///
/// Calls `done` as [`evaluate_all`] does.
pub fn evaluate<W: Environment>(
    eval: &EvalConfig<W>, controllers: &[Controller<W>], scenario: &Scenario, swarms: usize, seed: u64,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<ControllerResult>> {
    let case = Case { eval, controllers, scenario, swarms, seed };
    let outcomes = run_cases(&[case], done, |schedule, count, job| schedule.map(count, job))?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// Returns the results of cases whose episodes are jobs run by `map`.
fn run_cases<W: Environment>(
    cases: &[Case<'_, W>], done: &(dyn Fn() + Sync),
    map: impl FnOnce(
        Schedule,
        usize,
        &(dyn Fn(usize) -> Result<EpisodeMetrics> + Send + Sync),
    ) -> Result<Vec<EpisodeMetrics>>,
) -> Result<Vec<Vec<ControllerResult>>> {
    // One flat list, so that no thread waits for the last swarm of a controller.
    let jobs: Vec<[usize; 3]> = cases
        .iter()
        .enumerate()
        .flat_map(|(number, case)| {
            (0..case.controllers.len() * case.swarms)
                .map(move |job| [number, job / case.swarms, job % case.swarms])
        })
        .collect();
    let starts: Vec<Vec<SharedEpisode<W>>> =
        cases.iter().map(|case| (0..case.swarms).map(|_| Mutex::default()).collect()).collect();
    let schedule = cases.first().map_or(Schedule::Parallel, Case::schedule);
    let flights = map(schedule, jobs.len(), &|job| {
        let [number, controller, swarm] = jobs[job];
        let case = &cases[number];
        // The first job that needs an initial state draws it for all controllers.
        let start = {
            let mut held = starts[number][swarm].lock().unwrap_or_else(PoisonError::into_inner);
            match &*held {
                Some(start) => Arc::clone(start),
                None => Arc::clone(held.insert(Arc::new(case.start(swarm)?))),
            }
        };
        case.fly(controller, swarm, &start, done)
    })?;
    let mut rest = &flights[..];
    let outcomes = cases.iter().map(|case| {
        let (own, others) = rest.split_at(case.controllers.len() * case.swarms);
        rest = others;
        case.outcomes(own)
    });
    Ok(outcomes.collect())
}

/// Returns how often [`evaluate_all`] calls `done`.
pub fn progress_steps<W: Environment>(eval: &EvalConfig<W>, scenario: &Scenario, flights: usize) -> u64 {
    let each = if eval.is_large { scenario.ticks.into() } else { 1 };
    flights as u64 * each
}

/// Observer that calls a function at every tick.
#[allow(missing_debug_implementations, reason = "contains a function")]
pub struct Ticks<'a>(pub &'a (dyn Fn() + Sync));

impl<W: World> Observer<W> for Ticks<'_> {
    fn observe(&mut self, _: &TickView<'_, W>) -> Result {
        (self.0)();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_by_hand() {
        let spread = MeanStd::of(&[1.0, 3.0]);
        assert_eq!(spread.mean, 2.0);
        assert!((spread.std - 2.0_f64.sqrt()).abs() < 1.0e-12);
        assert_eq!(MeanStd::of(&[5.0]), MeanStd { mean: 5.0, std: 0.0 });
    }
}
