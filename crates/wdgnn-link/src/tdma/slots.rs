//! Slots: claimed, contested, given way in.

use heapless::Vec;

use super::{FRESH, MOST_SLOTS, Note, Other, PATIENCE, REMEMBERED, Rhythm, Timing};

impl<const N: usize> Rhythm<N> {
    /// A frame began here that could not be read.
    pub fn spoilt(&mut self, began: u64) {
        let Timing { period, lead, slot, delay, slots, .. } = self.timing;
        let period = i64::from(period.max(1));
        let phase = began.cast_signed().wrapping_sub(self.epoch).rem_euclid(self.timing.interval_us().max(1));
        let (tick, within) = (phase / period, phase % period - i64::from(lead + delay));
        let index = within.max(0) / i64::from(slot.max(1));
        if index >= i64::from(slots) {
            return;
        }
        let place = tick * i64::from(slots) + index;
        let recent = self.lasting(FRESH);
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
    pub(super) fn give_way(&mut self, now: u64) {
        if self.toss(2) == 0 {
            self.claim(now);
        }
    }

    /// Whether somebody of one time with this robot was heard in a slot, not too long ago.
    pub(super) fn others_in(&self, slot: u8, now: u64) -> bool {
        let oldest = now.saturating_sub(self.lasting(REMEMBERED));
        let near = |other: &Other| other.heard >= oldest && other.later.abs() <= Self::NEAR;
        self.others.iter().any(|other| other.slot == slot && near(other))
    }

    /// Claims a slot in which nobody was heard and nothing was broken lately.
    pub(super) fn claim(&mut self, now: u64) {
        let all = self.timing.all_slots();
        let recent = self.lasting(FRESH);
        let taken = |slot: u8| {
            let broken = self
                .broken
                .get(usize::from(slot))
                .is_some_and(|(count, last)| *count >= 2 && now.saturating_sub(*last) <= recent);
            self.others_in(slot, now) || broken || self.slot == Some(slot)
        };
        let mut free: Vec<u8, { MOST_SLOTS as usize }> = Vec::new();
        for slot in (0..all).filter(|slot| !taken(*slot)) {
            // There is room for all.
            let _ = free.push(slot);
        }
        // At first, by address: robots with addresses in a row do not meet at all.
        let first = (u32::from(self.id) % u32::from(all).max(1)) as u8;
        let chosen = if self.slot.is_none() && free.contains(&first) {
            Some(first)
        } else {
            let index = self.toss(free.len() as u32);
            free.get(index as usize).copied()
        };
        if chosen.is_some() {
            (self.slot, self.claimed) = (chosen, now);
        }
    }

    /// When the own slot of a tick begins, if the robot has its turn and does not listen.
    pub(super) fn speaks(&mut self, tick: u32, begins: u64) -> Option<u64> {
        let Timing { slots, lead, slot: slot_us, interval, .. } = self.timing;
        let own = u32::from(self.slot?);
        if tick % interval.max(1) != own / slots.max(1) {
            return None;
        }
        // Now and then it listens who else is there, at first more often.
        let young = begins.saturating_sub(self.claimed) < self.lasting(2 * PATIENCE);
        if self.toss(if young { 8 } else { 64 }) == 0 {
            if self.unfollowed {
                // Another slot: this one may be drowned out, for those behind, by their own neighbors.
                self.claim(begins);
            }
            return None;
        }
        Some(begins + u64::from(lead + slot_us * (own % slots.max(1))))
    }

    /// What the next frame tells about its slot.
    #[must_use]
    pub fn note(&self, now: u64) -> Note {
        let slot = (u32::from(self.slot.unwrap_or(0)) % self.timing.slots.max(1)) as u8;
        let recent = |(_, at): &(u8, u64)| now.saturating_sub(*at) <= self.lasting(2);
        Note::new(slot, self.contested.filter(recent).map(|(slot, _)| slot))
    }

    /// In which ticks, modulo the interval, the robot has its turn; none while it listens.
    #[must_use]
    pub fn turn(&self) -> Option<u32> {
        self.slot.map(|slot| u32::from(slot) / self.timing.slots.max(1))
    }
}
