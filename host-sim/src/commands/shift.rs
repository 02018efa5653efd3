//! `host-sim shift`: robots that are not what training assumed.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use serde::Serialize;

use crate::{
    commands::{
        outputs::{Outputs, Results},
        stop_on_interrupt,
    },
    error::{Error, Result},
    evaluate::Spread,
    lineup::Lineup,
    model::ModelFile,
    page::{self, ChartPage, flights::counted},
    progress,
    recipe::RecipeName,
    shift::{COLUMNS, Outcome, Plan, ROWS, Row},
    table,
};

/// Where the page goes when nothing is said.
const REPORT: &str = "target/wdgnn/shift.html";

/// Fly conditions that training did not see: how much does learning in flight win back?
///
/// For every condition, the network is also trained further for that very condition, which is what adaptation could at most reach by
/// this way of training. The last column is the share of that gap that learning in flight closes.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim shift\n  host-sim shift delay noise --seeds 3\n  host-sim shift --json --csv shift.csv"
)]
pub struct ShiftArguments {
    /// Conditions to fly, by name [default: all].
    #[arg(value_name = "CONDITION")]
    pub conditions: Vec<String>,
    /// Swarms per seed.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub swarms: usize,
    /// Seeds, one after the other.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub seeds: usize,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Steps by which a network is trained further for a condition.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub retrain: usize,
    /// A WD-GNN of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Write the table as comma-separated values.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the page here.
    #[arg(long, value_name = "FILE", default_value = REPORT)]
    pub report: PathBuf,
    /// Print JSON in place of the table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct OutputRow {
    condition: &'static str,
    total: [Spread; 5],
    late: [Spread; 5],
    gap_closed: Option<Spread>,
    change: Spread,
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
        if self.conditions.is_empty() {
            return Ok(ROWS.to_vec());
        }
        let find = |name: &String| {
            ROWS.into_iter().find(|row| row.name == name).ok_or_else(|| {
                let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
                Error::usage(format!("there is no condition {name}; there are: {}", names.join(", ")))
            })
        };
        self.conditions.iter().map(find).collect()
    }

    /// Flies and prints.
    ///
    /// # Errors
    /// Options that cannot be, files that cannot be written, Ctrl-C.
    pub fn run(&self) -> Result {
        let rows = self.rows()?;
        if self.swarms == 0 || self.seeds == 0 {
            return Err(Error::usage("--swarms and --seeds must be at least 1"));
        }
        let mut lineup = Lineup::shipped(RecipeName::Through)?;
        if let Some(path) = &self.model {
            lineup.put(ModelFile::load(path)?);
        }
        lineup.check()?;
        let outputs = Outputs { csv: self.csv.as_deref(), report: Some(&self.report), json: self.json };
        outputs.check()?;
        let stop: Arc<_> = stop_on_interrupt()?;
        let Self { swarms, seeds, seed, retrain, .. } = *self;
        let plan = Plan { lineup: &lineup, swarms, seeds, seed, retrain, stop: &stop };
        let bar = progress::bar(rows.len() as u64, "flying");
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in &rows {
            bar.set_message(row.name);
            outcomes.push(plan.measure(row)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        outputs.deliver(&Results {
            command: &self.command(),
            models: &lineup.words(),
            json: self.output(&outcomes),
            print: &|| {
                println!(
                    "{} for each of {} from {seed} on, 4 s of flight\n",
                    counted(swarms, "swarm"),
                    counted(seeds, "seed")
                );
                table::print(&people_rows(&outcomes));
                println!("\n{NOTE}");
            },
            csv: &|| csv_rows(&outcomes),
            page: &|| Ok(self.page(&outcomes)),
        })
    }

    fn page(&self, outcomes: &[Outcome]) -> String {
        page::charts(&ChartPage {
            title: "Conditions that training did not see".into(),
            intro: "Total velocity variation over four seconds, and in brackets its mean over the last half second.".into(),
            table: people_rows(outcomes),
            note: NOTE.into(),
            command: self.command(),
            ..ChartPage::default()
        })
    }

    fn command(&self) -> String {
        let mut conditions = String::new();
        self.conditions.iter().for_each(|name| conditions.extend([" ", name]));
        let Self { swarms, seeds, seed, retrain, model, .. } = self;
        let model = model.as_ref().map_or(String::new(), |path| format!(" --model {}", path.display()));
        format!(
            "host-sim shift{conditions} --swarms {swarms} --seeds {seeds} --seed {seed} --retrain {retrain}{model}"
        )
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

const NOTE: &str = "Total velocity variation (its mean over the last half second); online: the wide part learns and is averaged, as in \
the paper; ours: every robot also makes up for what its motors do otherwise than they are told, and heeds what came of its commands; \
retrained: the best of the same network with other gains and trained further for that condition, flown offline. Gap closed: of what \
retraining wins over offline, the share that learning in flight wins; – where retraining wins less than 2 %. Change: ours against \
offline. Mean ± standard deviation over seeds; of the share, its standard error.";

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
        let closed = |value: fn(&Spread) -> f64| {
            outcome.closed.as_ref().map_or(String::new(), |spread| value(spread).to_string())
        };
        row.extend([closed(|spread| spread.mean), closed(|spread| spread.std)]);
        row.extend([outcome.change.mean.to_string(), outcome.change.std.to_string()]);
        row
    };
    std::iter::once(heading).chain(outcomes.iter().map(row)).collect()
}
