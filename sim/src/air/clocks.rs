//! What robots' clocks show: ahead, faster or slower than the world's, with jumps, and with ticks that are skipped.

use std::str::FromStr;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::passage::Passage;

use super::events::Moment;
use crate::{
    passing,
    seeds::{Purpose, generator},
};

/// A clock that jumps: `3@50:40`, robot 3's shows 40 ticks more from tick 50 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Whose, and when.
    pub moment: Moment,
    /// By how many ticks.
    pub ticks: i32,
}

impl Jump {
    /// As it is typed.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}@{}:{}", self.moment.robot, self.moment.tick, self.ticks)
    }
}

impl FromStr for Jump {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(moment, ticks)| {
            Some(Self { moment: moment.parse().ok()?, ticks: ticks.parse().ok()? })
        });
        parsed.ok_or_else(|| format!("`{text}` is not ROBOT@TICK:TICKS, such as 3@50:40 or 3@50:-40"))
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

/// The clocks of a swarm.
#[derive(Clone, Debug)]
pub struct Clocks {
    ahead: Vec<u32>,
    /// How much faster than the world's, and by what part of a tick ahead at the start.
    rates: Vec<[f64; 2]>,
    faults: ClockFaults,
    random: Vec<ChaCha8Rng>,
    /// The last whole tick of each, without jumps.
    last: Vec<Option<u32>>,
}

impl Clocks {
    /// The clocks of swarm number `swarm`, each ahead by so many ticks.
    #[must_use]
    pub fn new(faults: &ClockFaults, seed: u64, swarm: u64, ahead: Vec<u32>) -> Self {
        let mut random: Vec<ChaCha8Rng> = (0..ahead.len() as u64)
            .map(|robot| generator(seed, Purpose::Clocks, swarm << 32 | robot))
            .collect();
        let drift = faults.drift * 1.0e-6;
        let mut rate = |random: &mut ChaCha8Rng| {
            if drift > 0.0 { [random.random_range(-drift..=drift), random.random()] } else { [0.0; 2] }
        };
        let rates = random.iter_mut().map(&mut rate).collect();
        let last = vec![None; ahead.len()];
        Self { ahead, rates, faults: faults.clone(), random, last }
    }

    /// Passes all of them.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        let Self { ahead: _, rates: _, faults: _, random, last } = self;
        for (random, last) in random.iter_mut().zip(last) {
            passing::random(passage, random);
            passage.option(last, 0, Passage::word);
        }
    }

    /// What a robot's clock shows at a tick of the world's; nothing where it is not time for a tick of its own yet, or where it is
    /// too busy for this one.
    pub fn show(&mut self, tick: u32, robot: usize) -> Option<u32> {
        let [rate, phase] = self.rates[robot];
        let whole = (f64::from(tick) * (1.0 + rate) + phase) as u32;
        let ClockFaults { skip, jumps, .. } = &self.faults;
        if *skip > 0.0 && self.random[robot].random_bool(*skip) {
            return None;
        }
        if self.last[robot] == Some(whole) {
            return None;
        }
        self.last[robot] = Some(whole);
        let jumps = jumps.iter().filter(|jump| jump.moment.robot == robot && jump.moment.tick <= tick);
        let shown = whole.saturating_add(self.ahead[robot]);
        Some(jumps.fold(shown, |shown, jump| shown.saturating_add_signed(jump.ticks)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(faults: &ClockFaults, seed: u64, ahead: u32, ticks: u32) -> Vec<Option<u32>> {
        let mut clocks = Clocks::new(faults, seed, 0, vec![ahead]);
        (0..ticks).map(|tick| clocks.show(tick, 0)).collect()
    }

    #[test]
    fn a_good_clock_shows_the_worlds_ticks_ahead_by_its_own() {
        assert_eq!(shown(&ClockFaults::default(), 0, 3, 3), [3, 4, 5].map(Some));
    }

    #[test]
    fn a_clock_jumps_when_it_is_told_to() {
        let jumps = ["0@1:40", "0@3:-41", "1@0:7"].map(|jump| jump.parse().unwrap()).to_vec();
        assert_eq!(
            shown(&ClockFaults { jumps, ..ClockFaults::default() }, 0, 0, 4),
            [0, 41, 42, 2].map(Some)
        );
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
            assert_eq!(typed.parse::<Jump>().unwrap().words(), typed);
        }
        for bad in ["", "3@50", "3:40", "3@50:x", "x@50:1"] {
            assert!(bad.parse::<Jump>().unwrap_err().contains("3@50:40"), "{bad}");
        }
    }
}
