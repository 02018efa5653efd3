//! `host-sim sweep`: controllers over a range of one condition, as in the paper's Figures 1a–c.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::{
    commands::{
        HELD_OUT_SEED, comparison,
        conditions::{ConditionArguments, SWARMS},
        invocation::Invocation,
        models::{BodyArguments, ModelArguments, RecipeArguments},
        output::{self, OutputArguments, Results},
        scenario::ScenarioArguments,
        shard::ShardArguments,
    },
    controllers::EvalConfig,
    error::{Error, Result},
    evaluate::{Case, ControllerResult, Summary, evaluate_all},
    fault_options::{FaultArguments, TrustArguments},
    model::ModelFile,
    option_range::OptionRange,
    origin::Origin,
    page::{self, Chart, ChartPage, Series, flights::counted},
    profiles::Profile,
    progress,
    recipe::RecipeName,
    table,
    tuning::tuned_controllers,
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
                        --swarms 10 --csv robots.csv\n  host-sim sweep radius --fault drop-chance=0.3 --svg loss.svg\n  host-sim sweep speed --body quadrotor --values 1,2,3"
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
    body: BodyArguments,
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
    fn reference(&self) -> f64 {
        comparison::reference(&self.outcomes).map_or(f64::NAN, |(one, _)| one.summary.total.mean)
    }

    /// A controller's total relative to the reference's.
    fn ratio(&self, index: usize) -> f64 {
        self.outcomes[index].summary.total.mean / self.reference()
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
        let world = self.body.world::<W>()?;
        let usual = self.condition.of(&world)?;
        let mut values =
            if self.values.is_empty() { self.parameter.defaults(&usual) } else { self.values.clone() };
        values.sort_by(f64::total_cmp);
        values.dedup();
        let conditions: Vec<Scenario> =
            values.iter().map(|&value| self.parameter.condition(usual, value)).collect::<Result<_>>()?;
        let models = self.models(&world)?;
        let mut eval = EvalConfig { world, ..EvalConfig::<W>::of(models, self.model.profile) };
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
        let mut controllers = Vec::new();
        for condition in &conditions {
            if self.body.body.is_some() {
                eval.tuned = tuned_controllers(&eval, condition, self.seed)?;
            }
            let shown = eval.controllers().into_iter().filter(|one| one.shown || one.is_network());
            controllers.push(shown.collect::<Vec<_>>());
        }
        let page = format!("sweep-{}", self.parameter.name());
        let invocation = self.scenario.invocation.clone().without("parameter");
        let outputs = self.outputs.or_page(output::page(&page, &invocation));
        outputs.check()?;
        let bar = progress::bar(
            (self.seeds * self.swarms * controllers.iter().map(Vec::len).sum::<usize>()) as u64,
            "flying",
        );
        let (eval, swarms) = (&eval, self.swarms);
        let points = conditions.iter().zip(&controllers);
        let cases = points.flat_map(|(scenario, controllers)| {
            let seeds = (self.seed..).take(self.seeds);
            seeds.map(move |seed| Case { eval, controllers, scenario, swarms, seed })
        });
        let cases: Vec<_> = cases.collect();
        let resolved = self.resolved(&usual, &values);
        let command = resolved.command("sweep");
        let work = format!("{command}, {}", eval.describe());
        let outcomes = evaluate_all(&work, &cases, &|| bar.inc(1))?;
        let over_seeds = |((&value, controllers), seeds): ((&f64, &Vec<_>), &[Vec<ControllerResult>])| {
            let outcome = |(index, controller): (usize, _)| {
                let flights: Vec<_> = seeds
                    .iter()
                    .flat_map(|seed: &Vec<ControllerResult>| seed[index].flights.clone())
                    .collect();
                ControllerResult::of(controller, &flights)
            };
            Point { value, outcomes: controllers.iter().enumerate().map(outcome).collect() }
        };
        let points: Vec<Point> =
            values.iter().zip(&controllers).zip(outcomes.chunks(self.seeds)).map(over_seeds).collect();
        bar.finish_and_clear();
        let origin = self.scenario.origin(command, eval.describe());
        let page = self.page::<W>(&points, origin.with_faults(&description));
        outputs.deliver(&Results {
            origin: &page.origin,
            json: self.output(&points),
            print: &|| self.print(eval, &points),
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
        println!("\nTotal relative to {} under the same condition: {}.\n", reference(points), W::SCORE);
        table::print(&self.rows(points, comparison::all_rows));
    }

    /// Returns the networks to compare: only the given one, or the supplied ones.
    fn models<W: Environment>(&self, world: &W) -> Result<Vec<ModelFile>> {
        match (&self.model.model, self.recipe.recipe) {
            (Some(_), Some(_)) => Err(Error::usage("--recipe and --model cannot be combined: leave one out")),
            (Some(path), None) => Ok(vec![ModelFile::load(path)?]),
            (None, recipe) if self.model.profile == Profile::Exact || recipe.is_some() => {
                Ok(self.model.eval(world, recipe)?.models)
            }
            (None, _) => Ok(world.own_model(self.model.profile).into_iter().collect()),
        }
    }

    /// Returns the page with the chart and all numbers.
    fn page<W: Environment>(&self, points: &[Point], origin: Origin) -> ChartPage {
        let series = |(index, outcome): (usize, &ControllerResult)| Series {
            name: outcome.law().to_owned(),
            color: Some(outcome.name),
            points: points.iter().map(|point| (point.value, point.ratio(index))).collect(),
            band: None,
            dashed: outcome.is_bound(),
        };
        ChartPage {
            title: format!("{} over {}", W::TITLE, self.parameter.label()),
            intro: format!(
                "Total of the {} relative to {} under the same condition: {} held-out swarms per value.",
                W::SCORE,
                reference(points),
                self.seeds * self.swarms
            ),
            charts: vec![Chart {
                title: String::new(),
                x_label: self.parameter.label().into(),
                y_label: format!("total relative to {}", reference(points)),
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
        let mut heading = vec![self.parameter.label().to_owned(), format!("total of {}", reference(points))];
        heading.extend(compared(points).map(|(_, outcome)| outcome.law().to_owned()));
        let row = |point: &Point| {
            let mut row = vec![point.value.to_string(), format!("{:.1}", point.reference())];
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

/// Returns the words for the controller that totals are compared with.
fn reference(points: &[Point]) -> &'static str {
    match points.first().and_then(|point| comparison::reference(&point.outcomes)) {
        Some((_, "averaging")) => "tuned averaging",
        _ => "the expert",
    }
}

/// Returns all controllers but the reference, with their indices.
fn compared(points: &[Point]) -> impl Iterator<Item = (usize, &ControllerResult)> {
    let first = points.first().map_or(&[][..], |point| &point.outcomes);
    let reference = comparison::reference(first).map_or("", |(one, _)| one.name);
    first.iter().enumerate().filter(move |(_, outcome)| outcome.name != reference)
}
