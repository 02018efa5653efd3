//! Worlds: what robots do their task in.
//!
//! A [`Task`] says what one robot observes and does; a [`World`] what comes of it: how a swarm starts, how robots move, who hears
//! whom, how good all that is, and who does it better, if anybody does. Everything else in this crate works for any pair of them:
//! training, flights, faults, pages, emulated robots. [`flock`] is flocking in the plane and in space, [`coverage`] robots that
//! spread over an area; `examples/rendezvous` is one that was written outside.

pub mod condition;
pub mod coverage;
pub mod flock;

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;
use wdgnn_core::{filter::scale::Scale, task::Task};

pub use condition::Condition;

use crate::{
    error::{Error, Result},
    links::Links,
    model::ModelFile,
    profiles::Profile,
    recipe::RecipeName,
    scene::{Centre, Flown, Layout, Swarm},
    shapes::Shapes,
};

/// A state of a world's robots.
pub type StateOf<W> = <<W as World>::Task as Task>::State;
/// A command to a world's robots.
pub type OutputOf<W> = <<W as World>::Task as Task>::Output;
/// Somebody who flies a world's robots.
pub type SwarmOf<'a, W> = Box<dyn Swarm<<W as World>::Task> + 'a>;

/// What robots do their task in. A value of it is one flight's: whatever it draws at the start, it keeps.
pub trait World: Clone + Debug + Default + Send + Sync + 'static {
    /// What robots do.
    type Task: Flown;
    /// The networks that are compiled in.
    type Shapes: Shapes<Self::Task>;

    /// The name on the command line and in file names.
    const NAME: &'static str;
    /// What the score measures, with its unit. Less is better.
    const SCORE: &'static str;
    /// What robots do, in a few words for people.
    const TITLE: &'static str;
    /// The cargo package of this workspace whose image robots of this task run.
    const PACKAGE: &'static str = "wdgnn-firmware";

    /// What the numbers of a state are.
    fn layout() -> Layout;

    /// The circumstances of a flight unless somebody says otherwise.
    fn condition() -> Condition;

    /// The task's settings unless a weight file says otherwise.
    fn task() -> Self::Task;

    /// The network that comes with it.
    fn model(_profile: Profile) -> Result<ModelFile> {
        Err(Error::usage(format!(
            "no network comes with this task: train one with `train --task {}`, and give it with --model",
            Self::NAME
        )))
    }

    /// Another network of the same task, that robots of another swarm might fly.
    fn other_model(_profile: Profile) -> Result<ModelFile> {
        Err(Error::usage(format!(
            "there is no other model of --task {}: leave the fault mixed-models out",
            Self::NAME
        )))
    }

    /// The start of a flight: every robot's state.
    fn begin(&mut self, condition: &Condition, random: &mut ChaCha8Rng) -> Result<Vec<StateOf<Self>>>;

    /// Where a robot is, in metres; in the plane the third number is zero.
    fn place(state: &StateOf<Self>) -> [f32; 3];

    /// Who hears whom, where everybody is at a place: in place of what `links` were.
    fn links(&mut self, _tick: u32, places: &[[f32; 3]], condition: &Condition, links: &mut Links) {
        links.find(places, condition.radius);
    }

    /// What robots sense of their own states: in place of what `sensed` held.
    fn sense(&mut self, _tick: u32, states: &[StateOf<Self>], sensed: &mut Vec<StateOf<Self>>) {
        states.clone_into(sensed);
    }

    /// Moves everybody for one tick.
    fn step(
        &mut self,
        task: &Self::Task,
        tick: u32,
        states: &mut [StateOf<Self>],
        commands: &[OutputOf<Self>],
    );

    /// How bad things are at a tick: what training makes less of.
    fn score(&self, tick: u32, states: &[StateOf<Self>]) -> f64;

    /// Somebody who does it well and knows more than robots do: whom networks can imitate.
    fn expert(&self, _task: &Self::Task) -> Option<SwarmOf<'static, Self>> {
        None
    }

    /// Has the expert care for the task alone and not for keeping apart, where that is a choice. Returns whether it is.
    fn leave_out_potential(&mut self) -> bool {
        false
    }

    /// Whom networks are held against.
    fn rivals() -> Vec<Rival<Self>> {
        Vec::new()
    }

    /// How a centre that sees the whole swarm would have its robots learn in flight.
    fn centre() -> Option<Centre<Self::Task>> {
        None
    }

    /// The derivative of a flight, for training through the simulator.
    fn derivative(&self) -> Option<Box<dyn Derivative<Self>>> {
        None
    }

    /// What a network is trained with, by a recipe; none where it makes no sense.
    fn settings(recipe: RecipeName) -> Option<Settings<Self::Task>> {
        (recipe != RecipeName::Paper).then(|| Settings {
            task: Self::task(),
            scale: Scale::Closed,
            step: 1.0,
            ball: 1.0,
            personal_step: 0.0,
            heeds: false,
        })
    }

    /// A condition to train under: as it is told, unless the world knows how to vary it so that one network flies under many.
    fn vary(&self, condition: &Condition, _random: &mut ChaCha8Rng) -> Condition {
        *condition
    }

    /// The same for training through the simulator, where robots may differ too.
    fn mix(&self, condition: &Condition, random: &mut ChaCha8Rng) -> (Self, Condition) {
        (self.clone(), self.vary(condition, random))
    }

    /// What there is to see besides robots.
    fn scenery(&self, _tick: u32) -> Vec<Spot> {
        Vec::new()
    }
}

