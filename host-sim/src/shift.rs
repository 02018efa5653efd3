//! Conditions that training did not see, and how much of what is lost there learning in flight wins back.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use wdgnn_core::{
    Network,
    activation::Activation,
    wide::{Folded, Metric},
};

use crate::{
    body::{Bodies, Quirks},
    controllers::{Controller, Fleet},
    error::{Error, Result},
    evaluate::Spread,
    flight::{Flight, fly_in},
    model::ModelFile,
    seeds::{Purpose, generator},
    shapes::{self, Dimensions, Shape, Visitor},
    start::{Condition, start},
    train::{
        adam::Adam,
        recipe::{Recipe, RecipeName},
        through::{self, Through},
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
    pub quirks: Quirks,
}

const AS_TRAINED: Quirks = Quirks {
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
        quirks: Quirks { spread: 0.5, bias: 1.5, lag: 0.05, noise: 0.05, ..AS_TRAINED },
    },
    Row { name: "weak", title: "actuators weak (0.4)", quirks: Quirks { weakness: 0.6, ..AS_TRAINED } },
    Row {
        name: "unequal",
        title: "actuators unequal (0.5–1.5)",
        quirks: Quirks { spread: 0.5, ..AS_TRAINED },
    },
    Row { name: "bias", title: "actuators' bias 1.5 m/s²", quirks: Quirks { bias: 1.5, ..AS_TRAINED } },
    Row { name: "lag", title: "actuators' lag 0.1 s", quirks: Quirks { lag: 0.1, ..AS_TRAINED } },
    Row { name: "delay", title: "delay of 4 ticks", quirks: Quirks { delay: 4, ..AS_TRAINED } },
    Row {
        name: "delay-lag",
        title: "delay of 4 ticks, lag 50 ms",
        quirks: Quirks { delay: 4, lag: 0.05, ..AS_TRAINED },
    },
    Row {
        name: "wind",
        title: "drag 0.5/s and gusts 3 m/s²",
        quirks: Quirks { drag: 0.5, gusts: 3.0, ..AS_TRAINED },
    },
    Row { name: "noise", title: "velocity noise 0.2 m/s", quirks: Quirks { noise: 0.2, ..AS_TRAINED } },
    Row {
        name: "sensor-bias",
        title: "velocity sensors' bias 0.2 m/s",
        quirks: Quirks { sensor_bias: 0.2, ..AS_TRAINED },
    },
    Row {
        name: "frozen",
        title: "velocity sensor frozen, every tenth robot",
        quirks: Quirks { frozen: 0.1, ..AS_TRAINED },
    },
    Row {
        name: "turned",
        title: "headings misaligned by 30°",
        quirks: Quirks { turned: 0.52, ..AS_TRAINED },
    },
    Row {
        name: "leader",
        title: "a leader, every fortieth robot",
        quirks: Quirks { leaders: 0.025, ..AS_TRAINED },
    },
    Row {
        name: "short",
        title: "half the range from 0.5 s on",
        quirks: Quirks { shortened: 0.5, ..AS_TRAINED },
    },
    Row {
        name: "payload",
        title: "payload dropped at 0.5 s (gain 2)",
        quirks: Quirks { dropped: 1.0, ..AS_TRAINED },
    },
    Row { name: "loss", title: "60 % of frames lost", quirks: Quirks { loss: 0.6, ..AS_TRAINED } },
    Row {
        name: "meeting",
        title: "two swarms meet at 2 m/s each",
        quirks: Quirks { meeting: 2.0, ..AS_TRAINED },
    },
];

/// Who flies.
pub const COLUMNS: [&str; 5] = ["expert", "offline", "online-paper", "ours", "retrained"];

