//! Configuration that all robots of a swarm share.

use wdgnn_core::{model::Model, task::NodeId, tensor::Tensor as _};
use wdgnn_robot::{config::RobotConfig, robot::Robot};

use super::any_link::{AnyLink, AnyLinkOf, RobotKeys};
use crate::{profiles::Profile, scene::SimTask};

/// Robot with the model `M`, the task `T` and a link of any profile.
pub type SimRobot<M, T> = Robot<RobotConfig<M, T>, AnyLinkOf<M, T>>;

/// Configuration of a swarm's robots, and the checksum of their weight file.
#[derive(Clone, Copy, Debug)]
pub struct SwarmConfig<M, T> {
    /// Configuration of each robot.
    pub robot: RobotConfig<M, T>,
    /// Checksum of the weight file.
    pub checksum: u32,
}

impl<T: SimTask, M: Model<Features = T::Features, Output = T::Command> + Copy> SwarmConfig<M, T> {
    /// Builds a robot in a given state; without keys its link is open.
    pub fn build(
        &self, id: NodeId, state: T::State, profile: Profile, keys: Option<RobotKeys<'_>>,
    ) -> SimRobot<M, T> {
        Robot::new(id, self.robot, AnyLink::new(profile, self.checksum, keys), state)
    }

    /// Builds a robot with an open link in a given state.
    pub fn build_open(&self, id: NodeId, state: T::State, profile: Profile) -> SimRobot<M, T> {
        Robot::new(id, self.robot, AnyLink::open(profile, self.checksum), state)
    }
}

/// Configuration of a swarm's robots, independent of the network's dimensions.
#[derive(Clone, Debug)]
pub struct SharedConfig<T> {
    /// Configuration of each robot without its network.
    pub robot: RobotConfig<(), T>,
    /// Wide parameters of the weight file.
    pub offline: Vec<f32>,
}

impl<T> SharedConfig<T> {
    /// Task of the robots.
    pub fn task(&self) -> &T {
        &self.robot.agent.task
    }
}

impl<M: Model + Copy, T: Copy> SwarmConfig<M, T> {
    /// Returns the part of the configuration that does not depend on network dimensions.
    pub fn shared(&self) -> SharedConfig<T> {
        let offline = self.robot.agent.model.offline().numbers().to_vec();
        SharedConfig { robot: self.robot.with(|_| (), self.robot.trust), offline }
    }
}
