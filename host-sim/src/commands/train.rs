//! `host-sim train`: a network from nothing, for any task.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError, atomic::AtomicBool},
};

use clap::Args;
use serde::Serialize;
use wdgnn_core::model::shape::Dimensions;

use super::{
    curves::{Curves, Epoch},
    outputs::{OutputArguments, Results},
    stop_on_interrupt,
    typed::Typed,
};
use crate::{
    error::{Error, Result},
    files,
    model::ModelFile,
    option_range::OptionRange,
    origin::Origin,
    page,
    profiles::Profile,
    progress::{self, Progress},
    recipe::{Architecture, RecipeName},
    shapes::Shapes as _,
    swarm::networks::Network,
    train::{
        checkpoint::{self, Checkpoint},
        plan::Plan,
        recipe::Recipe,
        run::{Quality, Train, Watcher},
        ways::Way,
    },
    world::{Environment, scenario::ROBOTS},
};

/// Ticks per exchange at most: one exchange a second in flocking.
const MAX_EXCHANGE_TICKS: u64 = 100;
/// Layers, taps or features of a network. The shapes of a task have the exact values.
const DIMENSION: OptionRange = OptionRange::whole(1, 1024);

/// Train a network: through the simulator, to imitate an expert, or by its score alone.
///
/// Weights, data and batches all follow from the seed: the same command gives the same file, at any number of threads. (Across
/// kinds of processors rounding may differ.) Ctrl-C ends after the epoch under way and leaves the best network so far
/// in the output file; `--resume` goes on from the checkpoint beside it, also after the end, with a larger `--epochs`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim train --out my.wdgnn\n  host-sim train --out filter.wdgnn --architecture graph-filter \
                        --seed 3\n  host-sim train --task coverage --out cover.wdgnn\n  \
                        host-sim train --task rendezvous --recipe evolve --out meet.wdgnn\n  \
                        host-sim train --out two.wdgnn --recipe ours --layers 2 --taps 2 --features 16 --epochs 40\n  \
                        host-sim train --out paper.wdgnn --recipe paper\n  host-sim train --out radio.wdgnn --profile dot154\n  \
                        host-sim flock --model my.wdgnn"
)]
pub struct TrainArguments {
    #[command(flatten)]
    pub typed: Typed,
    /// What the network is for; `host-sim tasks` lists what there is.
    #[arg(long, value_name = "NAME", default_value = "flocking")]
    pub task: String,
    /// File for the network. Its folder must exist.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the output file if it exists.
    #[arg(long, conflicts_with = "resume")]
    pub force: bool,
    /// Which parts the network has.
    #[arg(long, value_enum, default_value = "wd-gnn")]
    pub architecture: Architecture,
    /// How to train it [default: through the simulator where the world can say its derivative, else by imitation where there is an
    /// expert, else by evolution].
    #[arg(long, value_enum)]
    pub recipe: Option<RecipeName>,
    /// The link profile whose exchange rate it is trained for; other than exact, one layer of at most four taps.
    #[arg(long, value_enum, default_value = "exact")]
    pub profile: Profile,
    /// Control ticks per exchange, where robots are to say less than their profile has room for [default: the profile's].
    #[arg(long, value_name = "N", value_parser = OptionRange::whole(1, MAX_EXCHANGE_TICKS).parser::<u32>())]
    pub exchange: Option<u32>,
    /// Robots in training flights [default: the task's own, and others where conditions are mixed].
    #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<usize>())]
    pub robots: Option<usize>,
    /// For recipes that imitate flocking: a teacher of velocities only, without the expert's potential.
    #[arg(long)]
    pub no_potential: bool,
    /// Flights in the data set [default: 400]; with the recipe through, which keeps none, per epoch [default: 100].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub trajectories: Option<usize>,
    /// Epochs [default: 30 for through and paper, 120 for ours, 100 for evolve].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub epochs: Option<usize>,
    /// Layers of the deep part [default: the first shape of the task].
    #[arg(long, value_name = "L", value_parser = DIMENSION.parser::<usize>())]
    pub layers: Option<usize>,
    /// Filter taps, K + 1 [default: likewise].
    #[arg(long, value_name = "TAPS", value_parser = DIMENSION.parser::<usize>())]
    pub taps: Option<usize>,
    /// Features per layer [default: likewise].
    #[arg(long, value_name = "G", value_parser = DIMENSION.parser::<usize>())]
    pub features: Option<usize>,
    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// Go on with a training run that was interrupted, or, with more --epochs, that was finished.
    #[arg(long)]
    pub resume: bool,
    /// The page is written anew at every validation, and can be looked at meanwhile.
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Output<'a> {
    out: String,
    checksum: String,
    quality: Quality,
    epochs: &'a [Epoch],
}

