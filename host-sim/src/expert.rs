//! Controllers that know everything: the paper's expert, which training imitates, and the physical limit, which nobody beats.

use wdgnn_core::{flocking::Motion, math};

use crate::{
    flight::{Pilot, Scene},
    links::Links,
    world,
};

/// Range of the expert's collision avoidance ρ in metres.
const AVOIDANCE_METRES: f32 = 1.0;

/// The expert (eq. `optimalController`): `u* = −Σ_j (v_i − v_j) + 2 Σ_{d<ρ} (p_i − p_j)(1/d⁴ + 1/d²)`, over all robots, clamped.
#[derive(Clone, Copy, Debug)]
pub struct Expert {
    /// Largest acceleration per axis in m/s².
    pub limit: f32,
}

impl Expert {
    /// The expert's command for every robot.
    pub fn commands(&self, motions: &[Motion], commands: &mut Vec<[f32; 2]>) {
        let close = Links::within(motions, AVOIDANCE_METRES);
        let n = motions.len() as f64;
        let mean = world::mean_velocity(motions);
        commands.clear();
        commands.extend(motions.iter().enumerate().map(|(robot, motion)| {
            let mut u = [0, 1].map(|axis| n * (mean[axis] - f64::from(motion.velocity[axis])));
            for &other in close.of(robot) {
                let other = &motions[other as usize];
                let [dx, dy] =
                    [0, 1].map(|axis| f64::from(motion.position[axis]) - f64::from(other.position[axis]));
                // Robots on the same spot have no direction to part in: the floor keeps the force finite (and zero).
                let squared = (dx * dx + dy * dy).max(1.0e-12);
                let push = 2.0 * (1.0 / (squared * squared) + 1.0 / squared);
                u[0] += push * dx;
                u[1] += push * dy;
            }
            u.map(|u| math::clamp(u as f32, self.limit))
        }));
    }
}

impl Pilot for Expert {
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        self.commands(scene.motions, commands);
    }
}

/// The physical limit: every robot brakes at full acceleration straight to the mean velocity.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Largest acceleration per axis in m/s².
    pub limit: f32,
    /// Length of a tick in seconds.
    pub period: f32,
}

impl Pilot for Limit {
    fn fly(&mut self, scene: &Scene<'_>, commands: &mut Vec<[f32; 2]>) {
        let mean = world::mean_velocity(scene.motions);
        commands.clear();
        commands.extend(scene.motions.iter().map(|motion| {
            [0, 1].map(|axis| {
                math::clamp((mean[axis] as f32 - motion.velocity[axis]) / self.period, self.limit)
            })
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expert_by_hand() {
        // Two robots 0.8 m apart: push 2·0.8·(1/0.4096 + 1/0.64) = 6.40625; velocities differ by 2 along y.
        let motions = [
            Motion { position: [0.0, 0.0], velocity: [0.0, 1.0] },
            Motion { position: [0.8, 0.0], velocity: [0.0, -1.0] },
        ];
        let mut commands = Vec::new();
        Expert { limit: 10.0 }.commands(&motions, &mut commands);
        assert!((commands[0][0] + 6.406_25).abs() < 1.0e-4);
        assert!((commands[0][1] + 2.0).abs() < 1.0e-6);
        assert!((commands[1][0] - 6.406_25).abs() < 1.0e-4);
    }

    #[test]
    fn the_expert_is_clamped_and_finite_on_the_same_spot() {
        let motions = [Motion { position: [1.0, 1.0], velocity: [100.0, 0.0] }; 2];
        let mut commands = Vec::new();
        Expert { limit: 10.0 }.commands(&motions, &mut commands);
        assert_eq!(commands, [[0.0, 0.0]; 2]);
    }
}
