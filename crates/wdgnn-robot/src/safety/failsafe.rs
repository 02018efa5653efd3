//! Failsafes: when a robot no longer does what its network says, and what it does in its place. Everything in ticks, no clock.
//!
//! | what is wrong | slow down | stop |
//! |---|---|---|
//! | it has not sensed for a while, or senses what cannot be | [`Failsafe::unsure`] | [`Behavior::blind`](crate::config::Behavior::blind), nothing but a body to others |
//! | its battery is low | [`Failsafe::battery`] | [`Failsafe::battery`] |
//! | it hears nobody | [`Patience`](crate::safety::gate::Patience) | the same |
//!
//! While it slows down it keeps apart from whoever is near and tells where it is, as far as it knows from its own commands.

use crate::safety::gate::Isolation;

/// What a robot does that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Level {
    /// It slows down.
    Slow,
    /// It comes to rest.
    Stop,
}

impl Level {
    /// What the task does then.
    pub(crate) fn phase(self) -> Isolation {
        match self {
            Self::Slow => Isolation::Slow,
            Self::Stop => Isolation::Stop,
        }
    }
}

/// When a robot does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Failsafe {
    /// The age of its own state in ticks beyond which it slows down.
    pub unsure: u32,
    /// The charge, in percent, at which it slows down and at which it stops; 0 for never.
    pub battery: [u8; 2],
}

impl Failsafe {
    /// A tenth of the charge is left to come to rest; age is no matter before a robot is blind.
    pub const DEFAULT: Self = Self { unsure: u32::MAX, battery: [20, 10] };

    /// The level at this age of what was sensed, with so much of the battery left, if that is known.
    #[must_use]
    pub fn level(&self, age: u32, battery: Option<u8>) -> Option<Level> {
        let [slow, stop] = self.battery;
        let low = battery.and_then(|left| match left {
            _ if left < stop => Some(Level::Stop),
            _ if left < slow => Some(Level::Slow),
            _ => None,
        });
        let unsure = (age > self.unsure).then_some(Level::Slow);
        low.max(unsure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_what_is_wrong_decides() {
        let failsafe = Failsafe { unsure: 25, battery: [20, 10] };
        assert_eq!(failsafe.level(0, None), None);
        assert_eq!(failsafe.level(25, Some(20)), None);
        assert_eq!(failsafe.level(26, Some(100)), Some(Level::Slow));
        assert_eq!(failsafe.level(0, Some(19)), Some(Level::Slow));
        assert_eq!(failsafe.level(26, Some(9)), Some(Level::Stop));
        assert_eq!(Failsafe { unsure: u32::MAX, battery: [0; 2] }.level(u32::MAX, Some(0)), None);
    }
}
