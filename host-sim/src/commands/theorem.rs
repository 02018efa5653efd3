//! `host-sim theorem`: Theorem 1's bound against what is measured, on the taps of a real flight.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use wdgnn_core::{
    Network,
    behaviour::Behaviour,
    flocking::Motion,
    network::FirstChain as _,
    online::Learning,
    tensor::Tensor as _,
    wide::{Folded, Metric},
};

use crate::{
    commands::flock,
    controllers,
    error::{Error, Result},
    expert::Expert,
    files,
    flight::{self, Pilot},
    model::ModelFile,
    models,
    page::{self, Chart, ChartPage, Series},
    seeds::{Purpose, generator},
    shapes::{self, Dimensions, FEATURES, OUTPUTS, Shape, Visitor},
    start::{Condition, start},
    swarm::{Online, Swarm},
    table,
    theorem::{self, Row, Scene},
    train::recipe::{Architecture, RecipeName},
};

/// Ticks between two printed rows; CSV, JSON and the page have all of them.
const PRINT_EVERY: usize = 20;

/// Check the paper's Theorem 1 on the taps of a real flight: the distance to the moving optimum against its bound.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim theorem\n  host-sim theorem --ridge 0.1 --robots 100 --json")]
pub struct TheoremArguments {
    /// Strength of the ridge that makes the problem strongly convex.
    #[arg(long, value_name = "LAMBDA", default_value_t = 1.0, allow_negative_numbers = true)]
    pub ridge: f64,
    /// Robots in the swarm.
    #[arg(long, value_name = "N", default_value_t = Condition::PAPER.robots)]
    pub robots: usize,
    /// Seed of the flight.
    #[arg(long, value_name = "N", default_value_t = flock::SEED)]
    pub seed: u64,
    /// A WD-GNN of your own in place of the one that comes with the program.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Write every tick as comma-separated values.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the page with the curves here.
    #[arg(long, value_name = "FILE", default_value = "target/wdgnn/theorem.html")]
    pub report: PathBuf,
    /// Print JSON in place of the table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Output<'a> {
    robots: usize,
    seed: u64,
    ridge: f64,
    held: Held,
    ticks: &'a [Row],
}

/// Whether the bound held at every tick.
#[derive(Clone, Copy, Serialize)]
struct Held {
    centralised: bool,
    decentralised_mean: bool,
    decentralised_worst: bool,
}

impl Held {
    fn sentences(self) -> [String; 3] {
        let say = |held| if held { "held at every tick" } else { "did NOT hold at every tick" };
        [
            format!("centralised: the bound {}", say(self.centralised)),
            format!("decentralised, mean of the robots: the bound {}", say(self.decentralised_mean)),
            format!(
                "decentralised, furthest robot: the bound {} (the paper leaves this proof open)",
                say(self.decentralised_worst)
            ),
        ]
    }
}

impl TheoremArguments {
    /// Flies, tracks and prints.
    ///
    /// # Errors
    /// Options that cannot be; [`Error::Failed`] when the bound did not hold where the theorem says it does.
    pub fn run(&self) -> Result {
        if !(self.ridge.is_finite() && self.ridge > 0.0) {
            return Err(Error::usage(format!(
                "--ridge {} cannot be: the theorem needs strong convexity, so give more than 0",
                self.ridge
            )));
        }
        let condition = Condition { robots: self.robots, ..Condition::PAPER };
        condition.check()?;
        let model = match &self.model {
            Some(path) => ModelFile::load(path)?,
            None => models::shipped(RecipeName::Ours, Architecture::WdGnn)?,
        };
        self.csv.as_deref().map(files::probe).transpose()?;
        files::probe(&self.report)?;
        let rows = theorem::track(&record(&model, &condition, self.seed)?, self.ridge);
        let within = |value: fn(&Row) -> f64| rows.iter().all(|row| value(row) <= row.bound * (1.0 + 1.0e-9));
        let held = Held {
            centralised: within(|row| row.centralised),
            decentralised_mean: within(|row| row.decentralised_mean),
            decentralised_worst: within(|row| row.decentralised_worst),
        };
        if let Some(path) = &self.csv {
            files::write(path, table::csv(&cells(&rows, 1, f64::to_string)).as_bytes())?;
        }
        files::write(&self.report, self.page(&rows, held).as_bytes())?;
        if self.json {
            let output =
                Output { robots: self.robots, seed: self.seed, ridge: self.ridge, held, ticks: &rows };
            println!("{}", serde_json::to_string_pretty(&output).unwrap_or_default());
            eprintln!("page: {}", self.report.display());
        } else {
            self.print(&rows, held);
            println!("\npage: {}", self.report.display());
        }
        if held.centralised { Ok(()) } else { Err(Error::Failed("Theorem 1's bound did not hold".into())) }
    }

