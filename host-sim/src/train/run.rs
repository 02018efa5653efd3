//! Training loop: episodes, steps, validation and the best network.

use std::{
    collections::VecDeque,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;
use wdgnn_core::math;

use super::{
    adam::Adam,
    bptt,
    config::Config,
    evolution,
    gradient::gradient,
    imitation::{self, Imitation, Trajectory},
    initialization,
    net::Net,
    recipe::Method,
};
use crate::{
    episode::Episode,
    error::{Error, Result},
    model::ModelFile,
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    threads,
    world::{Environment, SwarmOf},
};

/// Quality of a network on validation episodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// Number of episodes.
    pub flights: usize,
    /// Mean total score without online learning.
    pub total: f64,
    /// Mean total score of the expert, if there is one.
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

/// Observer of a training run.
pub trait Watcher: Sync {
    /// Called after an epoch with its mean loss and its validation cost, if any.
    fn epoch(&self, epoch: usize, loss: f32, validation: Option<f64>);
    /// Called within an epoch with the completed share.
    fn share(&self, _share: f64) {}
    /// Called with a new best network in its final form.
    fn best(&self, _model: &ModelFile) -> Result {
        Ok(())
    }
}

/// Training run. Ends early with [`Error::Interrupted`] after `stop` is set, with the best network written.
#[derive(Debug)]
pub struct Train<'a, W: Environment, K> {
    pub config: &'a Config<W>,
    /// Output file, for error messages.
    pub out: &'a Path,
    pub watcher: &'a K,
    /// Flag that ends the run after the current epoch.
    pub stop: &'a AtomicBool,
}

/// Weights with their optimizer.
struct State {
    weights: Vec<f32>,
    adam: Adam,
}

