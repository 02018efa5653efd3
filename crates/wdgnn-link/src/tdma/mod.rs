//! TDMA without a master: clock synchronization and slot allocation.
//!
//! All ticks of a swarm begin together, and every robot sends in its own slot. A frame states its
//! sender's tick (by its sequence number) and slot (by its [`SlotInfo`]). Its arrival time therefore
//! tells when that tick began for the sender. Only authenticated frames may be passed to this
//! module.
//!
//! **Clock.** A robot compares each sender's clock with its own. A clock is *ahead* if its current
//! tick has a higher number, and *behind* if it has a lower one:
//!
//! 1. *Near* (within [`SlotClock::NEAR_US`]): once per exchange, the clock moves half of the way to the
//!    mean of all near clocks, including its own, by at most 0.1 %. Crystals differ by 0.01 %. A
//!    malicious robot can change the rate of the swarm's clock by at most 0.1 %. The median would
//!    tolerate a malicious minority, but it lets two groups drift apart that only one robot
//!    connects.
//! 2. *Ahead*, reported by more senders than are near: the robot adopts that time at once. A robot
//!    without near senders always adopts it.
//! 3. *Ahead*, reported by fewer senders: the robot adopts that time after ten exchanges of
//!    continuous reports, in steps of at most one minute. The next such step must wait for as long
//!    as the last one skipped. Two swarms that meet therefore merge, even through a single robot. A
//!    malicious robot can at most double the speed of the swarm's time, always forward and equally
//!    for all robots.
//! 4. *Behind*: the robot waits, because the senders will follow. A robot that hears no near sender
//!    for ten exchanges, but senders behind, is probably not received itself. It sets its clock
//!    back. Its sequence numbers then restart, so it needs a new boot count ([`TickStart::went_back`]).
//! 5. A robot that starts listens for at least three exchanges before it sends. It adopts any time
//!    that it hears; of several times behind, the latest. It also adopts a time behind that at
//!    least two more senders report than are near. Its clock starts later than every frame that
//!    it has ever sent ([`SlotClock::with_first_tick`]), so recorded frames are always older.
//! 6. While a sender's boot count stays, its clock only goes forward, at 99.9 % of true time or
//!    faster. A frame that states an earlier time was delayed, for example by an attacker who
//!    jammed it and replayed it later. It does not change the clock.
//! 7. After any clock change, the next tick begins within two periods. If the clock was set back
//!    too far, the robot corrects it with the number of its last tick.
//! 8. Frames from the last day of the tick range are ignored, because the tick count must not reach
//!    its end.
//!
//! Time goes forward except in rules 4 and 5, so two swarms never chase each other.
//!
//! **Slots.** A robot claims a slot in which it heard no frame. Two robots that claim one slot at
//! the same time hear neither each other nor the collision. Other robots report it: they receive a
//! broken frame there twice and state that in their [`SlotInfo`]. The two robots can also hear each
//! other, because every robot skips its own slot now and then to listen. Each of them then moves to
//! another free slot with probability ½. Slots of robots out of range stay reserved for a while: a
//! robot in between may hear both users. A tick may have one more slot, for the poses of a tracking
//! system, which robots do not claim.

mod clock;
mod slots;
mod timing;

use heapless::Vec;

use crate::header::FrameId;
use wdgnn_core::task::NodeId;

pub use timing::{MAX_SLOTS, SlotInfo, SlotTiming};

/// Start of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickStart {
    /// Number of the tick.
    pub tick: u32,
    /// Start on the robot's own clock, in microseconds.
    pub begins_us: u64,
    /// Start of the robot's slot, if it sends in this tick.
    pub slot_begins_us: Option<u64>,
    /// Whether the tick count went back after the robot had sent frames.
    ///
    /// The next frame then needs a new boot count.
    pub went_back: bool,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    sender: NodeId,
    boot: u32,
    /// Delay of the sender's ticks relative to the robot's own, in microseconds.
    later: i64,
    /// Largest delay that clock drift explains; a frame with more was held back.
    latest: i64,
    /// Slot within the exchange.
    slot: u8,
    heard: u64,
}

