//! A second implementation of [`Task`], for tests that choose every number of the network's input.

use serde::{Deserialize, Serialize};
use wdgnn_core::task::NodeId;
use wdgnn_robot::tasks::{CollisionAvoidance, MotionModel, PlausibilityChecks};

use super::prelude::*;

/// Features of a node, set by the test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal<const F: usize>(#[serde(with = "wdgnn_core::tensor::serde_array")] pub [f32; F]);

impl<const F: usize> State for Signal<F> {
    type Array = [f32; F];

    fn to_array(&self) -> [f32; F] {
        self.0
    }

    fn from_array(numbers: [f32; F]) -> Self {
        Self(numbers)
    }
}

/// Task with the loss ½‖u‖², over edges with weights.
#[derive(Clone, Debug)]
pub struct Regression<const F: usize, const O: usize> {
    /// Edge weights by neighbor; 1 beyond the end.
    pub weights: Vec<f32>,
}

impl<const F: usize, const O: usize> Regression<F, O> {
    pub fn new() -> Self {
        Self { weights: Vec::new() }
    }
}

impl<const F: usize, const O: usize> Task for Regression<F, O> {
    const ID: u16 = 1000;

    type State = Signal<F>;
    type Features = [f32; F];
    type Command = [f32; O];

    fn from_constants(_: &[f32; 8]) -> Self {
        Self::new()
    }

    fn features<'a>(&self, own: &Signal<F>, _: impl Iterator<Item = &'a Signal<F>>) -> [f32; F] {
        own.0
    }

    fn loss_gradient<'a>(
        &self, _: &Signal<F>, _: impl Iterator<Item = &'a Signal<F>>, command: &[f32; O],
    ) -> [f32; O] {
        *command
    }

    fn saturate(&self, output: &[f32; O]) -> [f32; O] {
        *output
    }

    fn edge_weight(&self, neighbor: NodeId) -> f32 {
        self.weights.get(usize::from(neighbor)).copied().unwrap_or(1.0)
    }
}

impl<const F: usize, const O: usize> MotionModel for Regression<F, O> {
    fn period(&self) -> f32 {
        1.0
    }
}

impl<const F: usize, const O: usize> CollisionAvoidance for Regression<F, O> {}

impl<const F: usize, const O: usize> PlausibilityChecks for Regression<F, O> {
    type Stats = ();
}
