//! Peer authentication: proofs of a robot's identity to its neighbors.
//!
//! The group key authenticates membership, not identity: any member can impersonate any other.
//! Every robot therefore has a robot key, known only to itself and the operator. It derives a
//! pairwise key for each peer, which the operator gives to that peer alone ([`pair_key`]). With
//! this key, a robot proves its address to the peer: the proof is a tag over the frame's identity
//! and state. It is valid for this frame and this peer only, so it cannot be replayed or relayed to
//! a third robot.
//!
//! A frame with proofs replaces a message now and then. It has the header and the state of a
//! message. Instead of taps and parameters it has several proofs:
//!
//! | bytes | |
//! |---|---|
//! | 1 | address of the peer; with the highest bit set, the peer is asked to prove its own address |
//! | 4 | tag: AES-128 CBC-MAC with the pairwise key, of the frame's identity, the byte before, and the state as encoded |
//!
//! The first byte of the frame has [`PROOF_MARK`] set. The frame is sealed like any other.
//!
//! * A robot requests proofs from unproven peers that it hears. A request is a proof too, so two
//!   frames are enough for a pair.
//! * A robot answers every request. Requests to silent peers become less and less frequent.
//! * A proof expires after [`PROOF_LIFETIME_TICKS`], and the robot requests a new one before.

use heapless::Vec;

use crate::{
    error::FrameError,
    header::FrameId,
    security::{
        PeerEvent,
        ccm::{Block, BlockCipher},
        key::Key,
        key_update::pair_key,
        replay::{MAX_FRAME_LEAD_TICKS, SENDER_TIMEOUT_TICKS},
    },
};
use wdgnn_core::task::NodeId;

/// Bit in the first byte that marks a frame with proofs.
pub const PROOF_MARK: u8 = 0x80;
/// Lifetime of a proof in ticks.
///
/// It bounds the time in which an attacker can use the address of a robot that left.
pub const PROOF_LIFETIME_TICKS: u32 = 500;
/// Ticks before its expiration at which a proof is requested again.
const RENEWED_TICKS: u32 = 100;
/// Ticks from the first request to the second; each further wait doubles.
const FIRST_WAIT: u32 = 8;
/// Maximum number of doublings.
const MOST_DOUBLED: u8 = 4;
/// Minimum ticks between two answers to one peer.
const ANSWER_TICKS: u32 = 16;
/// Bit next to the peer's address that requests a proof.
const ASKS: u8 = 0x80;

/// Rank of peers for which no proof is due.
const NOT_DUE: u16 = u16::MAX;

const TAG_BYTES: usize = 4;
/// Length of a proof in bytes.
pub(crate) const PROOF_LEN: usize = 1 + TAG_BYTES;
/// Maximum number of proofs per frame.
///
/// In the plane, each takes three AES blocks and two key expansions.
pub const MAX_PROOFS_PER_FRAME: usize = 16;

/// Authentication state of a peer.
#[derive(Clone, Copy)]
struct PeerRecord {
    /// Tick of the last frame plus one, 0 before the first.
    heard: u32,
    /// Tick at which the proof expires.
    until: u32,
    /// Sequence number of the frame before the last one under this address.
    before: u32,
    /// Sequence number of the last frame with a proof.
    last: u32,
    /// First tick at which a proof may be requested again.
    ask: u32,
    /// First tick at which a request may be answered again.
    answer: u32,
    /// Number of unanswered requests.
    asked: u8,
    /// Whether the peer requested a proof.
    asks: bool,
}

impl PeerRecord {
    const NOTHING: Self =
        Self { heard: 0, until: 0, before: 0, last: 0, ask: 0, answer: 0, asked: 0, asks: false };

    /// Returns whether the peer was heard recently.
    ///
    /// A last frame far in the future belongs to an obsolete time and does not count.
    fn is_near(&self, now: u32) -> bool {
        self.heard > 0 && now.saturating_add(1).abs_diff(self.heard) <= SENDER_TIMEOUT_TICKS
    }

    fn proven(&self, now: u32) -> bool {
        self.until > now && self.until - now <= PROOF_LIFETIME_TICKS + MAX_FRAME_LEAD_TICKS
    }

    /// Returns whether a request is due: the proof expires soon, none is pending.
    fn needs_request(&self, now: u32) -> bool {
        let ends = !self.proven(now) || self.until - now <= RENEWED_TICKS;
        ends && passed(self.ask, now)
    }
}

/// Returns whether `tick` has come.
///
/// Ticks beyond the longest wait belong to an obsolete time and count as passed.
fn passed(tick: u32, now: u32) -> bool {
    now >= tick || tick - now > FIRST_WAIT << (MOST_DOUBLED + 1)
}

/// Peers that have proven their identity, and proofs that this robot owes.
pub(super) struct PeerAuth<const ROSTER: usize> {
    personal: Key,
    /// Keys with which peers prove their identity to this robot, by address.
    roster: &'static [Key],
    known: [PeerRecord; ROSTER],
    /// Address from which the choice of peers starts.
    turn: usize,
    /// Exchange of the last frame with proofs.
    spoke: Option<u32>,
}

impl<const ROSTER: usize> PeerAuth<ROSTER> {
    pub const fn new(personal: &Key, roster: &'static [Key]) -> Self {
        const { assert!(ROSTER <= ASKS as usize, "an address has seven bits") };
        Self { personal: *personal, roster, known: [PeerRecord::NOTHING; ROSTER], turn: 0, spoke: None }
    }

    fn known(&self, name: NodeId) -> Option<&PeerRecord> {
        self.known.get(usize::from(name)).filter(|_| usize::from(name) < self.roster.len())
    }

