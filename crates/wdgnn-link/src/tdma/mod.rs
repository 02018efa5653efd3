//! The swarm's clock and its slots, kept by what robots hear of each other: no master, no companion's time.
//!
//! Ticks begin together and every robot speaks in a slot of its own. A frame tells its sender's tick (by its sequence) and slot
//! (by its [`Note`]), so that the time at which it arrives tells when that tick began for the sender. Only frames whose seal
//! could be opened may be told here.
//!
//! **The clock.** Each sender's time is held against one's own:
//!
//! 1. *Near* (within [`Rhythm::NEAR`]): once per exchange the clock moves half way to the mean of all near clocks, itself
//!    included, by 0.1 % at most. Crystals differ by 0.01 %; a liar makes the whole swarm's clock go wrong by 0.1 % at most. (The
//!    median, which a minority of liars cannot move at all, lets two groups drift apart that a single robot joins.)
//! 2. *Ahead*, told by more senders than are near: that time is taken over at once. A robot alone with its time always yields.
//! 3. *Ahead*, told by fewer: it is taken over after ten exchanges in which it was always there, by a minute at most, and not before as
//!    much time has passed as was skipped the last time. So two swarms that meet become one, by a single bridge even; and a liar makes
//!    the swarm's time go twice as fast at most, always forward, and everybody's with it.
//! 4. *Behind*: they will come. But who has nobody near for ten exchanges and hears somebody behind is not heard itself: it goes back
//!    ([`Beat::back`]: its frames' numbers begin anew, so it needs a new boot count).
//! 5. Who has just started listens for three exchanges before it speaks, and takes any time it hears, the latest of those that are
//!    behind, and one that is told by at least two more. It begins where nobody has spoken yet ([`Rhythm::from_tick`]), so that what is later is not a recording.
//! 6. A sender's clock goes forward as well, and on by 0.1 % less than true time at least, as long as its boot count stays: a frame that
//!    tells less was held back on its way, by a stranger who drowned it out and played it later, and tells no time.
//! 7. Whatever happens to the clock, a tick follows on the last after two periods at most: a clock that was put back is put right by what
//!    its robot remembers.
//! 8. Nobody is believed to be in the last day of all ticks: a time that ends is worse than none.
//!
//! Time goes forward except in 4 and 5, which is why two swarms never chase each other.
//!
//! **Slots.** A robot claims a slot in which it heard nobody. Two that claimed the same one at once hear neither the other nor
//! themselves; they are told by others, who hear a broken frame there twice and say so in their [`Note`], and by their own ears,
//! because everybody is silent in its own slot now and then. Then each moves to another free slot, or stays, by the toss of a coin.
//! Slots of those who went out of reach are left alone for a while: somebody in between may hear both.

mod clock;
mod slots;
mod timing;

use heapless::Vec;

use crate::header::FrameId;
use wdgnn_core::task::NodeId;

pub use timing::{MOST_SLOTS, Note, Timing};

/// A tick that is to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Beat {
    /// Its number.
    pub tick: u32,
    /// When it begins, on the robot's own clock.
    pub begins: u64,
    /// When the robot's slot begins, if it has its turn.
    pub speaks: Option<u64>,
    /// The count of ticks went back, and the robot has spoken: frames need a new boot count before anything is said.
    pub back: bool,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    sender: NodeId,
    boot: u32,
    /// By how much its ticks begin later than one's own, in microseconds.
    later: i64,
    /// The most that it can have become by itself: what is later was held back.
    latest: i64,
    /// Its slot of the exchange.
    slot: u8,
    heard: u64,
}

/// One robot's share of the swarm's clock and slots, with room for `N` others.
#[derive(Clone, Debug)]
pub struct Rhythm<const N: usize> {
    timing: Timing,
    id: NodeId,
    /// When tick 0 began, on the robot's own clock.
    epoch: i64,
    last: Option<u32>,
    /// When the last tick began.
    begun: u64,
    listens: u64,
    others: Vec<Other, N>,
    slot: Option<u8>,
    claimed: u64,
    obeyed: u64,
    contested: Option<(u8, u64)>,
    broken: [(u8, u64); MOST_SLOTS as usize],
    ahead_since: Option<u64>,
    /// When it may follow a few who are ahead again.
    follows: u64,
    behind_since: Option<u64>,
    /// Somebody is behind and does not follow: it may not hear this robot.
    unfollowed: bool,
    unheard_since: Option<u64>,
    back: bool,
    chance: u32,
}

/// Exchanges for which a newcomer listens, at least.
const LISTEN: i64 = 3;
/// Exchanges after which a time that few tell is taken over, and after which a robot that nobody follows goes back.
const PATIENCE: i64 = 10;
/// Exchanges after which a silent sender's clock no longer counts.
const FRESH: i64 = 4;
/// Exchanges after which a silent sender's slot is free: it may only be out of reach, and be heard by others.
const REMEMBERED: i64 = 100;
/// The furthest that a robot in company follows somebody ahead: a minute.
const FURTHEST_US: i64 = 60_000_000;
/// Nobody is believed to be further: a day before ticks end.
const LAST_TICK: u32 = u32::MAX - 8_640_000;
/// The clock moves by at most one part in a thousand.
const SLEW: i64 = 1_000;
/// Two clocks that move like that, on crystals that differ, come apart by at most one part in so many.
const APART: i64 = 400;