    fn page(&self, rows: &[Row], held: Held) -> String {
        let series = |name: &str, value: fn(&Row) -> f64, dashed| Series {
            name: name.to_owned(),
            points: rows.iter().map(|row| (row.tick as f64, value(row))).collect(),
            band: None,
            dashed,
        };
        page::charts(&ChartPage {
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
                    series("centralised", |row| row.centralised, false),
                    series("decentralised, mean", |row| row.decentralised_mean, false),
                    series("decentralised, furthest robot", |row| row.decentralised_worst, false),
                    series("drift of the optimum", |row| row.drift, true),
                ],
                ..Chart::default()
            }],
            table: cells(rows, PRINT_EVERY, |x| format!("{x:.4}")),
            note: format!("{}.", held.sentences().join("; ")),
            command: format!(
                "host-sim theorem --ridge {} --robots {} --seed {}",
                self.ridge, self.robots, self.seed
            ),
        })
    }

    fn print(&self, rows: &[Row], held: Held) {
        println!(
            "Tracking the optimum of a problem that changes with every tick: {} robots, taps of a real flight (seed {}), ridge {}\n",
            self.robots, self.seed, self.ridge
        );
        print!("{}", table::aligned(&cells(rows, PRINT_EVERY, |x| format!("{x:.4}"))));
        println!("\n{}", held.sentences().join("\n"));
        println!(
            "\nDistances of parameters in C = BR. Without the ridge the problem is not strongly convex, and in B it never is."
        );
    }
}

fn cells(rows: &[Row], every: usize, number: fn(&f64) -> String) -> Vec<Vec<String>> {
    let heading =
        ["tick", "bound", "centralised", "decentralised: mean", "furthest robot", "drift of the optimum"];
    let shown = rows.iter().filter(|row| row.tick % every == 0 || row.tick + 1 == rows.len());
    let row = |row: &Row| {
        let numbers =
            [row.bound, row.centralised, row.decentralised_mean, row.decentralised_worst, row.drift];
        std::iter::once(row.tick.to_string()).chain(numbers.iter().map(number)).collect()
    };
    std::iter::once(heading.map(str::to_owned).to_vec()).chain(shown.map(row)).collect()
}

/// Flies the model offline and writes down what the theorem's problem needs.
fn record(model: &ModelFile, condition: &Condition, seed: u64) -> Result<Vec<Scene>> {
    let begin = start(condition, &mut generator(seed, Purpose::Testing, 0))?;
    let dimensions = Dimensions::of(&model.weights().header);
    shapes::visit(dimensions, Record { model, condition, begin: &begin })?
}

struct Record<'a> {
    model: &'a ModelFile,
    condition: &'a Condition,
    begin: &'a [Motion],
}

impl Visitor for Record<'_> {
    type Output = Result<Vec<Scene>>;

    fn visit<S: Shape<TAPS, G>, const TAPS: usize, const G: usize>(self) -> Self::Output {
        let weights = self.model.weights();
        let task = controllers::task(self.model)?;
        let network: Network<'_, FEATURES, TAPS, G, OUTPUTS, S::Deep<'_>> =
            Network::from_weights(&weights).map_err(|source| self.model.unusable(source))?;
        let behaviour = Behaviour::new(Learning::OFF);
        let folded = Folded::new(network, Metric::Euclidean);
        let mut swarm: Swarm<_> =
            Swarm::new(folded, task, weights.checksum, behaviour, Online::Off, self.begin);
        let mut recorder = Recorder {
            scenes: Vec::new(),
            expert: Expert { limit: task.limit, potential: true },
            fly: |scene: &flight::Scene<'_>, commands: &mut Vec<[f32; 2]>| {
                swarm.fly(scene, commands);
                let alpha = f64::from(network.alpha_wide);
                let taps = |z: &[f32]| z.iter().map(|&z| alpha * f64::from(z)).collect();
                let nodes = swarm.nodes().iter();
                nodes.map(|node| (taps(node.chains().first().numbers()), *node.output())).unzip()
            },
        };
        flight::fly(self.condition, self.begin, task.period, &mut recorder, &mut ());
        Ok(recorder.scenes)
    }
}

/// A pilot that writes down taps and misses of another one.
struct Recorder<F> {
    scenes: Vec<Scene>,
    expert: Expert,
    fly: F,
}

impl<F> Pilot for Recorder<F>
where
    F: FnMut(&flight::Scene<'_>, &mut Vec<[f32; 2]>) -> (Vec<Vec<f64>>, Vec<[f32; 2]>),
{
    fn fly(&mut self, scene: &flight::Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        let (taps, outputs) = (self.fly)(scene, commands);
        let mut labels = Vec::new();
        self.expert.commands(scene.motions, &mut labels);
        let misses = labels.iter().zip(outputs);
        let misses =
            misses.map(|(label, output)| [0, 1].map(|axis| f64::from(label[axis]) - f64::from(output[axis])));
        self.scenes.push(Scene { taps, misses: misses.collect(), links: scene.links.clone() });
    }
}
