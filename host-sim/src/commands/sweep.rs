//! `host-sim sweep`: the paper's Figures 1a–c, one condition varied at a time.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::{
    commands::{
        condition::ConditionArguments,
        flock, flock_tables,
        outputs::{self, OutputArguments, Results},
        scenario::ScenarioArguments,
        shard::ShardArguments,
        typed::Typed,
    },
    controllers::{EXPERT, EvalConfig},
    error::{Error, Result},
    evaluate::{self, Case, ControllerResult, Summary, evaluate_all},
    fault_options::FaultArguments,
    model::ModelFile,
    models,
    option_range::OptionRange,
    origin::Origin,
    page::{self, Chart, ChartPage, Series, flights::counted},
    profiles::Profile,
    progress,
    recipe::RecipeName,
    table,
    world::{Environment, Scenario},
};

/// Values of any parameter. [`Scenario::check`] has the limits of each.
const VALUES: OptionRange = OptionRange::real(0.0, 1.0e9);

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
    /// Around a task's own condition; for flocking, the paper's values.
    fn defaults(self, usual: &Scenario) -> Vec<f64> {
        let (usual, factors): (f64, &[f64]) = match self {
            Self::Radius => (usual.radius.into(), &[0.5, 0.75, 1.0, 1.25, 1.5]),
            Self::Speed if usual.speed == 3.0 => return vec![1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
            Self::Speed => (usual.speed.into(), &[0.5, 1.0, 2.0]),
            Self::Robots => (usual.robots as f64, &[0.5, 1.0, 2.0, 4.0, 10.0]),
        };
        factors.iter().map(|factor| factor * usual).collect()
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

    fn condition(self, usual: Scenario, value: f64) -> Result<Scenario> {
        let condition = match self {
            Self::Radius => Scenario { radius: value as f32, ..usual },
            Self::Speed if usual.speed == 0.0 => {
                return Err(Error::usage("speed cannot be swept: robots of this task start at rest"));
            }
            Self::Speed => Scenario { speed: value as f32, ..usual },
            Self::Robots if value.fract() == 0.0 => Scenario { robots: value as usize, ..usual },
            Self::Robots => {
                return Err(Error::usage(format!("--values of robots must be whole numbers, got {value}")));
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
                        --swarms 10 --csv robots.csv\n  host-sim sweep radius --drop-chance 0.3 --svg loss.svg"
)]
pub struct SweepArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// What to vary.
    #[arg(value_enum)]
    pub parameter: Parameter,
    /// What robots do; `host-sim tasks` lists what there is.
    #[arg(long, value_name = "NAME", default_value = "flocking")]
    pub task: String,
    /// A WD-GNN of your own in place of those that come with the program.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Its values, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = VALUES.parser::<f64>())]
    pub values: Vec<f64>,
    /// Which of the trained models of flocking to fly [default: through].
    #[arg(long, value_enum, conflicts_with = "model")]
    pub recipe: Option<RecipeName>,
    /// Held-out swarms per value.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = OptionRange::COUNT.parser::<usize>())]
    pub swarms: usize,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = flock::SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// The link profile: how much of a beacon goes on the air, and how often.
    #[arg(long, value_enum, default_value = "exact")]
    pub profile: Profile,
    #[command(flatten)]
    pub condition: ConditionArguments,
    #[command(flatten)]
    pub outputs: OutputArguments,
    #[command(flatten)]
    pub shard: ShardArguments,
    /// What goes wrong on the air.
    #[command(flatten)]
    pub faults: FaultArguments,
}

struct Point {
    value: f64,
    outcomes: Vec<ControllerResult>,
}

impl Point {
    fn expert(&self) -> f64 {
        evaluate::find(&self.outcomes, EXPERT).map_or(f64::NAN, |outcome| outcome.summary.total.mean)
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
    pub fn run<W: Environment>(&self) -> Result {
        let parameter = self.parameter.name();
        let typed = &self.scenario.typed;
        if typed.told().iter().any(|told| told.option == parameter && !told.usual) {
            return Err(Error::usage(format!("--{parameter} has no effect: it is swept, give --values")));
        }
        let usual = self.condition.of::<W>()?;
        let mut values =
            if self.values.is_empty() { self.parameter.defaults(&usual) } else { self.values.clone() };
        // A line goes from left to right, and has one point at a value.
        values.sort_by(f64::total_cmp);
        values.dedup();
        let conditions: Vec<Scenario> =
            values.iter().map(|&value| self.parameter.condition(usual, value)).collect::<Result<_>>()?;
        let mut eval = EvalConfig::<W>::of(self.models::<W>()?, self.profile);
        // What goes wrong must be possible in the smallest swarm, and on the radio with the largest.
        let robots = conditions.iter().map(|condition| condition.robots);
        let fewest = robots.clone().min().unwrap_or(usual.robots);
        let faults = self.faults.faults(fewest, usual.ticks, self.seed)?;
        for count in robots {
            self.profile.check_robots(count)?;
            eval.set_faults(faults.clone(), count)?;
        }
        eval.check()?;
        let controllers: Vec<_> =
            eval.controllers().into_iter().filter(|one| one.shown || one.is_network()).collect();
        let page = format!("sweep-{}", self.parameter.name());
        let typed = self.scenario.typed.clone().without("parameter");
        let outputs = self.outputs.or_page(outputs::page(&page, &typed));
        self.scenario.check()?;
        outputs.check()?;
        let bar = progress::bar((values.len() * self.swarms * controllers.len()) as u64, "flying");
        let case = |condition| Case {
            eval: &eval,
            controllers: &controllers,
            scenario: condition,
            swarms: self.swarms,
            seed: self.seed,
        };
        let cases: Vec<_> = conditions.iter().map(case).collect();
        let settled = self.settled(&usual, &values);
        let command = settled.command("sweep");
        let work = format!("{command}, {}", eval.describe());
        let outcomes = evaluate_all(&work, &cases, &|| bar.inc(1))?;
        let points: Vec<Point> =
            values.iter().zip(outcomes).map(|(&value, outcomes)| Point { value, outcomes }).collect();
        bar.finish_and_clear();
        let origin = self.scenario.origin(command, eval.describe());
        let page = self.page::<W>(&points, origin.with_faults(&self.faults.words()));
        outputs.deliver(&Results {
            origin: &page.origin,
            json: self.output(&points),
            print: &|| self.print(&eval, &points),
            csv: &|| self.rows(&points, flock_tables::csv_rows),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })?;
        self.scenario.save("sweep", &settled)
    }

    fn print<W: Environment>(&self, eval: &EvalConfig<W>, points: &[Point]) {
        println!(
            "{}: {} per {}, seed {}, models: {}\n",
            W::TITLE,
            counted(self.swarms, "swarm"),
            self.parameter.name(),
            self.seed,
            eval.describe()
        );
        table::print(&self.ratios(points));
        println!("\nTotal relative to the expert's under the same condition: {}.\n", W::SCORE);
        table::print(&self.rows(points, flock_tables::all_rows));
    }

    /// The networks that are flown.
    fn models<W: Environment>(&self) -> Result<Vec<ModelFile>> {
        match (&self.model, self.recipe) {
            (Some(path), _) => Ok(vec![ModelFile::load(path)?]),
            (None, recipe) if W::NAME == "flocking" && self.profile == Profile::Exact => {
                models::all(recipe.unwrap_or(RecipeName::Through))
            }
            (None, Some(_)) => Err(Error::usage(format!(
                "--recipe is for flocking on the profile exact: leave it out, or give a --model for --task {}",
                W::NAME
            ))),
            (None, None) => Ok(W::model(self.profile).into_iter().collect()),
        }
    }

    /// The paper's figure, and all numbers under it.
    fn page<W: Environment>(&self, points: &[Point], origin: Origin) -> ChartPage {
        let series = |(index, outcome): (usize, &ControllerResult)| Series {
            name: outcome.title.to_owned(),
            color: Some(outcome.name),
            points: points.iter().map(|point| (point.value, point.ratio(index))).collect(),
            band: None,
            dashed: outcome.is_bound(),
        };
        ChartPage {
            title: format!("{} over {}", W::TITLE, self.parameter.label()),
            intro: format!(
                "Total of the {} relative to the expert's under the same condition: {} held-out swarms at every value.",
                W::SCORE,
                self.swarms
            ),
            charts: vec![Chart {
                title: String::new(),
                x_label: self.parameter.label().into(),
                y_label: "total relative to the expert".into(),
                log_y: self.recipe == Some(RecipeName::Paper),
                series: compared(points).map(series).collect(),
                ..Chart::default()
            }],
            table: self.rows(points, flock_tables::all_rows),
            note: "The robots' spacing at the start goes with the radio range. One network per architecture flies all conditions.".into(),
            origin,
            ..ChartPage::default()
        }
    }

    /// Everything that counted.
    fn settled(&self, usual: &Scenario, values: &[f64]) -> Typed {
        let values: Vec<String> = values.iter().map(f64::to_string).collect();
        let settled = self.condition.settled(&self.scenario.typed, usual);
        let settled = settled.without("values").or("values", values.join(","));
        // What is varied is told by its values.
        settled.without(self.parameter.name())
    }

    /// Every value's table with the value in front, under one heading.
    fn rows(&self, points: &[Point], rows: fn(&[ControllerResult]) -> Vec<Vec<String>>) -> Vec<Vec<String>> {
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
        heading.extend(compared(points).map(|(_, outcome)| outcome.title.to_owned()));
        let row = |point: &Point| {
            let mut row = vec![point.value.to_string(), format!("{:.1}", point.expert())];
            row.extend(compared(points).map(|(index, _)| format!("{:.3}", point.ratio(index))));
            row
        };
        std::iter::once(heading).chain(points.iter().map(row)).collect()
    }

    fn output<'a>(&self, points: &'a [Point]) -> Output<'a> {
        let points = points.iter().map(|point| OutputPoint {
            value: point.value,
            controllers: point.outcomes.iter().map(|o| (o.name, &o.summary)).collect(),
        });
        Output { parameter: self.parameter, swarms: self.swarms, seed: self.seed, points: points.collect() }
    }
}

/// Everybody but the expert, by their place in the table.
fn compared(points: &[Point]) -> impl Iterator<Item = (usize, &ControllerResult)> {
    let first = points.first().map_or(&[][..], |point| &point.outcomes);
    first.iter().enumerate().filter(|(_, outcome)| outcome.name != EXPERT)
}
