//! `host-sim eval`: compares controllers over episodes of a task.

mod delayed;
mod realizations;
mod report;

use std::{any::Any, sync::atomic::AtomicBool};

use clap::Args;
use wdgnn_robot::tasks::MotionModel as _;

use self::delayed::Delayed;
use crate::{
    commands::{
        HELD_OUT_SEED, STEP_SIZE, comparison,
        conditions::ConditionArguments,
        invocation::Invocation,
        models::{BodyArguments, ModelArguments, NETWORK, RecipeArguments},
        output::{self, OutputArguments, Results},
        recordings::RecordArguments,
        scenario::ScenarioArguments,
        shard::ShardArguments,
        stop_on_interrupt,
    },
    controllers::{Controller, EvalConfig, LARGE_SWARM_ROBOTS, ONLINE},
    episode::Episode,
    error::{Error, Result},
    evaluate::{Case, ControllerResult, evaluate, evaluate_all, progress_steps},
    fault_options::{FaultArguments, TrustArguments},
    jobs,
    option_range::OptionRange,
    page::{self, flights::counted, replay::Replay},
    profiles::Profile,
    progress,
    recipe::Architecture,
    seeds::{Purpose, generator},
    swarm::digest::EpisodeDigest,
    train::recipe::Recipe,
    trajectories,
    tuning::tuned_controllers,
    world::{Environment, Scenario, World as _, flock::Flock},
};

/// Largest actuator delay in ticks.
const MAX_DELAY_TICKS: u64 = 100;

/// Compare controllers over held-out episodes of a task: the paper's Table 1, actuator delays, faults.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim eval\n  host-sim eval --recipe paper\n  host-sim eval --task flocking-3d\n  \
                  host-sim eval --robots 100 --radius 1.5 --seed 7 --json\n  \
                  host-sim eval --profile dot154 --robots 10\n  host-sim eval --model my.wdgnn --csv eval.csv\n  \
                  host-sim eval --fault one-way=0.3 --fault position-noise=0.1\n  \
                  host-sim eval --actuator-delay 8 --ticks 600 --trajectories delayed.csv\n  \
                  host-sim eval --body quadrotor,lag=1.2 --speed 2\n  \
                  host-sim eval --scenario examples/scenarios/lossy-air.toml --svg lossy.svg"
)]
pub struct EvalArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    recipe: RecipeArguments,
    #[command(flatten)]
    condition: ConditionArguments,
    #[command(flatten)]
    body: BodyArguments,
    /// Held-out swarms [default: 40 for flocking, 20 for other tasks, 1 with more than 5000 robots].
    #[arg(long, value_name = "N", value_parser = OptionRange::COUNT.parser::<usize>())]
    swarms: Option<usize>,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = HELD_OUT_SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    seed: u64,
    /// Number of seeds; prints mean and standard deviation over them. The page shows the first.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "realizations", value_parser = OptionRange::COUNT.parser::<usize>())]
    seeds: usize,
    /// Delay of all actuators in ticks, for flocking [default: 0 for the table, 8 for one extra swarm].
    #[arg(long, value_name = "TICKS", default_value_t = 0, hide_default_value = true, conflicts_with = "realizations",
        value_parser = OptionRange::whole(0, MAX_DELAY_TICKS).parser::<u32>())]
    actuator_delay: u32,
    /// Online step size γ [default: the model's].
    #[arg(long, value_name = "GAMMA", help_heading = NETWORK, value_parser = STEP_SIZE.parser::<f32>())]
    step_size: Option<f32>,
    /// Train N networks and data sets and average over them, as the paper does. Each takes minutes.
    #[arg(long, value_name = "N", help_heading = NETWORK, conflicts_with_all = ["model", "shard"], value_parser = OptionRange::COUNT.parser::<usize>())]
    realizations: Option<usize>,
    /// Print all rows and columns. JSON and CSV always contain them.
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Recordings of the first swarm: frames with online learning, trajectories under each controller.
    #[command(flatten)]
    records: RecordArguments,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    shard: ShardArguments,
    #[command(flatten)]
    faults: FaultArguments,
    #[command(flatten)]
    trust: TrustArguments,
}

/// An evaluation with all defaults resolved.
struct Evaluation<'a, W: Environment> {
    arguments: &'a EvalArguments,
    condition: Scenario,
    swarms: usize,
    eval: EvalConfig<W>,
    /// Faults and trust in words; empty without any.
    faults: String,
}

