//! Failsafe: reaction to lost neighbors, missing sensor data and a low battery.
//!
//! All times are in ticks; the module has no clock.
//!
//! | condition | slow down | stop |
//! |---|---|---|
//! | no plausible sensor data | [`Failsafe::max_age_ticks`] | [`RobotConfig::max_state_age_ticks`](crate::config::RobotConfig::max_state_age_ticks) |
//! | low battery | [`Failsafe::battery`] | [`Failsafe::battery`] |
//! | no neighbors | [`IsolationLimits`](crate::safety::gate::IsolationLimits) | [`IsolationLimits`](crate::safety::gate::IsolationLimits) |
//!
//! While a robot slows down, it still avoids collisions and broadcasts its position. Without sensor
//! data, it extrapolates the position with its own commands. With robust trust, it then marks
//! itself as obstacle only, so neighbors neither follow it nor learn from it.

use crate::safety::gate::IsolationPhase;

/// Reaction of a robot that cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FailsafeLevel {
    /// Slow down.
    Slow,
    /// Come to rest.
    Stop,
}

impl FailsafeLevel {
    /// Phase of the task's fallback for this level.
    pub(crate) fn phase(self) -> IsolationPhase {
        match self {
            Self::Slow => IsolationPhase::Slow,
            Self::Stop => IsolationPhase::Stop,
        }
    }
}

/// Thresholds of the failsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failsafe {
    /// Age of the own state, in ticks, above which the robot slows down.
    pub max_age_ticks: u32,
    /// Charge in percent below which the robot slows down, and stops; 0 disables it.
    pub battery: [u8; 2],
}

impl Failsafe {
    /// Slow down below 20 % charge and stop below 10 %, at any age of the state.
    pub const DEFAULT: Self = Self { max_age_ticks: u32::MAX, battery: [20, 10] };

    /// FailsafeLevel for a state of this `age`, in ticks, and a battery charge, if known.
    pub fn level(&self, age: u32, battery: Option<u8>) -> Option<FailsafeLevel> {
        let [slow, stop] = self.battery;
        let low = battery.and_then(|left| match left {
            _ if left < stop => Some(FailsafeLevel::Stop),
            _ if left < slow => Some(FailsafeLevel::Slow),
            _ => None,
        });
        let unsure = (age > self.max_age_ticks).then_some(FailsafeLevel::Slow);
        low.max(unsure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_severe_condition_decides() {
        let failsafe = Failsafe { max_age_ticks: 25, battery: [20, 10] };
        assert_eq!(failsafe.level(0, None), None);
        assert_eq!(failsafe.level(25, Some(20)), None);
        assert_eq!(failsafe.level(26, Some(100)), Some(FailsafeLevel::Slow));
        assert_eq!(failsafe.level(0, Some(19)), Some(FailsafeLevel::Slow));
        assert_eq!(failsafe.level(26, Some(9)), Some(FailsafeLevel::Stop));
        assert_eq!(Failsafe { max_age_ticks: u32::MAX, battery: [0; 2] }.level(u32::MAX, Some(0)), None);
    }
}
