//! `host-sim flock`: the paper's Table 1, and delayed actuators.

mod delayed;
mod shown;

use std::path::PathBuf;

use clap::Args;
use wdgnn_core::Task as _;

use self::delayed::Delayed;
use crate::{
    commands::{
        STEP_SIZE, flock_tables,
        outputs::{self, OutputArguments, Results},
        realisations,
        records::TrajectoryArguments,
        scenario::ScenarioArguments,
        shard::ShardArguments,
        stop_on_interrupt,
        typed::Typed,
    },
    controllers::{Controller, EvalConfig, LARGE_SWARM_ROBOTS},
    error::{Error, Result},
    evaluate::{Case, ControllerResult, evaluate, evaluate_all, progress_steps},
    fault_options::FaultArguments,
    jobs,
    model::ModelFile,
    option_range::OptionRange,
    page::{self, flights::counted, replay::Replay},
    profiles::Profile,
    progress,
    recipe::{Architecture, RecipeName},
    train::recipe::Recipe,
    world::{
        Presentation as _, Scenario, World as _,
        flock::{Flock, dynamics::ModelMismatch},
        scenario::{RADIUS_METRES, ROBOTS, SPEED, TICKS},
    },
};

/// Default seed of the held-out swarms.
pub const SEED: u64 = 7;

/// Largest actuator delay in ticks of 10 ms.
const MAX_DELAY_TICKS: u64 = 100;

/// Compare controllers of flocking (the paper's Table 1), and show learning in flight with delayed actuators.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim flock\n  host-sim flock --recipe paper\n  host-sim flock --robots 100 --radius 1.5 \
                        --seed 7 --json\n  host-sim flock --profile dot154 --robots 10\n  \
                        host-sim flock --model my.wdgnn --csv flock.csv\n  \
                        host-sim flock --recipe ours --one-way 0.3 --position-noise 0.1\n  \
                        host-sim flock --actuator-delay 8 --ticks 600 --trajectories late.csv\n  \
                        host-sim flock --scenario examples/scenarios/lossy-air.toml --svg lossy.svg"
)]
pub struct FlockArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// Task, for scenarios that several commands share; only flocking.
    #[arg(long, hide = true, default_value = "flocking", value_parser = ["flocking"])]
    pub task: String,
    /// Training recipe of the shipped networks to fly.
    #[arg(long, value_enum, default_value = "through")]
    pub recipe: RecipeName,
    /// Link profile: encoding and rate of the radio messages.
    #[arg(long, value_enum, default_value = "exact")]
    pub profile: Profile,
    /// Robots per swarm.
    #[arg(long, value_name = "N", default_value_t = Scenario::PAPER.robots, value_parser = ROBOTS.parser::<usize>())]
    pub robots: usize,
    /// Radio range in meters. The spacing at the start is proportional to it.
    #[arg(long, value_name = "METRES", default_value_t = Scenario::PAPER.radius, value_parser = RADIUS_METRES.parser::<f32>())]
    pub radius: f32,
    /// Largest starting speed per axis in m/s.
    #[arg(long, value_name = "M/S", default_value_t = Scenario::PAPER.speed, value_parser = SPEED.parser::<f32>())]
    pub speed: f32,
    /// Length of a flight in ticks of 10 ms.
    #[arg(long, value_name = "N", default_value_t = Scenario::PAPER.ticks, value_parser = TICKS.parser::<u32>())]
    pub ticks: u32,
    /// Held-out swarms to fly [default: 40, or 1 with more than 5000 robots].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub swarms: Option<usize>,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// Number of seeds to fly; prints mean and standard deviation over them. The page shows the first.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "realisations", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub seeds: usize,
    /// Delay of all actuators in ticks of 10 ms [default: 0 for the table, 8 for one extra swarm].
    #[arg(long, value_name = "TICKS", default_value_t = 0, hide_default_value = true, conflicts_with = "realisations",
        value_parser = OptionRange::whole(0, MAX_DELAY_TICKS).parser::<u32>())]
    pub actuator_delay: u32,
    /// Online step size γ [default: the model's own].
    #[arg(long, value_name = "GAMMA", value_parser = STEP_SIZE.parser::<f32>())]
    pub step_size: Option<f32>,
    /// Network to fly instead of the shipped one of its architecture.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Train this many networks and data sets and average over them, as the paper does. Each takes minutes.
    #[arg(long, value_name = "N", conflicts_with_all = ["model", "shard"], value_parser = OptionRange::COUNT.parser::<usize>())]
    pub realisations: Option<usize>,
    /// Trajectories of the first swarm under every controller.
    #[command(flatten)]
    pub trajectories: TrajectoryArguments,
    /// Print all rows and columns of the table. JSON and CSV always have them.
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub outputs: OutputArguments,
    #[command(flatten)]
    pub shard: ShardArguments,
    /// What goes wrong on the air.
    #[command(flatten)]
    pub faults: FaultArguments,
}

