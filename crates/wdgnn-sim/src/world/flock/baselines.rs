//! Baselines without learning, under the networks' collision guard.
//!
//! * [`DelayedAveraging`] brakes to the mean of the known velocities. Each robot hears its
//!   neighbors' states at once, and the states that they knew one tick before. With a limit of k hops
//!   this is delayed averaging. Without a limit it is flooding: each state travels one hop per tick,
//!   and no controller with local information can know more. Flooding under the guard is therefore
//!   the bound for local information, as far as braking to the mean is the best use of it.
//! * [`WithCollisionGuard`] adds repulsion and collision guard to any controller, so that both
//!   sides of a comparison bear their cost. With [`HardestBraking`] inside, it is a bound for all
//!   controllers under the guard.

use wdgnn_core::{
    task::Task,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_robot::{onboard::OnboardTask, tasks::CollisionAvoidance};

use super::expert::{Expert, HardestBraking, Preference};
use crate::{
    error::Result,
    scene::{Scene, Swarm},
    world::{Baseline, World},
};

/// Controller under the networks' collision guard.
#[derive(Debug)]
pub struct WithCollisionGuard<W, const D: usize> {
    /// Controller inside.
    pub preferred: W,
    /// Task with the guard's settings.
    pub task: Flocking<D>,
}

impl<W: Preference<D>, const D: usize> Swarm<Flocking<D>> for WithCollisionGuard<W, D>
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]> + Send,
{
    fn fly(&mut self, scene: &Scene<'_, Motion<D>>, commands: &mut Vec<[f32; D]>) -> Result {
        self.preferred.preferred_commands(scene, commands);
        guard(&self.task, scene, commands);
        Ok(())
    }
}

/// Applies repulsion, limit and collision guard to commands.
pub fn guard<const D: usize>(task: &Flocking<D>, scene: &Scene<'_, Motion<D>>, commands: &mut [[f32; D]])
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]>,
{
    for (robot, (command, own)) in commands.iter_mut().zip(scene.states).enumerate() {
        let others = || scene.links.of(robot).iter().map(|&other| &scene.states[other as usize]);
        let steered = task.repulsion(own, others(), command);
        *command = task.avoid_cooperative(own, others(), task.saturate(&steered));
    }
}

/// Delayed averaging over hops, or flooding.
#[derive(Debug)]
pub struct DelayedAveraging<const D: usize> {
    /// Largest number of hops; `None` for flooding.
    pub hops: Option<u32>,
    /// Length of a tick in seconds.
    pub period: f32,
    /// Ticks per exchange.
    pub interval: u32,
    /// Velocities that each robot knows of each, robot by robot, and their ages.
    velocities: Vec<[f32; D]>,
    /// One more than the exchange at which a velocity was true; 0 for unknown ones.
    heard: Vec<u32>,
}

impl<const D: usize> DelayedAveraging<D> {
    /// Creates a controller that has heard nothing yet.
    pub fn new(hops: Option<u32>, period: f32) -> Self {
        Self { hops, period, interval: 1, velocities: Vec::new(), heard: Vec::new() }
    }

    /// Computes the preferred commands for one hop, from the neighbors' current velocities.
    fn at_once(&self, scene: &Scene<'_, Motion<D>>, preferred: &mut Vec<[f32; D]>) {
        preferred.clear();
        preferred.extend(scene.states.iter().enumerate().map(|(robot, motion)| {
            let linked = scene.links.of(robot);
            // Sums run in the order of robots, as in the other controllers.
            let (before, behind) = linked.split_at(linked.partition_point(|other| (*other as usize) < robot));
            let (mut sum, mut count) = ([0.0; D], 0.0);
            for known in before.iter().copied().chain([robot as u32]).chain(behind.iter().copied()) {
                let velocity = scene.states[known as usize].velocity;
                sum.iter_mut().zip(velocity).for_each(|(sum, v)| *sum += v);
                count += 1.0;
            }
            std::array::from_fn(|axis| (sum[axis] / count - motion.velocity[axis]) / self.period)
        }));
    }

