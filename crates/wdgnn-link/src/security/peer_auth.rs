//! PeerAuth that cannot be taken: proofs of names between pairs of robots.
//!
//! Whoever has the swarm's key can speak in every name, so it is no proof of one. Every robot has a personal key, which nobody else but the
//! operator has; from it follows a key for each other robot, which the operator tells that robot alone ([`pair_key`]). By that key, a robot
//! proves its name to another: a tag over one of its frames' numbers and the state in it, so that the proof is of this very word, and nobody
//! who hears it can say it again about another one, or to a third robot.
//!
//! A frame with proofs takes the place of a beacon now and then. It has a beacon's header and its state, and behind that, in place of taps and
//! parameters, so many of these:
//!
//! | bytes | |
//! |---|---|
//! | 1 | the name of the robot that it is for; with the highest bit set, that one is asked to prove its own name |
//! | 4 | the tag: AES-128 in CBC-MAC mode by the pair's key, of the frame's identity, the byte before, and the state as it is in the frame |
//!
//! The first byte of the frame has [`MARK`] set, and all of it is sealed as every other frame is.
//!
//! * A robot asks whom it hears and does not know to be who it says; asking is a proof, too, so two frames are enough for a pair.
//! * Who asks is answered; who does not answer is asked less and less often.
//! * A proof lasts for [`PROVEN_TICKS`], and is asked for again before it ends.

use heapless::Vec;

use crate::{
    header::FrameId,
    security::{
        ccm::{Block, BlockCipher},
        key::Key,
        key_update::pair_key,
        replay::{FORGET_TICKS, GUARD_TICKS},
    },
};
use wdgnn_core::task::NodeId;

/// Set in the first byte of a frame with proofs.
pub const MARK: u8 = 0x80;
/// For so many ticks a proof lasts: who takes the name of somebody who has just left has it for no longer.
pub const PROVEN_TICKS: u32 = 500;
/// So many ticks before its end, a proof is asked for again.
const RENEWED_TICKS: u32 = 100;
/// So many ticks after the first question the second one is asked, twice as many after that the third, and so on.
const FIRST_WAIT: u32 = 8;
/// It doubles so many times.
const MOST_DOUBLED: u8 = 4;
/// Nobody is answered twice within so many ticks.
const ANSWER_TICKS: u32 = 16;
/// Set beside a name that is asked.
const ASKS: u8 = 0x80;

/// The rank of whom a frame need not speak to.
const NOT_DUE: u16 = u16::MAX;

const TAG_BYTES: usize = 4;
/// Bytes of one proof.
pub(crate) const PROOF_LEN: usize = 1 + TAG_BYTES;
/// Proofs in a frame, at most: each takes three blocks of AES and two keys, in the plane.
pub const MAX_PROOFS: usize = 16;

/// What is known of one name.
#[derive(Clone, Copy)]
struct Known {
    /// One more than the tick in which it was heard last.
    heard: u32,
    /// The tick in which its proof ends.
    until: u32,
    /// The number of the last frame but one in this name,
    before: u32,
    /// and of the last one with a proof.
    last: u32,
    /// From when on it may be asked again.
    ask: u32,
    /// From when on it may be answered again.
    answer: u32,
    /// How often it was asked and has not answered.
    asked: u8,
    /// It has asked.
    asks: bool,
}

impl Known {
    const NOTHING: Self =
        Self { heard: 0, until: 0, before: 0, last: 0, ask: 0, answer: 0, asked: 0, asks: false };

    /// Whether it is around. Who was heard in a time that is none any more is not.
    fn near(&self, now: u32) -> bool {
        self.heard > 0 && now.saturating_add(1).abs_diff(self.heard) <= FORGET_TICKS
    }

    fn proven(&self, now: u32) -> bool {
        self.until > now && self.until - now <= PROVEN_TICKS + GUARD_TICKS
    }

    /// Whether it is to be asked: its proof ends soon, and it was not asked just now.
    fn doubtful(&self, now: u32) -> bool {
        let ends = !self.proven(now) || self.until - now <= RENEWED_TICKS;
        ends && passed(self.ask, now)
    }
}

