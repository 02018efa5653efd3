//! Freshness: whose frames were heard last, and which of those that come are worth opening.

use heapless::Vec;

use crate::{error::FrameError, header::FrameId};
use wdgnn_core::task::NodeId;

/// How many senders a receiver keeps count of. Further ones are refused unless somebody can be forgotten: a full list never turns
/// into trust.
pub const MAX_SENDERS: usize = 64;

/// How many ticks ago a frame may have been said: one for a radio that hands over what it heard in the next tick, and one for clocks that
/// differ. Nobody without the key can make a swarm's words older than that.
pub const LATE_TICKS: u32 = 2;

/// How many ticks the clocks of one swarm may differ: a frame from further ahead is refused.
pub const GUARD_TICKS: u32 = 2;

/// After more ticks of silence than these, a sender may be forgotten. What was accepted of it is too old long before; but who speaks in
/// every fifth tick, as on slow radios, must not be forgotten from one word to the next, or a crowd of names would take its place. Five such exchanges.
pub const FORGET_TICKS: u32 = 25;

/// Whom a receiver has heard.
pub(super) struct ReplayWindow {
    last: Vec<Last, MAX_SENDERS>,
    /// The tick of the first frame that it looked at, less the guard.
    since: Option<u32>,
    /// How many robots there are, with addresses from 0 on; nobody knows while it is none.
    pub robots: Option<NodeId>,
}

/// The last good frame of a sender.
#[derive(Clone, Copy)]
struct Last {
    sender: NodeId,
    sequence: u32,
    /// The tick in which it was heard.
    heard: u32,
}

impl ReplayWindow {
    /// Nobody yet.
    pub const fn new() -> Self {
        Self { last: Vec::new(), since: None, robots: None }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.last.len()
    }

    /// Whether somebody was heard, and not forgotten.
    pub fn knows(&self, name: NodeId) -> bool {
        self.last.iter().any(|last| last.sender == name)
    }

    /// Whether a frame is of somebody there can be, of these ticks, and newer than the last of its sender; of so many frames per exchange.
    pub fn check(&mut self, identity: &FrameId, frames: u32, now: u32) -> Result<(), FrameError> {
        // Where time has gone back, it begins to listen anew.
        let since = now.saturating_sub(GUARD_TICKS);
        let since = self.since.map_or(since, |began| began.min(since));
        self.since = Some(since);
        if self.unlisted(identity) {
            return Err(FrameError::UnknownSender);
        }
        let said = identity.sequence / frames.max(1);
        if said < since.max(now.saturating_sub(LATE_TICKS)) || said > now.saturating_add(GUARD_TICKS) {
            return Err(FrameError::OutOfWindow);
        }
        match self.newer(identity, frames, now) {
            Some(false) => Err(FrameError::Replayed),
            None if self.last.is_full() && self.forgettable(now).is_none() => Err(FrameError::TooManySenders),
            _ => Ok(()),
        }
    }

    /// Whether a frame, whenever it was sent, is of somebody who is not there, or a recording of somebody who was heard since.
    pub fn is_impossible(&self, identity: &FrameId, frames: u32, now: u32) -> bool {
        self.unlisted(identity) || self.newer(identity, frames, now) == Some(false)
    }

    fn unlisted(&self, identity: &FrameId) -> bool {
        self.robots.is_some_and(|robots| identity.sender >= robots)
    }

    /// Whether a frame is newer than the last of its sender, if that one is known. What was heard further ahead than clocks may differ
    /// was heard in a time that is none any more.
    fn newer(&self, identity: &FrameId, frames: u32, now: u32) -> Option<bool> {
        let last = self.last.iter().find(|last| last.sender == identity.sender)?;
        let gone = last.sequence / frames.max(1) > now.saturating_add(GUARD_TICKS);
        Some(gone || identity.sequence > last.sequence)
    }

    /// Who makes room for a new sender: who was silent for longest, if that is long enough. Who was heard in a time that is none any
    /// more is gone, too.
    fn forgettable(&mut self, now: u32) -> Option<&mut Last> {
        let silent = self.last.iter_mut().max_by_key(|last| now.abs_diff(last.heard))?;
        (now.abs_diff(silent.heard) > FORGET_TICKS).then_some(silent)
    }

    /// The number of somebody's last frame, 0 if there was none.
    pub fn last(&self, name: NodeId) -> u32 {
        self.last.iter().find(|last| last.sender == name).map_or(0, |last| last.sequence)
    }

    /// The last frame in this name was not its owner's: it is as if it had not been heard.
    pub fn put_back(&mut self, name: NodeId, sequence: u32) {
        if let Some(known) = self.last.iter_mut().find(|known| known.sender == name) {
            known.sequence = sequence;
        }
    }

    /// Remembers a frame as its sender's last.
    pub fn remember(&mut self, identity: &FrameId, now: u32) {
        let FrameId { sender, sequence, .. } = *identity;
        let last = Last { sender, sequence, heard: now };
        if let Some(known) = self.last.iter_mut().find(|known| known.sender == sender) {
            *known = last;
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
    fn who_was_heard_is_known_by_its_last_frame_and_that_can_be_taken_back() {
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