impl<const N: usize> Rhythm<N> {
    /// Clocks that differ by less are of one time, in microseconds: twice the guard between slots.
    pub const NEAR: i64 = 1_000;

    /// A robot that starts `now`. `chance` is any number that differs from robot to robot and from start to start.
    #[must_use]
    pub fn new(timing: Timing, id: NodeId, now: u64, chance: u32) -> Self {
        let mut rhythm = Self {
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
            broken: [(0, 0); MOST_SLOTS as usize],
            ahead_since: None,
            follows: now,
            behind_since: None,
            unfollowed: false,
            unheard_since: None,
            back: false,
            chance: chance ^ u32::from(id).wrapping_mul(0x9e37_79b9) | 1,
        };
        // Robots that are switched on together do not all stop listening together.
        let some = u64::from(rhythm.toss(1_000)) * timing.interval_us() as u64 / 1_000;
        rhythm.listens = now + LISTEN as u64 * timing.interval_us() as u64 + some;
        rhythm
    }

    /// The same with a clock that begins at this tick: none that the robot has ever spoken in.
    #[must_use]
    pub fn from_tick(mut self, first: u32) -> Self {
        self.epoch = self.epoch.wrapping_sub(i64::from(first.min(LAST_TICK)) * i64::from(self.timing.period));
        self
    }

    /// A number below `below`, by chance (xorshift).
    fn toss(&mut self, below: u32) -> u32 {
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

    /// A frame of a swarm member, whose sequence is its tick; its note, and when its first symbol arrived on the robot's own clock.
    pub fn heard(&mut self, who: &FrameId, note: Note, arrived: u64) {
        let FrameId { sender, boot, sequence: tick } = *who;
        if tick > LAST_TICK {
            return;
        }
        let Timing { lead, slot, delay, retry, interval, slots, .. } = self.timing;
        let into = lead + delay + slot * u32::from(note.slot()) + retry * u32::from(note.retries());
        let later = arrived.cast_signed().wrapping_sub(i64::from(into)).wrapping_sub(self.begins(tick));
        let slot = ((tick % interval.max(1)) * slots) as u8 + note.slot();
        let mut other = Other { sender, boot, later, latest: later, slot, heard: arrived };
        if let Some(known) = self.others.iter_mut().find(|known| known.sender == sender) {
            if known.boot == boot {
                let passed = arrived.saturating_sub(known.heard).cast_signed();
                let latest = known.latest.saturating_add(passed / APART);
                if later > latest.saturating_add(Self::NEAR) {
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
        if later.abs() <= Self::NEAR && self.slot.is_some() {
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

    /// The first tick that begins after `now`.
    pub fn next(&mut self, now: u64) -> Beat {
        let interval = self.timing.interval.max(1);
        let exchange_begins = self.last.is_some_and(|last| last.wrapping_add(1).is_multiple_of(interval));
        self.keep_time(now, exchange_begins);
        let passed =
            now.cast_signed().wrapping_sub(self.epoch).div_euclid(i64::from(self.timing.period.max(1)));
        let mut tick = passed.saturating_add(1).clamp(0, i64::from(u32::MAX)) as u32;
        if let Some(last) = self.last {
            tick = tick.max(last.saturating_add(1));
        }
        // Where the clock has just moved, a tick could follow at once on the last: there is no time for it.
        if self.begins(tick) < (self.begun + u64::from(self.timing.period / 2)).cast_signed() {
            tick = tick.saturating_add(1);
        }
        self.last = Some(tick);
        // A clock that was put back would keep the robot waiting: it knows that the last tick is over.
        let latest = now.saturating_add(2 * u64::from(self.timing.period)).cast_signed();
        if tick < u32::MAX && self.begins(tick) > latest {
            let soon = now.saturating_add(self.timing.period.into()).cast_signed();
            self.shift(soon.wrapping_sub(self.begins(tick)));
        }
        // Behind the last tick of all, it comes again and again.
        let soonest = if tick == u32::MAX { now + u64::from(self.timing.period) } else { 0 };
        let begins = (self.begins(tick).max(0) as u64).max(soonest);
        self.begun = begins;
        if self.slot.is_none() && begins >= self.listens {
            self.claim(now);
        }
        let speaks = self.speaks(tick, begins);
        Beat { tick, begins, speaks, back: core::mem::take(&mut self.back) }
    }

    /// How many others are of one time with this robot.
    #[must_use]
    pub fn company(&self, now: u64) -> usize {
        self.near(now).count()
    }
}
