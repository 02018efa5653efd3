//! `host-sim flock`: the paper's Table 1, flown anew.

mod shown;

use std::path::PathBuf;

use clap::Args;
use wdgnn_core::Task as _;

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
    error::{Error, Result},
    evaluate::{Case, Outcome, calls, evaluate, evaluate_all},
    fault_options::FaultArguments,
    jobs,
    lineup::{Controller, Lineup, MANY_ROBOTS},
    model::ModelFile,
    option_range::OptionRange,
    page::{self, flights::counted, replay::Replay},
    profiles::Profile,
    progress,
    recipe::{Architecture, RecipeName},
    train::recipe::Recipe,
    world::{
        Condition, World as _,
        condition::{RADIUS_METRES, ROBOTS, SPEED, TICKS},
        flock::{Flock, bodies::Quirks},
    },
};

/// The held-out swarms that docs and README speak of.
pub const SEED: u64 = 7;

/// Fly held-out swarms under every controller and compare them (the paper's Table 1).
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim flock\n  host-sim flock --recipe paper\n  host-sim flock --robots 100 --radius 1.5 \
                        --seed 7 --json\n  host-sim flock --profile dot154 --robots 10\n  \
                        host-sim flock --model my.wdgnn --csv flock.csv\n  \
                        host-sim flock --recipe ours --one-way 0.3 --position-noise 0.1\n  \
                        host-sim flock --late-motors 8 --ticks 600 --trajectories late.csv\n  \
                        host-sim flock --scenario examples/scenarios/lossy-air.toml --svg lossy.svg"
)]
pub struct FlockArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// What robots do, for scenarios of several commands: this one is about flocking.
    #[arg(long, hide = true, default_value = "flocking", value_parser = ["flocking"])]
    pub task: String,
    /// Which of the trained models to fly.
    #[arg(long, value_enum, default_value = "through")]
    pub recipe: RecipeName,
    /// The link profile: how much of a beacon goes on the air, and how often.
    #[arg(long, value_enum, default_value = "exact")]
    pub profile: Profile,
    /// Robots per swarm.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.robots, value_parser = ROBOTS.parser::<usize>())]
    pub robots: usize,
    /// Radio range in metres; the spacing at the start goes with it.
    #[arg(long, value_name = "METRES", default_value_t = Condition::PAPER.radius, value_parser = RADIUS_METRES.parser::<f32>())]
    pub radius: f32,
    /// Largest starting speed per axis in m/s.
    #[arg(long, value_name = "M/S", default_value_t = Condition::PAPER.speed, value_parser = SPEED.parser::<f32>())]
    pub speed: f32,
    /// Length of a flight in ticks of 10 ms.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.ticks, value_parser = TICKS.parser::<u32>())]
    pub ticks: u32,
    /// Held-out swarms to fly [default: 40, and one of more than 5000 robots].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub swarms: Option<usize>,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// Fly so many seeds, one after the other, and give mean and spread over them. The page shows the first.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "realisations", value_parser = OptionRange::COUNT.parser::<usize>())]
    pub seeds: usize,
    /// Motors that answer so many ticks of 10 ms late, which training did not see: learning in flight calms what swings.
    #[arg(long, value_name = "TICKS", default_value_t = 0, conflicts_with = "realisations",
        value_parser = clap::value_parser!(u32).range(..=100))]
    pub late_motors: u32,
    /// Online step size γ in place of the model's own.
    #[arg(long, value_name = "GAMMA", value_parser = STEP_SIZE.parser::<f32>())]
    pub step_size: Option<f32>,
    /// A WD-GNN of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Train this many realisations of networks and data anew, and average over them as the paper does (it takes minutes each).
    #[arg(long, value_name = "N", conflicts_with_all = ["model", "shard"], value_parser = OptionRange::COUNT.parser::<usize>())]
    pub realisations: Option<usize>,
    /// Trajectories of the first swarm under every controller.
    #[command(flatten)]
    pub trajectories: TrajectoryArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
    #[command(flatten)]
    pub shard: ShardArguments,
    /// What goes wrong on the air.
    #[command(flatten)]
    pub faults: FaultArguments,
}

impl FlockArguments {
    fn condition(&self) -> Condition {
        Condition { robots: self.robots, radius: self.radius, speed: self.speed, ticks: self.ticks }
    }

    /// Many robots are many samples.
    fn swarms(&self) -> usize {
        self.swarms.unwrap_or(if self.robots > MANY_ROBOTS { 1 } else { 40 })
    }

    fn lineup(&self) -> Result<Lineup<Flock>> {
        let mut lineup = match (self.profile, self.recipe) {
            (profile, recipe @ (RecipeName::Ours | RecipeName::Through)) => {
                Lineup::of_profile(recipe, profile)?
            }
            (Profile::Exact, recipe @ RecipeName::Paper) => Lineup::shipped(recipe)?,
            (profile, recipe) => {
                return Err(Error::usage(format!(
                    "no model of --recipe {} comes with the program for --profile {}: leave --recipe out",
                    recipe.name(),
                    profile.name()
                )));
            }
        };
        if let Some(path) = &self.model {
            lineup.put(ModelFile::load(path)?);
        }
        lineup.world = Flock::with(Quirks { delay: self.late_motors, ..Quirks::default() });
        lineup.set_faults(self.faults.faults(self.robots, self.ticks, self.seed)?, self.robots)?;
        lineup.check()?;
        lineup.step = self.step_size;
        lineup.many = self.robots > MANY_ROBOTS && lineup.faults.is_none();
        if lineup.many {
            eprintln!(
                "more than {}: only the expert and robots that learn in flight are flown",
                counted(MANY_ROBOTS, "robot")
            );
        }
        Ok(lineup)
    }

