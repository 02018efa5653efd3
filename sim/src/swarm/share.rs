//! What a worker asks of a swarm of which it flies a part.

use wdgnn_core::{passage::Passage, task::Task};

use crate::{
    error::Result,
    scene::{Scene, Swarm},
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
