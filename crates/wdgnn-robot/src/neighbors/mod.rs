//! Table of neighbors: fixed capacity, ascending address, expiry by ticks.
//!
//! * The table never holds more than `N` neighbors.
//! * A neighbor that keeps sending is not displaced unless it contradicts itself. A newcomer takes a
//!   free entry or that of a neighbor that is not trusted, or is rejected. A flood of invented
//!   addresses therefore cannot displace neighbors, and keeps entries only while it is plausible.
//! * A silent neighbor is kept for `hold` ticks with its state predicted, and is then evicted.
//! * Late frames and skipped ticks are accounted for by prediction over the elapsed ticks.
//! * A single contradicting frame does not discredit a neighbor: if the next frame confirms the
//!   earlier track, the frame in between came from another sender.
//! * Frames of one sender are accepted in ascending number. A sender whose numbers start again is
//!   accepted after its eviction, at most `hold` ticks later.
//! * Late parameters are not fresh.

use heapless::Vec;
use wdgnn_core::{
    filter::DelayLines,
    message::Message,
    model::Model,
    neighbors::{Neighbor, Neighbors},
    task::{NodeId, State, Task},
    tensor::{Tensor, param_range::ParamRange},
};
use wdgnn_link::{error::FrameError, header::Payload};

#[cfg(test)]
mod contradictions;
mod entry;
mod partial;

use entry::DISPUTE_TICKS;
use partial::merge;

pub(crate) use entry::Arrival;
pub use entry::{NeighborEntry, NeighborTrack};
pub(crate) use partial::max_tap;

/// Up to `N` neighbors with statistics `E` of each.
#[derive(Clone, Debug)]
pub(crate) struct NeighborTable<S, L, W, const N: usize, E = ()> {
    entries: Vec<NeighborEntry<S, L, W, E>, N>,
    /// Tick to which the states are predicted.
    predicted_to: u32,
}

/// Table of a robot with model `M` and task `T`.
pub(crate) type TableOf<M, T, const N: usize> = NeighborTable<
    <T as Task>::State,
    <M as Model>::Taps,
    <M as Model>::Wide,
    N,
    <T as crate::tasks::PlausibilityChecks>::Stats,
>;

impl<S, L, W, const N: usize, E> NeighborTable<S, L, W, N, E> {
    /// An empty table.
    pub const fn new() -> Self {
        const { assert!(N > 0 && N < 255, "a message carries the number of neighbors in one byte") };
        Self { entries: Vec::new(), predicted_to: 0 }
    }