/// Clock and slot of one robot, with storage for `N` other senders.
#[derive(Clone, Debug)]
pub struct SlotClock<const N: usize> {
    timing: SlotTiming,
    id: NodeId,
    /// Start of tick 0 on the robot's own clock.
    epoch: i64,
    last: Option<u32>,
    /// Start of the last tick.
    begun: u64,
    listens: u64,
    others: Vec<Other, N>,
    slot: Option<u8>,
    claimed: u64,
    obeyed: u64,
    contested: Option<(u8, u64)>,
    broken: [(u8, u64); MAX_SLOTS as usize],
    ahead_since: Option<u64>,
    /// Earliest time of the next step to a clock ahead that few senders report.
    follows: u64,
    behind_since: Option<u64>,
    /// Whether robots behind do not follow; they may not receive this robot.
    unfollowed: bool,
    unheard_since: Option<u64>,
    back: bool,
    chance: u32,
}

/// Minimum number of exchanges in which a starting robot listens.
const LISTEN: i64 = 3;
/// Exchanges of continuous reports before a robot follows few senders or goes back.
const PATIENCE: i64 = 10;
/// Exchanges after which a silent sender's clock no longer counts.
const FRESH: i64 = 4;
/// Exchanges after which a silent sender's slot is free.
///
/// The sender may be out of range only, and other robots may still hear it.
const REMEMBERED: i64 = 100;
/// Largest step to a clock ahead that few senders report: one minute.
const FURTHEST_US: i64 = 60_000_000;
/// Last tick that is accepted in a frame: one day before ticks end.
const LAST_TICK: u32 = u32::MAX - 8_640_000;
/// Inverse of the largest slew of the clock, 0.1 %.
const SLEW: i64 = 1_000;
/// Inverse of the largest relative rate of two slewed clocks on different crystals.
const APART: i64 = 400;

impl<const N: usize> SlotClock<N> {
    /// Largest difference of near clocks, in microseconds.
    ///
    /// It is twice the guard time between slots.
    pub const NEAR_US: i64 = 1_000;

    /// Starts the clock at `now`.
    ///
    /// `chance` is a random seed that differs per robot and per start.
    pub fn new(timing: SlotTiming, id: NodeId, now: u64, chance: u32) -> Self {
        let mut clock = Self {
            timing,
            id,
            epoch: now.cast_signed(),
            last: None,
            begun: now,
            listens: 0,
            others: Vec::new(),
            slot: None,
            claimed: now,
            obeyed: now,
            contested: None,
            broken: [(0, 0); MAX_SLOTS as usize],
            ahead_since: None,
            follows: now,
            behind_since: None,
            unfollowed: false,
            unheard_since: None,
            back: false,
            chance: chance ^ u32::from(id).wrapping_mul(0x9e37_79b9) | 1,
        };
        // Robots that start together must not all stop listening together.
        let some = u64::from(clock.random_below(1_000)) * timing.interval_us() as u64 / 1_000;
        clock.listens = now + LISTEN as u64 * timing.interval_us() as u64 + some;
        clock
    }

    /// Sets the clock to tick `first`, later than every frame the robot has sent.
    #[must_use]
    pub fn with_first_tick(mut self, first: u32) -> Self {
        self.epoch = self.epoch.wrapping_sub(i64::from(first.min(LAST_TICK)) * i64::from(self.timing.period));
        self
    }

    /// Never claims a slot: the clock of a tracking system.
    #[must_use]
    pub fn without_slot(mut self) -> Self {
        self.listens = u64::MAX;
        self
    }

