//! `host-sim fly`: held-out swarms of any task, under networks and whatever else there is to hold them against.

use std::{collections::BTreeMap, path::PathBuf, sync::atomic::AtomicBool};

use clap::Args;
use serde::Serialize;
use wdgnn_core::Task as _;

use super::{
    STEP_SIZE,
    condition::ConditionArguments,
    flock_tables, load_wd_gnn,
    outputs::{self, OutputArguments, Results},
    records::{RecordArguments, TrajectoryArguments},
    scenario::ScenarioArguments,
    shard::ShardArguments,
    typed::Typed,
};
use crate::{
    controllers::{Controller, EXPERT, EvalConfig, OFFLINE, ONLINE},
    episode::Episode,
    error::{Error, Result},
    evaluate::{self, Case, ControllerResult, Summary, evaluate_all},
    fault_options::FaultArguments,
    option_range::OptionRange,
    origin::Origin,
    page::{self, flights::counted},
    profiles::Profile,
    progress,
    seeds::{Purpose, generator},
    swarm::digest::EpisodeDigest,
    table,
    world::{Environment, Scenario},
};

/// Fly held-out swarms of any task under every controller that there is, and compare them.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim fly --task coverage\n  host-sim fly --task flocking-3d --robots 100 --json\n  \
                        host-sim fly --task coverage --model my.wdgnn --drop-chance 0.3\n  \
                        host-sim fly --task flocking --ticks 1000 --sensor frozen:0.1@50"
)]
pub struct FlyArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// What robots do; `host-sim tasks` lists what there is.
    #[arg(long, value_name = "NAME")]
    pub task: String,
    /// A WD-GNN of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// The link profile: how much of a beacon goes on the air, and how often.
    #[arg(long, value_enum, default_value = "exact")]
    pub profile: Profile,
    #[command(flatten)]
    condition: ConditionArguments,
    /// Held-out swarms to fly.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = OptionRange::COUNT.parser::<usize>())]
    pub swarms: usize,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = super::flock::SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// Online step size γ in place of the model's own.
    #[arg(long, value_name = "GAMMA", value_parser = STEP_SIZE.parser::<f32>())]
    pub step_size: Option<f32>,
    /// Files of the first swarm: the capture under the network that learns, the trajectories under every controller.
    #[command(flatten)]
    pub records: RecordArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
    #[command(flatten)]
    pub shard: ShardArguments,
    /// What goes wrong on the air.
    #[command(flatten)]
    pub faults: FaultArguments,
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Output<'a> {
    task: &'a str,
    score: &'a str,
    profile: Profile,
    robots: usize,
    radius: f32,
    ticks: u32,
    swarms: usize,
    seed: u64,
    /// Of the first swarm under the network that learns in flight, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    controllers: BTreeMap<&'static str, &'a Summary>,
}

impl FlyArguments {
    fn condition<W: Environment>(&self) -> Result<Scenario> {
        self.condition.of::<W>()
    }

    fn eval<W: Environment>(&self, condition: &Scenario) -> Result<EvalConfig<W>> {
        let model = match &self.model {
            Some(path) => Some(load_wd_gnn(path)?),
            None => W::model(self.profile).ok(),
        };
        let mut eval = EvalConfig::<W>::of(model.into_iter().collect(), self.profile);
        eval.set_faults(self.faults.faults(condition.robots, condition.ticks, self.seed)?, condition.robots)?;
        eval.check()?;
        eval.step = self.step_size;
        Ok(eval)
    }

    /// Flies in the world `W` and prints.
    pub fn run<W: Environment>(&self) -> Result {
        let condition = self.condition::<W>()?;
        self.profile.check_robots(condition.robots)?;
        let eval = self.eval::<W>(&condition)?;
        if eval.models.is_empty() && (self.step_size.is_some() || eval.faults.is_some()) {
            return Err(Error::usage(
                "--step-size and faults have no effect: no network of this task and profile comes with the program, give a --model",
            ));
        }
        if self.records.capture.is_some() && eval.models.is_empty() {
            return Err(Error::usage("--capture records the frames of a network: give a --model"));
        }
        let outputs = self.outputs.or_page(outputs::page(W::NAME, &self.scenario.typed));
        self.scenario.check()?;
        self.records.check()?;
        outputs.check()?;
        let controllers = eval.controllers();
        let bar = progress::bar((self.swarms * controllers.len()) as u64, "flying");
        let case = Case {
            eval: &eval,
            controllers: &controllers,
            scenario: &condition,
            swarms: self.swarms,
            seed: self.seed,
        };
        let settled = self.settled(&condition);
        let work = format!("{}, {}", settled.command("fly"), eval.describe());
        let outcomes = evaluate_all(&work, &[case], &|| bar.inc(1))?.swap_remove(0);
        bar.finish_and_clear();
        let digest = self.fly_online(&eval, &condition)?;
        self.records.trajectories.write(&eval, &condition, self.seed)?;
        let origin = &self.scenario.origin(settled.command("fly"), eval.describe());
        let origin = &origin.clone().with_faults(&self.faults.words());
        outputs.deliver(&Results {
            origin,
            json: self.output::<W>(&condition, &outcomes, digest.clone()),
            print: &|| self.print_table(&eval, &condition, &outcomes, digest.as_deref()),
            csv: &|| flock_tables::csv_rows(&outcomes),
            page: &|| self.page(&eval, &condition, &outcomes, origin),
            plots: &|| page::flights::plots(&outcomes, W::SCORE, W::default_task().period()),
        })?;
        self.scenario.save("fly", &settled)
    }

