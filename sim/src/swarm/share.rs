//! What a worker asks of a swarm of which it flies a part.

use std::ops::Range;

use wdgnn_core::{passage::Passage, task::Task};

use crate::{
    error::Result,
    scene::{Scene, Swarm},
};

/// What a worker knows of a tick: its own robots and those near them, or everybody. Rows of the scene are those of `numbers`.
#[derive(Clone, Copy, Debug)]
pub struct Near<'a, S> {
    /// Those who are known. Who hears whom is told when everybody listens only.
    pub scene: Scene<'a, S>,
    /// Their numbers in the whole swarm, ascending.
    pub numbers: &'a [u32],
    /// Who of them is flown here.
    pub mine: &'a [bool],
}

/// A swarm of which some robots are flown here and others by other workers. Robots are told by their numbers in the whole.
pub trait Share<T: Task>: Swarm<T> {
    /// Whether what happens to a robot depends on robots wherever they are, and not only on those around it.
    fn sees_everybody(&self) -> bool;

    /// Robots from this number on stay with the worker that they began with, wherever they fly: the one that [`Cut`](crate::shared::cut::Cut) says.
    fn settled(&self) -> usize {
        usize::MAX
    }

    /// From now on these robots are flown here and no others, in ascending order, from their start.
    fn take(&mut self, own: &[(u32, T::State)]);

    /// The first half of a tick: everybody here speaks.
    ///
    /// # Errors
    /// What ends the flight.
    fn speak(&mut self, near: &Near<'_, T::State>) -> Result;

    /// Passes what a robot said in this tick.
    fn words(&mut self, robot: usize, passage: &mut Passage<'_>);

    /// The second half: everybody here hears, acts and learns. A command for everybody who is known; those of others mean nothing.
    ///
    /// # Errors
    /// What ends the flight.
    fn listen(&mut self, near: &Near<'_, T::State>, commands: &mut Vec<T::Output>) -> Result;

    /// The wide parameters of a robot that is flown here, by its row when everybody listened last.
    fn wide(&self, row: usize) -> Option<&[f32]>;

    /// Passes a robot with everything that is its own.
    fn pass(&mut self, robot: usize, passage: &mut Passage<'_>);

    /// A robot is here from now on, or no longer.
    fn give(&mut self, robot: usize, here: bool);

    /// Passes what is the same at every worker, and what this one counted.
    fn pass_common(&mut self, passage: &mut Passage<'_>);

    /// How many wide parameters a robot has.
    fn wide_numbers(&self) -> usize;

    /// How many of these robots, whoever flies them, do anything that a digest looks at.
    fn present(&self, robots: Range<usize>) -> u64;
}
