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
//! 3. *Ahead*, told by fewer: it is taken over after ten exchanges in which it was always there. So two swarms that meet become one, by
//!    a single bridge even; and a liar moves the swarm's time by a minute per ten exchanges at most, always forward, and everybody
//!    with it.
//! 4. *Behind*: they will come. But who has nobody near for ten exchanges and hears somebody behind is not heard itself: it goes back
//!    ([`Beat::back`]: its frames' numbers begin anew, so it needs a new boot count).
//! 5. Who has just started listens for three exchanges before it speaks, and takes any time it hears.
//!
//! Time goes forward except in 4 and 5, which is why two swarms never chase each other.
//!
//! **Slots.** A robot claims a slot in which it heard nobody. Two that claimed the same one at once hear neither the other nor
//! themselves; they are told by others, who hear a broken frame there twice and say so in their [`Note`], and by their own ears,
//! because everybody is silent in its own slot now and then. Then each moves to another free slot, or stays, by the toss of a coin.
//! Slots of those who went out of reach are left alone for a while: somebody in between may hear both.

use heapless::Vec;

use crate::task::NodeId;

/// When things happen, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Timing {
    /// From tick to tick.
    pub period: u32,
    /// Ticks per exchange: a robot speaks in every so many-th.
    pub exchange: u32,
    /// Slots in a tick. All slots of an exchange are at most [`MOST_SLOTS`].
    pub slots: u32,
    /// From a tick's beginning to its first slot: a frame is written and sealed.
    pub lead: u32,
    /// From slot to slot.
    pub slot: u32,
    /// From a slot's beginning to the first symbol in the air.
    pub delay: u32,
    /// By how much a frame is later for each time that the channel was not clear.
    pub retry: u32,
}

impl Timing {
    const fn exchange_us(&self) -> i64 {
        self.period as i64 * self.exchange as i64
    }

    const fn all_slots(&self) -> u8 {
        let all = self.exchange * self.slots;
        if all > MOST_SLOTS as u32 { MOST_SLOTS } else { all as u8 }
    }
}

/// So many slots can be told apart in a [`Note`].
pub const MOST_SLOTS: u8 = 31;

/// What a frame tells about its slot, in one byte in front of it: bit 0 which of the tick's slots, bits 1–2 how often the
/// channel was not clear, bits 3–7 the slot of the exchange in which this sender heard broken frames, plus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Note(pub u8);

impl Note {
    /// A note.
    #[must_use]
    pub const fn new(slot: u8, contested: Option<u8>) -> Self {
        let contested = match contested {
            Some(slot) => slot + 1,
            None => 0,
        };
        Self(slot & 1 | contested << 3)
    }

    /// The same with so many retries, three at most.
    #[must_use]
    pub const fn retried(self, retries: u8) -> Self {
        Self(self.0 & !0b110 | (if retries > 3 { 3 } else { retries }) << 1)
    }

    const fn slot(self) -> u8 {
        self.0 & 1
    }

    const fn retries(self) -> u8 {
        self.0 >> 1 & 3
    }

    const fn contested(self) -> Option<u8> {
        (self.0 >> 3).checked_sub(1)
    }
}

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
    /// The count of ticks went back: frames need a new boot count before anything is said.
    pub back: bool,
}

#[derive(Clone, Copy, Debug)]
struct Other {
    sender: NodeId,
    /// By how much its ticks begin later than one's own, in microseconds.
    later: i64,
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
    began: u64,
    listens: u64,
    others: Vec<Other, N>,
    slot: Option<u8>,
    claimed: u64,
    obeyed: u64,
    contested: Option<(u8, u64)>,
    broken: [(u8, u64); MOST_SLOTS as usize],
    ahead_since: Option<u64>,
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
/// The clock moves by at most one part in a thousand.
const SLEW: i64 = 1_000;

impl<const N: usize> Rhythm<N> {
    /// Clocks that differ by less are of one time, in microseconds: twice the guard between slots.
    pub const NEAR: i64 = 1_000;