/// What came of a condition.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The condition.
    pub row: Row,
    /// Total velocity variation by column, mean and spread over seeds.
    pub total: [Spread; 5],
    /// Mean velocity variation over the last half second, by column.
    pub late: [Spread; 5],
    /// The share of the gap between offline and retrained that learning in flight closes, over seeds; none where retraining wins next
    /// to nothing.
    pub closed: Option<Spread>,
    /// What learning does to the total, relative to offline: below zero where it helps.
    pub change: Spread,
}

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The networks.
    pub fleet: &'a Fleet,
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
    ///
    /// # Errors
    /// Models that do not fit, Ctrl-C.
    pub fn measure(&self, row: &Row) -> Result<Outcome> {
        let fleet = self.fleet;
        let model = &fleet.models[0];
        let retrained = shapes::visit(
            Dimensions::of(&model.weights().header),
            Retrain {
                model,
                fleet,
                quirks: row.quirks,
                steps: self.retrain,
                seed: self.seed,
                stop: self.stop,
            },
        )??;
        let paper = Fleet { personal: false, ..fleet.clone() };
        let retrained = Fleet { models: vec![retrained], ..fleet.clone() };
        let columns = [
            (fleet, Controller::Expert),
            (fleet, Controller::WdGnn),
            (&paper, Controller::WdGnnOnline),
            (fleet, Controller::WdGnnOnline),
            (&retrained, Controller::WdGnn),
        ];
        let mut totals = [const { Vec::new() }; 5];
        let mut lates = [const { Vec::new() }; 5];
        for seed in (self.seed..).take(self.seeds) {
            for (column, (fleet, controller)) in columns.iter().enumerate() {
                let flights = self.fly(fleet, *controller, row.quirks, seed)?;
                let mean = |value: &dyn Fn(&Flight) -> f64| {
                    flights.iter().map(value).sum::<f64>() / flights.len() as f64
                };
                totals[column].push(mean(&Flight::total));
                lates[column].push(mean(&|flight| {
                    flight.variation.iter().rev().take(LATE).sum::<f64>() / LATE as f64
                }));
            }
        }
        let [_, offline, _, ours, retrained] = &totals;
        let paired = || offline.iter().zip(ours).zip(retrained);
        let gap: f64 = paired().map(|((offline, _), retrained)| (offline - retrained) / offline).sum::<f64>();
        let closed = (gap / self.seeds as f64 > SMALLEST_GAP).then(|| {
            let shares =
                paired().map(|((offline, ours), retrained)| (offline - ours) / (offline - retrained));
            Spread::of(&shares.collect::<Vec<f64>>())
        });
        let changes: Vec<f64> =
            offline.iter().zip(ours).map(|(offline, ours)| ours / offline - 1.0).collect();
        Ok(Outcome {
            row: *row,
            total: totals.each_ref().map(|values| Spread::of(values)),
            late: lates.each_ref().map(|values| Spread::of(values)),
            closed,
            change: Spread::of(&changes),
        })
    }

    fn fly(&self, fleet: &Fleet, controller: Controller, quirks: Quirks, seed: u64) -> Result<Vec<Flight>> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let task = fleet.task()?;
        let condition = Condition { ticks: TICKS, ..Condition::PAPER };
        (0..self.swarms)
            .into_par_iter()
            .map(|swarm| {
                let mut begin = start(&condition, &mut generator(seed, Purpose::Testing, swarm as u64))?;
                let random = generator(seed, Purpose::Bodies, swarm as u64);
                let mut bodies = Bodies::new(quirks, begin.len(), random);
                bodies.begin(&mut begin);
                let mut pilot = fleet.pilot(controller, &begin, swarm as u64)?;
                Ok(fly_in(&condition, &begin, task.period, &mut bodies, pilot.as_mut(), &mut ()))
            })
            .collect()
    }
}

/// Trains a network further, for one condition.
struct Retrain<'a> {
    model: &'a ModelFile,
    fleet: &'a Fleet,
    quirks: Quirks,
    steps: usize,
    seed: u64,
    stop: &'a AtomicBool,
}

impl Visitor for Retrain<'_> {
    type Output = Result<ModelFile>;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(self) -> Self::Output {
        let weights = self.model.weights();
        let mut recipe = Recipe::named(RecipeName::Through);
        recipe.task = self.fleet.task()?;
        recipe.scale = weights.header.scale;
        recipe.exchange = weights.header.interval.into();
        // Beyond the middle of the flight, where things happen.
        let through = Through {
            ticks: 100,
            flights: 8,
            mixed: 0.0,
            quirks: Some(self.quirks),
            terminal: 20.0,
            longest: 1.0,
        };
        let mut numbers = weights.numbers.to_vec();
        let mut adam = Adam::new(numbers.len());
        let mut gradient = vec![0.0; numbers.len()];
        for step in 0..self.steps {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let network = Network::over(&numbers, Activation::Tanh, recipe.scale)
                .ok_or_else(|| Error::Failed("a network of another shape than its file says".into()))?;
            let folded = Folded::new(network, Metric::Euclidean);
            // Other flights than those that are measured, and other robots.
            let number = (1 << 20) + step as u64;
            through::gradient::<S, TAPS, G>(&folded, &recipe, &through, self.seed, number, &mut gradient)?;
            let rate = 4.0e-3 * (1.0 - 0.9 * step as f32 / self.steps as f32);
            adam.step(&mut numbers, &gradient, rate);
        }
        for number in &mut numbers {
            *number = wdgnn_core::math::flush(*number);
        }
        ModelFile::new(self.model.path(), &weights.header, &numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_has_a_name_of_its_own_and_only_the_first_is_as_trained() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(ROWS.iter().skip(index + 1).all(|other| other.name != row.name), "{}", row.name);
            assert_eq!(row.quirks == Quirks::default(), index == 0, "{}", row.name);
        }
    }
}
