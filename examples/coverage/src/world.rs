//! Simulated environment of the task.
//!
//! The score is the density-weighted mean squared distance to the nearest robot. Sensor range is
//! half the radio range, so that a robot hears all others that could be nearer to a place that it
//! senses.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    filter::scale::Scale,
    task::{State as _, Task as _},
};
use wdgnn_robot::onboard::OnboardTask;
use wdgnn_sim::{
    error::Result,
    model::ModelFile,
    profiles::Profile,
    recipe::RecipeName,
    scene::{Scene, StateLayout, Swarm},
    world::{Baseline, Presentation, Scenario, SceneDisc, SwarmOf, Training, TrainingConfig, World},
};

use crate::{
    density::{Density, SIDE},
    task::{Cell, Coverage},
};

/// Square with a density of interest.
#[derive(Clone, Debug, Default)]
pub struct Area {
    density: Density,
    /// Sensor range in meters.
    range: f32,
}

impl World for Area {
    type Task = Coverage;
    type Shapes = (<Coverage as OnboardTask>::Shape,);
    const NAME: &'static str = "coverage";

    fn layout() -> StateLayout {
        StateLayout { position: 0..2, velocity: 0..0 }
    }

    fn default_scenario() -> Scenario {
        Scenario { robots: 30, radius: 3.0, speed: 0.0, ticks: 200 }
    }

    fn default_task() -> Coverage {
        Coverage
    }

    /// Draws random positions in one corner.
    fn begin(&mut self, scenario: &Scenario, random: &mut ChaCha8Rng) -> Result<Vec<Cell>> {
        *self = Self { density: Density::draw(random), range: scenario.radius / 2.0 };
        let corner = 0.4 * SIDE;
        let place = |_| [0, 1].map(|_| random.random_range(0.05 * corner..corner));
        let robot = |position| Cell { position, ..Cell::zero() };
        let robots: Vec<Cell> = (0..scenario.robots).map(place).map(robot).collect();
        Ok(self.density.cells(0, &robots, self.range))
    }

    fn position(Cell { position: [x, y], .. }: &Cell) -> [f32; 3] {
        [*x, *y, 0.0]
    }

    /// Senses each robot's cell within sensor range.
    fn sense(&mut self, tick: u32, cells: &[Cell], sensed: &mut Vec<Cell>) {
        *sensed = self.density.cells(tick, cells, self.range);
    }

    fn step(&mut self, _: &Coverage, _: u32, cells: &mut [Cell], commands: &[[f32; 2]]) {
        for (cell, command) in cells.iter_mut().zip(commands) {
            for (x, u) in cell.position.iter_mut().zip(command) {
                *x = (*x + Coverage::PERIOD * u).clamp(0.0, SIDE);
            }
        }
    }

    fn score(&self, tick: u32, cells: &[Cell]) -> f64 {
        self.density.cost(tick, cells)
    }
}

/// Optional: titles, models and baselines.
impl Presentation for Area {
    const TITLE: &'static str = "coverage of an area by its density";
    const SCORE: &'static str = "mean squared distance to the nearest robot in m²";
    const PACKAGE: &'static str = "coverage";

    /// Returns the shipped network, which is also in the robot's image.
    fn model(_: Profile) -> Result<ModelFile> {
        ModelFile::from_bytes("examples/coverage/model.wdgnn".as_ref(), include_bytes!("../model.wdgnn"))
    }

    /// Returns Lloyd's algorithm with all and with local knowledge, and robots at rest.
    fn baselines() -> Vec<Baseline<Self>> {
        let baseline = |name, title, shown, make| Baseline { name, title, shown, make };
        vec![
            baseline("expert", "expert: Lloyd, sees all robots", true, |area: &Self, _| area.lloyd()),
            baseline("lloyd-local", "Lloyd with local sensors", true, |_, _| {
                Box::new(Controller(|scene| to_centers(scene.states)))
            }),
            baseline("still", "no motion", false, |_, _| {
                Box::new(Controller(|scene| vec![[0.0; 2]; scene.states.len()]))
            }),
        ]
    }

    fn scene_discs(&self, tick: u32) -> Vec<SceneDisc> {
        self.density.discs(tick)
    }
}

/// Optional: training by imitation of an expert.
impl Training for Area {
    fn expert(&self, _: &Coverage) -> Option<SwarmOf<'static, Self>> {
        Some(self.lloyd())
    }

    /// Returns the training configuration.
    ///
    /// The loss of a robot's own cell leads to Lloyd's algorithm with local knowledge, and the network
    /// is better than that. Online learning therefore uses a small step.
    fn training_config(&self, recipe: RecipeName) -> Option<TrainingConfig<Coverage>> {
        (recipe != RecipeName::Paper).then_some(TrainingConfig {
            task: Self::default_task(),
            scale: Scale::Closed,
            step: 0.02,
            ball: 1.0,
            bias_step: 0.0,
            adapts_gain: false,
            lag: 0.0,
        })
    }
}

impl Area {
    /// Lloyd's algorithm with knowledge of the whole density and of all robots.
    fn lloyd(&self) -> SwarmOf<'static, Self> {
        let density = self.density.clone();
        Box::new(Controller(move |scene| to_centers(&density.cells(scene.tick, scene.states, f32::INFINITY))))
    }
}

/// Commands that bring each robot to the center of its cell as fast as possible.
fn to_centers(cells: &[Cell]) -> Vec<[f32; 2]> {
    cells.iter().map(|cell| Coverage.saturate(&cell.to_center.map(|x| x / Coverage::PERIOD))).collect()
}

/// Controller that computes the commands of all robots with a function.
struct Controller<F: Fn(&Scene<'_, Cell>) -> Vec<[f32; 2]>>(F);

impl<F: Fn(&Scene<'_, Cell>) -> Vec<[f32; 2]> + Send> Swarm<Coverage> for Controller<F> {
    fn fly(&mut self, scene: &Scene<'_, Cell>, commands: &mut Vec<[f32; 2]>) -> Result {
        *commands = (self.0)(scene);
        Ok(())
    }
}
