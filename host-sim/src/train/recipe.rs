//! Recipes: all parameters of a training run.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    model::{GradientMetric, activation::Activation, shape::Dimensions},
    online::{Learning, Mixing},
    task::Task as _,
    weights::{Header, TaskSettings},
};

use super::{bptt::Bptt, evolution::Evolution, imitation::Imitation};
use crate::{
    error::{Error, Result},
    profiles::Profile,
    recipe::RecipeName,
    scene::SimTask,
    world::{Environment, Scenario, TrainingConfig},
};

/// Training method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Imitation of an expert.
    Imitation(Imitation),
    /// Backpropagation through time.
    Bptt(Bptt),
    /// Evolution strategy.
    Evolution(Evolution),
}

/// Parameters of a training run.
#[derive(Clone, Debug)]
pub struct Recipe<W: Environment> {
    pub name: RecipeName,
    pub world: W,
    /// Scenario of training and validation episodes.
    pub condition: Scenario,
    /// Whether the number of robots is fixed for mixed conditions.
    pub robots_fixed: bool,
    pub method: Method,
    pub epochs: usize,
    /// Steps per epoch.
    pub steps: usize,
    /// Initial rate of Adam.
    pub rate: f32,
    /// Final rate relative to the initial one, with a cosine decay.
    pub rate_end: f32,
    /// Epochs between validations.
    pub validate_every: usize,
    /// Episodes per validation.
    pub validations: usize,
    /// Task settings and online learning.
    pub settings: TrainingConfig<W::Task>,
    /// Link profile to train for.
    pub profile: Profile,
    /// Control ticks per exchange to train for.
    pub exchange: u32,
}

impl<W: Environment> Recipe<W> {
    /// Returns a recipe by name for a world, with an exchange at each tick.
    pub fn named(name: RecipeName, world: W) -> Result<Self> {
        let settings = world
            .training_config(name)
            .ok_or_else(|| Error::usage(format!("--recipe {} is not for --task {}", name.name(), W::NAME)))?;
        let base = Self {
            name,
            condition: world.scenario(),
            world,
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
            RecipeName::Imitate => Self {
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

    /// Returns the default recipe of a task: through the simulator with a derivative, else
    /// imitation with an expert, else evolution.
    pub fn usual() -> RecipeName {
        let world = W::default();
        let task = W::default_task();
        if world.adjoint().is_some() {
            RecipeName::Through
        } else if world.expert(&task).is_some() {
            RecipeName::Imitate
        } else {
            RecipeName::Evolve
        }
    }

    /// Draws world and condition of an episode: mixed ones with probability `mixed`.
    pub fn draw(&self, mixed: f32, random: &mut ChaCha8Rng) -> (W, Scenario) {
        let (world, condition) = if random.random_range(0.0_f32..1.0) < mixed {
            self.world.vary_robots(&self.condition, random)
        } else {
            (self.world.clone(), self.condition)
        };
        (world, self.with_robots(condition))
    }

    /// Returns the condition with the requested number of robots, if any.
    pub fn with_robots(&self, condition: Scenario) -> Scenario {
        let robots = if self.robots_fixed { self.condition.robots } else { condition.robots };
        Scenario { robots, ..condition }
    }

    /// Returns the rate of Adam after a share of the training.
    pub fn rate_at(&self, progress: f32) -> f32 {
        let cosine = 0.5 * (1.0 + libm::cosf(std::f32::consts::PI * progress));
        self.rate * (self.rate_end + (1.0 - self.rate_end) * cosine)
    }

    /// Returns the header of a weight file.
    pub fn header(&self, size: Dimensions, learning: Learning) -> Header {
        Header {
            activation: Activation::Tanh,
            scale: self.settings.scale,
            features: size.features as u16,
            hidden: size.hidden as u16,
            outputs: size.outputs as u16,
            layers: size.layers(),
            task: TaskSettings { task: W::Task::ID, numbers: self.settings.task.constants() },
            learning,
            interval: self.exchange as u16,
            lag: self.settings.lag,
        }
    }

    /// Returns the online learning rule for α_W and the norm ‖C†‖: step and ball are in units of
    /// `α_W·C`, the adapted part of the command.
    pub fn learning(&self, alpha_wide: f32, offline_norm: f32) -> Learning {
        let reach = (alpha_wide * offline_norm).abs();
        match self.name {
            RecipeName::Paper => Learning::paper(1.0),
            _ if reach > 0.0 => Learning {
                step: self.settings.step / (alpha_wide * alpha_wide),
                ball: self.settings.ball / reach,
                metric: GradientMetric::Euclidean,
                mixing: Mixing::Uniform,
                // Robots with an adaptive gain do not learn from clamped commands: the wide part
                // would wind up during braking (at half the range from 0.5 s on, 4 % of the total;
                // imitating networks gain 3 %).
                through_clamp: !self.settings.adapts_gain,
                bias_step: self.settings.bias_step,
                // Leaves half of the actuator range to the network.
                bias_clip: if self.settings.bias_step > 0.0 {
                    limit::<W>(&self.settings.task) / 2.0
                } else {
                    0.0
                },
                adapts_gain: self.settings.adapts_gain,
                ..Learning::OFF
            },
            _ => Learning::OFF,
        }
    }
}

/// Returns the largest command: the clamped value of a huge one.
fn limit<W: Environment>(task: &W::Task) -> f32 {
    let mut huge = <W::Task as SimTask>::zero_command();
    huge.as_mut().fill(1.0e18);
    task.saturate(&huge).as_ref().first().copied().unwrap_or(1.0)
}
