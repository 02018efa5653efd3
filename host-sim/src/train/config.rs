//! Configuration of a training run, with its identity.

use wdgnn_core::model::shape::Dimensions;

use super::{checkpoint::RunName, methods::Method, net::Places, recipe::Recipe};
use crate::{recipe::Architecture, swarm::networks::Draft, world::Environment};

/// Configuration of a training run.
#[derive(Clone, Debug)]
pub struct Config<W: Environment> {
    /// Identity of the run.
    pub name: RunName,
    pub recipe: Recipe<W>,
    pub size: Dimensions,
}

impl<W: Environment> Config<W> {
    /// Creates a configuration and its identity.
    pub fn new(recipe: Recipe<W>, architecture: Architecture, size: Dimensions, seed: u64) -> Self {
        let flights = match &recipe.method {
            Method::Imitation(imitate) => imitate.flights,
            Method::Bptt(through) => recipe.steps * through.flights,
            Method::Evolution(evolve) => 2 * evolve.pairs * evolve.flights,
        };
        let name = RunName {
            task: W::NAME.into(),
            recipe: recipe.name,
            architecture,
            profile: recipe.profile,
            dimensions: [size.layers, size.taps, size.hidden],
            lengths: [recipe.epochs, flights],
            exchange: recipe.exchange,
            // All other settings of the world.
            world: format!("{:?} {:?}", recipe.condition, recipe.world),
            seed,
        };
        Self { name, recipe, size }
    }

    /// Returns the number of weights.
    pub fn numbers(&self) -> usize {
        Places::of(&self.size).count()
    }

    /// Returns a network with these weights for episodes.
    pub fn draft<'w>(&self, numbers: &'w [f32]) -> Draft<'w, W::Task> {
        let Self { recipe, size, .. } = self;
        let (scale, task, exchange) = (recipe.scale(), recipe.settings.task, recipe.exchange);
        Draft { numbers, size: *size, scale, task, exchange }
    }
}
