//! Flocking of Olfati-Saber (2006), Algorithm 1: lattice and velocity consensus.
//!
//! `u_i = c₁ Σ φ_α(‖q_j − q_i‖_σ) n_ij + c₂ Σ a_ij (p_j − p_i)`

use wdgnn_core::tasks::flocking::Motion;

use super::expert::Preference;
use crate::{links::Links, scene::Scene, world::Tuning};

/// Parameter of the σ-norm.
const EPSILON: f32 = 0.1;
/// Share of the radio range up to which the bump function is 1.
const BUMP: f32 = 0.2;
/// Amplitude of the action function.
const AMPLITUDE: f32 = 5.0;
/// Radio range relative to the distance in the lattice.
const RANGE_RATIO: f32 = 1.2;

/// Controller of Olfati-Saber.
#[derive(Debug)]
pub struct OlfatiSaber<const D: usize> {
    radius: f32,
    interval: u32,
    /// Gain c₂, and c₁ relative to it.
    tuning: Tuning,
    /// States and links of the last exchange.
    heard: Vec<Motion<D>>,
    links: Links,
}

impl<const D: usize> OlfatiSaber<D> {
    /// Creates a controller with a radio range, exchanges every `interval` ticks, and gains.
    pub fn new(radius: f32, interval: u32, tuning: Tuning) -> Self {
        Self { radius, interval, tuning, heard: Vec::new(), links: Links::default() }
    }

    /// Adds the part of one neighbor to a command.
    fn add(&self, own: &Motion<D>, other: &Motion<D>, command: &mut [f32; D]) {
        let offset: [f32; D] = std::array::from_fn(|axis| other.position[axis] - own.position[axis]);
        let squared = offset.iter().map(|x| x * x).sum::<f32>();
        let slope = libm::sqrtf(1.0 + EPSILON * squared);
        let range = sigma_norm(self.radius * self.radius);
        let near = bump(sigma_norm(squared) / range);
        let distance = self.radius / RANGE_RATIO;
        let stretch = sigma_norm(squared) - sigma_norm(distance * distance);
        let action = near * AMPLITUDE * stretch / libm::sqrtf(1.0 + stretch * stretch);
        let Tuning { gain, second } = self.tuning;
        let lattice = second * action / slope;
        for (axis, u) in command.iter_mut().enumerate() {
            *u += gain * (lattice * offset[axis] + near * (other.velocity[axis] - own.velocity[axis]));
        }
    }
}

impl<const D: usize> Preference<D> for OlfatiSaber<D> {
    fn preferred_commands(&mut self, scene: &Scene<'_, Motion<D>>, preferred: &mut Vec<[f32; D]>) {
        if scene.tick.is_multiple_of(self.interval) {
            scene.states.clone_into(&mut self.heard);
            self.links.clone_from(scene.links);
        }
        preferred.clear();
        preferred.extend(scene.states.iter().enumerate().map(|(robot, own)| {
            let mut command = [0.0; D];
            for &other in self.links.of(robot) {
                self.add(own, &self.heard[other as usize], &mut command);
            }
            command
        }));
    }
}

/// σ-norm of a vector with this squared length.
fn sigma_norm(squared: f32) -> f32 {
    (libm::sqrtf(1.0 + EPSILON * squared) - 1.0) / EPSILON
}

/// Bump function: 1 up to [`BUMP`], then smoothly to 0 at 1.
fn bump(z: f32) -> f32 {
    match z {
        z if z < BUMP => 1.0,
        z if z < 1.0 => 0.5 * (1.0 + libm::cosf(std::f32::consts::PI * (z - BUMP) / (1.0 - BUMP))),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_attracts_when_far_and_repels_when_near() {
        let law = OlfatiSaber::<2>::new(2.0, 1, Tuning { gain: 2.0, second: 1.0 });
        let at = |x| Motion { position: [x, 0.0], velocity: [0.0; 2] };
        let pull = |x: f32| {
            let mut command = [0.0; 2];
            law.add(&at(0.0), &at(x), &mut command);
            command[0]
        };
        assert!(pull(0.5) < -0.5 && pull(1.8) > 0.0 && pull(2.1) == 0.0);
        assert!(pull(2.0 / RANGE_RATIO).abs() < 1.0e-5, "the distance of the lattice");
    }
}
