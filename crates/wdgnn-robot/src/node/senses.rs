//! What a robot makes of what it senses.
//!
//! A wary robot holds it against its own track, as it does with what neighbors say. What is left of noise then is small, so that
//! others can be strict; and senses that fail are found out:
//!
//! * what comes again and again, bit for bit, while the robot moves, is a sensor that is stuck: it counts as nothing sensed;
//! * positions that velocities do not bear out are believed, and the velocity is put right by them.

use super::{
    Kind,
    memory::{Memory, OwnTrack},
};
use crate::tasks::RobotTask;
use crate::{ports::Sensed, safety::gate::Isolation};
use wdgnn_core::{model::Model, task::State as _};

/// After so many words a robot knows how noisy its senses are.
const KNOWN_WORDS: u8 = 25;

/// A track begins anew where it was not followed for so many ticks.
const LOST_TICKS: u32 = 50;

/// For so many ticks without sensing, half a minute, a robot is where it came to rest. Later somebody may have carried it away.
const RESTING_TICKS: u32 = 3_000;

/// A robot is at rest after braking for so many ticks, whatever its speed was.
const BRAKING_TICKS: u32 = 10;

impl<M, T> Memory<M, T>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// Sense: takes over the robot's own state at `tick`, carried on by its age ([`Node::sense`](crate::node::Node::sense)).
    pub fn sense(&mut self, kind: Kind<'_, M, T>, tick: u32, sensed: Option<Sensed<T::State>>) -> bool {
        let was_blind = self.blind(kind);
        self.passed = self.began.map_or(1, |_| tick.saturating_sub(self.tick));
        self.older = if self.passed == 1 { self.before } else { self.state };
        self.before = self.state;
        self.tick = tick;
        self.lived = self.lived.saturating_add(1);
        // Where time has gone back, it is new here again.
        self.began = Some(self.began.map_or(tick, |began| began.min(tick)));
        let sensed = sensed.filter(|sensed| sensed.state.admissible());
        let Some(Sensed { state, age }) = sensed else {
            self.reckon(kind);
            return false;
        };
        self.state = kind.task.predict(&state, age.min(kind.behavior.blind));
        if was_blind && !self.own.stuck {
            // From where it did not know to be, it did not come by its own command.
            (self.before, self.older) = (self.state, self.state);
        }
        let unseen = core::mem::replace(&mut self.age, age);
        if kind.behavior.wary {
            self.steady(kind, unseen);
            self.watch_motors(kind);
        }
        true
    }

    /// Whether the robot does not know where it is ([`Node::blind`](crate::node::Node::blind)).
    #[inline]
    pub(super) fn blind(&self, kind: Kind<'_, M, T>) -> bool {
        self.age > kind.behavior.blind
    }

    /// Nothing was sensed: the state is carried on by the command that is being done.
    fn reckon(&mut self, kind: Kind<'_, M, T>) {
        let further = self.passed.min(kind.behavior.blind.saturating_sub(self.age));
        self.state = match &self.command {
            Some(command) => kind.task.predict_with(&self.state, command, further),
            // Its drive brings it to rest by its own means, much as it would itself.
            None if self.blind(kind) && kind.behavior.wary => {
                let braking = kind.task.fallback(&self.state, Isolation::Stop);
                kind.task.predict_with(&self.state, &braking, self.passed.min(BRAKING_TICKS))
            }
            None => kind.task.predict(&self.state, further),
        };
        self.age = self.age.saturating_add(self.passed);
    }

    /// Holds what was sensed in this tick against the robot's own track. Before it, what it took for its state was `unseen` ticks old.
    #[inline(never)] // its stack is given back before the next verb
    fn steady(&mut self, kind: Kind<'_, M, T>, unseen: u32) {
        let OwnTrack { state: track, evidence, sensed, at, known, stuck } = &mut self.own;
        let repeated = core::mem::replace(sensed, self.state) == self.state;
        let silent = self.tick.saturating_sub(*at);
        if *known == 0 || silent == 0 || (silent > LOST_TICKS && !repeated) {
            self.own = OwnTrack { at: self.tick, known: 1, ..OwnTrack::new(self.state) };
            return;
        }
        let before = kind.task.predict(track, silent.min(LOST_TICKS).saturating_sub(1));
        let mut seen = *evidence;
        let (followed, believed) = kind.task.check_own(&before, &self.state, silent, *known, &mut seen);
        *stuck = repeated && (*stuck || !believed);
        if *stuck {
            (self.state, self.age) = (self.before, unseen);
            self.reckon(kind);
            return;
        }
        (*evidence, *track, *at, *known) = (seen, followed, self.tick, known.saturating_add(1));
        // At first, how noisy its senses are is not known yet.
        let sure = believed || *known < KNOWN_WORDS;
        self.state = if sure {
            kind.task.bias_corrected(&followed, evidence)
        } else {
            kind.task.velocity_from_positions(&self.state, evidence)
        };
    }

    /// Holds what the robot has just sensed of itself against what it told its motors in the tick before.
    fn watch_motors(&mut self, kind: Kind<'_, M, T>) {
        let achieved = kind.task.achieved(&self.before, &self.state);
        let known = self.passed == 1 && self.age == 0;
        let tick = self.command.as_ref().zip(achieved.as_ref()).filter(|_| known);
        self.obedience.watch(kind.task, &self.state, tick);
    }

    /// Whether the robot is nothing but a body to others: it does not know for sure where it is, or cannot help where it goes.
    pub(super) fn only_a_body(&self, kind: Kind<'_, M, T>) -> bool {
        kind.behavior.wary && (self.unsure(kind) || self.obedience.is_doubted())
    }

    /// Whether a robot that is blind is at rest where it has reckoned to be, and others are still to be told.
    pub(super) fn rests(&self, kind: Kind<'_, M, T>) -> bool {
        kind.behavior.wary && self.age <= RESTING_TICKS
    }

    /// Whether what the robot takes for its state is too old to learn from.
    pub(super) fn unsure(&self, kind: Kind<'_, M, T>) -> bool {
        self.blind(kind) || self.age > kind.behavior.failsafe.unsure
    }
}
