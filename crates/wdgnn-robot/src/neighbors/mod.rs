//! The table of neighbors: fixed capacity, ascending id, freshness by tick.
//!
//! What it promises:
//! * it never grows beyond `N`, whoever talks;
//! * a neighbor that is in the table and keeps talking is never displaced, unless it contradicts itself: a newcomer takes a free slot,
//!   or that of somebody who does not count, or is refused, so a flood of invented addresses cannot push real neighbors out, and holds
//!   its slots only while it is believed;
//! * a neighbor that falls silent is held for `hold` ticks, its state carried on by the task, and is then forgotten;
//! * what comes late or is held over skipped ticks is carried on by the ticks that have passed, not by the calls that were made;
//! * one word that contradicts a neighbor does not make it a liar: if the next one bears out what it said before, the word in between was
//!   somebody else's;
//! * of one sender, only ever newer frames count, by their sequence, which tells the time. Whose clock begins anew is heard again when
//!   it has been forgotten, after `hold` ticks at the latest;
//! * parameters that come late are not fresh.

use heapless::Vec;

use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    task::{NodeId, State},
    tensor::{Tensor, param_range::ParamRange},
};
use wdgnn_link::{error::FrameError, header::Payload};

#[cfg(test)]
mod contradictions;
mod entry;
mod partial;

use entry::KEPT_TICKS;
use partial::merge;

pub(crate) use partial::max_tap;

pub(crate) use entry::Heard;
pub use entry::{Neighbor, Track};

/// Up to `N` neighbors, and of each the evidence `E` that its task keeps.
#[derive(Clone, Debug)]
pub(crate) struct Neighbors<S, C, W, const N: usize, E = ()> {
    entries: Vec<Neighbor<S, C, W, E>, N>,
    /// The tick to which states are carried on.
    settled: u32,
}

