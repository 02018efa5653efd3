//! The verbs of the second half of a tick.

use super::{Agreement, Node};
use crate::{net::wide::Model, safety::Verdict, tasks::task::Task, wire::codec::Codec};

/// Whoever has heard what there is to hear in a tick and thinks about it. [`crate::tick::conclude`] calls the verbs in this order; they
/// are a [`Node`]'s, which says what they do.
pub trait Thinks {
    /// What it observes.
    type Features;
    /// What its network says, and what its motors are told.
    type Output: Copy;

    /// The tick that it is in.
    fn tick(&self) -> u32;

    /// How many others it knows of.
    fn around(&self) -> usize;

    /// See [`Node::settle`].
    fn settle(&mut self) -> usize;

    /// See [`Node::observe`].
    fn observe(&self) -> Self::Features;

    /// See [`Node::aggregate`].
    fn aggregate(&mut self);

    /// See [`Node::infer`].
    fn infer(&mut self, features: &Self::Features) -> Self::Output;

    /// See [`Node::guard`].
    fn guard(&self) -> (Self::Output, Verdict);

    /// See [`Node::acted`].
    fn acted(&mut self, command: Option<Self::Output>);

    /// See [`Node::learn`].
    fn learn(&mut self) -> Self::Output;

    /// See [`Node::agree`].
    fn agree(&mut self) -> Agreement;
}

impl<M, T, const N: usize, P> Thinks for Node<M, T, N, P>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
    P: Codec,
{
    type Features = M::Features;
    type Output = M::Output;

    fn tick(&self) -> u32 {
        self.memory.tick
    }

    fn around(&self) -> usize {
        self.neighbours.iter().len()
    }

    fn settle(&mut self) -> usize {
        Self::settle(self)
    }

    fn observe(&self) -> M::Features {
        Self::observe(self)
    }

    fn aggregate(&mut self) {
        Self::aggregate(self);
    }

    fn infer(&mut self, features: &M::Features) -> M::Output {
        Self::infer(self, features)
    }

    fn guard(&self) -> (M::Output, Verdict) {
        Self::guard(self)
    }

    fn acted(&mut self, command: Option<M::Output>) {
        Self::acted(self, command);
    }

    fn learn(&mut self) -> M::Output {
        Self::learn(self)
    }

    fn agree(&mut self) -> Agreement {
        Self::agree(self)
    }
}
