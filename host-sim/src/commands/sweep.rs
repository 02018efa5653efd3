//! `host-sim sweep`: the paper's Figures 1a–c, one condition varied at a time.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::{
    commands::{flock, flock_tables},
    controllers::{Controller, Fleet},
    error::{Error, Result},
    evaluate::{Outcome, Summary, evaluate},
    files,
    page::{self, Chart, ChartPage, Series},
    progress,
    start::Condition,
    table,
    train::recipe::RecipeName,
};

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// Radio range in metres (Figure 1a).
    Radius,
    /// Starting speed in m/s (Figure 1b).
    Speed,
    /// Number of robots (Figure 1c).
    Robots,
}

impl Parameter {
    fn defaults(self) -> &'static [f64] {
        match self {
            Self::Radius => &[1.0, 1.5, 2.0, 2.5, 3.0],
            Self::Speed => &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
            Self::Robots => &[25.0, 50.0, 100.0, 200.0, 500.0],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Radius => "radius",
            Self::Speed => "speed",
            Self::Robots => "robots",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Radius => "radio range in m",
            Self::Speed => "starting speed in m/s",
            Self::Robots => "robots",
        }
    }

    fn condition(self, value: f64) -> Result<Condition> {
        let condition = match self {
            Self::Radius => Condition { radius: value as f32, ..Condition::PAPER },
            Self::Speed => Condition { speed: value as f32, ..Condition::PAPER },
            Self::Robots if value.fract() == 0.0 => Condition { robots: value as usize, ..Condition::PAPER },
            Self::Robots => {
                return Err(Error::usage(format!("{value} robots cannot be: give a whole number")));
            }
        };
        condition.check()?;
        Ok(condition)
    }
}

/// Vary one condition and compare all controllers at every value (the paper's Figures 1a–c).
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim sweep radius\n  host-sim sweep speed --values 2,4,5\n  host-sim sweep robots \
                        --swarms 10 --csv robots.csv"
)]
pub struct SweepArguments {
    /// What to vary.
    #[arg(value_enum)]
    pub parameter: Parameter,
    /// Its values, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    pub values: Vec<f64>,
    /// Which of the trained models to fly.
    #[arg(long, value_enum, default_value = "through")]
    pub recipe: RecipeName,
    /// Held-out swarms per value.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub swarms: usize,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = flock::SEED)]
    pub seed: u64,
    /// Write the table as comma-separated values.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the page with the figure here [default: target/wdgnn/sweep-PARAMETER.html].
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print JSON in place of the table.
    #[arg(long)]
    pub json: bool,
}

struct Point {
    value: f64,
    outcomes: Vec<Outcome>,
}

impl Point {
    fn expert(&self) -> f64 {
        let expert = self.outcomes.iter().find(|outcome| outcome.controller == Controller::Expert);
        expert.map_or(f64::NAN, |outcome| outcome.summary.total.mean)
    }

    /// A controller's total relative to the expert's.
    fn ratio(&self, index: usize) -> f64 {
        self.outcomes[index].summary.total.mean / self.expert()
    }
}

#[derive(Serialize)]
struct Output<'a> {
    parameter: Parameter,
    swarms: usize,
    seed: u64,
    points: Vec<OutputPoint<'a>>,
}

#[derive(Serialize)]
struct OutputPoint<'a> {
    value: f64,
    controllers: BTreeMap<&'static str, &'a Summary>,
}

