//! Sensor faults: noise, bias, heading errors, frozen and lost sensors.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::task::State;

use super::{
    fault_value::{FaultValue, ShareAt},
    heading::{Rotation, draw_rotations, rotate},
    options::Faults,
    shares,
};
use crate::{
    scene::StateLayout,
    seeds::{Purpose, generator},
};

/// Sensor failure of a share of the swarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorFault {
    /// Whether the sensor returns nothing; otherwise it repeats its last value.
    pub lost: bool,
    /// Share of the swarm.
    pub share: f64,
    /// First tick of the failure.
    pub tick: u32,
}

impl FaultValue for SensorFault {
    const FORM: &'static str =
        "frozen:SHARE@TICK or lost:SHARE@TICK with a share between 0 and 1, such as frozen:0.1@50";

    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(':')?;
        let lost = name.eq_ignore_ascii_case("lost");
        let ShareAt { share, tick } = ShareAt::parse(rest)?;
        (lost || name.eq_ignore_ascii_case("frozen")).then_some(Self { lost, share, tick })
    }

    fn text(&self) -> String {
        format!("{}:{}@{}", if self.lost { "lost" } else { "frozen" }, self.share, self.tick)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.tick)
    }
}

/// Draws the robots of swarm number `swarm` whose sensors fail.
pub fn failing(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    shares::of(faults.sensor.map(|fault| fault.share), faults.seed, Purpose::Sensors, swarm, robots)
}

/// Sensors of a swarm, each with its own errors.
#[derive(Clone, Debug)]
pub struct Senses<S> {
    faults: Faults,
    layout: StateLayout,
    random: Vec<ChaCha8Rng>,
    /// Constant errors of each robot in standard deviations: position, then velocity.
    biases: Vec<Vec<f32>>,
    rotations: Vec<Rotation>,
    failing: Vec<bool>,
    /// Value that each frozen sensor repeats.
    frozen: Vec<Option<S>>,
}

impl<S: State> Senses<S> {
    /// Creates the sensors of swarm number `swarm`.
    pub fn new(faults: &Faults, layout: StateLayout, swarm: u64, robots: usize) -> Self {
        let seed = faults.seed;
        let streams =
            |purpose| (0..robots as u64).map(move |robot| generator(seed, purpose, swarm << 32 | robot));
        let numbers = layout.position.len() + layout.velocity.len();
        let bias = |mut random: ChaCha8Rng| (0..numbers).map(|_| normal(&mut random)[0]).collect();
        Self {
            faults: faults.clone(),
            random: streams(Purpose::Senses).collect(),
            biases: streams(Purpose::Biases).map(bias).collect(),
            rotations: draw_rotations(faults, swarm, robots),
            failing: failing(faults, swarm, robots),
            frozen: vec![None; robots],
            layout,
        }
    }

    /// Returns each robot's sensed state at a tick.
    pub fn sense(&mut self, tick: u32, states: &[S]) -> Vec<Option<S>> {
        states.iter().enumerate().map(|(robot, state)| self.sense_one(tick, robot, *state)).collect()
    }

    /// Returns one robot's sensed state at a tick; `None` if its sensor is lost.
    pub fn sense_one(&mut self, tick: u32, robot: usize, state: S) -> Option<S> {
        let sensed = self.with_errors(robot, state);
        self.with_failure(tick, robot, sensed)
    }

    /// Adds a robot's errors to its true state.
    fn with_errors(&mut self, robot: usize, state: S) -> S {
        let mut numbers = state.to_array();
        let StateLayout { position, velocity } = &self.layout;
        rotate(numbers.as_mut().get_mut(velocity.clone()).unwrap_or_default(), self.rotations[robot]);
        let (moved, random) = (self.biases[robot].split_at(position.len()), &mut self.random[robot]);
        let Faults { position_noise, velocity_noise, position_bias, velocity_bias, .. } = self.faults;
        let is_noisy = position_noise != 0.0 || velocity_noise != 0.0;
        let parts = [
            (position, position_noise, position_bias, moved.0),
            (velocity, velocity_noise, velocity_bias, moved.1),
        ];
        for (range, noise, bias, biases) in parts {
            let some = numbers.as_mut().get_mut(range.clone()).unwrap_or_default();
            some.iter_mut().zip(biases).for_each(|(x, error)| *x += bias * error);
            if !is_noisy {
                continue;
            }
            for pair in some.chunks_mut(2) {
                pair.iter_mut().zip(normal(random)).for_each(|(x, error)| *x += noise * error);
            }
        }
        S::from_array(numbers)
    }

