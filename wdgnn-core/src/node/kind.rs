//! What all nodes of a swarm have in common.

use crate::{
    behaviour::Behaviour,
    net::{tensor::Tensor as _, wide::Model},
};

/// A network, what it is for, and how those behave who fly it.
#[derive(Clone, Copy, Debug)]
pub struct Kind<M, T> {
    pub(super) model: M,
    pub(super) task: T,
    pub(super) behaviour: Behaviour,
    /// The norm of the offline parameters.
    pub(super) reach: f32,
}

impl<M: Model, T> Kind<M, T> {
    /// Robots of this kind.
    #[must_use]
    #[inline]
    pub fn new(model: M, task: T, behaviour: Behaviour) -> Self {
        let reach = model.offline().norm();
        Self { model, task, behaviour, reach }
    }

    /// The wide parameters as they were trained.
    pub fn offline(&self) -> &M::Wide {
        self.model.offline()
    }
}
