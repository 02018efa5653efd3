//! Robot clocks synchronized by received frames, as on boards.
//!
//! Runs [`wdgnn_link::tdma`] on a timer that drifts or jumps. The world advances in whole ticks. A
//! robot's tick falls into the world's tick in which the robot's clock says so, and the exact time
//! is kept in microseconds. A frame arrives earlier in the world's tick by the time by which the
//! sender's own tick began before it. Robots send in order of addresses and have listened before
//! the episode, so that no TDMA slots are needed.

use wdgnn_core::task::NodeId;
use wdgnn_link::{
    header::FrameId,
    security::replay::{MAX_FRAME_AGE_TICKS, MAX_FRAME_LEAD_TICKS},
    tdma::{MAX_SLOTS, SlotClock, SlotInfo, SlotTiming, TickStart},
};
use wdgnn_robot::control_loop::MAX_LATE_AUTHENTICATIONS;

/// Largest number of other robots that a clock follows, as on boards.
const MAX_PEERS: usize = 32;
/// Timer value at the start in microseconds, large enough for backward jumps.
const START_US: u64 = 1 << 40;

/// One robot's timer and the synchronized clock on it.
#[derive(Clone, Debug)]
pub struct RobotClock {
    rhythm: SlotClock<MAX_PEERS>,
    period: u32,
    /// Rate error of the timer relative to true time.
    rate: f64,
    /// Sum of the timer's jumps in microseconds.
    offset_us: i64,
    /// Current tick.
    tick: u32,
    /// Timer value at which the current tick began.
    began: u64,
    /// Time from the start of the current tick to the world's tick, in microseconds.
    lead_us: u32,
    /// Next tick, if it is already scheduled.
    next: Option<TickStart>,
    /// Number of frames outside the time window that were authenticated in this tick.
    authenticated: u32,
}

/// Parameters of a robot's clock.
#[derive(Clone, Copy, Debug)]
pub struct RobotClockConfig {
    /// Lengths of ticks and exchanges.
    pub timing: SlotTiming,
    /// Robot id.
    pub robot: usize,
    /// First tick.
    pub first: u32,
    /// Rate error of the timer relative to true time.
    pub rate: f64,
    /// Random seed.
    pub seed: u32,
}

/// Returns tick and exchange lengths without TDMA slots.
pub fn timing(period: f32, interval: u32) -> SlotTiming {
    let (period, interval) = ((f64::from(period) * 1.0e6).round() as u32, interval.max(1));
    let slots = (u32::from(MAX_SLOTS) / interval).max(1);
    SlotTiming { period, interval, slots, lead: 0, slot: 0, delay: 0, retry: 0 }
}

impl RobotClock {
    /// Creates a robot's clock at the start of an episode.
    pub fn new(config: RobotClockConfig) -> Self {
        let RobotClockConfig { timing, robot, first, rate, seed } = config;
        let rhythm = SlotClock::new(timing, robot as NodeId, START_US, seed).with_first_tick(first);
        let next =
            Some(TickStart { tick: first, begins_us: START_US, slot_begins_us: None, went_back: false });
        let period = timing.period;
        Self {
            rhythm,
            period,
            rate,
            offset_us: 0,
            tick: first,
            began: START_US,
            lead_us: 0,
            next,
            authenticated: 0,
        }
    }

    /// Returns the time from the start of the current tick to the world's tick, in microseconds.
    pub fn lead_us(&self) -> u32 {
        self.lead_us
    }

    /// Returns the timer's value at a time of the world, both in microseconds.
    fn timer_at(&self, time: u64) -> u64 {
        let passed = (time as f64 * (1.0 + self.rate)) as i64;
        START_US.saturating_add_signed(passed.saturating_add(self.offset_us))
    }

    /// Makes the timer jump by `ticks`.
    pub fn jump(&mut self, ticks: i32) {
        let by = i64::from(ticks) * i64::from(self.period);
        self.offset_us = self.offset_us.saturating_add(by);
        self.began = self.began.saturating_add_signed(by);
        // A scheduled tick moves with the timer.
        if let Some(next) = &mut self.next {
            next.begins_us = next.begins_us.saturating_add_signed(by);
        }
    }

    /// Returns the robot's tick that has begun by the world's tick `world`, if any.
    pub fn begin_tick(&mut self, world: u32) -> Option<TickStart> {
        let period = u64::from(self.period);
        let now = self.timer_at(u64::from(world) * period);
        let mut beat = self.next.take().unwrap_or_else(|| self.rhythm.next_tick(self.began + period / 2));
        if beat.begins_us + period <= now {
            // The scheduled tick has already passed.
            let later = self.rhythm.next_tick(now - period);
            beat = TickStart { went_back: beat.went_back | later.went_back, ..later };
        }
        if beat.begins_us > now {
            self.next = Some(beat);
            return None;
        }
        (self.tick, self.began, self.authenticated) = (beat.tick, beat.begins_us, 0);
        self.lead_us = (now - beat.begins_us) as u32;
        Some(beat)
    }

    /// Returns whether a frame of tick `said` is authenticated.
    ///
    /// The number of frames outside the time window is limited per tick.
    pub fn admits(&mut self, said: u32) -> bool {
        let own = self.tick;
        let timely = said.saturating_add(MAX_FRAME_AGE_TICKS) >= own
            && said <= own.saturating_add(MAX_FRAME_LEAD_TICKS);
        self.authenticated += u32::from(!timely);
        timely || self.authenticated <= MAX_LATE_AUTHENTICATIONS
    }

    /// Returns the current tick.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Records a member's frame.
    ///
    /// It arrived `lead_us` microseconds before the world's tick `world`.
    pub fn receive(&mut self, sender: &FrameId, world: u32, lead_us: u32) {
        let time = u64::from(world) * u64::from(self.period);
        let arrived = self.timer_at(time.saturating_sub(lead_us.into()));
        self.rhythm.record_frame(sender, SlotInfo::default(), arrived);
    }
}
