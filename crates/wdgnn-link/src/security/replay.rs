//! Replay window: accepts only new frames from a limited number of senders.

use heapless::Vec;

use crate::{error::FrameError, header::FrameId};
use wdgnn_core::task::NodeId;

/// Maximum number of senders that a receiver tracks.
///
/// Frames of further senders are rejected unless a silent one can be evicted: a full table never
/// weakens the replay check.
pub const MAX_SENDERS: usize = 64;

/// Maximum age of a frame in ticks.
///
/// One tick is for radios that deliver a frame in the next tick, the other one for clock
/// differences. An attacker without the key cannot delay frames further.
pub const MAX_FRAME_AGE_TICKS: u32 = 2;

/// Maximum lead of a frame in ticks: the clock difference within a swarm.
pub const MAX_FRAME_LEAD_TICKS: u32 = 2;

/// Silence in ticks after which a sender may be evicted.
///
/// Frames that were accepted from it are too old for a replay long before. On slow radios, robots
/// send in every fifth tick. They must not be evicted between two frames, or an attacker could
/// displace them with many addresses. 25 ticks are five such exchanges.
pub const SENDER_TIMEOUT_TICKS: u32 = 25;

/// Replay window over all senders.
pub(super) struct ReplayWindow {
    last: Vec<Last, MAX_SENDERS>,
    /// Tick of the first checked frame, minus the guard.
    since: Option<u32>,
    /// Number of robots, with addresses from 0 on; `None` if unknown.
    pub robots: Option<NodeId>,
}

/// Last accepted frame of a sender.
#[derive(Clone, Copy)]
struct Last {
    sender: NodeId,
    sequence: u32,
    /// Tick of reception.
    heard: u32,
}

impl ReplayWindow {
    /// Creates an empty window.
    pub const fn new() -> Self {
        Self { last: Vec::new(), since: None, robots: None }
    }

    /// Number of tracked senders.
    pub fn count(&self) -> usize {
        self.last.len()
    }

    /// Returns whether a sender is tracked.
    pub fn knows(&self, name: NodeId) -> bool {
        self.last.iter().any(|last| last.sender == name)
    }

    /// Checks that a frame is from a possible sender, current and not replayed.
    ///
    /// `frames` is the number of frames per exchange.
    pub fn check(&mut self, identity: &FrameId, frames: u32, now: u32) -> Result<(), FrameError> {
        // If the time went back, the window restarts.
        let since = now.saturating_sub(MAX_FRAME_LEAD_TICKS);
        let since = self.since.map_or(since, |earlier| earlier.min(since));
        self.since = Some(since);
        if self.unlisted(identity) {
            return Err(FrameError::UnknownSender);
        }
        let sent = identity.sequence / frames.max(1);
        if sent < since.max(now.saturating_sub(MAX_FRAME_AGE_TICKS))
            || sent > now.saturating_add(MAX_FRAME_LEAD_TICKS)
        {
            return Err(FrameError::OutOfWindow);
        }
        match self.newer(identity, frames, now) {
            Some(false) => Err(FrameError::Replayed),
            None if self.last.is_full() && self.forgettable(now).is_none() => Err(FrameError::TooManySenders),
            _ => Ok(()),
        }
    }

    /// Returns whether a frame of any age is from an unknown sender or replayed.
    pub fn is_impossible(&self, identity: &FrameId, frames: u32, now: u32) -> bool {
        self.unlisted(identity) || self.newer(identity, frames, now) == Some(false)
    }

    fn unlisted(&self, identity: &FrameId) -> bool {
        self.robots.is_some_and(|robots| identity.sender >= robots)
    }

    /// Returns whether a frame is newer than the last of its sender, if tracked.
    ///
    /// A last frame further ahead than clocks may differ belongs to an obsolete time, so every
    /// frame is newer.
    fn newer(&self, identity: &FrameId, frames: u32, now: u32) -> Option<bool> {
        let last = self.last.iter().find(|last| last.sender == identity.sender)?;
        let obsolete = last.sequence / frames.max(1) > now.saturating_add(MAX_FRAME_LEAD_TICKS);
        Some(obsolete || identity.sequence > last.sequence)
    }

    /// Returns the sender that can be evicted: the longest silent one.
    ///
    /// ReplayWindow whose last frame belongs to an obsolete time count as silent.
    fn forgettable(&mut self, now: u32) -> Option<&mut Last> {
        let silent = self.last.iter_mut().max_by_key(|last| now.abs_diff(last.heard))?;
        (now.abs_diff(silent.heard) > SENDER_TIMEOUT_TICKS).then_some(silent)
    }

    /// Sequence number of a sender's last frame, 0 if the sender is not tracked.
    pub fn last(&self, name: NodeId) -> u32 {
        self.last.iter().find(|last| last.sender == name).map_or(0, |last| last.sequence)
    }

    /// Restores a sender's earlier sequence number.
    ///
    /// The last frame under this address was not from its owner.
    pub fn put_back(&mut self, name: NodeId, sequence: u32) {
        if let Some(tracked) = self.last.iter_mut().find(|tracked| tracked.sender == name) {
            tracked.sequence = sequence;
        }
    }

    /// Records a frame as its sender's last.
    pub fn remember(&mut self, identity: &FrameId, now: u32) {
        let FrameId { sender, sequence, .. } = *identity;
        let last = Last { sender, sequence, heard: now };
        if let Some(tracked) = self.last.iter_mut().find(|tracked| tracked.sender == sender) {
            *tracked = last;
        } else if self.last.push(last).is_err()
            && let Some(silent) = self.forgettable(now)
        {
            *silent = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_frame_of_a_sender_is_tracked_and_can_be_restored() {
        let mut senders = ReplayWindow::new();
        assert_eq!((senders.count(), senders.knows(7), senders.last(7)), (0, false, 0));
        let frame = |sender, sequence| FrameId { sender, boot: 1, sequence };
        senders.remember(&frame(7, 100), 100);
        senders.remember(&frame(8, 103), 103);
        senders.remember(&frame(7, 102), 102);
        assert_eq!(senders.count(), 2);
        assert!(senders.knows(7) && senders.knows(8) && !senders.knows(9));
        assert_eq!((senders.last(7), senders.last(8), senders.last(9)), (102, 103, 0));
        assert_eq!(senders.check(&frame(7, 101), 1, 102), Err(FrameError::Replayed));
        senders.put_back(7, 100);
        assert_eq!((senders.last(7), senders.last(8)), (100, 103));
        assert_eq!(senders.check(&frame(7, 101), 1, 102), Ok(()));
    }
}
