//! Swarms of robots: ways to fly the same tick.
//!
//! * [`typed`]: nodes in this process that hand each other their beacons, the fast path.
//! * [`packed`]: the same for nodes that forget what neighbours said, in an eighth of the memory.
//! * [`native`]: nodes in this process that speak in bytes, with ports made of memory.
//!
//! The latter, and robots on emulated microcontrollers, which are not of this crate, are [`Robots`] that talk through an air, in
//! which anything may go wrong ([`on_air`]). All of them are a [`Swarm`](crate::scene::Swarm). [`networks`] makes them from
//! weight files; [`digest`] watches them.

pub mod contact_log;
pub mod digest;
pub mod faulty_hardware;
pub mod hybrid;
pub mod monitor;
pub mod native;
pub mod networks;
pub mod outcome;
pub mod packed;
pub mod radio_swarm;
pub mod typed;

use wdgnn_core::task::{NodeId, Task};
use wdgnn_robot::safety::gate::Verdict;

pub use self::outcome::TickOutcome;
use crate::{
    error::Result,
    scene::{Frame, RobotInternals},
};

/// Robots that speak in frames. A robot that is gone says nothing and does nothing; the others fly on.
pub trait Robots<T: Task>: Send {
    /// Everybody for whom a tick begins senses and speaks: the frames of every robot, none of those that are gone or do not speak in
    /// this tick.
    fn speak(&mut self, inputs: &[Option<TickInput<T::State>>]) -> Vec<Vec<Frame>>;

    /// Everybody for whom a tick began hears, acts and learns: `heard` holds the frames that reach each robot, in order, and nothing
    /// for the others.
    fn hear(&mut self, heard: &[Option<Vec<Frame>>]) -> Vec<Option<TickOutcome>>;

    /// Takes a robot out of the sky.
    fn kill(&mut self, robot: usize);

    /// Switches a robot off and on again. It comes back with what it has stored.
    fn reboot(&mut self, robot: usize) -> Result;

    /// Takes a robot's power while half of what it stores is written, and gives it back.
    fn brown_out(&mut self, robot: usize) -> Result;

    /// Who was lost without being asked to, each with a sentence that says how, since this was last asked.
    fn lost(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Ends everybody and returns their logs, where they keep any.
    fn logs(&mut self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// What a robot thinks of others, where that can be seen.
    fn trust_snapshot(&self, _robot: usize) -> Option<TrustSnapshot> {
        None
    }

    /// The inside of a robot, where that can be seen.
    fn internals(&self, _robot: usize) -> Option<RobotInternals<'_, T>> {
        None
    }
}

/// How a robot's tick begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickInput<S> {
    /// What its clock shows.
    pub tick: u32,
    /// What it senses; nothing where its sensor fails.
    pub sensed: Option<S>,
}

impl<S> TickInput<S> {
    /// At a tick, with a sensor that works.
    pub const fn new(tick: u32, state: S) -> Self {
        Self { tick, sensed: Some(state) }
    }
}

/// What is left of a record of which half was written when the power went: the rest is erased.
pub fn torn(record: &[u8]) -> Vec<u8> {
    let written = record.len() / 2;
    record.iter().enumerate().map(|(place, byte)| if place < written { *byte } else { 0xff }).collect()
}

/// What a robot thinks of others.
#[derive(Clone, Debug)]
pub struct TrustSnapshot {
    /// What its safety gate said.
    pub verdict: Verdict,
    /// Which of the swarm's keys it uses.
    pub epoch: u8,
    /// Everybody in its table.
    pub known: Vec<NeighborStatus>,
}

/// Somebody in a robot's table.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct NeighborStatus {
    /// Who.
    pub sender: NodeId,
    /// Whether it was heard in this tick.
    pub heard_now: bool,
    /// Whether its words are held against what it said before.
    pub followed: bool,
    /// Whether its last words bore that out.
    pub believed: bool,
    /// Whether it counts.
    pub counted: bool,
    /// Whether it says that it is where forged frames come from.
    pub nowhere: bool,
}