/// Whether a tick has come; one that is further ahead than anybody waits is of a time that is none any more.
fn passed(tick: u32, now: u32) -> bool {
    now >= tick || tick - now > FIRST_WAIT << (MOST_DOUBLED + 1)
}

/// What a frame with proofs says to this robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofResult {
    /// It is not among those whom it speaks to.
    None,
    /// The sender is who it says.
    Proven,
    /// Somebody else made the tag.
    Forged,
}

/// Who has proven its name to a robot, and to whom it has to prove its own.
pub(super) struct PeerAuth<const ROSTER: usize> {
    personal: Key,
    /// The keys by which others prove their names to this robot, by name.
    roster: &'static [Key],
    known: [Known; ROSTER],
    /// Who is spoken to first.
    turn: usize,
    /// The exchange in which it spoke last.
    spoke: Option<u32>,
}

impl<const ROSTER: usize> PeerAuth<ROSTER> {
    pub const fn new(personal: &Key, roster: &'static [Key]) -> Self {
        const { assert!(ROSTER <= ASKS as usize, "a name has seven bits") };
        Self { personal: *personal, roster, known: [Known::NOTHING; ROSTER], turn: 0, spoke: None }
    }

    fn known(&self, name: NodeId) -> Option<&Known> {
        self.known.get(usize::from(name)).filter(|_| usize::from(name) < self.roster.len())
    }

    /// Somebody was heard in this name. `before` is the number of the last frame before that.
    pub fn hear(&mut self, name: NodeId, now: u32, before: u32) {
        if let Some(known) = self.known.get_mut(usize::from(name)) {
            (known.heard, known.before) = (now.saturating_add(1), before);
        }
    }

    /// The number of the last frame in this name before the one that was heard last.
    pub fn before(&self, name: NodeId) -> u32 {
        self.known(name).map_or(0, |known| known.before)
    }

    /// Whether it has spoken in none of so many exchanges before this one; or at all.
    pub fn may_speak(&self, round: u32, pause: u32) -> bool {
        self.spoke.is_none_or(|spoke| round.abs_diff(spoke) > pause)
    }

    /// Somebody contradicts who spoke in this name before: it may be the owner, who is asked again soon.
    pub fn ask_again(&mut self, name: NodeId) {
        if let Some(known) = self.known.get_mut(usize::from(name)) {
            known.ask = known.ask.min(known.answer);
        }
    }

    /// Nobody knows any more who speaks in this name.
    pub fn expire(&mut self, name: NodeId) {
        if let Some(known) = self.known.get_mut(usize::from(name)) {
            // It was proven once: what is older than that is no proof.
            known.until = known.until.min(1);
        }
    }

    /// Whether a name was proven, and not too long ago.
    pub fn is_proven(&self, name: NodeId, now: u32) -> bool {
        self.known(name).is_some_and(|known| known.proven(now))
    }

    /// How often a name was asked in vain. A name that nobody can prove was asked without end.
    pub fn unanswered(&self, name: NodeId) -> u8 {
        self.known(name).map_or(u8::MAX, |known| known.asked)
    }

    /// Whether a frame with proofs is newer than the last one in this name that had one for this robot.
    pub fn is_newer(&self, identity: &FrameId, frames: u32, now: u32) -> bool {
        self.known(identity.sender).is_some_and(|known| {
            let gone = known.last / frames.max(1) > now.saturating_add(GUARD_TICKS);
            gone || known.last < identity.sequence || known.until == 0
        })
    }

