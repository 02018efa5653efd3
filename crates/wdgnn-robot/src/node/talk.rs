//! The first half of a tick: sense, speak, hear, and decide who counts.

use super::{MessageOf, Kind, NeighbourOf, Node, Scratch, Table, kind_of, memory::Memory};
use crate::tasks::RobotTask;
use crate::{
    config::Behavior,
    neighbors::{Heard, max_tap},
    ports::Sensed,
};
use wdgnn_core::{
    message::Message,
    model::Model,
    online::consensus,
    task::{NodeId, State as _},
};
use wdgnn_link::{
    encoding::Codec,
    error::FrameError,
    header::{Identity, ONLY_A_BODY, OTHER_CLOCK_TICKS, Payload},
};

impl<M, T> Memory<M, T>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// Whether the robot speaks, and its taps advance, in this tick ([`Node::has_turn`]).
    #[inline]
    pub(super) fn has_turn(&self, kind: Kind<'_, M, T>) -> bool {
        let interval = kind.behavior.interval.max(1);
        self.tick % interval == self.turn % interval
    }

    /// Whether the robot has something to say in this tick ([`Node::speaks`]).
    #[must_use]
    pub fn speaks(&self, kind: Kind<'_, M, T>) -> bool {
        self.has_turn(kind) && (!self.blind(kind) || self.rests(kind))
    }

    /// Speak: the beacon of this tick under this address, by a profile of so many frames ([`Node::beacon`]).
    #[inline]
    pub fn beacon(&mut self, kind: Kind<'_, M, T>, id: NodeId, frames: u32) -> MessageOf<M, T> {
        self.sequence = self.sequence.max(self.tick.saturating_mul(frames));
        let beacon = Message {
            sender: id,
            boot: self.boot,
            sequence: self.sequence,
            degree: if self.only_a_body(kind) { ONLY_A_BODY } else { self.degree },
            state: self.state,
            chains: *self.told.as_ref().unwrap_or(&self.chains),
            wide: self.wide,
        };
        self.sequence = self.sequence.saturating_add(1);
        beacon
    }

    /// Ends hearing: whether somebody is there who counts.
    #[inline]
    pub(super) fn settle(&mut self, alone: bool) {
        self.alone = if alone { self.alone.saturating_add(self.passed) } else { 0 };
    }
}

