//! `host-sim faults`: what goes wrong on the air, and what holds all the same.

use clap::Args;
use serde::Serialize;

use crate::{
    air::options::{Faults, Trust},
    controllers::Controller,
    error::{Error, Result},
    evaluate::evaluate,
    faults::{self, Row, bench::Bench},
    profiles::Profile,
    progress,
    start::Condition,
    table,
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
    /// The link profile.
    #[arg(long, value_enum, default_value = "exact")]
    profile: Profile,
    /// Robots per swarm.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.robots)]
    robots: usize,
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
    pub fn run(&self) -> Result {
        // A sealed robot keeps count of 64 senders, and a swarm needs somebody to hear.
        if !(5..=64).contains(&self.robots) || self.swarms == 0 {
            return Err(Error::usage("give between 5 and 64 --robots and at least 1 of --swarms"));
        }
        let trust = if self.plain { Trust::Plain } else { Trust::Robust };
        let bench = Bench::new(self.profile, self.robots, self.swarms, self.seed, trust)?;
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
                "{} swarms of {} robots per row, profile {}, seed {}{}\n",
                self.swarms,
                self.robots,
                self.profile.name(),
                self.seed,
                if self.plain { ", plain averaging" } else { "" }
            );
            print!("{}", table::aligned(&faults::cells(&rows)));
            self.print_reference(&bench)?;
            println!(
                "\ncost: total velocity variation of the robots that are honest and alive to the end, against the \
                 same robots of\nthe same swarms without the fault."
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
    fn print_reference(&self, bench: &Bench) -> Result {
        let total =
            |trust| -> Result<f64> { Ok(Bench { trust, ..bench.clone() }.fly(&Faults::default())?.total()) };
        let expert =
            evaluate(&bench.fleet, &[Controller::Expert], &bench.condition, self.swarms, self.seed, &|| {})?;
        let expert = expert.first().map_or(f64::NAN, |outcome| outcome.summary.total.mean);
        let (flown, as_trained) = (total(bench.trust)?, total(Trust::AsTrained)?);
        println!(
            "\nwithout faults: total velocity variation {flown:.2}, {:.3} of the expert's; as trained, with everybody believed: \
             {as_trained:.2}",
            flown / expert
        );
        Ok(())
    }
}
