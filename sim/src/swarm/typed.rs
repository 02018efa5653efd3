//! Fast path: robots in this process that exchange beacons without faults.
//!
//! Each beacon is encoded and decoded once, as its link profile does, and all robots in range get
//! the result. The profile `exact` changes no bit, so it skips this. A test compares this path with
//! robots that exchange bytes ([`super::native`]).

use std::any::TypeId;

use wdgnn_core::{Task, model::Model, tensor::Tensor as _};
use wdgnn_link::{
    encoding::{Codec, exact::Exact},
    header::Parts,
};
use wdgnn_robot::{
    control_loop::{self, Hearing, PortErrors},
    node::{BeaconOf, Node},
    onboard::NEIGHBOURS,
    ports::Sensed,
};

use crate::{
    error::Result,
    medium::robot_config::RobotConfig,
    ports::RecordingActuator,
    profiles::LinkCodec,
    scene::{CentralRule, ParamView, RobotInternals, Scene, SimTask, Swarm},
    threads::{MIN_PARALLEL_TICKS, chunk_len, for_each_chunk},
};

/// Buffer size for any profile's frame.
pub const MAX_FRAME_BYTES: usize = wdgnn_robot::onboard::LONGEST_BUFFER;

/// Online learning of the wide part.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "contains a function")]
pub enum Online<T: Task> {
    /// No learning.
    Off,
    /// Learning on each robot, with consensus between neighbors.
    Decentralized,
    /// Centralized learning from the whole swarm (eq. `onlinelearning`), with this step size.
    Centralized(f32, CentralRule<T>),
}

/// First node number of a chunk, its nodes and commands.
type Acting<'a, M, T, P> = (usize, (&'a mut [Node<M, T, NEIGHBOURS, P>], &'a mut [<T as Task>::Output]));

/// Decoded frame.
type Said<M, T> = Option<(BeaconOf<M, T>, Parts)>;

/// Nodes of one model on one link profile.
#[allow(missing_debug_implementations, reason = "contains trait objects and functions")]
pub struct Typed<T: SimTask, M: Model, P = Exact> {
    nodes: Vec<Node<M, T, NEIGHBOURS, P>>,
    /// Frames of a tick, each robot's in a row; `None` for robots that do not send.
    said: Vec<Said<M, T>>,
    online: Online<T>,
}

impl<T, M, P> Typed<T, M, P>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy,
    P: LinkCodec,
{
    /// Creates a swarm with these initial states.
    pub fn new(config: &RobotConfig<M, T>, online: Online<T>, start: &[T::State]) -> Self {
        let nodes = (0..).zip(start).map(|(id, state)| config.node(id, *state, P::default())).collect();
        Self { nodes, said: Vec::with_capacity(start.len() * P::FRAMES as usize), online }
    }

    /// Appends the decoded frames of a node.
    fn speak(node: &mut Node<M, T, NEIGHBOURS, P>, said: &mut Vec<Said<M, T>>) {
        if TypeId::of::<P>() == TypeId::of::<Exact>() {
            said.push(Some((node.beacon(), Parts::ALL)));
            return;
        }
        for index in 0..P::FRAMES {
            let mut buffer = [0; MAX_FRAME_BYTES];
            let frame = node.speak_frame(index, &mut buffer).and_then(|length| buffer.get(..length));
            said.push(frame.and_then(|frame| P::default().decode(node.link(), node.tick(), frame).ok()));
        }
    }

    /// Runs one step of the centralized rule.
    fn learn_together(&mut self, step: f32, rule: CentralRule<T>, commands: &[T::Output]) {
        let Some(first) = self.nodes.first() else { return };
        let states: Vec<T::State> = self.nodes.iter().map(|node| *node.state()).collect();
        let outputs: Vec<T::Output> = self.nodes.iter().map(|node| *node.output()).collect();
        let through = first.behaviour().learning.through_clamp;
        let gradients = rule(first.task(), &states, &outputs, commands, through);
        let mut wide = *first.wide();
        for (node, gradient) in self.nodes.iter().zip(&gradients) {
            node.model().descend(&mut wide, node.chains(), &node.model().gradient(gradient), step);
        }
        for node in &mut self.nodes {
            node.set_wide(&wide);
        }
    }
}

impl<T, M, P> Swarm<T> for Typed<T, M, P>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output> + Copy + Send + Sync,
    P: LinkCodec,
{
    fn fly(&mut self, scene: &Scene<'_, T::State>, commands: &mut Vec<T::Output>) -> Result {
        self.said.clear();
        for (node, state) in self.nodes.iter_mut().zip(scene.states) {
            node.sense(scene.tick, Some(Sensed::now(*state)));
            if node.speaks() {
                Self::speak(node, &mut self.said);
            } else {
                self.said.extend((0..P::FRAMES).map(|_| None));
            }
        }
        commands.clear();
        commands.resize(self.nodes.len(), T::zero_command());
        let said = &self.said;
        let frames = P::FRAMES as usize;
        let hear_and_act = |(first, (nodes, commands)): Acting<'_, M, T, P>| {
            for ((robot, node), command) in (first..).zip(nodes).zip(commands) {
                let mut hearing = Hearing::default();
                for &other in scene.links.of(robot) {
                    let from = other as usize * frames;
                    for (beacon, parts) in said.get(from..from + frames).unwrap_or_default().iter().flatten()
                    {
                        hearing.heard += 1;
                        if let Err(refusal) = node.accept_parts(beacon, *parts) {
                            hearing.refused.count(refusal);
                        }
                    }
                }
                control_loop::conclude(
                    node,
                    &mut RecordingActuator(command),
                    &hearing,
                    PortErrors::default(),
                );
            }
        };
        let chunk = chunk_len(self.nodes.len(), MIN_PARALLEL_TICKS);
        let actors = self.nodes.chunks_mut(chunk).zip(commands.chunks_mut(chunk));
        for_each_chunk((0..).step_by(chunk).zip(actors), hear_and_act);
        if let Online::Centralized(step, rule) = self.online {
            self.learn_together(step, rule, commands);
        }
        Ok(())
    }

    fn robot(&self, robot: usize) -> Option<ParamView<'_>> {
        let node = self.nodes.get(robot)?;
        Some(ParamView { wide: node.wide().numbers(), offline: node.model().offline().numbers() })
    }

    fn internals(&self, robot: usize) -> Option<RobotInternals<'_, T>> {
        self.nodes.get(robot).map(internals)
    }

    fn learns(&self) -> bool {
        !matches!(self.online, Online::Off)
    }
}

/// Returns the internal values of a node.
pub(super) fn internals<M, T, P, const N: usize>(node: &Node<M, T, N, P>) -> RobotInternals<'_, T>
where
    T: SimTask,
    M: Model<Features = T::Features, Output = T::Output>,
    P: Codec,
{
    RobotInternals {
        state: node.state(),
        output: node.output(),
        taps: M::first_taps(node.chains()),
        neighbors: node.trusted().map(|n| (n.beacon.sender.into(), n.heard, &n.beacon.state)).collect(),
        has_exchanged: node.has_turn(),
    }
}
