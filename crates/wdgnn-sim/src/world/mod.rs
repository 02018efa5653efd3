//! Worlds: dynamics, links and score of a task's episodes.
//!
//! A [`Task`] defines the features and commands of one robot. A [`World`] defines initial states,
//! dynamics, links, score and baselines. All other parts of this crate work for any world.
//! [`flock`] is flocking in the plane and in space. `examples/rendezvous` and `examples/coverage`
//! are worlds outside this crate.

pub mod flock;
pub mod scenario;

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;
use wdgnn_core::{filter::scale::Scale, task::Task};

pub use scenario::Scenario;

use self::flock::body::BodyConfig;

use crate::{
    error::{Error, Result},
    links::Links,
    model::ModelFile,
    profiles::Profile,
    recipe::RecipeName,
    scene::{CentralRule, SimTask, StateLayout, Swarm},
    shapes::Shapes,
};

/// State of a world's robots.
pub type StateOf<W> = <<W as World>::Task as Task>::State;
/// Command of a world's robots.
pub type OutputOf<W> = <<W as World>::Task as Task>::Command;
/// Controller of a world's robots.
pub type SwarmOf<'a, W> = Box<dyn Swarm<<W as World>::Task> + 'a>;

/// Dynamics, links and score of a task: all that a new task must define.
///
/// A value belongs to one episode and keeps its random draws.
pub trait World: Clone + Debug + Default + Send + Sync + 'static {
    /// Task of the robots.
    type Task: SimTask;

    /// Compiled network shapes.
    type Shapes: Shapes<Self::Task>;

    /// Name on the command line and in file names.
    const NAME: &'static str;

    /// Returns the ranges of position and velocity in a state.
    fn layout() -> StateLayout;

    /// Returns the default scenario.
    fn default_scenario() -> Scenario;

    /// Sets the body of the robots.
    fn set_body(&mut self, _body: BodyConfig) -> Result {
        Err(body_needs_flocking(Self::NAME))
    }

    /// Returns the body of the robots, in worlds that have a choice.
    fn body(&self) -> Option<BodyConfig> {
        None
    }

    /// Returns the default scenario of this world's robots.
    fn scenario(&self) -> Scenario {
        Self::default_scenario()
    }

    /// Returns the default task settings.
    fn default_task() -> Self::Task;

    /// Draws each robot's initial state.
    fn begin(&mut self, scenario: &Scenario, random: &mut ChaCha8Rng) -> Result<Vec<StateOf<Self>>>;

    /// Returns a robot's position in meters; the third component is zero in the plane.
    fn position(state: &StateOf<Self>) -> [f32; 3];

    /// Finds the links of robots at these positions.
    fn links(&mut self, _tick: u32, places: &[[f32; 3]], scenario: &Scenario, links: &mut Links) {
        links.find(places, scenario.radius);
    }

    /// Computes each robot's sensed state.
    fn sense(&mut self, _tick: u32, states: &[StateOf<Self>], sensed: &mut Vec<StateOf<Self>>) {
        states.clone_into(sensed);
    }

    /// Advances all robots by one tick.
    fn step(
        &mut self, task: &Self::Task, tick: u32, states: &mut [StateOf<Self>], commands: &[OutputOf<Self>],
    );

    /// Returns the cost at a tick, which training minimizes.
    fn score(&self, tick: u32, states: &[StateOf<Self>]) -> f64;
}

fn body_needs_flocking(task: &str) -> Error {
    Error::usage(format!("--body needs --task flocking, got {task}"))
}

/// Presentation of a world in programs: titles, models, baselines and drawing.
///
/// Every item has a default.
pub trait Presentation: World {
    /// Quantity that the score measures, with its unit. Lower is better.
    const SCORE: &'static str = "score";

    /// Title in tables and pages.
    const TITLE: &'static str = Self::NAME;

    /// Cargo package of the firmware image for this task.
    const PACKAGE: &'static str = "wdgnn-firmware";

    /// Returns the shipped network for a profile.
    fn model(_profile: Profile) -> Result<ModelFile> {
        Err(Error::usage(format!(
            "no network is shipped for this task: train one with `train --task {}` and pass it with --model",
            Self::NAME
        )))
    }

