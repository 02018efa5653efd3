//! Header of a weight file.

use super::format::MAX_LAYERS;
use crate::{filter::scale::Scale, model::activation::Activation, online::Learning};

/// Task constants that training and flight must agree on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSettings {
    /// Number of the task, which prevents use of a network for another task.
    pub task: u16,
    /// Constants of the task.
    pub numbers: [f32; 8],
}

/// Dimensions of one layer in the weight file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerDimensions {
    /// Taps, K_ℓ + 1.
    pub taps: u16,
    /// Output features F_ℓ.
    pub features: u16,
}

/// Description of the network in a weight file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    /// The deep part's nonlinearity.
    pub activation: Activation,
    /// Scale of sums over neighbors.
    pub scale: Scale,
    /// Input features F.
    pub features: u16,
    /// Hidden features G.
    pub hidden: u16,
    /// Outputs O.
    pub outputs: u16,
    /// Dimensions of the layers, first layer first; unused entries are zero.
    pub layers: [LayerDimensions; MAX_LAYERS],
    /// Task and its constants.
    pub task: TaskSettings,
    /// Learning rule that the model was tuned for.
    pub learning: Learning,
    /// Control ticks per exchange that the model was trained for.
    pub interval: u16,
    /// Lag of the body in seconds, from a command to its effect; 0 for a point mass.
    ///
    /// `wdgnn-robot` predicts states over it; this crate only stores it, in steps of 2 ms up to 0.51 s.
    pub lag: f32,
}
