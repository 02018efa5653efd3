//! Rules of clock synchronization.

use super::{FRESH, FURTHEST_US, MAX_SLOTS, Other, PATIENCE, SLEW, SlotClock};

impl<const N: usize> SlotClock<N> {
    /// Senders heard recently, whose clocks count.
    fn fresh(&self, now: u64) -> impl Iterator<Item = &Other> + Clone {
        let oldest = now.saturating_sub(self.lasting(FRESH));
        self.others.iter().filter(move |other| other.heard >= oldest)
    }

    /// Recent senders whose clocks agree with this robot's, within [`SlotClock::NEAR_US`].
    pub(super) fn near(&self, now: u64) -> impl Iterator<Item = &Other> + Clone {
        self.fresh(now).filter(|other| other.later.abs() <= Self::NEAR_US)
    }

    /// Shifts the own clock; a positive shift delays its ticks.
    pub(super) fn shift(&mut self, by: i64) {
        self.epoch = self.epoch.wrapping_add(by);
        for other in &mut self.others {
            other.later = other.later.wrapping_sub(by);
            other.latest = other.latest.wrapping_sub(by);
        }
    }

    /// Applies the clock rules, once per tick.
    pub(super) fn keep_time(&mut self, now: u64, exchange_begins: bool) {
        let near = self.near(now).count();
        let laters =
            |far: fn(i64) -> bool| self.fresh(now).map(|other| other.later).filter(move |later| far(*later));
        let ahead = laters(|later| later < -Self::NEAR_US);
        let (ahead, ahead_count) = (ahead.clone().max(), ahead.count());
        let behind = laters(|later| later > Self::NEAR_US);
        let (behind, behind_count) = (behind.clone().min(), behind.count());
        let patience = self.lasting(PATIENCE);
        let passed = |since: &mut Option<u64>, there: bool| {
            let since = if there { *since.get_or_insert(now) } else { *since.insert(now) };
            now.saturating_sub(since) > patience
        };
        let insisted = passed(&mut self.ahead_since, ahead.is_some());
        self.unfollowed = passed(&mut self.behind_since, behind.is_some());
        let unheard = passed(&mut self.unheard_since, near == 0 && behind.is_some());
        let listening = self.slot.is_none();
        let told = |by: i64| insisted && by >= -FURTHEST_US && now >= self.follows;
        if let Some(by) = ahead
            && (ahead_count > near || told(by))
        {
            // No robot that moved its clock forward moves again until this much time has passed.
            self.follows = now.saturating_add(by.max(-FURTHEST_US).unsigned_abs());
            self.move_to(by, now);
        } else if let Some(by) = behind
            && ((near == 0 && (listening || unheard)) || (listening && behind_count > near + 1))
        {
            self.back |= self.slot.is_some();
            self.last = None;
            self.move_to(by, now);
        } else if exchange_begins && near > 0 {
            let limit = self.timing.interval_us() / SLEW;
            let half = self.mean(now) / 2;
            self.shift(half.max(-limit).min(limit));
        }
    }

    fn move_to(&mut self, by: i64, now: u64) {
        self.shift(by);
        (self.ahead_since, self.behind_since, self.unheard_since, self.contested) = (None, None, None, None);
        self.broken = [(0, 0); MAX_SLOTS as usize];
        // The own slot may be taken in the other group.
        if self.slot.is_some_and(|own| self.others_in(own, now)) {
            self.claim(now);
        }
    }

    /// Mean of the near clocks and the own one, relative to the own one.
    fn mean(&self, now: u64) -> i64 {
        let (sum, count) = self.near(now).fold((0, 1), |(sum, count), other| (sum + other.later, count + 1));
        sum / i64::max(count, 1)
    }
}
