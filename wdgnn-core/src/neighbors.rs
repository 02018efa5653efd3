//! Neighbors of one robot in one tick.
//!
//! [`Neighbors`] borrows messages wherever they are: in a robot's table or in a simulator's array.
//! [`Inbox`] is the simplest owner of messages.

use heapless::Vec;

use crate::{
    message::AgentMessage,
    model::Model,
    online::consensus::NeighborParams,
    task::Task,
    tensor::{Tensor as _, param_range::ParamRange},
};

/// Default capacity for neighbors.
///
/// Fifty robots on rings with a radio range of 2 m have nine neighbors on average.
pub const MAX_NEIGHBORS: usize = 16;

/// One neighbor and what this agent uses of it.
#[derive(Debug)]
pub struct Neighbor<'a, M: Model, T: Task> {
    /// Its latest message.
    pub message: &'a AgentMessage<M, T>,
    /// Whether it runs the same weight file. Taps and parameters of other networks are ignored.
    pub shares_model: bool,
    /// Range of its wide parameters that arrived in this tick; `None` if no message arrived.
    pub fresh: Option<ParamRange>,
}

/// Neighbors of one robot in one tick, in ascending address.
#[derive(Debug)]
pub struct Neighbors<'a, M: Model, T: Task, const N: usize = MAX_NEIGHBORS> {
    list: Vec<Neighbor<'a, M, T>, N>,
    /// Whether messages are exchanged in this tick, so that the taps advance by one hop.
    pub exchange: bool,
}

impl<'a, M: Model, T: Task, const N: usize> Neighbors<'a, M, T, N> {
    /// No neighbors.
    pub const fn none(exchange: bool) -> Self {
        Self { list: Vec::new(), exchange }
    }

    /// Adds a neighbor with a higher address than all before. Does nothing if the capacity is used up.
    #[inline]
    pub fn push(&mut self, neighbor: Neighbor<'a, M, T>) {
        let _ = self.list.push(neighbor);
    }

    /// Number of neighbors.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no neighbors.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// States of the neighbors.
    pub fn states(&self) -> impl Iterator<Item = &'a T::State> + Clone {
        self.list.iter().map(|neighbor| &neighbor.message.state)
    }

    /// Taps of the neighbors that run the same weight file, with the weights of their edges.
    pub fn taps(&self, task: &T) -> impl Iterator<Item = (&'a M::Taps, f32)> {
        let alike = self.list.iter().filter(|neighbor| neighbor.shares_model);
        alike.map(|Neighbor { message, .. }| (&message.taps, task.edge_weight(message.sender)))
    }

    /// Appends the wide parameters that arrived in this tick.
    ///
    /// A list that is returned would be copied.
    #[inline]
    pub(crate) fn collect_params(&self, params: &mut Vec<NeighborParams<'a>, N>) {
        for Neighbor { message, shares_model, fresh } in &self.list {
            if let (Some(fresh), true) = (*fresh, *shares_model) {
                // Both lists have the capacity N.
                let _ = params.push(NeighborParams {
                    wide: message.wide.numbers(),
                    degree: message.degree,
                    fresh,
                });
            }
        }
    }
}

/// Reason why an [`Inbox`] rejects a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InboxError {
    /// A number is NaN, infinite, subnormal or too large.
    #[error("the message contains a number that is not admissible")]
    NotAdmissible,
    /// The sender is new and the inbox holds `N` other senders.
    #[error("the inbox is full")]
    Full,
}

/// Latest message of up to `N` senders, kept for one tick.
///
/// `wdgnn_robot::neighbors` is the table for radios that lose, delay or falsify messages.
#[derive(Debug)]
pub struct Inbox<M: Model, T: Task, const N: usize = MAX_NEIGHBORS> {
    messages: Vec<AgentMessage<M, T>, N>,
}

impl<M: Model, T: Task, const N: usize> Inbox<M, T, N> {
    /// An empty inbox.
    pub const fn new() -> Self {
        Self { messages: Vec::new() }
    }

    /// Adds a message or replaces the previous one of its sender.
    ///
    /// # Errors
    /// See [`InboxError`]. The inbox is unchanged.
    pub fn update(&mut self, message: AgentMessage<M, T>) -> Result<(), InboxError> {
        if !message.is_admissible() {
            return Err(InboxError::NotAdmissible);
        }
        match self.messages.binary_search_by_key(&message.sender, |known| known.sender) {
            Ok(index) => {
                if let Some(known) = self.messages.get_mut(index) {
                    *known = message;
                }
                Ok(())
            }
            // The first test never holds; it proves that `insert` cannot panic.
            Err(index) if index > self.messages.len() => Err(InboxError::Full),
            Err(index) => self.messages.insert(index, message).map_err(|_| InboxError::Full),
        }
    }

    /// View of the messages for [`Agent::decide`](crate::agent::Agent::decide) and
    /// [`Agent::learn`](crate::agent::Agent::learn).
    pub fn view(&self) -> Neighbors<'_, M, T, N> {
        let mut neighbors = Neighbors::none(true);
        for message in &self.messages {
            neighbors.push(Neighbor { message, shares_model: true, fresh: Some(ParamRange::ALL) });
        }
        neighbors
    }

    /// Removes all messages at the end of a tick.
    pub fn clear(&mut self) {
        self.messages.clear();
    }
}

impl<M: Model, T: Task, const N: usize> Default for Inbox<M, T, N> {
    fn default() -> Self {
        Self::new()
    }
}
