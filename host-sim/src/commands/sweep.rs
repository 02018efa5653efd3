//! `host-sim sweep`: controllers over a range of one condition, as in the paper's Figures 1a–c.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::{
    commands::{
        HELD_OUT_SEED, comparison,
        conditions::{ConditionArguments, SWARMS},
        invocation::Invocation,
        models::{ModelArguments, RecipeArguments},
        output::{self, OutputArguments, Results},
        scenario::ScenarioArguments,
        shard::ShardArguments,
    },
    controllers::{EXPERT, EvalConfig},
    error::{Error, Result},
    evaluate::{self, Case, ControllerResult, Summary, evaluate_all},
    fault_options::{FaultArguments, TrustArguments},
    model::ModelFile,
    option_range::OptionRange,
    origin::Origin,
    page::{self, Chart, ChartPage, Series, flights::counted},
    profiles::Profile,
    progress,
    recipe::RecipeName,
    table,
    world::{Environment, Scenario},
};

/// Range of the values of all parameters. [`Scenario::check`] has the limits of each.
const VALUES: OptionRange = OptionRange::real(0.0, 1.0e9);

/// Scenario to vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parameter {
    /// Radio range in m (Figure 1a).
    Radius,
    /// Starting speed in m/s (Figure 1b).
    Speed,
    /// Number of robots (Figure 1c).
    Robots,
}

impl Parameter {
    /// Returns values around a task's condition; for flocking, the paper's.
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

/// Compare controllers over a range of one condition (the paper's Figures 1a–c).
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  host-sim sweep radius\n  host-sim sweep speed --values 2,4,5\n  host-sim sweep robots \
                        --swarms 10 --csv robots.csv\n  host-sim sweep radius --fault drop-chance=0.3 --svg loss.svg"
)]
pub struct SweepArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// Condition to vary: radius, speed or robots (Figures 1a, 1b and 1c).
    #[arg(value_enum, hide_possible_values = true)]
    parameter: Parameter,
    #[command(flatten)]
    pub model: ModelArguments,
    #[command(flatten)]
    recipe: RecipeArguments,
    /// Values of the condition, separated by commas [default: the paper's for flocking].
    #[arg(long, value_name = "LIST", help_heading = SWARMS, value_delimiter = ',', value_parser = VALUES.parser::<f64>())]
    values: Vec<f64>,
    /// Held-out swarms per value.
    #[arg(long, value_name = "N", default_value_t = 40, help_heading = SWARMS, value_parser = OptionRange::COUNT.parser::<usize>())]
    swarms: usize,
    /// Seed of the held-out swarms.
    #[arg(long, value_name = "N", default_value_t = HELD_OUT_SEED, help_heading = SWARMS, value_parser = OptionRange::SEED.parser::<u64>())]
    seed: u64,
    /// Number of seeds; figures are over the swarms of all seeds.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = SWARMS, value_parser = OptionRange::COUNT.parser::<usize>())]
    seeds: usize,
    #[command(flatten)]
    condition: ConditionArguments,
    #[command(flatten)]
    outputs: OutputArguments,
    #[command(flatten)]
    shard: ShardArguments,
    #[command(flatten)]
    faults: FaultArguments,
    #[command(flatten)]
    trust: TrustArguments,
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
    seeds: usize,
    points: Vec<OutputPoint<'a>>,
}

#[derive(Serialize)]
struct OutputPoint<'a> {
    value: f64,
    controllers: BTreeMap<&'static str, &'a Summary>,
}

impl SweepArguments {
    /// Runs the sweep in a world and prints it.
    pub fn run<W: Environment>(&self) -> Result {
        let parameter = self.parameter.name();
        if self.scenario.invocation.sets(parameter) {
            return Err(Error::usage(format!("--{parameter} has no effect: it is swept, give --values")));
        }
        let usual = self.condition.of(&W::default())?;
        let mut values =
            if self.values.is_empty() { self.parameter.defaults(&usual) } else { self.values.clone() };
        values.sort_by(f64::total_cmp);
        values.dedup();
        let conditions: Vec<Scenario> =
            values.iter().map(|&value| self.parameter.condition(usual, value)).collect::<Result<_>>()?;
        let mut eval = EvalConfig::<W>::of(self.models::<W>()?, self.model.profile);
        // Faults must fit the smallest swarm, and the profile the largest.
        let robots = conditions.iter().map(|condition| condition.robots);
        let fewest = robots.clone().min().unwrap_or(usual.robots);
        let faults = self.trust.apply(self.faults.faults(fewest, usual.ticks, self.seed)?);
        let description = self.trust.describe(&self.faults.settings());
        for count in robots {
            self.model.profile.check_robots(count)?;
            eval.set_faults(faults.clone(), count)?;
        }
        eval.check()?;
        let controllers: Vec<_> =
            eval.controllers().into_iter().filter(|one| one.shown || one.is_network()).collect();
        let page = format!("sweep-{}", self.parameter.name());
        let invocation = self.scenario.invocation.clone().without("parameter");
        let outputs = self.outputs.or_page(output::page(&page, &invocation));
        outputs.check()?;
        let bar =
            progress::bar((values.len() * self.seeds * self.swarms * controllers.len()) as u64, "flying");
        let case = |(scenario, seed)| Case {
            eval: &eval,
            controllers: &controllers,
            scenario,
            swarms: self.swarms,
            seed,
        };
        let seeds = || (self.seed..).take(self.seeds);
        let cases = conditions.iter().flat_map(|condition| seeds().map(move |seed| (condition, seed)));
        let cases: Vec<_> = cases.map(case).collect();
        let resolved = self.resolved(&usual, &values);
        let command = resolved.command("sweep");
        let work = format!("{command}, {}", eval.describe());
        let outcomes = evaluate_all(&work, &cases, &|| bar.inc(1))?;
        let over_seeds = |(&value, seeds): (&f64, &[Vec<ControllerResult>])| {
            let outcome = |(index, controller): (usize, _)| {
                let flights: Vec<_> = seeds
                    .iter()
                    .flat_map(|seed: &Vec<ControllerResult>| seed[index].flights.clone())
                    .collect();
                ControllerResult::of(controller, &flights)
            };
            Point { value, outcomes: controllers.iter().enumerate().map(outcome).collect() }
        };
        let points: Vec<Point> = values.iter().zip(outcomes.chunks(self.seeds)).map(over_seeds).collect();
        bar.finish_and_clear();
        let origin = self.scenario.origin(command, eval.describe());
        let page = self.page::<W>(&points, origin.with_faults(&description));
        outputs.deliver(&Results {
            origin: &page.origin,
            json: self.output(&points),
            print: &|| self.print(&eval, &points),
            csv: &|| self.rows(&points, comparison::csv_rows),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })
    }

