//! Conditions that training did not see, and how much of what is lost there learning in flight wins back.

mod retraining;

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    controllers::{Controller, EXPERT, EvalConfig, OFFLINE, ONLINE},
    episode::{Episode, EpisodeMetrics},
    error::{Error, Result},
    evaluate::MeanStd,
    seeds::{Purpose, generator},
    world::{
        Scenario, World as _,
        flock::{Flock, dynamics::ModelMismatch},
    },
};

/// Length of a flight: four seconds, so that what lasts can be told from what passes.
const TICKS: u32 = 400;
/// The end of a flight, in ticks.
const LATE: usize = 50;
/// Retraining must win this share of the offline total before there is a gap to be closed.
pub const SMALLEST_GAP: f64 = 0.02;

/// A condition.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name in JSON, CSV and on the command line.
    pub name: &'static str,
    /// The name in tables.
    pub title: &'static str,
    /// What robots are like.
    pub quirks: ModelMismatch,
}

const AS_TRAINED: ModelMismatch = ModelMismatch {
    weakness: 0.0,
    spread: 0.0,
    bias: 0.0,
    lag: 0.0,
    delay: 0,
    drag: 0.0,
    gusts: 0.0,
    noise: 0.0,
    sensor_bias: 0.0,
    frozen: 0.0,
    turned: 0.0,
    leaders: 0.0,
    shortened: 0.0,
    dropped: 0.0,
    loss: 0.0,
    meeting: 0.0,
};

/// All conditions, in the order of the table.
pub const ROWS: [Row; 18] = [
    Row { name: "as-trained", title: "as trained", quirks: AS_TRAINED },
    Row {
        name: "differing",
        title: "actuators 0.5–1.5, bias 1.5 m/s², lag 50 ms, noise 0.05 m/s",
        quirks: ModelMismatch { spread: 0.5, bias: 1.5, lag: 0.05, noise: 0.05, ..AS_TRAINED },
    },
    Row {
        name: "weak",
        title: "actuators weak (0.4)",
        quirks: ModelMismatch { weakness: 0.6, ..AS_TRAINED },
    },
    Row {
        name: "unequal",
        title: "actuators unequal (0.5–1.5)",
        quirks: ModelMismatch { spread: 0.5, ..AS_TRAINED },
    },
    Row {
        name: "bias",
        title: "actuators' bias 1.5 m/s²",
        quirks: ModelMismatch { bias: 1.5, ..AS_TRAINED },
    },
    Row { name: "lag", title: "actuators' lag 0.1 s", quirks: ModelMismatch { lag: 0.1, ..AS_TRAINED } },
    Row { name: "delay", title: "delay of 4 ticks", quirks: ModelMismatch { delay: 4, ..AS_TRAINED } },
    Row {
        name: "delay-lag",
        title: "delay of 4 ticks, lag 50 ms",
        quirks: ModelMismatch { delay: 4, lag: 0.05, ..AS_TRAINED },
    },
    Row {
        name: "wind",
        title: "drag 0.5/s and gusts 3 m/s²",
        quirks: ModelMismatch { drag: 0.5, gusts: 3.0, ..AS_TRAINED },
    },
    Row {
        name: "noise",
        title: "velocity noise 0.2 m/s",
        quirks: ModelMismatch { noise: 0.2, ..AS_TRAINED },
    },
    Row {
        name: "sensor-bias",
        title: "velocity sensors' bias 0.2 m/s",
        quirks: ModelMismatch { sensor_bias: 0.2, ..AS_TRAINED },
    },
    Row {
        name: "frozen",
        title: "velocity sensor frozen, every tenth robot",
        quirks: ModelMismatch { frozen: 0.1, ..AS_TRAINED },
    },
    Row {
        name: "turned",
        title: "headings misaligned by 30°",
        quirks: ModelMismatch { turned: 0.52, ..AS_TRAINED },
    },
    Row {
        name: "leader",
        title: "a leader, every fortieth robot",
        quirks: ModelMismatch { leaders: 0.025, ..AS_TRAINED },
    },
    Row {
        name: "short",
        title: "half the range from 0.5 s on",
        quirks: ModelMismatch { shortened: 0.5, ..AS_TRAINED },
    },
    Row {
        name: "payload",
        title: "payload dropped at 0.5 s (gain 2)",
        quirks: ModelMismatch { dropped: 1.0, ..AS_TRAINED },
    },
    Row { name: "loss", title: "60 % of frames lost", quirks: ModelMismatch { loss: 0.6, ..AS_TRAINED } },
    Row {
        name: "meeting",
        title: "two swarms meet at 2 m/s each",
        quirks: ModelMismatch { meeting: 2.0, ..AS_TRAINED },
    },
];

/// Who flies.
pub const COLUMNS: [&str; 5] = ["expert", "offline", "online-paper", "ours", "retrained"];

