//! Slot allocation: claims, reports of collisions and moves to another slot.

use heapless::Vec;

use super::{FRESH, MAX_SLOTS, Other, PATIENCE, REMEMBERED, SlotClock, SlotInfo, SlotTiming};

impl<const N: usize> SlotClock<N> {
    /// Records a frame that began at `began` and could not be decoded.
    pub fn record_broken_frame(&mut self, began: u64) {
        let SlotTiming { period, lead, slot, delay, slots, .. } = self.timing;
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

    /// Reports that the channel stayed busy in the own slot after every retry.
    pub fn record_busy_channel(&mut self, now: u64) {
        self.give_way(now);
    }

    /// Another robot has the same slot: moves to another one with probability ½.
    pub(super) fn give_way(&mut self, now: u64) {
        if self.random_below(2) == 0 {
            self.claim(now);
        }
    }

    /// Returns whether a near sender used `slot` recently.
    pub(super) fn others_in(&self, slot: u8, now: u64) -> bool {
        let oldest = now.saturating_sub(self.lasting(REMEMBERED));
        let near = |other: &Other| other.heard >= oldest && other.later.abs() <= Self::NEAR_US;
        self.others.iter().any(|other| other.slot == slot && near(other))
    }

    /// Claims a slot without recent senders and without recent broken frames.
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
        let mut free: Vec<u8, { MAX_SLOTS as usize }> = Vec::new();
        for slot in (0..all).filter(|slot| !taken(*slot)) {
            // The list has room for all slots.
            let _ = free.push(slot);
        }
        // The first choice is by address: consecutive addresses never collide.
        let first = (u32::from(self.id) % u32::from(all).max(1)) as u8;
        let chosen = if self.slot.is_none() && free.contains(&first) {
            Some(first)
        } else {
            let index = self.random_below(free.len() as u32);
            free.get(index as usize).copied()
        };
        if chosen.is_some() {
            (self.slot, self.claimed) = (chosen, now);
        }
    }

    /// Start of the own slot in this tick; `None` if the robot does not send.
    pub(super) fn slot_start(&mut self, tick: u32, begins: u64) -> Option<u64> {
        let SlotTiming { slots, lead, slot: slot_us, interval, .. } = self.timing;
        let own = u32::from(self.slot?);
        if tick % interval.max(1) != own / slots.max(1) {
            return None;
        }
        // The robot skips its slot now and then to detect collisions, more often after a new claim.
        let young = begins.saturating_sub(self.claimed) < self.lasting(2 * PATIENCE);
        if self.random_below(if young { 8 } else { 64 }) == 0 {
            if self.unfollowed {
                // Moves to another slot: neighbors of the robots behind may use this one.
                self.claim(begins);
            }
            return None;
        }
        Some(begins + u64::from(lead + slot_us * (own % slots.max(1))))
    }

    /// Slot information for the next frame.
    pub fn slot_info(&self, now: u64) -> SlotInfo {
        let slot = (u32::from(self.slot.unwrap_or(0)) % self.timing.slots.max(1)) as u8;
        let recent = |(_, at): &(u8, u64)| now.saturating_sub(*at) <= self.lasting(2);
        SlotInfo::new(slot, self.contested.filter(recent).map(|(slot, _)| slot))
    }

    /// Tick within the exchange in which the robot sends; `None` while it listens.
    pub fn exchange_phase(&self) -> Option<u32> {
        self.slot.map(|slot| u32::from(slot) / self.timing.slots.max(1))
    }
}