    /// A robot that starts `now`. `chance` is any number that differs from robot to robot and from start to start.
    #[must_use]
    pub fn new(timing: Timing, id: NodeId, now: u64, chance: u32) -> Self {
        let mut rhythm = Self {
            timing,
            id,
            epoch: now as i64,
            last: None,
            begun: now,
            began: now,
            listens: 0,
            others: Vec::new(),
            slot: None,
            claimed: now,
            obeyed: now,
            contested: None,
            broken: [(0, 0); MOST_SLOTS as usize],
            ahead_since: None,
            behind_since: None,
            unfollowed: false,
            unheard_since: None,
            back: false,
            chance: chance ^ u32::from(id).wrapping_mul(0x9e37_79b9) | 1,
        };
        // Robots that are switched on together do not all stop listening together.
        let some = u64::from(rhythm.toss(1_000)) * timing.exchange_us() as u64 / 1_000;
        rhythm.listens = now + LISTEN as u64 * timing.exchange_us() as u64 + some;
        rhythm
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

    fn exchanges(&self, count: i64) -> u64 {
        (count * self.timing.exchange_us()) as u64
    }

    /// A frame of a swarm member: its tick, its note, and when its first symbol arrived on the robot's own clock.
    pub fn heard(&mut self, sender: NodeId, tick: u32, note: Note, arrived: u64) {
        let Timing { lead, slot, delay, retry, exchange, slots, .. } = self.timing;
        let into = lead + delay + slot * u32::from(note.slot()) + retry * u32::from(note.retries());
        let later = (arrived as i64).wrapping_sub(i64::from(into)).wrapping_sub(self.begins(tick));
        let slot = ((tick % exchange.max(1)) * slots) as u8 + note.slot();
        let other = Other { sender, later, slot, heard: arrived };
        if let Some(known) = self.others.iter_mut().find(|known| known.sender == sender) {
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
                && arrived.saturating_sub(self.obeyed) > self.exchanges(2)
                && arrived.saturating_sub(self.claimed) > self.exchanges(1)
            {
                self.obeyed = arrived;
                self.give_way(arrived);
            }
        }
    }

    /// A frame began here that could not be read.
    pub fn spoilt(&mut self, began: u64) {
        let Timing { period, lead, slot, delay, slots, .. } = self.timing;
        let phase = (began as i64).wrapping_sub(self.epoch).rem_euclid(self.timing.exchange_us());
        let (tick, within) = (phase / i64::from(period), phase % i64::from(period) - i64::from(lead + delay));
        let index = within.max(0) / i64::from(slot.max(1));
        if index >= i64::from(slots) {
            return;
        }
        let place = tick * i64::from(slots) + index;
        let recent = self.exchanges(FRESH);
        let Some((count, last)) = self.broken.get_mut(place as usize) else { return };
        *count = if began.saturating_sub(*last) > recent { 1 } else { count.saturating_add(1) };
        *last = began;
        if *count >= 2 && self.slot != Some(place as u8) {
            self.contested = Some((place as u8, began));
        }
    }

    /// The own slot was not clear, also after every retry.
    pub fn busy(&mut self, now: u64) {
        self.give_way(now);
    }

    /// Somebody else has the same slot: by the toss of a coin, another one.
    fn give_way(&mut self, now: u64) {
        if self.toss(2) == 0 {
            self.claim(now);
        }
    }

    /// Claims a slot in which nobody was heard and nothing was broken lately.
    fn claim(&mut self, now: u64) {
        let all = self.timing.all_slots();
        let recent = self.exchanges(FRESH);
        let taken = |slot: u8| {
            let others = self.others.iter().any(|other| other.slot == slot && other.later.abs() <= Self::NEAR);
            let broken = self.broken.get(usize::from(slot)).is_some_and(|(count, last)| {
                *count >= 2 && now.saturating_sub(*last) <= recent
            });
            others || broken || self.slot == Some(slot)
        };
        let free = (0..all).filter(|slot| !taken(*slot)).count() as u32;
        if free == 0 {
            return;
        }
        let mut free_slots: Vec<u8, { MOST_SLOTS as usize }> = Vec::new();
        for slot in (0..all).filter(|slot| !taken(*slot)) {
            let _ = free_slots.push(slot);
        }
        // At first, by address: robots with addresses in a row do not meet at all.
        let first = (u32::from(self.id) % u32::from(all).max(1)) as u8;
        let chosen = if self.slot.is_none() && free_slots.contains(&first) {
            Some(first)
        } else {
            let index = self.toss(free);
            free_slots.get(index as usize).copied()
        };
        (self.slot, self.claimed) = (chosen, now);
    }

    /// Others whose clocks count.
    fn fresh(&self, now: u64) -> impl Iterator<Item = &Other> + Clone {
        let oldest = now.saturating_sub(self.exchanges(FRESH));
        self.others.iter().filter(move |other| other.heard >= oldest)
    }

    /// Those of them that are of one time with this robot.
    fn near(&self, now: u64) -> impl Iterator<Item = &Other> + Clone {
        self.fresh(now).filter(|other| other.later.abs() <= Self::NEAR)
    }

    /// Shifts one's own time: positive is later.
    fn shift(&mut self, by: i64) {
        self.epoch = self.epoch.wrapping_add(by);
        for other in &mut self.others {
            other.later = other.later.wrapping_sub(by);
        }
    }

    /// The clock's rules, once per tick.
    fn keep_time(&mut self, now: u64, exchange_begins: bool) {
        let oldest = now.saturating_sub(self.exchanges(REMEMBERED));
        self.others.retain(|other| other.heard >= oldest);
        let near = self.near(now).count();
        let laters = |far: fn(i64) -> bool| self.fresh(now).map(|other| other.later).filter(move |later| far(*later));
        let ahead = laters(|later| later < -Self::NEAR);
        let (ahead, ahead_count) = (ahead.clone().max(), ahead.count());
        let behind = laters(|later| later > Self::NEAR).min();
        let patience = self.exchanges(PATIENCE);
        let passed = |since: &mut Option<u64>, there: bool| {
            let since = if there { *since.get_or_insert(now) } else { *since.insert(now) };
            now.saturating_sub(since) > patience
        };
        let insisted = passed(&mut self.ahead_since, ahead.is_some());
        self.unfollowed = passed(&mut self.behind_since, behind.is_some());
        let unheard = passed(&mut self.unheard_since, near == 0 && behind.is_some());
        let listening = self.slot.is_none();
        if let Some(by) = ahead
            && (ahead_count > near || (insisted && by >= -FURTHEST_US))
        {
            self.move_to(by, now);
        } else if let Some(by) = behind
            && near == 0
            && (listening || unheard)
        {
            self.back |= self.slot.is_some();
            self.last = None;
            self.move_to(by, now);
        } else if exchange_begins && near > 0 {
            let limit = self.timing.exchange_us() / SLEW;
            let half = self.mean(now) / 2;
            self.shift(half.clamp(-limit, limit));
        }
    }

    fn move_to(&mut self, by: i64, now: u64) {
        self.shift(by);
        (self.ahead_since, self.behind_since, self.unheard_since, self.contested) = (None, None, None, None);
        self.broken = [(0, 0); MOST_SLOTS as usize];
        // The own slot may be somebody's in the other time.
        if self.slot.is_some_and(|own| self.others.iter().any(|other| other.slot == own && other.later.abs() <= Self::NEAR)) {
            self.claim(now);
        }
    }

    /// The mean of the near clocks and one's own.
    fn mean(&self, now: u64) -> i64 {
        self.near(now).map(|other| other.later).sum::<i64>() / (self.near(now).count() as i64 + 1)
    }

    /// The first tick that begins after `now`.
    pub fn next(&mut self, now: u64) -> Beat {
        let exchange = self.timing.exchange.max(1);
        let exchange_begins = self.last.is_some_and(|last| last.wrapping_add(1).is_multiple_of(exchange));
        self.keep_time(now, exchange_begins);
        let passed = (now as i64).wrapping_sub(self.epoch).div_euclid(i64::from(self.timing.period));
        let mut tick = passed.saturating_add(1).clamp(0, i64::from(u32::MAX)) as u32;
        if let Some(last) = self.last {
            tick = tick.max(last.saturating_add(1));
        }
        // Where the clock has just moved, a tick could follow at once on the last: there is no time for it.
        if self.begins(tick) < (self.begun + u64::from(self.timing.period / 2)) as i64 {
            tick = tick.saturating_add(1);
        }
        self.last = Some(tick);
        let begins = self.begins(tick).max(0) as u64;
        self.begun = begins;
        if self.slot.is_none() && begins >= self.listens {
            self.claim(now);
        }
        let speaks = self.speaks(tick, begins);
        Beat { tick, begins, speaks, back: core::mem::take(&mut self.back) }
    }

    fn speaks(&mut self, tick: u32, begins: u64) -> Option<u64> {
        let Timing { slots, lead, slot: slot_us, exchange, .. } = self.timing;
        let own = u32::from(self.slot?);
        if tick % exchange.max(1) != own / slots.max(1) {
            return None;
        }
        // Now and then it listens who else is there, at first more often.
        let young = begins.saturating_sub(self.claimed) < self.exchanges(2 * PATIENCE);
        if self.toss(if young { 8 } else { 64 }) == 0 {
            if self.unfollowed {
                // Another slot: this one may be drowned out, for those behind, by their own neighbours.
                self.claim(begins);
            }
            return None;
        }
        Some(begins + u64::from(lead + slot_us * (own % slots.max(1))))
    }

    /// What the next frame tells about its slot.
    #[must_use]
    pub fn note(&self, now: u64) -> Note {
        let slot = self.slot.unwrap_or(0) % self.timing.slots.max(1) as u8;
        let recent = |(_, at): &(u8, u64)| now.saturating_sub(*at) <= self.exchanges(2);
        Note::new(slot, self.contested.filter(recent).map(|(slot, _)| slot))
    }

    /// In which ticks, modulo the exchange, the robot has its turn; none while it listens.
    #[must_use]
    pub fn turn(&self) -> Option<u32> {
        self.slot.map(|slot| u32::from(slot) / self.timing.slots.max(1))
    }

    /// How many others are of one time with this robot.
    #[must_use]
    pub fn company(&self, now: u64) -> usize {
        self.near(now).count()
    }

    /// For how long this robot has been keeping time, in microseconds.
    #[must_use]
    pub fn age(&self, now: u64) -> u64 {
        now.saturating_sub(self.began)
    }
}
