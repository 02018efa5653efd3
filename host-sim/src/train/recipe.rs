//! Recipes: everything about a training run that is a choice.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    filter::scale::Scale,
    model::{Metric, activation::Activation, shape::Dimensions},
    online::{Learning, Mixing},
    task::Task as _,
    weights::{Header, TaskSettings},
};

use super::methods::{Bptt, Evolution, Imitation, Method};
use crate::{
    error::{Error, Result},
    profiles::Profile,
    recipe::RecipeName,
    scene::Flown,
    world::{Condition, Settings, World},
};

/// Every choice of a training run.
#[derive(Clone, Debug)]
pub struct Recipe<W: World> {
    /// Its name.
    pub name: RecipeName,
    /// The world.
    pub world: W,
    /// The condition of training and validation flights.
    pub condition: Condition,
    /// Whether the number of robots stays as the condition says, also where conditions are mixed.
    pub robots_fixed: bool,
    /// How to train.
    pub method: Method,
    /// Epochs.
    pub epochs: usize,
    /// Steps per epoch.
    pub steps: usize,
    /// Adam's rate at the beginning.
    pub rate: f32,
    /// Its rate at the end, relative to that, reached by a cosine.
    pub rate_end: f32,
    /// Epochs between validations.
    pub validate_every: usize,
    /// Flights per validation.
    pub validations: usize,
    /// What the network is for, and how it learns in flight.
    pub settings: Settings<W::Task>,
    /// The link profile that the network is trained for.
    pub profile: Profile,
    /// Control ticks per exchange that it is trained for.
    pub exchange: u32,
}

impl<W: World> Recipe<W> {
    /// A recipe by name, with an exchange in every tick.
    pub fn named(name: RecipeName) -> Result<Self> {
        let settings = W::settings(name)
            .ok_or_else(|| Error::usage(format!("--recipe {} is not for --task {}", name.name(), W::NAME)))?;
        let base = Self {
            name,
            world: W::default(),
            condition: W::condition(),
            robots_fixed: false,
            method: Method::Evolution(Evolution::DEFAULT),
            epochs: 30,
            steps: 1,
            rate: 3.0e-3,
            rate_end: 0.02,
            validate_every: 5,
            validations: 20,
            settings,
            profile: Profile::Exact,
            exchange: 1,
        };
        Ok(match name {
            RecipeName::Through => Self { method: Method::Bptt(Bptt::DEFAULT), steps: 10, ..base },
            RecipeName::Evolve => Self { epochs: 100, rate: 2.0e-2, rate_end: 0.1, ..base },
            RecipeName::Ours => Self {
                method: Method::Imitation(Imitation::aggregation(limit::<W>(&settings.task))),
                epochs: 120,
                steps: 100,
                rate: 4.0e-3,
                validate_every: 10,
                validations: 40,
                ..base
            },
            RecipeName::Paper => Self {
                method: Method::Imitation(Imitation::PAPER),
                steps: 0,
                rate: 5.0e-4,
                rate_end: 1.0,
                validate_every: 1,
                validations: 40,
                ..base
            },
        })
    }

    /// How the task is trained unless somebody says otherwise: through the simulator if the world can say its derivative, by
    /// imitation if there is an expert, and by its score alone if there is neither.
    pub fn usual() -> RecipeName {
        let world = W::default();
        let task = W::task();
        if world.derivative().is_some() {
            RecipeName::Through
        } else if world.expert(&task).is_some() {
            RecipeName::Ours
        } else {
            RecipeName::Evolve
        }
    }

    /// What a flight is flown under: the recipe's own condition, or another one in a share of them.
    pub fn draw(&self, mixed: f32, random: &mut ChaCha8Rng) -> (W, Condition) {
        let (world, condition) = if random.random_range(0.0_f32..1.0) < mixed {
            self.world.mix(&self.condition, random)
        } else {
            (self.world.clone(), self.condition)
        };
        (world, self.with_robots(condition))
    }

    /// A condition with as many robots as was asked for, if it was.
    pub fn with_robots(&self, condition: Condition) -> Condition {
        let robots = if self.robots_fixed { self.condition.robots } else { condition.robots };
        Condition { robots, ..condition }
    }

    /// Adam's rate after this share of the training.
    pub fn rate_at(&self, progress: f32) -> f32 {
        let cosine = 0.5 * (1.0 + libm::cosf(std::f32::consts::PI * progress));
        self.rate * (self.rate_end + (1.0 - self.rate_end) * cosine)
    }

    /// The header of a weight file made by this recipe.
    pub fn header(&self, size: Dimensions, learning: Learning) -> Header {
        Header {
            activation: Activation::Tanh,
            scale: self.settings.scale,
            features: size.features as u16,
            hidden: size.hidden as u16,
            outputs: size.outputs as u16,
            layers: size.layers(),
            task: TaskSettings { task: W::Task::NUMBER, numbers: self.settings.task.settings() },
            learning,
            interval: self.exchange as u16,
        }
    }

    /// The rule that a network flies with, given its α_W and its folded norm ‖C†‖: steps and ball are in the measure of `α_W·C`, the part
    /// of the command that learning moves.
    pub fn learning(&self, alpha_wide: f32, offline_norm: f32) -> Learning {
        let reach = (alpha_wide * offline_norm).abs();
        match self.name {
            RecipeName::Paper => Learning::paper(1.0),
            _ if reach > 0.0 => Learning {
                step: self.settings.step / (alpha_wide * alpha_wide),
                ball: self.settings.ball / reach,
                metric: Metric::Euclidean,
                mixing: Mixing::Uniform,
                // Who heeds what came of its commands learns nothing where it had no choice. (Bptt the clamp the wide part winds up while a
                // swarm brakes: at half the range from 0.5 s on, 4 % of the total; imitating networks gain 3 % by it.)
                through_clamp: !self.settings.heeds,
                personal_step: self.settings.personal_step,
                // Half of what motors can do is left for the flight.
                personal_clip: if self.settings.personal_step > 0.0 {
                    limit::<W>(&self.settings.task) / 2.0
                } else {
                    0.0
                },
                heeds: self.settings.heeds,
                ..Learning::OFF
            },
            _ => Learning::OFF,
        }
    }

    /// How sums over neighbours are scaled.
    pub fn scale(&self) -> Scale {
        self.settings.scale
    }
}

/// The largest command: what is left of one that is larger than any.
fn limit<W: World>(task: &W::Task) -> f32 {
    let mut huge = <W::Task as Flown>::nothing();
    huge.as_mut().fill(1.0e18);
    task.command(&huge).as_ref().first().copied().unwrap_or(1.0)
}
