//! Imitation: episodes with expert labels, and batches of their samples.

use rand::{RngExt as _, seq::SliceRandom as _};

use super::{
    dataset::{Batch, Trajectory, Window},
    methods::Imitation,
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

/// Ticks of a window with a loss, for several layers: long relative to the delay lines, short
/// relative to an episode.
const WINDOW_TICKS: usize = 8;

/// Swarm that records the expert's command at each tick. The expert or the network is in control.
struct LabeledSwarm<'a, W: Environment> {
    swarm: SwarmOf<'a, W>,
    expert: SwarmOf<'static, W>,
    /// Whether the expert's commands are applied (behavior cloning) or the network's (data-set
    /// aggregation).
    expert_drives: bool,
    keep_links: bool,
    trajectory: Trajectory,
}

impl<W: Environment> Swarm<W::Task> for LabeledSwarm<'_, W> {
    fn fly(&mut self, scene: &Scene<'_, StateOf<W>>, commands: &mut Vec<OutputOf<W>>) -> Result {
        self.swarm.fly(scene, commands)?;
        let mut labels = Vec::with_capacity(commands.len());
        self.expert.fly(scene, &mut labels)?;
        for (robot, label) in labels.iter().enumerate() {
            if let Some(inside) = self.swarm.internals(robot) {
                self.trajectory.push(inside.taps, label.as_ref());
            }
        }
        if self.keep_links {
            self.trajectory.links.push(scene.links.clone());
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
    recipe: &Recipe<W>,
    imitate: &Imitation,
    draft: &Draft<'_, W::Task>,
    seed: u64,
    epoch: usize,
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
            keep_links: draft.size.layers > 1,
            trajectory: Trajectory::new(&draft.size, start.states.len()),
        };
        start.run_unobserved(&draft.task, &mut pupil)?;
        Ok(pupil.trajectory)
    })
}

/// Samples of one step, by index.
#[derive(Debug)]
pub enum Draw {
    /// Single samples: trajectory and sample.
    Samples(Vec<(u32, u32)>),
    /// Whole trajectories.
    Trajectories(Vec<u32>),
    /// Windows: trajectory and first tick.
    Windows {
        /// Ticks before each window that only fill the delay lines.
        warm_up: usize,
        /// Start of each window.
        starts: Vec<(u32, u32)>,
    },
}

/// Returns the samples of all steps of an epoch.
pub fn draws<W: Environment>(
    recipe: &Recipe<W>,
    imitate: &Imitation,
    (layers, taps): (usize, usize),
    pool: &[&Trajectory],
    seed: u64,
    epoch: usize,
) -> Vec<Draw> {
    let mut random = generator(seed, Purpose::Batches, epoch as u64);
    // The delay lines of upper layers are full after as many ticks as they have hops.
    let warm_up = (layers - 1) * (taps - 1);
    let Some(samples) = imitate.samples else {
        let mut order: Vec<u32> = (0..pool.len() as u32).collect();
        order.shuffle(&mut random);
        return order.chunks(BATCH_TRAJECTORIES).map(|batch| Draw::Trajectories(batch.to_vec())).collect();
    };
    let mut draw = || {
        let trajectory = random.random_range(0..pool.len());
        if layers == 1 {
            return (trajectory as u32, random.random_range(0..pool[trajectory].len()) as u32);
        }
        let last = pool[trajectory].ticks().saturating_sub(WINDOW_TICKS);
        (trajectory as u32, random.random_range(0..=last) as u32)
    };
    (0..recipe.steps)
        .map(|_| {
            if layers == 1 {
                Draw::Samples((0..samples).map(|_| draw()).collect())
            } else {
                let windows = samples.div_ceil(WINDOW_TICKS * recipe.condition.robots);
                Draw::Windows { warm_up, starts: (0..windows).map(|_| draw()).collect() }
            }
        })
        .collect()
}

impl Draw {
    /// Returns the samples.
    pub fn batch<'a>(&self, pool: &[&'a Trajectory]) -> Batch<'a> {
        match self {
            Self::Samples(samples) => Batch::Samples(
                samples
                    .iter()
                    .map(|&(trajectory, sample)| pool[trajectory as usize].sample(sample as usize))
                    .collect(),
            ),
            Self::Trajectories(trajectories) if pool.iter().any(|trajectory| trajectory.links.is_empty()) => {
                let all = trajectories.iter().flat_map(|&index| {
                    let trajectory = pool[index as usize];
                    (0..trajectory.len()).map(|sample| trajectory.sample(sample))
                });
                Batch::Samples(all.collect())
            }
            Self::Trajectories(trajectories) => {
                let whole = trajectories.iter().map(|&index| {
                    let trajectory = pool[index as usize];
                    Window { trajectory, warm_up: 0, ticks: 0..trajectory.ticks() }
                });
                Batch::Windows(whole.collect())
            }
            Self::Windows { warm_up, starts } => {
                let windows = starts.iter().map(|&(trajectory, start)| {
                    let trajectory = pool[trajectory as usize];
                    let start = start as usize;
                    let end = (start + WINDOW_TICKS).min(trajectory.ticks());
                    Window { trajectory, warm_up: *warm_up, ticks: start..end }
                });
                Batch::Windows(windows.collect())
            }
        }
    }
}
