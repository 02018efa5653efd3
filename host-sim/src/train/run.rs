//! The training loop: fly, learn, validate, keep the best.

use std::{
    collections::VecDeque,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;
use wdgnn_core::{math, model::activation::Activation};

use super::{
    adam::Adam,
    checkpoint::Checkpoint,
    crew::Crew,
    dataset::Trajectory,
    evolve, first,
    gradient::gradient,
    imitate,
    net::Net,
    plan::Plan,
    roll_outs::{Rolled, What},
    through,
    ways::{Imitate, Way},
};
use crate::{
    error::{Error, Result},
    model::ModelFile,
    world::World,
};

/// How good a network is, on flights that it was not trained on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// How many flights.
    pub flights: usize,
    /// Its mean total score, without learning in flight.
    pub total: f64,
    /// The expert's, where there is one.
    pub expert: Option<f64>,
}

impl std::fmt::Display for Quality {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:.2} in total over {} validation flights", self.total, self.flights)?;
        match self.expert {
            Some(expert) if expert > 0.0 => {
                write!(formatter, ", {:.3} of the expert's {expert:.2}", self.total / expert)
            }
            _ => Ok(()),
        }
    }
}

/// Whoever watches a training run.
pub trait Watcher: Sync {
    /// After an epoch: its mean loss, and the validation cost where there was one.
    fn epoch(&self, epoch: usize, loss: f32, validation: Option<f64>);
    /// Within an epoch: this share of it is done.
    fn share(&self, _share: f64) {}
    /// A new best network. It is complete and can be flown.
    ///
    /// # Errors
    /// Whatever hinders keeping it.
    fn best(&self, model: &ModelFile) -> Result;
    /// The state after an epoch, to go on from.
    ///
    /// # Errors
    /// Whatever hinders keeping it.
    fn checkpoint(&self, checkpoint: &Checkpoint) -> Result;
}

/// Trains a network. Ends early, with [`Error::Interrupted`] and everything kept, once `stop` is set.
#[derive(Debug)]
pub struct Train<'a, W: World, K> {
    /// What to train.
    pub plan: &'a Plan<W>,
    /// Where it will be kept, for error messages.
    pub out: &'a Path,
    /// Where to go on from.
    pub resume: Option<Checkpoint>,
    /// Who watches.
    pub watcher: &'a K,
    /// Who flies for it; nobody, and everything is flown here.
    pub crew: Option<&'a Crew>,
    /// Set to end after the epoch under way.
    pub stop: &'a AtomicBool,
}

/// The data set of a run that imitates: flights, and the weights that flew them.
#[derive(Default)]
struct Data {
    flown: VecDeque<(usize, Vec<f32>)>,
    flights: VecDeque<Vec<Trajectory>>,
}

