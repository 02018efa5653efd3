//! Scenario of an episode: swarm size, radio range, initial speed and length.

use crate::{error::Result, option_range::OptionRange};

/// Smallest distance of two robots at the start, in meters (the paper's).
pub const CLOSEST_METRES: f32 = 0.1;

/// Swarm size. Twenty million robots take 30 GB.
///
/// Profiles have fewer addresses
/// ([`Profile::check_robots`](crate::profiles::Profile::check_robots)).
pub const ROBOTS: OptionRange = OptionRange::whole(1, 20_000_000);

/// Radio range in meters, above the smallest distance at the start.
pub const RADIUS_METRES: OptionRange = OptionRange::above(0.1, 1000.0);

/// Largest initial speed in m/s, at most the speed of sound.
pub const SPEED: OptionRange = OptionRange::real(0.0, 340.0);

/// Length of an episode in ticks on the command line: at most 10,000 s of flocking.
///
/// Other programs may run endless episodes.
pub const TICKS: OptionRange = OptionRange::whole(1, 1_000_000);

/// Scenario of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// Number of robots.
    pub robots: usize,
    /// Radio range in meters; the initial spacing of robots is proportional to it.
    pub radius: f32,
    /// Largest initial speed per axis in m/s.
    pub speed: f32,
    /// Length of the episode in ticks.
    pub ticks: u32,
}

impl Scenario {
    /// The paper's scenario: 50 robots, 2 m, 3 m/s, 2 s.
    pub const PAPER: Self = Self { robots: 50, radius: 2.0, speed: 3.0, ticks: 200 };

    /// Checks the range of each number.
    pub fn check(&self) -> Result {
        ROBOTS.check_whole("robots", self.robots as u64)?;
        RADIUS_METRES.check_real("radius", self.radius)?;
        SPEED.check_real("speed", self.speed)?;
        OptionRange::whole(1, u32::MAX.into()).check_whole("ticks", self.ticks.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_out_of_range_are_rejected() {
        let error = |scenario: Scenario| scenario.check().unwrap_err().to_string();
        assert_eq!(
            error(Scenario { robots: 0, ..Scenario::PAPER }),
            "--robots must be a whole number between 1 and 20000000, got 0"
        );
        assert_eq!(
            error(Scenario { radius: 1.0e38, ..Scenario::PAPER }),
            "--radius must be a number above 0.1 and at most 1000, got 1e38"
        );
        assert!(Scenario { robots: 20_000_001, ..Scenario::PAPER }.check().is_err());
        assert!(Scenario { robots: 1_000_000, ..Scenario::PAPER }.check().is_ok());
        for radius in [-1.0, 0.0, 0.1, f32::NAN] {
            assert!(Scenario { radius, ..Scenario::PAPER }.check().is_err(), "{radius}");
        }
        for speed in [-1.0, 1.0e30, f32::NAN] {
            assert!(Scenario { speed, ..Scenario::PAPER }.check().is_err(), "{speed}");
        }
        assert!(Scenario { ticks: 0, ..Scenario::PAPER }.check().is_err());
        assert!(Scenario { ticks: u32::MAX, ..Scenario::PAPER }.check().is_ok(), "an endless episode");
        assert!(Scenario::PAPER.check().is_ok());
    }
}
