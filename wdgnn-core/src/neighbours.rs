//! The table of neighbours: fixed capacity, ascending id, freshness by tick.
//!
//! What it promises:
//! * it never grows beyond `N`, whoever talks;
//! * a neighbour that is in the table and keeps talking is never displaced: a newcomer takes a free slot or is refused, so a
//!   flood of invented addresses cannot push real neighbours out;
//! * a neighbour that falls silent is held for `hold` ticks, its state carried on by the task, and is then forgotten;
//! * what comes late or is held over skipped ticks is carried on by the ticks that have passed, not by the calls that were made;
//! * of one sender, only ever newer frames count, by (boot, sequence).

use heapless::Vec;

use crate::{
    net::{span::Span, taps::Chains, tensor::Tensor},
    tasks::task::State,
    wire::{
        message::{Beacon, Parts},
        refusal::Refusal,
    },
};

mod entry;

pub(crate) use entry::Heard;
pub use entry::{Neighbour, Track};

/// Up to `N` neighbours, and of each the evidence `E` that its task keeps.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours<S, C, W, const N: usize, E = ()> {
    entries: Vec<Neighbour<S, C, W, E>, N>,
    /// The tick to which states are carried on.
    settled: u32,
}

impl<S, C, W, const N: usize, E> Neighbours<S, C, W, N, E> {
    /// Nobody yet.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N > 0 && N < 256, "a beacon tells its degree in one byte") };
        Self { entries: Vec::new(), settled: 0 }
    }

    /// The neighbours in ascending id.
    pub fn iter(&self) -> core::slice::Iter<'_, Neighbour<S, C, W, E>> {
        self.entries.iter()
    }

    /// Takes in a beacon.
    ///
    /// # Errors
    /// [`Refusal::Old`] when it is not newer than the last one of that sender, [`Refusal::TableFull`] when its sender is new and
    /// there is no room. The table is then as it was.
    pub fn hear(&mut self, now: &Heard<S>, beacon: &Beacon<S, C, W>) -> Result<(), Refusal>
    where
        S: Copy,
        Beacon<S, C, W>: Copy,
        E: Default,
    {
        let found = self.entries.binary_search_by_key(&beacon.sender, |entry| entry.beacon.sender);
        match found {
            Ok(index) => {
                let Some(entry) = self.entries.get_mut(index) else { return Err(Refusal::Old) };
                if (beacon.boot, beacon.sequence) <= (entry.beacon.boot, entry.beacon.sequence) {
                    return Err(Refusal::Old);
                }
                entry.heard = now.tick;
                entry.proven = entry.proven.saturating_add(1);
                entry.fresh = Span::ALL;
                entry.track = Track::new(beacon.state, now.said);
                entry.earlier = None;
                entry.beacon = *beacon;
                entry.beacon.state = now.state;
            }
            Err(index) => self.admit(index, Neighbour::newcomer(now, Span::ALL, *beacon))?,
        }
        Ok(())
    }

    fn admit(&mut self, index: usize, newcomer: Neighbour<S, C, W, E>) -> Result<(), Refusal> {
        // The index is always good; said aloud, it leaves no panic in the insertion for the compiler to keep.
        if self.entries.is_full() || index > self.entries.len() {
            return Err(Refusal::TableFull);
        }
        self.entries.insert(index, newcomer).map_err(|_| Refusal::TableFull)
    }

    /// Takes in those parts of a beacon that a frame carried; what it did not carry stays as it was. `follow` holds
    /// the new state against the sender's track, which is so many ticks older and so many ticks of words long, and returns the track from
    /// here on and whether the sender is believed.
    ///
    /// # Errors
    /// As [`Neighbours::hear`]; [`Refusal::Implausible`] when the state contradicts the last one: the sender has then to prove
    /// itself anew.
    pub fn hear_parts(
        &mut self,
        now: &Heard<S>,
        beacon: &Beacon<S, C, W>,
        parts: Parts,
        follow: impl FnOnce(&S, &S, u32, u8, &mut E) -> (S, bool),
    ) -> Result<(), Refusal>
    where
        S: State,
        C: Chains,
        W: Tensor,
        E: Copy + Default,
    {
        let found = self.entries.binary_search_by_key(&beacon.sender, |entry| entry.beacon.sender);
        let index = match found {
            Ok(index) => index,
            Err(index) => {
                // What the frame does not carry is nothing.
                let mut first = Beacon::silent(beacon.state);
                (first.sender, first.boot) = (beacon.sender, beacon.boot);
                first.take_over(beacon, parts);
                return self.admit(index, Neighbour::newcomer(now, parts.wide, first));
            }
        };
        let Some(entry) = self.entries.get_mut(index) else { return Err(Refusal::Old) };
        let known = &mut entry.beacon;
        if (beacon.boot, beacon.sequence) <= (known.boot, known.sequence) {
            return Err(Refusal::Old);
        }
        let again = entry.heard == now.tick;
        if !again {
            entry.earlier = Some(entry.track);
            entry.known = entry.known.saturating_add(1);
        }
        // All frames of a tick are held against what came before it: many small steps within a tick are no way around.
        let mut believed = true;
        entry.track = match &entry.earlier {
            Some(earlier) => {
                let mut evidence = earlier.evidence;
                let silent = now.said.saturating_sub(earlier.said);
                let state;
                (state, believed) = follow(&earlier.state, &beacon.state, silent, entry.known, &mut evidence);
                Track { state, said: now.said, evidence }
            }
            None => Track::new(beacon.state, now.said),
        };
        known.boot = beacon.boot;
        known.take_over(beacon, parts);
        known.state = now.state;
        if !again {
            entry.fresh = Span::NONE;
            entry.proven = entry.proven.saturating_add(1);
        }
        if !believed {
            entry.proven = 0;
            entry.doubted = true;
        }
        if parts.wide != Span::NONE {
            entry.fresh = entry.fresh.joined(parts.wide);
        }
        entry.heard = now.tick;
        if believed { Ok(()) } else { Err(Refusal::Implausible) }
    }

    /// Ends the hearing of `tick`: forgets whoever was silent for more than `hold` ticks and carries on the state of those
    /// that are held, by as many ticks as have passed. Returns how many were forgotten.
    pub fn settle(&mut self, tick: u32, hold: u32, carry_on: impl Fn(&S, u32) -> S) -> usize {
        let before = self.entries.len();
        let settled = core::mem::replace(&mut self.settled, tick);
        self.entries.retain_mut(|entry| {
            let silent = tick.saturating_sub(entry.heard);
            if silent > 0 && silent <= hold {
                let passed = tick.saturating_sub(settled.max(entry.heard));
                entry.beacon.state = carry_on(&entry.beacon.state, passed);
            }
            silent <= hold
        });
        before - self.entries.len()
    }

    /// Decides who counts. Until then, a newcomer does not.
    pub fn judge(&mut self, counts: impl Fn(&Neighbour<S, C, W, E>) -> bool) {
        for entry in &mut self.entries {
            entry.counts = counts(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::task::NodeId;

    type Table = Neighbours<f32, (), (), 16>;

    fn beacon(sender: NodeId, sequence: u32) -> Beacon<f32, (), ()> {
        Beacon { sender, boot: 0, sequence, degree: 0, state: 1.0, chains: (), wide: () }
    }

    fn hear<const N: usize>(
        table: &mut Neighbours<f32, (), (), N>,
        tick: u32,
        beacon: Beacon<f32, (), ()>,
    ) -> Result<(), Refusal> {
        table.hear(&Heard { tick, said: tick, state: beacon.state }, &beacon)
    }

    fn ids(table: &Table) -> std::vec::Vec<NodeId> {
        table.iter().map(|entry| entry.beacon.sender).collect()
    }

    extern crate std;

    #[test]
    fn neighbours_are_kept_in_ascending_id() {
        let mut table = Table::new();
        for id in [7, 3, 9, 1, 8] {
            hear(&mut table, 0, beacon(id, 0)).unwrap();
        }
        assert_eq!(ids(&table), [1, 3, 7, 8, 9]);
    }

    #[test]
    fn a_frame_that_is_not_newer_is_refused() {
        let mut table = Table::new();
        hear(&mut table, 0, beacon(5, 10)).unwrap();
        assert_eq!(hear(&mut table, 1, beacon(5, 10)), Err(Refusal::Old));
        assert_eq!(hear(&mut table, 1, beacon(5, 9)), Err(Refusal::Old));
        assert_eq!(table.iter().next().unwrap().heard, 0);
        hear(&mut table, 1, beacon(5, 11)).unwrap();
        let rebooted = Beacon { boot: 1, ..beacon(5, 0) };
        hear(&mut table, 1, rebooted).unwrap();
        assert_eq!(hear(&mut table, 1, beacon(5, 12)), Err(Refusal::Old), "a frame from before the reboot");
    }

    #[test]
    fn a_table_of_16_fed_by_200_ids_keeps_the_established_and_never_grows() {
        let mut table = Table::new();
        for id in 100..116 {
            hear(&mut table, 0, beacon(id, 0)).unwrap();
        }
        table.settle(0, 0, |state, _| *state);
        for tick in 1..50 {
            // The flood comes first in every tick: established neighbours have not spoken yet.
            for id in 0..200 {
                let known = (100..116).contains(&id);
                if !known {
                    assert_eq!(hear(&mut table, tick, beacon(id, tick)), Err(Refusal::TableFull));
                }
            }
            for id in 100..116 {
                hear(&mut table, tick, beacon(id, tick)).unwrap();
            }
            assert_eq!(table.settle(tick, 0, |state, _| *state), 0);
            assert_eq!(ids(&table), (100..116).collect::<std::vec::Vec<_>>());
        }
    }

    #[test]
    fn a_silent_neighbour_is_held_carried_on_and_then_forgotten() {
        let mut table = Table::new();
        hear(&mut table, 10, beacon(5, 0)).unwrap();
        for tick in 10..13 {
            assert_eq!(table.settle(tick, 2, |state, ticks| state + ticks as f32), 0);
            assert_eq!(table.iter().next().unwrap().beacon.state, 1.0 + (tick - 10) as f32);
        }
        assert_eq!(table.settle(13, 2, |state, _| *state), 1);
        assert_eq!(ids(&table), []);
    }

    #[test]
    fn over_skipped_ticks_a_held_neighbour_is_carried_on_by_all_of_them() {
        let mut table = Table::new();
        hear(&mut table, 10, beacon(5, 0)).unwrap();
        for (tick, state) in [(10, 1.0), (11, 2.0), (15, 6.0), (15, 6.0), (16, 7.0)] {
            assert_eq!(table.settle(tick, 6, |state, ticks| state + ticks as f32), 0);
            assert_eq!(table.iter().next().unwrap().beacon.state, state, "tick {tick}");
        }
    }

    #[test]
    fn a_late_word_is_kept_as_what_has_become_of_it() {
        let mut table = Table::new();
        let late = beacon(5, 7);
        table.hear(&Heard { tick: 10, said: 7, state: 4.0 }, &late).unwrap();
        let neighbour = *table.iter().next().unwrap();
        assert_eq!((neighbour.heard, neighbour.beacon.state, neighbour.track), (10, 4.0, Track::new(1.0, 7)));
    }

    #[test]
    fn a_slot_that_became_free_goes_to_a_newcomer() {
        let mut table = Neighbours::<f32, (), (), 1>::new();
        hear(&mut table, 0, beacon(1, 0)).unwrap();
        assert_eq!(hear(&mut table, 1, beacon(2, 0)), Err(Refusal::TableFull));
        table.settle(1, 0, |state, _| *state);
        hear(&mut table, 2, beacon(2, 1)).unwrap();
        assert!(table.iter().map(|entry| entry.beacon.sender).eq([2]));
    }
}
