//! The choices of each way to train.

use super::gradient::Loss;

/// Those of imitation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imitation {
    /// Flights in the data set.
    pub flights: usize,
    /// Flights that the current network adds in every epoch, the oldest leaving (data-set aggregation); 0 keeps to the expert's
    /// flights (behaviour cloning).
    pub refresh: usize,
    /// Whether training flights vary their condition.
    pub mixed: bool,
    /// Samples per step drawn at random; `None` takes 20 whole trajectories per step, each once per epoch.
    pub samples: Option<usize>,
    /// The loss.
    pub loss: Loss,
}

/// Those of training through the simulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bptt {
    /// Length of a training flight in ticks.
    pub ticks: u32,
    /// Flights per step.
    pub flights: usize,
    /// Weight of the score at the end.
    pub terminal: f32,
    /// Share of flights under mixed conditions and with robots that are not as they should be.
    pub mixed: f32,
    /// A flight's gradient is shortened to this norm.
    pub longest: f32,
}

/// Those of the evolution strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evolution {
    /// Pairs of networks per step.
    pub pairs: usize,
    /// Flights of each.
    pub flights: usize,
    /// How far each is from the current one, per number.
    pub reach: f32,
}

impl Evolution {
    /// Enough for some hundreds of numbers.
    pub const DEFAULT: Self = Self { pairs: 24, flights: 2, reach: 0.05 };
}

/// How to train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// By imitation of an expert.
    Imitation(Imitation),
    /// Bptt the simulator.
    Bptt(Bptt),
    /// By an evolution strategy.
    Evolution(Evolution),
}

impl Imitation {
    /// Data-set aggregation over mixed conditions, for commands up to `limit`: beyond it a robot cannot tell the difference, and from
    /// half of it on an error counts linearly.
    pub fn aggregation(limit: f32) -> Self {
        let loss = Loss { clamp: Some(limit), huber: limit / 2.0 };
        Self { flights: 400, refresh: 20, mixed: true, samples: Some(2048), loss }
    }

    /// The paper's: four hundred flights of the expert's.
    pub const PAPER: Self =
        Self { flights: 400, refresh: 0, mixed: false, samples: None, loss: Loss::SQUARED };
}

impl Bptt {
    /// Half a second, with what is left at its end counted five times.
    pub const DEFAULT: Self = Self { ticks: 50, flights: 10, terminal: 5.0, mixed: 0.3, longest: 1.0 };
}
