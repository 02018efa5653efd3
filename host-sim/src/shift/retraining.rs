//! Retraining of the network under one condition: an upper bound for adaptation.
//!
//! First the gain of the readout is searched, because gradients vanish in a swarm that oscillates
//! at the limit of its commands. Then the network is trained through the simulator. The best
//! network is selected on separate swarms.

use std::sync::atomic::Ordering;

use wdgnn_core::model::shape::Dimensions;

use super::{ModelMismatch, Plan};
use crate::{
    controllers::{EvalConfig, OFFLINE},
    episode::EpisodeMetrics,
    error::{Error, Result},
    model::ModelFile,
    swarm::networks::Draft,
    train::{
        adam::Adam,
        bptt::{self, Bptt},
        initialization,
        net::Places,
    },
    world::{Training as _, World as _, flock::Flock},
};

/// Candidate gains of the readout, relative to the current one.
const GAINS: [f32; 8] = [1.0, 2.0, 1.4, 0.7, 0.5, 0.35, 0.25, 0.15];
/// Swarms for the selection.
const FLIGHTS: usize = 6;
/// Offset of their seed from that of the measured swarms.
const APART: u64 = 1 << 32;
/// Initial rate of Adam.
const RATE: f32 = 2.0e-3;

impl Plan<'_> {
    /// Best network so far.
    pub(super) fn retrained(&self, quirks: ModelMismatch) -> Result<ModelFile> {
        let model = &self.eval.models[0];
        let weights = model.weights();
        let places = Places::of(&Dimensions::of(&weights.header));
        let mut best = (f64::INFINITY, model.clone());
        for gain in GAINS {
            let mut numbers = weights.numbers.to_vec();
            numbers[places.readout.start..places.readout_bias.end].iter_mut().for_each(|r| *r *= gain);
            self.keep_better(quirks, &numbers, &mut best)?;
        }
        let descended = self.descended(quirks, &best.1)?;
        self.keep_better(quirks, &descended, &mut best)?;
        Ok(best.1)
    }

    /// Evaluates weights and keeps them if they are the best.
    fn keep_better(&self, quirks: ModelMismatch, numbers: &[f32], best: &mut (f64, ModelFile)) -> Result {
        let model = &self.eval.models[0];
        let file = ModelFile::new(model.path(), &model.weights().header, numbers)?;
        let eval = EvalConfig { models: vec![file], ..self.eval.clone() };
        let plan = Plan { swarms: FLIGHTS, ..*self };
        let flights = plan.fly(&eval, OFFLINE, quirks, self.seed + APART)?;
        let total = flights.iter().map(EpisodeMetrics::total).sum();
        if let (true, Some(file)) = (total < best.0, eval.models.into_iter().next()) {
            *best = (total, file);
        }
        Ok(())
    }

    /// Returns the weights after some training steps.
    fn descended(&self, quirks: ModelMismatch, model: &ModelFile) -> Result<Vec<f32>> {
        let weights = model.weights();
        let size = Dimensions::of(&weights.header);
        let (scale, task) = (weights.header.scale, self.eval.task()?);
        let (exchange, lag) = (weights.header.interval.into(), weights.header.lag);
        // Covers more than half of the episode.
        let through = Bptt { ticks: 100, flights: 8, mixed: 0.0, terminal: 20.0, longest: 1.0 };
        let world = self.world(quirks);
        let mut numbers = weights.numbers.to_vec();
        let Some(adjoint) = world.adjoint() else { return Ok(numbers) };
        let unseen = adjoint.blocked_features();
        let draw = |_: &mut _| (world.clone(), world.scenario());
        let mut adam = Adam::new(numbers.len());
        let mut gradient = vec![0.0; numbers.len()];
        for step in 0..self.retrain {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let draft = Draft { numbers: &numbers, size, scale, task, exchange, lag };
            // The swarms differ from the measured ones.
            let number = (1 << 20) + step as u64;
            bptt::gradient::<Flock>(&draft, &through, &draw, self.seed, number, &mut gradient)?;
            for range in initialization::rows(&size, &unseen) {
                gradient[range].fill(0.0);
            }
            let rate = RATE * (1.0 - 0.9 * step as f32 / self.retrain as f32);
            adam.step(&mut numbers, &gradient, rate);
        }
        for number in &mut numbers {
            *number = wdgnn_core::math::flush_subnormal(*number);
        }
        Ok(numbers)
    }
}
