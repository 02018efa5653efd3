//! The paper's realizations: data sets and networks trained from several seeds.

use std::{path::Path, sync::atomic::AtomicBool};

use crate::{
    error::Result,
    evaluate::{ControllerResult, MeanStd, Summary},
    model::ModelFile,
    progress::Progress,
    recipe::{Architecture, RecipeName},
    shapes::Shapes,
    train::{
        config::Config,
        recipe::Recipe,
        run::{Train, Watcher},
    },
    world::Environment,
};

/// Trains all architectures from one seed. `bar` advances by one step per epoch.
pub fn train<W: Environment>(
    recipe: RecipeName, seed: u64, bar: &Progress, stop: &AtomicBool,
) -> Result<Vec<ModelFile>> {
    let train = |&architecture: &Architecture| {
        let size = W::Shapes::all()[0];
        let config = Config::<W> {
            recipe: Recipe::named(recipe, W::default())?,
            architecture,
            size,
            seed,
            weights: None,
        };
        let out = Path::new(architecture.name());
        let train = Train { config: &config, out, watcher: &BarOnly(bar), stop };
        train.run().map(|(model, _)| model)
    };
    Architecture::ALL.iter().map(train).collect()
}

/// Watcher that advances a progress bar and writes no file.
struct BarOnly<'a>(&'a Progress);

impl Watcher for BarOnly<'_> {
    fn epoch(&self, _: usize, _: f32, _: Option<f64>) {
        self.0.inc(1);
    }
}

/// Averages realizations as the paper does: mean and standard deviation over the realizations' means over swarms.
pub fn average(realizations: &[Vec<ControllerResult>]) -> Vec<ControllerResult> {
    let first = realizations.first().map_or(&[][..], Vec::as_slice);
    let rows = first.iter().enumerate().map(|(row, outcome)| {
        let each: Vec<&ControllerResult> = realizations.iter().map(|outcomes| &outcomes[row]).collect();
        let spread = |value: fn(&Summary) -> f64| {
            MeanStd::of(&each.iter().map(|outcome| value(&outcome.summary)).collect::<Vec<_>>())
        };
        let disagreement = |summary: &Summary| summary.disagreement.unwrap_or_default();
        let summary = Summary {
            total: spread(|summary| summary.total.mean),
            last: spread(|summary| summary.last.mean),
            min_distance: each.iter().map(|o| o.summary.min_distance).fold(f64::INFINITY, f64::min),
            close_pairs: spread(|summary| summary.close_pairs).mean,
            close_pairs_200_mm: spread(|summary| summary.close_pairs_200_mm).mean,
            close_pairs_300_mm: spread(|summary| summary.close_pairs_300_mm).mean,
            disagreement: outcome.summary.disagreement.map(|_| spread(disagreement).mean),
            heard: None,
            refused: None,
        };
        let flights = each.iter().flat_map(|outcome| outcome.flights.clone()).collect();
        ControllerResult { flights, summary, ..outcome.clone() }
    });
    rows.collect()
}
