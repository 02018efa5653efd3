//! `host-sim faults`: what goes wrong on the air, and what holds all the same.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::{
    air::options::{Faults, Trust},
    error::{Error, Result},
    evaluate::evaluate,
    faults::{self, Row, bench::Bench},
    lineup::{Controller, EXPERT, Lineup},
    model::ModelFile,
    profiles::Profile,
    progress, table,
    world::World,
};

/// Fly held-out swarms through everything that goes wrong on the air, and judge what must hold all the same.
///
/// Frames are sealed and travel byte by byte; robots fly the robust settings of docs/radio.md. Exit code 1 when a row
/// does not hold.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim faults\n  host-sim faults --profile dot154 --robots 10 --swarms 40\n  host-sim faults --plain --swarms 2"
)]
pub struct FaultsArguments {
    /// What robots do; `host-sim tasks` lists what there is.
    #[arg(long, value_name = "NAME", default_value = "flocking")]
    pub task: String,
    /// A model of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The link profile.
    #[arg(long, value_enum, default_value = "exact")]
    profile: Profile,
    /// Robots per swarm [default: the task's own, 50 for flocking].
    #[arg(long, value_name = "N")]
    robots: Option<usize>,
    /// Held-out swarms per row.
    #[arg(long, value_name = "N", default_value_t = 10)]
    swarms: usize,
    /// Seed of the swarms and of the faults.
    #[arg(long, value_name = "N", default_value_t = super::flock::SEED)]
    seed: u64,
    /// Fly with plain averaging and believe everybody, as the paper does.
    #[arg(long)]
    plain: bool,
    /// Print JSON in place of the table.
    #[arg(long)]
    json: bool,
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Output<'a> {
    faults: &'a [Row],
}

impl FaultsArguments {
    /// Flies and prints.
    ///
    /// # Errors
    /// Options that cannot be, and rows that do not hold.
    pub fn run<W: World>(&self) -> Result {
        let robots = self.robots.unwrap_or(W::condition().robots);
        // A sealed robot keeps count of 64 senders, and a swarm needs somebody to hear.
        if !(5..=64).contains(&robots) || self.swarms == 0 {
            return Err(Error::usage("give between 5 and 64 --robots and at least 1 of --swarms"));
        }
        let trust = if self.plain { Trust::Plain } else { Trust::Robust };
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => W::model(self.profile)?,
        };
        let lineup = Lineup::<W>::of(vec![model], self.profile);
        let bench = Bench::new(lineup, robots, self.swarms, self.seed, trust)?;
        let bar = progress::bar(faults::ROWS, "flying");
        let rows = faults::run(&bench, &|row| {
            bar.inc(1);
            bar.set_message(row.fault);
        })?;
        bar.finish_and_clear();
        if self.json {
            println!("{}", serde_json::to_string_pretty(&Output { faults: &rows }).unwrap_or_default());
        } else {
            println!(
                "{}: {} swarms of {} robots per row, profile {}, seed {}{}\n",
                W::TITLE,
                self.swarms,
                robots,
                self.profile.name(),
                self.seed,
                if self.plain { ", plain averaging" } else { "" }
            );
            table::print(&faults::cells(&rows));
            self.print_reference(&bench)?;
            println!(
                "\ncost: total {} of the robots that are honest and alive to the end, against the same robots of\nthe same \
                 swarms without the fault.",
                W::SCORE
            );
        }
        let fallen = rows.iter().filter(|row| !row.holds);
        let fallen: Vec<String> = fallen.map(|row| format!("{} ({})", row.fault, row.level)).collect();
        if fallen.is_empty() {
            return Ok(());
        }
        Err(Error::Failed(format!(
            "{} of {} rows do not hold: {}",
            fallen.len(),
            rows.len(),
            fallen.join("; ")
        )))
    }

    /// What there is to compare with: the same swarms without faults, as trained, and under the expert.
    fn print_reference<W: World>(&self, bench: &Bench<W>) -> Result {
        let total =
            |trust| -> Result<f64> { Ok(Bench { trust, ..bench.clone() }.fly(&Faults::default())?.total()) };
        let (flown, as_trained) = (total(bench.trust)?, total(Trust::AsTrained)?);
        let of_expert = match Controller::named(EXPERT) {
            Ok(expert) => {
                let outcomes =
                    evaluate(&bench.lineup, &[expert], &bench.condition, self.swarms, self.seed, &|| {})?;
                let expert = outcomes.first().map_or(f64::NAN, |outcome| outcome.summary.total.mean);
                format!(", {:.3} of the expert's", flown / expert)
            }
            Err(_) => String::new(),
        };
        println!(
            "\nwithout faults: total {flown:.2}{of_expert}; as trained, with everybody believed: {as_trained:.2}"
        );
        Ok(())
    }
}
