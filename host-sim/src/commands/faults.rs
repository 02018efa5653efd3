//! `host-sim faults`: the table of faults with costs and properties.

use clap::Args;
use serde::Serialize;
use wdgnn_robot::tasks::MotionModel as _;

use super::{
    HELD_OUT_SEED,
    conditions::ConditionArguments,
    invocation::Invocation,
    models::{BodyArguments, ModelArguments},
    output::{OutputArguments, Results},
    scenario::ScenarioArguments,
    shard::ShardArguments,
};
use crate::{
    controllers::{Controller, EXPERT, EvalConfig},
    error::{Error, Result},
    evaluate::evaluate,
    fault_options::{self, FaultArguments, TrustArguments},
    faults::{self, Plan, Row, bench::Bench, row::Yardstick},
    jobs::{self, Schedule},
    medium::options::{Faults, Trust},
    option_range::OptionRange,
    origin::Origin,
    page::{self, Bar, Bars, ChartPage, flights::counted},
    profiles::Profile,
    progress, table,
    world::{Environment, Scenario},
};

/// Default lengths of episodes in seconds. The number of swarms is divided by the second value.
const LENGTHS: [(f64, usize); 2] = [(2.0, 1), (10.0, 5)];

/// Robots of a swarm: a sealed robot stores 64 senders, and some rows need five robots.
const ROBOTS: OptionRange = OptionRange::whole(5, 64);
/// Length of an episode in seconds: rows have events up to 1.5 s.
const SECONDS: OptionRange = OptionRange::real(2.0, 600.0);

/// Run swarms under all faults and check cost, distances and properties.
///
/// Robots use sealed frames and the robust settings of docs/radio.md. A row holds if its cost is within its limit, if robots come no
/// closer than under the expert or than was avoidable (pairs nearer than 0.1 m, in pair-ticks per episode), and if its property
/// holds. Faults of --fault and of a scenario make one more row without a cost limit. Exits with code 1 if a row does not hold.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim faults\n  host-sim faults --list\n  \
                  host-sim faults --ticks 200 --swarms 4 --only noise\n  \
                  host-sim faults --profile dot154 --robots 10 --swarms 40 --seeds 3\n  \
                  host-sim faults --only \"motors stuck\" --json\n  host-sim faults --no-robustness --swarms 2\n  \
                  host-sim faults --body quadrotor --only noise")]
pub struct FaultsArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    condition: ConditionArguments,
    #[command(flatten)]
    body: BodyArguments,
    /// List the keys of --fault with their defaults and exit.
    #[arg(long, help_heading = "Faults")]
    list: bool,
    /// Held-out swarms per row.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = OptionRange::COUNT.parser::<usize>())]
    swarms: usize,
    /// Seed of the swarms and of the faults.
    #[arg(long, value_name = "N", default_value_t = HELD_OUT_SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    seed: u64,
    /// Number of seeds; prints the worst of each row.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::COUNT.parser::<u64>())]
    seeds: u64,
    /// Run only rows whose fault or level contains this text.
    #[arg(long, value_name = "TEXT", help_heading = "Faults", default_value = "", hide_default_value = true)]
    only: String,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    shard: ShardArguments,
    #[command(flatten)]
    own: FaultArguments,
    #[command(flatten)]
    trust: TrustArguments,
}

/// JSON output.
#[derive(Debug, Serialize)]
struct Output<'a> {
    tables: &'a [Table],
}

/// Rows of one length: the worst over all seeds, and those of each seed.
#[derive(Debug, Serialize)]
struct Table {
    seconds: f64,
    /// Result without faults, in words.
    reference: String,
    swarms: usize,
    robots: usize,
    profile: Profile,
    faults: Vec<Row>,
    seeds: Vec<Vec<Row>>,
}

/// Episodes of one length.
#[derive(Clone, Copy, Debug)]
struct Length {
    seconds: f64,
    swarms: usize,
    condition: Scenario,
}

