//! What the table keeps of one neighbor.

use wdgnn_core::{message::Message, tensor::param_range::ParamRange};

/// What a neighbor's next word is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Track<S, E = ()> {
    /// The state that follows from everything that it said.
    pub state: S,
    /// The tick in which it said it last.
    pub said: u32,
    /// What speaks against it.
    pub evidence: E,
}

impl<S, E: Default> Track<S, E> {
    /// A track that begins with a word of this tick.
    pub(super) fn new(state: S, said: u32) -> Self {
        Self { state, said, evidence: E::default() }
    }
}

/// A neighbor as the table keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Neighbor<S, C, W, E = ()> {
    /// The tick in which it was last heard.
    pub heard: u32,
    /// How many frames in a row were plausible after the one before.
    pub proven: u8,
    /// In how many ticks its words were held against its track, up to 255.
    pub known: u8,
    /// It has contradicted itself.
    pub doubted: bool,
    /// Its owner takes it into account: see [`Node::trusted`](crate::node::Node::trusted).
    pub counts: bool,
    /// It flies another model: what it says of its state is worth as much as anybody's, its taps and parameters mean nothing here.
    pub other_model: bool,
    /// Which of its wide parameters it said when it was last heard, unless they came late.
    pub fresh: ParamRange,
    /// What its next word is held against.
    pub track: Track<S, E>,
    /// Its track before anything was heard of it in this tick: what every frame of a tick is held against. Nothing while it
    /// is new.
    pub earlier: Option<Track<S, E>>,
    /// Its track before a word that contradicted it, for a few ticks: if it was somebody else's word, the next one bears this out.
    pub kept: Option<Track<S, E>>,
    /// What it said; the state is carried on to this tick.
    pub beacon: Message<S, C, W>,
}

impl<S: Copy, C, W, E: Default> Neighbor<S, C, W, E> {
    pub(super) fn newcomer(now: &Heard<S>, fresh: ParamRange, mut beacon: Message<S, C, W>) -> Self {
        let track = Track::new(beacon.state, now.said);
        beacon.state = now.state;
        Self {
            heard: now.tick,
            proven: 0,
            known: 0,
            doubted: false,
            counts: false,
            other_model: now.other_model,
            fresh,
            track,
            earlier: None,
            kept: None,
            beacon,
        }
    }
}

/// Parameters that were said longer ago are not mixed: a robot's own have gone on since. A radio that hands over what it heard in the
/// next tick, with clocks that differ by one, is within it.
pub(super) const FRESH_TICKS: u32 = 2;

/// For so many ticks, a track is kept that was contradicted: two exchanges at 20 a second, and what somebody else's word from ahead
/// silences. A robot cannot have gone elsewhere in that time unseen: 4 cm at 10 m/s².
pub(super) const KEPT_TICKS: u32 = 12;

/// When a beacon was heard and said, and what has become of its sender's state by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard<S> {
    /// The tick in which it was heard.
    pub tick: u32,
    /// The tick in which it was said.
    pub said: u32,
    /// The sender's state, carried on from the one to the other.
    pub state: S,
    /// The sender flies another model.
    pub other_model: bool,
}

impl<S> Heard<S> {
    /// Which of the wide parameters that it carries are fresh.
    pub(super) fn fresh(&self, carried: ParamRange) -> ParamRange {
        if self.tick.saturating_sub(self.said) > FRESH_TICKS { ParamRange::NONE } else { carried }
    }
}
