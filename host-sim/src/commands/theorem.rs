//! `host-sim theorem`: the bound of Theorem 1 and the measured distance, on the taps of an episode.

use std::path::PathBuf;

use crate::{
    commands::{
        HELD_OUT_SEED,
        invocation::Invocation,
        models::load_wd_gnn,
        output::{self, OutputArguments, Results},
    },
    episode::{Episode, Observer, TickView},
    error::{Error, Result},
    model::ModelFile,
    models,
    option_range::OptionRange,
    origin::Origin,
    page::{self, Chart, ChartPage, Series},
    profiles::Profile,
    recipe::{Architecture, RecipeName},
    seeds::{Purpose, generator},
    swarm::{in_memory::Online, networks::Network},
    table,
    theorem::{self, Row, Scene},
    world::{
        Scenario, World,
        flock::{Flock, expert::Expert},
    },
};
use clap::Args;
use serde::Serialize;
use wdgnn_core::tasks::flocking::Flocking;

/// Interval of printed ticks; CSV, JSON and the page contain all ticks.
const PRINT_EVERY: usize = 20;

/// Range of the ridge. The theorem requires strong convexity, so 0 is excluded.
const RIDGE: OptionRange = OptionRange::above(0.0, 1.0e6);
/// Range of the number of robots: their joint problem is solved at each tick.
const ROBOTS: OptionRange = OptionRange::whole(1, 5_000);

/// Check the paper's Theorem 1 on the taps of an episode: the distance to the moving optimum and
/// its bound.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim theorem\n  host-sim theorem --ridge 0.1 --robots 100 --json")]
pub struct TheoremArguments {
    #[command(flatten)]
    pub invocation: Invocation,
    /// Ridge that makes the problem strongly convex.
    #[arg(long, value_name = "LAMBDA", default_value_t = 1.0, value_parser = RIDGE.parser::<f64>())]
    pub ridge: f64,
    /// Robots in the swarm.
    #[arg(long, value_name = "N", default_value_t = Scenario::PAPER.robots, value_parser = ROBOTS.parser::<usize>())]
    pub robots: usize,
    /// Seed of the episode.
    #[arg(long, value_name = "N", default_value_t = HELD_OUT_SEED, value_parser = OptionRange::SEED.parser::<u64>())]
    pub seed: u64,
    /// WD-GNN weight file to use instead of the supplied network.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub outputs: OutputArguments,
}

#[derive(Serialize)]
struct Output<'a> {
    robots: usize,
    seed: u64,
    ridge: f64,
    held: BoundCheck,
    ticks: &'a [Row],
}

/// Whether the bound held at every tick.
#[derive(Clone, Copy, Serialize)]
struct BoundCheck {
    centralised: bool,
    decentralised_mean: bool,
    decentralised_worst: bool,
}

impl BoundCheck {
    /// Returns an error, for scripts, if the bound does not hold.
    fn judge(self) -> Result {
        let Self { centralised, decentralised_mean, decentralised_worst } = self;
        if centralised && decentralised_mean && decentralised_worst {
            return Ok(());
        }
        let whose = if centralised { " for the decentralized rule, which has no proof" } else { "" };
        Err(Error::Failed(format!("the bound did not hold at every tick{whose}")))
    }

    fn sentences(self) -> [String; 3] {
        let say = |held| if held { "held at every tick" } else { "did NOT hold at every tick" };
        [
            format!("centralized: the bound {}", say(self.centralised)),
            format!("decentralized, mean of the robots: the bound {}", say(self.decentralised_mean)),
            format!(
                "decentralized, furthest robot: the bound {} (the paper leaves this proof open)",
                say(self.decentralised_worst)
            ),
        ]
    }
}

impl TheoremArguments {
    /// Runs the episode, tracks the optimum and prints the result.
    pub fn run(&self) -> Result {
        let condition = Scenario { robots: self.robots, ..Scenario::PAPER };
        condition.check()?;
        let model = match &self.model {
            Some(path) => load_wd_gnn(path)?,
            None => models::shipped(RecipeName::Through, Architecture::WdGnn)?,
        };
        Network::<Flocking>::of(&model, Profile::Exact)?;
        let outputs = self.outputs.or_page(output::page("theorem", &self.invocation));
        outputs.check()?;
        let rows = theorem::track(&record(&model, &condition, self.seed)?, self.ridge);
        let within = |value: fn(&Row) -> f64| rows.iter().all(|row| value(row) <= row.bound * (1.0 + 1.0e-9));
        let held = BoundCheck {
            centralised: within(|row| row.centralised),
            decentralised_mean: within(|row| row.decentralised_mean),
            decentralised_worst: within(|row| row.decentralised_worst),
        };
        let page = self.page(&rows, held, Origin::new(self.invocation.command("theorem"), model.describe()));
        outputs.deliver(&Results {
            origin: &page.origin,
            json: Output { robots: self.robots, seed: self.seed, ridge: self.ridge, held, ticks: &rows },
            print: &|| self.print(&rows, held),
            csv: &|| cells(&rows, 1, f64::to_string),
            page: &|| Ok(page::charts(&page)),
            plots: &|| page.plots(),
        })?;
        held.judge()
    }

