//! `host-sim train`: trains a network for any task.

use std::{
    path::PathBuf,
    str::FromStr,
    sync::{Mutex, PoisonError, atomic::AtomicBool},
};

use clap::Args;
use serde::Serialize;
use wdgnn_core::model::shape::Dimensions;

use super::{
    invocation::Invocation,
    models::BodyArguments,
    output::{OutputArguments, Results},
    stop_on_interrupt,
    training_curves::{Curves, Epoch},
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
    swarm::networks::{Network, task},
    train::{
        config::Config,
        recipe::{Method, Recipe},
        run::{Quality, Train, Watcher},
    },
    world::{Environment, scenario::ROBOTS},
};

/// Largest number of ticks per exchange: one exchange a second in flocking.
const MAX_EXCHANGE_TICKS: u64 = 100;
/// Range of layers, taps and features of a network. The shapes of a task have the exact values.
const DIMENSION: OptionRange = OptionRange::whole(1, 1024);

/// Train a network through the simulator, by imitation or by evolution.
///
/// Weights, data and batches follow from the seed: a command gives identical files with any number of threads on one kind of
/// processor. Ctrl-C stops after the current epoch and keeps the best network; `--model` continues from it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim train --out my.wdgnn\n  \
                  host-sim train --out filter.wdgnn --architecture graph-filter --seed 3\n  \
                  host-sim train --task rendezvous --recipe evolve --out meet.wdgnn\n  \
                  host-sim train --out two.wdgnn --recipe evolve --shape 2,2,16\n  \
                  host-sim train --out longer.wdgnn --model my.wdgnn --epochs 20\n  \
                  host-sim train --out paper.wdgnn --recipe paper\n  \
                  host-sim train --out radio.wdgnn --profile dot154\n  \
                  host-sim train --out drone.wdgnn --body quadrotor,lag=0.8..1.2,delay=0..4\n  host-sim eval --model my.wdgnn")]
pub struct TrainArguments {
    #[command(flatten)]
    pub invocation: Invocation,
    /// Task; `host-sim tasks` lists all.
    #[arg(long, value_name = "NAME", default_value = "flocking")]
    pub task: String,
    /// Weight file to write. Its folder must exist.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the output file if it exists.
    #[arg(long)]
    pub force: bool,
    /// Weight file to start from instead of random weights; it sets architecture and shape.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["architecture", "shape"])]
    pub model: Option<PathBuf>,
    /// Parts of the network: wd-gnn, gnn or graph-filter.
    #[arg(long, value_enum, default_value = "wd-gnn", hide_possible_values = true)]
    pub architecture: Architecture,
    /// Training method: through, imitate, paper or evolve [default: through if the task has a derivative, else imitate
    /// if it has an expert, else evolve].
    #[arg(long, value_enum, hide_possible_values = true)]
    pub recipe: Option<RecipeName>,
    /// Link profile to train for: exact, dot154, esb32, espnow or p2p57; small radios need one layer.
    #[arg(long, value_enum, default_value = "exact", hide_possible_values = true)]
    pub profile: Profile,
    /// Control ticks per exchange [default: the profile's].
    #[arg(long, value_name = "N", value_parser = OptionRange::whole(1, MAX_EXCHANGE_TICKS).parser::<u32>())]
    pub exchange: Option<u32>,
    /// Robots per swarm [default: the task's, varied by recipes with mixed conditions].
    #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<usize>())]
    pub robots: Option<usize>,
    #[command(flatten)]
    pub body: BodyArguments,
    /// Imitate an expert without collision avoidance, for flocking with the recipes imitate and paper.
    #[arg(long)]
    pub no_potential: bool,
    /// Episodes of the data set, or per epoch with the recipe through [default: 400, through: 100].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub swarms: Option<usize>,
    /// Epochs [default: 30 for through and paper, 120 for imitate, 100 for evolve].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub epochs: Option<usize>,
    /// Layers of the deep part, filter taps and features per layer, such as 1,3,32 [default: the task's first shape].
    #[arg(long, value_name = "L,K,G")]
    pub shape: Option<Shape>,
    /// Seed of weights, data and batches.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// Output files. The page is updated at each validation.
    #[command(flatten)]
    pub outputs: OutputArguments,
}

/// Size of a network: layers, taps, features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape([usize; 3]);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text.split(',').map(|number| DIMENSION.parse(number.trim()));
        let numbers = numbers.collect::<std::result::Result<Vec<usize>, _>>().ok();
        let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
        numbers.map(Self).ok_or_else(|| format!("LAYERS,TAPS,FEATURES, each {DIMENSION}, such as 1,3,32"))
    }
}

/// JSON output.
#[derive(Debug, Serialize)]
struct Output<'a> {
    out: String,
    checksum: String,
    quality: Quality,
    epochs: &'a [Epoch],
}