impl TrainArguments {
    /// The recipe with everything that was asked for.
    fn recipe<W: Environment>(&self) -> Result<Recipe<W>> {
        let mut recipe = Recipe::<W>::named(self.recipe.unwrap_or_else(Recipe::<W>::usual))?;
        recipe.epochs = self.epochs.unwrap_or(recipe.epochs);
        recipe.profile = self.profile;
        recipe.exchange = self.exchange.unwrap_or(self.profile.exchange_ticks());
        let possible = OptionRange::whole(self.profile.exchange_ticks().into(), MAX_EXCHANGE_TICKS);
        possible.check_whole("exchange", recipe.exchange.into())?;
        match &mut recipe.way {
            Way::Imitate(imitate) => {
                imitate.flights = self.trajectories.unwrap_or(imitate.flights);
                imitate.refresh = imitate.refresh.min(imitate.flights);
            }
            Way::Through(through) => {
                let flights = self.trajectories.unwrap_or(recipe.steps * through.flights);
                through.flights = flights.min(through.flights);
                recipe.steps = flights / through.flights;
                // Long enough for a handful of exchanges.
                through.ticks = through.ticks.max(10 * recipe.exchange);
            }
            Way::Evolve(_) if self.trajectories.is_some() => {
                return Err(Error::usage("--trajectories has no effect on --recipe evolve"));
            }
            Way::Evolve(_) => {}
        }
        if let Some(robots) = self.robots {
            recipe.condition.robots = robots;
            recipe.robots_fixed = true;
            recipe.condition.check()?;
        }
        if self.no_potential {
            if !matches!(recipe.way, Way::Imitate(_)) {
                return Err(Error::usage(
                    "--no-potential has no effect without a recipe that imitates: give --recipe ours",
                ));
            }
            if !recipe.world.drop_potential() {
                return Err(Error::usage(format!("--no-potential has no effect on --task {}", W::NAME)));
            }
        }
        Ok(recipe)
    }

    /// What is to be trained.
    pub fn plan<W: Environment>(&self) -> Result<Plan<W>> {
        let recipe = self.recipe::<W>()?;
        let first = W::Shapes::all()[0];
        let size = Dimensions {
            layers: self.layers.unwrap_or(first.layers),
            taps: self.taps.unwrap_or(first.taps),
            hidden: self.features.unwrap_or(first.hidden),
            ..first
        };
        if size.layers > 1 && matches!(recipe.way, Way::Through(_)) {
            return Err(Error::usage("--recipe through trains one layer: give --recipe ours for more"));
        }
        Network::<W::Task>::check_shape::<W::Shapes>(size, self.profile)?;
        Ok(Plan::new(recipe, self.architecture, size, self.seed))
    }

    /// Trains for the world `W`.
    pub fn run<W: Environment>(&self) -> Result {
        let stop = stop_on_interrupt()?;
        self.outputs.check()?;
        let (model, quality, curves) = self.train::<W>(&stop)?;
        let page = curves.page(self.origin::<W>(), Some(&quality));
        self.outputs.deliver(&Results {
            origin: &page.origin,
            json: Output {
                out: self.out.display().to_string(),
                checksum: format!("{:08x}", model.weights().checksum),
                quality,
                epochs: &curves.epochs,
            },
            print: &|| self.print::<W>(&model, &quality),
            csv: &|| curves.rows(),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })
    }

