//! What a network is trained on: flights in which an expert says what it would have done.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wdgnn_core::model::shape::Dimensions;

use super::numbers;
use crate::links::Links;

/// One flight: at every tick and for every robot, the taps of its first chain and the expert's command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trajectory {
    /// How many robots.
    pub robots: usize,
    /// Who heard whom at every tick; kept only where a network has upper layers.
    pub links: Vec<Links>,
    inputs: usize,
    outputs: usize,
    #[serde(with = "numbers")]
    taps: Vec<f32>,
    #[serde(with = "numbers")]
    labels: Vec<f32>,
}

impl Trajectory {
    /// A flight of so many robots, to train a network of these dimensions.
    #[must_use]
    pub fn new(size: &Dimensions, robots: usize) -> Self {
        let (inputs, outputs) = (size.inputs(0), size.outputs);
        Self { robots, links: Vec::new(), inputs, outputs, taps: Vec::new(), labels: Vec::new() }
    }

    /// Whether it is a flight to train a network of these dimensions: one that came from elsewhere may be anything.
    #[must_use]
    pub fn fits(&self, size: &Dimensions) -> bool {
        let (inputs, outputs) = (size.inputs(0), size.outputs);
        let each = self.robots.max(1);
        (self.inputs, self.outputs) == (inputs, outputs)
            && self.robots > 0
            && !self.is_empty()
            && self.labels.len() == self.ticks() * each * outputs
            && self.taps.len() == self.ticks() * each * inputs
            && self.links.len() == if size.layers > 1 { self.ticks() } else { 0 }
            && self.links.iter().all(|links| links.is_sound(self.robots))
    }

    /// Adds one robot's sample; robots come in order within a tick.
    pub fn push(&mut self, taps: &[f32], label: &[f32]) {
        self.taps.extend(taps);
        self.labels.extend(label);
    }

    /// How many samples: robots times ticks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len() / self.outputs
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many ticks.
    #[must_use]
    pub fn ticks(&self) -> usize {
        self.len() / self.robots.max(1)
    }

    /// A sample by its number: taps and label.
    #[must_use]
    pub fn sample(&self, index: usize) -> (&[f32], &[f32]) {
        (
            &self.taps[index * self.inputs..][..self.inputs],
            &self.labels[index * self.outputs..][..self.outputs],
        )
    }

    /// Everybody's taps at a tick.
    #[must_use]
    pub fn taps(&self, tick: usize) -> &[f32] {
        let count = self.robots * self.inputs;
        &self.taps[tick * count..][..count]
    }

    /// What the expert would have had everybody do.
    #[must_use]
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
