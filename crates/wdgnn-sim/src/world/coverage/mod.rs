//! Coverage: robots spread over a square according to a moving density.
//!
//! The score is the density-weighted mean squared distance to the nearest robot. Sensor range is
//! half the radio range, so that robots hear all others that could be nearer to a place that they
//! sense.

pub mod field;
pub mod lloyd;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    filter::scale::Scale,
    model::shape::OneLayer,
    tasks::coverage::{Cell, Coverage},
};

use self::{
    field::Field,
    lloyd::{Lloyd, LocalLloyd, NoMotion},
};
use super::{Baseline, Presentation, Scenario, SceneDisc, SwarmOf, Training, TrainingConfig, World};
use crate::{
    error::Result, model::ModelFile, models, profiles::Profile, recipe::RecipeName, scene::StateLayout,
};

/// Square with a density of interest.
#[derive(Clone, Debug, Default)]
pub struct Area {
    field: Field,
    /// Sensor range in meters.
    reach: f32,
}

impl World for Area {
    type Task = Coverage;
    type Shapes = (OneLayer<6, 4, 32, 2>,);
    const NAME: &'static str = "coverage";

    fn layout() -> StateLayout {
        StateLayout { position: 0..2, velocity: 0..0 }
    }

    /// Thirty robots with a radio range of 3 m in a square of 10 m, for 20 s.
    fn default_scenario() -> Scenario {
        Scenario { robots: 30, radius: 3.0, speed: 0.0, ticks: 200 }
    }

    fn default_task() -> Coverage {
        Coverage::DEFAULT
    }

    /// All robots start in one corner.
    fn begin(&mut self, scenario: &Scenario, random: &mut ChaCha8Rng) -> Result<Vec<Cell>> {
        self.field = Field::draw(random);
        self.reach = scenario.radius / 2.0;
        let side = 0.4 * field::SIDE_METRES;
        let place = |_| [0, 1].map(|_| random.random_range(0.05 * side..side));
        let places: Vec<[f32; 2]> = (0..scenario.robots).map(place).collect();
        Ok(self.cells(0, &places))
    }

    fn position(cell: &Cell) -> [f32; 3] {
        let [x, y] = cell.position;
        [x, y, 0.0]
    }

    fn sense(&mut self, tick: u32, cells: &[Cell], sensed: &mut Vec<Cell>) {
        let places: Vec<[f32; 2]> = cells.iter().map(|cell| cell.position).collect();
        *sensed = self.cells(tick, &places);
    }

    fn step(&mut self, task: &Coverage, _: u32, cells: &mut [Cell], commands: &[[f32; 2]]) {
        for (cell, command) in cells.iter_mut().zip(commands) {
            for (x, u) in cell.position.iter_mut().zip(command) {
                *x = (*x + task.period * u).clamp(0.0, field::SIDE_METRES);
            }
        }
    }

    fn score(&self, tick: u32, cells: &[Cell]) -> f64 {
        let places: Vec<[f32; 2]> = cells.iter().map(|cell| cell.position).collect();
        self.field.look(tick).cost(&places)
    }
}

impl Presentation for Area {
    const TITLE: &'static str = "coverage of an area by its density";
    const SCORE: &'static str = "mean squared distance to the nearest robot in m²";

    fn model(_: Profile) -> Result<ModelFile> {
        models::named("coverage")
    }

    fn baselines() -> Vec<Baseline<Self>> {
        vec![
            Baseline {
                name: "expert",
                title: "expert: Lloyd, sees all robots",
                shown: true,
                make: |world, task| Box::new(Lloyd { field: world.field.clone(), task: *task }),
            },
            Baseline {
                name: "lloyd-local",
                title: "Lloyd with local sensors",
                shown: true,
                make: |_, task| Box::new(LocalLloyd { task: *task }),
            },
            Baseline { name: "still", title: "no motion", shown: false, make: |_, _| Box::new(NoMotion) },
        ]
    }

    fn scene_discs(&self, tick: u32) -> Vec<SceneDisc> {
        self.field.spots(tick)
    }
}

impl Training for Area {
    /// Returns the training configuration.
    ///
    /// The loss of a robot's own cell leads to Lloyd's algorithm, and the network does better with
    /// its neighbors' data. Online learning therefore uses a small step.
    fn training_config(recipe: RecipeName) -> Option<TrainingConfig<Coverage>> {
        let settings = TrainingConfig {
            task: Self::default_task(),
            scale: Scale::Closed,
            step: 0.02,
            ball: 1.0,
            bias_step: 0.0,
            adapts_gain: false,
        };
        (recipe != RecipeName::Paper).then_some(settings)
    }

    fn expert(&self, task: &Coverage) -> Option<SwarmOf<'static, Self>> {
        Some(Box::new(Lloyd { field: self.field.clone(), task: *task }))
    }
}

impl Area {
    /// Returns each robot's sensed cell: samples within reach that are nearest to it.
    fn cells(&self, tick: u32, places: &[[f32; 2]]) -> Vec<Cell> {
        let look = self.field.look(tick);
        let share = look.mass() / places.len().max(1) as f64;
        let parts = look.parts(places, self.reach);
        let cell = |(position, part): (&[f32; 2], field::CellMass)| Cell {
            position: *position,
            way: part.way(*position),
            mass: (part.mass / share) as f32,
        };
        places.iter().zip(parts).map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        episode::Episode,
        seeds::{Purpose, generator},
    };

    #[test]
    fn lloyd_beats_no_motion_and_global_beats_local_knowledge() {
        let mut totals = [0.0; 3];
        for swarm in 0..4 {
            let scenario = Scenario { robots: 20, ticks: 100, ..Area::default_scenario() };
            let start =
                Episode::draw(&Area::default(), &scenario, &mut generator(1, Purpose::Testing, swarm))
                    .unwrap();
            for (total, baseline) in totals.iter_mut().zip(Area::baselines()) {
                let mut swarm = (baseline.make)(&start.world, &Coverage::DEFAULT);
                *total += start.run_unobserved(&Coverage::DEFAULT, swarm.as_mut()).unwrap().total();
            }
        }
        let [lloyd, local, still] = totals;
        assert!(lloyd < local && local < 0.8 * still, "{lloyd} {local} {still}");
    }

    #[test]
    fn cells_partition_the_density_within_reach() {
        let mut world = Area::default();
        let scenario = Scenario { robots: 10, radius: 100.0, ..Area::default_scenario() };
        let cells = world.begin(&scenario, &mut generator(1, Purpose::Testing, 0)).unwrap();
        let sum: f32 = cells.iter().map(|cell| cell.mass).sum();
        assert!((sum - 10.0).abs() < 1.0e-3, "{sum}");
    }
}
