//! What every robot of a swarm is made of.

use wdgnn_core::{model::Model, task::NodeId, tensor::Tensor as _};
use wdgnn_link::encoding::Codec;
use wdgnn_robot::{
    config::Behaviour,
    node::{Node, Settings},
    onboard::NEIGHBOURS,
};

use crate::scene::SimTask;

/// What every robot of a swarm is made of.
#[derive(Clone, Copy, Debug)]
pub struct RobotConfig<M, T> {
    /// The network.
    pub model: M,
    /// The task.
    pub task: T,
    /// The weight file's checksum.
    pub checksum: u32,
    /// How it behaves.
    pub behaviour: Behaviour,
}

impl<T: SimTask, M: Model<Features = T::Features, Output = T::Output> + Copy> RobotConfig<M, T> {
    /// A robot by it, in a state.
    pub fn node<C: Codec>(&self, id: NodeId, state: T::State, codec: C) -> Node<M, T, NEIGHBOURS, C> {
        let Self { model, task, checksum, behaviour } = *self;
        Node::new(Settings { id, model, task, checksum, behaviour, state, codec })
    }
}

/// What all robots of a swarm have in common, whatever their network's dimensions.
#[derive(Clone, Debug)]
pub struct SharedConfig<T> {
    /// The task.
    pub task: T,
    /// How they behave.
    pub behaviour: Behaviour,
    /// The wide parameters as they were trained.
    pub offline: Vec<f32>,
    /// Their norm.
    pub norm: f32,
}

impl<M: Model, T: Copy> RobotConfig<M, T> {
    /// What all robots by it have in common.
    pub fn common(&self) -> SharedConfig<T> {
        let offline = self.model.offline();
        let (norm, offline) = (offline.norm(), offline.numbers().to_vec());
        SharedConfig { task: self.task, behaviour: self.behaviour, offline, norm }
    }
}
