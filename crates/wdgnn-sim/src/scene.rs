//! Interface between a world and a swarm controller.

use std::{fmt::Debug, ops::Range};

use wdgnn_core::{task::Task, tensor::Array as _};
use wdgnn_robot::onboard::OnboardTask;

use crate::{counters::Counters, error::Result, links::Links};

/// Task that can be simulated on several threads.
pub trait SimTask:
    OnboardTask<State: Send + Sync, Command: Send + Sync> + Copy + Debug + Send + Sync
{
    /// Returns the zero command.
    fn zero_command() -> Self::Command {
        Self::Command::ZERO
    }
}

impl<T: OnboardTask<State: Send + Sync, Command: Send + Sync> + Copy + Debug + Send + Sync> SimTask for T {}

/// Ranges of position and velocity in a state's components.
///
/// Sensor errors and liars change these components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateLayout {
    /// Position of a robot in meters.
    pub position: Range<usize>,
    /// Velocity of a robot in m/s; empty for states without velocity.
    pub velocity: Range<usize>,
}

/// Inputs of a swarm at a tick.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a, S> {
    /// Tick number.
    pub tick: u32,
    /// Measurement state of each robot.
    pub states: &'a [S],
    /// Position of each robot in meters.
    pub places: &'a [[f32; 3]],
    /// Robots in range of each other.
    pub links: &'a Links,
}

/// Controller of a swarm: robots of any kind, or a baseline.
pub trait Swarm<T: Task>: Send {
    /// Runs one tick and returns each robot's command; zero for absent robots.
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result;

    /// Returns a robot's parameters after a tick; `None` for absent robots and baselines.
    fn robot(&self, _robot: usize) -> Option<ParamView<'_>> {
        None
    }

    /// Returns a robot's internal values after a tick, for robots in this process.
    fn internals(&self, _robot: usize) -> Option<RobotInternals<'_, T>> {
        None
    }

    /// Returns whether parameters change online.
    fn learns(&self) -> bool {
        false
    }

    /// Returns whether a robot's parameters count for the disagreement; liars' do not.
    fn counts(&self, _robot: usize) -> bool {
        true
    }

    /// Returns whether a robot is present in the last tick, neither removed nor yet to join.
    fn is_present(&self, _robot: usize) -> bool {
        true
    }

    /// Returns whether one of two robots could have avoided the other in the last tick.
    ///
    /// It must be able to steer and must have received a frame of the other in time.
    fn avoidable(&self, _one: usize, _other: usize) -> bool {
        true
    }

    /// Returns the frames that each robot sent in the last tick.
    fn frames(&self) -> &[Vec<Frame>] {
        &[]
    }

    /// Returns links of the last tick with sent frames of which none was received.
    ///
    /// Each is a sender and a receiver.
    fn missed_links(&self, _links: &Links) -> Vec<[u32; 2]> {
        Vec::new()
    }

    /// Returns the counters of the radio medium, if there is one.
    fn counters(&self) -> Option<Counters> {
        None
    }

    /// Returns descriptions of robots lost unintentionally since the last call.
    fn lost(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Stops all robots and returns their logs, if any.
    fn logs(&mut self) -> Vec<Vec<String>> {
        Vec::new()
    }
}

/// Centralized gradient of a swarm's cost with respect to each robot's output.
///
/// Arguments: task, states, network outputs, commands, and whether gradients pass the clamp.
pub type CentralRule<T> = fn(
    &T,
    &[<T as Task>::State],
    &[<T as Task>::Command],
    &[<T as Task>::Command],
    bool,
) -> Vec<<T as Task>::Command>;

/// Frame on the medium. All receivers share the bytes.
pub type Frame = std::sync::Arc<[u8]>;

/// Parameters of a robot.
#[derive(Clone, Copy, Debug)]
pub struct ParamView<'a> {
    /// Current wide parameters.
    pub wide: &'a [f32],
    /// Wide parameters of the weight file.
    pub offline: &'a [f32],
}

/// Internal values of a robot in this process.
#[derive(Clone, Debug)]
pub struct RobotInternals<'a, T: Task> {
    /// State that the robot used.
    pub state: &'a T::State,
    /// Output of the network before saturation.
    pub output: &'a T::Command,
    /// Taps of the first delay line.
    pub taps: &'a [f32],
    /// Trusted neighbors: robot number, tick of the last frame, and state.
    pub neighbors: Vec<(u32, u32, &'a T::State)>,
    /// Whether taps shifted in this tick.
    pub has_exchanged: bool,
}
