//! A node by itself: everything that lasts from tick to tick, without what all nodes of a swarm have in common and without the table.
//!
//! Where silent neighbours are not held and everybody is believed, nothing of what neighbours said lasts either, only who they were.
//! So a simulator keeps a node as a [`Memory`] and a list of addresses, an eighth of a [`Node`], and has it think in a node that is
//! another robot's the next moment; and whoever stores a swarm stores these.

use super::{Node, OwnTrack, Past, obedience::Obedience};
use crate::{
    behaviour::Behaviour,
    learn::personal::Personal,
    net::{
        taps::Chains as _,
        tensor::{Numbers as _, Tensor as _},
        wide::Model,
    },
    passage::{Pass, Passage},
    tasks::task::{Isolation, NodeId, State as _, Task},
    wire::codec::Codec,
};

/// What a node with model `M` and task `T` keeps from tick to tick, besides its neighbours.
#[derive(Debug)]
pub struct Memory<M: Model, T: Task> {
    pub(super) tick: u32,
    /// Ticks since the one before: more than one where some were skipped.
    pub(super) passed: u32,
    /// The residue of the ticks in which it speaks.
    pub(super) turn: u32,
    pub(super) boot: u32,
    pub(super) sequence: u32,
    pub(super) degree: u8,
    pub(super) alone: u32,
    /// The age of the state in ticks; without end while none was ever sensed.
    pub(super) age: u32,
    /// The first tick.
    pub(super) began: Option<u32>,
    /// Ticks that it has lived through since it was started.
    pub(super) lived: u32,
    /// What it knows of the swarm's time from before it was started.
    pub(super) past: Past,
    pub(super) state: T::State,
    /// What its senses are held against.
    pub(super) own: OwnTrack<T>,
    /// What its motors do.
    pub(super) command: Option<M::Output>,
    /// What they did up to now.
    pub(super) done: Option<M::Output>,
    /// Whether they do what they are told.
    pub(super) obedience: Obedience<M::Output>,
    /// What is left of its battery, in percent, where that is known.
    pub(super) battery: Option<u8>,
    pub(super) chains: M::Chains,
    /// The taps as they stood at the last exchange, which the next beacon tells: kept where those of this tick differ.
    pub(super) told: Option<M::Chains>,
    pub(super) wide: M::Wide,
    pub(super) factor: M::Factor,
    pub(super) output: M::Output,
    /// What the robot has learned about itself.
    pub(super) personal: Personal<M::Output>,
    /// Its state one tick before, for what came of its commands.
    pub(super) before: T::State,
    /// And the one before that.
    pub(super) older: T::State,
}

impl<M: Model, T: Task> Memory<M, T> {
    /// The robot's own state.
    pub fn state(&self) -> &T::State {
        &self.state
    }

    /// The taps z of all layers.
    pub fn chains(&self) -> &M::Chains {
        &self.chains
    }

    /// The wide parameters.
    pub fn wide(&self) -> &M::Wide {
        &self.wide
    }

    /// The network's raw output at its last tick.
    pub fn output(&self) -> &M::Output {
        &self.output
    }
}

impl<M: Model, T: Task> Memory<M, T>
where
    T: Task<Features = M::Features, Output = M::Output>,
{
    /// Of a robot that starts.
    #[inline]
    pub(super) fn new(id: NodeId, task: &T, wide: M::Wide, state: T::State) -> Self {
        Self {
            tick: 0,
            passed: 1,
            turn: id.into(),
            boot: 0,
            sequence: 0,
            degree: 0,
            alone: 0,
            age: u32::MAX,
            began: None,
            lived: 0,
            past: Past::default(),
            state,
            own: OwnTrack::new(state),
            command: None,
            done: None,
            obedience: Obedience::UNKNOWN,
            battery: None,
            chains: M::Chains::ZERO,
            told: None,
            wide,
            factor: M::Factor::ZERO,
            output: task.fallback(&state, Isolation::Hold),
            personal: Personal::NOTHING,
            before: state,
            older: state,
        }
    }

    /// Passes every bit of it.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        let Self {
            tick,
            passed,
            turn,
            boot,
            sequence,
            degree,
            alone,
            age,
            began,
            lived,
            past: Past { since, until },
            state,
            own,
            command,
            done,
            obedience,
            battery,
            chains,
            told,
            wide,
            factor,
            output,
            personal,
            before,
            older,
        } = self;
        for word in [tick, passed, turn, boot, sequence, alone, age, lived, since, until] {
            passage.word(word);
        }
        passage.byte(degree);
        passage.option(began, 0, Passage::word);
        for state in [state, before, older] {
            state.pass(passage);
        }
        own.pass(passage);
        for motors in [command, done] {
            passage.option(motors, M::Output::ZERO, |passage, command| passage.numbers(command.as_mut()));
        }
        obedience.pass(passage);
        passage.option(battery, 0, Passage::byte);
        chains.pass(passage);
        passage.option(told, M::Chains::ZERO, |passage, chains| chains.pass(passage));
        passage.numbers(wide.numbers_mut());
        passage.numbers(factor.numbers_mut());
        passage.numbers(output.as_mut());
        personal.pass(passage);
    }
}

impl<M: Model, T: Task> Clone for Memory<M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Model, T: Task> Copy for Memory<M, T> {}

