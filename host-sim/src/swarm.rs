//! A swarm of `wdgnn-core` nodes, each stepped by the core's own tick, through an air that harms nothing.
//!
//! What a robot says is encoded and decoded once, as its link profile does, and the result is handed to everybody in range. In the
//! profile `exact` that changes no bit, so it is left out. [`crate::air`] has the air that loses and harms frames.

use std::any::TypeId;

use rayon::prelude::*;
use wdgnn_core::{
    behaviour::Behaviour,
    codec::{Exact, Parts},
    flocking::{Flocking, Motion},
    node::{BeaconOf, Node, Settings},
    ports::{Actuator, Sensed},
    tensor::Tensor,
    tick::{self, Hearing, PortErrors},
    wide::Model,
};

use crate::{
    flight::{Pilot, Scene},
    profiles::LinkCodec,
};

/// From this many robots on, one swarm's robots are spread over the threads.
const PARALLEL_ROBOTS: usize = 128;

/// Room for neighbours in a simulated robot. Degrees beyond it are rare; a robot then keeps those it knows.
pub const NEIGHBOURS: usize = 64;

/// Room for any profile's frame.
pub const LONGEST_FRAME: usize = 512;

/// Who trains the wide part in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Online {
    /// Nobody.
    Off,
    /// Every robot for itself, agreeing with its neighbours.
    Decentralised,
    /// One centre that sees the whole swarm's variation (eq. `onlinelearning`), with this step size.
    Centralised(f32),
}

/// A node of a swarm.
pub type SwarmNode<M, P> = Node<M, Flocking, NEIGHBOURS, P>;

/// What one frame says.
type Said<M> = Option<(BeaconOf<M, Flocking>, Parts)>;

/// N nodes of one model on one link profile.
#[derive(Debug)]
pub struct Swarm<M: Model, P = Exact> {
    nodes: Vec<SwarmNode<M, P>>,
    /// The frames of a tick, each robot's in a row; nothing of a robot whose turn it is not.
    said: Vec<Said<M>>,
    online: Online,
}

impl<M, P> Swarm<M, P>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
    P: LinkCodec,
{
    /// A swarm of one model at its start.
    #[must_use]
    pub fn new(
        model: M,
        task: Flocking,
        checksum: u32,
        behaviour: Behaviour,
        online: Online,
        start: &[Motion],
    ) -> Self {
        let node = |(id, motion): (u16, &Motion)| {
            let (state, codec) = (*motion, P::default());
            Node::new(Settings { id, model, task, checksum, behaviour, state, codec })
        };
        let nodes = (0..).zip(start).map(node).collect();
        Self { nodes, said: Vec::with_capacity(start.len() * P::FRAMES as usize), online }
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[SwarmNode<M, P>] {
        &self.nodes
    }

    /// What everybody in range takes from one robot's frames.
    fn speak(node: &mut SwarmNode<M, P>, said: &mut Vec<Said<M>>) {
        if TypeId::of::<P>() == TypeId::of::<Exact>() {
            said.push(Some((node.beacon(), Parts::ALL)));
            return;
        }
        for index in 0..P::FRAMES {
            let mut buffer = [0; LONGEST_FRAME];
            let frame = node.speak_frame(index, &mut buffer).and_then(|length| buffer.get(..length));
            said.push(frame.and_then(|frame| P::default().decode(node.link(), node.tick(), frame).ok()));
        }
    }

    /// One step of the centralised rule: the gradient of the whole swarm's variation after the coming tick.
    fn learn_together(&mut self, step: f32, commands: &[[f32; 2]]) {
        let Some(first) = self.nodes.first() else { return };
        let period = first.task().period;
        let next: Vec<[f32; 2]> = (self.nodes.iter().zip(commands))
            .map(|(node, u)| [0, 1].map(|axis| node.state().velocity[axis] + period * u[axis]))
            .collect();
        let n = next.len() as f32;
        let mean = [0, 1].map(|axis| next.iter().map(|v| v[axis]).sum::<f32>() / n);
        let mut wide = *first.wide();
        for ((node, next), command) in self.nodes.iter().zip(&next).zip(commands) {
            let through = node.behaviour().learning.through_clamp;
            let gradient = [0, 1].map(|axis| {
                let free = through || node.output()[axis] == command[axis];
                if free { 2.0 * period / n * (next[axis] - mean[axis]) } else { 0.0 }
            });
            node.model().descend(&mut wide, node.chains(), &node.model().gradient(&gradient), step);
        }
        for node in &mut self.nodes {
            node.set_wide(&wide);
        }
    }
}

impl<M, P> Pilot for Swarm<M, P>
where
    P: LinkCodec,
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy + Send + Sync,
    M::Chains: Send + Sync,
    M::Wide: Send + Sync,
    M::Factor: Send + Sync,
{
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        self.said.clear();
        for (node, motion) in self.nodes.iter_mut().zip(scene.motions) {
            node.sense(scene.tick, Some(Sensed::now(*motion)));
            if node.speaks() {
                Self::speak(node, &mut self.said);
            } else {
                self.said.extend((0..P::FRAMES).map(|_| None));
            }
        }
        commands.clear();
        commands.resize(self.nodes.len(), [0.0; 2]);
        let said = &self.said;
        let frames = P::FRAMES as usize;
        let hear_and_act = |(robot, (node, command)): (usize, (&mut SwarmNode<M, P>, &mut [f32; 2]))| {
            let mut hearing = Hearing::default();
            for &other in scene.links.of(robot) {
                let from = other as usize * frames;
                for (beacon, parts) in said.get(from..from + frames).unwrap_or_default().iter().flatten() {
                    hearing.heard += 1;
                    if let Err(refusal) = node.accept_parts(beacon, *parts) {
                        hearing.refused.count(refusal);
                    }
                }
            }
            tick::conclude(node, &mut Motors(command), &hearing, PortErrors::default());
        };
        if self.nodes.len() >= PARALLEL_ROBOTS {
            self.nodes.par_iter_mut().zip(commands.par_iter_mut()).enumerate().for_each(hear_and_act);
        } else {
            self.nodes.iter_mut().zip(commands.iter_mut()).enumerate().for_each(hear_and_act);
        }
        if let Online::Centralised(step) = self.online {
            self.learn_together(step, commands);
        }
    }

    fn disagreement(&self) -> Option<f64> {
        let first = self.nodes.first()?;
        let offline = f64::from(first.model().offline().norm());
        if self.online == Online::Off || offline == 0.0 {
            return None;
        }
        Some(disagreement(self.nodes.iter().map(Node::wide)) / offline)
    }
}

/// How far parameters are apart: the root of their mean squared distance from their mean.
pub fn disagreement<'a, W: Tensor + 'a>(wides: impl ExactSizeIterator<Item = &'a W> + Clone) -> f64 {
    let count = wides.len();
    let mut mean = W::ZERO;
    for wide in wides.clone() {
        mean.add_scaled(wide, 1.0 / count as f32);
    }
    let squares: f64 = wides.map(|wide| f64::from(wide.distance(&mean)).powi(2)).sum();
    (squares / count as f64).sqrt()
}

/// A simulated robot's motors: they do what they are told.
struct Motors<'a>(&'a mut [f32; 2]);

impl Actuator<[f32; 2]> for Motors<'_> {
    type Error = std::convert::Infallible;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), Self::Error> {
        *self.0 = *command;
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Self::Error> {
        self.act(&[0.0; 2])
    }
}
