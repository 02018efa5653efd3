//! Motion of flocking robots, and the velocity variation of a swarm.

use wdgnn_core::tasks::flocking::Motion;

/// Position of a robot; the height is zero in the plane.
pub fn place<const D: usize>(motion: &Motion<D>) -> [f32; 3] {
    let mut place = [0.0; 3];
    place.iter_mut().zip(motion.position).for_each(|(place, x)| *place = x);
    place
}

/// Moves each robot for one period under its acceleration (eq. `controlProcess`).
pub fn step<const D: usize>(motions: &mut [Motion<D>], commands: &[[f32; D]], period: f32) {
    for (motion, command) in motions.iter_mut().zip(commands) {
        let Motion { position, velocity } = motion;
        for ((position, velocity), command) in position.iter_mut().zip(velocity).zip(command) {
            *position += period * *velocity + 0.5 * period * period * command;
            *velocity += period * command;
        }
    }
}

/// Mean velocity of a swarm.
pub fn mean_velocity<const D: usize>(motions: &[Motion<D>]) -> [f64; D] {
    mean_of(motions.iter().map(|motion| motion.velocity)).0
}

/// Mean of velocities, and their number, at least one.
fn mean_of<const D: usize>(velocities: impl Iterator<Item = [f32; D]>) -> ([f64; D], f64) {
    let (mut sum, mut count) = ([0.0; D], 0);
    for velocity in velocities {
        sum.iter_mut().zip(velocity).for_each(|(sum, v)| *sum += f64::from(v));
        count += 1;
    }
    let n = f64::from(count.max(1));
    (sum.map(|sum| sum / n), n)
}

/// Velocity variation in m²/s² (eq. `finalVariance`).
///
/// This is the mean squared deviation from the mean velocity.
pub fn variation<const D: usize>(velocities: impl Iterator<Item = [f32; D]> + Clone) -> f64 {
    let (mean, n) = mean_of(velocities.clone());
    let squares = velocities.map(|velocity| {
        velocity.iter().zip(mean).fold(0.0, |sum, (v, mean)| {
            let off = f64::from(*v) - mean;
            sum + off * off
        })
    });
    squares.sum::<f64>() / n
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
        assert!((variation(pair().iter().map(|motion| motion.velocity)) - 5.0).abs() < 1.0e-12);
    }
}
