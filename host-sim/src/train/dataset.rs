//! Data sets for imitation: episodes with the expert's commands.

use std::ops::Range;

use wdgnn_core::model::shape::Dimensions;

use crate::links::Links;

/// One episode: taps of the first layer and expert command by tick and robot.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// Number of robots.
    pub robots: usize,
    /// Links at each tick, for networks with several layers.
    pub links: Vec<Links>,
    inputs: usize,
    outputs: usize,
    taps: Vec<f32>,
    labels: Vec<f32>,
}

impl Trajectory {
    /// Creates an empty episode for a network size.
    pub fn new(size: &Dimensions, robots: usize) -> Self {
        let (inputs, outputs) = (size.inputs(0), size.outputs);
        Self { robots, links: Vec::new(), inputs, outputs, taps: Vec::new(), labels: Vec::new() }
    }

    /// Adds the sample of one robot, in order within a tick.
    pub fn push(&mut self, taps: &[f32], label: &[f32]) {
        self.taps.extend(taps);
        self.labels.extend(label);
    }

    /// Returns the number of samples: robots times ticks.
    pub fn len(&self) -> usize {
        self.labels.len() / self.outputs
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns the number of ticks.
    pub fn ticks(&self) -> usize {
        self.len() / self.robots.max(1)
    }

    /// Returns taps and label of a sample.
    pub fn sample(&self, index: usize) -> (&[f32], &[f32]) {
        (
            &self.taps[index * self.inputs..][..self.inputs],
            &self.labels[index * self.outputs..][..self.outputs],
        )
    }

    /// Returns the taps of all robots at a tick.
    pub fn taps(&self, tick: usize) -> &[f32] {
        let count = self.robots * self.inputs;
        &self.taps[tick * count..][..count]
    }

    /// Returns the expert's commands for all robots at a tick.
    pub fn labels(&self, tick: usize) -> &[f32] {
        let count = self.robots * self.outputs;
        &self.labels[tick * count..][..count]
    }
}

/// Window of a trajectory.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    pub trajectory: &'a Trajectory,
    /// Ticks before the window that only fill the delay lines.
    pub warm_up: usize,
    /// Ticks with a loss.
    pub ticks: Range<usize>,
}

/// Samples of one training step.
#[derive(Clone, Debug)]
pub enum Batch<'a> {
    /// Single samples, for one layer: its taps are data.
    Samples(Vec<(&'a [f32], &'a [f32])>),
    /// Windows, for several layers: their taps depend on the weights.
    Windows(Vec<Window<'a>>),
}