    /// Flies the first swarm again under the network that learns, writes the capture, and returns the digest.
    fn fly_online<W: Environment>(
        &self,
        eval: &EvalConfig<W>,
        condition: &Scenario,
    ) -> Result<Option<String>> {
        if eval.models.is_empty() {
            return Ok(None);
        }
        let mut eval = eval.clone();
        if self.records.capture.is_some() {
            // What goes on the air is bytes.
            eval.faults.get_or_insert_default();
        }
        let task = eval.task()?;
        let start = Episode::draw(&eval.world, condition, &mut generator(self.seed, Purpose::Testing, 0))?;
        let mut swarm = eval.swarm(&Controller::named(ONLINE)?, &start, 0)?;
        let mut digest = EpisodeDigest::default();
        let stop = AtomicBool::new(false);
        let capture =
            RecordArguments { trajectories: TrajectoryArguments::default(), ..self.records.clone() };
        let mut records = capture.records::<W>(&task)?;
        start.fly(&task, swarm.as_mut(), &mut [&mut digest, &mut records], &stop)?;
        records.finish()?;
        Ok(Some(digest.finish()))
    }

    fn page<W: Environment>(
        &self,
        eval: &EvalConfig<W>,
        condition: &Scenario,
        outcomes: &[ControllerResult],
        origin: &Origin,
    ) -> Result<String> {
        let controllers = eval.controllers().into_iter().filter(|controller| controller.shown).collect();
        let replay = page::replay::record(eval, controllers, condition, self.seed, &|| {})?.0;
        let shown: Vec<ControllerResult> = outcomes.iter().filter(|outcome| outcome.shown).cloned().collect();
        let (robots, swarms) = (counted(condition.robots, "robot"), counted(self.swarms, "swarm"));
        Ok(page::flights(&page::FlightsPage {
            title: capital(W::TITLE),
            lead: format!(
                "{robots} with a radio range of {} m. The score is the {}; lower is better.",
                condition.radius,
                W::SCORE
            ),
            comparison: None,
            heading: "All controllers".into(),
            score: W::SCORE,
            outcomes: &shown,
            robots: condition.robots,
            replay: &replay,
            table: flock_tables::all_rows(outcomes),
            legend: format!(
                "{swarms}. total, final: {}, summed over the ticks and at the end; mean ± standard deviation over swarms. ratio: \
                 total relative to the expert’s in the same swarms, ± standard error. closest: smallest distance between two \
                 robots. pairs < 0.1 m: pairs closer than that, counted per tick, per swarm.",
                W::SCORE
            ),
            air: super::air_in_words(self.profile, eval.faults.is_some(), &self.faults.words()),
            finding: finding(outcomes),
            origin,
        }))
    }

    /// Everything that counted.
    fn settled(&self, condition: &Scenario) -> Typed {
        self.condition.settled(&self.scenario.typed, condition)
    }

    fn output<'a, W: Environment>(
        &self,
        condition: &Scenario,
        outcomes: &'a [ControllerResult],
        digest: Option<String>,
    ) -> Output<'a> {
        let Scenario { robots, radius, ticks, .. } = *condition;
        Output {
            task: W::NAME,
            score: W::SCORE,
            profile: self.profile,
            robots,
            radius,
            ticks,
            swarms: self.swarms,
            seed: self.seed,
            digest,
            controllers: outcomes.iter().map(|outcome| (outcome.name, &outcome.summary)).collect(),
        }
    }

    fn print_table<W: Environment>(
        &self,
        eval: &EvalConfig<W>,
        condition: &Scenario,
        outcomes: &[ControllerResult],
        digest: Option<&str>,
    ) {
        println!(
            "{}: {} of {}, range {} m, {} ticks, seed {}, profile {}, model: {}{}\n",
            W::TITLE,
            counted(self.swarms, "swarm"),
            counted(condition.robots, "robot"),
            condition.radius,
            condition.ticks,
            self.seed,
            self.profile.name(),
            eval.describe(),
            match self.faults.words() {
                words if words.is_empty() => words,
                words => format!("\nframes sealed, with{words}"),
            },
        );
        table::print(&flock_tables::all_rows(outcomes));
        println!(
            "\ntotal, final: {}, summed over the ticks and at the end; mean ± standard deviation over swarms; lower is better.\n\
             ratio: total relative to the expert's in the same swarms, ± standard error.",
            W::SCORE
        );
        match digest {
            Some(digest) => println!("digest of the first swarm, learning in flight: {digest}"),
            None => println!(
                "no network flew: train one with `host-sim train --task {}`, and give it with --model",
                W::NAME
            ),
        }
    }
}

/// One sentence that says what came out.
fn finding(outcomes: &[ControllerResult]) -> String {
    let total = |name| evaluate::find(outcomes, name).map(|outcome| outcome.summary.total.mean);
    match (total(EXPERT), total(OFFLINE), total(ONLINE)) {
        (Some(expert), Some(offline), Some(online)) if expert > 0.0 => format!(
            "The network as trained comes to {:.3} times the expert’s total, and learning in flight to <strong>{:.3}</strong>.",
            offline / expert,
            online / expert
        ),
        (None, Some(offline), Some(online)) if offline > 0.0 => {
            format!(
                "Learning in flight changes the network’s total by <strong>{:+.1} %</strong>.",
                100.0 * (online / offline - 1.0)
            )
        }
        _ => String::new(),
    }
}

/// With a capital letter in front.
pub(super) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
