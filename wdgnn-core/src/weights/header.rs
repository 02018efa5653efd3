//! What a weight file says about its network.

use super::format::MAX_LAYERS;
use crate::{filter::scale::Scale, model::activation::Activation, online::Learning};

/// What a task keeps in the weight file, because training and flight must agree on it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TaskSettings {
    /// Which task, so that a network is never flown on another one.
    pub task: u16,
    /// The task's own numbers.
    pub numbers: [f32; 8],
}

/// One layer's dimensions in the weight file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LayerDimensions {
    /// Taps, K_ℓ + 1.
    pub taps: u16,
    /// Output features F_ℓ.
    pub features: u16,
}

/// What a weight file says about its network.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// The deep part's nonlinearity.
    pub activation: Activation,
    /// How sums over neighbors are scaled.
    pub scale: Scale,
    /// Input features F.
    pub features: u16,
    /// Hidden features G.
    pub hidden: u16,
    /// Outputs O.
    pub outputs: u16,
    /// The layers in use, first layer first; the rest is zero.
    pub layers: [LayerDimensions; MAX_LAYERS],
    /// The task and its numbers.
    pub task: TaskSettings,
    /// The learning rule that the model was tuned for.
    pub learning: Learning,
    /// Control ticks from one exchange to the next that the model was trained for.
    pub interval: u16,
}
