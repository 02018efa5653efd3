//! The paper's realisations: everything drawn and trained anew, several times over.

use std::{path::Path, sync::atomic::AtomicBool};

use indicatif::ProgressBar;

use super::{
    checkpoint::Checkpoint,
    recipe::{Architecture, Recipe, RecipeName},
    run::{Plan, Train, Watcher},
};
use crate::{
    controllers::{Controller, Fleet},
    error::Result,
    evaluate::{Outcome, Spread, Summary},
    model::ModelFile,
    shapes::{self, Dimensions},
};

/// Trains all three architectures from one seed. `bar` advances by an epoch at a time.
///
/// # Errors
/// Training that diverges, Ctrl-C.
pub fn fleet(recipe: RecipeName, seed: u64, bar: &ProgressBar, stop: &AtomicBool) -> Result<Fleet> {
    let [wd_gnn, gnn, graph_filter] = Architecture::ALL.map(|architecture| {
        let plan = Plan::new(recipe, Recipe::named(recipe), architecture, Dimensions::PAPER, seed);
        let out = Path::new(architecture.name());
        let train = Train { plan: &plan, out, resume: None, watcher: &Silent(bar), stop };
        shapes::visit(plan.dimensions, train)?
    });
    Ok(Fleet { models: vec![wd_gnn?, gnn?, graph_filter?], ..Fleet::shipped(recipe)? })
}

/// Only the bar moves; nothing is kept on disk.
struct Silent<'a>(&'a ProgressBar);

impl Watcher for Silent<'_> {
    fn epoch(&self, _: usize, _: f32, _: Option<f64>) {
        self.0.inc(1);
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
#[must_use]
pub fn together(realisations: &[Vec<Outcome>]) -> Vec<Outcome> {
    Controller::ALL
        .iter()
        .enumerate()
        .map(|(row, &controller)| {
            let each: Vec<&Outcome> = realisations.iter().map(|outcomes| &outcomes[row]).collect();
            let spread = |value: fn(&Summary) -> f64| {
                Spread::of(&each.iter().map(|outcome| value(&outcome.summary)).collect::<Vec<_>>())
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
            Outcome { controller, flights, summary }
        })
        .collect()
}
