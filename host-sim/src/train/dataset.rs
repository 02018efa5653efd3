//! What a network is trained on: flights in which an expert says what it would have done.

use std::ops::Range;

use wdgnn_core::model::shape::Dimensions;

use crate::links::Links;

/// One flight: at every tick and for every robot, the taps of its first chain and the expert's command.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// How many robots.
    pub robots: usize,
    /// Who heard whom at every tick; kept only where a network has upper layers.
    pub links: Vec<Links>,
    inputs: usize,
    outputs: usize,
    taps: Vec<f32>,
    labels: Vec<f32>,
}

impl Trajectory {
    /// A flight of so many robots, to train a network of these dimensions.
    pub fn new(size: &Dimensions, robots: usize) -> Self {
        let (inputs, outputs) = (size.inputs(0), size.outputs);
        Self { robots, links: Vec::new(), inputs, outputs, taps: Vec::new(), labels: Vec::new() }
    }

    /// Adds one robot's sample; robots come in order within a tick.
    pub fn push(&mut self, taps: &[f32], label: &[f32]) {
        self.taps.extend(taps);
        self.labels.extend(label);
    }

    /// How many samples: robots times ticks.
    pub fn len(&self) -> usize {
        self.labels.len() / self.outputs
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many ticks.
    pub fn ticks(&self) -> usize {
        self.len() / self.robots.max(1)
    }

    /// A sample by its number: taps and label.
    pub fn sample(&self, index: usize) -> (&[f32], &[f32]) {
        (
            &self.taps[index * self.inputs..][..self.inputs],
            &self.labels[index * self.outputs..][..self.outputs],
        )
    }

    /// Everybody's taps at a tick.
    pub fn taps(&self, tick: usize) -> &[f32] {
        let count = self.robots * self.inputs;
        &self.taps[tick * count..][..count]
    }

    /// What the expert would have had everybody do.
    pub fn labels(&self, tick: usize) -> &[f32] {
        let count = self.robots * self.outputs;
        &self.labels[tick * count..][..count]
    }
}

/// A stretch of a trajectory.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    /// Of which trajectory.
    pub trajectory: &'a Trajectory,
    /// Ticks before the stretch that only fill the chains.
    pub warm_up: usize,
    /// The ticks whose commands count.
    pub ticks: Range<usize>,
}

/// What one step of training looks at.
#[derive(Clone, Debug)]
pub enum Batch<'a> {
    /// Single samples: enough for one layer, whose taps are data.
    Samples(Vec<(&'a [f32], &'a [f32])>),
    /// Stretches of flights: for upper layers, whose taps depend on the weights.
    Windows(Vec<Window<'a>>),
}
