//! What passes between a world and whoever flies its robots.

use std::{fmt::Debug, ops::Range};

use wdgnn_core::{task::Task, tensor::Numbers as _};
use wdgnn_robot::onboard::Onboard;

use crate::{counters::Counters, error::Result, links::Links};

/// A task whose robots are simulated, on any number of threads.
pub trait SimTask: Onboard<State: Send + Sync, Output: Send + Sync> + Copy + Debug + Send + Sync {
    /// A command to do nothing.
    fn nothing() -> Self::Output {
        Self::Output::ZERO
    }
}

impl<T: Onboard<State: Send + Sync, Output: Send + Sync> + Copy + Debug + Send + Sync> SimTask for T {}

/// Which numbers of a state are what: sensors err and liars lie about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateLayout {
    /// Where a robot is, in metres.
    pub position: Range<usize>,
    /// How it moves, in m/s; empty where states say nothing of it.
    pub velocity: Range<usize>,
}

/// What a swarm gets to know at a tick.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a, S> {
    /// The tick's number.
    pub tick: u32,
    /// Every robot, as it senses itself.
    pub states: &'a [S],
    /// Where everybody is, in metres.
    pub places: &'a [[f32; 3]],
    /// Who hears whom.
    pub links: &'a Links,
}

/// Whatever flies a swarm: robots of any kind, or somebody who knows everything.
pub trait Swarm<T: Task>: Send {
    /// One tick of everybody: the command of every robot. Who is gone does nothing.
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result;

    /// What is to be seen of a robot after a tick; nothing of one that is gone, or of whoever has no robots.
    fn robot(&self, _robot: usize) -> Option<ParamView<'_>> {
        None
    }

    /// The inside of a robot after a tick, where that can be seen: of robots in this process.
    fn internals(&self, _robot: usize) -> Option<RobotInternals<'_, T>> {
        None
    }

    /// Whether robots' parameters change in flight.
    fn learns(&self) -> bool {
        false
    }

    /// Whether a robot's parameters count: not those of liars.
    fn counts(&self, _robot: usize) -> bool {
        true
    }

    /// Whether a robot is in the sky in the last tick: who was taken out of it, or is still to come, is in nobody's way.
    fn is_present(&self, _robot: usize) -> bool {
        true
    }

    /// Whether one of two robots could have kept out of the other's way in the last tick: it can steer, and had word of it in time.
    fn avoidable(&self, _one: usize, _other: usize) -> bool {
        true
    }

    /// The frames of the last tick, robot by robot, where there are any.
    fn frames(&self) -> &[Vec<Frame>] {
        &[]
    }

    /// Links of the last tick over which something was said and nothing of it heard: who spoke, and who did not hear it.
    fn missed_links(&self, _links: &Links) -> Vec<[u32; 2]> {
        Vec::new()
    }

    /// What was counted on the air, where there is one.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Who was lost without being asked to, each with a sentence that says how, since this was last asked.
    fn lost(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Ends all robots and returns their logs, where they keep any.
    fn logs(&mut self) -> Vec<Vec<String>> {
        Vec::new()
    }
}

/// The gradient of what is bad about a whole swarm, robot by robot: task, states, what networks said, commands, and whether gradients
/// pass the clamp.
pub type CentralRule<T> = fn(
    &T,
    &[<T as Task>::State],
    &[<T as Task>::Output],
    &[<T as Task>::Output],
    bool,
) -> Vec<<T as Task>::Output>;

/// A frame on the air. Everybody in range hears the same bytes.
pub type Frame = std::sync::Arc<[u8]>;

/// A look at a robot, or at what it tells about itself.
#[derive(Clone, Copy, Debug)]
pub struct ParamView<'a> {
    /// The wide parameters.
    pub wide: &'a [f32],
    /// The wide parameters as they were trained.
    pub offline: &'a [f32],
}

/// The inside of a robot in this process.
#[derive(Clone, Debug)]
pub struct RobotInternals<'a, T: Task> {
    /// What it took its state to be.
    pub state: &'a T::State,
    /// What its network said, before it was limited.
    pub output: &'a T::Output,
    /// The taps of its first chain.
    pub taps: &'a [f32],
    /// Whom it counted, by number, and at which of its ticks that one was heard last.
    pub counted: Vec<(u32, u32, &'a T::State)>,
    /// Whether this was a tick in which taps go on.
    pub exchanged: bool,
}
