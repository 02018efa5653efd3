//! Optional properties of a task: motion, collision avoidance, consistency checks.
//!
//! [`Task`] is the paper. A robot also predicts motion, keeps its distance, and checks what it
//! measures and receives. Each of these is a trait whose methods have neutral defaults, so that a task
//! without them runs on the same robot:
//!
//! ```
//! # use serde::{Deserialize, Serialize};
//! # use wdgnn_core::task::{State, Task};
//! use wdgnn_robot::tasks::{CollisionAvoidance, PlausibilityChecks, MotionModel};
//! # #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
//! # struct Celsius(f32);
//! # impl State for Celsius {
//! #     type Array = [f32; 1];
//! #     fn to_array(&self) -> [f32; 1] { [self.0] }
//! #     fn from_array([degrees]: [f32; 1]) -> Self { Self(degrees) }
//! # }
//! # struct Thermostat;
//! # impl Task for Thermostat {
//! #     const ID: u16 = 1000;
//! #     type State = Celsius;
//! #     type Features = [f32; 1];
//! #     type Command = [f32; 1];
//! #     fn from_constants(_: &[f32; 8]) -> Self { Self }
//! #     fn features<'a>(&self, own: &Celsius, _: impl Iterator<Item = &'a Celsius>) -> [f32; 1] { [own.0] }
//! #     fn loss_gradient<'a>(
//! #         &self, own: &Celsius, _: impl Iterator<Item = &'a Celsius>, command: &[f32; 1],
//! #     ) -> [f32; 1] { *command }
//! #     fn saturate(&self, output: &[f32; 1]) -> [f32; 1] { *output }
//! # }
//!
//! impl MotionModel for Thermostat {}
//! impl CollisionAvoidance for Thermostat {}
//! impl PlausibilityChecks for Thermostat {
//!     type Stats = ();
//! }
//! ```

use core::{fmt::Debug, ops::Range};

use wdgnn_core::{task::Task, tensor::Array as _};

use crate::safety::gate::IsolationPhase;

pub mod flocking;

/// A task that a robot can run: [`Task`] and the three optional traits.
pub trait RobotTask: MotionModel + CollisionAvoidance + PlausibilityChecks {}

impl<T: MotionModel + CollisionAvoidance + PlausibilityChecks> RobotTask for T {}

/// Motion of a robot between ticks.
pub trait MotionModel: Task {
    /// Control period: time between two ticks in seconds. The default is 0.01 s.
    fn period(&self) -> f32 {
        0.01
    }

    /// State of any robot `ticks` later, with unknown commands. The default keeps the state.
    fn predict(&self, state: &Self::State, _ticks: u32) -> Self::State {
        *state
    }

    /// State of this robot `ticks` later, if it executes `command` in all of them. The default is [`MotionModel::predict`].
    fn predict_with_command(&self, state: &Self::State, _command: &Self::Command, ticks: u32) -> Self::State {
        self.predict(state, ticks)
    }

    /// State whose changes follow commands without lag. The default is the state itself.
    ///
    /// `response` is the part of the commands that the body already executes. For a lag τ, an acceleration a and a velocity v,
    /// these are p + τ v and v + τ a: they move like a point mass without lag.
    fn lead(&self, state: &Self::State, _response: &Self::Command, _lag: f32) -> Self::State {
        *state
    }

    /// Command of a robot that does not follow its network: without neighbors, in a failsafe, or with an output that is not
    /// finite. The default is zero.
    fn fallback_command(&self, _own: &Self::State, _isolation: IsolationPhase) -> Self::Command {
        Self::Command::ZERO
    }
}

