//! Message that a robot broadcasts once per exchange.

use serde::{Deserialize, Serialize};

use crate::{
    filter::DelayLines,
    model::Model,
    task::{NodeId, State, Task},
    tensor::Tensor,
};

/// Message of an agent with model `M` and task `T`.
pub type AgentMessage<M, T> = Message<<T as Task>::State, <M as Model>::Taps, <M as Model>::Wide>;

/// One robot's broadcast: its state, its taps and its wide parameters.
///
/// ```
/// use wdgnn_core::{
///     filter::{DelayLine, LayerTaps},
///     message::Message,
///     tasks::flocking::Motion,
///     tensor::Filter,
/// };
///
/// type Small = Message<Motion<2>, LayerTaps<2, 1, ()>, Filter<2, 1, 2>>;
/// let taps = LayerTaps { line: DelayLine([[0.5], [7.0]]), above: () };
/// let message = Small { sender: 3, tick: 200, degree: 2, state: Motion::REST, taps, wide: Filter([[[1.0; 2]]; 2]) };
///
/// let mut buffer = [0; 64];
/// let bytes = postcard::to_slice(&message, &mut buffer)?;
/// let received: Small = postcard::from_bytes(bytes)?;
/// assert_eq!(received.wide, message.wide);
/// assert_eq!(received.taps.line, DelayLine([[0.5], [0.0]]), "the last tap is not transmitted");
/// # Ok::<(), postcard::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message<S, L, W> {
    /// Address of the sender.
    pub sender: NodeId,
    /// Control tick of the sender.
    pub tick: u32,
    /// Number of neighbors of the sender.
    pub degree: u8,
    /// State of the sender in this tick.
    pub state: S,
    /// Taps of the sender as of its previous exchange.
    pub taps: L,
    /// Wide parameters of the sender.
    pub wide: W,
}

impl<S: State, L: DelayLines, W: Tensor> Message<S, L, W> {
    /// Message of a robot in `state` with zero taps and parameters.
    pub fn empty(state: S) -> Self {
        Self { sender: 0, tick: 0, degree: 0, state, taps: L::ZERO, wide: W::ZERO }
    }

    /// Whether every number is admissible ([`crate::math::is_admissible`]).
    ///
    /// Decoders accept NaN. Check this before a message from outside enters the arithmetic.
    pub fn is_admissible(&self) -> bool {
        self.state.is_admissible() && self.taps.is_admissible() && self.wide.is_admissible()
    }
}
