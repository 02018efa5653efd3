//! What all nodes of a swarm have in common.

use crate::config::Behavior;
use wdgnn_core::{model::Model, tensor::Tensor as _};

/// A network, what it is for, and how those behave who fly it, wherever these are.
#[derive(Debug)]
pub struct Kind<'a, M, T> {
    pub(super) model: &'a M,
    pub(super) task: &'a T,
    pub(super) behavior: &'a Behavior,
    /// The norm of the offline parameters.
    pub(super) reach: f32,
}

impl<'a, M: Model, T> Kind<'a, M, T> {
    /// Robots of this kind.
    #[must_use]
    pub fn new(model: &'a M, task: &'a T, behavior: &'a Behavior) -> Self {
        Self { model, task, behavior, reach: model.offline().norm() }
    }
}

impl<M, T> Clone for Kind<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, T> Copy for Kind<'_, M, T> {}
