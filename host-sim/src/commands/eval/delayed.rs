//! One swarm with delayed actuators, as trained and online learning: a condition in which learning makes a visible difference.

use serde::Serialize;

use crate::{
    controllers::{Controller, EvalConfig, OFFLINE, ONLINE},
    episode::EpisodeMetrics,
    error::Result,
    page::replay::{self, Replay},
    world::{
        Scenario,
        flock::{Flock, dynamics::ModelMismatch},
    },
};

/// Actuator delay in ticks of 10 ms. Training had none.
const DELAY_TICKS: u32 = 8;
/// Length of the flight in ticks.
const TICKS: u32 = 600;
/// Ticks at the end of the flight over which the score is averaged.
const END_TICKS: usize = 100;

/// Scores at the end of both flights.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scores {
    /// Actuator delay in milliseconds.
    pub milliseconds: u32,
    /// Length of the flights in seconds.
    pub seconds: u32,
    /// Velocity variation as trained, in m²/s², mean over the last second.
    pub as_trained: f64,
    /// Velocity variation with learning in flight, in m²/s², mean over the last second.
    pub learning_in_flight: f64,
}

/// Both flights.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// Scores at the end.
    pub scores: Scores,
    /// Recording of both flights.
    pub replay: Replay,
}

impl Delayed {
    /// Flies the first swarm of `seed` twice.
    ///
    /// # Errors
    /// Errors of the flights.
    pub fn fly(eval: &EvalConfig<Flock>, condition: &Scenario, seed: u64) -> Result<Self> {
        let world = Flock::with(ModelMismatch { delay: DELAY_TICKS, ..ModelMismatch::default() });
        let eval = EvalConfig { world, ..eval.clone() };
        let condition = Scenario { ticks: TICKS, ..*condition };
        let controllers = [Controller::named(OFFLINE)?, Controller::named(ONLINE)?];
        let (replay, flights) = replay::record(&eval, &controllers, &condition, seed, &|| {})?;
        let end = |flight: &EpisodeMetrics| {
            let scores = &flight.score[flight.score.len().saturating_sub(END_TICKS)..];
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        let scores = Scores {
            milliseconds: 10 * DELAY_TICKS,
            seconds: TICKS / 100,
            as_trained: end(&flights[0]),
            learning_in_flight: end(&flights[1]),
        };
        Ok(Self { scores, replay })
    }
}

impl Scores {
    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        format!(
            "After {} s with actuators delayed by {} ms, the velocity variation of one swarm is {} as trained and {} with learning \
             in flight.",
            self.seconds,
            self.milliseconds,
            variation(self.as_trained),
            variation(self.learning_in_flight)
        )
    }
}

/// A velocity variation with its unit; values below a thousandth are not told apart.
fn variation(value: f64) -> String {
    if value < 0.001 { "below 0.001 m²/s²".into() } else { format!("{value:.3} m²/s²") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::RecipeName;

    #[test]
    fn learning_ends_the_oscillation_of_delayed_actuators() {
        let eval = EvalConfig::shipped(RecipeName::Through).unwrap();
        let delayed = Delayed::fly(&eval, &Scenario { robots: 12, ..Scenario::PAPER }, 7).unwrap();
        let Scores { as_trained, learning_in_flight, .. } = delayed.scores;
        assert!(as_trained > 0.1 && learning_in_flight < 0.01, "{:?}", delayed.scores);
        assert_eq!(delayed.replay.flights.len(), 2);
    }
}