impl FlockArguments {
    fn condition(&self) -> Scenario {
        Scenario { robots: self.robots, radius: self.radius, speed: self.speed, ticks: self.ticks }
    }

    /// Many robots are many samples.
    fn swarms(&self) -> usize {
        self.swarms.unwrap_or(if self.robots > LARGE_SWARM_ROBOTS { 1 } else { 40 })
    }

    fn eval(&self) -> Result<EvalConfig<Flock>> {
        let mut eval = match (self.profile, self.recipe) {
            (profile, recipe @ (RecipeName::Ours | RecipeName::Through)) => {
                EvalConfig::for_profile(recipe, profile)?
            }
            (Profile::Exact, recipe @ RecipeName::Paper) => EvalConfig::shipped(recipe)?,
            (profile, recipe) => {
                return Err(Error::usage(format!(
                    "no model of --recipe {} comes with the program for --profile {}: leave --recipe out",
                    recipe.name(),
                    profile.name()
                )));
            }
        };
        if let Some(path) = &self.model {
            eval.insert_model(ModelFile::load(path)?);
        }
        eval.world = Flock::with(ModelMismatch { delay: self.actuator_delay, ..ModelMismatch::default() });
        eval.set_faults(self.faults.faults(self.robots, self.ticks, self.seed)?, self.robots)?;
        eval.check()?;
        eval.step = self.step_size;
        eval.is_large = self.robots > LARGE_SWARM_ROBOTS && eval.faults.is_none();
        if eval.is_large {
            eprintln!(
                "more than {}: only the expert and robots that learn in flight are flown",
                counted(LARGE_SWARM_ROBOTS, "robot")
            );
        }
        Ok(eval)
    }

    /// Flies and prints.
    pub fn run(&self) -> Result {
        let condition = self.condition();
        condition.check()?;
        let eval = self.eval()?;
        if self.profile != Profile::Exact || eval.faults.is_some() {
            self.profile.check_robots(self.robots)?;
        }
        if self.realisations.is_some() && (self.profile != Profile::Exact || eval.faults.is_some()) {
            return Err(Error::usage("--realisations cannot be combined with --profile or faults"));
        }
        let outputs = self.outputs.or_page(outputs::page("flock", &self.settled()));
        self.scenario.check()?;
        outputs.check()?;
        self.trajectories.check()?;
        let mut over = Vec::new();
        let mut recorded = None;
        let (eval, outcomes) = if let Some(count) = self.realisations {
            self.realise(count, &condition)?
        } else if eval.is_large && self.swarms() == 1 && self.seeds == 1 && !jobs::is_distributed() {
            // So many robots are flown once, for figures and page.
            let (replay, outcomes) = self.record(&eval, &condition)?;
            recorded = Some(replay);
            (eval, outcomes)
        } else {
            let mut seeds = self.fly(&eval, &condition)?;
            if seeds.len() > 1 {
                over = flock_tables::over_seeds(&seeds);
            }
            (eval, seeds.swap_remove(0))
        };
        let delayed = self.flies_delayed(&eval).then(|| Delayed::fly(&eval, &condition, self.seed));
        let delayed = delayed.transpose()?;
        let command = self.settled().command("flock");
        let origin = &self.scenario.origin(command, eval.describe()).with_faults(&self.faults.words());
        outputs.deliver(&Results {
            origin,
            json: self.output(&outcomes, &over, delayed.as_ref()),
            print: &|| {
                if let Some(delayed) = &delayed {
                    println!("{}\n", delayed.scores.sentence());
                }
                self.print_table(&eval, &outcomes);
                self.print_seeds(&outcomes, &over);
            },
            csv: &|| flock_tables::csv_rows(&outcomes),
            page: &|| self.page(&eval, &outcomes, recorded.as_ref(), delayed.as_ref(), origin),
            plots: &|| {
                page::flights::plots(&outcomes, Flock::<2>::SCORE, Flock::<2>::default_task().period())
            },
        })?;
        self.trajectories.write(&eval, &condition, self.seed)?;
        self.scenario.save("flock", &self.scenario.typed)
    }

