//! `host-sim train`: a network from nothing.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
};

use clap::Args;
use indicatif::ProgressBar;

use crate::{
    error::{Error, Result},
    files,
    model::ModelFile,
    profiles::{self, Profile},
    progress,
    shapes::{self, Dimensions},
    train::{
        checkpoint::{self, Checkpoint},
        recipe::{Architecture, Recipe, RecipeName},
        run::{Plan, Train, Watcher},
    },
};

/// Train a network: through the simulator, or to imitate the expert.
///
/// Weights, data and batches all follow from the seed: the same command gives the same file, at any number of threads. (Across
/// kinds of processors rounding may differ.) Ctrl-C ends after the epoch under way and leaves the best network so far
/// in the output file; `--resume` goes on from there.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim train --out my.wdgnn\n  host-sim train --out filter.wdgnn --architecture graph-filter \
                        --seed 3\n  host-sim train --out two.wdgnn --recipe ours --layers 2 --taps 3 --features 16 --epochs 40\n  \
                        host-sim train --out paper.wdgnn --recipe paper\n  host-sim train --out radio.wdgnn --profile dot154\n  \
                        host-sim flock --model my.wdgnn"
)]
pub struct TrainArguments {
    /// Where to keep the network.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Which parts the network has.
    #[arg(long, value_enum, default_value = "wd-gnn")]
    pub architecture: Architecture,
    /// How to train it.
    #[arg(long, value_enum, default_value = "through")]
    pub recipe: RecipeName,
    /// The link profile whose exchange rate it is trained for; other than exact, one layer of at most four taps.
    #[arg(long, value_enum, default_value = "exact")]
    pub profile: Profile,
    /// Control ticks per exchange, where robots are to say less than their profile has room for [default: the profile's].
    #[arg(long, value_name = "N")]
    pub exchange: Option<u32>,
    /// Robots in training flights [default: fifty, and others where conditions are mixed].
    #[arg(long, value_name = "N")]
    pub robots: Option<usize>,
    /// For recipes that imitate: a teacher of velocities only, without the expert's potential.
    #[arg(long)]
    pub no_potential: bool,
    /// Flights in the data set [default: 400]; with the recipe through, which keeps none, per epoch [default: 100].
    #[arg(long, value_name = "N")]
    pub trajectories: Option<usize>,
    /// Epochs [default: 30 for through and paper, 120 for ours].
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Layers of the deep part.
    #[arg(long, value_name = "L", default_value_t = 1)]
    pub layers: usize,
    /// Filter taps, K + 1.
    #[arg(long, value_name = "TAPS", default_value_t = 4)]
    pub taps: usize,
    /// Features per layer.
    #[arg(long, value_name = "G", default_value_t = 32)]
    pub features: usize,
    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Go on with a training run that was interrupted.
    #[arg(long)]
    pub resume: bool,
}

impl TrainArguments {
    fn plan(&self) -> Result<Plan> {
        let mut recipe = Recipe::named(self.recipe);
        recipe.epochs = self.epochs.unwrap_or(recipe.epochs);
        recipe.trajectories = self.trajectories.unwrap_or(recipe.trajectories);
        if recipe.epochs == 0 || recipe.trajectories == 0 {
            return Err(Error::usage("--epochs and --trajectories must be at least 1"));
        }
        recipe.refresh = recipe.refresh.min(recipe.trajectories);
        if let Some(through) = &mut recipe.through {
            through.flights = recipe.trajectories.min(through.flights);
            recipe.batches = recipe.trajectories / through.flights;
            // Long enough for a handful of exchanges.
            through.ticks = through.ticks.max(10 * self.exchange.unwrap_or(self.profile.exchange()));
            if self.layers > 1 {
                return Err(Error::usage("--recipe through trains one layer: give --recipe ours for more"));
            }
        }
        recipe.profile = self.profile;
        recipe.exchange = self.exchange.unwrap_or(self.profile.exchange());
        if recipe.exchange < self.profile.exchange() || recipe.exchange > 100 {
            return Err(Error::usage(format!(
                "--exchange {} cannot be: give {} to 100 ticks for --profile {}",
                recipe.exchange,
                self.profile.exchange(),
                self.profile.name()
            )));
        }
        recipe.robots = self.robots.unwrap_or(recipe.robots);
        if self.no_potential {
            if self.recipe == RecipeName::Through {
                return Err(Error::usage(
                    "--no-potential is the teacher's: give --recipe ours, or leave it out",
                ));
            }
            recipe.potential = false;
        }
        let dimensions = Dimensions { layers: self.layers, taps: self.taps, hidden: self.features };
        profiles::check_shape(self.profile, dimensions)?;
        Ok(Plan::new(self.recipe, recipe, self.architecture, dimensions, self.seed))
    }

    /// Trains.
    ///
    /// # Errors
    /// Options that cannot be, files that cannot be written, Ctrl-C.
    pub fn run(&self) -> Result {
        let stop = stop_on_interrupt()?;
        let model = self.train(&stop)?;
        let weights = model.weights();
        println!(
            "{}: {} of {} numbers, online step size {:.3}, checksum {:08x}",
            self.out.display(),
            self.architecture.name(),
            weights.numbers.len(),
            weights.header.learning.step,
            weights.checksum
        );
        let profile = match self.profile {
            Profile::Exact => String::new(),
            Profile::Espnow => " --profile espnow".into(),
            // As many as the air carries.
            profile => format!(" --profile {} --robots 10", profile.name()),
        };
        println!("fly it: host-sim flock --model {}{profile}", self.out.display());
        Ok(())
    }

    /// Trains, writes the file, and returns it.
    ///
    /// # Errors
    /// As [`TrainArguments::run`].
    pub fn train(&self, stop: &AtomicBool) -> Result<ModelFile> {
        let plan = self.plan()?;
        let checkpoint = checkpoint::path(&self.out);
        let resume = self.resume.then(|| Checkpoint::load(&checkpoint, &plan.name)).transpose()?;
        let bar = progress::bar(plan.recipe.epochs as u64, "training");
        let watcher = OnScreen { bar: &bar, arguments: self, checkpoint: &checkpoint };
        // A place that cannot be written is found out now, not after training.
        files::probe(&self.out)?;
        let train = Train { plan: &plan, out: &self.out, resume, watcher: &watcher, stop };
        let model = shapes::visit(plan.dimensions, train)?;
        bar.finish_and_clear();
        let model = model?;
        files::write(&self.out, model.as_bytes())?;
        // Finished: nothing to resume.
        let _ = std::fs::remove_file(&checkpoint);
        Ok(model)
    }
}

/// A flag that Ctrl-C sets.
///
/// # Errors
/// [`Error::Failed`] when the system has no such signal.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}

struct OnScreen<'a> {
    bar: &'a ProgressBar,
    arguments: &'a TrainArguments,
    checkpoint: &'a PathBuf,
}

impl Watcher for OnScreen<'_> {
    fn epoch(&self, epoch: usize, loss: f32, validation: Option<f64>) {
        self.bar.set_position(epoch as u64);
        self.bar.set_message(match validation {
            Some(cost) => format!("loss {loss:.3}, validation {cost:.2}"),
            None => format!("loss {loss:.3}"),
        });
    }

    fn best(&self, model: &ModelFile) -> Result {
        files::write(&self.arguments.out, model.as_bytes())
    }

    fn checkpoint(&self, checkpoint: &Checkpoint) -> Result {
        checkpoint.save(self.checkpoint)
    }
}
