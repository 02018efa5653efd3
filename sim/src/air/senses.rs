//! What robots sense: the truth, and white noise.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::State;

use crate::{
    scene::Layout,
    seeds::{Purpose, generator},
};

/// By how much robots' sensors err.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Standard deviation of a position, per axis and tick, in metres.
    pub position: f32,
    /// Standard deviation of a velocity, per axis and tick, in m/s.
    pub velocity: f32,
}

impl Noise {
    /// Sensors that tell the truth.
    pub const NONE: Self = Self { position: 0.0, velocity: 0.0 };
}

/// The sensors of a swarm, each with noise of its own.
#[derive(Clone, Debug)]
pub struct Senses {
    noise: Noise,
    layout: Layout,
    random: Vec<ChaCha8Rng>,
}

impl Senses {
    /// The sensors of so many robots of swarm number `swarm`.
    #[must_use]
    pub fn new(noise: Noise, layout: Layout, seed: u64, swarm: u64, robots: usize) -> Self {
        let own = |robot| generator(seed, Purpose::Senses, swarm << 32 | robot);
        Self { noise, layout, random: (0..robots as u64).map(own).collect() }
    }

    /// What the robots sense of where they are and how they move.
    pub fn sense<S: State>(&mut self, states: &[S]) -> Vec<S> {
        let mut sensed = states.to_vec();
        if self.noise == Noise::NONE {
            return sensed;
        }
        let Layout { position, velocity } = &self.layout;
        for (state, random) in sensed.iter_mut().zip(&mut self.random) {
            let mut numbers = state.numbers();
            for (range, deviation) in [(position, self.noise.position), (velocity, self.noise.velocity)] {
                let some = numbers.as_mut().get_mut(range.clone()).unwrap_or_default();
                for pair in some.chunks_mut(2) {
                    pair.iter_mut().zip(normal(random)).for_each(|(x, error)| *x += deviation * error);
                }
            }
            *state = S::from_numbers(numbers);
        }
        sensed
    }
}

/// Two numbers with a standard normal distribution (Box and Muller), the same bits on every machine.
fn normal(random: &mut ChaCha8Rng) -> [f32; 2] {
    let (u, v): (f64, f64) = (random.random(), random.random());
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - u));
    let angle = std::f64::consts::TAU * v;
    [(radius * libm::cos(angle)) as f32, (radius * libm::sin(angle)) as f32]
}

#[cfg(test)]
mod tests {
    use wdgnn_core::flocking::Motion;

    use super::*;

    const PLANE: Layout = Layout { position: 0..2, velocity: 2..4 };
    const REST: Motion = Motion { position: [1.0, 2.0], velocity: [0.0; 2] };

    #[test]
    fn noise_has_its_deviation_is_each_robots_own_and_comes_again() {
        let noise = Noise { position: 0.1, velocity: 0.2 };
        let mut senses = Senses::new(noise, PLANE, 7, 0, 2);
        let sensed: Vec<Vec<Motion>> = (0..5000).map(|_| senses.sense(&[REST; 2])).collect();
        let spread = |of: &dyn Fn(&Motion) -> f32| {
            let squares: f32 = sensed.iter().flatten().map(|motion| of(motion).powi(2)).sum();
            (squares / 10_000.0).sqrt()
        };
        assert!((spread(&|motion| motion.position[0] - 1.0) - 0.1).abs() < 0.003);
        assert!((spread(&|motion| motion.position[1] - 2.0) - 0.1).abs() < 0.003);
        assert!((spread(&|motion| motion.velocity[1]) - 0.2).abs() < 0.006);
        assert_ne!(sensed[0][0], sensed[0][1]);
        assert_eq!(Senses::new(noise, PLANE, 7, 0, 2).sense(&[REST; 2]), sensed[0]);
        assert_ne!(Senses::new(noise, PLANE, 7, 1, 2).sense(&[REST; 2]), sensed[0], "another swarm");
    }

    #[test]
    fn without_noise_robots_sense_the_truth() {
        assert_eq!(Senses::new(Noise::NONE, PLANE, 7, 0, 1).sense(&[REST]), [REST]);
    }
}