impl TrainArguments {
    /// Returns the recipe with all options applied.
    fn recipe<W: Environment>(&self) -> Result<Recipe<W>> {
        let mut recipe =
            Recipe::<W>::named(self.recipe.unwrap_or_else(Recipe::<W>::usual), self.body.world()?)?;
        recipe.epochs = self.epochs.unwrap_or(recipe.epochs);
        recipe.profile = self.profile;
        recipe.exchange = self.exchange.unwrap_or(self.profile.exchange_ticks());
        let possible = OptionRange::whole(self.profile.exchange_ticks().into(), MAX_EXCHANGE_TICKS);
        possible.check_whole("exchange", recipe.exchange.into())?;
        match &mut recipe.method {
            Method::Imitation(imitate) => {
                imitate.flights = self.swarms.unwrap_or(imitate.flights);
                imitate.refresh = imitate.refresh.min(imitate.flights);
            }
            Method::Bptt(through) => {
                let flights = self.swarms.unwrap_or(recipe.steps * through.flights);
                through.flights = flights.min(through.flights);
                recipe.steps = flights / through.flights;
                // At least ten exchanges per episode, and bodies with a lag come to rest.
                through.ticks = through.ticks.max(10 * recipe.exchange);
                if self.body.body.is_some() {
                    through.ticks = through.ticks.max(recipe.condition.ticks / 2);
                }
            }
            Method::Evolution(_) if self.swarms.is_some() => {
                return Err(Error::usage("--swarms has no effect with --recipe evolve: leave it out"));
            }
            Method::Evolution(_) => {}
        }
        if let Some(robots) = self.robots {
            recipe.condition.robots = robots;
            recipe.robots_fixed = true;
            recipe.condition.check()?;
        }
        if self.no_potential {
            if !matches!(recipe.method, Method::Imitation(_)) {
                return Err(Error::usage(
                    "--no-potential has no effect on this recipe: give --recipe imitate",
                ));
            }
            if !recipe.world.drop_potential() {
                return Err(Error::usage(format!("--no-potential has no effect on --task {}", W::NAME)));
            }
        }
        Ok(recipe)
    }

    /// Returns the training configuration.
    pub fn config<W: Environment>(&self) -> Result<Config<W>> {
        let (recipe, seed) = (self.recipe::<W>()?, self.seed);
        let model = self.model.as_deref().map(ModelFile::load).transpose()?;
        let first = W::Shapes::all()[0];
        let size = match (&model, self.shape) {
            (Some(model), _) => {
                task::<W::Task>(model)?;
                Dimensions::of(&model.weights().header)
            }
            (None, Some(Shape([layers, taps, hidden]))) => Dimensions { layers, taps, hidden, ..first },
            (None, None) => first,
        };
        if size.layers > 1 && !matches!(recipe.method, Method::Evolution(_)) {
            return Err(Error::usage("this --recipe trains one layer: give --recipe evolve for more"));
        }
        Network::<W::Task>::check_shape::<W::Shapes>(size, self.profile)?;
        let architecture = model.as_ref().map_or(self.architecture, ModelFile::architecture);
        let weights = model.map(|model| model.weights().numbers.to_vec());
        Ok(Config { recipe, architecture, size, seed, weights })
    }

    /// Trains in the world `W` and prints the result.
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

    /// Returns the origin of the network.
    fn origin<W: Environment>(&self) -> Origin {
        let resolved = self
            .invocation
            .clone()
            .with_default("recipe", self.recipe.unwrap_or_else(Recipe::<W>::usual).name());
        let out = self.out.display().to_string();
        Origin::new(resolved.with_default("out", &out).command("train"), out)
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
            // The number of robots that the radio channel carries.
            profile => format!(" --profile {} --robots 10", profile.name()),
        };
        let task = if self.task == "flocking" { String::new() } else { format!(" --task {}", W::NAME) };
        let body = self.body.body.map_or(String::new(), |body| format!(" --body {body}"));
        println!("evaluate it: host-sim eval{task} --model {}{profile}{body}", self.out.display());
    }

    /// Checks that the output file can be written and that no network is overwritten.
    fn check_out(&self) -> Result {
        if self.out.is_file() && !self.force {
            return Err(Error::usage(format!("{} exists: --force replaces it", self.out.display())));
        }
        if self.outputs.names(&self.out) {
            let out = self.out.display();
            return Err(Error::usage(format!("--out and another output both name {out}: name two files")));
        }
        files::probe(&self.out)
    }

    /// Trains the network and writes the file.
    pub fn train<W: Environment>(&self, stop: &AtomicBool) -> Result<(ModelFile, Quality, Curves)> {
        let config = self.config::<W>()?;
        self.check_out()?;
        let bar = progress::bar(config.recipe.epochs as u64, "training");
        let curves = Mutex::new(Curves { title: W::TITLE, score: W::SCORE, epochs: Vec::new() });
        let origin = self.origin::<W>();
        let watcher = ProgressWatcher { bar: &bar, arguments: self, curves: &curves, origin: &origin };
        let trained = Train { config: &config, out: &self.out, watcher: &watcher, stop }.run();
        bar.finish_and_clear();
        if let Err(Error::Interrupted) = &trained {
            eprintln!("host-sim: {} has the best network so far", self.out.display());
        }
        let (model, quality) = trained?;
        files::write(&self.out, model.as_bytes())?;
        Ok((model, quality, curves.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}

struct ProgressWatcher<'a> {
    bar: &'a Progress,
    arguments: &'a TrainArguments,
    curves: &'a Mutex<Curves>,
    origin: &'a Origin,
}

impl Watcher for ProgressWatcher<'_> {
    fn epoch(&self, epoch: usize, loss: f32, validation: Option<f64>) {
        self.bar.set_position(epoch as u64);
        self.bar.set_message(match validation {
            Some(cost) => format!("loss {loss:.3}, validation {cost:.2}"),
            None => format!("loss {loss:.3}"),
        });
        let mut curves = self.curves.lock().unwrap_or_else(PoisonError::into_inner);
        curves.epochs.push(Epoch { epoch, loss, validation });
        // A write error is reported at the end of the training.
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
}
