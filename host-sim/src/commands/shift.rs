//! `host-sim shift`: robots that differ from those of training.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use serde::Serialize;

use crate::{
    commands::{
        invocation::Invocation,
        models::{BodyArguments, load_wd_gnn},
        output::{self, OutputArguments, Results},
        shard::ShardArguments,
        stop_on_interrupt,
    },
    controllers::EvalConfig,
    error::{Error, Result},
    evaluate::MeanStd,
    jobs::{self, Schedule},
    option_range::OptionRange,
    origin::Origin,
    page::{self, Bar, Bars, ChartPage, flights::counted},
    profiles::Profile,
    progress,
    recipe::RecipeName,
    shift::{self, COLUMNS, Outcome, Plan, Row},
    table,
    world::{Presentation as _, flock::Flock},
};

/// Range of the number of retraining steps.
const RETRAIN_STEPS: OptionRange = OptionRange::whole(0, 100_000);

/// Evaluate conditions outside the training distribution and the gain of online learning.
///
/// For each condition, the network is also trained further under that condition: an upper bound for
/// adaptation. The last column is the share of this gap that online learning closes.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim shift\n  host-sim shift delay noise --seeds 3\n  host-sim shift noise --body quadrotor\n  host-sim shift --json --csv shift.csv"
)]
pub struct ShiftArguments {
    #[command(flatten)]
    pub invocation: Invocation,
    /// Conditions [default: all].
    #[arg(value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// Swarms per seed.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = OptionRange::COUNT.parser::<usize>())]
    pub swarms: usize,
    /// Number of seeds.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = OptionRange::COUNT.parser::<usize>())]
    pub seeds: usize,
    /// First seed.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// Training steps of the retrained network.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = RETRAIN_STEPS.parser::<usize>())]
    pub retrain: usize,
    /// WD-GNN weight file to use instead of the supplied network.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub body: BodyArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
    #[command(flatten)]
    pub shard: ShardArguments,
}

#[derive(Serialize)]
struct OutputRow {
    condition: &'static str,
    total: [MeanStd; 5],
    late: [MeanStd; 5],
    gap_closed: Option<MeanStd>,
    change: MeanStd,
}

#[derive(Serialize)]
struct Output {
    columns: [&'static str; 5],
    swarms: usize,
    seeds: usize,
    seed: u64,
    retrain: usize,
    rows: Vec<OutputRow>,
}

impl ShiftArguments {
    fn rows(&self) -> Result<Vec<Row>> {
        let rows = shift::rows();
        if self.conditions.is_empty() {
            return Ok(rows);
        }
        let find = |name: &String| {
            rows.iter().find(|row| row.name == name).copied().ok_or_else(|| {
                let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
                Error::usage(format!("there is no condition {name}: there are {}", names.join(", ")))
            })
        };
        self.conditions.iter().map(find).collect()
    }

    /// Runs the conditions and prints the table.
    pub fn run(&self) -> Result {
        let rows = self.rows()?;
        let world: Flock = self.body.world()?;
        let mut eval = EvalConfig { world: world.clone(), ..EvalConfig::shipped(RecipeName::Through)? };
        eval.insert_model(world.own_model(Profile::Exact)?);
        if let Some(path) = &self.model {
            eval.insert_model(load_wd_gnn(path)?);
        }
        eval.check()?;
        let outputs = self.outputs.or_page(output::page("shift", &self.invocation));
        outputs.check()?;
        let stop: Arc<_> = stop_on_interrupt()?;
        let Self { swarms, seeds, seed, retrain, .. } = *self;
        let plan = Plan { eval: &eval, swarms, seeds, seed, retrain, stop: &stop };
        let bar = progress::bar(rows.len() as u64, "flying");
        let work = format!("{}, {}", self.invocation.command("shift"), eval.describe());
        let mut outcomes = jobs::map(&work, Schedule::Parallel, rows.len(), |row| {
            bar.set_message(rows[row].name);
            let outcome = plan.measure(&rows[row])?;
            bar.inc(1);
            Ok(outcome)
        })?;
        outcomes.iter_mut().zip(&rows).for_each(|(outcome, row)| outcome.row = *row);
        bar.finish_and_clear();
        let page = self.page(&outcomes, Origin::new(self.invocation.command("shift"), eval.describe()));
        outputs.deliver(&Results {
            origin: &page.origin,
            json: self.output(&outcomes),
            print: &|| {
                println!(
                    "{} for each of {} from {seed} on, 4 s per episode\n",
                    counted(swarms, "swarm"),
                    counted(seeds, "seed")
                );
                table::print(&people_rows(&outcomes));
                println!("\n{NOTE}");
            },
            csv: &|| csv_rows(&outcomes),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })
    }