    fn known_mut(&mut self, name: NodeId) -> Option<&mut PeerRecord> {
        self.known.get_mut(usize::from(name))
    }

    /// Records a frame under this address.
    ///
    /// `before` is the sequence number of the frame before.
    pub fn hear(&mut self, name: NodeId, now: u32, before: u32) {
        if let Some(known) = self.known_mut(name) {
            (known.heard, known.before) = (now.saturating_add(1), before);
        }
    }

    /// Sequence number of the frame before the last one under this address.
    pub fn before(&self, name: NodeId) -> u32 {
        self.known(name).map_or(0, |known| known.before)
    }

    /// Returns whether the last `pause` exchanges had no frame with proofs.
    pub fn has_paused(&self, round: u32, pause: u32) -> bool {
        self.spoke.is_none_or(|spoke| round.abs_diff(spoke) > pause)
    }

    /// Requests a proof again soon, or revokes the proof of this address.
    pub fn report(&mut self, name: NodeId, event: PeerEvent) {
        let Some(known) = self.known_mut(name) else { return };
        match event {
            // One of two frames that conflict may be from the owner.
            PeerEvent::Contradicted => known.ask = known.ask.min(known.answer),
            // The value 1 means revoked. With 0, recorded proofs would be accepted again.
            PeerEvent::Returned => known.until = known.until.min(1),
        }
    }

    /// Returns whether this address has a proof that has not expired.
    pub fn is_proven(&self, name: NodeId, now: u32) -> bool {
        self.known(name).is_some_and(|known| known.proven(now))
    }

    /// Number of unanswered requests; 255 without a key for this address.
    pub fn unanswered_challenges(&self, name: NodeId) -> u8 {
        self.known(name).map_or(u8::MAX, |known| known.asked)
    }

    /// Returns whether a frame is newer than its sender's last proof to this robot.
    pub fn is_newer(&self, identity: &FrameId, frames: u32, now: u32) -> bool {
        self.known(identity.sender).is_some_and(|known| {
            let obsolete = known.last / frames.max(1) > now.saturating_add(MAX_FRAME_LEAD_TICKS);
            obsolete || known.last < identity.sequence || known.until == 0
        })
    }

    /// Chooses up to `most` peers for a frame with proofs at this tick.
    ///
    /// Returns their addresses, with the highest bit set to request a proof. Peers with a pending
    /// request come first, then peers with the fewest requests.
    pub fn choose(
        &mut self, own: NodeId, round: u32, now: u32, most: usize,
    ) -> Vec<u8, MAX_PROOFS_PER_FRAME> {
        self.turn = (self.turn + 1) % ROSTER.max(1);
        let mut chosen = Vec::new();
        // One pass ranks all peers: on a robot, this must finish before its slot begins.
        let ranks = &mut [NOT_DUE; ROSTER];
        let names = self.roster.len().min(ROSTER);
        for (rank, known) in ranks.iter_mut().zip(&self.known).take(names) {
            if known.is_near(now) && (known.asks && passed(known.answer, now) || known.needs_request(now)) {
                *rank = u16::from(!known.asks) << 8 | u16::from(known.asked);
            }
        }
        let turn = self.turn.min(names);
        while chosen.len() < most.min(MAX_PROOFS_PER_FRAME) {
            let due = (turn..names).chain(0..turn).filter(|name| *name != usize::from(own));
            let Some(name) = due.min_by_key(|name| ranks.get(*name)) else { break };
            let (Some(known), Some(rank)) = (self.known.get_mut(name), ranks.get_mut(name)) else { break };
            if core::mem::replace(rank, NOT_DUE) == NOT_DUE {
                break;
            }
            let asks = if known.needs_request(now) {
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

    /// Writes proofs for the `chosen` peers after a frame's state.
    pub fn write<B: BlockCipher>(&self, identity: &FrameId, state: &[u8], chosen: &[u8], proofs: &mut [u8]) {
        for (proof, &name) in proofs.chunks_exact_mut(PROOF_LEN).zip(chosen) {
            let key = pair_key::<B>(&self.personal, (name & !ASKS).into());
            let tag = tag(&B::with_key(&key), identity, name, state);
            proof.iter_mut().zip([name].into_iter().chain(tag)).for_each(|(to, from)| *to = from);
        }
    }

    /// Checks the proof for this robot after a frame's state. Returns whether there is one.
    ///
    /// # Errors
    /// [`FrameError::Forged`] for a wrong proof.
    pub fn read<B: BlockCipher>(
        &mut self, own: NodeId, identity: &FrameId, state: &[u8], proofs: &[u8], now: u32,
    ) -> Result<bool, FrameError> {
        let mine = |proof: &&[u8]| proof.first().is_some_and(|name| NodeId::from(name & !ASKS) == own);
        let Some([name, made @ ..]) = proofs.chunks_exact(PROOF_LEN).find(mine) else {
            return Ok(false);
        };
        let sender = usize::from(identity.sender);
        let (Some(key), Some(known)) = (self.roster.get(sender), self.known.get_mut(sender)) else {
            return Ok(false);
        };
        let tag = tag(&B::with_key(key), identity, *name, state);
        // Constant time: the duration does not reveal how many bytes match.
        if tag.iter().zip(made).fold(0, |differ, (a, b)| differ | (a ^ b)) != 0 {
            return Err(FrameError::Forged);
        }
        known.until = now.saturating_add(PROOF_LIFETIME_TICKS);
        (known.last, known.asked, known.ask) = (identity.sequence, 0, 0);
        known.asks |= name & ASKS != 0;
        Ok(true)
    }
}

/// Tag with a pairwise key, of the frame's identity, the recipient and the state.
///
/// The first block includes the length of the state, so no tag is valid for a longer state.
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