    /// Neighbors in ascending address.
    pub fn iter(&self) -> core::slice::Iter<'_, NeighborEntry<S, L, W, E>> {
        self.entries.iter()
    }

    /// Neighbors in ascending address, mutable.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, NeighborEntry<S, L, W, E>> {
        self.entries.iter_mut()
    }

    /// Neighbors that the robot takes into account.
    #[inline]
    pub fn trusted(&self) -> impl Iterator<Item = &NeighborEntry<S, L, W, E>> + Clone {
        self.entries.iter().filter(|entry| entry.is_trusted)
    }

    /// NeighborEntry of a sender.
    pub fn get(&self, sender: NodeId) -> Option<&NeighborEntry<S, L, W, E>> {
        self.entries.iter().find(|entry| entry.message.sender == sender)
    }

    /// Removes a neighbor.
    pub fn remove(&mut self, sender: NodeId) {
        self.entries.retain(|entry| entry.message.sender != sender);
    }

    /// Replaces the entry of a neighbor.
    pub fn restore(&mut self, before: NeighborEntry<S, L, W, E>) {
        let sender = before.message.sender;
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.message.sender == sender) {
            *entry = before;
        }
    }

    /// Puts a neighbor on probation after an implausible frame.
    pub fn distrust(&mut self, sender: NodeId) {
        for entry in self.entries.iter_mut().filter(|entry| entry.message.sender == sender) {
            (entry.plausible_frames, entry.has_contradicted) = (0, true);
        }
    }

    /// Adds a whole message without comparing it with the sender's track.
    ///
    /// # Errors
    /// [`FrameError::Old`], [`FrameError::TableFull`]. The table is unchanged.
    pub fn update(&mut self, arrival: &Arrival<S>, message: &Message<S, L, W>) -> Result<(), FrameError>
    where
        S: Copy,
        Message<S, L, W>: Copy,
        E: Default,
    {
        let found = self.entries.binary_search_by_key(&message.sender, |entry| entry.message.sender);
        match found {
            Ok(index) => {
                let Some(entry) = self.entries.get_mut(index) else { return Err(FrameError::Old) };
                if arrival.sequence <= entry.sequence {
                    return Err(FrameError::Old);
                }
                (entry.last_received, entry.sequence) = (arrival.tick, arrival.sequence);
                entry.shares_model = arrival.shares_model;
                entry.plausible_frames = entry.plausible_frames.saturating_add(1);
                entry.fresh = arrival.fresh(ParamRange::ALL);
                entry.track = NeighborTrack::new(message.state, arrival.sent);
                (entry.track_before, entry.disputed_track) = (None, None);
                entry.message = *message;
                entry.message.state = arrival.state;
            }
            Err(index) => {
                self.insert(
                    index,
                    NeighborEntry::newcomer(arrival, arrival.fresh(ParamRange::ALL), *message),
                )?;
            }
        }
        Ok(())
    }

    /// Adds a newcomer in a free entry or in that of a neighbor that contradicted itself.
    fn insert(&mut self, mut index: usize, newcomer: NeighborEntry<S, L, W, E>) -> Result<(), FrameError> {
        if self.entries.is_full() {
            let is_discredited =
                |entry: &&NeighborEntry<S, L, W, E>| entry.has_contradicted && !entry.is_trusted;
            let out = self.entries.iter().find(is_discredited).ok_or(FrameError::TableFull)?.message.sender;
            self.remove(out);
            index = index.saturating_sub((out < newcomer.message.sender).into());
        }
        self.entries.push(newcomer).map_err(|_| FrameError::TableFull)?;
        // Moves the newcomer to its place. `Vec::insert` would link `memmove`, 1.6 KB on boards.
        let mut tail = self.entries.get_mut(index..).unwrap_or_default();
        while let [rest @ .., last] = tail
            && let Some(before) = rest.last_mut()
        {
            core::mem::swap(before, last);
            tail = rest;
        }
        Ok(())
    }

    /// Adds the numbers of a message that a frame carried. Other numbers are unchanged.
    ///
    /// `compare` compares the new state with the sender's track, given the ticks since the last frame
    /// and the number of ticks with a comparison. It returns the new track and whether the state is
    /// plausible.
    ///
    /// # Errors
    /// As [`NeighborTable::update`]; [`FrameError::Implausible`] if the state contradicts the track. The
    /// sender is then on probation.
    pub fn update_parts(
        &mut self, arrival: &Arrival<S>, message: &Message<S, L, W>, payload: Payload,
        compare: impl Fn(&S, &S, u32, u8, &mut E) -> (S, bool),
    ) -> Result<(), FrameError>
    where
        S: State,
        L: DelayLines,
        W: Tensor,
        E: Copy + Default,
    {
        let found = self.entries.binary_search_by_key(&message.sender, |entry| entry.message.sender);
        let index = match found {
            Ok(index) => index,
            Err(index) => {
                // Numbers that the frame does not carry are zero.
                let mut first = Message::empty(message.state);
                first.sender = message.sender;
                merge(&mut first, message, payload);
                let fresh = arrival.fresh(payload.wide);
                return self.insert(index, NeighborEntry::newcomer(arrival, fresh, first));
            }
        };
        let Some(entry) = self.entries.get_mut(index) else { return Err(FrameError::Old) };
        if arrival.sequence <= entry.sequence {
            return Err(FrameError::Old);
        }
        let is_repeated = entry.last_received == arrival.tick;
        if !is_repeated {
            entry.track_before = Some(entry.track);
            entry.compared_ticks = entry.compared_ticks.saturating_add(1);
        }
        // All frames of a tick are compared with the track before it. Many small steps within a tick
        // do not add up.
        let compare_as = |track: &NeighborTrack<S, E>, compared_ticks: u8, mut stats: E| {
            let silent = arrival.sent.saturating_sub(track.sent);
            let (state, plausible) =
                compare(&track.state, &message.state, silent, compared_ticks, &mut stats);
            (NeighborTrack { state, sent: arrival.sent, stats }, plausible)
        };
        let compare = |track: &NeighborTrack<S, E>| compare_as(track, entry.compared_ticks, track.stats);
        let mut is_plausible = true;
        entry.disputed_track =
            entry.disputed_track.filter(|track| arrival.sent.saturating_sub(track.sent) <= DISPUTE_TICKS);
        let confirmed = entry.disputed_track.as_ref().map(compare).filter(|(_, plausible)| *plausible);
        if let Some((track, _)) = confirmed {
            // Another sender had used the address.
            (entry.track, entry.track_before) = (track, entry.disputed_track.take());
        } else if let Some(before) = &entry.track_before {
            (entry.track, is_plausible) = compare(before);
            // A frame that is implausible even for a newcomer may come from another sender. A liar
            // moves away in small steps.
            let was_plausible = entry.plausible_frames > 0 || entry.compared_ticks <= 1;
            if !is_plausible
                && was_plausible
                && entry.disputed_track.is_none()
                && !compare_as(before, 1, E::default()).1
            {
                entry.disputed_track = Some(*before);
            }
        } else {
            entry.track = NeighborTrack::new(message.state, arrival.sent);
        }
        merge(&mut entry.message, message, payload);
        entry.message.state = arrival.state;
        entry.sequence = arrival.sequence;
        if !is_repeated {
            entry.fresh = ParamRange::NONE;
            entry.plausible_frames = entry.plausible_frames.saturating_add(1);
        }
        if !is_plausible {
            entry.plausible_frames = 0;
            entry.has_contradicted = true;
        }
        if payload.wide != ParamRange::NONE {
            entry.fresh = entry.fresh.joined(arrival.fresh(payload.wide));
        }
        (entry.last_received, entry.shares_model) = (arrival.tick, arrival.shares_model);
        if is_plausible { Ok(()) } else { Err(FrameError::Implausible) }
    }

    /// Ends the reception of `tick`: evicts and predicts. Returns the number of evicted neighbors.
    ///
    /// Neighbors that were silent for more than `hold` ticks are evicted, and those of an obsolete time.
    pub fn end_receive(&mut self, tick: u32, hold: u32, predict: impl Fn(&S, u32) -> S) -> usize {
        let before = self.entries.len();
        let predicted_to = core::mem::replace(&mut self.predicted_to, tick);
        self.entries.retain_mut(|entry| {
            let silent = tick.saturating_sub(entry.last_received);
            if silent > 0 && silent <= hold {
                let elapsed = tick.saturating_sub(predicted_to.max(entry.last_received));
                entry.message.state = predict(&entry.message.state, elapsed);
            }
            silent <= hold && entry.last_received <= tick
        });
        before - self.entries.len()
    }

    /// Decides which neighbors are trusted. Newcomers are not trusted before.
    pub fn update_trust(&mut self, is_trusted: impl Fn(&NeighborEntry<S, L, W, E>) -> bool) {
        for entry in &mut self.entries {
            entry.is_trusted = is_trusted(entry);
        }
    }

    /// Adds the trusted neighbors to a view for the agent.
    ///
    /// A view that is returned would be copied.
    #[inline]
    pub fn view_in<'a, M, T>(&'a self, tick: u32, neighbors: &mut Neighbors<'a, M, T, N>)
    where
        M: Model<Taps = L, Wide = W>,
        T: Task<State = S>,
    {
        for entry in self.trusted() {
            let fresh = (entry.last_received == tick).then_some(entry.fresh);
            neighbors.push(Neighbor { message: &entry.message, shares_model: entry.shares_model, fresh });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{entry::FRESH_TICKS, *};

    type Table = NeighborTable<f32, (), (), 16>;

    fn message(sender: NodeId, sequence: u32) -> Message<f32, (), ()> {
        Message { sender, tick: sequence, degree: 0, state: 1.0, taps: (), wide: () }
    }

    fn arrival(tick: u32, sequence: u32) -> Arrival<f32> {
        Arrival { tick, sent: tick, sequence, state: 1.0, shares_model: true }
    }

    fn receive<const N: usize>(
        table: &mut NeighborTable<f32, (), (), N>, tick: u32, message: Message<f32, (), ()>,
    ) -> Result<(), FrameError> {
        table.update(&arrival(tick, message.tick), &message)
    }

    fn ids(table: &Table) -> std::vec::Vec<NodeId> {
        table.iter().map(|entry| entry.message.sender).collect()
    }

    extern crate std;

    #[test]
    fn neighbors_are_kept_in_ascending_address() {
        let mut table = Table::new();
        for id in [7, 3, 9, 1, 8] {
            receive(&mut table, 0, message(id, 0)).unwrap();
        }
        assert_eq!(ids(&table), [1, 3, 7, 8, 9]);
    }

    #[test]
    fn frame_that_is_not_newer_is_rejected() {
        let mut table = Table::new();
        receive(&mut table, 0, message(5, 10)).unwrap();
        assert_eq!(receive(&mut table, 1, message(5, 10)), Err(FrameError::Old));
        assert_eq!(receive(&mut table, 1, message(5, 9)), Err(FrameError::Old));
        assert_eq!(table.iter().next().unwrap().last_received, 0);
        receive(&mut table, 1, message(5, 11)).unwrap();
    }

    #[test]
    fn sender_with_restarted_numbers_is_accepted_after_its_eviction() {
        const HOLD: u32 = 3;
        let mut table = Table::new();
        receive(&mut table, 10, message(5, u32::MAX)).unwrap();
        table.end_receive(10, HOLD, |state, _| *state);
        let rejected = (11..30).take_while(|&tick| {
            let old = receive(&mut table, tick, message(5, tick - 11)) == Err(FrameError::Old);
            table.end_receive(tick, HOLD, |state, _| *state);
            old
        });
        assert_eq!(rejected.count(), HOLD as usize + 1);
        assert_eq!(ids(&table), [5]);
    }

    #[test]
    fn neighbors_of_an_obsolete_time_are_evicted() {
        let mut table = Table::new();
        receive(&mut table, 5000, message(5, 5000)).unwrap();
        table.end_receive(5000, 3, |state, _| *state);
        assert_eq!(table.end_receive(10, 3, |state, _| *state), 1);
        receive(&mut table, 11, message(5, 11)).unwrap();
    }

    #[test]
    fn late_parameters_are_not_fresh() {
        for (late, fresh) in
            [(0, ParamRange::ALL), (FRESH_TICKS, ParamRange::ALL), (FRESH_TICKS + 1, ParamRange::NONE)]
        {
            let mut table = Table::new();
            // The first message is of a newcomer, the second of a known neighbor.
            for tick in [20, 30] {
                let arrival = Arrival { sent: tick - late, ..arrival(tick, tick - late) };
                table.update(&arrival, &message(5, tick - late)).unwrap();
                assert_eq!(table.iter().next().unwrap().fresh, fresh, "late by {late}");
            }
        }
    }

    #[test]
    fn flood_of_200_addresses_displaces_no_neighbor() {
        let mut table = Table::new();
        for id in 100..116 {
            receive(&mut table, 0, message(id, 0)).unwrap();
        }
        table.end_receive(0, 0, |state, _| *state);
        for tick in 1..50 {
            // The flood arrives before the frames of the neighbors in every tick.
            for id in 0..200 {
                let known = (100..116).contains(&id);
                if !known {
                    assert_eq!(receive(&mut table, tick, message(id, tick)), Err(FrameError::TableFull));
                }
            }
            for id in 100..116 {
                receive(&mut table, tick, message(id, tick)).unwrap();
            }
            assert_eq!(table.end_receive(tick, 0, |state, _| *state), 0);
            assert_eq!(ids(&table), (100..116).collect::<std::vec::Vec<_>>());
        }
    }

    #[test]
    fn silent_neighbors_are_predicted_and_then_evicted() {
        let mut table = Table::new();
        receive(&mut table, 10, message(5, 0)).unwrap();
        for tick in 10..13 {
            assert_eq!(table.end_receive(tick, 2, |state, ticks| state + ticks as f32), 0);
            assert_eq!(table.iter().next().unwrap().message.state, 1.0 + (tick - 10) as f32);
        }
        assert_eq!(table.end_receive(13, 2, |state, _| *state), 1);
        assert!(ids(&table).is_empty());
    }

    #[test]
    fn silent_neighbors_are_predicted_over_skipped_ticks() {
        let mut table = Table::new();
        receive(&mut table, 10, message(5, 0)).unwrap();
        for (tick, state) in [(10, 1.0), (11, 2.0), (15, 6.0), (15, 6.0), (16, 7.0)] {
            assert_eq!(table.end_receive(tick, 6, |state, ticks| state + ticks as f32), 0);
            assert_eq!(table.iter().next().unwrap().message.state, state, "tick {tick}");
        }
    }

    #[test]
    fn late_state_is_predicted() {
        let mut table = Table::new();
        let late = Arrival { sent: 7, state: 4.0, ..arrival(10, 7) };
        table.update(&late, &message(5, 7)).unwrap();
        let entry = *table.iter().next().unwrap();
        assert_eq!(
            (entry.last_received, entry.message.state, entry.track),
            (10, 4.0, NeighborTrack::new(1.0, 7))
        );
    }

    #[test]
    fn invented_addresses_keep_entries_only_while_plausible() {
        let mut table = Table::new();
        for id in 10..26 {
            receive(&mut table, 0, message(id, 0)).unwrap();
        }
        table.update_trust(|_| true);
        assert_eq!(receive(&mut table, 1, message(3, 1)), Err(FrameError::TableFull));
        // Two contradict themselves: their entries go to the next two newcomers.
        for entry in table.entries.iter_mut().filter(|entry| [10, 17].contains(&entry.message.sender)) {
            entry.has_contradicted = true;
        }
        table.update_trust(|entry| !entry.has_contradicted);
        assert_eq!(receive(&mut table, 2, message(3, 2)), Ok(()));
        assert_eq!(receive(&mut table, 2, message(30, 2)), Ok(()));
        assert_eq!(receive(&mut table, 2, message(4, 2)), Err(FrameError::TableFull));
        let expected = [3].into_iter().chain((11..17).chain(18..26)).chain([30]);
        assert!(ids(&table).into_iter().eq(expected), "{:?}", ids(&table));
        // The others fall silent and are evicted.
        for tick in 3..=4 {
            receive(&mut table, tick, message(3, tick)).unwrap();
            table.end_receive(tick, 1, |state, _| *state);
        }
        assert_eq!(ids(&table), [3]);
    }

    #[test]
    fn newcomer_takes_a_free_entry() {
        let mut table = NeighborTable::<f32, (), (), 1>::new();
        receive(&mut table, 0, message(1, 0)).unwrap();
        assert_eq!(receive(&mut table, 1, message(2, 0)), Err(FrameError::TableFull));
        table.end_receive(1, 0, |state, _| *state);
        receive(&mut table, 2, message(2, 1)).unwrap();
        assert!(table.iter().map(|entry| entry.message.sender).eq([2]));
    }
}
