//! What a network is trained on: flights in which the expert says what it would have done.

use std::ops::Range;

use wdgnn_core::{network::FirstChain, taps::Chain, wide::Model};

use crate::{
    expert::Expert,
    flight::{Pilot, Scene},
    links::Links,
    shapes::FEATURES,
    swarm::Swarm,
};

/// One flight: at every tick and for every robot, the taps of its first chain and the expert's command.
#[derive(Clone, Debug, Default)]
pub struct Trajectory<const TAPS: usize> {
    /// How many robots.
    pub robots: usize,
    /// Who heard whom at every tick; kept only where a network has upper layers.
    pub links: Vec<Links>,
    chains: Vec<Chain<TAPS, FEATURES>>,
    labels: Vec<[f32; 2]>,
}

impl<const TAPS: usize> Trajectory<TAPS> {
    /// Adds one robot's sample; robots come in order within a tick.
    pub fn push(&mut self, chain: Chain<TAPS, FEATURES>, label: [f32; 2]) {
        self.chains.push(chain);
        self.labels.push(label);
    }

    /// How many samples: robots times ticks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many ticks.
    #[must_use]
    pub fn ticks(&self) -> usize {
        self.labels.len() / self.robots.max(1)
    }

    /// A sample by its number.
    #[must_use]
    pub fn sample(&self, index: usize) -> Sample<TAPS> {
        (self.chains[index], self.labels[index])
    }

    /// A robot's taps at a tick.
    #[must_use]
    pub fn chain(&self, tick: usize, robot: usize) -> &Chain<TAPS, FEATURES> {
        &self.chains[tick * self.robots + robot]
    }

    /// What the expert would have had a robot do.
    #[must_use]
    pub fn label(&self, tick: usize, robot: usize) -> &[f32; 2] {
        &self.labels[tick * self.robots + robot]
    }
}

/// Taps and the expert's command.
pub type Sample<const TAPS: usize> = (Chain<TAPS, FEATURES>, [f32; 2]);

/// A stretch of a trajectory.
#[derive(Clone, Debug)]
pub struct Window<'a, const TAPS: usize> {
    /// Of which trajectory.
    pub trajectory: &'a Trajectory<TAPS>,
    /// Ticks before the stretch that only fill the chains.
    pub warm_up: usize,
    /// The ticks whose commands count.
    pub ticks: Range<usize>,
}

/// What one step of training looks at.
#[derive(Clone, Debug)]
pub enum Batch<'a, const TAPS: usize> {
    /// Single samples: enough for one layer, whose taps are data.
    Samples(Vec<Sample<TAPS>>),
    /// Stretches of flights: for upper layers, whose taps depend on the weights.
    Windows(Vec<Window<'a, TAPS>>),
}

/// Flies a swarm, asks the expert at every tick, and writes down both. Either of them may be in command.
#[derive(Debug)]
pub struct Apprentice<M: Model, const TAPS: usize> {
    /// The network's swarm.
    pub swarm: Swarm<M>,
    /// The teacher.
    pub expert: Expert,
    /// Whether the expert's commands are carried out (behaviour cloning) or the network's (dataset aggregation).
    pub expert_drives: bool,
    /// Whether links are kept.
    pub keep_links: bool,
    /// What was written down.
    pub trajectory: Trajectory<TAPS>,
}

impl<M, const TAPS: usize> Pilot for Apprentice<M, TAPS>
where
    M: Model<Features = [f32; 6], Output = [f32; 2], Chains: FirstChain<TAPS, FEATURES>>,
    Swarm<M>: Pilot,
    M: Copy,
{
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        self.swarm.fly(scene, commands);
        let mut labels = Vec::with_capacity(commands.len());
        self.expert.commands(scene.motions, &mut labels);
        self.trajectory.robots = labels.len();
        for (node, label) in self.swarm.nodes().iter().zip(&labels) {
            self.trajectory.push(*node.chains().first(), *label);
        }
        if self.keep_links {
            self.trajectory.links.push(scene.links.clone());
        }
        if self.expert_drives {
            commands.copy_from_slice(&labels);
        }
    }
}
