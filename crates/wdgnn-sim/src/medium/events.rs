//! Faults of single robots: `3@50` is robot 3 at tick 50, `3@50-80` until tick 80.

use std::str::FromStr;

/// Robot and tick of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotTick {
    /// Robot id.
    pub robot: usize,
    /// Tick before which the event happens.
    pub tick: u32,
}

/// Robot and interval of ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotInterval {
    /// Robot id.
    pub robot: usize,
    /// First tick of the interval.
    pub from: u32,
    /// First tick after the interval.
    pub to: u32,
}

impl FromStr for RobotTick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once('@')
            .and_then(|(robot, tick)| Some(Self { robot: robot.parse().ok()?, tick: tick.parse().ok()? }));
        parsed.ok_or_else(|| "ROBOT@TICK, such as 3@50".into())
    }
}

impl FromStr for RobotInterval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('@').and_then(|(robot, ticks)| {
            let (from, to) = ticks.split_once('-')?;
            Some(Self { robot: robot.parse().ok()?, from: from.parse().ok()?, to: to.parse().ok()? })
        });
        let span = parsed.filter(|span| span.from < span.to);
        span.ok_or_else(|| "ROBOT@FROM-TO, such as 3@50-80".into())
    }
}

/// Events of single robots in an episode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Robots that are removed from the world.
    pub kills: Vec<RobotTick>,
    /// Robots that are switched off and on again.
    pub reboots: Vec<RobotTick>,
    /// Robots that restart after a power failure during a write.
    pub brown_outs: Vec<RobotTick>,
    /// Radio outages: the robot neither sends nor receives.
    pub drops: Vec<RobotInterval>,
}

impl Events {
    /// Returns the robots that are removed before `tick`.
    pub fn kills_at(&self, tick: u32) -> impl Iterator<Item = usize> {
        at(&self.kills, tick)
    }

    /// Returns the robots that restart before `tick`.
    pub fn reboots_at(&self, tick: u32) -> impl Iterator<Item = usize> {
        at(&self.reboots, tick)
    }

    /// Returns the robots that lose power during a write before `tick`.
    pub fn brown_outs_at(&self, tick: u32) -> impl Iterator<Item = usize> {
        at(&self.brown_outs, tick)
    }

    /// Returns whether the radio of `robot` is out at `tick`.
    pub fn silent(&self, robot: usize, tick: u32) -> bool {
        self.drops.iter().any(|span| span.robot == robot && (span.from..span.to).contains(&tick))
    }
}

fn at(moments: &[RobotTick], tick: u32) -> impl Iterator<Item = usize> {
    moments.iter().filter(move |moment| moment.tick == tick).map(|moment| moment.robot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_intervals_are_parsed() {
        assert_eq!("3@50".parse(), Ok(RobotTick { robot: 3, tick: 50 }));
        assert_eq!("12@0-7".parse(), Ok(RobotInterval { robot: 12, from: 0, to: 7 }));
        for bad in ["", "3", "@5", "3@", "x@5", "3@-1", "3@5-9"] {
            assert!(bad.parse::<RobotTick>().is_err(), "{bad}");
        }
        for bad in ["3@5", "3@9-5", "3@5-5", "3@a-b"] {
            assert!(bad.parse::<RobotInterval>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_radio_outage_covers_its_interval() {
        let events = Events { drops: vec![RobotInterval { robot: 3, from: 5, to: 7 }], ..Events::default() };
        let silent = |tick| events.silent(3, tick);
        assert_eq!([4, 5, 6, 7].map(silent), [false, true, true, false]);
        assert!(!events.silent(2, 5));
    }
}