impl EvalArguments {
    /// Runs the evaluation of a task and prints it.
    pub fn run<W: Environment>(&self) -> Result {
        let world = self.body.world::<W>()?;
        let condition = self.condition.of(&world)?;
        let flocking = W::NAME == Flock::<2>::NAME;
        let usual = match condition.robots {
            robots if robots > LARGE_SWARM_ROBOTS => 1,
            _ if flocking => 40,
            _ => 20,
        };
        let evaluation = Evaluation {
            arguments: self,
            condition,
            swarms: self.swarms.unwrap_or(usual),
            eval: self.eval(world, &condition)?,
            faults: self.trust.describe(&self.faults.settings()),
        };
        evaluation.run()
    }

    fn eval<W: Environment>(&self, world: W, condition: &Scenario) -> Result<EvalConfig<W>> {
        let faults = self.trust.apply(self.faults.faults(condition.robots, condition.ticks, self.seed)?);
        if self.model.profile != Profile::Exact || faults.is_some() {
            self.model.profile.check_robots(condition.robots)?;
        }
        let mut eval = self.model.eval(&world, self.recipe.recipe)?;
        eval.world = world;
        if self.actuator_delay > 0 {
            let world = (&mut eval.world as &mut dyn Any).downcast_mut::<Flock>();
            let world = world.ok_or_else(|| Error::usage("--actuator-delay needs --task flocking"))?;
            world.mismatch.delay = self.actuator_delay;
        }
        eval.set_faults(faults, condition.robots)?;
        eval.check()?;
        eval.step = self.step_size;
        eval.is_large = condition.robots > LARGE_SWARM_ROBOTS && eval.faults.is_none();
        if self.realizations.is_some() && (self.model.profile != Profile::Exact || eval.faults.is_some()) {
            return Err(Error::usage(
                "--realizations cannot be combined with --profile or faults: leave them out",
            ));
        }
        if eval.models.is_empty() && (self.step_size.is_some() || eval.faults.is_some()) {
            return Err(Error::usage(
                "--step-size and faults need a network, and none comes with the program for this task and profile: give a --model",
            ));
        }
        if self.records.capture.is_some() && eval.models.is_empty() {
            return Err(Error::usage("--capture records the frames of a network: give a --model"));
        }
        if eval.is_large {
            let limit = counted(LARGE_SWARM_ROBOTS, "robot");
            eprintln!("more than {limit}: evaluates only the expert and the network with online learning");
        }
        if self.body.body.is_some() && !eval.is_large {
            eval.tuned = tuned_controllers(&eval, condition, self.seed)?;
        }
        Ok(eval)
    }
}

