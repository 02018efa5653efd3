//! Identities of neighbors, where peers must prove them ([`wdgnn_link::security::peer_auth`]).
//!
//! Until one neighbor has proved its identity, as in the first exchanges of a flight, all neighbors
//! count. From then on, a neighbor without proof is an obstacle only: it is avoided, but it neither
//! counts nor takes part in the averaging. It makes room for a neighbor with proof, and only a few
//! addresses that do not answer challenges are kept. Invented addresses therefore neither fill the
//! table nor lead robots away.

use wdgnn_core::{message::Message, task::NodeId};
use wdgnn_link::{
    error::FrameError,
    header::Payload,
    link::RadioLink,
    security::{PeerEvent, PeerIdentity},
};

use super::Robot;
use crate::{
    config::{LinkOf, RobotTypes, StateOf},
    neighbors::{Arrival, NeighborEntry},
};

/// Number of unanswered challenges that losses explain.
const MAX_UNANSWERED: u8 = 2;
/// Number of neighbors with more unanswered challenges that are kept as obstacles.
const MAX_UNIDENTIFIED: usize = 4;

/// Whether a sender has proved its identity, or need not.
pub(super) fn is_proven(link: &impl RadioLink, sender: NodeId, tick: u32) -> bool {
    link.security().peer_identity(sender, tick) != PeerIdentity::Unproven
}

impl<C: RobotTypes, L: LinkOf<C>, const N: usize> Robot<C, L, N> {
    pub(super) fn is_proven(&self, sender: NodeId) -> bool {
        is_proven(&self.link, sender, self.tick())
    }

    /// Whether a neighbor has proved its identity.
    pub(super) fn has_proven_neighbor(&self) -> bool {
        self.table.iter().any(|entry| self.is_proven(entry.message.sender))
    }

    /// Whether a sender has left more challenges unanswered than losses explain.
    fn is_unidentified(&self, sender: NodeId) -> bool {
        !self.is_proven(sender) && self.link.security().unanswered_challenges(sender) > MAX_UNANSWERED
    }

    /// Updates the table by the received message, depending on the sender's identity.
    #[inline(never)] // returns its stack before the next step
    pub(super) fn update_identified(
        &mut self, arrival: &Arrival<StateOf<C>>, payload: Option<Payload>, is_proof: bool,
    ) -> Result<(), FrameError> {
        let Message { sender, .. } = self.received;
        self.make_room(sender, arrival.sequence, is_proof)?;
        let is_proven = self.is_proven(sender);
        let tick = self.tick();
        let before = self.table.get(sender).copied();
        let Self { config, controller, table, received, link, .. } = self;
        let stats = &controller.own_track.stats;
        let mut updated = Self::update_table(table, config, stats, arrival, received, payload);
        if updated == Err(FrameError::Implausible) && is_proof {
            // Earlier frames with this address came from another sender.
            table.remove(sender);
            updated = Self::update_table(table, config, stats, arrival, received, payload);
        } else if updated == Err(FrameError::Implausible) {
            if let Some(before) = before.filter(|_| is_proven) {
                // Another sender used the address. Its owner is still at its track, if that was ever
                // confirmed.
                let has_contradicted = before.has_contradicted || before.plausible_frames == 0;
                table.restore(NeighborEntry { has_contradicted, ..before });
            }
            link.security_mut().report_peer_event(sender, PeerEvent::Contradicted, tick);
        }
        updated
    }

    /// Makes room for a sender that is not in the table, depending on its identity.
    fn make_room(&mut self, sender: NodeId, sequence: u32, is_proof: bool) -> Result<(), FrameError> {
        let known = self.table.get(sender).map(|entry| entry.sequence);
        if known.is_none() && !is_proof {
            // The sender was out of reach. The address may have another user since its proof.
            let tick = self.tick();
            self.link.security_mut().report_peer_event(sender, PeerEvent::Returned, tick);
        }
        match known {
            // A proof is valid whatever was sent with the address before.
            Some(last) if is_proof && last >= sequence => self.table.remove(sender),
            Some(_) => return Ok(()),
            None => {}
        }
        if self.is_proven(sender) {
            if self.table.iter().len() == N {
                let unproven = self.table.iter().map(|entry| entry.message.sender);
                let unproven = unproven.filter(|sender| !self.is_proven(*sender));
                if let Some(out) =
                    unproven.max_by_key(|sender| self.link.security().unanswered_challenges(*sender))
                {
                    self.table.remove(out);
                }
            }
            return Ok(());
        }
        let count = self.table.iter().filter(|entry| self.is_unidentified(entry.message.sender)).count();
        if self.is_unidentified(sender) && count >= MAX_UNIDENTIFIED && self.has_proven_neighbor() {
            return Err(FrameError::TableFull);
        }
        Ok(())
    }

    /// Evicts neighbors that do not answer challenges, all but a few.
    pub(super) fn evict_unidentified(&mut self) {
        if !self.has_proven_neighbor() {
            return;
        }
        loop {
            let senders = self.table.iter().map(|entry| entry.message.sender);
            let unidentified = senders.filter(|sender| self.is_unidentified(*sender));
            if unidentified.clone().count() <= MAX_UNIDENTIFIED {
                return;
            }
            let Some(out) =
                unidentified.max_by_key(|sender| self.link.security().unanswered_challenges(*sender))
            else {
                return;
            };
            self.table.remove(out);
        }
    }
}
