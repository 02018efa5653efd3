//! Simulated environment of the task.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::Task as _;
use wdgnn_robot::onboard::OnboardTask;
use wdgnn_robot::tasks::MotionModel as _;
use wdgnn_sim::{
    error::Result,
    model::ModelFile,
    profiles::Profile,
    scene::{Scene, StateLayout, Swarm},
    world::{Adjoint, Baseline, Presentation, Scenario, Training, World},
};

use super::task::{Place, Rendezvous};

/// Empty plane.
#[derive(Clone, Debug, Default)]
pub struct Plane;

impl World for Plane {
    type Task = Rendezvous;
    type Shapes = (<Rendezvous as OnboardTask>::Shape,);
    const NAME: &'static str = "rendezvous";

    fn layout() -> StateLayout {
        StateLayout { position: 0..2, velocity: 0..0 }
    }

    fn default_scenario() -> Scenario {
        Scenario { robots: 20, radius: 4.0, speed: 0.0, ticks: 100 }
    }

    fn default_task() -> Rendezvous {
        Rendezvous
    }

    /// Draws random positions in a square.
    fn begin(&mut self, scenario: &Scenario, random: &mut ChaCha8Rng) -> Result<Vec<Place>> {
        Ok((0..scenario.robots).map(|_| Place([0, 1].map(|_| random.random_range(-5.0..5.0)))).collect())
    }

    fn position(Place([x, y]): &Place) -> [f32; 3] {
        [*x, *y, 0.0]
    }

    fn step(&mut self, task: &Rendezvous, _: u32, places: &mut [Place], commands: &[[f32; 2]]) {
        for (Place(place), command) in places.iter_mut().zip(commands) {
            place.iter_mut().zip(command).for_each(|(x, u)| *x += task.period() * u);
        }
    }

    fn score(&self, _: u32, places: &[Place]) -> f64 {
        let middle = middle(places);
        let squares = places.iter().flat_map(|place| [0, 1].map(|axis| place.0[axis] - middle[axis]));
        squares.map(|x| f64::from(x * x)).sum::<f64>() / places.len() as f64
    }
}

/// Optional: titles, models and baselines.
impl Presentation for Plane {
    const TITLE: &'static str = "robots that meet";
    const SCORE: &'static str = "mean squared distance from the center in m²";
    const PACKAGE: &'static str = "rendezvous";

    /// Returns the shipped network, which is also in the robot's image.
    fn model(_: Profile) -> Result<ModelFile> {
        ModelFile::from_bytes("examples/rendezvous/model.wdgnn".as_ref(), include_bytes!("../model.wdgnn"))
    }

    /// Returns the baselines, simplest first.
    fn baselines() -> Vec<Baseline<Self>> {
        let baseline = |name, title, make| Baseline { name, title, shown: true, make };
        vec![
            baseline("expert", "to the center of all robots", |_, _| {
                Box::new(To(|scene, _| middle(scene.states)))
            }),
            baseline("averaging", "to the neighbors' mean", |_, _| Box::new(To(neighbor_center))),
        ]
    }
}

/// Optional: training through the simulator.
impl Training for Plane {
    /// Returns the adjoint of an episode.
    fn adjoint(&self) -> Option<Box<dyn Adjoint<Self>>> {
        Some(Box::new(Backwards))
    }
}

fn middle(places: &[Place]) -> [f32; 2] {
    [0, 1].map(|axis| places.iter().map(|place| place.0[axis]).sum::<f32>() / places.len() as f32)
}

fn neighbor_center(scene: &Scene<'_, Place>, robot: usize) -> [f32; 2] {
    let near = scene.links.of(robot).iter().map(|&other| scene.states[other as usize]);
    middle(&near.chain([scene.states[robot]]).collect::<Vec<_>>())
}

/// Controller that moves each robot to a goal as fast as possible.
struct To(fn(&Scene<'_, Place>, usize) -> [f32; 2]);

impl Swarm<Rendezvous> for To {
    fn fly(&mut self, scene: &Scene<'_, Place>, commands: &mut Vec<[f32; 2]>) -> Result {
        commands.clear();
        commands.extend(scene.states.iter().enumerate().map(|(robot, place)| {
            let goal = self.0(scene, robot);
            Rendezvous.saturate(&[0, 1].map(|axis| (goal[axis] - place.0[axis]) / Rendezvous::PERIOD))
        }));
        Ok(())
    }
}

/// Adjoint of the functions above.
struct Backwards;

impl Adjoint<Plane> for Backwards {
    fn score(&mut self, _: u32, places: &[Place], weight: f32, grad: &mut [f32]) {
        let middle = middle(places);
        for (place, grad) in places.iter().zip(grad.as_chunks_mut::<2>().0) {
            for axis in 0..2 {
                grad[axis] += weight * 2.0 * (place.0[axis] - middle[axis]) / places.len() as f32;
            }
        }
    }

    fn step(&mut self, task: &Rendezvous, tick: u32, grad: &mut [f32], commands: &mut [Vec<f32>]) {
        let commands = commands[tick as usize].iter_mut();
        commands.zip(grad).for_each(|(command, grad)| *command += task.period() * *grad);
    }

    fn observe(
        &self, _: &Rendezvous, _: &Place, others: &[Place], grad: &[f32],
        add: &mut dyn FnMut(Option<usize>, usize, f32),
    ) {
        let share = 1.0 / (others.len() + 1) as f32;
        for (axis, grad) in grad.iter().enumerate() {
            add(None, axis, -share * grad * others.len() as f32);
            (0..others.len()).for_each(|other| add(Some(other), axis, share * grad));
        }
    }

    fn passes_gradient(
        &self, task: &Rendezvous, _: &Place, _: &[Place], output: &[f32; 2], _: &[f32; 2],
    ) -> Vec<bool> {
        let command = task.saturate(output);
        output.iter().zip(command).map(|(output, command)| *output == command).collect()
    }

    /// Returns the initial controller of training: motion to the neighbors' mean.
    fn initial_gains(&self) -> Vec<(usize, usize, f32)> {
        vec![(0, 0, 2.0), (1, 1, 2.0)]
    }
}
