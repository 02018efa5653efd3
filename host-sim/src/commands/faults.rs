//! `host-sim faults`: what goes wrong on the air, and what holds all the same.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wdgnn_core::Task as _;

use crate::{
    air::options::{Faults, Trust},
    error::{Error, Result},
    evaluate::evaluate,
    faults::{self, Row, bench::Bench, row::Yardstick},
    lineup::{Controller, EXPERT, Lineup},
    model::ModelFile,
    profiles::Profile,
    progress, table,
    world::{Condition, World},
};

/// The lengths of flights that are flown unless one is asked for, in seconds; and how many times fewer swarms the longer ones take.
const LENGTHS: [(f64, usize); 2] = [(2.0, 1), (10.0, 5)];

/// Fly held-out swarms through everything that goes wrong, and judge what must hold all the same.
///
/// Frames are sealed and travel byte by byte; robots fly the robust settings of docs/radio.md. A row holds when it costs no more than its
/// limit, when robots come no closer to each other than under the expert (close pairs: nearer than 0.1 m, in pair-ticks a flight) or than
/// anybody could have avoided, and when what else it says does. Exit code 1 when a row does not hold.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim faults\n  host-sim faults --seconds 2 --swarms 4 --only noise\n  \
                        host-sim faults --profile dot154 --robots 10 --swarms 40 --seeds 3\n  \
                        host-sim faults --only \"motors stuck\" --json\n  host-sim faults --plain --swarms 2"
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
    /// Length of flights in seconds [default: 2, and then once more 10 with a fifth of the swarms].
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Seed of the swarms and of the faults.
    #[arg(long, value_name = "N", default_value_t = super::flock::SEED)]
    seed: u64,
    /// Fly so many seeds, one after the other, and show the worst of each row.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seeds: u64,
    /// Fly those rows only that have this in their name or level.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    only: String,
    /// Fly with plain averaging and believe everybody, as the paper does.
    #[arg(long)]
    plain: bool,
    /// Print JSON in place of the table.
    #[arg(long)]
    json: bool,
}

/// The JSON output: the worst of each row over all seeds, and every seed's rows.
#[derive(Debug, Serialize)]
struct Output {
    seconds: f64,
    swarms: usize,
    robots: usize,
    profile: Profile,
    faults: Vec<Row>,
    seeds: Vec<Vec<Row>>,
}

impl FaultsArguments {
    /// Flies and prints.
    ///
    /// # Errors
    /// Options that cannot be, and rows that do not hold.
    pub fn run<W: World>(&self) -> Result {
        let lengths = self.lengths()?;
        let robots = self.robots.unwrap_or(W::condition().robots);
        // A sealed robot keeps count of 64 senders, and a swarm needs somebody to hear.
        if !(5..=64).contains(&robots) || self.swarms == 0 || self.seeds == 0 {
            return Err(Error::usage(
                "give between 5 and 64 --robots and at least 1 of --swarms and --seeds",
            ));
        }
        let mut tables = Vec::new();
        for (seconds, swarms) in lengths {
            let table = self.fly::<W>(robots, seconds, swarms)?;
            if !self.json {
                self.print::<W>(&table)?;
            }
            tables.push(table);
        }
        if self.json {
            println!("{}", serde_json::to_string_pretty(&tables).unwrap_or_default());
        }
        judge(&tables)
    }

    /// The lengths of flights in seconds, each with how many swarms fly so long.
    fn lengths(&self) -> Result<Vec<(f64, usize)>> {
        let Some(seconds) = self.seconds else {
            return Ok(LENGTHS.map(|(seconds, fewer)| (seconds, self.swarms.div_ceil(fewer))).to_vec());
        };
        if !(1.0..=600.0).contains(&seconds) {
            return Err(Error::usage(format!("--seconds {seconds} cannot be: give between 1 and 600")));
        }
        Ok(vec![(seconds, self.swarms)])
    }

    fn bench<W: World>(&self, robots: usize, seconds: f64, swarms: usize, seed: u64) -> Result<Bench<W>> {
        let trust = if self.plain { Trust::Plain } else { Trust::Robust };
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => W::model(self.profile)?,
        };
        let ticks = (seconds / f64::from(W::task().period())).round() as u32;
        let condition = Condition { robots, ticks, ..W::condition() };
        Bench::new(Lineup::<W>::of(vec![model], self.profile), condition, swarms, seed, trust)
    }

    /// Flies one table, as often as there are seeds.
    fn fly<W: World>(&self, robots: usize, seconds: f64, swarms: usize) -> Result<Output> {
        let bar = progress::bar(1, "flying");
        let mut seeds = Vec::new();
        for seed in self.seed..self.seed + self.seeds {
            let bench = self.bench::<W>(robots, seconds, swarms, seed)?;
            let rows = faults::run(&bench, &self.only, &|count, row| {
                bar.set_length(count as u64 * self.seeds);
                bar.inc(1);
                bar.set_message(format!("{}, {seconds} s", row.fault));
            })?;
            if rows.is_empty() {
                return Err(Error::usage(format!("--only {} leaves nothing to fly", self.only)));
            }
            seeds.push(rows);
        }
        bar.finish_and_clear();
        let worst = |row: usize| seeds.iter().map(|rows| rows[row].clone()).reduce(Row::worse);
        let faults = (0..seeds[0].len()).filter_map(worst).collect();
        Ok(Output { seconds, swarms, robots, profile: self.profile, faults, seeds })
    }

    fn print<W: World>(&self, table: &Output) -> Result {
        let Output { seconds, swarms, robots, faults, .. } = table;
        println!(
            "{}: {swarms} swarms of {robots} robots per row, {seconds} s of flight, profile {}, {}{}\n",
            W::TITLE,
            self.profile.name(),
            match self.seeds {
                1 => format!("seed {}", self.seed),
                many => format!("the worst of seeds {} to {}", self.seed, self.seed + many - 1),
            },
            if self.plain { ", plain averaging" } else { "" }
        );
        table::print(&faults::cells(faults));
        Self::print_reference(&self.bench::<W>(*robots, *seconds, *swarms, self.seed)?)?;
        println!(
            "\ncost: total {} of the robots that are honest, whole and alive to the end, against the same robots of\nthe same \
             swarms without the fault. pairs: nearer than 0.1 m, in pair-ticks per flight, of everybody in the sky; limit: the\n\
             expert's in the same swarms without the fault, those that neither of the two could have avoided (no frame of the\n\
             other came in 0.12 s before or earlier, or neither can steer), and 1. nearest: of any pair, in metres.\n",
            W::SCORE
        );
        for (reason, words) in [
            (Yardstick::ExpertToo, "pairs: or the expert's with the same senses and motors, and 1"),
            (Yardstick::Jammed, "cost and pairs: against the same swarms in which no frame comes in at all"),
            (
                Yardstick::Deaf,
                "cost: against the same swarms in which nobody hears anything for as long at the start",
            ),
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
        Ok(())
    }

    /// What there is to compare with: the same swarms without faults, as trained, and under the expert.
    fn print_reference<W: World>(bench: &Bench<W>) -> Result {
        let total =
            |trust| -> Result<f64> { Ok(Bench { trust, ..bench.clone() }.fly(&Faults::default())?.total()) };
        let (flown, as_trained) = (total(bench.trust)?, total(Trust::AsTrained)?);
        let of_expert = match Controller::named(EXPERT) {
            Ok(expert) => {
                let outcomes =
                    evaluate(&bench.lineup, &[expert], &bench.condition, bench.swarms, bench.seed, &|| {})?;
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

/// Ends with an error when a row does not hold.
fn judge(tables: &[Output]) -> Result {
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
