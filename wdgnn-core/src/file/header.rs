//! What a weight file says about its network, and how that lies in the file.

use postcard::fixint::le;
use serde::{Deserialize, Serialize};

use super::{
    error::{Field, WeightsError},
    format::{MAGIC, MOST_LAYERS, VERSION},
};
use crate::{
    learn::online::{Learning, Mixing},
    math,
    net::{activation::Activation, taps::Scale, wide::Metric},
};

/// When the taps are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Schedule {
    /// One exchange per tick: tap k is k ticks old. Flocking.
    Delayed,
    /// As many exchanges as the chains are long inside one step, on a graph that stands still. Ratings.
    Synchronous,
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LayerDimensions {
    /// Taps, K_ℓ + 1.
    #[serde(with = "le")]
    pub taps: u16,
    /// Output features F_ℓ.
    #[serde(with = "le")]
    pub features: u16,
}

/// What a weight file says about its network.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    /// The deep part's nonlinearity.
    pub activation: Activation,
    /// When taps are exchanged.
    pub schedule: Schedule,
    /// How sums over neighbours are scaled.
    pub scale: Scale,
    /// Input features F.
    pub features: u16,
    /// Hidden features G.
    pub hidden: u16,
    /// Outputs O.
    pub outputs: u16,
    /// The layers in use, first layer first; the rest is zero.
    pub layers: [LayerDimensions; MOST_LAYERS],
    /// The task and its numbers.
    pub task: TaskSettings,
    /// The learning rule that the model was tuned for.
    pub learning: Learning,
    /// Control ticks per exchange that the model was trained for.
    pub exchange_divisor: u16,
}

/// The personal part's clip is kept in tenths.
const CLIPS_PER_UNIT: f32 = 10.0;

/// The header as it lies in the file. Every field has a fixed width, so the numbers behind it stay aligned.
#[derive(Serialize, Deserialize)]
pub(super) struct Raw {
    magic: [u8; 4],
    version: u8,
    activation: u8,
    schedule: u8,
    scale: u8,
    scale_factor: f32,
    #[serde(with = "le")]
    features: u16,
    #[serde(with = "le")]
    hidden: u16,
    #[serde(with = "le")]
    outputs: u16,
    #[serde(with = "le")]
    task: u16,
    layers: [LayerDimensions; MOST_LAYERS],
    task_numbers: [f32; 8],
    learning: [f32; 5],
    metric: u8,
    mixing: u8,
    through_clamp: u8,
    personal_clip: u8,
    #[serde(with = "le")]
    exchange_divisor: u16,
    #[serde(with = "le")]
    personal_step: u16,
    #[serde(with = "le")]
    pub(super) numbers: u32,
}

impl Raw {
    pub(super) fn new(header: &Header, numbers: usize) -> Self {
        let (scale, scale_factor) = match header.scale {
            Scale::Sum => (0, 1.0),
            Scale::Mean => (1, 1.0),
            Scale::Scaled(factor) => (2, factor),
            Scale::Closed => (3, 1.0),
        };
        Self {
            magic: MAGIC,
            version: VERSION,
            activation: header.activation.code(),
            schedule: u8::from(header.schedule == Schedule::Synchronous),
            scale,
            scale_factor,
            features: header.features,
            hidden: header.hidden,
            outputs: header.outputs,
            task: header.task.task,
            layers: header.layers,
            task_numbers: header.task.numbers,
            learning: header.learning.numbers(),
            metric: u8::from(header.learning.metric == Metric::Euclidean),
            mixing: header.learning.mixing.code(),
            through_clamp: u8::from(header.learning.through_clamp) + 2 * u8::from(header.learning.heeds),
            personal_clip: (header.learning.personal_clip * CLIPS_PER_UNIT) as u8,
            exchange_divisor: header.exchange_divisor,
            personal_step: header.learning.personal_step as u16,
            numbers: numbers as u32,
        }
    }

    pub(super) fn check(&self) -> Result<Header, WeightsError> {
        let unknown = |field, code: u8| WeightsError::Mismatch { field, expected: 0, found: code.into() };
        let metric = match self.metric {
            0 => Metric::Paper,
            1 => Metric::Euclidean,
            code => return Err(unknown(Field::Learning, code)),
        };
        let (through_clamp, heeds) = match self.through_clamp {
            code @ 0..=3 => (code & 1 != 0, code & 2 != 0),
            code => return Err(unknown(Field::Learning, code)),
        };
        let personal_step = f32::from(self.personal_step);
        let personal_clip = f32::from(self.personal_clip) / CLIPS_PER_UNIT;
        let mixing = Mixing::from_code(self.mixing).ok_or(unknown(Field::Learning, self.mixing))?;
        let fractions = self.task_numbers.iter().chain(&self.learning).chain([&self.scale_factor]);
        if !fractions.copied().all(math::admissible) {
            return Err(WeightsError::NotAdmissible);
        }
        let [step, cooling, ridge, ball, clip] = self.learning;
        Ok(Header {
            activation: Activation::from_code(self.activation)
                .ok_or(unknown(Field::Activation, self.activation))?,
            schedule: match self.schedule {
                0 => Schedule::Delayed,
                1 => Schedule::Synchronous,
                code => return Err(unknown(Field::Schedule, code)),
            },
            scale: match self.scale {
                0 => Scale::Sum,
                1 => Scale::Mean,
                2 => Scale::Scaled(self.scale_factor),
                3 => Scale::Closed,
                code => return Err(unknown(Field::Scale, code)),
            },
            features: self.features,
            hidden: self.hidden,
            outputs: self.outputs,
            layers: self.layers,
            task: TaskSettings { task: self.task, numbers: self.task_numbers },
            learning: Learning {
                step,
                cooling,
                ridge,
                ball,
                clip,
                metric,
                mixing,
                through_clamp,
                personal_step,
                personal_clip,
                heeds,
            },
            exchange_divisor: self.exchange_divisor,
        })
    }
}
