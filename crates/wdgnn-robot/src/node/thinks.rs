//! The verbs of the second half of a tick.

use crate::safety::gate::Verdict;

/// What learning did in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct ConsensusReport {
    /// How many neighbors' parameters were mixed in.
    pub mixed: u8,
    /// The parameters had left the ball around the offline value and were brought back.
    pub projected: bool,
    /// The parameters were no longer finite and were reset to the offline value.
    pub reset: bool,
}

/// Whoever has heard what there is to hear in a tick and thinks about it. [`crate::control_loop::conclude`] calls the verbs in this order; they
/// are a [`Node`](crate::node::Node)'s, which says what they do.
pub trait Thinks {
    /// What it observes.
    type Features;
    /// What its network says, and what its motors are told.
    type Output: Copy;

    /// The tick that it is in.
    fn tick(&self) -> u32;

    /// How many others it knows of.
    fn around(&self) -> usize;

    /// See [`Node::settle`](crate::node::Node::settle).
    fn settle(&mut self) -> usize;

    /// See [`Node::observe`](crate::node::Node::observe).
    fn observe(&self) -> Self::Features;

    /// See [`Node::aggregate`](crate::node::Node::aggregate).
    fn aggregate(&mut self);

    /// See [`Node::infer`](crate::node::Node::infer).
    fn infer(&mut self, features: &Self::Features) -> Self::Output;

    /// See [`Node::guard`](crate::node::Node::guard).
    fn guard(&self) -> (Self::Output, Verdict);

    /// See [`Node::acted`](crate::node::Node::acted).
    fn acted(&mut self, command: Option<Self::Output>);

    /// See [`Node::learn`](crate::node::Node::learn).
    fn learn(&mut self) -> Self::Output;

    /// See [`Node::agree`](crate::node::Node::agree).
    fn agree(&mut self) -> ConsensusReport;
}
