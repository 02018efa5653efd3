//! Centralized controllers: the paper's expert, and braking at full acceleration.
//!
//! Imitation learning uses the expert. [`HardestBraking`] accelerates each robot at the limit
//! toward the mean velocity. Its total is a lower bound for all controllers without a guard: no
//! robot can change its velocity faster, and the mean is the velocity nearest to all robots. It is
//! no bound where the mean itself can be moved at no cost, and it lets robots collide. Under the
//! networks' guard ([`super::baselines::WithCollisionGuard`]) it is the bound to compare them with.

use wdgnn_core::{
    math,
    task::Task,
    tasks::flocking::{Flocking, Motion},
};

use super::motion::{mean_velocity, place};
use crate::{
    error::Result,
    links::Links,
    scene::{Scene, Swarm},
};

/// Controller whose commands are not yet limited, repelled and guarded.
pub trait Preference<const D: usize>: Send {
    /// Computes the unlimited command of each robot.
    fn preferred_commands(&mut self, scene: &Scene<'_, Motion<D>>, preferred: &mut Vec<[f32; D]>);
}

/// Range of the expert's collision avoidance ρ in meters.
const AVOIDANCE_METRES: f32 = 1.0;

/// Gain of the expert without a potential: that of the expert among fifty robots.
pub const VELOCITY_GAIN: f64 = 50.0;

/// Expert of the paper (eq. `optimalController`).
///
/// `u* = −Σ_j (v_i − v_j) + 2 Σ_{d<ρ} (p_i − p_j)(1/d⁴ + 1/d²)`, over all robots, clamped.
#[derive(Clone, Copy, Debug)]
pub struct Expert {
    /// Largest acceleration per axis in m/s².
    pub limit: f32,
    /// Whether it avoids collisions. Without a potential, the command is `clamp(50 (v̄ − v_i))`.
    pub potential: bool,
}

impl Expert {
    /// Computes the expert's command for each robot.
    pub fn commands<const D: usize>(&self, motions: &[Motion<D>], commands: &mut Vec<[f32; D]>) {
        let places: Vec<[f32; 3]> = motions.iter().map(place).collect();
        let close = Links::within(&places, AVOIDANCE_METRES);
        let n = motions.len() as f64;
        let mean = mean_velocity(motions);
        commands.clear();
        commands.extend(motions.iter().enumerate().map(|(robot, motion)| {
            let gain = if self.potential { n } else { VELOCITY_GAIN };
            let mut u: [f64; D] =
                std::array::from_fn(|axis| gain * (mean[axis] - f64::from(motion.velocity[axis])));
            for &other in close.of(robot).iter().filter(|_| self.potential) {
                let other = &motions[other as usize];
                let offset: [f64; D] = std::array::from_fn(|axis| {
                    f64::from(motion.position[axis]) - f64::from(other.position[axis])
                });
                // The floor keeps the force of coincident robots finite (and zero).
                let squared = offset.iter().fold(0.0, |sum, x| sum + x * x).max(1.0e-12);
                let push = 2.0 * (1.0 / (squared * squared) + 1.0 / squared);
                u.iter_mut().zip(offset).for_each(|(u, x)| *u += push * x);
            }
            u.map(|u| math::clamp(u as f32, self.limit))
        }));
    }
}

impl<const D: usize> Swarm<Flocking<D>> for Expert
where
    Flocking<D>: Task<State = Motion<D>, Command = [f32; D]>,
{
    fn fly(&mut self, scene: &Scene<'_, Motion<D>>, commands: &mut Vec<[f32; D]>) -> Result {
        self.commands(scene.states, commands);
        Ok(())
    }
}

impl<const D: usize> Preference<D> for Expert {
    fn preferred_commands(&mut self, scene: &Scene<'_, Motion<D>>, preferred: &mut Vec<[f32; D]>) {
        self.commands(scene.states, preferred);
    }
}

/// Braking to the mean velocity at full acceleration.
#[derive(Clone, Copy, Debug)]
pub struct HardestBraking {
    /// Largest acceleration per axis in m/s².
    pub limit: f32,
    /// Length of a tick in seconds.
    pub period: f32,
}

impl<const D: usize> Swarm<Flocking<D>> for HardestBraking
where
    Flocking<D>: Task<State = Motion<D>, Command = [f32; D]>,
{
    fn fly(&mut self, scene: &Scene<'_, Motion<D>>, commands: &mut Vec<[f32; D]>) -> Result {
        self.preferred_commands(scene, commands);
        for u in commands.as_flattened_mut() {
            *u = math::clamp(*u, self.limit);
        }
        Ok(())
    }
}

impl<const D: usize> Preference<D> for HardestBraking {
    fn preferred_commands(&mut self, scene: &Scene<'_, Motion<D>>, preferred: &mut Vec<[f32; D]>) {
        let mean = mean_velocity(scene.states);
        preferred.clear();
        preferred.extend(scene.states.iter().map(|motion| {
            std::array::from_fn(|axis| (mean[axis] as f32 - motion.velocity[axis]) / self.period)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expert_by_hand() {
        // Two robots 0.8 m apart: push 2·0.8·(1/0.4096 + 1/0.64) = 6.40625; velocities differ by 2
        // along y.
        let motions = [
            Motion { position: [0.0, 0.0], velocity: [0.0, 1.0] },
            Motion { position: [0.8, 0.0], velocity: [0.0, -1.0] },
        ];
        let mut commands = Vec::new();
        Expert { limit: 10.0, potential: true }.commands(&motions, &mut commands);
        assert!((commands[0][0] + 6.406_25).abs() < 1.0e-4);
        assert!((commands[0][1] + 2.0).abs() < 1.0e-6);
        assert!((commands[1][0] - 6.406_25).abs() < 1.0e-4);
    }

    #[test]
    fn the_expert_is_clamped_and_finite_on_the_same_spot() {
        let motions = [Motion { position: [1.0, 1.0], velocity: [100.0, 0.0] }; 2];
        let mut commands = Vec::new();
        Expert { limit: 10.0, potential: true }.commands(&motions, &mut commands);
        assert_eq!(commands, [[0.0, 0.0]; 2]);
    }
}
