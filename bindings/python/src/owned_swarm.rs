//! A swarm that holds the weights it flies: the simulator's borrow them, and Python has nobody to borrow from.

use std::sync::Arc;

use wdgnn_sim::{
    error::Result,
    model::ModelFile,
    scene::{Flown, Swarm},
    swarm::networks::AnySwarm,
};

/// A swarm and, where it flies any, its weights.
pub struct Held<T: Flown> {
    // Before the weights: fields are dropped in this order.
    swarm: AnySwarm<'static, T>,
    _weights: Option<Arc<ModelFile>>,
}

impl<T: Flown> Held<T> {
    /// A swarm over these weights.
    pub fn over(
        weights: Arc<ModelFile>,
        make: impl for<'a> FnOnce(&'a ModelFile) -> Result<AnySwarm<'a, T>>,
    ) -> Result<Self> {
        let swarm = make(&weights)?;
        // SAFETY: what the swarm borrows is the file behind the `Arc`, which stays where it is, is never changed, and is let go
        // after the swarm. `make` knows nothing of its lifetime, so nothing else borrowed got in, and the swarm is only ever lent
        // for as long as `self` is.
        let swarm = unsafe { std::mem::transmute::<AnySwarm<'_, T>, AnySwarm<'static, T>>(swarm) };
        Ok(Self { swarm, _weights: Some(weights) })
    }

    /// Whoever needs none.
    pub fn alone(swarm: AnySwarm<'static, T>) -> Self {
        Self { swarm, _weights: None }
    }

    /// The swarm.
    pub fn swarm(&self) -> &dyn Swarm<T> {
        self.swarm.as_ref()
    }

    /// The swarm, to be flown.
    pub fn swarm_mut(&mut self) -> &mut dyn Swarm<T> {
        self.swarm.as_mut()
    }
}