/// What came of a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The condition; whoever reads an outcome knows which one it asked for.
    #[serde(skip, default = "first_row")]
    pub row: Row,
    /// Total velocity variation by column, mean and spread over seeds.
    pub total: [MeanStd; 5],
    /// Mean velocity variation over the last half second, by column.
    pub late: [MeanStd; 5],
    /// The share of the gap between offline and retrained that learning in flight closes, over seeds; none where retraining wins next
    /// to nothing.
    pub closed: Option<MeanStd>,
    /// What learning does to the total, relative to offline: below zero where it helps.
    pub change: MeanStd,
}

fn first_row() -> Row {
    ROWS[0]
}

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The networks.
    pub eval: &'a EvalConfig<Flock>,
    /// Swarms per seed.
    pub swarms: usize,
    /// How many seeds.
    pub seeds: usize,
    /// The first of them.
    pub seed: u64,
    /// Steps of retraining.
    pub retrain: usize,
    /// Set to end early.
    pub stop: &'a AtomicBool,
}

impl Plan<'_> {
    /// Flies a condition under everybody.
    pub fn measure(&self, row: &Row) -> Result<Outcome> {
        let plain = self.eval;
        let retrained = self.retrained(row.quirks)?;
        let paper = EvalConfig { local_adaptation: false, ..plain.clone() };
        let retrained = EvalConfig { models: vec![retrained], ..plain.clone() };
        let columns =
            [(plain, EXPERT), (plain, OFFLINE), (&paper, ONLINE), (plain, ONLINE), (&retrained, OFFLINE)];
        let mut totals = [const { Vec::new() }; 5];
        let mut lates = [const { Vec::new() }; 5];
        for seed in (self.seed..).take(self.seeds) {
            for (column, (eval, controller)) in columns.iter().enumerate() {
                let flights = self.fly(eval, controller, row.quirks, seed)?;
                let mean = |value: &dyn Fn(&EpisodeMetrics) -> f64| {
                    flights.iter().map(value).sum::<f64>() / flights.len() as f64
                };
                totals[column].push(mean(&EpisodeMetrics::total));
                lates[column]
                    .push(mean(&|flight| flight.score.iter().rev().take(LATE).sum::<f64>() / LATE as f64));
            }
        }
        let [_, offline, _, ours, retrained] = &totals;
        let paired = || offline.iter().zip(ours).zip(retrained);
        let gap: f64 = paired().map(|((offline, _), retrained)| (offline - retrained) / offline).sum::<f64>();
        let gains: Vec<(f64, f64)> =
            paired().map(|((offline, ours), best)| (offline - ours, offline - best)).collect();
        let closed = (gap / self.seeds as f64 > SMALLEST_GAP).then(|| share(&gains));
        let changes: Vec<f64> =
            offline.iter().zip(ours).map(|(offline, ours)| ours / offline - 1.0).collect();
        Ok(Outcome {
            row: *row,
            total: totals.each_ref().map(|values| MeanStd::of(values)),
            late: lates.each_ref().map(|values| MeanStd::of(values)),
            closed,
            change: MeanStd::of(&changes),
        })
    }

    fn fly(
        &self,
        eval: &EvalConfig<Flock>,
        controller: &str,
        quirks: ModelMismatch,
        seed: u64,
    ) -> Result<Vec<EpisodeMetrics>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (task, controller) = (eval.task()?, Controller::named(controller)?);
        let condition = Scenario { ticks: TICKS, ..Flock::<2>::default_scenario() };
        (0..self.swarms)
            .into_par_iter()
            .map(|swarm| {
                let mut random = generator(seed, Purpose::Testing, swarm as u64);
                let start = Episode::draw(&Flock::with(quirks), &condition, &mut random)?;
                let mut flown = eval.swarm(&controller, &start, swarm as u64)?;
                start.run_unobserved(&task, flown.as_mut())
            })
            .collect()
    }
}

/// The share of what retraining wins that learning wins, over all seeds, and its standard error by leaving out one seed after the other: in
/// a single seed retraining may win next to nothing.
fn share(gains: &[(f64, f64)]) -> MeanStd {
    let [learned, best] = gains.iter().fold([0.0, 0.0], |[a, b], (learned, best)| [a + learned, b + best]);
    let without = gains.iter().map(|gain| (learned - gain.0) / (best - gain.1));
    let left: Vec<f64> = without.collect();
    let count = left.len() as f64;
    let mean = left.iter().sum::<f64>() / count;
    let squares: f64 = left.iter().map(|share| (share - mean) * (share - mean)).sum();
    let std = if left.len() > 1 { ((count - 1.0) / count * squares).sqrt() } else { 0.0 };
    MeanStd { mean: learned / best, std }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_all_seeds_together() {
        let even = share(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]);
        assert_eq!((even.mean, even.std), (0.5, 0.0));
        // One seed in which there was nothing to win does not turn the rest over.
        let odd = share(&[(1.0, 2.0), (2.0, 4.0), (0.5, 0.0)]);
        assert!((odd.mean - 3.5 / 6.0).abs() < 1.0e-12 && odd.std > 0.0 && odd.std < 0.2, "{odd:?}");
    }

    #[test]
    fn every_condition_has_a_name_of_its_own_and_only_the_first_is_as_trained() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS.iter().skip(index + 1).all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.quirks == ModelMismatch::default(), index == 0, "{}", row.name);
        }
    }
}
