//! The world: how robots move, and how far a swarm is from flocking.

use wdgnn_core::flocking::Motion;

use crate::links::{Links, distance};

/// Pairs closer than these count as close, in metres.
pub const CLOSE_METRES: [f32; 3] = [0.1, 0.2, 0.3];

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
    mean_of(motions.iter().map(|motion| motion.velocity)).0
}

/// The mean of these velocities, and how many there are, at least one.
fn mean_of(velocities: impl Iterator<Item = [f32; 2]>) -> ([f64; 2], f64) {
    let (mut sum, mut count) = ([0.0; 2], 0);
    for velocity in velocities {
        sum = [0, 1].map(|axis| sum[axis] + f64::from(velocity[axis]));
        count += 1;
    }
    let n = f64::from(count.max(1));
    (sum.map(|sum| sum / n), n)
}

/// The velocity variation: mean squared deviation from the mean velocity, in m²/s² (eq. `finalVariance`).
#[must_use]
pub fn variation(motions: &[Motion]) -> f64 {
    variation_of(motions.iter().map(|motion| motion.velocity))
}

/// The same of these velocities.
#[must_use]
pub fn variation_of(velocities: impl Iterator<Item = [f32; 2]> + Clone) -> f64 {
    let (mean, n) = mean_of(velocities.clone());
    let squares = velocities.map(|velocity| {
        let [dx, dy] = [0, 1].map(|axis| f64::from(velocity[axis]) - mean[axis]);
        dx * dx + dy * dy
    });
    squares.sum::<f64>() / n
}

/// The smallest distance among linked robots (infinite when there are none), and how many pairs are closer than
/// each of [`CLOSE_METRES`].
#[must_use]
pub fn closeness(motions: &[Motion], links: &Links) -> (f32, [u32; 3]) {
    let mut smallest = f32::INFINITY;
    let mut close = [0; 3];
    for (a, b) in links.pairs() {
        let distance = distance(&motions[a], &motions[b]);
        smallest = smallest.min(distance);
        for (close, limit) in close.iter_mut().zip(CLOSE_METRES) {
            *close += u32::from(distance < limit);
        }
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
        assert_eq!(closeness(&motions, &Links::within(&motions, 1.0)), (0.05, [1, 1, 1]));
    }
}
