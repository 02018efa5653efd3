//! The second half of a tick: observe, aggregate, infer, guard, learn, agree.

use heapless::Vec;

use super::{Agreement, Node};
use crate::{
    learn::{
        consensus::{self, Opinion},
        online,
    },
    net::{taps, tensor::Tensor as _, wide::Model},
    safety::{Surroundings, Verdict},
    tasks::task::{NodeId, Numbers, Task},
    wire::{codec::Codec, message::Beacon},
};

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
    P: Codec,
{
    /// Observe: x(t).
    pub fn observe(&self) -> M::Features {
        self.task.observe(&self.memory.state, self.states())
    }

    /// Aggregate: taps 1…K of z(t) from the neighbours' z of one exchange earlier. Between exchanges they stay.
    pub fn aggregate(&mut self) {
        if self.has_turn() {
            let heard = self.alike().map(|n| (&n.beacon.chains, self.task.weight(n.beacon.sender)));
            let own = self.memory.told.as_ref().unwrap_or(&self.memory.chains);
            self.memory.chains = taps::aggregate(own, heard, self.model.scale());
        }
    }

    /// Infer: the network's raw output.
    #[inline(never)] // its stack is given back before the next verb
    pub fn infer(&mut self, features: &M::Features) -> M::Output {
        if self.has_turn() {
            self.memory.told = None;
        } else {
            self.memory.told.get_or_insert(self.memory.chains);
        }
        self.memory.output = self.model.infer(&self.memory.wide, features, &mut self.memory.chains);
        if self.behaviour.learning.personal() {
            self.memory.personal.apply(&mut self.memory.output);
        }
        self.memory.output
    }

    /// Guard: the command for the motors. Zeros while the node is blind: there is no command that is safe.
    pub fn guard(&self) -> (M::Output, Verdict) {
        if self.blind() {
            return (Numbers::ZERO, Verdict::Blind);
        }
        let named = P::PROVES && self.codec.wants_proofs() && self.somebody_is_proven();
        let known = move |sender| !named || self.codec.proven(sender, self.memory.tick);
        let surroundings = Surroundings {
            task: &self.task,
            own: &self.memory.state,
            bodies: self.behaviour.wary.then(|| self.bodies(known)),
            strangers: named.then(|| {
                let strangers = self.bodies(move |sender| !known(sender));
                strangers.filter(|body| self.task.approaches(&self.memory.state, body))
            }),
            level: self.behaviour.failsafe.level(self.memory.age, self.memory.battery),
            isolation: self.behaviour.patience.phase(self.memory.alone),
        };
        surroundings.guard(self.states(), &self.memory.output)
    }

    /// Those around with these names as bodies that must not be hit: on their tracks, or where they say to be.
    fn bodies(&self, names: impl Fn(NodeId) -> bool) -> impl Iterator<Item = T::State> {
        self.neighbours.iter().filter(move |n| names(n.beacon.sender)).map(|n| {
            let track = self.task.carry_on(&n.track.state, self.memory.tick.saturating_sub(n.track.said));
            if n.counts { track } else { self.task.body(&self.memory.state, &track, &n.track.evidence) }
        })
    }

    /// Remembers what the motors do from now on; nothing that is known, where they come to rest by their own means.
    pub fn acted(&mut self, command: Option<M::Output>) {
        self.memory.done = core::mem::replace(&mut self.memory.command, command);
    }

    /// Learn: the gradient of the local loss with respect to the wide parameters. Returns the gradient with respect to the
    /// output. Alone, there is nothing to learn from.
    pub fn learn(&mut self) -> M::Output {
        let rule = self.behaviour.learning;
        let gradient =
            self.task.gradient(&self.memory.state, self.states(), &self.memory.output, rule.through_clamp);
        self.memory.factor = self.model.gradient(&gradient);
        if rule.personal() && !self.unsure() {
            self.learn_personally();
        }
        gradient
    }

    /// Learn: the personal part. What a robot does alone teaches it nothing, and skipped ticks do not.
    #[inline(never)] // its stack is given back before the next verb
    fn learn_personally(&mut self) {
        let rule = self.behaviour.learning;
        if self.memory.alone > 0 || self.memory.passed != 1 {
            return;
        }
        if rule.personal_step > 0.0 {
            let achieved = self.task.achieved(&self.memory.before, &self.memory.state);
            if let (Some(command), Some(achieved)) = (&self.memory.done, &achieved) {
                // At a limit, more is no more.
                let mut more = *command;
                more.as_mut().iter_mut().for_each(|u| *u *= 2.0);
                let most = self.task.command(&more);
                self.memory.personal.compare(command, achieved, &most, &rule);
            }
        }
        if rule.heeds {
            let outcome =
                self.task.outcome(&self.memory.older, &self.memory.before, &self.memory.state, self.states());
            self.memory.personal.heed(outcome);
        }
    }

    /// Agree: averages the wide parameters with those of the neighbours heard in this tick and takes the learning step. A blind
    /// node does neither: its gradient is that of a place where it is not.
    #[inline(never)] // its stack is given back before the next verb
    pub fn agree(&mut self) -> Agreement {
        if self.blind() {
            return Agreement::default();
        }
        let rule = &self.behaviour.learning;
        let offline = self.model.offline();
        let mut degree = 0;
        let mut opinions: Vec<Opinion<'_>, N> = Vec::new();
        for n in self.neighbours.iter().filter(|neighbour| neighbour.counts) {
            degree += 1;
            if n.heard == self.memory.tick && !n.other_model {
                // There is room for all.
                let Beacon { wide, degree, .. } = &n.beacon;
                let _ = opinions.push(Opinion { wide: wide.numbers(), degree: *degree, fresh: n.fresh });
            }
        }
        let mut agreement = Agreement { mixed: opinions.len() as u8, ..Agreement::default() };
        let wide = &mut self.memory.wide;
        // By its own flight: the swarm's time does not begin with it.
        let step =
            rule.step_at(self.memory.tick.saturating_sub(self.memory.began.unwrap_or(self.memory.tick)));
        let own = (step > 0.0 && rule.ridge > 0.0).then_some(*wide);
        consensus::mix(rule.mixing, wide, self.memory.degree, &opinions, rule.clip * self.reach);
        if let Some(own) = own {
            online::pull(wide, &own, offline, step * rule.ridge);
        }
        if step > 0.0 {
            self.model.descend(wide, &self.memory.chains, &self.memory.factor, step);
            online::keep_out(wide, offline);
        }
        if rule.ball > 0.0 {
            agreement.projected = online::project(wide, offline, rule.ball * self.reach);
        }
        if !wide.admissible() {
            *wide = *offline;
            agreement.reset = true;
        }
        self.memory.degree = degree;
        agreement
    }

    /// The local loss, if the robot were to do `command` now.
    pub fn loss(&self, command: &M::Output) -> f32 {
        self.task.loss(&self.memory.state, self.states(), command)
    }
}