impl<M: Model, T: RobotTask> Kind<'_, M, T> {
    /// Whether an honest robot can have such taps and parameters. Its parameters never leave the ball.
    #[must_use]
    #[inline]
    pub fn believes(&self, beacon: &MessageOf<M, T>, parts: Payload) -> bool {
        let Behavior { learning, largest_tap, .. } = self.behavior;
        if *largest_tap > 0.0 && max_tap(&beacon.chains, parts.taps) > *largest_tap {
            return false;
        }
        if learning.clip <= 0.0 || learning.ball <= 0.0 {
            return true;
        }
        // Half precision may put a parameter on the ball's surface a little outside.
        let radius = learning.ball * self.reach * 1.01;
        consensus::within(&beacon.wide, self.model.offline(), parts.wide, radius)
    }
}

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: Codec,
{
    /// Sense: takes over the robot's own state at `tick`, carried on by its age. A state that is not admissible is refused; without
    /// one, the last one is carried on by the robot's own command over the ticks that have passed, until it is too old
    /// ([`Behavior::blind`]).
    pub fn sense(&mut self, tick: u32, sensed: Option<Sensed<T::State>>) -> bool {
        self.codec.begin(tick);
        self.memory.sense(kind_of!(self), tick, sensed)
    }

    /// Whether the robot does not know where it is: its state is older than [`Behavior::blind`], or none was ever sensed. It is then to be
    /// brought to rest and learns nothing; the next state that is sensed ends it. It says nothing, because a position that is none helps
    /// nobody; a wary one says for half a minute where it came to rest by its own reckoning, and that it is nothing but a body there.
    #[must_use]
    pub fn blind(&self) -> bool {
        self.memory.blind(kind_of!(self))
    }

    /// Whether it is the node's turn to speak, and its taps advance, in this tick. Nodes take turns: where there is an exchange in
    /// every d-th tick, the node with address i has it in ticks i, i + d, …, so that the air is used evenly, unless
    /// [`set_turn`](Self::set_turn) gave it another.
    #[must_use]
    pub fn has_turn(&self) -> bool {
        self.memory.has_turn(kind_of!(self))
    }

    /// Whether the node has something to say in this tick: it is its turn, and it is not blind, or at rest where others should not run
    /// into it.
    #[must_use]
    pub fn speaks(&self) -> bool {
        self.memory.speaks(kind_of!(self))
    }

    /// Speak: the beacon of this tick, as a value. Taps and parameters are those of the end of the last exchange and tick.
    ///
    /// Its sequence is at least the tick's, so that it tells the time, and never one that was used before.
    pub fn beacon(&mut self) -> MessageOf<M, T> {
        self.memory.beacon(kind_of!(self), self.id, P::FRAMES)
    }

    /// Speak: the beacon of this tick, written to `buffer`. `None` when it is shorter than [`Node::frame_bytes`].
    pub fn speak(&mut self, buffer: &mut [u8]) -> Option<usize> {
        self.speak_frame(0, buffer)
    }

    /// Speak: one of the frames of this tick's beacon, for profiles that have several.
    #[inline(never)] // its stack is given back before the next verb
    pub fn speak_frame(&mut self, index: u32, buffer: &mut [u8]) -> Option<usize> {
        let round = self.memory.tick / self.behavior.interval.max(1);
        if let Some(length) = self.codec.hand_on(round, index, buffer) {
            return Some(length);
        }
        let beacon = self.beacon();
        if P::PROVES
            && !self.memory.only_a_body(kind_of!(self))
            && let Some(length) = self.codec.prove(&self.link, &beacon, round, index, buffer)
        {
            return Some(length);
        }
        self.codec.encode(&self.link, &beacon, round, index, buffer)
    }

    /// Hear: takes in one frame. A sealed one is opened in place.
    ///
    /// # Errors
    /// Why it was refused. Nothing has changed then, except that whoever said something implausible has to prove itself anew, that a
    /// sealed frame that was good in itself is not heard again, and that of a sealed frame of another model ([`FrameError::Model`]) the
    /// sender's state is taken in, without its taps and parameters.
    #[inline(never)] // its stack is given back before the next verb
    pub fn hear(&mut self, frame: &mut [u8]) -> Result<(), FrameError> {
        let Scratch(beacon) = &mut self.heard;
        let read = self.codec.read(&self.link, self.memory.tick, frame, beacon);
        let Scratch(beacon) = &self.heard;
        let other_model =
            read == Err(FrameError::Model) && P::SEALED && self.behavior.wary && beacon.state.admissible();
        let parts = if other_model { Payload::STATE } else { read? };
        let (now, sound) = self.judge(beacon, parts)?;
        let now = Heard { other_model, ..now };
        if P::PROVES && self.codec.wants_proofs() {
            return self.keep_named(&now, sound.then_some(parts));
        }
        let listener = (&self.task, &self.memory.own.evidence, self.behavior.probation);
        let kept = Self::keep(&mut self.neighbors, listener, &now, beacon, sound.then_some(parts));
        if other_model { kept.and(Err(FrameError::Model)) } else { kept }
    }

    /// Who sent a frame that was refused as [`FrameError::OutOfWindow`], if it is a swarm member: its clock is another, or one's own. A recording
    /// of somebody who was heard since, or from before a time that the swarm has passed ([`Past::since`](super::Past::since)), is
    /// nobody's. Changes nothing.
    #[inline(never)] // likewise
    pub fn vouch(&mut self, frame: &[u8]) -> Option<Identity> {
        self.codec.vouch(&self.link, self.memory.tick, self.passed_for_sure(), frame)
    }

    /// Hear: takes in a beacon that was decoded and checked already.
    ///
    /// # Errors
    /// As [`Node::hear`].
    pub fn accept(&mut self, beacon: MessageOf<M, T>) -> Result<(), FrameError> {
        self.accept_parts(&beacon, Payload::ALL)
    }

    /// Hear: takes in parts of a beacon that was decoded and checked already.
    ///
    /// # Errors
    /// As [`Node::hear`].
    pub fn accept_parts(&mut self, beacon: &MessageOf<M, T>, parts: Payload) -> Result<(), FrameError> {
        let (now, sound) = self.judge(beacon, parts)?;
        let listener = (&self.task, &self.memory.own.evidence, self.behavior.probation);
        Self::keep(&mut self.neighbors, listener, &now, beacon, sound.then_some(parts))
    }

    /// What has become of a beacon's state by now, and whether it can be an honest neighbor's. A wary robot sees a body in whoever lies
    /// about taps and parameters, too.
    fn judge(&self, beacon: &MessageOf<M, T>, parts: Payload) -> Result<(Heard<T::State>, bool), FrameError> {
        if beacon.sender == self.id {
            return Err(FrameError::OwnFrame);
        }
        let sound = kind_of!(self).believes(beacon, parts);
        if !(sound || self.behavior.wary) {
            return Err(FrameError::Implausible);
        }
        let age = self.age_of(beacon.sequence);
        let state = self.task.predict(&beacon.state, age.min(self.behavior.hold));
        let said = self.memory.tick.saturating_sub(age);
        Ok((Heard { tick: self.memory.tick, said, state, other_model: false }, sound))
    }

    /// Takes a beacon into the table: those parts of it that can be true, and its state.
    pub(super) fn keep(
        neighbors: &mut Table<M, T, N>,
        (task, own, probation): (&T, &T::Stats, u8),
        now: &Heard<T::State>,
        beacon: &MessageOf<M, T>,
        parts: Option<Payload>,
    ) -> Result<(), FrameError> {
        if parts == Some(Payload::ALL) && probation == 0 {
            return neighbors.hear(now, beacon);
        }
        let follow = |track: &_, said: &T::State, silent: u32, known: u8, evidence: &mut _| {
            if probation == 0 {
                return (*said, true);
            }
            // To the tick before, from where the task goes on; for a second at most, so that skipped ticks cost no time.
            let before = silent.saturating_sub(1).min(2 * OTHER_CLOCK_TICKS);
            task.check_neighbor(&task.predict(track, before), said, silent, known, evidence, own)
        };
        let heard = neighbors.hear_parts(now, beacon, parts.unwrap_or(Payload::STATE), follow);
        if parts.is_none() {
            neighbors.doubt(beacon.sender);
            return heard.and(Err(FrameError::Implausible));
        }
        heard
    }

    /// How many ticks ago a frame was said, by its sequence. One from the future is of now; so is one from so long ago that its sender
    /// must have another clock, which a sealed link would have refused.
    fn age_of(&self, sequence: u32) -> u32 {
        let age = self.memory.tick.saturating_sub(sequence / P::FRAMES);
        if age > OTHER_CLOCK_TICKS { 0 } else { age }
    }

    /// Ends hearing: forgets who was silent for too long, and decides who counts. Returns how many were forgotten.
    pub fn settle(&mut self) -> usize {
        let task = &self.task;
        let forgotten = self
            .neighbors
            .settle(self.memory.tick, self.behavior.hold, |state, ticks| task.predict(state, ticks));
        let names = P::PROVES && self.codec.wants_proofs();
        if names {
            self.drop_nameless();
        }
        let named = names && self.somebody_is_proven();
        let Behavior { hold, probation, wary, .. } = self.behavior;
        let flown = self.memory.began.map_or(0, |began| self.memory.tick.saturating_sub(began));
        let new_here = flown <= hold || self.neighbors.iter().all(|n| n.proven < probation);
        let (codec, tick) = (&self.codec, self.memory.tick);
        self.neighbors.judge(|n| {
            let body =
                (wary && n.beacon.degree == ONLY_A_BODY) || (named && !codec.proven(n.beacon.sender, tick));
            !body && (n.proven >= probation || (new_here && !n.doubted))
        });
        if self.behavior.wary {
            self.temper();
        }
        let alone = self.trusted().next().is_none();
        self.memory.settle(alone);
        forgotten
    }

    /// The neighbors that count, from [`settle`](Self::settle) on: all of them, or those that have proven themselves. To a node
    /// that is new, also those that have not contradicted themselves.
    pub fn trusted(&self) -> impl Iterator<Item = &NeighbourOf<M, T>> + Clone {
        self.neighbors.trusted()
    }

    pub(super) fn states(&self) -> impl Iterator<Item = &T::State> + Clone {
        self.trusted().map(|neighbor| &neighbor.beacon.state)
    }
}
