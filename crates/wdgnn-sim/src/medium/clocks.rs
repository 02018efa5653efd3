//! Clocks of a swarm: offsets, drift, jumps and missed ticks.
//!
//! Robots synchronize clocks that drift or jump ([`super::robot_clock`]). Clocks with a constant
//! offset only are not synchronized.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_link::tdma::{SlotTiming, TickStart};

use super::{
    adversary::Adversary,
    events::RobotTick,
    fault_value::FaultValue,
    options::Faults,
    robot_clock::{RobotClock, RobotClockConfig},
};
use crate::seeds::{Purpose, generator};

/// Clock jump, written `3@50:40`: at tick 50, robot 3's clock advances by 40 ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Robot and tick of the jump.
    pub moment: RobotTick,
    /// Size of the jump in ticks.
    pub ticks: i32,
}

impl FaultValue for Jump {
    const FORM: &'static str = "ROBOT@TICK:TICKS, such as 3@50:40 or 3@50:-40";

    fn parse(text: &str) -> Option<Self> {
        let (moment, ticks) = text.split_once(':')?;
        Some(Self { moment: RobotTick::parse(moment)?, ticks: ticks.parse().ok()? })
    }

    fn text(&self) -> String {
        format!("{}:{}", self.moment.text(), self.ticks)
    }

    fn robot(&self) -> Option<usize> {
        Some(self.moment.robot)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.moment.tick)
    }
}

/// Clocks of a swarm.
#[derive(Clone, Debug)]
pub struct Clocks {
    ahead: Vec<u32>,
    jumps: Vec<Jump>,
    /// Share of ticks that each robot misses.
    missed: f64,
    random: Vec<ChaCha8Rng>,
    /// Synchronized clocks; empty if clocks differ by constant offsets only.
    synchronized: Vec<RobotClock>,
}

impl Clocks {
    /// Creates the clocks of swarm number `swarm`, each `ahead` ticks ahead of the world.
    pub fn new(faults: &Faults, swarm: u64, ahead: Vec<u32>, timing: SlotTiming) -> Self {
        let mut random: Vec<ChaCha8Rng> = (0..ahead.len() as u64)
            .map(|robot| generator(faults.seed, Purpose::Clocks, swarm << 32 | robot))
            .collect();
        let drift = faults.drift * 1.0e-6;
        let mut clock_of = |(robot, (random, first)): (usize, (&mut ChaCha8Rng, &u32))| {
            let rate = if drift > 0.0 { random.random_range(-drift..=drift) } else { 0.0 };
            RobotClock::new(RobotClockConfig { timing, robot, first: *first, rate, seed: random.random() })
        };
        // Clocks that deviate over time need synchronization.
        let synchronized = if drift > 0.0 || !faults.time_jump.is_empty() {
            random.iter_mut().zip(&ahead).enumerate().map(&mut clock_of).collect()
        } else {
            Vec::new()
        };
        Self { ahead, jumps: faults.time_jump.clone(), missed: faults.missed_ticks, random, synchronized }
    }

    /// Returns the reading of a robot's clock at the world's tick `tick`.
    ///
    /// Returns `None` if the robot's next tick has not begun or the robot misses this tick.
    pub fn read(&mut self, tick: u32, robot: usize) -> Option<ClockReading> {
        let busy = self.missed > 0.0 && self.random[robot].random_bool(self.missed);
        let reading = match self.synchronized.get_mut(robot) {
            None => Some(ClockReading { tick: tick.saturating_add(self.ahead[robot]), went_back: false }),
            Some(clock) => {
                let now = self.jumps.iter().filter(|jump| jump.moment == RobotTick { robot, tick });
                now.for_each(|jump| clock.jump(jump.ticks));
                clock
                    .begin_tick(tick)
                    .map(|TickStart { tick, went_back, .. }| ClockReading { tick, went_back })
            }
        };
        reading.filter(|_| !busy)
    }

    /// Returns whether robots synchronize their clocks by received frames.
    pub fn are_synchronized(&self) -> bool {
        !self.synchronized.is_empty()
    }

    /// Synchronizes a robot's clock by a frame received at the world's tick `world`.
    ///
    /// Frames that `adversary` cannot authenticate with the group key are ignored.
    pub fn synchronize(&mut self, robot: usize, world: u32, frame: &[u8], adversary: &mut dyn Adversary) {
        let Some(clock) = self.synchronized.get_mut(robot) else { return };
        let now = clock.tick();
        let Some(sender) =
            adversary.claimed_identity(now, frame).filter(|sender| usize::from(sender.sender) != robot)
        else {
            return;
        };
        if clock.admits(sender.sequence) && adversary.is_authentic(now, frame) {
            let lead_us = self.synchronized.get(usize::from(sender.sender)).map_or(0, RobotClock::lead_us);
            self.synchronized[robot].receive(&sender, world, lead_us);
        }
    }
}

/// Reading of a robot's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Tick number.
    pub tick: u32,
    /// Whether the clock went back, so that sequence numbers would repeat.
    pub went_back: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: SlotTiming =
        SlotTiming { period: 10_000, interval: 1, slots: 31, lead: 0, slot: 0, delay: 0, retry: 0 };

    fn shown(faults: &str, seed: u64, ahead: u32, ticks: u32) -> Vec<Option<u32>> {
        let faults = Faults { seed, ..Faults::parse(faults).unwrap() };
        let mut clocks = Clocks::new(&faults, 0, vec![ahead], TIMING);
        (0..ticks).map(|tick| clocks.read(tick, 0).map(|shown| shown.tick)).collect()
    }

    #[test]
    fn a_clock_without_faults_has_a_constant_offset() {
        assert_eq!(shown("", 0, 3, 3), [3, 4, 5].map(Some));
    }

    #[test]
    fn a_clock_keeps_its_jump_without_received_frames() {
        let shown = |jump: &str| shown(&format!("time-jump={jump},1@0:7"), 0, 5, 6);
        assert_eq!(shown("0@2:40"), [5, 6, 47, 48, 49, 50].map(Some));
        // A robot never repeats a tick, and misses one while its clock is corrected.
        assert_eq!(shown("0@2:-40"), [Some(5), Some(6), None, Some(7), Some(8), Some(9)]);
    }

    #[test]
    fn drifting_clocks_never_repeat_a_tick_and_stay_within_bounds() {
        let mut fast = 0;
        for seed in 0..20 {
            let shown = shown("drift=10000", seed, 0, 1001);
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
    fn a_robot_misses_its_share_of_ticks_while_its_clock_runs() {
        let shown = shown("missed-ticks=0.3", 0, 0, 2000);
        let skipped = shown.iter().filter(|shown| shown.is_none()).count();
        assert!((540..660).contains(&skipped), "{skipped} of 2000");
        assert!(shown.iter().zip(0..).all(|(shown, tick)| shown.is_none_or(|shown| shown == tick)));
    }
}