    /// What made the network.
    fn origin<W: Environment>(&self) -> Origin {
        let settled = self.typed.clone().or("recipe", self.recipe.unwrap_or_else(Recipe::<W>::usual).name());
        let out = self.out.display().to_string();
        Origin::new(settled.or("out", &out).command("train"), out)
    }

    fn print<W: Environment>(&self, model: &ModelFile, quality: &Quality) {
        let weights = model.weights();
        println!(
            "{}: {} of {} numbers for {}, online step size {:.3}, checksum {:08x}",
            self.out.display(),
            self.architecture.name(),
            weights.numbers.len(),
            W::TITLE,
            weights.header.learning.step,
            weights.checksum
        );
        println!("{}: {quality}", W::SCORE);
        let profile = match self.profile {
            Profile::Exact => String::new(),
            Profile::Espnow => " --profile espnow".into(),
            // As many as the air carries.
            profile => format!(" --profile {} --robots 10", profile.name()),
        };
        let fly = if self.task == "flocking" { "flock".into() } else { format!("fly --task {}", W::NAME) };
        println!("fly it: host-sim {fly} --model {}{profile}", self.out.display());
    }

    /// Checks before training that the output file can be written, and that no network is lost.
    fn check_out(&self) -> Result {
        if self.out.is_file() && !self.force && !self.resume {
            return Err(Error::usage(format!(
                "{} exists: --force replaces it, --resume continues its training",
                self.out.display()
            )));
        }
        if self.outputs.names(&self.out) {
            let out = self.out.display();
            return Err(Error::usage(format!("--out and another output both name {out}: name two files")));
        }
        files::probe(&self.out)
    }

    /// Trains, writes the file, and returns it.
    pub fn train<W: Environment>(&self, stop: &AtomicBool) -> Result<(ModelFile, Quality, Curves)> {
        let plan = self.plan::<W>()?;
        self.check_out()?;
        let checkpoint = checkpoint::path(&self.out);
        let resume =
            self.resume.then(|| Checkpoint::load(&checkpoint, &plan.name, plan.numbers())).transpose()?;
        let bar = progress::bar(plan.recipe.epochs as u64, "training");
        let curves = Mutex::new(Curves { title: W::TITLE, score: W::SCORE, epochs: Vec::new() });
        let origin = self.origin::<W>();
        let watcher = OnScreen {
            bar: &bar,
            arguments: self,
            checkpoint: &checkpoint,
            curves: &curves,
            origin: &origin,
        };
        let trained = Train { plan: &plan, out: &self.out, resume, watcher: &watcher, stop }.run();
        bar.finish_and_clear();
        if let Err(Error::Interrupted) = &trained {
            eprintln!("host-sim: {} has the best network so far; --resume goes on", self.out.display());
        }
        let (model, quality) = trained?;
        files::write(&self.out, model.as_bytes())?;
        Ok((model, quality, curves.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}

struct OnScreen<'a> {
    bar: &'a Progress,
    arguments: &'a TrainArguments,
    checkpoint: &'a PathBuf,
    curves: &'a Mutex<Curves>,
    origin: &'a Origin,
}

impl Watcher for OnScreen<'_> {
    fn epoch(&self, epoch: usize, loss: f32, validation: Option<f64>) {
        self.bar.set_position(epoch as u64);
        self.bar.set_message(match validation {
            Some(cost) => format!("loss {loss:.3}, validation {cost:.2}"),
            None => format!("loss {loss:.3}"),
        });
        let mut curves = self.curves.lock().unwrap_or_else(PoisonError::into_inner);
        curves.epochs.push(Epoch { epoch, loss, validation });
        // As it goes. What cannot be written now is told at the end.
        if let (Some(path), Some(_)) = (&self.arguments.outputs.report, validation)
            && !files::is_standard_output(path)
        {
            let page = page::charts(&curves.page(self.origin.clone(), None));
            let _ = files::write(path, page.as_bytes());
        }
    }

    fn share(&self, share: f64) {
        self.bar.set_share(share);
    }

    fn best(&self, model: &ModelFile) -> Result {
        files::write(&self.arguments.out, model.as_bytes())
    }

    fn checkpoint(&self, checkpoint: &Checkpoint) -> Result {
        checkpoint.save(self.checkpoint)
    }
}
