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
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// Name in JSON, CSV and on the command line.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// Properties of the robots.
    pub quirks: ModelMismatch,
}

/// Returns all conditions, in the order of the table.
pub fn rows() -> Vec<Row> {
    let as_trained = ModelMismatch::default();
    let row = |name, title, quirks| Row { name, title, quirks };
    vec![
        row("as-trained", "as trained", as_trained),
        row(
            "differing",
            "actuators 0.5–1.5, bias 1.5 m/s², lag 50 ms, noise 0.05 m/s",
            ModelMismatch { spread: 0.5, bias: 1.5, lag: 0.05, noise: 0.05, ..as_trained },
        ),
        row("weak", "actuators weak (0.4)", ModelMismatch { weakness: 0.6, ..as_trained }),
        row("unequal", "actuators unequal (0.5–1.5)", ModelMismatch { spread: 0.5, ..as_trained }),
        row("bias", "actuators' bias 1.5 m/s²", ModelMismatch { bias: 1.5, ..as_trained }),
        row("lag", "actuators' lag 0.1 s", ModelMismatch { lag: 0.1, ..as_trained }),
        row("delay", "delay of 4 ticks", ModelMismatch { delay: 4, ..as_trained }),
        row("delay-lag", "delay of 4 ticks, lag 50 ms", ModelMismatch { delay: 4, lag: 0.05, ..as_trained }),
        row("wind", "drag 0.5/s and gusts 3 m/s²", ModelMismatch { drag: 0.5, gusts: 3.0, ..as_trained }),
        row("noise", "velocity noise 0.2 m/s", ModelMismatch { noise: 0.2, ..as_trained }),
        row(
            "sensor-bias",
            "velocity sensors' bias 0.2 m/s",
            ModelMismatch { sensor_bias: 0.2, ..as_trained },
        ),
        row(
            "frozen",
            "velocity sensor frozen, every tenth robot",
            ModelMismatch { frozen: 0.1, ..as_trained },
        ),
        row("turned", "headings misaligned by 30°", ModelMismatch { turned: 0.52, ..as_trained }),
        row("leader", "a leader, every fortieth robot", ModelMismatch { leaders: 0.025, ..as_trained }),
        row("short", "half the range from 0.5 s on", ModelMismatch { shortened: 0.5, ..as_trained }),
        row("payload", "payload dropped at 0.5 s (gain 2)", ModelMismatch { dropped: 1.0, ..as_trained }),
        row("loss", "60 % of frames lost", ModelMismatch { loss: 0.6, ..as_trained }),
        row("meeting", "two swarms meet at 2 m/s each", ModelMismatch { meeting: 2.0, ..as_trained }),
    ]
}

/// Columns of the table.
pub const COLUMNS: [&str; 5] = ["expert", "offline", "online-paper", "ours", "retrained"];

/// Result of a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Condition, set by the reader of merged shards.
    #[serde(skip)]
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

    /// Returns the world of the evaluation with these properties of the robots.
    fn world(&self, mismatch: ModelMismatch) -> Flock {
        let mut world = self.eval.world.clone();
        world.mismatch = mismatch;
        world
    }

    fn fly(
        &self, eval: &EvalConfig<Flock>, controller: &str, quirks: ModelMismatch, seed: u64,
    ) -> Result<Vec<EpisodeMetrics>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (task, controller) = (eval.task()?, Controller::named(controller)?);
        let world = self.world(quirks);
        let condition = Scenario { ticks: TICKS, ..world.scenario() };
        threads::try_map(self.swarms, |swarm| {
            let mut random = generator(seed, Purpose::Testing, swarm as u64);
            let start = Episode::draw(&world, &condition, &mut random)?;
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
        let rows = rows();
        for (index, row) in rows.iter().enumerate() {
            assert!(rows.iter().skip(index + 1).all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.quirks == ModelMismatch::default(), index == 0, "{}", row.name);
        }
    }
}