impl<T: Task> Pass for OwnTrack<T> {
    fn pass(&mut self, passage: &mut Passage<'_>) {
        let Self { state, evidence, sensed, at, known, stuck } = self;
        state.pass(passage);
        evidence.pass(passage);
        sensed.pass(passage);
        passage.word(at);
        passage.byte(known);
        passage.flag(stuck);
    }
}

impl<T: Task> Clone for OwnTrack<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Task> Copy for OwnTrack<T> {}

impl Behaviour {
    /// Whether nothing of what neighbours said lasts from tick to tick: there is an exchange in every one, nobody is held, and everybody
    /// is believed.
    #[must_use]
    pub fn forgets(&self) -> bool {
        self.interval <= 1 && self.hold == 0 && self.probation == 0 && !self.wary
    }
}

impl<M, T, const N: usize, P> Node<M, T, N, P>
where
    M: Model,
    T: Task<Features = M::Features, Output = M::Output>,
    P: Codec,
{
    /// What the node keeps from tick to tick, besides its neighbours.
    #[inline]
    pub fn remember(&self) -> Memory<M, T> {
        self.memory
    }

    /// The same in place of what was remembered before.
    #[inline]
    pub fn remember_in(&self, memory: &mut Memory<M, T>) {
        *memory = self.memory;
    }

    /// The same after [`sense`](Self::sense) and [`beacon`](Self::beacon) alone, in place of what was remembered before them: only
    /// what they change.
    #[inline]
    pub fn remember_senses(&self, memory: &mut Memory<M, T>) {
        (memory.tick, memory.passed, memory.lived) =
            (self.memory.tick, self.memory.passed, self.memory.lived);
        (memory.began, memory.age, memory.sequence) =
            (self.memory.began, self.memory.age, self.memory.sequence);
        (memory.state, memory.before, memory.older) =
            (self.memory.state, self.memory.before, self.memory.older);
        memory.own = self.memory.own;
    }

    /// Becomes another node of the same swarm, with this address. Its neighbours are still those of the node that it was.
    #[inline]
    pub fn recall(&mut self, id: NodeId, memory: &Memory<M, T>) {
        self.id = id;
        self.memory = *memory;
    }

    /// Passes everything that lasts from tick to tick, neighbours and keys included: into a node that was made with the same settings.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        self.memory.pass(passage);
        self.neighbours.pass(self.memory.state, passage);
        self.codec.pass(passage);
    }

    /// In place of all neighbours, those with these addresses, ascending, of whom nothing is known but that they were there: who is not
    /// heard before [`settle`](Self::settle) is forgotten then, and has kept a newcomer from its slot. For nodes whose behaviour
    /// [forgets](Behaviour::forgets).
    pub fn expect(&mut self, senders: impl Iterator<Item = NodeId>) {
        self.neighbours.expect(senders, self.memory.state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Activation, Flocking, Folded, Layer, Learning, Metric, Motion, Network, Scale, Top, codec::Exact,
        node::Settings, ports::Sensed,
    };

    type Net<'w> = Network<'w, 6, 2, 2, 2, Layer<'w, 2, 6, 2, Top>>;

    /// A node that has lived through some ticks beside another.
    fn lived(
        numbers: &[f32; Net::NUMBERS],
        ticks: u32,
    ) -> Node<Folded<'_, 6, 2, 2, 2, Layer<'_, 2, 6, 2, Top>>, Flocking, 4> {
        let node = |id, speed| {
            let network = Net::over(numbers, Activation::Relu, Scale::Sum).unwrap();
            let state = Motion { position: [f32::from(id), 0.0], velocity: [speed, 0.5] };
            let behaviour = Behaviour::new(Learning { step: 0.1, ..Learning::OFF });
            let model = Folded::new(network, Metric::Paper);
            Node::new(Settings {
                id,
                model,
                task: Flocking::DEFAULT,
                checksum: 0,
                behaviour,
                state,
                codec: Exact,
            })
        };
        let (mut one, mut other) = (node(1, 2.0), node(2, -1.0));
        for tick in 0..ticks {
            for node in [&mut one, &mut other] {
                let state = *node.state();
                node.sense(tick, Some(Sensed::now(state)));
            }
            let said = [one.beacon(), other.beacon()];
            for (node, beacon) in [&mut one, &mut other].into_iter().zip([said[1], said[0]]) {
                node.accept(beacon).unwrap();
                node.settle();
                let features = node.observe();
                node.aggregate();
                node.infer(&features);
                node.guard();
                node.learn();
                node.agree();
            }
        }
        one
    }

    #[test]
    fn a_node_that_recalls_another_is_that_one_whichever_way_it_was_remembered() {
        extern crate std;
        let numbers = [0.1; Net::NUMBERS];
        let (old, mut desk) = (lived(&numbers, 7), lived(&numbers, 2));
        let known = |memory: &Memory<_, _>| std::format!("{memory:?}");
        let memory = old.remember();
        let mut again = desk.remember();
        assert_ne!(known(&memory), known(&again));
        old.remember_in(&mut again);
        assert_eq!(known(&memory), known(&again));
        desk.recall(1, &memory);
        assert_eq!(known(&desk.remember()), known(&memory));
    }
}