impl FaultsArguments {
    /// Runs the table in a world and prints it.
    pub fn run<W: Environment>(&self) -> Result {
        if self.list {
            print!("{}", fault_options::list());
            return Ok(());
        }
        let world = self.body.world::<W>()?;
        let condition = self.condition.of(&world)?;
        let lengths = self.lengths::<W>()?;
        ROBOTS.check_whole("robots", condition.robots as u64)?;
        let ticks = |seconds: f64| (seconds / f64::from(W::default_task().period())).round() as u32;
        for (seconds, _) in &lengths {
            self.own.faults(condition.robots, ticks(*seconds), self.seed)?;
        }
        self.outputs.check()?;
        let command = self.resolved(&condition).command("faults");
        let models = self.model.wd_gnn(&world)?.describe();
        let lengths: Vec<Length> = lengths
            .into_iter()
            .map(|(seconds, swarms)| {
                let condition = Scenario { ticks: ticks(seconds), ..condition };
                Length { seconds, swarms, condition }
            })
            .collect();
        let tables = self.fly::<W>(&lengths, &format!("{command}, {models}"))?;
        let origin = self.scenario.origin(command, models);
        let own = self.own.settings();
        let faults = if own.is_empty() { "those of the rows" } else { &own };
        let page = self.page::<W>(&tables, origin.with_faults(faults));
        self.outputs.deliver(&Results {
            origin: &page.origin,
            json: Output { tables: &tables },
            print: &|| tables.iter().for_each(|table| self.print::<W>(table)),
            csv: &|| csv_rows(&tables),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })?;
        judge(&tables)
    }

    /// Returns the invocation with all defaults. The lengths of episodes stay a default of the command.
    fn resolved(&self, condition: &Scenario) -> Invocation {
        let resolved = self.condition.resolved(&self.scenario.invocation, condition);
        if self.condition.ticks.is_some() { resolved } else { resolved.without("ticks") }
    }

    /// Returns the lengths of episodes in seconds, each with its number of swarms.
    fn lengths<W: Environment>(&self) -> Result<Vec<(f64, usize)>> {
        let period = f64::from(W::default_task().period());
        let Some(ticks) = self.condition.ticks else {
            return Ok(LENGTHS.map(|(seconds, divisor)| (seconds, self.swarms.div_ceil(divisor))).to_vec());
        };
        // In microseconds, because a period of 0.01 s is not exact in binary.
        let seconds = (f64::from(ticks) * period * 1.0e6).round() / 1.0e6;
        SECONDS.check_real("ticks, in seconds,", seconds)?;
        Ok(vec![(seconds, self.swarms)])
    }

    fn bench<W: Environment>(&self, condition: Scenario, swarms: usize, seed: u64) -> Result<Bench<W>> {
        let world = self.body.world::<W>()?;
        let models = vec![self.model.wd_gnn(&world)?];
        let eval = EvalConfig { world, ..EvalConfig::of(models, self.model.profile) };
        Bench::new(eval, condition, swarms, seed, self.trust.trust())
    }

    /// Runs all rows of all lengths and seeds.
    fn fly<W: Environment>(&self, lengths: &[Length], work: &str) -> Result<Vec<Table>> {
        let own = self.own.settings();
        let plans = lengths
            .iter()
            .flat_map(|length| (self.seed..self.seed + self.seeds).map(move |seed| (length, seed)))
            .map(|(length, seed)| {
                let bench = self.bench::<W>(length.condition, length.swarms, seed)?;
                Ok((length, Plan::new(&bench, &self.only, &own)?))
            })
            .collect::<Result<Vec<_>>>()?;
        let jobs: Vec<(usize, usize)> = (0..plans.len())
            .flat_map(|plan| (0..plans[plan].1.count()).map(move |row| (plan, row)))
            .collect();
        if jobs.is_empty() {
            return Err(Error::usage(format!("--only must match a fault or level, got {}", self.only)));
        }
        let bar = progress::bar(jobs.len() as u64, "flying");
        let rows = jobs::map(work, Schedule::Sequential, jobs.len(), |job| {
            let (length, plan) = &plans[jobs[job].0];
            let row = plan.fly(jobs[job].1)?;
            bar.inc(1);
            bar.set_message(format!("{}, {} s", row.fault, length.seconds));
            Ok(row)
        })?;
        bar.finish_and_clear();
        let mut rows = rows.into_iter();
        let mut seeds = plans.iter().map(|(_, plan)| rows.by_ref().take(plan.count()).collect());
        lengths
            .iter()
            .map(|length| self.table::<W>(length, seeds.by_ref().take(self.seeds as usize).collect()))
            .collect()
    }

