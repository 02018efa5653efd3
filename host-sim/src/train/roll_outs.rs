//! Roll-outs: the flights of a training, each a function of the plan, the network's numbers and the flight's own number.
//!
//! So whoever flies one, on whatever machine, gets the same bits. A training is nothing but these and what is made of their results, in
//! the order of their numbers.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use wdgnn_core::model::shape::Dimensions;

use super::{
    dataset::Trajectory,
    evolve, imitate,
    plan::Plan,
    through::{self, Slope},
    ways::Way,
};
use crate::{
    error::{Error, Result},
    flight::Start,
    seeds::{Purpose, generator},
    world::{SwarmOf, World},
};

/// What is flown for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// A step through the simulator, or of evolution, by its number in the whole training.
    Step(u64),
    /// The flights that an epoch adds to what is imitated.
    Epoch(u64),
    /// The validation flights.
    Validation,
    /// The same by the expert, who needs no network.
    Expert,
}

/// What flights came to, in their order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Rolled {
    /// What each says about the network: through the simulator.
    Slopes(Vec<Slope>),
    /// What each cost: evolution, validation.
    Costs(Vec<f64>),
    /// The flights themselves: imitation.
    Trajectories(Vec<Trajectory>),
}

impl Rolled {
    /// How many flights.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Slopes(slopes) => slopes.len(),
            Self::Costs(costs) => costs.len(),
            Self::Trajectories(flights) => flights.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds those behind these. Says whether they are of one kind.
    #[must_use]
    pub fn append(&mut self, behind: Self) -> bool {
        match (self, behind) {
            (Self::Slopes(all), Self::Slopes(more)) => all.extend(more),
            (Self::Costs(all), Self::Costs(more)) => all.extend(more),
            (Self::Trajectories(all), Self::Trajectories(more)) => all.extend(more),
            _ => return false,
        }
        true
    }

    /// Whether they can be flights of this training for that: what came from elsewhere may be anything.
    fn fits(&self, what: What, way: &Way, size: &Dimensions, numbers: usize) -> bool {
        match (what, way, self) {
            (What::Step(_), Way::Through(_), Self::Slopes(slopes)) => {
                slopes.iter().all(|slope| slope.gradient.len() == numbers)
            }
            (What::Epoch(_), Way::Imitate(_), Self::Trajectories(flights)) => {
                flights.iter().all(|flight| flight.fits(size))
            }
            (What::Step(_), Way::Evolve(_), Self::Costs(_))
            | (What::Validation | What::Expert, _, Self::Costs(_)) => true,
            _ => false,
        }
    }
}

impl<W: World> Plan<W> {
    /// How many flights that takes.
    #[must_use]
    pub fn count(&self, what: What) -> usize {
        match (what, &self.recipe.way) {
            (What::Step(_), Way::Through(way)) => way.flights,
            (What::Step(_), Way::Evolve(way)) => 2 * way.pairs,
            (What::Epoch(epoch), Way::Imitate(way)) => imitate::count(way, epoch as usize),
            (What::Validation | What::Expert, _) => self.recipe.validations,
            _ => 0,
        }
    }

    /// Flies some of them, by their numbers, on all threads.
    ///
    /// # Errors
    /// Conditions that cannot be, worlds that lack what the recipe needs; numbers that are not this network's.
    pub fn roll_out(&self, what: What, weights: &[f32], which: Range<usize>) -> Result<Rolled> {
        let Self { name, recipe, .. } = self;
        let none = || Error::Failed("there are no such flights in this training".into());
        let flies = what != What::Expert;
        if which.start > which.end
            || which.end > self.count(what)
            || (flies && weights.len() != self.numbers())
        {
            return Err(none());
        }
        let draft = self.draft(weights);
        match (what, &recipe.way) {
            (What::Step(step), Way::Through(way)) => {
                let draw = |random: &mut _| recipe.draw(way.mixed, random);
                through::flights::<W>(&draft, way, &draw, name.seed, step, which).map(Rolled::Slopes)
            }
            (What::Step(step), Way::Evolve(way)) => {
                evolve::costs(recipe, way, &draft, name.seed, step, which).map(Rolled::Costs)
            }
            (What::Epoch(epoch), Way::Imitate(way)) => {
                imitate::flights(recipe, way, &draft, name.seed, epoch as usize, which)
                    .map(Rolled::Trajectories)
            }
            (What::Validation, _) => {
                self.totals(which, &|start| draft.typed::<W::Shapes>(&start.states)).map(Rolled::Costs)
            }
            (What::Expert, _) => {
                let nobody = || Error::Failed("this world's flights have no expert".into());
                let expert = |start: &Start<W>| start.world.expert(&draft.task).ok_or_else(nobody);
                self.totals(which, &expert).map(Rolled::Costs)
            }
            _ => Err(none()),
        }
    }

    /// Whether these can be what flights of this training came to.
    #[must_use]
    pub fn fits(&self, what: What, rolled: &Rolled) -> bool {
        rolled.fits(what, &self.recipe.way, &self.size, self.numbers())
    }

    /// The total scores of somebody in some of the validation flights.
    fn totals<'s>(
        &self,
        which: Range<usize>,
        make: &(dyn Fn(&Start<W>) -> Result<SwarmOf<'s, W>> + Sync),
    ) -> Result<Vec<f64>> {
        let Self { name, recipe, .. } = self;
        which
            .into_par_iter()
            .map(|index| {
                let mut random = generator(name.seed, Purpose::Validation, index as u64);
                let start = Start::draw(&recipe.world, &recipe.condition, &mut random)?;
                Ok(start.fly_alone(&recipe.settings.task, make(&start)?.as_mut())?.total())
            })
            .collect()
    }
}
