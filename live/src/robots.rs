//! Robots that run the core and exchange beacons, with liars.
//!
//! This is the simulator's fast path ([`wdgnn_sim::swarm::typed`]) without threads, which browsers
//! lack. Between ticks, robots can be removed, lie, and start or stop learning.

use wdgnn_core::{
    model::{Model, shape::Shape as _},
    online::Learning,
    task::NodeId,
    tensor::Tensor as _,
};
use wdgnn_link::encoding::exact::Exact;
use wdgnn_robot::{
    control_loop::{self, Hearing, PortErrors},
    node::{MessageOf, Node},
    onboard::{ModelOf, NEIGHBORS, OnboardTask},
    ports::Sensed,
};
use wdgnn_sim::{
    error::Result,
    links::Links,
    medium::robot_config::RobotConfig,
    model::ModelFile,
    ports::RecordingActuator,
    scene::{ParamView, SimTask, Swarm},
    swarm::networks,
};

use crate::knobs::Controller;

type Robot<T> = Node<ModelOf<'static, T>, T, NEIGHBORS, Exact>;
type Wide<T> = <ModelOf<'static, T> as Model>::Wide;

/// Robots of one swarm.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Robots<T: SimTask> {
    nodes: Vec<Robot<T>>,
    /// Message of each robot in a tick; `None` for robots that do not send.
    said: Vec<Option<MessageOf<ModelOf<'static, T>, T>>>,
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
        let network =
            <T as OnboardTask>::Shape::from_weights(&weights).map_err(|source| model.unusable(source))?;
        let rule = weights.header.learning;
        let rule = match controller {
            Controller::Online | Controller::Wary => rule,
            Controller::Paper => Learning { bias_step: 0.0, adapts_gain: false, ..rule },
            _ => Learning { through_clamp: rule.through_clamp, ..Learning::OFF },
        };
        let behavior = wdgnn_robot::Behavior::new(rule).every(weights.header.interval.into());
        let behavior = if controller == Controller::Wary { behavior.robust() } else { behavior };
        let config = RobotConfig {
            model: network,
            task: networks::task::<T>(model)?,
            checksum: weights.checksum,
            behavior,
        };
        let nodes = start.iter().map(|(id, state)| config.node(*id, *state, Exact)).collect();
        Ok(Self { nodes, said: Vec::with_capacity(start.len()), rule })
    }

    /// Runs one tick. `lie` changes the state in a robot's beacon, by its index in the swarm.
    pub fn fly(
        &mut self,
        tick: u32,
        states: &[T::State],
        links: &Links,
        mut lie: impl FnMut(usize, &mut T::State),
        commands: &mut Vec<T::Command>,
    ) {
        self.said.clear();
        for (robot, (node, state)) in self.nodes.iter_mut().zip(states).enumerate() {
            node.sense(tick, Some(Sensed::now(*state)));
            let beacon = node.speaks().then(|| {
                let mut beacon = node.beacon();
                lie(robot, &mut beacon.state);
                beacon
            });
            self.said.push(beacon);
        }
        commands.clear();
        commands.resize(self.nodes.len(), T::zero_command());
        for (robot, (node, command)) in self.nodes.iter_mut().zip(commands).enumerate() {
            let mut hearing = Hearing::default();
            for beacon in links.of(robot).iter().filter_map(|&other| self.said.get(other as usize)?.as_ref())
            {
                hearing.heard += 1;
                if let Err(refusal) = node.accept_parts(beacon, wdgnn_link::header::Payload::ALL) {
                    hearing.refused.count(refusal);
                }
            }
            control_loop::conclude(node, &mut RecordingActuator(command), &hearing, PortErrors::default());
        }
    }

    /// Removes a robot.
    pub fn remove(&mut self, robot: usize) {
        self.nodes.remove(robot);
    }

    /// Returns a robot's adaptation gain, 1 without adaptation.
    pub fn gain(&self, robot: usize) -> f32 {
        self.nodes.get(robot).map_or(1.0, |node| node.personal().gain)
    }

    /// Returns the learned parameters of all robots.
    pub fn kept(&self) -> Vec<Kept<T>> {
        let kept = |node: &Robot<T>| {
            let personal = node.personal();
            Kept { id: node.id(), wide: *node.wide(), bias: personal.bias, gain: personal.gain }
        };
        self.nodes.iter().map(kept).collect()
    }

    /// Restores learned parameters.
    pub fn resume(&mut self, kept: &[Kept<T>]) {
        for Kept { id, wide, bias, gain } in kept {
            if let Some(node) = self.nodes.iter_mut().find(|node| node.id() == *id) {
                node.set_wide(wide);
                node.set_personal(*bias, *gain);
            }
        }
    }
}

/// Swarm interface for the digest and the disagreement of parameters.
impl<T: SimTask> Swarm<T> for Robots<T> {
    fn fly(
        &mut self,
        scene: &wdgnn_sim::scene::Scene<'_, T::State>,
        commands: &mut Vec<T::Command>,
    ) -> Result {
        self.fly(scene.tick, scene.states, scene.links, |_, _| {}, commands);
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let node = self.nodes.get(robot)?;
        Some(ParamView { wide: node.wide().numbers(), offline: node.model().offline().numbers() })
    }

    fn learns(&self) -> bool {
        self.rule.step > 0.0
    }
}