    /// Random number below `below` (xorshift).
    fn random_below(&mut self, below: u32) -> u32 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 17;
        self.chance ^= self.chance << 5;
        ((u64::from(self.chance) * u64::from(below)) >> 32) as u32
    }

    fn begins(&self, tick: u32) -> i64 {
        self.epoch.wrapping_add(i64::from(tick) * i64::from(self.timing.period))
    }

    fn lasting(&self, count: i64) -> u64 {
        (count * self.timing.interval_us()) as u64
    }

    /// Processes an authenticated frame whose sequence number is its tick.
    ///
    /// `arrived` is the arrival time of the first symbol on the robot's own clock, in microseconds.
    pub fn record_frame(&mut self, who: &FrameId, note: SlotInfo, arrived: u64) {
        let FrameId { sender, boot, sequence: tick } = *who;
        if tick > LAST_TICK {
            return;
        }
        let SlotTiming { lead, slot, delay, retry, interval, slots, .. } = self.timing;
        let into = lead + delay + slot * u32::from(note.slot()) + retry * u32::from(note.retries());
        let later = arrived.cast_signed().wrapping_sub(i64::from(into)).wrapping_sub(self.begins(tick));
        // A slot behind those of the robots is the tracking system's.
        let is_message = u32::from(note.slot()) < slots;
        let slot = if is_message { ((tick % interval.max(1)) * slots) as u8 + note.slot() } else { u8::MAX };
        let mut other = Other { sender, boot, later, latest: later, slot, heard: arrived };
        if let Some(known) = self.others.iter_mut().find(|known| known.sender == sender) {
            if known.boot == boot {
                let passed = arrived.saturating_sub(known.heard).cast_signed();
                let latest = known.latest.saturating_add(passed / APART);
                if later > latest.saturating_add(Self::NEAR_US) {
                    return;
                }
                other.latest = latest.min(later);
            }
            *known = other;
        } else if self.others.push(other).is_err()
            && let Some(oldest) = self.others.iter_mut().min_by_key(|other| other.heard)
        {
            *oldest = other;
        }
        if later.abs() <= Self::NEAR_US && self.slot.is_some() {
            if self.slot == Some(slot) {
                self.give_way(arrived);
            } else if note.contested() == self.slot
                && arrived.saturating_sub(self.obeyed) > self.lasting(2)
                && arrived.saturating_sub(self.claimed) > self.lasting(1)
            {
                self.obeyed = arrived;
                self.give_way(arrived);
            }
        }
    }

    /// Returns the first tick that begins after `now`.
    pub fn next_tick(&mut self, now: u64) -> TickStart {
        let interval = self.timing.interval.max(1);
        let exchange_begins = self.last.is_some_and(|last| last.wrapping_add(1).is_multiple_of(interval));
        self.keep_time(now, exchange_begins);
        let passed =
            now.cast_signed().wrapping_sub(self.epoch).div_euclid(i64::from(self.timing.period.max(1)));
        let mut tick = passed.saturating_add(1).clamp(0, i64::from(u32::MAX)) as u32;
        if let Some(last) = self.last {
            tick = tick.max(last.saturating_add(1));
        }
        // After a clock step, a tick could begin too soon after the last one. It is skipped.
        if self.begins(tick) < (self.begun + u64::from(self.timing.period / 2)).cast_signed() {
            tick = tick.saturating_add(1);
        }
        self.last = Some(tick);
        // A clock that was set back would delay the next tick. The last tick is known to be over.
        let latest = now.saturating_add(2 * u64::from(self.timing.period)).cast_signed();
        if tick < u32::MAX && self.begins(tick) > latest {
            let soon = now.saturating_add(self.timing.period.into()).cast_signed();
            self.shift(soon.wrapping_sub(self.begins(tick)));
        }
        // The last tick number repeats once per period.
        let soonest = if tick == u32::MAX { now + u64::from(self.timing.period) } else { 0 };
        let begins = (self.begins(tick).max(0) as u64).max(soonest);
        self.begun = begins;
        if self.slot.is_none() && begins >= self.listens {
            self.claim(now);
        }
        let slot_begins_us = self.slot_start(tick, begins);
        TickStart { tick, begins_us: begins, slot_begins_us, went_back: core::mem::take(&mut self.back) }
    }

    /// Number of senders whose clocks are near this robot's.
    pub fn near_senders(&self, now: u64) -> usize {
        self.near(now).count()
    }
}