    /// Updates each robot's knowledge: neighbors' states, and what these knew one exchange before.
    fn hear(&mut self, scene: &Scene<'_, Motion<D>>, now: u32) {
        let robots = scene.states.len();
        self.velocities.resize(robots * robots, [0.0; D]);
        self.heard.resize(robots * robots, 0);
        let (velocities, heard) = (self.velocities.clone(), self.heard.clone());
        for robot in 0..robots {
            let own = robot * robots..(robot + 1) * robots;
            let (known, since) = (&mut self.velocities[own.clone()], &mut self.heard[own]);
            for &other in scene.links.of(robot) {
                let told = other as usize * robots..(other as usize + 1) * robots;
                let told = velocities[told.clone()].iter().zip(&heard[told]);
                for ((known, since), (velocity, heard)) in known.iter_mut().zip(&mut *since).zip(told) {
                    if heard > since {
                        (*known, *since) = (*velocity, *heard);
                    }
                }
            }
            for other in scene.links.of(robot).iter().map(|other| *other as usize).chain([robot]) {
                (known[other], since[other]) = (scene.states[other].velocity, now);
            }
        }
    }
}

impl<const D: usize> Preference<D> for DelayedAveraging<D> {
    fn preferred_commands(&mut self, scene: &Scene<'_, Motion<D>>, preferred: &mut Vec<[f32; D]>) {
        if self.hops == Some(1) && self.interval == 1 {
            self.at_once(scene, preferred);
            return;
        }
        let (now, robots) = (scene.tick / self.interval + 1, scene.states.len());
        if scene.tick.is_multiple_of(self.interval) {
            self.hear(scene, now);
        } else {
            for (robot, motion) in scene.states.iter().enumerate() {
                self.velocities[robot * robots + robot] = motion.velocity;
            }
        }
        // A state that traveled h hops is h − 1 exchanges old.
        let oldest = self.hops.map_or(1, |hops| (now + 1).saturating_sub(hops).max(1));
        let known = self.velocities.chunks_exact(robots).zip(self.heard.chunks_exact(robots));
        preferred.clear();
        preferred.extend(scene.states.iter().zip(known).map(|(motion, (velocities, heard))| {
            let (mut sum, mut count) = ([0.0; D], 0.0);
            for (velocity, _) in velocities.iter().zip(heard).filter(|(_, heard)| **heard >= oldest) {
                sum.iter_mut().zip(velocity).for_each(|(sum, v)| *sum += v);
                count += 1.0;
            }
            std::array::from_fn(|axis| (sum[axis] / count - motion.velocity[axis]) / self.period)
        }));
    }
}

/// Returns the baselines of flocking, in table order.
pub fn baselines<W: World<Task = Flocking<D>>, const D: usize>() -> Vec<Baseline<W>>
where
    Flocking<D>: OnboardTask + Task<State = Motion<D>, Command = [f32; D]>,
{
    let baseline = |name, title, shown, make| Baseline { name, title, shown, make };
    vec![
        baseline("expert", "expert (sees all robots)", true, |_, task| Box::new(expert(task))),
        baseline("averaging-1-hop", "averaging over 1 hop", true, |_, task| hearsay(Some(1), task)),
        baseline("averaging-3-hops", "averaging over 3 hops", true, |_, task| hearsay(Some(3), task)),
        baseline("averaging-2-hops", "averaging over 2 hops", false, |_, task| hearsay(Some(2), task)),
        baseline("averaging-6-hops", "averaging over 6 hops", false, |_, task| hearsay(Some(6), task)),
        baseline("flooding", "bound with local radio: flooding", false, |_, task| hearsay(None, task)),
        baseline("limit-guarded", "bound: all robots known, hardest braking", false, |_, task| {
            guarded(limit(task), task)
        }),
        baseline("limit", "bound without collision guard", false, |_, task| Box::new(limit(task))),
        baseline("expert-guarded", "expert with collision guard", false, |_, task| {
            guarded(expert(task), task)
        }),
    ]
}

