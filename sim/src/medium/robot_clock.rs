//! Clocks that robots set by what they hear of each other, as boards do: [`wdgnn_link::tdma`] over a timer that is fast, slow, or jumps.
//!
//! The world goes on by whole ticks, and a robot has its own in the one in which its clock says so. When exactly is kept in
//! microseconds: a frame arrives as much earlier in the world's tick as its sender's own tick began before it. Robots take turns by
//! address here and have listened to each other before the flight, so that nothing is left of slots.

use wdgnn_core::task::NodeId;
use wdgnn_link::{
    header::Identity,
    security::replay::{GUARD_TICKS, LATE_TICKS},
    tdma::{Beat, MOST_SLOTS, Note, Rhythm, Timing},
};
use wdgnn_robot::control_loop::MOST_VOUCHED;

/// The others that a robot keeps time with, as on boards.
const OTHERS: usize = 32;
/// What timers show at the start, in microseconds: they can be put back from there.
const START: u64 = 1 << 40;

/// One robot's timer, and the clock that it keeps by it.
#[derive(Clone, Debug)]
pub struct RobotClock {
    rhythm: Rhythm<OTHERS>,
    period: u32,
    /// How much faster its timer is than true time.
    rate: f64,
    /// By how much it has jumped, in microseconds.
    off: i64,
    /// The tick that it has had last.
    tick: u32,
    /// When that began, by its timer;
    begun: u64,
    /// and by how much before the world's tick, in microseconds.
    early: u32,
    /// The tick that it waits for, where it is known.
    next: Option<Beat>,
    /// Untimely frames that it has looked into since.
    vouched: u32,
}

/// What the clock of a robot is made of.
#[derive(Clone, Copy, Debug)]
pub struct RobotClockConfig {
    /// When ticks and exchanges are.
    pub timing: Timing,
    /// Whose it is.
    pub robot: usize,
    /// The tick that it begins with.
    pub first: u32,
    /// How much faster its timer is than true time.
    pub rate: f64,
    /// Any number.
    pub chance: u32,
}

/// When ticks and exchanges are, where nobody keeps slots.
pub fn timing(period: f32, interval: u32) -> Timing {
    let (period, interval) = ((f64::from(period) * 1.0e6).round() as u32, interval.max(1));
    let slots = (u32::from(MOST_SLOTS) / interval).max(1);
    Timing { period, interval, slots, lead: 0, slot: 0, delay: 0, retry: 0 }
}

impl RobotClock {
    /// A robot's clock at the beginning of a flight.
    pub fn new(making: RobotClockConfig) -> Self {
        let RobotClockConfig { timing, robot, first, rate, chance } = making;
        let rhythm = Rhythm::new(timing, robot as NodeId, START, chance).from_tick(first);
        let next = Some(Beat { tick: first, begins: START, speaks: None, back: false });
        let period = timing.period;
        Self { rhythm, period, rate, off: 0, tick: first, begun: START, early: 0, next, vouched: 0 }
    }

    /// Returns by how many microseconds the last tick began before the world's tick.
    pub fn early(&self) -> u32 {
        self.early
    }

    /// What its timer shows at a time of the world's, both in microseconds.
    fn shows(&self, time: u64) -> u64 {
        let passed = (time as f64 * (1.0 + self.rate)) as i64;
        START.saturating_add_signed(passed.saturating_add(self.off))
    }

    /// The timer jumps by so many ticks.
    pub fn jump(&mut self, ticks: i32) {
        let by = i64::from(ticks) * i64::from(self.period);
        self.off = self.off.saturating_add(by);
        self.begun = self.begun.saturating_add_signed(by);
        // A tick that was about to begin does so.
        if let Some(next) = &mut self.next {
            next.begins = next.begins.saturating_add_signed(by);
        }
    }

    /// The tick that has begun by the world's tick with this number, if one has.
    pub fn show(&mut self, world: u32) -> Option<Beat> {
        let period = u64::from(self.period);
        let now = self.shows(u64::from(world) * period);
        let mut beat = self.next.take().unwrap_or_else(|| self.rhythm.next(self.begun + period / 2));
        if beat.begins + period <= now {
            // There was no time for it.
            let later = self.rhythm.next(now - period);
            beat = Beat { back: beat.back | later.back, ..later };
        }
        if beat.begins > now {
            self.next = Some(beat);
            return None;
        }
        (self.tick, self.begun, self.vouched) = (beat.tick, beat.begins, 0);
        self.early = (now - beat.begins) as u32;
        Some(beat)
    }

    /// Whether a frame of this tick is looked into. Of untimely ones, few are.
    pub fn looks_into(&mut self, said: u32) -> bool {
        let own = self.tick;
        let timely = said.saturating_add(LATE_TICKS) >= own && said <= own.saturating_add(GUARD_TICKS);
        self.vouched += u32::from(!timely);
        timely || self.vouched <= MOST_VOUCHED
    }

    /// The tick that it is in.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// A frame of a swarm member has arrived at the world's tick with this number, `early` microseconds before it.
    pub fn hear(&mut self, who: &Identity, world: u32, early: u32) {
        let time = u64::from(world) * u64::from(self.period);
        let arrived = self.shows(time.saturating_sub(early.into()));
        self.rhythm.heard(who, Note::default(), arrived);
    }
}