    fn print<W: Environment>(&self, eval: &EvalConfig<W>, points: &[Point]) {
        println!(
            "{}: {} per {}, {}, models: {}\n",
            W::TITLE,
            counted(self.seeds * self.swarms, "swarm"),
            self.parameter.name(),
            match self.seeds {
                1 => format!("seed {}", self.seed),
                seeds => format!("seeds {} to {}", self.seed, self.seed + seeds as u64 - 1),
            },
            eval.describe()
        );
        table::print(&self.ratios(points));
        println!("\nTotal relative to the expert's under the same condition: {}.\n", W::SCORE);
        table::print(&self.rows(points, comparison::all_rows));
    }

    /// Returns the networks to compare: only the given one, or the supplied ones.
    fn models<W: Environment>(&self) -> Result<Vec<ModelFile>> {
        match (&self.model.model, self.recipe.recipe) {
            (Some(_), Some(_)) => Err(Error::usage("--recipe and --model cannot be combined: leave one out")),
            (Some(path), None) => Ok(vec![ModelFile::load(path)?]),
            (None, recipe) if self.model.profile == Profile::Exact || recipe.is_some() => {
                Ok(self.model.eval(&W::default(), recipe)?.models)
            }
            (None, _) => Ok(W::model(self.model.profile).into_iter().collect()),
        }
    }

    /// Returns the page with the chart and all numbers.
    fn page<W: Environment>(&self, points: &[Point], origin: Origin) -> ChartPage {
        let series = |(index, outcome): (usize, &ControllerResult)| Series {
            name: outcome.title.to_string(),
            color: Some(outcome.name),
            points: points.iter().map(|point| (point.value, point.ratio(index))).collect(),
            band: None,
            dashed: outcome.is_bound(),
        };
        ChartPage {
            title: format!("{} over {}", W::TITLE, self.parameter.label()),
            intro: format!(
                "Total of the {} relative to the expert's under the same condition: {} held-out swarms per value.",
                W::SCORE,
                self.seeds * self.swarms
            ),
            charts: vec![Chart {
                title: String::new(),
                x_label: self.parameter.label().into(),
                y_label: "total relative to the expert".into(),
                log_y: self.recipe.recipe == Some(RecipeName::Paper),
                series: compared(points).map(series).collect(),
                ..Chart::default()
            }],
            table: self.rows(points, comparison::all_rows),
            note: "The robots' initial spacing is proportional to the radio range. One network per architecture runs under all conditions.".into(),
            origin,
            ..ChartPage::default()
        }
    }

    /// Returns the invocation with all defaults. The values replace the swept option.
    fn resolved(&self, usual: &Scenario, values: &[f64]) -> Invocation {
        let values: Vec<String> = values.iter().map(f64::to_string).collect();
        let resolved = self.condition.resolved(&self.scenario.invocation, usual);
        let resolved = resolved.without("values").with_default("values", values.join(","));
        resolved.without(self.parameter.name())
    }

    /// Joins the tables of all values, with the value as the first column.
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

    /// Returns the chart as a table: one row per value, one column per controller.
    fn ratios(&self, points: &[Point]) -> Vec<Vec<String>> {
        let mut heading = vec![self.parameter.label().to_owned(), "expert's total".to_owned()];
        heading.extend(compared(points).map(|(_, outcome)| outcome.title.to_string()));
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
        Output {
            parameter: self.parameter,
            swarms: self.swarms,
            seed: self.seed,
            seeds: self.seeds,
            points: points.collect(),
        }
    }
}

/// Returns all controllers but the expert, with their indices.
fn compared(points: &[Point]) -> impl Iterator<Item = (usize, &ControllerResult)> {
    let first = points.first().map_or(&[][..], |point| &point.outcomes);
    first.iter().enumerate().filter(|(_, outcome)| outcome.name != EXPERT)
}
