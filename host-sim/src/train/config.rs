//! What is to be trained: every choice, with a name.

use wdgnn_core::model::shape::Dimensions;

use super::{checkpoint::RunName, methods::Method, net::Places, recipe::Recipe};
use crate::{recipe::Architecture, swarm::networks::Draft, world::World};

/// What to train.
#[derive(Clone, Debug)]
pub struct Config<W: World> {
    /// Names of everything chosen.
    pub name: RunName,
    /// The choices themselves.
    pub recipe: Recipe<W>,
    /// Dimensions.
    pub size: Dimensions,
}

impl<W: World> Config<W> {
    /// A config with its name.
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
            // Whatever else the world was told.
            world: format!("{:?} {:?}", recipe.condition, recipe.world),
            seed,
        };
        Self { name, recipe, size }
    }

    /// How many numbers the network has.
    pub fn numbers(&self) -> usize {
        Places::of(&self.size).count()
    }

    /// A network in training, of these numbers.
    pub fn draft<'w>(&self, numbers: &'w [f32]) -> Draft<'w, W::Task> {
        let Self { recipe, size, .. } = self;
        let (scale, task, exchange) = (recipe.scale(), recipe.settings.task, recipe.exchange);
        Draft { numbers, size: *size, scale, task, exchange }
    }
}