    /// Returns the shipped network for a profile and this world's body. The default ignores the body.
    fn own_model(&self, profile: Profile) -> Result<ModelFile> {
        Self::model(profile)
    }

    /// Returns a second network of the task, for swarms with two models.
    fn other_model(_profile: Profile) -> Result<ModelFile> {
        Err(Error::usage(format!(
            "there is no other model of --task {}: leave the fault mixed-models out",
            Self::NAME
        )))
    }

    /// Returns the baselines that networks are compared with.
    fn baselines() -> Vec<Baseline<Self>> {
        Vec::new()
    }

    /// Returns the baselines whose gains are searched for each condition.
    fn tuned_baselines() -> Vec<TunedBaseline<Self>> {
        Vec::new()
    }

    /// Returns objects to draw besides robots.
    fn scene_discs(&self, _tick: u32) -> Vec<SceneDisc> {
        Vec::new()
    }
}

/// Training of networks in a world.
///
/// Every item has a default. Without an expert, networks cannot be trained by imitation; without
/// an adjoint, they cannot be trained through the simulator.
pub trait Training: World {
    /// Returns an expert that networks can imitate; it may know more than robots do.
    fn expert(&self, _task: &Self::Task) -> Option<SwarmOf<'static, Self>> {
        None
    }

    /// Makes the expert ignore collisions. Returns whether the expert supports this.
    fn drop_potential(&mut self) -> bool {
        false
    }

    /// Returns the rule of centralized online learning.
    fn central_rule() -> Option<CentralRule<Self::Task>> {
        None
    }

    /// Returns the adjoint of an episode, for training through the simulator.
    fn adjoint(&self) -> Option<Box<dyn Adjoint<Self>>> {
        None
    }

    /// Returns the training configuration of a recipe; `None` if the world does not support it.
    fn training_config(&self, recipe: RecipeName) -> Option<TrainingConfig<Self::Task>> {
        (recipe != RecipeName::Paper).then(|| TrainingConfig {
            task: Self::default_task(),
            scale: Scale::Closed,
            step: 1.0,
            ball: 1.0,
            bias_step: 0.0,
            adapts_gain: false,
            lag: 0.0,
        })
    }

    /// Varies a training scenario, so that one network works in many.
    fn vary_scenario(&self, scenario: &Scenario, _random: &mut ChaCha8Rng) -> Scenario {
        *scenario
    }

    /// Varies a training scenario and the robots, for training through the simulator.
    fn vary_robots(&self, scenario: &Scenario, random: &mut ChaCha8Rng) -> (Self, Scenario) {
        (self.clone(), self.vary_scenario(scenario, random))
    }
}

/// World with presentation and training, as the programs need it.
///
/// A new task implements [`World`] and adds empty implementations of the other two traits.
pub trait Environment: World + Presentation + Training {}

impl<W: World + Presentation + Training> Environment for W {}

/// Training configuration of a network.
#[derive(Clone, Copy, Debug)]
pub struct TrainingConfig<T> {
    /// Task with its settings.
    pub task: T,
    /// Scale of sums over neighbors.
    pub scale: Scale,
    /// Step of online learning, in units of α_W·C, the part of the command that it changes.
    pub step: f32,
    /// Radius of the parameters' ball, in units of α_W·C.
    pub ball: f32,
    /// Step of a robot's own bias against actuator errors; 0 for none.
    pub bias_step: f32,
    /// Whether robots adapt their gain to the observed effect of commands.
    pub adapts_gain: bool,
    /// Lag of the body in seconds, over which robots predict their own state.
    pub lag: f32,
}

/// Controller without a network.
#[derive(Clone, Debug)]
pub struct Baseline<W: World> {
    /// Name in JSON and CSV.
    pub name: &'static str,
    /// Name in tables.
    pub title: &'static str,
    /// Whether short tables and pages show it.
    pub shown: bool,
    /// Creates the controller for a world at its start.
    pub make: fn(&W, &W::Task) -> SwarmOf<'static, W>,
}

