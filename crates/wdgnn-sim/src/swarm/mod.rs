//! Swarms of robots, by the way in which robots find the messages of their neighbors.
//!
//! * [`in_memory`]: messages stay in memory, without faults; the fast path.
//! * [`radio_swarm`]: frames cross a radio medium with faults. Its [`Robots`] are in this process
//!   ([`native`]) or emulated microcontrollers outside this crate.
//!
//! [`networks`] creates swarms from weight files; [`digest`] observes them.

pub mod contact_log;
pub mod digest;
pub mod faulty_hardware;
pub mod in_memory;
pub mod monitor;
pub mod native;
pub mod networks;
pub mod outcome;
pub mod radio_swarm;

use wdgnn_core::task::{NodeId, Task};
use wdgnn_robot::safety::gate::Verdict;

pub use self::outcome::TickOutcome;
use crate::{
    error::Result,
    scene::{Frame, RobotInternals},
};

/// Robots that exchange frames. Absent robots send nothing and do not move.
pub trait Robots<T: Task>: Send {
    /// Starts a tick: the robots with an input sense and send.
    ///
    /// Returns each robot's frames; empty for robots that are absent or do not send in this tick.
    fn begin_tick(&mut self, inputs: &[Option<TickInput<T::State>>]) -> Vec<Vec<Frame>>;

    /// Ends a tick: the robots with an entry receive, act and learn.
    ///
    /// `heard` holds the frames that reach each robot, in order.
    fn end_tick(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<TickOutcome>>;

    /// Removes a robot.
    fn kill(&mut self, robot: usize);

    /// Restarts a robot. It keeps its stored record.
    fn reboot(&mut self, robot: usize) -> Result;

    /// Restarts a robot after a power failure in the middle of a write.
    fn brown_out(&mut self, robot: usize) -> Result;

    /// Returns descriptions of robots lost unintentionally since the last call.
    fn lost(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Stops all robots and returns their logs, if any.
    fn logs(&mut self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Returns a robot's trust in its neighbors, for robots in this process.
    fn trust_snapshot(&self, _robot: usize) -> Option<TrustSnapshot> {
        None
    }

    /// Returns a robot's internal values, for robots in this process.
    fn internals(&self, _robot: usize) -> Option<RobotInternals<'_, T>> {
        None
    }
}

/// Inputs of a robot at the start of its tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickInput<S> {
    /// Tick of the robot's clock.
    pub tick: u32,
    /// Sensed state; `None` if the sensor failed.
    pub sensed: Option<S>,
}

impl<S> TickInput<S> {
    /// Creates the inputs of a robot with a working sensor.
    pub const fn new(tick: u32, state: S) -> Self {
        Self { tick, sensed: Some(state) }
    }
}

/// Returns a record whose write was interrupted halfway; the rest is erased flash.
pub fn torn(record: &[u8]) -> Vec<u8> {
    let written = record.len() / 2;
    record.iter().enumerate().map(|(place, byte)| if place < written { *byte } else { 0xff }).collect()
}

/// Trust of a robot in its neighbors.
#[derive(Clone, Debug)]
pub struct TrustSnapshot {
    /// Verdict of the safety gate.
    pub verdict: Verdict,
    /// Epoch of the group key in use.
    pub epoch: u8,
    /// Neighbors in the robot's table.
    pub neighbors: Vec<NeighborStatus>,
}

/// Status of a neighbor in a robot's table.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent flag")]
pub struct NeighborStatus {
    /// Address of the neighbor.
    pub sender: NodeId,
    /// Whether a frame of it arrived in this tick.
    pub heard_now: bool,
    /// Whether its states are compared with predictions.
    pub is_checked: bool,
    /// Whether its last state matched the prediction.
    pub is_plausible: bool,
    /// Whether the robot uses its data.
    pub is_trusted: bool,
    /// Whether its state is that of a forged frame.
    pub is_forged: bool,
}
