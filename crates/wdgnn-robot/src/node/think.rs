//! The second half of a tick: observe, aggregate, infer, guard, learn, agree.

use crate::tasks::RobotTask;
use heapless::Vec;

use super::{ConsensusReport, Kind, Node, Thinks, kind_of, memory::Memory};
use crate::safety::gate::{Surroundings, Verdict};
use wdgnn_core::{
    filter,
    message::Message,
    model::Model,
    online::{
        self,
        consensus::{self, NeighborParams},
    },
    task::NodeId,
    tensor::{Array, Tensor as _},
};
use wdgnn_link::encoding::Codec;

impl<M, T> Memory<M, T>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    /// Aggregate: taps 1…K of z(t) from those of others of one exchange earlier, each with its weight.
    #[inline]
    pub(super) fn aggregate<'a>(
        &mut self,
        kind: Kind<'_, M, T>,
        heard: impl Iterator<Item = (&'a M::Taps, f32)>,
    ) {
        if self.has_turn(kind) {
            let own = self.told.as_ref().unwrap_or(&self.chains);
            self.chains = filter::aggregate(own, heard, kind.model.scale());
        }
    }

    /// Infer: the network's raw output.
    #[inline(never)] // its stack is given back before the next verb
    pub(super) fn infer(&mut self, kind: Kind<'_, M, T>, features: &M::Features) -> M::Output {
        if self.has_turn(kind) {
            self.told = None;
        } else {
            self.told.get_or_insert(self.chains);
        }
        self.output = kind.model.infer(&self.wide, features, &mut self.chains);
        if kind.behavior.learning.personal() {
            self.personal.apply(&mut self.output);
        }
        self.output
    }

    /// Guard: the command for the motors, with those around that count, those that are bodies to a wary robot, and strangers among them.
    #[inline]
    pub(super) fn guard<'a>(
        &self,
        kind: Kind<'_, M, T>,
        states: impl Iterator<Item = &'a T::State> + Clone,
        bodies: Option<impl Iterator<Item = T::State>>,
        strangers: Option<impl Iterator<Item = T::State>>,
    ) -> (M::Output, Verdict)
    where
        T: 'a,
    {
        if self.blind(kind) {
            return (Array::ZERO, Verdict::Blind);
        }
        let level = kind.behavior.failsafe.level(self.age, self.battery);
        let isolation = kind.behavior.patience.phase(self.alone);
        let surroundings =
            Surroundings { task: kind.task, own: &self.state, bodies, strangers, level, isolation };
        surroundings.guard(states, &self.output)
    }

    /// Remembers what the motors do from now on.
    #[inline]
    pub(super) fn acted(&mut self, command: Option<M::Output>) {
        self.done = core::mem::replace(&mut self.command, command);
    }

    /// Learn: the gradients of the local loss with respect to the output and to the wide parameters.
    #[inline]
    pub(super) fn learn<'a>(
        &mut self,
        kind: Kind<'_, M, T>,
        states: impl Iterator<Item = &'a T::State> + Clone,
    ) -> M::Output
    where
        T: 'a,
    {
        let rule = &kind.behavior.learning;
        let gradient = kind.task.gradient(&self.state, states.clone(), &self.output, rule.through_clamp);
        self.factor = kind.model.gradient(&gradient);
        if rule.personal() && !self.unsure(kind) {
            self.learn_personally(kind, states);
        }
        gradient
    }

    /// Learn: the personal part. What a robot does alone teaches it nothing, and skipped ticks do not.
    #[inline(never)] // its stack is given back before the next verb
    fn learn_personally<'a>(&mut self, kind: Kind<'_, M, T>, states: impl Iterator<Item = &'a T::State>)
    where
        T: 'a,
    {
        let rule = kind.behavior.learning;
        if self.alone > 0 || self.passed != 1 {
            return;
        }
        if rule.bias_step > 0.0 {
            let achieved = kind.task.achieved(&self.before, &self.state);
            if let (Some(command), Some(achieved)) = (&self.done, &achieved) {
                // At a limit, more is no more.
                let mut more = *command;
                more.as_mut().iter_mut().for_each(|u| *u *= 2.0);
                let most = kind.task.command(&more);
                self.personal.compare(command, achieved, &most, &rule);
            }
        }
        if rule.adapts_gain {
            let outcome = kind.task.outcome(&self.older, &self.before, &self.state, states);
            self.personal.heed(outcome);
        }
    }

    /// Agree: averages the wide parameters with others' and takes the learning step, unless it is blind; `degree` of those around count.
    #[inline]
    pub(super) fn agree(&mut self, kind: Kind<'_, M, T>, opinions: &[NeighborParams<'_>], degree: u8) -> ConsensusReport {
        if self.blind(kind) {
            return ConsensusReport::default();
        }
        let rule = &kind.behavior.learning;
        let offline = kind.model.offline();
        let mut agreement = ConsensusReport { mixed: opinions.len() as u8, ..ConsensusReport::default() };
        let wide = &mut self.wide;
        // By its own flight: the swarm's time does not begin with it.
        let step = rule.step_at(self.tick.saturating_sub(self.began.unwrap_or(self.tick)));
        let own = (step > 0.0 && rule.ridge > 0.0).then_some(*wide);
        consensus::mix(rule.mixing, wide, self.degree, opinions, rule.clip * kind.reach);
        if let Some(own) = own {
            online::pull(wide, &own, offline, step * rule.ridge);
        }
        if step > 0.0 {
            kind.model.descend(wide, &self.chains, &self.factor, step);
            online::keep_out(wide, offline);
        }
        if rule.ball > 0.0 {
            agreement.projected = online::project(wide, offline, rule.ball * kind.reach);
        }
        if !wide.admissible() {
            *wide = *offline;
            agreement.reset = true;
        }
        self.degree = degree;
        agreement
    }
}

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: Codec,
{
    /// Observe: x(t).
    pub fn observe(&self) -> M::Features {
        self.task.observe(&self.memory.state, self.states())
    }

    /// Aggregate: taps 1…K of z(t) from the neighbors' z of one exchange earlier. Between exchanges they stay.
    pub fn aggregate(&mut self) {
        let alike = self.neighbors.trusted().filter(|n| !n.other_model);
        let heard = alike.map(|n| (&n.beacon.chains, self.task.weight(n.beacon.sender)));
        self.memory.aggregate(kind_of!(self), heard);
    }

    /// Infer: the network's raw output.
    pub fn infer(&mut self, features: &M::Features) -> M::Output {
        self.memory.infer(kind_of!(self), features)
    }

    /// Guard: the command for the motors. Zeros while the node is blind: there is no command that is safe.
    pub fn guard(&self) -> (M::Output, Verdict) {
        let named = P::PROVES && self.codec.wants_proofs() && self.somebody_is_proven();
        let known = move |sender| !named || self.codec.proven(sender, self.memory.tick);
        let bodies = self.behavior.wary.then(|| self.bodies(known));
        let strangers = named.then(|| {
            let strangers = self.bodies(move |sender| !known(sender));
            strangers.filter(|body| self.task.approaches(&self.memory.state, body))
        });
        self.memory.guard(kind_of!(self), self.states(), bodies, strangers)
    }

    /// Those around with these names as bodies that must not be hit: on their tracks, or where they say to be.
    fn bodies(&self, names: impl Fn(NodeId) -> bool) -> impl Iterator<Item = T::State> {
        let Self { task, memory, .. } = self;
        self.neighbors.iter().filter(move |n| names(n.beacon.sender)).map(move |n| {
            let track = task.predict(&n.track.state, memory.tick.saturating_sub(n.track.said));
            if n.counts { track } else { task.obstacle_state(&memory.state, &track, &n.track.evidence) }
        })
    }

    /// Remembers what the motors do from now on; nothing that is known, where they come to rest by their own means.
    pub fn acted(&mut self, command: Option<M::Output>) {
        self.memory.acted(command);
    }

    /// Learn: the gradient of the local loss with respect to the wide parameters. Returns the gradient with respect to the
    /// output. Alone, there is nothing to learn from.
    pub fn learn(&mut self) -> M::Output {
        let states = self.neighbors.trusted().map(|n| &n.beacon.state);
        self.memory.learn(kind_of!(self), states)
    }

    /// Agree: averages the wide parameters with those of the neighbors heard in this tick and takes the learning step. A blind
    /// node does neither: its gradient is that of a place where it is not.
    #[inline(never)] // its stack is given back before the next verb
    pub fn agree(&mut self) -> ConsensusReport {
        let mut degree = 0;
        let mut opinions: Vec<NeighborParams<'_>, N> = Vec::new();
        for n in self.neighbors.trusted() {
            degree += 1;
            if n.heard == self.memory.tick && !n.other_model {
                // There is room for all.
                let Message { wide, degree, .. } = &n.beacon;
                let _ = opinions.push(NeighborParams { wide: wide.numbers(), degree: *degree, fresh: n.fresh });
            }
        }
        self.memory.agree(kind_of!(self), &opinions, degree)
    }
}

impl<M, T, const N: usize, P> Thinks for Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    P: Codec,
{
    type Features = M::Features;
    type Command = M::Output;

    fn tick(&self) -> u32 {
        self.memory.tick
    }

    fn around(&self) -> usize {
        self.neighbors.iter().len()
    }

    fn settle(&mut self) -> usize {
        Self::settle(self)
    }

    fn observe(&self) -> M::Features {
        Self::observe(self)
    }

    fn aggregate(&mut self) {
        Self::aggregate(self);
    }

    fn infer(&mut self, features: &M::Features) -> M::Output {
        Self::infer(self, features)
    }

    fn guard(&self) -> (M::Output, Verdict) {
        Self::guard(self)
    }

    fn acted(&mut self, command: Option<M::Output>) {
        Self::acted(self, command);
    }

    fn learn(&mut self) -> M::Output {
        Self::learn(self)
    }

    fn agree(&mut self) -> ConsensusReport {
        Self::agree(self)
    }
}
