//! What everybody goes back to when a worker is lost.
//!
//! Each worker keeps its own share of the last snapshot and that of the worker before it, so that whoever takes a lost
//! worker's place gets that one's share from the next; of the one before too, until everybody is known to have the last. The start is a snapshot that
//! everybody has.

use std::collections::BTreeMap;

use wdgnn_core::passage::Passage;

use crate::passing;

/// So many snapshots are kept of a worker: while the last is being made, somebody may be lost who has none of it yet.
const KEPT: usize = 2;

/// The shares of snapshots that a worker has: of which worker, at which tick.
#[derive(Clone, Debug, Default)]
pub struct Snapshots(BTreeMap<(usize, u32), Vec<u8>>);

impl Snapshots {
    /// Keeps a worker's share, and forgets the oldest.
    pub fn keep(&mut self, worker: usize, tick: u32, share: Vec<u8>) {
        self.0.insert((worker, tick), share);
        let ticks: Vec<u32> = self.0.keys().filter(|(of, _)| *of == worker).map(|(_, tick)| *tick).collect();
        for tick in &ticks[..ticks.len().saturating_sub(KEPT)] {
            self.0.remove(&(worker, *tick));
        }
    }

    /// A worker's share, if it is here.
    #[must_use]
    pub fn of(&self, worker: usize, tick: u32) -> Option<&[u8]> {
        self.0.get(&(worker, tick)).map(Vec::as_slice)
    }

    /// Nobody goes back further than to this tick.
    pub fn forget_before(&mut self, tick: u32) {
        self.0.retain(|(_, at), _| *at >= tick);
    }

    /// Nothing after a tick has happened.
    pub fn forget_after(&mut self, tick: u32) {
        self.0.retain(|(_, at), _| *at <= tick);
    }

    /// Which there are.
    #[must_use]
    pub fn list(&self) -> Vec<(usize, u32)> {
        self.0.keys().copied().collect()
    }
}

/// What a worker says when an age begins: what it flies, and which shares it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RollCall {
    /// A checksum of everything that all workers have to agree about.
    pub settings: u64,
    /// Which shares it has, of which worker and tick.
    pub shares: Vec<(usize, u32)>,
}

impl RollCall {
    /// Passes.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        passage.long(&mut self.settings);
        passing::list(passage, &mut self.shares, Default::default, |passage, (worker, tick)| {
            passing::index(passage, worker);
            passage.word(tick);
        });
    }
}

/// The last tick of which the shares of all workers are there, by what everybody says to have; 0 is the start.
#[must_use]
pub fn last_common(calls: &[RollCall]) -> u32 {
    let there = |worker: usize, tick: u32| calls.iter().any(|call| call.shares.contains(&(worker, tick)));
    let ticks = calls.iter().flat_map(|call| &call.shares).map(|(_, tick)| *tick);
    ticks.filter(|tick| (0..calls.len()).all(|worker| there(worker, *tick))).max().unwrap_or(0)
}

/// Who sends a worker its share of a snapshot: the first of those who have it, unless it has that itself.
#[must_use]
pub fn sender(calls: &[RollCall], worker: usize, tick: u32) -> Option<usize> {
    let has = |call: &RollCall| call.shares.contains(&(worker, tick));
    if tick == 0 || has(&calls[worker]) { None } else { calls.iter().position(has) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(shares: &[(usize, u32)]) -> RollCall {
        RollCall { settings: 0, shares: shares.to_vec() }
    }

    #[test]
    fn everybody_goes_back_to_what_all_have_together() {
        let calls = [
            call(&[(0, 50), (0, 100), (2, 50), (2, 100)]),
            call(&[]),
            call(&[(2, 50), (2, 100), (1, 50), (1, 100)]),
        ];
        assert_eq!(last_common(&calls), 100);
        assert_eq!((sender(&calls, 1, 100), sender(&calls, 0, 100)), (Some(2), None));
        let mut half = calls;
        half[2].shares.pop();
        assert_eq!(last_common(&half), 50, "one share of the last is nowhere");
        half[2].shares.clear();
        assert_eq!(last_common(&half), 0, "two workers side by side were lost");
        assert_eq!(sender(&half, 1, 0), None, "everybody has the start");
    }

    #[test]
    fn two_of_each_worker_are_kept() {
        let mut snapshots = Snapshots::default();
        for tick in [50, 100, 150] {
            snapshots.keep(0, tick, vec![tick as u8]);
            snapshots.keep(1, tick, Vec::new());
        }
        assert_eq!(snapshots.list(), [(0, 100), (0, 150), (1, 100), (1, 150)]);
        snapshots.forget_after(100);
        assert_eq!((snapshots.of(0, 150), snapshots.of(0, 100)), (None, Some(&[100][..])));
        snapshots.keep(0, 150, Vec::new());
        snapshots.forget_before(150);
        assert_eq!(snapshots.list(), [(0, 150)]);
    }
}
