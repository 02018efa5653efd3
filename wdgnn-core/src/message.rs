//! The message that a robot broadcasts once per exchange.

use crate::{
    filter::DelayLines,
    task::{NodeId, State},
    tensor::Tensor,
};

/// One robot's broadcast: its state, its taps and its wide parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Message<S, C, W> {
    /// Address of the sender.
    pub sender: NodeId,
    /// Number of times the sender has started.
    pub boot: u32,
    /// Number of the sender's frame: at least its tick times the frames per exchange.
    pub sequence: u32,
    /// Number of neighbors that the sender has.
    pub degree: u8,
    /// The sender's state in this tick.
    pub state: S,
    /// The sender's taps as of the exchange before.
    pub chains: C,
    /// The sender's wide parameters.
    pub wide: W,
}

impl<S: State, C: DelayLines, W: Tensor> Message<S, C, W> {
    /// A message without content from a robot in `state`.
    #[must_use]
    pub fn silent(state: S) -> Self {
        Self { sender: 0, boot: 0, sequence: 0, degree: 0, state, chains: C::ZERO, wide: W::ZERO }
    }
}