    /// Flies every seed's swarms.
    fn fly(&self, eval: &EvalConfig<Flock>, condition: &Scenario) -> Result<Vec<Vec<ControllerResult>>> {
        let controllers = eval.controllers();
        let swarms = self.swarms();
        let case = |seed| Case { eval, controllers: &controllers, scenario: condition, swarms, seed };
        let cases: Vec<_> = (self.seed..).take(self.seeds).map(case).collect();
        let bar = progress::bar(
            progress_steps(eval, condition, cases.len() * swarms * controllers.len()),
            "flying",
        );
        let work = format!("{}, {}", self.settled().command("flock"), eval.describe());
        let outcomes = evaluate_all(&work, &cases, &|| bar.inc(1))?;
        bar.finish_and_clear();
        Ok(outcomes)
    }

    /// Flies one swarm and records it.
    fn record(
        &self,
        eval: &EvalConfig<Flock>,
        condition: &Scenario,
    ) -> Result<(Replay, Vec<ControllerResult>)> {
        let controllers = eval.controllers();
        let bar = progress::bar(progress_steps(eval, condition, controllers.len()), "flying");
        let shown = controllers.clone();
        let (replay, flights) = page::replay::record(eval, shown, condition, self.seed, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let flown = controllers.iter().zip(flights);
        Ok((replay, flown.map(|(one, flight)| ControllerResult::of(one, &[flight])).collect()))
    }

    /// Trains and flies realisations one after the other. The last one's networks are those of the page's replay.
    fn realise(
        &self,
        count: usize,
        condition: &Scenario,
    ) -> Result<(EvalConfig<Flock>, Vec<ControllerResult>)> {
        let stop = stop_on_interrupt()?;
        let epochs = count * Architecture::ALL.len() * Recipe::<Flock>::named(self.recipe)?.epochs;
        let bar = progress::bar(epochs as u64, "training");
        let mut realised = Vec::with_capacity(count);
        let mut flown = None;
        for seed in (self.seed..).take(count) {
            let mut eval = realisations::eval(self.recipe, seed, &bar, &stop)?;
            eval.step = self.step_size;
            let shown: Vec<Controller<Flock>> = eval
                .controllers()
                .into_iter()
                .filter(|controller| controller.shown || controller.is_network())
                .collect();
            realised.push(evaluate(&eval, &shown, condition, self.swarms(), seed, &|| {})?);
            flown = Some(eval);
        }
        bar.finish_and_clear();
        let eval = flown.ok_or_else(|| Error::Failed("no realisation was trained".into()))?;
        Ok((eval, realisations::together(&realised)))
    }

    /// Whether one swarm with delayed actuators is flown as well: not where the delay of all swarms is given, and not where flights
    /// take long.
    fn flies_delayed(&self, eval: &EvalConfig<Flock>) -> bool {
        self.robots > 1 && self.actuator_delay == 0 && self.realisations.is_none() && !eval.is_large
    }

    /// Whether this is the paper's experiment.
    fn is_paper(&self) -> bool {
        let papers = self.condition() == Scenario::PAPER && self.profile == Profile::Exact;
        papers && self.actuator_delay == 0 && self.faults.words().is_empty()
    }

    /// Everything that counted.
    fn settled(&self) -> Typed {
        self.scenario.typed.clone().without("task").or("swarms", self.swarms())
    }
}