impl<W: Environment, K: Watcher> Train<'_, W, K> {
    /// Trains the network.
    pub fn run(&self) -> Result<(ModelFile, Quality)> {
        let Config { recipe, seed, .. } = self.config;
        let weights = self.config.weights.clone().unwrap_or_else(|| self.initial_weights());
        let mut state = State { adam: Adam::new(weights.len()), weights };
        let mut data = VecDeque::new();
        let mut best: Option<(f64, Vec<f32>)> = None;
        for epoch in 0..recipe.epochs {
            let loss = match &recipe.method {
                Method::Imitation(imitate) => self.imitate(imitate, epoch, &mut state, &mut data)?,
                Method::Bptt(through) => {
                    let draw = |random: &mut _| recipe.draw(through.mixed, random);
                    self.steps(epoch, &mut state, |draft, number, into| {
                        bptt::gradient::<W>(draft, through, &draw, *seed, number, into)
                    })?
                }
                Method::Evolution(evolve) => self.steps(epoch, &mut state, |draft, number, into| {
                    evolution::gradient(recipe, evolve, draft, *seed, number, into)
                })?,
            };
            let done = epoch + 1;
            let validates = done.is_multiple_of(recipe.validate_every) || done == recipe.epochs;
            let validation = validates.then(|| self.validate(&state.weights)).transpose()?;
            if let Some(cost) = validation {
                // A network with NaN is never the best.
                if best.as_ref().is_none_or(|(best, _)| cost < *best) && cost.is_finite() {
                    best = Some((cost, state.weights.clone()));
                    self.watcher.best(&self.export(&state.weights)?)?;
                }
            }
            self.watcher.epoch(done, loss, validation);
            if self.stop.load(Ordering::Relaxed) && done < recipe.epochs {
                // Before the first validation, the current network is the best.
                if let (None, Ok(model)) = (&best, self.export(&state.weights)) {
                    self.watcher.best(&model)?;
                }
                return Err(Error::Interrupted);
            }
        }
        let diverged =
            || Error::Failed("training diverged: no network could be flown; try another --seed".into());
        let (total, best) = best.ok_or_else(diverged)?;
        let quality = Quality { flights: recipe.validations, total, expert: self.expert()? };
        Ok((self.export(&best)?, quality))
    }

    /// Returns the expert's mean total over the validation episodes, if there is an expert.
    fn expert(&self) -> Result<Option<f64>> {
        let recipe = &self.config.recipe;
        let task = &recipe.settings.task;
        let missing = || Error::Failed("a validation flight has no expert".into());
        let expert = |start: &Episode<W>| start.world.expert(task).ok_or_else(missing);
        recipe.world.expert(task).is_some().then(|| self.mean_total(&expert)).transpose()
    }

    fn initial_weights(&self) -> Vec<f32> {
        let Config { recipe, architecture, size, seed, .. } = self.config;
        let mut weights = initialization::weights(size, *architecture, *seed);
        if let (Method::Bptt(_), Some(derivative)) = (&recipe.method, recipe.world.adjoint()) {
            initialization::guess(&mut weights, size, &derivative.initial_gains(), recipe.exchange);
            for range in initialization::rows(size, &derivative.blocked_features()) {
                weights[range].fill(0.0);
            }
        }
        weights
    }

    /// Runs an epoch of imitation and returns its mean loss.
    fn imitate(
        &self, imitate: &Imitation, epoch: usize, state: &mut State, data: &mut VecDeque<Vec<Trajectory>>,
    ) -> Result<f32> {
        let Config { recipe, architecture, size, seed, .. } = self.config;
        if epoch == 0 || imitate.refresh > 0 {
            let draft = self.config.draft(&state.weights);
            data.push_back(imitation::flights(recipe, imitate, &draft, *seed, epoch)?);
        }
        let flights = |data: &VecDeque<Vec<Trajectory>>| data.iter().map(Vec::len).sum::<usize>();
        while imitate.refresh > 0 && data.len() > 1 && flights(data) > imitate.flights {
            data.pop_front();
        }
        let pool = data.iter().flatten().collect();
        let batches = imitation::batches(recipe, imitate, pool, *seed, epoch);
        let mut step = vec![0.0; state.weights.len()];
        let (mut loss, count) = (0.0, batches.len());
        for (index, batch) in batches.enumerate() {
            let progress = (epoch * count + index) as f32 / (recipe.epochs * count) as f32;
            let net = Net::new(*size, &state.weights);
            loss += gradient(&net, &batch, &imitate.loss, &mut step) / count as f32;
            initialization::freeze(&mut step, size, *architecture);
            state.adam.step(&mut state.weights, &step, recipe.rate_at(progress));
            self.watcher.share((index + 1) as f64 / count as f64);
        }
        Ok(loss)
    }

    /// Runs the steps of an epoch of backpropagation or evolution and returns their mean loss.
    ///
    /// `gradient` writes the gradient of a step, given its number in the whole training, and
    /// returns its loss.
    fn steps(
        &self, epoch: usize, state: &mut State,
        gradient: impl Fn(&Draft<'_, W::Task>, u64, &mut [f32]) -> Result<f32>,
    ) -> Result<f32> {
        let Config { recipe, architecture, size, .. } = self.config;
        let unseen = recipe.world.adjoint().map_or(0..0, |derivative| derivative.blocked_features());
        let mut step = vec![0.0; state.weights.len()];
        let mut loss = 0.0;
        for index in 0..recipe.steps {
            let number = epoch * recipe.steps + index;
            let progress = number as f32 / (recipe.epochs * recipe.steps) as f32;
            let draft = self.config.draft(&state.weights);
            loss += gradient(&draft, number as u64, &mut step)? / recipe.steps as f32;
            if matches!(recipe.method, Method::Bptt(_)) {
                for range in initialization::rows(size, &unseen) {
                    step[range].fill(0.0);
                }
            }
            initialization::freeze(&mut step, size, *architecture);
            state.adam.step(&mut state.weights, &step, recipe.rate_at(progress));
            self.watcher.share((index + 1) as f64 / recipe.steps as f64);
        }
        Ok(loss)
    }

    /// Returns the mean total score over the validation episodes, without online learning.
    fn validate(&self, weights: &[f32]) -> Result<f64> {
        let draft = self.config.draft(weights);
        self.mean_total(&|start| draft.in_memory::<W::Shapes>(&start.states))
    }

    /// Returns the mean total score of a controller over the validation episodes.
    fn mean_total<'s>(&self, make: &(dyn Fn(&Episode<W>) -> Result<SwarmOf<'s, W>> + Sync)) -> Result<f64> {
        let Config { recipe, seed, .. } = self.config;
        let totals: Vec<f64> = threads::try_map(recipe.validations, |index| {
            let mut random = generator(*seed, Purpose::Validation, index as u64);
            let start = Episode::draw(&recipe.world, &recipe.condition, &mut random)?;
            Ok(start.run_unobserved(&recipe.settings.task, make(&start)?.as_mut())?.total())
        })?;
        Ok(totals.iter().sum::<f64>() / totals.len() as f64)
    }

    fn export(&self, weights: &[f32]) -> Result<ModelFile> {
        let Config { recipe, size, .. } = self.config;
        let net = Net::new(*size, weights);
        let rule = recipe.learning(weights[1], net.folded_norm());
        let tidy: Vec<f32> = weights.iter().map(|&w| math::flush_subnormal(w)).collect();
        ModelFile::new(self.out, &recipe.header(*size, rule), &tidy)
    }
}
