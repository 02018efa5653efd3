//! Configuration that all robots of a swarm share.

use wdgnn_core::{model::Model, task::NodeId, tensor::Tensor as _};
use wdgnn_link::encoding::Codec;
use wdgnn_robot::{
    config::Behaviour,
    node::{Node, Settings},
    onboard::NEIGHBOURS,
};

use crate::scene::SimTask;

/// Configuration of a swarm's robots: network, task and behavior.
#[derive(Clone, Copy, Debug)]
pub struct RobotConfig<M, T> {
    /// Network of the robots.
    pub model: M,
    /// Task of the robots.
    pub task: T,
    /// Checksum of the weight file.
    pub checksum: u32,
    /// Exchange interval, learning rule and trust settings.
    pub behaviour: Behaviour,
}

impl<T: SimTask, M: Model<Features = T::Features, Output = T::Output> + Copy> RobotConfig<M, T> {
    /// Builds a robot in a given state.
    pub fn node<C: Codec>(&self, id: NodeId, state: T::State, codec: C) -> Node<M, T, NEIGHBOURS, C> {
        let Self { model, task, checksum, behaviour } = *self;
        Node::new(Settings { id, model, task, checksum, behaviour, state, codec })
    }
}

/// Configuration of a swarm's robots, independent of the network's dimensions.
#[derive(Clone, Debug)]
pub struct SharedConfig<T> {
    /// Task of the robots.
    pub task: T,
    /// Exchange interval, learning rule and trust settings.
    pub behaviour: Behaviour,
    /// Wide parameters of the weight file.
    pub offline: Vec<f32>,
    /// Euclidean norm of `offline`.
    pub norm: f32,
}

impl<M: Model, T: Copy> RobotConfig<M, T> {
    /// Returns the part of the configuration that does not depend on network dimensions.
    pub fn common(&self) -> SharedConfig<T> {
        let offline = self.model.offline();
        let (norm, offline) = (offline.norm(), offline.numbers().to_vec());
        SharedConfig { task: self.task, behaviour: self.behaviour, offline, norm }
    }
}