    /// To whom a frame is to speak at this tick, at most so many: names, and whether they are asked. Who has asked comes first, then who was
    /// asked least.
    pub fn choose(&mut self, own: NodeId, round: u32, now: u32, most: usize) -> Vec<u8, MAX_PROOFS> {
        self.turn = (self.turn + 1) % ROSTER.max(1);
        let mut chosen = Vec::new();
        // Everybody is looked at once: on a chip, whatever is done before the robot's slot begins has to be done within it.
        let ranks = &mut [NOT_DUE; ROSTER];
        let names = self.roster.len().min(ROSTER);
        for (rank, known) in ranks.iter_mut().zip(&self.known).take(names) {
            if known.near(now) && (known.asks && passed(known.answer, now) || known.doubtful(now)) {
                *rank = u16::from(!known.asks) << 8 | u16::from(known.asked);
            }
        }
        let turn = self.turn.min(names);
        while chosen.len() < most.min(MAX_PROOFS) {
            let due = (turn..names).chain(0..turn).filter(|name| *name != usize::from(own));
            let Some(name) = due.min_by_key(|name| ranks.get(*name)) else { break };
            let (Some(known), Some(rank)) = (self.known.get_mut(name), ranks.get_mut(name)) else { break };
            if core::mem::replace(rank, NOT_DUE) == NOT_DUE {
                break;
            }
            let asks = if known.doubtful(now) {
                known.ask = now.saturating_add(FIRST_WAIT << known.asked.min(MOST_DOUBLED));
                known.asked = known.asked.saturating_add(1);
                ASKS
            } else {
                0
            };
            (known.asks, known.answer) = (false, now.saturating_add(ANSWER_TICKS));
            if chosen.push(name as u8 | asks).is_err() {
                break;
            }
            self.spoke = Some(round);
        }
        chosen
    }

    /// Writes proofs for the `chosen` ones behind a frame's state.
    pub fn write<B: BlockCipher>(&self, identity: &FrameId, state: &[u8], chosen: &[u8], proofs: &mut [u8]) {
        for (proof, &name) in proofs.chunks_exact_mut(PROOF_LEN).zip(chosen) {
            let key = pair_key::<B>(&self.personal, (name & !ASKS).into());
            let tag = tag(&B::with_key(&key), identity, name, state);
            proof.iter_mut().zip([name].into_iter().chain(tag)).for_each(|(to, from)| *to = from);
        }
    }

    /// Reads what the proofs behind a frame's state say to this robot.
    pub fn read<B: BlockCipher>(
        &mut self,
        own: NodeId,
        identity: &FrameId,
        state: &[u8],
        proofs: &[u8],
        now: u32,
    ) -> ProofResult {
        let mine = |proof: &&[u8]| proof.first().is_some_and(|name| NodeId::from(name & !ASKS) == own);
        let Some([name, made @ ..]) = proofs.chunks_exact(PROOF_LEN).find(mine) else {
            return ProofResult::None;
        };
        let sender = usize::from(identity.sender);
        let (Some(key), Some(known)) = (self.roster.get(sender), self.known.get_mut(sender)) else {
            return ProofResult::None;
        };
        let tag = tag(&B::with_key(key), identity, *name, state);
        // In one go: how many bytes fit tells nobody anything.
        if tag.iter().zip(made).fold(0, |differ, (a, b)| differ | (a ^ b)) != 0 {
            return ProofResult::Forged;
        }
        known.until = now.saturating_add(PROVEN_TICKS);
        (known.last, known.asked, known.ask) = (identity.sequence, 0, 0);
        known.asks |= name & ASKS != 0;
        ProofResult::Proven
    }
}

/// The tag by a pair's key, of a word that tells who said it, to whom, which of its words it is, and how long its state is in the frame.
fn tag<B: BlockCipher>(cipher: &B, identity: &FrameId, name: u8, state: &[u8]) -> [u8; TAG_BYTES] {
    let [i0, i1] = identity.sender.to_le_bytes();
    let [b0, b1, b2, b3] = identity.boot.to_le_bytes();
    let [s0, s1, s2, s3] = identity.sequence.to_le_bytes();
    let mut block: Block = [name, state.len() as u8, i0, i1, b0, b1, b2, b3, s0, s1, s2, s3, 0, 0, 0, 0];
    cipher.encrypt(&mut block);
    for piece in state.chunks(block.len()) {
        block.iter_mut().zip(piece).for_each(|(to, from)| *to ^= from);
        cipher.encrypt(&mut block);
    }
    let [a, b, c, d, ..] = block;
    [a, b, c, d]
}