impl<W: World, K: Watcher> Train<'_, W, K> {
    /// Trains.
    ///
    /// # Errors
    /// Training that diverges, Ctrl-C, files that cannot be written.
    pub fn run(&self) -> Result<(ModelFile, Quality)> {
        let Plan { name, recipe, .. } = self.plan;
        let mut state = self.resume.clone().unwrap_or_else(|| self.begin());
        let mut data = Data::default();
        if let Way::Imitate(_) = &recipe.way {
            for (epoch, weights) in &state.flown {
                data.flights.push_back(self.trajectories(*epoch, weights)?);
                data.flown.push_back((*epoch, weights.clone()));
            }
        }
        for epoch in state.epoch..recipe.epochs {
            let loss = match &recipe.way {
                Way::Imitate(imitate) => self.imitate(imitate, epoch, &mut state, &mut data)?,
                _ => self.step(epoch, &mut state)?,
            };
            state.epoch = epoch + 1;
            let validates = state.epoch.is_multiple_of(recipe.validate_every) || state.epoch == recipe.epochs;
            let validation = validates.then(|| self.validate(&state.weights)).transpose()?;
            if let Some(cost) = validation {
                // A network that cannot be flown (NaN) is never better.
                if state.best.as_ref().is_none_or(|(best, _)| cost < *best) && cost.is_finite() {
                    state.best = Some((cost, state.weights.clone()));
                    self.watcher.best(&self.export(&state.weights)?)?;
                }
            }
            self.watcher.epoch(state.epoch, loss, validation);
            state.flown = data.flown.iter().cloned().collect();
            let interrupted = self.stop.load(Ordering::Relaxed) && state.epoch < recipe.epochs;
            if validates || interrupted {
                self.watcher.checkpoint(&state)?;
            }
            if interrupted {
                // Before the first validation, what there is so far is the best.
                if let (None, Ok(model)) = (&state.best, self.export(&state.weights)) {
                    self.watcher.best(&model)?;
                }
                return Err(Error::Interrupted);
            }
        }
        let diverged =
            || Error::Failed("training diverged: no network could be flown; try another --seed".into());
        let (total, best) = state.best.as_ref().ok_or_else(diverged)?;
        debug_assert_eq!(state.run, *name);
        let quality = Quality { flights: recipe.validations, total: *total, expert: self.expert()? };
        Ok((self.export(best)?, quality))
    }

    /// The expert's mean total over the validation flights, where there is one.
    fn expert(&self) -> Result<Option<f64>> {
        let recipe = &self.plan.recipe;
        let there = recipe.world.expert(&recipe.settings.task).is_some();
        there.then(|| self.mean_total(What::Expert, &[])).transpose()
    }

    fn begin(&self) -> Checkpoint {
        let Plan { name, recipe, size } = self.plan;
        let mut weights = first::weights(size, name.architecture, name.seed);
        if let (Way::Through(_), Some(derivative)) = (&recipe.way, recipe.world.derivative()) {
            first::guess(&mut weights, size, &derivative.guess(), recipe.scale(), recipe.exchange);
            for range in first::rows(size, &derivative.unseen()) {
                weights[range].fill(0.0);
            }
        }
        let adam = Adam::new(weights.len());
        Checkpoint { run: name.clone(), epoch: 0, weights, adam, flown: Vec::new(), best: None }
    }

    /// An epoch of imitation. Returns its mean loss.
    fn imitate(
        &self,
        imitate: &Imitate,
        epoch: usize,
        state: &mut Checkpoint,
        data: &mut Data,
    ) -> Result<f32> {
        let Plan { name, recipe, size } = self.plan;
        if epoch == 0 || imitate.refresh > 0 {
            data.flights.push_back(self.trajectories(epoch, &state.weights)?);
            data.flown.push_back((epoch, state.weights.clone()));
        }
        let flights = |data: &Data| data.flights.iter().map(Vec::len).sum::<usize>();
        while imitate.refresh > 0 && data.flights.len() > 1 && flights(data) > imitate.flights {
            data.flights.pop_front();
            data.flown.pop_front();
        }
        let pool: Vec<&Trajectory> = data.flights.iter().flatten().collect();
        let draws = imitate::draws(recipe, imitate, (size.layers, size.taps), &pool, name.seed, epoch);
        let mut step = vec![0.0; state.weights.len()];
        let (mut loss, count) = (0.0, draws.len());
        for (index, draw) in draws.iter().enumerate() {
            let progress = (epoch * count + index) as f32 / (recipe.epochs * count) as f32;
            let net = Net::new(*size, Activation::Tanh, &state.weights);
            loss +=
                gradient(&net, recipe.scale(), &draw.batch(&pool), &imitate.loss, &mut step) / count as f32;
            first::freeze(&mut step, size, name.architecture);
            state.adam.step(&mut state.weights, &step, recipe.rate_at(progress));
            self.watcher.share((index + 1) as f64 / count as f64);
        }
        Ok(loss)
    }

    /// The steps of an epoch through the simulator, or of evolution. Returns their mean loss.
    fn step(&self, epoch: usize, state: &mut Checkpoint) -> Result<f32> {
        let Plan { name, recipe, size } = self.plan;
        let unseen = recipe.world.derivative().map_or(0..0, |derivative| derivative.unseen());
        let mut step = vec![0.0; state.weights.len()];
        let mut loss = 0.0;
        for index in 0..recipe.steps {
            let number = epoch * recipe.steps + index;
            let progress = number as f32 / (recipe.epochs * recipe.steps) as f32;
            let number = number as u64;
            loss += match (&recipe.way, self.fly(What::Step(number), &state.weights)?) {
                (Way::Through(way), Rolled::Slopes(flights)) => through::mean(&flights, way, &mut step),
                (Way::Evolve(way), Rolled::Costs(costs)) => {
                    evolve::gradient(way, name.seed, number, &costs, &mut step)
                }
                _ => return Err(otherwise()),
            } / recipe.steps as f32;
            if matches!(recipe.way, Way::Through(_)) {
                for range in first::rows(size, &unseen) {
                    step[range].fill(0.0);
                }
            }
            first::freeze(&mut step, size, name.architecture);
            state.adam.step(&mut state.weights, &step, recipe.rate_at(progress));
            self.watcher.share((index + 1) as f64 / recipe.steps as f64);
        }
        Ok(loss)
    }

    /// The flights of an epoch that imitates.
    fn trajectories(&self, epoch: usize, weights: &[f32]) -> Result<Vec<Trajectory>> {
        match self.fly(What::Epoch(epoch as u64), weights)? {
            Rolled::Trajectories(flights) => Ok(flights),
            _ => Err(otherwise()),
        }
    }

    /// Mean total score over the validation flights, offline.
    fn validate(&self, weights: &[f32]) -> Result<f64> {
        self.mean_total(What::Validation, weights)
    }

    /// Mean total score of somebody over the validation flights.
    fn mean_total(&self, what: What, weights: &[f32]) -> Result<f64> {
        match self.fly(what, weights)? {
            Rolled::Costs(totals) => Ok(totals.iter().sum::<f64>() / totals.len() as f64),
            _ => Err(otherwise()),
        }
    }

    /// Flies, here or elsewhere: results are in the order of flights, so that whatever is made of them has the same bits.
    fn fly(&self, what: What, weights: &[f32]) -> Result<Rolled> {
        match self.crew {
            None => self.plan.roll_out(what, weights, 0..self.plan.count(what)),
            Some(crew) => crew.fly(self.plan, what, weights),
        }
    }

    fn export(&self, weights: &[f32]) -> Result<ModelFile> {
        let Plan { recipe, size, .. } = self.plan;
        let net = Net::new(*size, Activation::Tanh, weights);
        let rule = recipe.learning(weights[1], net.folded_norm());
        let tidy: Vec<f32> = weights.iter().map(|&w| math::flush(w)).collect();
        ModelFile::new(self.out, &recipe.header(*size, rule), &tidy)
    }
}

fn otherwise() -> Error {
    Error::Failed("flights came to something else than was asked for".into())
}
