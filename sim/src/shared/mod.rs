//! One swarm, flown by several workers: processes on one machine or many, each with a strip of space and the robots in it.
//!
//! ```text
//! every tick:  own robots speak → one parcel to every worker nearby: states and words of robots near its strip, and whole robots that have
//!              flown into it → own robots hear, act, learn, and move
//! ```
//!
//! Every bit is that of one process: robots are the same code, neighbours come in the order of their numbers, what a robot
//! draws by lot belongs to it and goes with it, and what belongs to nobody is drawn everywhere alike. The digest is linear
//! ([`checksum`]), so that eight bytes of each worker are put together at the end.
//!
//! [`cut`] says whose robot is where, [`board`] where parcels wait for each other, [`worker`] flies, and [`snapshot`]s are what everybody goes back
//! to when a worker is lost.

pub mod board;
pub mod checksum;
pub mod cut;
pub mod parcel;
pub mod snapshot;
pub mod worker;

#[cfg(test)]
mod flights;

use wdgnn_core::{passage::Passage, task::Task};

use crate::{
    error::Result,
    scene::{Scene, Swarm},
};

pub use self::{
    board::{Board, Lost, Post},
    worker::{Account, Flown, Worker},
};

/// A swarm of which some robots are flown here and others by other workers. All of them are numbered as in the whole.
pub trait Share<T: Task>: Swarm<T> {
    /// Whether what happens to a robot depends on robots wherever they are, and not only on those around it.
    fn sees_everybody(&self) -> bool;

    /// From now on only these robots are flown here.
    fn take(&mut self, mine: &[bool]);

    /// The first half of a tick: everybody here speaks.
    ///
    /// # Errors
    /// What ends the flight.
    fn speak(&mut self, scene: &Scene<'_, T::State>) -> Result;

    /// Passes what a robot said in this tick.
    fn words(&mut self, robot: usize, passage: &mut Passage<'_>);

    /// The second half: everybody here hears, acts and learns. Commands of others mean nothing.
    ///
    /// # Errors
    /// What ends the flight.
    fn listen(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result;

    /// Passes a robot with everything that is its own.
    fn pass(&mut self, robot: usize, passage: &mut Passage<'_>);

    /// A robot is here from now on, or no longer.
    fn give(&mut self, robot: usize, here: bool);

    /// Passes what is the same at every worker, and what this one counted.
    fn pass_common(&mut self, passage: &mut Passage<'_>);

    /// How many wide parameters a robot has.
    fn wide_numbers(&self) -> usize;

    /// Whether a robot, whoever flies it, does anything that a digest looks at.
    fn present(&self, robot: usize) -> bool;
}
