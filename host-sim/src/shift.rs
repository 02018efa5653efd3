//! Conditions outside the training distribution, and the loss that online learning recovers.

mod retraining;

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::{
    controllers::{Controller, EXPERT, EvalConfig, OFFLINE, ONLINE},
    episode::{Episode, EpisodeMetrics},
    error::{Error, Result},
    evaluate::MeanStd,
    seeds::{Purpose, generator},
    threads,
    world::{
        Scenario, World as _,
        flock::{Flock, dynamics::ModelMismatch},
    },
};

/// Length of an episode: four seconds, to separate transients from lasting effects.
const TICKS: u32 = 400;
/// Ticks at the end of an episode.
const LATE: usize = 50;
/// Smallest share of the offline total that retraining must save to define a gap.
pub const SMALLEST_GAP: f64 = 0.02;

/// Scenario.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name in JSON, CSV and on the command line.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Properties of the robots.
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

/// Columns of the table.
pub const COLUMNS: [&str; 5] = ["expert", "offline", "online-paper", "ours", "retrained"];

/// Result of a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Scenario, set by the reader of merged shards.
    #[serde(skip, default = "first_row")]
    pub row: Row,
    /// Total velocity variation by column: mean and spread over seeds.
    pub total: [MeanStd; 5],
    /// Mean velocity variation over the last half second by column.
    pub late: [MeanStd; 5],
    /// Share of the gap between offline and retrained that online learning closes, over seeds;
    /// `None` for a small gap.
    pub closed: Option<MeanStd>,
    /// Relative change of the total by online learning; negative is better.
    pub change: MeanStd,
}

fn first_row() -> Row {
    ROWS[0]
}

/// Measurement plan.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    pub eval: &'a EvalConfig<Flock>,
    /// Swarms per seed.
    pub swarms: usize,
    /// Number of seeds.
    pub seeds: usize,
    pub seed: u64,
    pub retrain: usize,
    /// Flag that ends the run early.
    pub stop: &'a AtomicBool,
}

impl Plan<'_> {
    /// Measures a condition under all columns.
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
        threads::try_map(self.swarms, |swarm| {
            let mut random = generator(seed, Purpose::Testing, swarm as u64);
            let start = Episode::draw(&Flock::with(quirks), &condition, &mut random)?;
            let mut flown = eval.swarm(&controller, &start, swarm as u64)?;
            start.run_unobserved(&task, flown.as_mut())
        })
    }
}

/// Returns the share of the retraining gain that online learning achieves over all seeds, with a
/// jackknife standard error: single seeds may have no gain.
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
    fn the_share_is_over_all_seeds() {
        let even = share(&[(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]);
        assert_eq!((even.mean, even.std), (0.5, 0.0));
        // One seed without a gain has little effect on the result.
        let odd = share(&[(1.0, 2.0), (2.0, 4.0), (0.5, 0.0)]);
        assert!((odd.mean - 3.5 / 6.0).abs() < 1.0e-12 && odd.std > 0.0 && odd.std < 0.2, "{odd:?}");
    }

    #[test]
    fn conditions_have_unique_names_and_the_first_is_as_trained() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS.iter().skip(index + 1).all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.quirks == ModelMismatch::default(), index == 0, "{}", row.name);
        }
    }
}