impl SweepArguments {
    /// Flies and prints.
    ///
    /// # Errors
    /// Options that cannot be, files that cannot be written.
    pub fn run(&self) -> Result {
        if self.swarms == 0 {
            return Err(Error::usage("--swarms 0 leaves nothing to fly: give at least 1"));
        }
        let values =
            if self.values.is_empty() { self.parameter.defaults().to_vec() } else { self.values.clone() };
        let conditions: Vec<Condition> =
            values.iter().map(|&value| self.parameter.condition(value)).collect::<Result<_>>()?;
        let fleet = Fleet::shipped(self.recipe)?;
        fleet.check()?;
        self.csv.as_deref().map(files::probe).transpose()?;
        let report = self
            .report
            .clone()
            .unwrap_or_else(|| format!("target/wdgnn/sweep-{}.html", self.parameter.name()).into());
        files::probe(&report)?;
        let bar = progress::bar((values.len() * self.swarms * Controller::ALL.len()) as u64, "flying");
        let points = values
            .iter()
            .zip(&conditions)
            .map(|(&value, condition)| {
                bar.set_message(format!("{} {value}", self.parameter.name()));
                let outcomes =
                    evaluate(&fleet, &Controller::ALL, condition, self.swarms, self.seed, &|| bar.inc(1))?;
                Ok(Point { value, outcomes })
            })
            .collect::<Result<Vec<_>>>()?;
        bar.finish_and_clear();
        if let Some(path) = &self.csv {
            files::write(path, table::csv(&self.rows(&points, flock_tables::csv_rows)).as_bytes())?;
        }
        files::write(&report, self.page(&points).as_bytes())?;
        if self.json {
            self.print_json(&points);
            eprintln!("page: {}", report.display());
        } else {
            println!(
                "{} swarms per {}, seed {}, models: {}\n",
                self.swarms,
                self.parameter.name(),
                self.seed,
                self.recipe.name()
            );
            print!("{}", table::aligned(&self.ratios(&points)));
            println!(
                "\nTotal velocity variation relative to the expert's under the same condition; the expert's own in m²/s².\n"
            );
            print!("{}", table::aligned(&self.rows(&points, flock_tables::measured)));
            println!("\npage: {}", report.display());
        }
        Ok(())
    }

    /// The paper's figure, and all numbers under it.
    fn page(&self, points: &[Point]) -> String {
        let series = |(index, controller): (usize, &Controller)| Series {
            name: controller.title().to_owned(),
            points: points.iter().map(|point| (point.value, point.ratio(index))).collect(),
            band: None,
            dashed: *controller == Controller::Limit,
        };
        let values: Vec<String> = points.iter().map(|point| point.value.to_string()).collect();
        page::charts(&ChartPage {
            title: format!("Flocking over {}", self.parameter.label()),
            intro: format!(
                "Total velocity variation relative to the expert's under the same condition: {} held-out swarms at every value.",
                self.swarms
            ),
            charts: vec![Chart {
                title: String::new(),
                x_label: self.parameter.label().into(),
                y_label: "total relative to the expert".into(),
                log_y: self.recipe == RecipeName::Paper,
                series: Controller::ALL.iter().enumerate().filter(|(_, c)| **c != Controller::Expert).map(series).collect(),
                ..Chart::default()
            }],
            table: self.rows(points, flock_tables::measured),
            note: "The robots' spacing at the start goes with the radio range. One network per architecture flies all conditions.".into(),
            command: format!(
                "host-sim sweep {} --values {} --recipe {} --swarms {} --seed {}",
                self.parameter.name(),
                values.join(","),
                self.recipe.name(),
                self.swarms,
                self.seed
            ),
        })
    }

    /// Every value's table with the value in front, under one heading.
    fn rows(&self, points: &[Point], rows: fn(&[Outcome]) -> Vec<Vec<String>>) -> Vec<Vec<String>> {
        let mut all = Vec::new();
        for (index, point) in points.iter().enumerate() {
            for (line, mut row) in rows(&point.outcomes).into_iter().enumerate() {
                if line > 0 || index == 0 {
                    row.insert(
                        0,
                        if line == 0 { self.parameter.name().into() } else { point.value.to_string() },
                    );
                    all.push(row);
                }
            }
        }
        all
    }

    /// The figure as a table: a row per value, a column per controller.
    fn ratios(&self, points: &[Point]) -> Vec<Vec<String>> {
        let mut heading = vec![self.parameter.label().to_owned(), "expert's total".to_owned()];
        let compared = || Controller::ALL.iter().enumerate().filter(|(_, c)| **c != Controller::Expert);
        heading.extend(compared().map(|(_, controller)| controller.title().to_owned()));
        let row = |point: &Point| {
            let mut row = vec![point.value.to_string(), format!("{:.1}", point.expert())];
            row.extend(compared().map(|(index, _)| format!("{:.3}", point.ratio(index))));
            row
        };
        std::iter::once(heading).chain(points.iter().map(row)).collect()
    }

    fn print_json(&self, points: &[Point]) {
        let points = points.iter().map(|point| OutputPoint {
            value: point.value,
            controllers: point.outcomes.iter().map(|o| (o.controller.name(), &o.summary)).collect(),
        });
        let output = Output {
            parameter: self.parameter,
            swarms: self.swarms,
            seed: self.seed,
            points: points.collect(),
        };
        println!("{}", serde_json::to_string_pretty(&output).unwrap_or_default());
    }
}