    /// Flies and prints.
    pub fn run(&self) -> Result {
        let condition = self.condition();
        condition.check()?;
        let lineup = self.lineup()?;
        if self.profile != Profile::Exact || lineup.faults.is_some() {
            self.profile.check_robots(self.robots)?;
        }
        if self.realisations.is_some() && (self.profile != Profile::Exact || lineup.faults.is_some()) {
            return Err(Error::usage("--realisations cannot be combined with --profile or faults"));
        }
        let outputs = self.outputs.or_page(outputs::page("flock", &self.settled()));
        self.scenario.check()?;
        outputs.check()?;
        self.trajectories.check()?;
        let mut over = Vec::new();
        let mut recorded = None;
        let (lineup, outcomes) = if let Some(count) = self.realisations {
            self.realise(count, &condition)?
        } else if lineup.many && self.swarms() == 1 && self.seeds == 1 && !jobs::is_distributed() {
            // So many robots are flown once, for figures and page.
            let (replay, outcomes) = self.record(&lineup, &condition)?;
            recorded = Some(replay);
            (lineup, outcomes)
        } else {
            let mut seeds = self.fly(&lineup, &condition)?;
            if seeds.len() > 1 {
                over = flock_tables::over_seeds(&seeds);
            }
            (lineup, seeds.swap_remove(0))
        };
        let command = self.settled().command("flock");
        let origin = &self.scenario.origin(command, lineup.words()).with_faults(&self.faults.words());
        outputs.deliver(&Results {
            origin,
            json: self.output(&outcomes, &over),
            print: &|| {
                self.print_table(&lineup, &outcomes);
                self.print_seeds(&over);
            },
            csv: &|| flock_tables::csv_rows(&outcomes),
            page: &|| self.page(&lineup, &outcomes, recorded.as_ref(), origin),
            plots: &|| page::flights::plots(&outcomes, Flock::<2>::SCORE, Flock::<2>::task().period()),
        })?;
        self.trajectories.write(&lineup, &condition, self.seed)?;
        self.scenario.save("flock", &self.scenario.typed)
    }

    /// Flies every seed's swarms.
    fn fly(&self, lineup: &Lineup<Flock>, condition: &Condition) -> Result<Vec<Vec<Outcome>>> {
        let controllers = lineup.controllers();
        let swarms = self.swarms();
        let case = |seed| Case { lineup, controllers: &controllers, condition, swarms, seed };
        let cases: Vec<_> = (self.seed..).take(self.seeds).map(case).collect();
        let bar = progress::bar(calls(lineup, condition, cases.len() * swarms * controllers.len()), "flying");
        let work = format!("{}, {}", self.settled().command("flock"), lineup.words());
        let outcomes = evaluate_all(&work, &cases, &|| bar.inc(1))?;
        bar.finish_and_clear();
        Ok(outcomes)
    }

    /// Flies one swarm and records it.
    fn record(&self, lineup: &Lineup<Flock>, condition: &Condition) -> Result<(Replay, Vec<Outcome>)> {
        let controllers = lineup.controllers();
        let bar = progress::bar(calls(lineup, condition, controllers.len()), "flying");
        let (replay, flights) = page::replay::record(lineup, condition, self.seed, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let shown = controllers.iter().filter(|controller| controller.shown);
        Ok((replay, shown.zip(flights).map(|(one, flight)| Outcome::of(one, &[flight])).collect()))
    }

    /// Trains and flies realisations one after the other. The last one's networks are those of the page's replay.
    fn realise(&self, count: usize, condition: &Condition) -> Result<(Lineup<Flock>, Vec<Outcome>)> {
        let stop = stop_on_interrupt()?;
        let epochs = count * Architecture::ALL.len() * Recipe::<Flock>::named(self.recipe)?.epochs;
        let bar = progress::bar(epochs as u64, "training");
        let mut realised = Vec::with_capacity(count);
        let mut flown = None;
        for seed in (self.seed..).take(count) {
            let mut lineup = realisations::lineup(self.recipe, seed, &bar, &stop)?;
            lineup.step = self.step_size;
            let shown: Vec<Controller<Flock>> =
                lineup.controllers().into_iter().filter(|controller| controller.shown).collect();
            realised.push(evaluate(&lineup, &shown, condition, self.swarms(), seed, &|| {})?);
            flown = Some(lineup);
        }
        bar.finish_and_clear();
        let lineup = flown.ok_or_else(|| Error::Failed("no realisation was trained".into()))?;
        Ok((lineup, realisations::together(&realised)))
    }

    /// Whether this is the paper's experiment.
    fn is_paper(&self) -> bool {
        let papers = self.condition() == Condition::PAPER && self.profile == Profile::Exact;
        papers && self.late_motors == 0 && self.faults.words().is_empty()
    }

    /// Everything that counted.
    fn settled(&self) -> Typed {
        self.scenario.typed.clone().without("task").or("swarms", self.swarms())
    }
}
