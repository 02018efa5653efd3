//! What robots' clocks show: ahead, faster or slower than the world's, with jumps, and with ticks that are skipped.
//!
//! Clocks that are fast or slow, or jump, are set by their robots ([`super::rhythms`]); those that only differ are left so.

use std::str::FromStr;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_link::tdma::{Beat, Timing};

use super::{
    events::Moment,
    rhythms::{Kept, Making},
    voice::Voice,
};
use crate::seeds::{Purpose, generator};

/// A clock that jumps: `3@50:40`, robot 3's shows 40 ticks more at tick 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Whose, and when.
    pub moment: Moment,
    /// By how many ticks.
    pub ticks: i32,
}

impl FromStr for Jump {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(moment, ticks)| {
            Some(Self { moment: moment.parse().ok()?, ticks: ticks.parse().ok()? })
        });
        parsed.ok_or_else(|| "ROBOT@TICK:TICKS, such as 3@50:40 or 3@50:-40".into())
    }
}

/// What is wrong with clocks, besides that they differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockFaults {
    /// By how much they are fast or slow at most, in parts per million.
    pub drift: f64,
    /// Those that jump.
    pub jumps: Vec<Jump>,
    /// The share of ticks that a robot skips.
    pub skip: f64,
}

impl ClockFaults {
    /// Whether clocks go wrong in flight, so that they are set.
    fn go_wrong(&self) -> bool {
        self.drift > 0.0 || !self.jumps.is_empty()
    }
}

/// The clocks of a swarm.
#[derive(Clone, Debug)]
pub struct Clocks {
    ahead: Vec<u32>,
    faults: ClockFaults,
    random: Vec<ChaCha8Rng>,
    /// Those that are set by what robots hear.
    kept: Vec<Kept>,
}

impl Clocks {
    /// The clocks of swarm number `swarm`, each ahead by so many ticks.
    pub fn new(faults: &ClockFaults, seed: u64, swarm: u64, ahead: Vec<u32>, timing: Timing) -> Self {
        let mut random: Vec<ChaCha8Rng> = (0..ahead.len() as u64)
            .map(|robot| generator(seed, Purpose::Clocks, swarm << 32 | robot))
            .collect();
        let drift = faults.drift * 1.0e-6;
        let mut keep = |(robot, (random, first)): (usize, (&mut ChaCha8Rng, &u32))| {
            let rate = if drift > 0.0 { random.random_range(-drift..=drift) } else { 0.0 };
            Kept::new(Making { timing, robot, first: *first, rate, chance: random.random() })
        };
        let kept = if faults.go_wrong() {
            random.iter_mut().zip(&ahead).enumerate().map(&mut keep).collect()
        } else {
            Vec::new()
        };
        Self { ahead, faults: faults.clone(), random, kept }
    }

    /// What a robot's clock shows at a tick of the world's; nothing where it is not time for a tick of its own yet, or where it is
    /// too busy for this one.
    pub fn show(&mut self, tick: u32, robot: usize) -> Option<Shown> {
        let ClockFaults { skip, jumps, .. } = &self.faults;
        let busy = *skip > 0.0 && self.random[robot].random_bool(*skip);
        let shown = match self.kept.get_mut(robot) {
            None => Some(Shown { tick: tick.saturating_add(self.ahead[robot]), back: false }),
            Some(kept) => {
                let now = jumps.iter().filter(|jump| jump.moment == Moment { robot, tick });
                now.for_each(|jump| kept.jump(jump.ticks));
                kept.show(tick).map(|Beat { tick, back, .. }| Shown { tick, back })
            }
        };
        shown.filter(|_| !busy)
    }

    /// Whether robots set their clocks by what they hear.
    pub fn are_set(&self) -> bool {
        !self.kept.is_empty()
    }

    /// At the world's tick `world` a robot hears a frame: if it is a swarm member's, as `voice` knows, it tells the time.
    pub fn hear(&mut self, robot: usize, world: u32, frame: &[u8], voice: &mut dyn Voice) {
        let Some(kept) = self.kept.get_mut(robot) else { return };
        let now = kept.tick();
        let Some(who) = voice.says(now, frame).filter(|who| usize::from(who.sender) != robot) else { return };
        if kept.looks_into(who.sequence) && voice.vouches(now, frame) {
            let early = self.kept.get(usize::from(who.sender)).map_or(0, Kept::early);
            self.kept[robot].hear(&who, world, early);
        }
    }
}

/// What a clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The tick.
    pub tick: u32,
    /// The count went back: numbers of frames come again.
    pub back: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: Timing =
        Timing { period: 10_000, interval: 1, slots: 31, lead: 0, slot: 0, delay: 0, retry: 0 };

    fn shown(faults: &ClockFaults, seed: u64, ahead: u32, ticks: u32) -> Vec<Option<u32>> {
        let mut clocks = Clocks::new(faults, seed, 0, vec![ahead], TIMING);
        (0..ticks).map(|tick| clocks.show(tick, 0).map(|shown| shown.tick)).collect()
    }

    #[test]
    fn a_good_clock_shows_the_worlds_ticks_ahead_by_its_own() {
        assert_eq!(shown(&ClockFaults::default(), 0, 3, 3), [3, 4, 5].map(Some));
    }

    #[test]
    fn a_clock_jumps_when_it_is_told_to_and_whoever_hears_nobody_stays_there() {
        let shown = |jump: &str| {
            let jumps = [jump, "1@0:7"].map(|jump| jump.parse().unwrap()).to_vec();
            shown(&ClockFaults { jumps, ..ClockFaults::default() }, 0, 5, 6)
        };
        assert_eq!(shown("0@2:40"), [5, 6, 47, 48, 49, 50].map(Some));
        // A robot knows that ticks that it has had are over, and misses one while its clock is put right.
        assert_eq!(shown("0@2:-40"), [Some(5), Some(6), None, Some(7), Some(8), Some(9)]);
    }

    #[test]
    fn a_drifting_clock_never_shows_a_tick_twice_and_is_off_by_no_more_than_it_may() {
        let mut fast = 0;
        for seed in 0..20 {
            let shown = shown(&ClockFaults { drift: 10_000.0, ..ClockFaults::default() }, seed, 0, 1001);
            let ticks: Vec<u32> = shown.iter().copied().flatten().collect();
            assert!(ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
            let last = *ticks.last().unwrap();
            assert!((989..=1011).contains(&last), "{last}");
            fast += u32::from(last > 1001);
            assert_eq!(shown.contains(&None), ticks.len() < 1001);
        }
        assert!((3..17).contains(&fast), "{fast} of 20 are fast");
    }

    #[test]
    fn a_busy_robot_skips_its_share_of_ticks_and_its_clock_goes_on() {
        let shown = shown(&ClockFaults { skip: 0.3, ..ClockFaults::default() }, 0, 0, 2000);
        let skipped = shown.iter().filter(|shown| shown.is_none()).count();
        assert!((540..660).contains(&skipped), "{skipped} of 2000");
        assert!(shown.iter().zip(0..).all(|(shown, tick)| shown.is_none_or(|shown| shown == tick)));
    }

    #[test]
    fn jumps_are_read_and_said_as_they_are_typed() {
        for typed in ["3@50:40", "0@1:-7"] {
            assert_eq!(typed.parse::<Jump>().unwrap().to_string(), typed);
        }
        for bad in ["", "3@50", "3:40", "3@50:x", "x@50:1"] {
            assert!(bad.parse::<Jump>().unwrap_err().contains("3@50:40"), "{bad}");
        }
    }
}
