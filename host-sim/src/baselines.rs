//! What a network has to be held against: controllers without any learning, under the same separation guard as the networks.
//!
//! * [`Hearsay`] brakes straight to the mean of the velocities that it knows of. Every robot hears its neighbours' states at once, and
//!   what they knew one tick before. Cut off after k hops it is delayed averaging; without a cut it is flooding: every state travels
//!   one hop per tick, and no controller that has only local information can know more. So flooding under the guard is the floor
//!   for local information, as far as braking straight to a mean is the best that can be done with it.
//! * [`Guarded`] puts repulsion and separation guard on anybody, so that their cost is on both sides of a comparison. The centre under it
//!   knows everything and brakes as hard as robots can: a bound for everybody under the same guard.

use wdgnn_core::{
    flocking::{Flocking, Motion},
    task::Task as _,
};

use crate::flight::{Pilot, Scene};

/// Another pilot's wishes, before they are limited, steered and guarded as a network's output is.
pub trait Wishes {
    /// The unlimited command of every robot.
    fn wish(&mut self, scene: &Scene<'_>, wishes: &mut Vec<[f32; 2]>);
}

/// A pilot under the networks' guard.
#[derive(Debug)]
pub struct Guarded<W> {
    /// Who flies.
    pub wishes: W,
    /// Whose guard.
    pub task: Flocking,
}

impl<W: Wishes> Pilot for Guarded<W> {
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        self.wishes.wish(scene, commands);
        for (robot, (command, own)) in commands.iter_mut().zip(scene.motions).enumerate() {
            let others = || scene.links.of(robot).iter().map(|&other| &scene.motions[other as usize]);
            let steered = self.task.steer(own, others(), command);
            *command = self.task.keep_safe(own, others(), self.task.command(&steered));
        }
    }
}

/// Everything that a robot has heard, by robot: when it was true, and the velocity.
type Known = Vec<Option<(u32, [f32; 2])>>;

/// Delayed averaging over hops, or flooding.
#[derive(Debug, Default)]
pub struct Hearsay {
    /// The most hops that a state travels; `None` for flooding.
    pub hops: Option<u32>,
    /// Length of a tick in seconds.
    pub period: f32,
    known: Vec<Known>,
}

impl Hearsay {
    /// Nothing heard yet.
    #[must_use]
    pub fn new(hops: Option<u32>, period: f32) -> Self {
        Self { hops, period, known: Vec::new() }
    }

    /// What every robot knows at this tick: the states of its neighbours, what those knew at the tick before, and what it knew itself.
    fn hear(&mut self, scene: &Scene<'_>) {
        let robots = scene.motions.len();
        self.known.resize_with(robots, || vec![None; robots]);
        let fresh = |robot: usize| Some((scene.tick, scene.motions[robot].velocity));
        let before = &self.known;
        let now: Vec<Known> = (0..robots)
            .map(|robot| {
                let mut known = before[robot].clone();
                for &other in scene.links.of(robot) {
                    if self.hops != Some(1) {
                        for (known, told) in known.iter_mut().zip(&before[other as usize]) {
                            if told.map(|(tick, _)| tick) > known.map(|(tick, _)| tick) {
                                *known = *told;
                            }
                        }
                    }
                }
                for &other in scene.links.of(robot) {
                    known[other as usize] = fresh(other as usize);
                }
                known[robot] = fresh(robot);
                known
            })
            .collect();
        self.known = now;
    }
}

impl Wishes for Hearsay {
    fn wish(&mut self, scene: &Scene<'_>, wishes: &mut Vec<[f32; 2]>) {
        self.hear(scene);
        // A state that came over h hops is h − 1 ticks old.
        let oldest = self.hops.map_or(0, |hops| (scene.tick + 1).saturating_sub(hops));
        wishes.clear();
        wishes.extend(scene.motions.iter().zip(&self.known).map(|(motion, known): (&Motion, &Known)| {
            let (mut sum, mut count) = ([0.0; 2], 0.0);
            for (_, velocity) in known.iter().flatten().filter(|(tick, _)| *tick >= oldest) {
                sum = [sum[0] + velocity[0], sum[1] + velocity[1]];
                count += 1.0;
            }
            [0, 1].map(|axis| (sum[axis] / count - motion.velocity[axis]) / self.period)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::Links;

    /// Four robots in a row, each hearing the next: what the first knows of the last comes three hops later.
    fn row() -> Vec<Motion> {
        [0.0, 1.0, 2.0, 3.0].map(|x| Motion { position: [x, 0.0], velocity: [x, 0.0] }).into()
    }

    fn wishes(pilot: &mut Hearsay, tick: u32) -> Vec<[f32; 2]> {
        let motions = row();
        let links = Links::within(&motions, 1.0);
        let mut wishes = Vec::new();
        pilot.wish(&Scene { tick, motions: &motions, links: &links }, &mut wishes);
        wishes
    }

    #[test]
    fn a_state_travels_one_hop_per_tick() {
        let mut flooding = Hearsay::new(None, 0.5);
        assert_eq!(wishes(&mut flooding, 0)[0], [1.0, 0.0], "the mean of 0 and 1, in half a second");
        assert_eq!(wishes(&mut flooding, 1)[0], [2.0, 0.0], "0, 1, 2");
        assert_eq!(wishes(&mut flooding, 2)[0], [3.0, 0.0], "0, 1, 2, 3");
    }

    #[test]
    fn averaging_over_hops_goes_no_further() {
        for (hops, mean) in [(1, 0.5), (2, 1.0), (3, 1.5), (6, 1.5)] {
            let mut pilot = Hearsay::new(Some(hops), 0.5);
            let last = (0..8).map(|tick| wishes(&mut pilot, tick)[0]).last();
            assert_eq!(last, Some([2.0 * mean, 0.0]), "{hops} hops");
        }
    }

    #[test]
    fn whoever_flies_is_guarded() {
        struct Ahead;
        impl Wishes for Ahead {
            fn wish(&mut self, scene: &Scene<'_>, wishes: &mut Vec<[f32; 2]>) {
                wishes.clear();
                wishes.resize(scene.motions.len(), [99.0, 0.0]);
            }
        }
        let motions = [0.0, 0.2].map(|x| Motion { position: [x, 0.0], velocity: [0.0; 2] });
        let links = Links::within(&motions, 1.0);
        let mut commands = Vec::new();
        let mut pilot = Guarded { wishes: Ahead, task: Flocking { strength: 40.0, ..Flocking::NORMALISED } };
        pilot.fly(&Scene { tick: 0, motions: &motions, links: &links }, &mut commands);
        // 40 · (1/0.2 − 1/0.5) = 120 back for the one behind.
        assert_eq!(commands, [[-10.0, 0.0], [10.0, 0.0]]);
    }
}
