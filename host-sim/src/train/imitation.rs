//! Imitation: episodes with expert labels, and batches of their samples.

use rand::{RngExt as _, seq::SliceRandom as _};
use wdgnn_core::model::shape::Dimensions;

use super::{
    gradient::{Loss, Sample},
    recipe::Recipe,
};
use crate::{
    episode::Episode,
    error::{Error, Result},
    scene::{Scene, Swarm},
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    threads,
    world::{Environment, OutputOf, StateOf, SwarmOf},
};

/// Trajectories per step for whole trajectories (the paper's batch size).
const BATCH_TRAJECTORIES: usize = 20;

/// Parameters of imitation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imitation {
    /// Episodes in the data set.
    pub flights: usize,
    /// Episodes that the current network adds in each epoch replacing the oldest (data-set
    /// aggregation); 0 keeps the expert's episodes (behavior cloning).
    pub refresh: usize,
    /// Whether training episodes vary their condition.
    pub mixed: bool,
    /// Samples per step drawn at random; `None` takes 20 whole trajectories per step, each once per epoch.
    pub samples: Option<usize>,
    pub loss: Loss,
}

impl Imitation {
    /// Data-set aggregation over mixed conditions, for commands up to `limit`: larger commands are
    /// clamped, and errors above half of it count linearly.
    pub fn aggregation(limit: f32) -> Self {
        let loss = Loss { clamp: Some(limit), huber: limit / 2.0 };
        Self { flights: 400, refresh: 20, mixed: true, samples: Some(2048), loss }
    }

    /// The paper's parameters: four hundred episodes of the expert.
    pub const PAPER: Self =
        Self { flights: 400, refresh: 0, mixed: false, samples: None, loss: Loss::SQUARED };
}

/// One episode: taps and expert command by tick and robot.
#[derive(Clone, Debug)]
pub struct Trajectory {
    inputs: usize,
    outputs: usize,
    taps: Vec<f32>,
    labels: Vec<f32>,
}

impl Trajectory {
    fn new(size: &Dimensions) -> Self {
        Self { inputs: size.inputs(0), outputs: size.outputs, taps: Vec::new(), labels: Vec::new() }
    }

    /// Returns the number of samples: robots times ticks.
    fn len(&self) -> usize {
        self.labels.len() / self.outputs
    }

    fn sample(&self, index: usize) -> Sample<'_> {
        let (inputs, outputs) = (self.inputs, self.outputs);
        (&self.taps[index * inputs..][..inputs], &self.labels[index * outputs..][..outputs])
    }
}

/// Swarm that records the expert's command at each tick. The expert or the network is in control.
struct LabeledSwarm<'a, W: Environment> {
    swarm: SwarmOf<'a, W>,
    expert: SwarmOf<'static, W>,
    /// Whether the expert's commands are applied (behavior cloning) or the network's (data-set
    /// aggregation).
    expert_drives: bool,
    trajectory: Trajectory,
}

impl<W: Environment> Swarm<W::Task> for LabeledSwarm<'_, W> {
    fn fly(&mut self, scene: &Scene<'_, StateOf<W>>, commands: &mut Vec<OutputOf<W>>) -> Result {
        self.swarm.fly(scene, commands)?;
        let mut labels = Vec::with_capacity(commands.len());
        self.expert.fly(scene, &mut labels)?;
        for (robot, label) in labels.iter().enumerate() {
            if let Some(inside) = self.swarm.internals(robot) {
                self.trajectory.taps.extend(inside.taps);
                self.trajectory.labels.extend(label.as_ref());
            }
        }
        if self.expert_drives {
            commands.copy_from_slice(&labels);
        }
        Ok(())
    }
}

/// Returns the number of episodes that an epoch adds to the data set.
fn count(imitate: &Imitation, epoch: usize) -> usize {
    match epoch {
        0 if imitate.refresh == 0 => imitate.flights,
        // Initial data; episodes of the network replace it soon.
        0 => imitate.flights.min(4 * imitate.refresh),
        _ => imitate.refresh,
    }
}

/// Returns the episodes that an epoch adds. The expert controls those of the first epoch.
pub fn flights<W: Environment>(
    recipe: &Recipe<W>, imitate: &Imitation, draft: &Draft<'_, W::Task>, seed: u64, epoch: usize,
) -> Result<Vec<Trajectory>> {
    threads::try_map(count(imitate, epoch), |index| {
        let mut random = generator(seed, Purpose::Training, ((epoch as u64) << 32) + index as u64);
        let condition = if imitate.mixed {
            recipe.world.vary_scenario(&recipe.condition, &mut random)
        } else {
            recipe.condition
        };
        let start = Episode::draw(&recipe.world, &recipe.with_robots(condition), &mut random)?;
        let nobody = || Error::usage(format!("--task {} has no expert: give another --recipe", W::NAME));
        let mut pupil: LabeledSwarm<'_, W> = LabeledSwarm {
            swarm: draft.in_memory::<W::Shapes>(&start.states)?,
            expert: start.world.expert(&draft.task).ok_or_else(nobody)?,
            expert_drives: epoch == 0,
            trajectory: Trajectory::new(&draft.size),
        };
        start.run_unobserved(&draft.task, &mut pupil)?;
        Ok(pupil.trajectory)
    })
}

/// Returns the samples of each step of an epoch.
pub fn batches<'a, W: Environment>(
    recipe: &Recipe<W>, imitate: &Imitation, pool: Vec<&'a Trajectory>, seed: u64, epoch: usize,
) -> Box<dyn ExactSizeIterator<Item = Vec<Sample<'a>>> + 'a> {
    let mut random = generator(seed, Purpose::Batches, epoch as u64);
    let Some(samples) = imitate.samples else {
        let mut order = pool;
        order.shuffle(&mut random);
        let whole = |trajectory: &'a Trajectory| (0..trajectory.len()).map(|index| trajectory.sample(index));
        let steps = 0..order.len().div_ceil(BATCH_TRAJECTORIES);
        return Box::new(steps.map(move |step| {
            let some = order[step * BATCH_TRAJECTORIES..].iter().take(BATCH_TRAJECTORIES);
            some.flat_map(|trajectory| whole(trajectory)).collect()
        }));
    };
    let mut draw = move || {
        let trajectory = pool[random.random_range(0..pool.len())];
        trajectory.sample(random.random_range(0..trajectory.len()))
    };
    Box::new((0..recipe.steps).map(move |_| (0..samples).map(|_| draw()).collect()))
}