    fn page(&self, rows: &[Row], held: BoundCheck, origin: Origin) -> ChartPage {
        let series = |name: &str, value: fn(&Row) -> f64, dashed| Series {
            name: name.to_owned(),
            color: None,
            points: rows.iter().map(|row| (row.tick as f64, value(row))).collect(),
            band: None,
            dashed,
        };
        ChartPage {
            title: "Theorem 1: distance to a moving optimum".into(),
            intro: format!(
                "Online gradient descent on the taps of a real flight of {} robots, tracking the expert's commands with a ridge of {}.",
                self.robots, self.ridge
            ),
            charts: vec![Chart {
                x_label: "tick".into(),
                y_label: "distance to the optimum".into(),
                log_y: true,
                series: vec![
                    series("bound", |row| row.bound, true),
                    series("centralized", |row| row.centralised, false),
                    series("decentralized, mean", |row| row.decentralised_mean, false),
                    series("decentralized, furthest robot", |row| row.decentralised_worst, false),
                    series("drift of the optimum", |row| row.drift, true),
                ],
                ..Chart::default()
            }],
            table: cells(rows, PRINT_EVERY, |x| format!("{x:.4}")),
            note: format!("{}.", held.sentences().join("; ")),
            origin,
            ..ChartPage::default()
        }
    }

    fn print(&self, rows: &[Row], held: BoundCheck) {
        println!(
            "Tracking the optimum of a problem that changes with every tick: {} robots, taps of a real flight (seed {}), ridge {}\n",
            self.robots, self.seed, self.ridge
        );
        table::print(&cells(rows, PRINT_EVERY, |x| format!("{x:.4}")));
        println!("\n{}", held.sentences().join("\n"));
        println!(
            "\nDistances of parameters in C = BR. Without the ridge the problem is not strongly convex, and in B it never is."
        );
    }
}

fn cells(rows: &[Row], every: usize, number: fn(&f64) -> String) -> Vec<Vec<String>> {
    let heading =
        ["tick", "bound", "centralized", "decentralized: mean", "furthest robot", "drift of the optimum"];
    let shown = rows.iter().filter(|row| row.tick % every == 0 || row.tick + 1 == rows.len());
    let row = |row: &Row| {
        let numbers =
            [row.bound, row.centralised, row.decentralised_mean, row.decentralised_worst, row.drift];
        std::iter::once(row.tick.to_string()).chain(numbers.iter().map(number)).collect()
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(shown.map(row)).collect()
}

/// Runs the model offline and records the data of the theorem's problem.
fn record(model: &ModelFile, condition: &Scenario, seed: u64) -> Result<Vec<Scene>> {
    let network = Network::<Flocking> { online: Online::Off, ..Network::of(model, Profile::Exact)? };
    let start = Episode::draw(&Flock::<2>::default(), condition, &mut generator(seed, Purpose::Testing, 0))?;
    let mut swarm = network.in_memory::<<Flock as World>::Shapes>(&start.states)?;
    let alpha = f64::from(model.weights().numbers[1]);
    let mut recorder =
        Recorder { scenes: Vec::new(), expert: Expert { limit: network.task.limit, potential: true }, alpha };
    let stop = std::sync::atomic::AtomicBool::new(false);
    start.fly(&network.task, swarm.as_mut(), &mut [&mut recorder], &stop)?;
    Ok(recorder.scenes)
}

/// Observer that records taps and command errors.
struct Recorder {
    scenes: Vec<Scene>,
    expert: Expert,
    alpha: f64,
}

impl Observer<Flock> for Recorder {
    fn observe(&mut self, moment: &TickView<'_, Flock>) -> Result {
        let mut labels = Vec::new();
        self.expert.commands(moment.scene.states, &mut labels);
        let (mut taps, mut misses) = (Vec::new(), Vec::new());
        for (robot, label) in labels.iter().enumerate() {
            let Some(inside) = moment.swarm.internals(robot) else { continue };
            taps.push(inside.taps.iter().map(|&z| self.alpha * f64::from(z)).collect());
            misses.push([0, 1].map(|axis| f64::from(label[axis]) - f64::from(inside.output[axis])));
        }
        self.scenes.push(Scene { taps, misses, links: moment.scene.links.clone() });
        Ok(())
    }
}
