//! Networks: the deep part, the wide part and their readout, folded or as in the paper.
//!
//! A [`Model`] is frozen. The agent holds the wide parameters and passes them as an argument.

pub mod activation;
pub mod deep;
pub mod folded;
pub mod network;
pub mod shape;
pub mod unfolded;

use serde::{Deserialize, Serialize};

use crate::{
    filter::{DelayLines, scale::Scale},
    tensor::{Array, Tensor},
};

/// A network that receives its wide parameters as an argument.
pub trait Model {
    /// Input features x of the robot, `[f32; F]`.
    type Features: Array;
    /// Output u, `[f32; O]`.
    type Output: Array;
    /// Delay lines of all layers.
    type Taps: DelayLines;
    /// Wide parameters, learned in flight and shared with the neighbors.
    type Wide: Tensor;
    /// Right factor of a gradient, `[f32; N]`.
    ///
    /// The gradient of the wide parameters is `z · factorᵀ`, with the taps z of the first layer.
    type Factor: Array;

    /// Returns the scale of sums over neighbors.
    fn scale(&self) -> Scale;

    /// Returns the wide parameters as trained offline.
    ///
    /// A robot starts with them. The ridge and the ball of the learning rule are centered on them.
    fn offline(&self) -> &Self::Wide;

    /// Computes the output for the robot's own features, before it is clamped.
    ///
    /// Writes tap 0 of every delay line.
    fn infer(&self, wide: &Self::Wide, features: &Self::Features, taps: &mut Self::Taps) -> Self::Output;

    /// Right factor of the loss gradient with respect to the wide parameters.
    ///
    /// `output_gradient` is the loss gradient with respect to the output.
    fn gradient(&self, output_gradient: &Self::Output) -> Self::Factor;

    /// Takes a gradient step: `wide −= step · z · factorᵀ`.
    fn descend(&self, wide: &mut Self::Wide, taps: &Self::Taps, factor: &Self::Factor, step: f32);
}

/// Matrix M in the update of the folded parameters C. Models are built with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum GradientMetric {
    /// `M = RᵀR`: steps equal those of the paper's rule in B.
    Paper,
    /// The identity: plain gradient descent in C.
    Euclidean,
}

impl GradientMetric {
    /// All metrics, in the order of their codes in weight files.
    pub const ALL: &'static [Self] = &[Self::Paper, Self::Euclidean];
}
