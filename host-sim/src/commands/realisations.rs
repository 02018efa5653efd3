//! The paper's realisations: everything drawn and trained anew, several times over.

use std::{path::Path, sync::atomic::AtomicBool};

use wdgnn_core::tasks::flocking::Flocking;

use crate::{
    controllers::EvalConfig,
    error::Result,
    evaluate::{ControllerResult, MeanStd, Summary},
    model::ModelFile,
    progress::Progress,
    recipe::{Architecture, RecipeName},
    shapes::Shapes,
    train::{
        checkpoint::Checkpoint,
        plan::Plan,
        recipe::Recipe,
        run::{Train, Watcher},
    },
    world::{World, flock::Flock},
};

/// Trains all three architectures from one seed. `bar` advances by an epoch at a time.
pub fn eval(recipe: RecipeName, seed: u64, bar: &Progress, stop: &AtomicBool) -> Result<EvalConfig<Flock>> {
    let train = |&architecture: &Architecture| {
        let size = <<Flock as World>::Shapes as Shapes<Flocking>>::all()[0];
        let plan = Plan::<Flock>::new(Recipe::named(recipe)?, architecture, size, seed);
        let out = Path::new(architecture.name());
        let train = Train { plan: &plan, out, resume: None, watcher: &Silent(bar), stop };
        train.run().map(|(model, _)| model)
    };
    let models = Architecture::ALL.iter().map(train).collect::<Result<_>>()?;
    Ok(EvalConfig { models, ..EvalConfig::shipped(recipe)? })
}

/// Only the bar moves; nothing is kept on disk.
struct Silent<'a>(&'a Progress);

impl Watcher for Silent<'_> {
    fn epoch(&self, _: usize, _: f32, _: Option<f64>) {
        self.0.inc(1);
    }

    fn share(&self, share: f64) {
        self.0.set_share(share);
    }

    fn best(&self, _: &ModelFile) -> Result {
        Ok(())
    }

    fn checkpoint(&self, _: &Checkpoint) -> Result {
        Ok(())
    }
}

/// Brings realisations together as the paper does: mean and standard deviation over realisations of each one's mean over
/// swarms.
pub fn together(realisations: &[Vec<ControllerResult>]) -> Vec<ControllerResult> {
    let first = realisations.first().map_or(&[][..], Vec::as_slice);
    first
        .iter()
        .enumerate()
        .map(|(row, outcome)| {
            let each: Vec<&ControllerResult> = realisations.iter().map(|outcomes| &outcomes[row]).collect();
            let spread = |value: fn(&Summary) -> f64| {
                MeanStd::of(&each.iter().map(|outcome| value(&outcome.summary)).collect::<Vec<_>>())
            };
            let summary = Summary {
                total: spread(|summary| summary.total.mean),
                last: spread(|summary| summary.last.mean),
                min_distance: each.iter().map(|o| o.summary.min_distance).fold(f64::INFINITY, f64::min),
                close_pairs: spread(|summary| summary.close_pairs).mean,
                close_pairs_200_mm: spread(|summary| summary.close_pairs_200_mm).mean,
                close_pairs_300_mm: spread(|summary| summary.close_pairs_300_mm).mean,
                disagreement: each[0]
                    .summary
                    .disagreement
                    .map(|_| spread(|summary| summary.disagreement.unwrap_or_default()).mean),
                heard: None,
                refused: None,
            };
            let flights = each.iter().flat_map(|outcome| outcome.flights.clone()).collect();
            ControllerResult { flights, summary, ..outcome.clone() }
        })
        .collect()
}
