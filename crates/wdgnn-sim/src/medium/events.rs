//! Faults of single robots: `3@50` is robot 3 at tick 50, `3@50-80` until tick 80.

use std::ops::Range;

use super::fault_value::{FaultValue, pair};

/// Robot and tick of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotTick {
    /// Robot id.
    pub robot: usize,
    /// Tick before which the event happens.
    pub tick: u32,
}

impl FaultValue for RobotTick {
    const FORM: &'static str = "ROBOT@TICK, such as 3@50";

    fn parse(text: &str) -> Option<Self> {
        pair(text, '@').map(|(robot, tick)| Self { robot, tick })
    }

    fn text(&self) -> String {
        format!("{}@{}", self.robot, self.tick)
    }

    fn robot(&self) -> Option<usize> {
        Some(self.robot)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.tick)
    }
}

/// Robot and interval of ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotInterval {
    /// Robot id.
    pub robot: usize,
    /// Ticks of the interval.
    pub ticks: Range<u32>,
}

impl FaultValue for RobotInterval {
    const FORM: &'static str = "ROBOT@FROM-TO, such as 3@50-80";

    fn parse(text: &str) -> Option<Self> {
        let (robot, ticks) = text.split_once('@')?;
        Some(Self { robot: robot.parse().ok()?, ticks: Range::parse(ticks)? })
    }

    fn text(&self) -> String {
        format!("{}@{}", self.robot, self.ticks.text())
    }

    fn robot(&self) -> Option<usize> {
        Some(self.robot)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.ticks.start)
    }
}

/// Returns the robots of the events before `tick`.
pub fn robots_at(events: &[RobotTick], tick: u32) -> impl Iterator<Item = usize> {
    events.iter().filter(move |event| event.tick == tick).map(|event| event.robot)
}

/// Returns whether an interval of `robot` contains `tick`.
pub fn covers(intervals: &[RobotInterval], robot: usize, tick: u32) -> bool {
    intervals.iter().any(|interval| interval.robot == robot && interval.ticks.contains(&tick))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_covers_its_ticks() {
        let outage = [RobotInterval { robot: 3, ticks: 5..7 }];
        assert_eq!([4, 5, 6, 7].map(|tick| covers(&outage, 3, tick)), [false, true, true, false]);
        assert!(!covers(&outage, 2, 5));
    }
}