/// Distance to other robots. Commands stay within the limits of [`Task::saturate`].
pub trait CollisionAvoidance: Task {
    /// The network's raw output with the repulsion of close neighbors added. The default adds nothing.
    fn repulsion<'a>(
        &self, _own: &Self::State, _neighbors: impl Iterator<Item = &'a Self::State>, output: &Self::Command,
    ) -> Self::Command {
        *output
    }

    /// The command, changed so that this robot does its half of the avoidance. The default changes nothing.
    fn avoid_cooperative<'a>(
        &self, _own: &Self::State, _neighbors: impl Iterator<Item = &'a Self::State>, command: Self::Command,
    ) -> Self::Command {
        command
    }

    /// The command, changed so that this robot avoids all `obstacles` alone. The default changes nothing.
    fn avoid_unilateral(
        &self, _own: &Self::State, _obstacles: impl Iterator<Item = Self::State>, command: Self::Command,
    ) -> Self::Command {
        command
    }

    /// Whether the distance of two robots decreases. The default assumes that it does.
    fn is_approaching(&self, _own: &Self::State, _other: &Self::State) -> bool {
        true
    }
}

/// Checks of measured and received states against predictions.
///
/// A *track* is the filtered state of one robot. `silent_ticks` is the time since the last update of the track, `updates`
/// the number of ticks with an update so far, up to 255. The track is already predicted to the tick before this one.
pub trait PlausibilityChecks: Task {
    /// Statistics of the differences between states and their track. They outlive a track that restarts. `()` for a task
    /// that checks nothing.
    type Stats: Copy + Debug + Default + PartialEq + Send + Sync + 'static;

    /// Updates the track of a neighbor by the state that it `reported`. Returns the new track and whether the report is plausible.
    /// `own_stats` are the statistics of this robot's own sensors: the sensors of others are no better. The default accepts
    /// everything.
    fn check_neighbor(
        &self, _track: &Self::State, reported: &Self::State, _silent_ticks: u32, _updates: u8,
        _stats: &mut Self::Stats, _own_stats: &Self::Stats,
    ) -> (Self::State, bool) {
        (*reported, true)
    }

    /// Updates this robot's own track by the state that it `sensed`. Returns the new track and whether the measurement is
    /// plausible. The default accepts everything.
    fn check_own(
        &self, _track: &Self::State, sensed: &Self::State, _silent_ticks: u32, _updates: u8,
        _stats: &mut Self::Stats,
    ) -> (Self::State, bool) {
        (*sensed, true)
    }

    /// This robot's state after a plausible measurement: its track without the constant errors in `stats`. The default is the track.
    fn bias_corrected(&self, track: &Self::State, _stats: &Self::Stats) -> Self::State {
        *track
    }

    /// This robot's state after an implausible measurement, with velocities derived from positions. The default is the measurement.
    fn velocity_from_positions(&self, sensed: &Self::State, _stats: &Self::Stats) -> Self::State {
        *sensed
    }

    /// State of a neighbor with implausible reports, as an obstacle. The default is its track.
    fn obstacle_state(&self, _own: &Self::State, track: &Self::State, _stats: &Self::Stats) -> Self::State {
        *track
    }

    /// Numbers that robust clipping limits. The default limits taps only, and none of them by states.
    fn clipped(&self) -> ClippedNumbers {
        ClippedNumbers::default()
    }

    /// Compares commanded with realized commands, both averaged over 0.2 s. The default is unknown.
    fn actuator_response(
        &self, _own: &Self::State, _commanded: &Self::Command, _realized: &Self::Command,
    ) -> ActuatorResponse {
        ActuatorResponse::Unknown
    }
}

/// Numbers in messages that robust clipping limits to those of the other neighbors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClippedNumbers {
    /// Components of a state.
    pub state: Range<usize>,
    /// Smallest spread of these components.
    pub min_spread: f32,
    /// Features that are means of differences between these components.
    ///
    /// An honest tap of such a feature is no larger than a few spreads of the components.
    pub features: Range<usize>,
}

/// Response of a robot's actuators to its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActuatorResponse {
    /// The commands were too small, or the response is between following and not following.
    Unknown,
    /// The actuators follow.
    Follows,
    /// The actuators do something else.
    Deviates,
    /// The robot is at rest, so its response cannot be measured.
    AtRest,
}
