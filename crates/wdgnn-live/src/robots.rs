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
    links::Links,
    medium::robot_config::SwarmConfig,
    model::ModelFile,
    profiles::Profile,
    scene::{ParamView, Scene, SimTask, Swarm},
    swarm::{
        networks,
        typed::{Online, Typed},
    },
};

use crate::knobs::Controller;

type Wide<T> = <ModelOf<'static, T> as Model>::Wide;

/// Robots of one swarm.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Robots<T: SimTask> {
    swarm: Typed<T, ModelOf<'static, T>>,
    rule: Learning,
}

/// Learned parameters of a robot that survive a restart.
#[allow(missing_debug_implementations, reason = "contains large parameter arrays")]
pub struct Kept<T: SimTask> {
    id: NodeId,
    wide: Wide<T>,
    bias: T::Command,
    gain: f32,
}

impl<T: SimTask> Robots<T> {
    /// Creates robots of one model with initial states.
    pub fn new(
        model: &'static ModelFile,
        controller: Controller,
        start: &[(NodeId, T::State)],
    ) -> Result<Self> {
        let weights = model.weights();
        networks::task::<T>(model)?;
        let config = onboard::config_from_weights::<T>(&weights).map_err(|source| model.unusable(source))?;
        let rule = weights.header.learning;
        let rule = match controller {
            Controller::Online | Controller::Wary => rule,
            Controller::Paper => Learning { bias_step: 0.0, adapts_gain: false, ..rule },
            _ => Learning { through_clamp: rule.through_clamp, ..Learning::OFF },
        };
        let agent = Config { learning: rule, ..config.agent };
        let robot = RobotConfig { agent, ..config };
        let robot = if controller == Controller::Wary { robot.robust() } else { robot };
        let config = SwarmConfig { robot, checksum: weights.checksum };
        let start = start.iter().copied();
        let swarm = Typed::with_addresses(&config, Profile::Exact, Online::Decentralized, start);
        Ok(Self { swarm, rule })
    }

    /// Runs one tick. `lie` changes the state in a robot's message, by its index in the swarm.
    pub fn fly(
        &mut self,
        tick: u32,
        states: &[T::State],
        links: &Links,
        lie: impl FnMut(usize, &mut T::State),
        commands: &mut Vec<T::Command>,
    ) {
        self.swarm.run_tick(tick, states, links, lie, commands);
    }

    /// Removes a robot.
    pub fn remove(&mut self, robot: usize) {
        self.swarm.robots_mut().remove(robot);
    }

    /// Returns a robot's adaptation gain, 1 without adaptation.
    pub fn gain(&self, robot: usize) -> f32 {
        self.swarm.robots().get(robot).map_or(1.0, |robot| robot.agent().adaptation().gain)
    }

    /// Returns the learned parameters of all robots.
    pub fn kept(&self) -> Vec<Kept<T>> {
        let robots = self.swarm.robots().iter();
        let kept = robots.map(|robot| {
            let (agent, adaptation) = (robot.agent(), robot.agent().adaptation());
            Kept { id: robot.id(), wide: *agent.wide(), bias: adaptation.bias, gain: adaptation.gain }
        });
        kept.collect()
    }

    /// Restores learned parameters.
    pub fn resume(&mut self, kept: &[Kept<T>]) {
        for Kept { id, wide, bias, gain } in kept {
            if let Some(robot) = self.swarm.robots_mut().iter_mut().find(|robot| robot.id() == *id) {
                robot.agent_mut().set_wide(wide);
                robot.restore_adaptation(*bias, *gain);
            }
        }
    }
}

/// Swarm interface for the digest and the disagreement of parameters.
impl<T: SimTask> Swarm<T> for Robots<T> {
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Command>) -> Result {
        Swarm::fly(&mut self.swarm, scene, commands)
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        Swarm::robot(&self.swarm, robot)
    }

    fn learns(&self) -> bool {
        self.rule.step > 0.0
    }
}