    /// Returns the worst of each row over seeds.
    fn table<W: Environment>(&self, length: &Length, seeds: Vec<Vec<Row>>) -> Result<Table> {
        let Length { seconds, swarms, condition } = *length;
        let worst = |row: usize| seeds.iter().map(|rows| rows[row].clone()).reduce(Row::worse);
        let faults = (0..seeds[0].len()).filter_map(worst).collect();
        let reference = reference(&self.bench::<W>(condition, swarms, self.seed)?)?;
        let (robots, profile) = (condition.robots, self.model.profile);
        Ok(Table { seconds, reference, swarms, robots, profile, faults, seeds })
    }

    fn heading<W: Environment>(&self, table: &Table) -> String {
        let Table { seconds, swarms, robots, .. } = table;
        format!(
            "{}: {} of {robots} robots per row, {seconds} s of flight, profile {}, {}{}",
            W::TITLE,
            counted(*swarms, "swarm"),
            self.model.profile.name(),
            match self.seeds {
                1 => format!("seed {}", self.seed),
                many => format!("worst of seeds {} to {}", self.seed, self.seed + many - 1),
            },
            if self.trust.no_robustness { ", plain averaging" } else { "" }
        )
    }

    fn print<W: Environment>(&self, table: &Table) {
        let Table { reference, faults, .. } = table;
        println!("{}\n", self.heading::<W>(table));
        table::print(&faults::cells(faults));
        let count = |holds: fn(&Row) -> bool| faults.iter().filter(|row| holds(row)).count();
        println!(
            "\n{} of {} rows hold; {} with the limit of the expert's fault-free pairs plus 1 only",
            count(|row| row.holds),
            faults.len(),
            count(Row::holds_strictly)
        );
        println!("without faults: {reference}");
        println!(
            "\ncost: total {} of the honest, intact and surviving robots, relative to these robots without the fault.\n\
             pairs: closer than 0.1 m, in pair-ticks per episode, of all flying robots; limit: the expert's without the fault, plus\n\
             unavoidable ones (no frame of the other robot within 0.12 s, or neither can steer), plus 1.\n\
             nearest: smallest distance in m.\n",
            W::SCORE
        );
        for (reason, words) in [
            (Yardstick::ExpertToo, "pairs limit: or the expert's with the sensor and motor faults, plus 1"),
            (Yardstick::Jammed, "cost and pairs: relative to swarms without radio"),
            (Yardstick::Deaf, "cost: relative to swarms without radio for the delay at the start"),
        ] {
            let of_it = |row: &&Row| row.yardstick == reason;
            let rows: Vec<String> =
                faults.iter().filter(of_it).map(|row| format!("{} ({})", row.fault, row.level)).collect();
            if !rows.is_empty() {
                println!("{words}: {}", rows.join(", "));
            }
        }
        for row in faults.iter().filter(|row| !row.because.is_empty()) {
            println!("{} ({}): {}", row.fault, row.level, row.because);
        }
    }

    fn page<W: Environment>(&self, tables: &[Table], origin: Origin) -> ChartPage {
        let holding = tables.iter().flat_map(|table| &table.faults).filter(|row| row.holds).count();
        let all: usize = tables.iter().map(|table| table.faults.len()).sum();
        let bars = tables.iter().flat_map(|table| {
            let rows = |bar: fn(&Row) -> Bar| table.faults.iter().map(bar).collect();
            let heading = self.heading::<W>(table);
            [
                Bars {
                    title: format!("Cost. {heading}"),
                    x_label: "cost relative to the episode without the fault; marks: limits".into(),
                    log: true,
                    rows: rows(cost),
                },
                Bars {
                    title: "Close pairs".into(),
                    x_label: "pairs closer than 0.1 m, in pair-ticks per episode; marks: limits".into(),
                    log: false,
                    rows: rows(pairs),
                },
            ]
        });
        let mut cells = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            for (line, mut row) in faults::cells(&table.faults).into_iter().enumerate() {
                if line > 0 || index == 0 {
                    row.insert(2, if line == 0 { "flight".into() } else { format!("{} s", table.seconds) });
                    cells.push(row);
                }
            }
        }
        let references: Vec<String> =
            tables.iter().map(|table| format!("{} s: {}", table.seconds, table.reference)).collect();
        ChartPage {
            title: format!("Faults: {holding} of {all} rows hold"),
            intro: format!(
                "Robots with sealed frames under one fault after the other. A row holds if its cost, its close pairs and its property are within \
                 their limits. Without faults: {}.",
                references.join("; ")
            ),
            bars: bars.collect(),
            table: cells,
            note: format!(
                "Cost: total {} of the honest, intact and surviving robots, relative to these robots without the fault. \
                 Pairs: closer than 0.1 m, of all flying robots; limit: the expert's without the fault, plus 1. Nearest: smallest \
                 distance in m.",
                W::SCORE
            ),
            origin,
            ..ChartPage::default()
        }
    }
}