impl<W: Environment> Evaluation<'_, W> {
    fn run(mut self) -> Result {
        let arguments = self.arguments;
        let outputs = arguments.outputs.or_page(output::page(&format!("eval-{}", W::NAME), &self.resolved()));
        outputs.check()?;
        arguments.records.check()?;
        let mut over_seeds = Vec::new();
        let mut recorded = None;
        let outcomes = if let Some(count) = arguments.realizations {
            self.realize(count)?
        } else if self.eval.is_large && self.swarms == 1 && arguments.seeds == 1 && !jobs::is_distributed() {
            // A large swarm runs once, for both the table and the page.
            let (replay, outcomes) = self.record()?;
            recorded = Some(replay);
            outcomes
        } else {
            let mut seeds = self.evaluate()?;
            if seeds.len() > 1 {
                over_seeds = comparison::over_seeds(&seeds);
            }
            seeds.swap_remove(0)
        };
        let delayed = self.delayed()?;
        let digest = self.run_online()?;
        let command = self.resolved().command("eval");
        let origin = &arguments.scenario.origin(command, self.eval.describe()).with_faults(&self.faults);
        outputs.deliver(&Results {
            origin,
            json: self.output(&outcomes, &over_seeds, delayed.as_ref(), digest.clone()),
            print: &|| {
                if let Some(delayed) = &delayed {
                    println!("{}\n", delayed.scores.sentence());
                }
                self.print_table(&outcomes, digest.as_deref());
                self.print_seeds(&outcomes, &over_seeds);
            },
            csv: &|| comparison::csv_rows(&outcomes),
            page: &|| self.page(&outcomes, recorded.as_ref(), delayed.as_ref(), origin),
            plots: &|| page::flights::plots(&outcomes, W::SCORE, W::default_task().period()),
        })?;
        if let Some(path) = &arguments.records.trajectories {
            trajectories::write(path, &self.eval, &self.condition, arguments.seed)?;
        }
        Ok(())
    }

    /// Evaluates all controllers on the swarms of each seed.
    fn evaluate(&self) -> Result<Vec<Vec<ControllerResult>>> {
        let Self { arguments, condition, swarms, eval, .. } = self;
        let controllers = eval.controllers();
        let case =
            |seed| Case { eval, controllers: &controllers, scenario: condition, swarms: *swarms, seed };
        let cases: Vec<_> = (arguments.seed..).take(arguments.seeds).map(case).collect();
        let bar = progress::bar(
            progress_steps(eval, condition, cases.len() * swarms * controllers.len()),
            "flying",
        );
        let work = format!("{}, {}", self.resolved().command("eval"), eval.describe());
        let outcomes = evaluate_all(&work, &cases, &|| bar.inc(1))?;
        bar.finish_and_clear();
        Ok(outcomes)
    }

    /// Runs and records the first swarm under all controllers.
    fn record(&self) -> Result<(Replay, Vec<ControllerResult>)> {
        let Self { arguments, condition, eval, .. } = self;
        let controllers = eval.controllers();
        let bar = progress::bar(progress_steps(eval, condition, controllers.len()), "flying");
        let (replay, flights) =
            page::replay::record(eval, &controllers, condition, arguments.seed, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let outcomes = controllers.iter().zip(flights);
        Ok((
            replay,
            outcomes.map(|(controller, flight)| ControllerResult::of(controller, &[flight])).collect(),
        ))
    }

    /// Trains and evaluates realizations one after the other. The networks of the last one remain in the evaluation, for the replay.
    fn realize(&mut self, count: usize) -> Result<Vec<ControllerResult>> {
        let stop = stop_on_interrupt()?;
        let recipe = self.arguments.recipe.recipe.unwrap_or_else(Recipe::<W>::usual);
        let epochs = count * Architecture::ALL.len() * Recipe::<W>::named(recipe, W::default())?.epochs;
        let bar = progress::bar(epochs as u64, "training");
        let mut realizations = Vec::with_capacity(count);
        for seed in (self.arguments.seed..).take(count) {
            self.eval.models = realizations::train::<W>(recipe, seed, &bar, &stop)?;
            let controllers: Vec<Controller<W>> = self
                .eval
                .controllers()
                .into_iter()
                .filter(|controller| controller.shown || controller.is_network())
                .collect();
            realizations.push(evaluate(
                &self.eval,
                &controllers,
                &self.condition,
                self.swarms,
                seed,
                &|| {},
            )?);
        }
        bar.finish_and_clear();
        Ok(realizations::average(&realizations))
    }

    /// Runs one flocking swarm with delayed actuators, unless all swarms have a delay or episodes are long.
    fn delayed(&self) -> Result<Option<Delayed>> {
        let EvalArguments { actuator_delay, realizations, seed, body, .. } = self.arguments;
        let applies = self.condition.robots > 1
            && *actuator_delay == 0
            && body.body.is_none()
            && realizations.is_none()
            && !self.eval.is_large;
        let eval = (&self.eval as &dyn Any).downcast_ref::<EvalConfig<Flock>>().filter(|_| applies);
        eval.map(|eval| Delayed::fly(eval, &self.condition, *seed)).transpose()
    }

    /// Runs the first swarm with online learning once more, writes the capture and returns the digest.
    fn run_online(&self) -> Result<Option<String>> {
        let Self { arguments, condition, eval, .. } = self;
        let learns = eval.controllers().iter().any(|controller| controller.name == ONLINE);
        if !learns || eval.is_large {
            return Ok(None);
        }
        let mut eval = eval.clone();
        if arguments.records.capture.is_some() {
            // Robots exchange bytes only with faults.
            eval.faults.get_or_insert_default();
        }
        let task = eval.task()?;
        let mut random = generator(arguments.seed, Purpose::Testing, 0);
        let start = Episode::draw(&eval.world, condition, &mut random)?;
        let mut swarm = eval.swarm(&Controller::named(ONLINE)?, &start, 0)?;
        let mut digest = EpisodeDigest::default();
        let capture = RecordArguments { trajectories: None, ..arguments.records.clone() };
        let mut records = capture.records::<W>(&task)?;
        start.fly(&task, swarm.as_mut(), &mut [&mut digest, &mut records], &AtomicBool::new(false))?;
        records.finish()?;
        Ok(Some(digest.finish()))
    }

    /// Returns whether this is the paper's experiment.
    fn is_paper(&self) -> bool {
        let papers = self.condition == Scenario::PAPER && self.arguments.model.profile == Profile::Exact;
        W::NAME == Flock::<2>::NAME
            && papers
            && self.arguments.body.body.is_none()
            && self.arguments.actuator_delay == 0
            && self.faults.is_empty()
    }

    /// Returns the invocation with all defaults.
    fn resolved(&self) -> Invocation {
        let invocation =
            self.arguments.condition.resolved(&self.arguments.scenario.invocation, &self.condition);
        invocation.with_default("swarms", self.swarms)
    }
}