    fn page(&self, outcomes: &[Outcome], origin: Origin) -> ChartPage {
        // Relative to the network as trained: online learning and retraining.
        let relative = |title: &str, column: usize| Bars {
            title: format!("{title}: total relative to the network as trained"),
            x_label: "lower is better; mark: the network as trained".into(),
            log: false,
            rows: outcomes
                .iter()
                .map(|outcome| {
                    let [offline, flown] = [1, column].map(|column| outcome.total[column].mean);
                    let value = flown / offline;
                    let (label, text) = (outcome.row.title.to_owned(), format!("{value:.3}"));
                    Bar { label, value, limit: Some(1.0), text, failed: value > 1.0 }
                })
                .collect(),
        };
        ChartPage {
            title: "Conditions outside the training distribution".into(),
            intro: "Total velocity variation over four seconds, with its mean over the last half second in parentheses.".into(),
            bars: vec![relative("Learning in flight", 3), relative("Trained further for that condition", 4)],
            table: people_rows(outcomes),
            note: format!("{NOTE} {} for each of {}.", counted(self.swarms, "swarm"), counted(self.seeds, "seed")),
            origin,
            ..ChartPage::default()
        }
    }

    fn output(&self, outcomes: &[Outcome]) -> Output {
        let rows = outcomes.iter().map(|outcome| OutputRow {
            condition: outcome.row.name,
            total: outcome.total,
            late: outcome.late,
            gap_closed: outcome.closed,
            change: outcome.change,
        });
        let Self { swarms, seeds, seed, retrain, .. } = *self;
        Output { columns: COLUMNS, swarms, seeds, seed, retrain, rows: rows.collect() }
    }
}

const NOTE: &str = "Total velocity variation (mean over the last half second); online: the wide part learns with consensus, as in the \
paper; ours: each robot also adapts its own bias and gain to its actuators; retrained: the network after further \
training for the condition, without online learning. Gap closed: share of the gain of retraining over offline that ours achieves; – if \
retraining gains less than 2 %. Change: ours relative to offline. Mean ± standard deviation over seeds; for the share, the standard error.";

fn people_rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let heading = ["condition", "expert", "offline", "online", "ours", "retrained", "gap closed", "change"]
        .map(str::to_owned);
    let row = |outcome: &Outcome| {
        let mut row = vec![outcome.row.title.to_owned()];
        row.extend(
            outcome
                .total
                .iter()
                .zip(&outcome.late)
                .map(|(total, late)| format!("{:.2} ({:.4})", total.mean, late.mean)),
        );
        row.push(outcome.closed.map_or("–".into(), |share| format!("{:.2} ± {:.2}", share.mean, share.std)));
        row.push(format!("{:+.1} ± {:.1} %", 100.0 * outcome.change.mean, 100.0 * outcome.change.std));
        row
    };
    std::iter::once(heading.to_vec()).chain(outcomes.iter().map(row)).collect()
}

fn csv_rows(outcomes: &[Outcome]) -> Vec<Vec<String>> {
    let mut heading = vec!["condition".to_owned()];
    for column in COLUMNS {
        heading.extend([format!("{column}_total"), format!("{column}_total_std"), format!("{column}_late")]);
    }
    heading.extend(["gap_closed", "gap_closed_std", "change", "change_std"].map(str::to_owned));
    let row = |outcome: &Outcome| {
        let mut row = vec![outcome.row.name.to_owned()];
        for (total, late) in outcome.total.iter().zip(&outcome.late) {
            row.extend([total.mean, total.std, late.mean].map(|value| value.to_string()));
        }
        let closed = |value: fn(&MeanStd) -> f64| {
            outcome.closed.as_ref().map_or(String::new(), |spread| value(spread).to_string())
        };
        row.extend([closed(|spread| spread.mean), closed(|spread| spread.std)]);
        row.extend([outcome.change.mean.to_string(), outcome.change.std.to_string()]);
        row
    };
    std::iter::once(heading).chain(outcomes.iter().map(row)).collect()
}