fn cost(row: &Row) -> Bar {
    let text = row.ratio.map_or("–".into(), |ratio| format!("{ratio:.3}"));
    let failed = row.ratio.zip(row.limit).is_some_and(|(ratio, limit)| ratio > limit);
    let label = format!("{}, {}", row.fault, row.level);
    Bar { label, value: row.ratio.unwrap_or(f64::NAN), limit: row.limit, text, failed }
}

fn pairs(row: &Row) -> Bar {
    let label = format!("{}, {}", row.fault, row.level);
    match &row.nearness {
        None => Bar { label, value: f64::NAN, limit: None, text: "–".into(), failed: false },
        Some(near) => Bar {
            label,
            value: near.close_pairs,
            limit: Some(near.most_close_pairs),
            text: format!("{:.1}", near.close_pairs),
            failed: near.close_pairs > near.most_close_pairs,
        },
    }
}

fn csv_rows(tables: &[Table]) -> Vec<Vec<String>> {
    let heading = [
        "seconds",
        "seed",
        "fault",
        "level",
        "options",
        "cost",
        "cost_limit",
        "pairs",
        "pairs_limit",
        "nearest",
        "holds",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for table in tables {
        for row in table.seeds.iter().flatten() {
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let near = row.nearness.as_ref();
            rows.push(vec![
                table.seconds.to_string(),
                row.seed.to_string(),
                row.fault.clone().into_owned(),
                row.level.clone(),
                row.options.clone(),
                number(row.ratio),
                number(row.limit),
                number(near.map(|near| near.close_pairs)),
                number(near.map(|near| near.most_close_pairs)),
                number(near.map(|near| near.nearest)),
                row.holds.to_string(),
            ]);
        }
    }
    rows
}

/// Describes the swarms without faults: with this trust, as trained, and relative to the expert.
fn reference<W: Environment>(bench: &Bench<W>) -> Result<String> {
    let total =
        |trust| -> Result<f64> { Ok(Bench { trust, ..bench.clone() }.fly(&Faults::default())?.total()) };
    let (flown, as_trained) = (total(bench.trust)?, total(Trust::AsTrained)?);
    let of_expert = match Controller::named(EXPERT) {
        Ok(expert) => {
            let outcomes =
                evaluate(&bench.eval, &[expert], &bench.condition, bench.swarms, bench.seed, &|| {})?;
            let expert = outcomes.first().map_or(f64::NAN, |outcome| outcome.summary.total.mean);
            format!(", {:.3} of the expert's", flown / expert)
        }
        Err(_) => String::new(),
    };
    Ok(format!("total {flown:.2}{of_expert}; as trained, with trust in all robots: {as_trained:.2}"))
}

/// Returns an error if a row does not hold.
fn judge(tables: &[Table]) -> Result {
    let fallen: Vec<String> = tables
        .iter()
        .flat_map(|table| table.faults.iter().map(move |row| (table.seconds, row)))
        .filter(|(_, row)| !row.holds)
        .map(|(seconds, row)| format!("{} ({}, {seconds} s)", row.fault, row.level))
        .collect();
    if fallen.is_empty() {
        return Ok(());
    }
    let rows: usize = tables.iter().map(|table| table.faults.len()).sum();
    Err(Error::Failed(format!("{} of {rows} rows do not hold: {}", fallen.len(), fallen.join("; "))))
}