/// Controller without a network, with parameters that are searched for each condition.
#[derive(Clone, Debug)]
pub struct TunedBaseline<W: World> {
    /// Name in JSON and CSV.
    pub name: &'static str,
    /// Name in tables, followed by the parameters.
    pub title: &'static str,
    /// Whether the networks' collision guard applies. Only tables with all rows show others.
    pub guarded: bool,
    /// Parameter besides the gain, if it has one.
    pub second: Option<SecondParameter>,
    /// Creates the controller with these parameters.
    pub make: fn(&TuningContext<W::Task>, Tuning) -> SwarmOf<'static, W>,
}

/// Condition that parameters are searched for.
#[derive(Clone, Copy, Debug)]
pub struct TuningContext<T> {
    /// Scenario of the episodes.
    pub scenario: Scenario,
    /// Task with its settings.
    pub task: T,
    /// Ticks per exchange.
    pub interval: u32,
    /// Whether the networks' collision guard applies.
    pub guarded: bool,
}

/// Parameter of a tuned baseline besides its gain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondParameter {
    /// Horizon of the prediction of its own commands' effect in seconds.
    Horizon,
    /// Gain of the lattice relative to that of the velocities.
    Lattice,
}

/// Searched parameters of a baseline.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Tuning {
    /// Gain in 1/s.
    pub gain: f32,
    /// The second parameter; 0 without one.
    pub second: f32,
}

/// Disc to draw besides robots.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SceneDisc {
    /// Center in meters.
    pub at: [f32; 2],
    /// Radius in meters.
    pub radius: f32,
    /// Density, 0 to 1.
    pub weight: f32,
}

/// Adjoint of one episode, from its last tick to its first.
///
/// Networks are trained through it. The *gradient* of a number is the derivative of the cost of all
/// later ticks with respect to it. Components of states are robot by robot, each in the order of
/// [`State::to_array`](wdgnn_core::task::State::to_array).
pub trait Adjoint<W: World>: Send {
    /// Adds `weight` times the derivative of the score at a tick to the gradient of the states.
    fn score(&mut self, tick: u32, states: &[StateOf<W>], weight: f32, grad: &mut [f32]);

    /// Records a tick of the flight: called for all ticks in their order, before the adjoint goes back.
    fn replay(&mut self, _task: &W::Task, _tick: u32, _states: &[StateOf<W>], _commands: &[OutputOf<W>]) {}

    /// Goes back over the world's step.
    ///
    /// Replaces the gradient of the states after a tick by that of the states before it. Adds to
    /// the gradient of the commands that took effect in the tick, `commands[their tick]`.
    fn step(&mut self, task: &W::Task, tick: u32, grad: &mut [f32], commands: &mut [Vec<f32>]);

    /// Goes back over the prediction of the states that robots use, over the `lag` of their bodies.
    ///
    /// Gets the gradient of the predicted states at a tick and adds to that of the commands before it.
    /// The default adds nothing.
    fn lead(&mut self, _task: &W::Task, _lag: f32, _tick: u32, _grad: &[f32], _commands: &mut [Vec<f32>]) {}

    /// Goes back through a robot's features.
    ///
    /// Calls `add` with the robot whose state is concerned (`None` for its own), the component, and
    /// the gradient.
    fn observe(
        &self, task: &W::Task, own: &StateOf<W>, others: &[StateOf<W>], grad: &[f32],
        add: &mut dyn FnMut(Option<usize>, usize, f32),
    );

    /// Returns which components of a command follow the network's output without clamping.
    fn passes_gradient(
        &self, task: &W::Task, own: &StateOf<W>, others: &[StateOf<W>], output: &OutputOf<W>,
        command: &OutputOf<W>,
    ) -> Vec<bool>;

    /// Returns the features without a gradient, whose weights stay zero.
    fn blocked_features(&self) -> std::ops::Range<usize> {
        0..0
    }

    /// Returns an initial controller: feature, output and gain, equal on all taps.
    fn initial_gains(&self) -> Vec<(usize, usize, f32)> {
        Vec::new()
    }
}