    /// Applies a sensor failure to a sensed state.
    fn with_failure(&mut self, tick: u32, robot: usize, sensed: S) -> Option<S> {
        match self.faults.sensor {
            Some(fault) if self.failing[robot] && tick >= fault.tick => {
                (!fault.lost).then(|| *self.frozen[robot].get_or_insert(sensed))
            }
            _ => Some(sensed),
        }
    }
}

/// Draws two standard normal numbers (Box and Muller), identical on every machine.
fn normal(random: &mut ChaCha8Rng) -> [f32; 2] {
    let (u, v): (f64, f64) = (random.random(), random.random());
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - u));
    let angle = std::f64::consts::TAU * v;
    [(radius * libm::cos(angle)) as f32, (radius * libm::sin(angle)) as f32]
}

#[cfg(test)]
mod tests {
    use wdgnn_core::tasks::flocking::Motion;

    use super::*;
    const PLANE: StateLayout = StateLayout { position: 0..2, velocity: 2..4 };
    const REST: Motion = Motion { position: [1.0, 2.0], velocity: [0.0; 2] };

    fn senses(faults: &str, swarm: u64, robots: usize) -> Senses<Motion> {
        let faults = Faults { seed: 7, ..Faults::parse(faults).unwrap() };
        Senses::new(&faults, PLANE, swarm, robots)
    }

    #[test]
    fn noise_has_its_deviation_differs_between_robots_and_is_reproducible() {
        let faults = "position-noise=0.1 velocity-noise=0.2";
        let mut two = senses(faults, 0, 2);
        let sensed: Vec<Vec<Option<Motion>>> = (0..5000).map(|tick| two.sense(tick, &[REST; 2])).collect();
        let spread = |of: &dyn Fn(&Motion) -> f32| {
            let squares: f32 = sensed.iter().flatten().flatten().map(|motion| of(motion).powi(2)).sum();
            (squares / 10_000.0).sqrt()
        };
        assert!((spread(&|motion| motion.position[0] - 1.0) - 0.1).abs() < 0.003);
        assert!((spread(&|motion| motion.position[1] - 2.0) - 0.1).abs() < 0.003);
        assert!((spread(&|motion| motion.velocity[1]) - 0.2).abs() < 0.006);
        assert_ne!(sensed[0][0], sensed[0][1]);
        assert_eq!(senses(faults, 0, 2).sense(0, &[REST; 2]), sensed[0]);
        assert_ne!(senses(faults, 1, 2).sense(0, &[REST; 2]), sensed[0], "another swarm");
    }

    #[test]
    fn without_faults_robots_sense_the_truth() {
        assert_eq!(senses("", 0, 1).sense(0, &[REST]), [Some(REST)]);
    }

    #[test]
    fn a_bias_is_constant_and_has_its_deviation_over_robots() {
        let mut many = senses("position-bias=0.5", 0, 2000);
        let sensed = many.sense(0, &vec![REST; 2000]);
        assert_eq!(many.sense(1, &vec![REST; 2000]), sensed, "equal at every tick");
        let squares: f32 = sensed.iter().flatten().map(|motion| (motion.position[1] - 2.0).powi(2)).sum();
        assert!(((squares / 2000.0).sqrt() - 0.5).abs() < 0.03);
        assert!(sensed.iter().flatten().all(|motion| motion.velocity == [0.0; 2]));
    }

    #[test]
    fn a_frozen_sensor_repeats_its_value_and_a_lost_one_returns_none() {
        let moving = |tick: u32| [Motion { position: [tick as f32, 0.0], velocity: [1.0, 0.0] }];
        let said = |faults| {
            let mut one = senses(faults, 0, 1);
            (0..4)
                .map(|tick| one.sense(tick, &moving(tick))[0].map(|motion| motion.position[0]))
                .collect::<Vec<_>>()
        };
        assert_eq!(said("sensor=frozen:1@2"), [0.0, 1.0, 2.0, 2.0].map(Some));
        assert_eq!(said("sensor=lost:1@2"), [Some(0.0), Some(1.0), None, None]);
    }

    #[test]
    fn heading_errors_rotate_velocities_but_not_positions() {
        let flying = Motion { position: [1.0, 2.0], velocity: [3.0, 0.0] };
        let sensed = senses("heading-error=90:1", 0, 1).sense(0, &[flying])[0].unwrap();
        assert_eq!(sensed.position, flying.position);
        assert!(sensed.velocity[0].abs() < 1.0e-5 && (sensed.velocity[1].abs() - 3.0).abs() < 1.0e-5);
    }
}
