//! What a node asks of a network whose wide part is in its own hands.

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

/// A network whose wide parameters are held by the node and passed in.
pub trait Model {
    /// The node's own input signal x, `[f32; F]`.
    type Features: Array;
    /// The command u, `[f32; O]`.
    type Output: Array;
    /// The delayed taps of all layers.
    type Taps: DelayLines;
    /// The wide parameters that are learned in flight and shared with the neighbors.
    type Wide: Tensor;
    /// The right factor of a gradient: the gradient of the wide parameters is `z · factorᵀ`.
    type Factor: Tensor;

    /// Which of the two forms this is: part of a beacon's shape, so that they never mix.
    const FOLDED: bool;

    /// The taps z of the first chain, which the wide part shares: a gradient's left factor.
    fn first_line_taps(taps: &Self::Taps) -> &[f32];

    /// How sums over neighbors are scaled.
    fn scale(&self) -> Scale;

    /// The wide parameters as trained offline: where a node starts, and what the ridge and the ball hold on to.
    fn offline(&self) -> &Self::Wide;

    /// The network's output for the node's own features, before any clamp. Fills in the chains' own signals.
    fn infer(&self, wide: &Self::Wide, features: &Self::Features, taps: &mut Self::Taps) -> Self::Output;

    /// The gradient of the loss with respect to the wide parameters, given the loss's gradient with respect to the output:
    /// its right factor. The left one is the first chain's taps z.
    fn gradient(&self, output_gradient: &Self::Output) -> Self::Factor;

    /// Takes `step` times the gradient away: `wide −= step · z · factorᵀ`.
    fn descend(&self, wide: &mut Self::Wide, taps: &Self::Taps, factor: &Self::Factor, step: f32);
}

/// In which metric the folded rule descends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Metric {
    /// `M = RᵀR`: the same steps as the paper's rule in B.
    Paper,
    /// The identity: plain gradient descent in C.
    Euclidean,
}
