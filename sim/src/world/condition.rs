//! The circumstances of a flight.

use crate::error::{Error, Result};

/// The smallest distance between two robots at the start, in metres (the paper's).
pub const CLOSEST_METRES: f32 = 0.1;

/// The most robots of a swarm: they take 30 GB. On the air there are fewer addresses
/// ([`Profile::check_robots`](crate::profiles::Profile::check_robots)).
pub const MOST_ROBOTS: usize = 20_000_000;

/// The largest starting speed in m/s: that of sound.
const FASTEST: f32 = 340.0;

/// The circumstances of a flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// How many robots.
    pub robots: usize,
    /// Radio range in metres; the robots' spacing at the start goes with it.
    pub radius: f32,
    /// Largest starting speed per axis in m/s.
    pub speed: f32,
    /// Length of the flight in ticks.
    pub ticks: u32,
}

impl Condition {
    /// The paper's: 50 robots, 2 m, 3 m/s, 2 s.
    pub const PAPER: Self = Self { robots: 50, radius: 2.0, speed: 3.0, ticks: 200 };

    /// Checks what a user asked for.
    pub fn check(&self) -> Result {
        if self.robots == 0 || self.robots > MOST_ROBOTS {
            return Err(Error::usage(format!(
                "--robots {} cannot be: give between 1 and {MOST_ROBOTS}",
                self.robots
            )));
        }
        if !(self.radius.is_finite() && self.radius > CLOSEST_METRES) {
            return Err(Error::usage(format!(
                "--radius {} cannot be: give more than {CLOSEST_METRES}, the smallest distance at the start, in metres",
                self.radius
            )));
        }
        if !(0.0..=FASTEST).contains(&self.speed) {
            return Err(Error::usage(format!(
                "--speed {} cannot be: give between 0 and {FASTEST}, in m/s",
                self.speed
            )));
        }
        if self.ticks == 0 {
            return Err(Error::usage("--ticks 0 leaves nothing to fly: give at least 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_conditions_are_told() {
        let robots = Condition { robots: 0, ..Condition::PAPER };
        assert!(robots.check().unwrap_err().to_string().contains("--robots 0"));
        let many = Condition { robots: MOST_ROBOTS + 1, ..Condition::PAPER };
        assert!(many.check().unwrap_err().to_string().contains("20000000"));
        assert!(Condition { robots: 1_000_000, ..Condition::PAPER }.check().is_ok());
        for radius in [-1.0, 0.0, 0.1, f32::NAN] {
            assert!(Condition { radius, ..Condition::PAPER }.check().is_err(), "{radius}");
        }
        for speed in [-1.0, 1.0e30, f32::NAN] {
            assert!(Condition { speed, ..Condition::PAPER }.check().is_err(), "{speed}");
        }
        assert!(Condition { ticks: 0, ..Condition::PAPER }.check().is_err());
        assert!(Condition::PAPER.check().is_ok());
    }
}
