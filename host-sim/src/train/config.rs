//! Configuration of a training run.

use wdgnn_core::model::shape::Dimensions;

use super::recipe::Recipe;
use crate::{
    recipe::Architecture,
    swarm::networks::Draft,
    world::{Environment, TrainingConfig},
};

/// Configuration of a training run.
#[derive(Clone, Debug)]
pub struct Config<W: Environment> {
    pub recipe: Recipe<W>,
    pub architecture: Architecture,
    pub size: Dimensions,
    /// Seed of weights, data and batches.
    pub seed: u64,
    /// Initial weights; `None` for random ones.
    pub weights: Option<Vec<f32>>,
}

impl<W: Environment> Config<W> {
    /// Returns a network with these weights for episodes.
    pub fn draft<'w>(&self, numbers: &'w [f32]) -> Draft<'w, W::Task> {
        let Self { recipe, size, .. } = self;
        let TrainingConfig { scale, task, lag, .. } = recipe.settings;
        Draft { numbers, size: *size, scale, task, exchange: recipe.exchange, lag }
    }
}
