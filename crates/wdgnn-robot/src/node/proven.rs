//! Who is who: names that are proven go before names that are not, where names have to be proven ([`wdgnn_link::security::peer_auth`]).
//!
//! While nobody has proven its name, as in the first exchanges of a flight, everybody counts. From then on, a name that is not proven is a
//! body only: kept clear of, and neither counted nor averaged with. It makes room for one that is proven, and of those that were asked for a
//! proof in vain there are a few at most. So invented names neither fill the table nor lead anybody away.

use super::{MessageOf, Node, Scratch};
use crate::neighbors::{Heard, Neighbor};
use crate::tasks::RobotTask;
use wdgnn_core::{model::Model, task::NodeId};
use wdgnn_link::{encoding::Codec, error::FrameError, header::Payload};

/// Who was asked more often than this in vain takes one of a few places: as often as losses explain.
const MOST_ASKED: u8 = 2;
/// How many of those are bodies.
const MOST_BODIES: usize = 4;

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: Codec,
{
    /// Whether somebody around has proven its name.
    pub(super) fn somebody_is_proven(&self) -> bool {
        self.neighbors.iter().any(|n| self.codec.proven(n.beacon.sender, self.memory.tick))
    }

    /// Whether a name that was asked for a proof in vain too often is one of many.
    fn nameless(&self, name: NodeId) -> bool {
        !self.codec.proven(name, self.memory.tick) && self.codec.asked(name) > MOST_ASKED
    }

    /// Takes what was just read into the table, as far as its sender's name is worth it.
    #[inline(never)] // its stack is given back before the next verb
    pub(super) fn keep_named(&mut self, now: &Heard<T::State>, parts: Option<Payload>) -> Result<(), FrameError> {
        let Scratch(MessageOf::<M, T> { sender, sequence, .. }) = self.heard;
        let proof = self.codec.was_proof();
        self.make_room(sender, sequence)?;
        let Scratch(beacon) = &self.heard;
        let listener = (&self.task, &self.memory.own.evidence, self.behavior.probation);
        let proven = self.codec.proven(sender, self.memory.tick);
        let before = self.neighbors.iter().find(|n| n.beacon.sender == sender).copied();
        let mut kept = Self::keep(&mut self.neighbors, listener, now, beacon, parts);
        if kept == Err(FrameError::Implausible) && proof {
            // What was said in its name before was not its own.
            self.neighbors.remove(sender);
            kept = Self::keep(&mut self.neighbors, listener, now, beacon, parts);
        } else if kept == Err(FrameError::Implausible) {
            if let Some(before) = before.filter(|_| proven) {
                // Somebody else has said it: the owner of the name is still where it was, if it was ever borne out.
                self.neighbors
                    .put_back(Neighbor { doubted: before.doubted || before.proven == 0, ..before });
            }
            self.codec.contradicted(sender, self.memory.tick);
        }
        if now.other_model { kept.and(Err(FrameError::Model)) } else { kept }
    }

    /// Makes room for a sender that is not in the table, as far as its name is worth it. What it proves itself is true, whatever was said in
    /// its name before.
    fn make_room(&mut self, sender: NodeId, sequence: u32) -> Result<(), FrameError> {
        let known = self.neighbors.iter().find(|n| n.beacon.sender == sender);
        if known.is_none() && !self.codec.was_proof() {
            // It was out of reach: whoever speaks in its name now need not be the one that has proven it then.
            self.codec.lapse(sender);
        }
        if known.is_some_and(|n| self.codec.was_proof() && n.beacon.sequence >= sequence) {
            self.neighbors.remove(sender);
        } else if known.is_some() {
            return Ok(());
        }
        if self.codec.proven(sender, self.memory.tick) {
            if self.neighbors.iter().len() == N {
                let unproven = self.neighbors.iter().map(|n| n.beacon.sender);
                let unproven = unproven.filter(|name| !self.codec.proven(*name, self.memory.tick));
                if let Some(out) = unproven.max_by_key(|name| self.codec.asked(*name)) {
                    self.neighbors.remove(out);
                }
            }
            return Ok(());
        }
        let nameless = self.neighbors.iter().filter(|n| self.nameless(n.beacon.sender)).count();
        if self.nameless(sender) && nameless >= MOST_BODIES && self.somebody_is_proven() {
            return Err(FrameError::TableFull);
        }
        Ok(())
    }

    /// Lets go of those who were asked in vain, all but a few.
    pub(super) fn drop_nameless(&mut self) {
        if !self.somebody_is_proven() {
            return;
        }
        loop {
            let nameless =
                self.neighbors.iter().map(|n| n.beacon.sender).filter(|name| self.nameless(*name));
            if nameless.clone().count() <= MOST_BODIES {
                return;
            }
            let Some(out) = nameless.max_by_key(|name| self.codec.asked(*name)) else { return };
            self.neighbors.remove(out);
        }
    }
}
