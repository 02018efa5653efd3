//! Robots that run the core and exchange messages, with liars.
//!
//! Between ticks, robots can be removed, lie, and start or stop learning.

use wdgnn_core::{agent::Config, model::Model, online::Learning, task::NodeId};
use wdgnn_robot::{
    config::RobotConfig,
    onboard::{self, ModelOf},
};
use wdgnn_sim::{
    error::Result,
    medium::robot_config::SwarmConfig,
    model::ModelFile,
    profiles::Profile,
    scene::SimTask,
    swarm::{
        in_memory::{InMemory, Online, TableRobot},
        networks,
    },
};

use crate::knobs::Controller;

type Network<T> = ModelOf<'static, T>;

/// Robots of one swarm.
pub type Robots<T> = InMemory<Network<T>, T, TableRobot<Network<T>, T>>;

/// Learned parameters of a robot that survive a restart.
#[allow(missing_debug_implementations, reason = "contains large parameter arrays")]
pub struct LearnedParams<T: SimTask> {
    id: NodeId,
    wide: <Network<T> as Model>::Wide,
    bias: T::Command,
    gain: f32,
}

/// Creates robots of one model with initial states.
pub fn robots<T: SimTask>(
    model: &'static ModelFile, controller: Controller, start: impl Iterator<Item = (NodeId, T::State)>,
) -> Result<Robots<T>> {
    let weights = model.weights();
    networks::task::<T>(model)?;
    let config = onboard::config_from_weights::<T>(&weights).map_err(|source| model.unusable(source))?;
    let rule = weights.header.learning;
    let (online, rule) = match controller {
        Controller::Online | Controller::Wary => (Online::Decentralized, rule),
        Controller::Paper => (Online::Decentralized, Learning { bias_step: 0.0, adapts_gain: false, ..rule }),
        _ => (Online::Off, Learning { through_clamp: rule.through_clamp, ..Learning::OFF }),
    };
    let agent = Config { learning: rule, ..config.agent };
    let robot = RobotConfig { agent, ..config };
    let robot = if controller == Controller::Wary { robot.robust() } else { robot };
    let config = SwarmConfig { robot, checksum: weights.checksum };
    Ok(InMemory::with_tables(&config, Profile::Exact, online, start))
}

/// Returns a robot's adaptation gain, 1 without adaptation.
pub fn gain<T: SimTask>(swarm: &Robots<T>, robot: usize) -> f32 {
    swarm.robots().get(robot).map_or(1.0, |TableRobot { robot, .. }| robot.agent().adaptation().gain)
}

/// Returns the learned parameters of all robots.
pub fn learned<T: SimTask>(swarm: &Robots<T>) -> Vec<LearnedParams<T>> {
    let learned = swarm.robots().iter().map(|TableRobot { robot, .. }| {
        let adaptation = robot.agent().adaptation();
        LearnedParams {
            id: robot.id(),
            wide: *robot.agent().wide(),
            bias: adaptation.bias,
            gain: adaptation.gain,
        }
    });
    learned.collect()
}

/// Restores learned parameters.
pub fn restore<T: SimTask>(swarm: &mut Robots<T>, learned: &[LearnedParams<T>]) {
    for LearnedParams { id, wide, bias, gain } in learned {
        let mut robots = swarm.robots_mut().iter_mut().map(|TableRobot { robot, .. }| robot);
        if let Some(robot) = robots.find(|robot| robot.id() == *id) {
            robot.agent_mut().set_wide(wide);
            robot.restore_adaptation(*bias, *gain);
        }
    }
}
