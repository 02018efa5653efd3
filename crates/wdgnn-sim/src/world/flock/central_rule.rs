//! Centralized learning rule of the paper (eq. `onlinelearning`).

use wdgnn_core::tasks::flocking::{Flocking, Motion};

/// Gradient of the whole swarm's velocity variation after the coming tick.
pub fn gradients<const D: usize>(
    task: &Flocking<D>, motions: &[Motion<D>], outputs: &[[f32; D]], commands: &[[f32; D]],
    through_clamp: bool,
) -> Vec<[f32; D]> {
    let period = task.period;
    let next: Vec<[f32; D]> = motions
        .iter()
        .zip(commands)
        .map(|(motion, u)| std::array::from_fn(|axis| motion.velocity[axis] + period * u[axis]))
        .collect();
    let n = next.len() as f32;
    let mean: [f32; D] = std::array::from_fn(|axis| next.iter().map(|v| v[axis]).sum::<f32>() / n);
    let robots = next.iter().zip(outputs).zip(commands);
    robots
        .map(|((next, output), command)| {
            std::array::from_fn(|axis| {
                let free = through_clamp || output[axis] == command[axis];
                if free { 2.0 * period / n * (next[axis] - mean[axis]) } else { 0.0 }
            })
        })
        .collect()
}
