//! The world: how robots move, and how far a swarm is from flocking.

use wdgnn_core::flocking::Motion;

use crate::links::{Links, distance};

/// Pairs closer than this count as close, in metres.
pub const CLOSE_METRES: f32 = 0.1;

/// Moves every robot for one period under its acceleration (eq. `controlProcess`).
pub fn step(motions: &mut [Motion], commands: &[[f32; 2]], period: f32) {
    for (motion, command) in motions.iter_mut().zip(commands) {
        let Motion { position, velocity } = motion;
        for ((position, velocity), command) in position.iter_mut().zip(velocity).zip(command) {
            *position += period * *velocity + 0.5 * period * period * command;
            *velocity += period * command;
        }
    }
}

/// The mean velocity.
#[must_use]
pub fn mean_velocity(motions: &[Motion]) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for motion in motions {
        sum[0] += f64::from(motion.velocity[0]);
        sum[1] += f64::from(motion.velocity[1]);
    }
    sum.map(|sum| sum / motions.len() as f64)
}

/// The velocity variation: mean squared deviation from the mean velocity, in m²/s² (eq. `finalVariance`).
#[must_use]
pub fn variation(motions: &[Motion]) -> f64 {
    let mean = mean_velocity(motions);
    let sum: f64 = motions
        .iter()
        .map(|motion| {
            let dx = f64::from(motion.velocity[0]) - mean[0];
            let dy = f64::from(motion.velocity[1]) - mean[1];
            dx * dx + dy * dy
        })
        .sum();
    sum / motions.len() as f64
}

/// The smallest distance among linked robots (infinite when there are none), and how many pairs are closer than
/// [`CLOSE_METRES`].
#[must_use]
pub fn closeness(motions: &[Motion], links: &Links) -> (f32, u32) {
    let mut smallest = f32::INFINITY;
    let mut close = 0;
    for (a, b) in links.pairs() {
        let distance = distance(&motions[a], &motions[b]);
        smallest = smallest.min(distance);
        close += u32::from(distance < CLOSE_METRES);
    }
    (smallest, close)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> [Motion; 2] {
        [
            Motion { position: [0.0, 0.0], velocity: [1.0, 0.0] },
            Motion { position: [0.05, 0.0], velocity: [3.0, 4.0] },
        ]
    }

    #[test]
    fn a_step_is_uniformly_accelerated_motion() {
        let mut motions = pair();
        step(&mut motions, &[[2.0, 0.0], [0.0, -4.0]], 0.5);
        assert_eq!(motions[0], Motion { position: [0.75, 0.0], velocity: [2.0, 0.0] });
        assert_eq!(motions[1], Motion { position: [1.55, 1.5], velocity: [3.0, 2.0] });
    }

    #[test]
    fn variation_by_hand() {
        // Mean (2, 2); both deviate by (1, 2).
        assert!((variation(&pair()) - 5.0).abs() < 1.0e-12);
    }

    #[test]
    fn close_pairs_are_counted_once() {
        let motions = pair();
        assert_eq!(closeness(&motions, &Links::within(&motions, 1.0)), (0.05, 1));
    }
}