impl<S, C, W, const N: usize, E> Neighbors<S, C, W, N, E> {
    /// Nobody yet.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N > 0 && N < 256, "a beacon tells its degree in one byte") };
        Self { entries: Vec::new(), settled: 0 }
    }

    /// The neighbors in ascending id.
    pub fn iter(&self) -> core::slice::Iter<'_, Neighbor<S, C, W, E>> {
        self.entries.iter()
    }

    /// The same, to change.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, Neighbor<S, C, W, E>> {
        self.entries.iter_mut()
    }

    /// Those of them that count.
    #[inline]
    pub fn trusted(&self) -> impl Iterator<Item = &Neighbor<S, C, W, E>> + Clone {
        self.entries.iter().filter(|entry| entry.counts)
    }

    /// Forgets somebody.
    pub fn remove(&mut self, sender: NodeId) {
        self.entries.retain(|entry| entry.beacon.sender != sender);
    }

    /// Puts somebody's entry back as it was.
    pub fn put_back(&mut self, before: Neighbor<S, C, W, E>) {
        let sender = before.beacon.sender;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.beacon.sender == sender) {
            *entry = before;
        }
    }

    /// A neighbor has said what cannot be: it has to prove itself anew.
    pub fn doubt(&mut self, sender: NodeId) {
        for entry in self.entries.iter_mut().filter(|entry| entry.beacon.sender == sender) {
            (entry.proven, entry.doubted) = (0, true);
        }
    }

    /// Takes in a beacon.
    ///
    /// # Errors
    /// [`FrameError::Old`] when it is not newer than the last one of that sender, [`FrameError::TableFull`] when its sender is new and
    /// there is no room. The table is then as it was.
    pub fn hear(&mut self, now: &Heard<S>, beacon: &Message<S, C, W>) -> Result<(), FrameError>
    where
        S: Copy,
        Message<S, C, W>: Copy,
        E: Default,
    {
        let found = self.entries.binary_search_by_key(&beacon.sender, |entry| entry.beacon.sender);
        match found {
            Ok(index) => {
                let Some(entry) = self.entries.get_mut(index) else { return Err(FrameError::Old) };
                if beacon.sequence <= entry.beacon.sequence {
                    return Err(FrameError::Old);
                }
                (entry.heard, entry.other_model) = (now.tick, now.other_model);
                entry.proven = entry.proven.saturating_add(1);
                entry.fresh = now.fresh(ParamRange::ALL);
                entry.track = Track::new(beacon.state, now.said);
                (entry.earlier, entry.kept) = (None, None);
                entry.beacon = *beacon;
                entry.beacon.state = now.state;
            }
            Err(index) => self.admit(index, Neighbor::newcomer(now, now.fresh(ParamRange::ALL), *beacon))?,
        }
        Ok(())
    }

    /// Makes a newcomer a neighbor: in a free slot, or in that of somebody who was found out and does not count.
    fn admit(&mut self, mut index: usize, newcomer: Neighbor<S, C, W, E>) -> Result<(), FrameError> {
        if self.entries.is_full() {
            let found_out = |entry: &&Neighbor<S, C, W, E>| entry.doubted && !entry.counts;
            let out = self.entries.iter().find(found_out).ok_or(FrameError::TableFull)?.beacon.sender;
            self.entries.retain(|entry| entry.beacon.sender != out);
            index = index.saturating_sub((out < newcomer.beacon.sender).into());
        }
        // The index is always good; said aloud, it leaves no panic in the insertion for the compiler to keep.
        if self.entries.is_full() || index > self.entries.len() {
            return Err(FrameError::TableFull);
        }
        self.entries.insert(index, newcomer).map_err(|_| FrameError::TableFull)
    }

    /// Takes in those parts of a beacon that a frame carried; what it did not carry stays as it was. `follow` holds
    /// the new state against the sender's track, which is so many ticks older and so many ticks of words long, and returns the track from
    /// here on and whether the sender is believed.
    ///
    /// # Errors
    /// As [`Neighbors::hear`]; [`FrameError::Implausible`] when the state contradicts the last one: the sender has then to prove
    /// itself anew.
    pub fn hear_parts(
        &mut self,
        now: &Heard<S>,
        beacon: &Message<S, C, W>,
        parts: Payload,
        follow: impl Fn(&S, &S, u32, u8, &mut E) -> (S, bool),
    ) -> Result<(), FrameError>
    where
        S: State,
        C: DelayLines,
        W: Tensor,
        E: Copy + Default,
    {
        let found = self.entries.binary_search_by_key(&beacon.sender, |entry| entry.beacon.sender);
        let index = match found {
            Ok(index) => index,
            Err(index) => {
                // What the frame does not carry is nothing.
                let mut first = Message::silent(beacon.state);
                (first.sender, first.boot) = (beacon.sender, beacon.boot);
                merge(&mut first, beacon, parts);
                return self.admit(index, Neighbor::newcomer(now, now.fresh(parts.wide), first));
            }
        };
        let Some(entry) = self.entries.get_mut(index) else { return Err(FrameError::Old) };
        let known = &mut entry.beacon;
        if beacon.sequence <= known.sequence {
            return Err(FrameError::Old);
        }
        let again = entry.heard == now.tick;
        if !again {
            entry.earlier = Some(entry.track);
            entry.known = entry.known.saturating_add(1);
        }
        // All frames of a tick are held against what came before it: many small steps within a tick are no way around.
        let follow_as = |track: &Track<S, E>, known: u8, mut evidence: E| {
            let silent = now.said.saturating_sub(track.said);
            let (state, believed) = follow(&track.state, &beacon.state, silent, known, &mut evidence);
            (Track { state, said: now.said, evidence }, believed)
        };
        let follow = |track: &Track<S, E>| follow_as(track, entry.known, track.evidence);
        let mut believed = true;
        entry.kept = entry.kept.filter(|kept| now.said.saturating_sub(kept.said) <= KEPT_TICKS);
        let borne_out = entry.kept.as_ref().map(follow).filter(|(_, believed)| *believed);
        if let Some((track, _)) = borne_out {
            // What contradicted it was a word in its name, and not its own.
            (entry.track, entry.earlier) = (track, entry.kept.take());
        } else if let Some(earlier) = &entry.earlier {
            (entry.track, believed) = follow(earlier);
            // Where not even a newcomer would be believed, it may have been somebody else; a liar goes further little by little.
            let was_believed = entry.proven > 0 || entry.known <= 1;
            if !believed && was_believed && entry.kept.is_none() && !follow_as(earlier, 1, E::default()).1 {
                entry.kept = Some(*earlier);
            }
        } else {
            entry.track = Track::new(beacon.state, now.said);
        }
        known.boot = beacon.boot;
        merge(known, beacon, parts);
        known.state = now.state;
        if !again {
            entry.fresh = ParamRange::NONE;
            entry.proven = entry.proven.saturating_add(1);
        }
        if !believed {
            entry.proven = 0;
            entry.doubted = true;
        }
        if parts.wide != ParamRange::NONE {
            entry.fresh = entry.fresh.joined(now.fresh(parts.wide));
        }
        (entry.heard, entry.other_model) = (now.tick, now.other_model);
        if believed { Ok(()) } else { Err(FrameError::Implausible) }
    }

    /// Ends the hearing of `tick`: forgets whoever was silent for more than `hold` ticks, or was heard in a time that is none any
    /// more, and carries on the state of those that are held, by as many ticks as have passed. Returns how many were forgotten.
    pub fn settle(&mut self, tick: u32, hold: u32, carry_on: impl Fn(&S, u32) -> S) -> usize {
        let before = self.entries.len();
        let settled = core::mem::replace(&mut self.settled, tick);
        self.entries.retain_mut(|entry| {
            let silent = tick.saturating_sub(entry.heard);
            if silent > 0 && silent <= hold {
                let passed = tick.saturating_sub(settled.max(entry.heard));
                entry.beacon.state = carry_on(&entry.beacon.state, passed);
            }
            silent <= hold && entry.heard <= tick
        });
        before - self.entries.len()
    }

    /// Decides who counts. Until then, a newcomer does not.
    pub fn judge(&mut self, counts: impl Fn(&Neighbor<S, C, W, E>) -> bool) {
        for entry in &mut self.entries {
            entry.counts = counts(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{entry::FRESH_TICKS, *};

    type Table = Neighbors<f32, (), (), 16>;

    fn beacon(sender: NodeId, sequence: u32) -> Message<f32, (), ()> {
        Message { sender, boot: 0, sequence, degree: 0, state: 1.0, chains: (), wide: () }
    }

    fn hear<const N: usize>(
        table: &mut Neighbors<f32, (), (), N>,
        tick: u32,
        beacon: Message<f32, (), ()>,
    ) -> Result<(), FrameError> {
        table.hear(&Heard { tick, said: tick, state: beacon.state, other_model: false }, &beacon)
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
        assert_eq!(hear(&mut table, 1, beacon(5, 10)), Err(FrameError::Old));
        assert_eq!(hear(&mut table, 1, beacon(5, 9)), Err(FrameError::Old));
        assert_eq!(table.iter().next().unwrap().heard, 0);
        hear(&mut table, 1, beacon(5, 11)).unwrap();
        // How often somebody was started orders nothing: a count without end is no way to silence it.
        let spoofed = Message { boot: u32::MAX, ..beacon(5, 12) };
        hear(&mut table, 1, spoofed).unwrap();
        hear(&mut table, 2, beacon(5, 13)).unwrap();
        assert_eq!(hear(&mut table, 2, Message { boot: 9, ..beacon(5, 13) }), Err(FrameError::Old));
    }

    #[test]
    fn whose_clock_begins_anew_is_heard_again_after_the_hold_at_the_latest() {
        const HOLD: u32 = 3;
        let mut table = Table::new();
        hear(&mut table, 10, beacon(5, u32::MAX)).unwrap();
        table.settle(10, HOLD, |state, _| *state);
        let refused = (11..30).take_while(|&tick| {
            let old = hear(&mut table, tick, beacon(5, tick - 11)) == Err(FrameError::Old);
            table.settle(tick, HOLD, |state, _| *state);
            old
        });
        assert_eq!(refused.count(), HOLD as usize + 1);
        assert_eq!(ids(&table), [5]);
    }

    #[test]
    fn where_time_goes_back_nobody_stays_from_the_time_that_is_none() {
        let mut table = Table::new();
        hear(&mut table, 5000, beacon(5, 5000)).unwrap();
        table.settle(5000, 3, |state, _| *state);
        assert_eq!(table.settle(10, 3, |state, _| *state), 1);
        hear(&mut table, 11, beacon(5, 11)).unwrap();
    }

    #[test]
    fn parameters_that_come_late_are_not_fresh() {
        for (late, fresh) in [(0, ParamRange::ALL), (FRESH_TICKS, ParamRange::ALL), (FRESH_TICKS + 1, ParamRange::NONE)] {
            let mut table = Table::new();
            // Of a newcomer, and of somebody known.
            for tick in [20, 30] {
                let heard = Heard { tick, said: tick - late, state: 1.0, other_model: false };
                table.hear(&heard, &beacon(5, tick - late)).unwrap();
                assert_eq!(table.iter().next().unwrap().fresh, fresh, "late by {late}");
            }
        }
    }

    #[test]
    fn a_table_of_16_fed_by_200_ids_keeps_the_established_and_never_grows() {
        let mut table = Table::new();
        for id in 100..116 {
            hear(&mut table, 0, beacon(id, 0)).unwrap();
        }
        table.settle(0, 0, |state, _| *state);
        for tick in 1..50 {
            // The flood comes first in every tick: established neighbors have not spoken yet.
            for id in 0..200 {
                let known = (100..116).contains(&id);
                if !known {
                    assert_eq!(hear(&mut table, tick, beacon(id, tick)), Err(FrameError::TableFull));
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
        table.hear(&Heard { tick: 10, said: 7, state: 4.0, other_model: false }, &late).unwrap();
        let neighbor = *table.iter().next().unwrap();
        assert_eq!((neighbor.heard, neighbor.beacon.state, neighbor.track), (10, 4.0, Track::new(1.0, 7)));
    }

    #[test]
    fn invented_names_hold_their_slots_only_while_they_talk_and_are_believed() {
        let mut table = Table::new();
        for id in 10..26 {
            hear(&mut table, 0, beacon(id, 0)).unwrap();
        }
        table.judge(|_| true);
        assert_eq!(hear(&mut table, 1, beacon(3, 1)), Err(FrameError::TableFull));
        // Two are found out: their slots go to whoever comes next, and to nobody else.
        for entry in table.entries.iter_mut().filter(|entry| [10, 17].contains(&entry.beacon.sender)) {
            entry.doubted = true;
        }
        table.judge(|entry| !entry.doubted);
        assert_eq!(hear(&mut table, 2, beacon(3, 2)), Ok(()));
        assert_eq!(hear(&mut table, 2, beacon(30, 2)), Ok(()));
        assert_eq!(hear(&mut table, 2, beacon(4, 2)), Err(FrameError::TableFull));
        let expected = [3].into_iter().chain((11..17).chain(18..26)).chain([30]);
        assert!(ids(&table).into_iter().eq(expected), "{:?}", ids(&table));
        // They fall silent, and all of their slots are free.
        for tick in 3..=4 {
            hear(&mut table, tick, beacon(3, tick)).unwrap();
            table.settle(tick, 1, |state, _| *state);
        }
        assert_eq!(ids(&table), [3]);
    }

    #[test]
    fn a_slot_that_became_free_goes_to_a_newcomer() {
        let mut table = Neighbors::<f32, (), (), 1>::new();
        hear(&mut table, 0, beacon(1, 0)).unwrap();
        assert_eq!(hear(&mut table, 1, beacon(2, 0)), Err(FrameError::TableFull));
        table.settle(1, 0, |state, _| *state);
        hear(&mut table, 2, beacon(2, 1)).unwrap();
        assert!(table.iter().map(|entry| entry.beacon.sender).eq([2]));
    }
}
