//! The derivative of a flight: what a world has to say so that networks can be trained through it.
//!
//! A flight is differentiated backwards: what is *owed* to a number is the derivative of everything that came after with respect to
//! it. Numbers of states are robot by robot, each robot's as [`State::numbers`](wdgnn_core::task::State::numbers) has them.

use super::{OutputOf, StateOf, World};

/// The derivative of one flight, from its last tick to its first.
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