fn limit<const D: usize>(task: &Flocking<D>) -> HardestBraking {
    HardestBraking { limit: task.limit, period: task.period }
}

fn expert<const D: usize>(task: &Flocking<D>) -> Expert {
    Expert { limit: task.limit, potential: true }
}

fn guarded<W: Preference<D> + 'static, const D: usize>(
    preferred: W, task: &Flocking<D>,
) -> Box<dyn Swarm<Flocking<D>>>
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]>,
{
    Box::new(WithCollisionGuard { preferred, task: *task })
}

fn hearsay<const D: usize>(hops: Option<u32>, task: &Flocking<D>) -> Box<dyn Swarm<Flocking<D>>>
where
    Flocking<D>: CollisionAvoidance<State = Motion<D>, Command = [f32; D]>,
{
    guarded(DelayedAveraging::new(hops, task.period), task)
}

#[cfg(test)]
mod tests {
    use super::{super::motion::place, *};
    use crate::links::Links;

    /// Four robots in a row, each in range of the next.
    ///
    /// The last one's state takes three hops to the first.
    fn row() -> Vec<Motion> {
        [0.0, 1.0, 2.0, 3.0].map(|x| Motion { position: [x, 0.0], velocity: [x, 0.0] }).into()
    }

    fn scene<'a>(tick: u32, motions: &'a [Motion], links: &'a Links) -> Scene<'a, Motion> {
        Scene { tick, states: motions, places: &[], links }
    }

    fn links(motions: &[Motion]) -> Links {
        let places: Vec<[f32; 3]> = motions.iter().map(place).collect();
        Links::within(&places, 1.0)
    }

    fn preferred(swarm: &mut DelayedAveraging<2>, tick: u32) -> Vec<[f32; 2]> {
        let motions = row();
        let mut preferred = Vec::new();
        swarm.preferred_commands(&scene(tick, &motions, &links(&motions)), &mut preferred);
        preferred
    }

    #[test]
    fn a_state_travels_one_hop_per_tick() {
        let mut flooding = DelayedAveraging::new(None, 0.5);
        assert_eq!(preferred(&mut flooding, 0)[0], [1.0, 0.0], "the mean of 0 and 1, in half a second");
        assert_eq!(preferred(&mut flooding, 1)[0], [2.0, 0.0], "0, 1, 2");
        assert_eq!(preferred(&mut flooding, 2)[0], [3.0, 0.0], "0, 1, 2, 3");
    }

    #[test]
    fn averaging_is_limited_to_its_hops() {
        for (hops, mean) in [(1, 0.5), (2, 1.0), (3, 1.5), (6, 1.5)] {
            let mut swarm = DelayedAveraging::new(Some(hops), 0.5);
            let last = (0..8).map(|tick| preferred(&mut swarm, tick)[0]).last();
            assert_eq!(last, Some([2.0 * mean, 0.0]), "{hops} hops");
        }
    }

    #[test]
    fn the_guard_applies_to_any_controller() {
        struct Ahead;
        impl Preference<2> for Ahead {
            fn preferred_commands(&mut self, scene: &Scene<'_, Motion>, preferred: &mut Vec<[f32; 2]>) {
                preferred.clear();
                preferred.resize(scene.states.len(), [99.0, 0.0]);
            }
        }
        let motions = [0.0, 0.2].map(|x| Motion { position: [x, 0.0], velocity: [0.0; 2] });
        let links = links(&motions);
        let mut commands = Vec::new();
        let mut swarm = WithCollisionGuard {
            preferred: Ahead,
            task: Flocking { strength: 40.0, ..Flocking::<2>::MEAN_FEATURES },
        };
        swarm.fly(&scene(0, &motions, &links), &mut commands).unwrap();
        // 40 · (1/0.2 − 1/0.5) = 120 backward for the rear robot.
        assert_eq!(commands, [[-10.0, 0.0], [10.0, 0.0]]);
    }
}
