//! Parameters of the training methods.

use super::gradient::Loss;

/// Parameters of imitation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imitation {
    /// Episodes in the data set.
    pub flights: usize,
    /// Episodes that the current network adds in each epoch replacing the oldest (data-set
    /// aggregation); 0 keeps the expert's episodes (behavior cloning).
    pub refresh: usize,
    /// Whether training episodes vary their condition.
    pub mixed: bool,
    /// Samples per step drawn at random; `None` takes 20 whole trajectories per step, each once per epoch.
    pub samples: Option<usize>,
    pub loss: Loss,
}

/// Parameters of backpropagation through time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bptt {
    /// Length of a training episode in ticks.
    pub ticks: u32,
    /// Episodes per step.
    pub flights: usize,
    /// Weight of the final score.
    pub terminal: f32,
    /// Share of episodes with mixed conditions and model mismatch.
    pub mixed: f32,
    /// Largest norm of an episode's gradient.
    pub longest: f32,
}

/// Parameters of the evolution strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evolution {
    /// Pairs of networks per step.
    pub pairs: usize,
    /// Episodes per network.
    pub flights: usize,
    /// Standard deviation of the perturbation per number.
    pub reach: f32,
}

impl Evolution {
    /// For a few hundred numbers.
    pub const DEFAULT: Self = Self { pairs: 24, flights: 2, reach: 0.05 };
}

/// Training method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Imitation of an expert.
    Imitation(Imitation),
    /// Backpropagation through time.
    Bptt(Bptt),
    /// Evolution strategy.
    Evolution(Evolution),
}

impl Imitation {
    /// Data-set aggregation over mixed conditions, for commands up to `limit`: larger commands are
    /// clamped, and errors above half of it count linearly.
    pub fn aggregation(limit: f32) -> Self {
        let loss = Loss { clamp: Some(limit), huber: limit / 2.0 };
        Self { flights: 400, refresh: 20, mixed: true, samples: Some(2048), loss }
    }

    /// The paper's parameters: four hundred episodes of the expert.
    pub const PAPER: Self =
        Self { flights: 400, refresh: 0, mixed: false, samples: None, loss: Loss::SQUARED };
}

impl Bptt {
    /// Half a second; the final score counts five times.
    pub const DEFAULT: Self = Self { ticks: 50, flights: 10, terminal: 5.0, mixed: 0.3, longest: 1.0 };
}
