//! What a robot makes of what it senses.
//!
//! A wary robot holds it against its own track, as it does with what neighbours say. What is left of noise then is small, so that
//! others can be strict; and senses that fail are found out:
//!
//! * what comes again and again, bit for bit, while the robot moves, is a sensor that is stuck: it counts as nothing sensed;
//! * positions that velocities do not bear out are believed, and the velocity is put right by them.

use super::{Node, memory::OwnTrack};
use crate::{
    net::wide::Model,
    tasks::task::{Isolation, Task},
    wire::codec::Codec,
};

/// After so many words a robot knows how noisy its senses are.
const KNOWN_WORDS: u8 = 25;

/// A track begins anew where it was not followed for so many ticks.
const LOST_TICKS: u32 = 50;

/// For so many ticks without sensing, half a minute, a robot is where it came to rest. Later somebody may have carried it away.
const RESTING_TICKS: u32 = 3_000;

/// A robot is at rest after braking for so many ticks, whatever its speed was.
const BRAKING_TICKS: u32 = 10;

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
    P: Codec,
{
    /// Nothing was sensed: the state is carried on by the command that is being done.
    pub(super) fn reckon(&mut self, oldest: u32) {
        let further = self.memory.passed.min(oldest.saturating_sub(self.memory.age));
        self.memory.state = match &self.memory.command {
            Some(command) => self.task.moved(&self.memory.state, command, further),
            // Its drive brings it to rest by its own means, much as it would itself.
            None if self.blind() && self.behaviour.wary => {
                let braking = self.task.fallback(&self.memory.state, Isolation::Stop);
                self.task.moved(&self.memory.state, &braking, self.memory.passed.min(BRAKING_TICKS))
            }
            None => self.task.carry_on(&self.memory.state, further),
        };
        self.memory.age = self.memory.age.saturating_add(self.memory.passed);
    }

    /// Holds what was sensed in this tick against the robot's own track. Before it, what it took for its state was `unseen` ticks old.
    #[inline(never)] // its stack is given back before the next verb
    pub(super) fn steady(&mut self, oldest: u32, unseen: u32) {
        let OwnTrack { state: track, evidence, sensed, at, known, stuck } = &mut self.memory.own;
        let repeated = core::mem::replace(sensed, self.memory.state) == self.memory.state;
        let silent = self.memory.tick.saturating_sub(*at);
        if *known == 0 || silent == 0 || (silent > LOST_TICKS && !repeated) {
            self.memory.own = OwnTrack { at: self.memory.tick, known: 1, ..OwnTrack::new(self.memory.state) };
            return;
        }
        let before = self.task.carry_on(track, silent.min(LOST_TICKS).saturating_sub(1));
        let mut seen = *evidence;
        let (followed, believed) = self.task.steady(&before, &self.memory.state, silent, *known, &mut seen);
        *stuck = repeated && (*stuck || !believed);
        if *stuck {
            (self.memory.state, self.memory.age) = (self.memory.before, unseen);
            self.reckon(oldest);
            return;
        }
        (*evidence, *track, *at, *known) = (seen, followed, self.memory.tick, known.saturating_add(1));
        // At first, how noisy its senses are is not known yet.
        let sure = believed || *known < KNOWN_WORDS;
        self.memory.state = if sure {
            self.task.settled(&followed, evidence)
        } else {
            self.task.reconcile(&self.memory.state, evidence)
        };
    }

    /// Holds what the robot has just sensed of itself against what it told its motors in the tick before.
    pub(super) fn watch_motors(&mut self) {
        let achieved = self.task.achieved(&self.memory.before, &self.memory.state);
        let known = self.memory.passed == 1 && self.memory.age == 0;
        let tick = self.memory.command.as_ref().zip(achieved.as_ref()).filter(|_| known);
        self.memory.obedience.watch(&self.task, &self.memory.state, tick);
    }

    /// Whether the robot is nothing but a body to others: it does not know for sure where it is, or cannot help where it goes.
    pub(super) fn only_a_body(&self) -> bool {
        self.behaviour.wary && (self.unsure() || self.memory.obedience.is_doubted())
    }

    /// Whether a robot that is blind is at rest where it has reckoned to be, and others are still to be told.
    pub(super) fn rests(&self) -> bool {
        self.behaviour.wary && self.memory.age <= RESTING_TICKS
    }

    /// Whether what the robot takes for its state is too old to learn from.
    pub(super) fn unsure(&self) -> bool {
        self.blind() || self.memory.age > self.behaviour.failsafe.unsure
    }
}