/// What a network is trained with.
#[derive(Clone, Copy, Debug)]
pub struct Settings<T> {
    /// The task's settings.
    pub task: T,
    /// How sums over neighbours are scaled.
    pub scale: Scale,
    /// The step of learning in flight, in the measure of α_W·C, the part of the command that it moves.
    pub step: f32,
    /// How far parameters may go, in the same measure.
    pub ball: f32,
    /// The step of a robot's own bias, which makes up for what its motors do otherwise than they are told; 0 for none.
    pub personal_step: f32,
    /// Whether robots heed what came of their commands.
    pub heeds: bool,
}

/// A controller without a network.
#[derive(Clone, Debug)]
pub struct Rival<W: World> {
    /// The name in JSON and CSV.
    pub name: &'static str,
    /// The name in tables.
    pub title: &'static str,
    /// Whether short tables and pages show it.
    pub shown: bool,
    /// Makes one for a world at its start.
    pub make: fn(&W, &W::Task) -> SwarmOf<'static, W>,
}

/// Something to see that is not a robot: a disc.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spot {
    /// Where, in metres.
    pub at: [f32; 2],
    /// Its radius in metres.
    pub radius: f32,
    /// How much there is of it, 0 to 1.
    pub weight: f32,
}

/// The derivative of one flight, from its last tick to its first: what a world has to say so that networks can be trained through it.
///
/// What is *owed* to a number is the derivative of everything that came after with respect to it. Numbers of states are robot by
/// robot, each robot's as [`State::numbers`](wdgnn_core::task::State::numbers) has them.
pub trait Derivative<W: World>: Send {
    /// Adds `weight` times the derivative of the score at a tick to what is owed to the states there.
    fn score(&mut self, tick: u32, states: &[StateOf<W>], weight: f32, owed: &mut [f32]);

    /// Back over the world's step: what is owed to the states after a tick becomes what is owed to those before it, and is added to
    /// what is owed to the commands that took effect in it, `commands[their tick]`.
    fn step(&mut self, task: &W::Task, tick: u32, owed: &mut [f32], commands: &mut [Vec<f32>]);

    /// Back through what a robot observes: calls `add` with whose state (none for its own), which number of it, and what is owed to it.
    fn observe(
        &self,
        task: &W::Task,
        own: &StateOf<W>,
        others: &[StateOf<W>],
        owed: &[f32],
        add: &mut dyn FnMut(Option<usize>, usize, f32),
    );

    /// Which numbers of a command go with the network's output: not those that are clamped.
    fn passes(
        &self,
        task: &W::Task,
        own: &StateOf<W>,
        others: &[StateOf<W>],
        output: &OutputOf<W>,
        command: &OutputOf<W>,
    ) -> Vec<bool>;

    /// Features that no derivative goes through. Their weights stay zero: what could be learned about them is an accident.
    fn unseen(&self) -> std::ops::Range<usize> {
        0..0
    }

    /// A controller to start from: which feature drives which output, and how strongly, on every tap alike.
    fn guess(&self) -> Vec<(usize, usize, f32)> {
        Vec::new()
    }
}
