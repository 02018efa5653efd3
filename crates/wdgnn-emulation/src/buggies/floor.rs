//! Robots with two wheels on a floor with walls.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_drive::guidance::Arena;

/// Radius of a robot in meters, for walls.
pub const RADIUS: f64 = 0.05;

/// Chassis of a robot. The defaults are assumptions about a Maqueen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chassis {
    /// Distance between the wheels in meters.
    pub track: f64,
    /// Wheel speed at full duty in m/s.
    pub full_speed: f64,
    /// Wheel speed at the dead zone in m/s.
    pub min_speed: f64,
    /// Duty below which a wheel stands.
    pub dead_zone: f64,
    /// Time constant of the motors in seconds.
    pub lag: f64,
    /// Speed of each wheel, relative to the others' mean.
    pub gains: [f64; 2],
    /// Standard deviation of the slip of each wheel, relative to its speed.
    pub slip: f64,
}

impl Default for Chassis {
    fn default() -> Self {
        Self {
            track: 0.072,
            full_speed: 0.35,
            min_speed: 0.07,
            dead_zone: 0.2,
            lag: 0.08,
            gains: [1.0; 2],
            slip: 0.02,
        }
    }
}

impl Chassis {
    fn wheel_speed(&self, duty: f64) -> f64 {
        let share = (duty.abs() - self.dead_zone) / (1.0 - self.dead_zone);
        if duty == 0.0 || share < -0.01 {
            return 0.0;
        }
        (self.min_speed + share.max(0.0) * (self.full_speed - self.min_speed)).copysign(duty)
    }
}

/// Body of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    pub chassis: Chassis,
    /// Position in meters.
    pub position: [f64; 2],
    /// Heading in radians.
    pub heading: f64,
    /// Speeds of the left and the right wheel in m/s.
    pub wheels: [f64; 2],
    /// Slip of each wheel, which changes slowly.
    slip: [f64; 2],
}

impl Body {
    /// Resting body.
    pub fn new(chassis: Chassis, position: [f64; 2], heading: f64) -> Self {
        Self { chassis, position, heading, wheels: [0.0; 2], slip: [0.0; 2] }
    }

    /// Speed forward in m/s.
    pub fn forward(&self) -> f64 {
        0.5 * (self.wheels[0] + self.wheels[1])
    }

    /// Turn rate in rad/s.
    pub fn turn_rate(&self) -> f64 {
        (self.wheels[1] - self.wheels[0]) / self.chassis.track
    }

    /// Velocity in m/s.
    pub fn velocity(&self) -> [f64; 2] {
        let (sine, cosine) = self.heading.sin_cos();
        [self.forward() * cosine, self.forward() * sine]
    }

    /// Moves for some seconds with constant duties.
    pub fn step(&mut self, duties: [f64; 2], seconds: f64, arena: &Arena, random: &mut ChaCha8Rng) {
        let keep = (-seconds / self.chassis.lag).exp();
        let mut driven = [0.0; 2];
        for wheel in 0..2 {
            // Slip is correlated over 0.3 s.
            let forget = (seconds / 0.3).min(1.0);
            let fresh = self.chassis.slip * (2.0 * forget).sqrt() * 1.73 * random.random_range(-1.0..=1.0);
            self.slip[wheel] += fresh - forget * self.slip[wheel];
            let target = self.chassis.gains[wheel] * self.chassis.wheel_speed(duties[wheel]);
            let before = self.wheels[wheel];
            self.wheels[wheel] = target + keep * (before - target);
            driven[wheel] = 0.5 * seconds * (before + self.wheels[wheel]) * (1.0 + self.slip[wheel]);
        }
        let turn = (driven[1] - driven[0]) / self.chassis.track;
        let (sine, cosine) = (self.heading + 0.5 * turn).sin_cos();
        let ahead = 0.5 * (driven[0] + driven[1]);
        self.heading = (self.heading + turn).rem_euclid(core::f64::consts::TAU);
        for (axis, part) in [cosine, sine].into_iter().enumerate() {
            let [low, high] = [f64::from(arena.low[axis]) + RADIUS, f64::from(arena.high[axis]) - RADIUS];
            self.position[axis] = (self.position[axis] + ahead * part).clamp(low, high);
        }
    }

    /// Whether the body touches a wall.
    pub fn touches_wall(&self, arena: &Arena) -> bool {
        (0..2).any(|axis| {
            let at = self.position[axis];
            at <= f64::from(arena.low[axis]) + RADIUS || at >= f64::from(arena.high[axis]) - RADIUS
        })
    }
}
