//! Nodes that go elsewhere: what one keeps goes out of it and into another.

use super::Node;
use crate::{net::wide::Model, passage::Passage, tasks::task::Task, wire::codec::Codec};

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
    P: Codec,
{
    /// Passes everything that lasts from tick to tick, neighbours and keys included: into a node that was made with the same settings.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        self.memory.pass(passage);
        self.neighbours.pass(self.memory.state, passage);
        self.codec.pass(passage);
    }
}
