//! A swarm that owns its weights. The simulator's swarms borrow them, which Python objects cannot.

use std::sync::Arc;

use wdgnn_sim::{
    error::Result,
    model::ModelFile,
    scene::{SimTask, Swarm},
    swarm::networks::AnySwarm,
};

/// A swarm with its weights, if it has a network.
pub struct OwnedSwarm<T: SimTask> {
    // Must be dropped before the weights: fields are dropped in the order of declaration.
    swarm: AnySwarm<'static, T>,
    weights: Option<Arc<ModelFile>>,
}

impl<T: SimTask> OwnedSwarm<T> {
    /// Swarm that borrows from these weights.
    pub fn with_weights(
        weights: Arc<ModelFile>, make: impl for<'a> FnOnce(&'a ModelFile) -> Result<AnySwarm<'a, T>>,
    ) -> Result<Self> {
        let swarm = make(&weights)?;
        // SAFETY: the swarm borrows the file in the `Arc`, which never moves or changes and is dropped after the swarm.
        // `make` is generic over the lifetime, so the swarm borrows nothing else. The swarm is only accessible through
        // borrows of `self`.
        let swarm = unsafe { std::mem::transmute::<AnySwarm<'_, T>, AnySwarm<'static, T>>(swarm) };
        Ok(Self { swarm, weights: Some(weights) })
    }

    /// Swarm without weights, such as the expert.
    pub fn without_weights(swarm: AnySwarm<'static, T>) -> Self {
        Self { swarm, weights: None }
    }

    /// Weight file of the swarm, if it has a network.
    pub fn weights(&self) -> Option<&Arc<ModelFile>> {
        self.weights.as_ref()
    }

    /// Shared access to the swarm.
    pub fn swarm(&self) -> &dyn Swarm<T> {
        self.swarm.as_ref()
    }

    /// Exclusive access to the swarm.
    pub fn swarm_mut(&mut self) -> &mut dyn Swarm<T> {
        self.swarm.as_mut()
    }
}
