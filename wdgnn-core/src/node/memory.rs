//! A node by itself: everything that lasts from tick to tick, without what all nodes of a swarm have in common and without the table.
//!
//! Where silent neighbours are not held and everybody is believed, nothing of what neighbours said lasts either, only who they were.
//! So a simulator keeps a node as a [`Memory`] and a list of addresses, an eighth of a [`Node`], and has it think in a node that is
//! another robot's the next moment; and whoever stores a swarm stores these.

use super::{Node, OwnTrack, Past, Scratch};
use crate::{
    behaviour::Behaviour,
    learn::personal::Personal,
    net::{
        taps::Chains as _,
        tensor::{Numbers as _, Tensor as _},
        wide::Model,
    },
    passage::{Pass, Passage},
    tasks::task::{NodeId, State as _, Task},
    wire::codec::Codec,
};

/// What a node with model `M` and task `T` keeps from tick to tick, besides its neighbours.
#[derive(Debug)]
pub struct Memory<M: Model, T: Task> {
    tick: u32,
    passed: u32,
    turn: u32,
    boot: u32,
    sequence: u32,
    degree: u8,
    alone: u32,
    age: u32,
    began: Option<u32>,
    lived: u32,
    past: Past,
    state: T::State,
    own: OwnTrack<T>,
    command: Option<M::Output>,
    done: Option<M::Output>,
    battery: Option<u8>,
    chains: M::Chains,
    told: Option<M::Chains>,
    wide: M::Wide,
    factor: M::Factor,
    output: M::Output,
    personal: Personal<M::Output>,
    before: T::State,
    older: T::State,
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
        passage.option(battery, 0, Passage::byte);
        chains.pass(passage);
        passage.option(told, M::Chains::ZERO, |passage, chains| chains.pass(passage));
        passage.numbers(wide.numbers_mut());
        passage.numbers(factor.numbers_mut());
        passage.numbers(output.as_mut());
        personal.pass(passage);
    }
}

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
        // All of it is listed, so that what is new has to be thought of here.
        let Self {
            id: _,
            model: _,
            task: _,
            codec: _,
            link: _,
            behaviour: _,
            reach: _,
            neighbours: _,
            heard: Scratch(_),
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
            past,
            state,
            own,
            command,
            done,
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
        Memory {
            tick: *tick,
            passed: *passed,
            turn: *turn,
            boot: *boot,
            sequence: *sequence,
            degree: *degree,
            alone: *alone,
            age: *age,
            began: *began,
            lived: *lived,
            past: *past,
            state: *state,
            own: *own,
            command: *command,
            done: *done,
            battery: *battery,
            chains: *chains,
            told: *told,
            wide: *wide,
            factor: *factor,
            output: *output,
            personal: *personal,
            before: *before,
            older: *older,
        }
    }

    /// The same in place of what was remembered before.
    #[inline]
    pub fn remember_in(&self, memory: &mut Memory<M, T>) {
        self.remember_senses(memory);
        (memory.turn, memory.boot, memory.degree) = (self.turn, self.boot, self.degree);
        (memory.alone, memory.past, memory.battery) = (self.alone, self.past, self.battery);
        (memory.command, memory.done) = (self.command, self.done);
        memory.chains = self.chains;
        memory.told = self.told;
        memory.wide = self.wide;
        memory.factor = self.factor;
        memory.output = self.output;
        memory.personal = self.personal;
    }

    /// The same after [`sense`](Self::sense) and [`beacon`](Self::beacon) alone, in place of what was remembered before them: only
    /// what they change.
    #[inline]
    pub fn remember_senses(&self, memory: &mut Memory<M, T>) {
        (memory.tick, memory.passed, memory.lived) = (self.tick, self.passed, self.lived);
        (memory.began, memory.age, memory.sequence) = (self.began, self.age, self.sequence);
        (memory.state, memory.before, memory.older) = (self.state, self.before, self.older);
        memory.own = self.own;
    }

    /// Becomes another node of the same swarm, with this address. Its neighbours are still those of the node that it was.
    #[inline]
    pub fn recall(&mut self, id: NodeId, memory: &Memory<M, T>) {
        let Memory {
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
            past,
            state,
            own,
            command,
            done,
            battery,
            chains,
            told,
            wide,
            factor,
            output,
            personal,
            before,
            older,
        } = memory;
        self.id = id;
        (self.tick, self.passed, self.turn, self.boot) = (*tick, *passed, *turn, *boot);
        (self.sequence, self.degree, self.alone, self.age) = (*sequence, *degree, *alone, *age);
        (self.began, self.lived, self.past, self.battery) = (*began, *lived, *past, *battery);
        self.state = *state;
        self.own = *own;
        (self.command, self.done) = (*command, *done);
        self.chains = *chains;
        self.told = *told;
        self.wide = *wide;
        self.factor = *factor;
        self.output = *output;
        self.personal = *personal;
        (self.before, self.older) = (*before, *older);
    }

    /// Passes everything that lasts from tick to tick, neighbours and keys included: into a node that was made with the same settings.
    pub fn pass(&mut self, passage: &mut Passage<'_>) {
        let mut memory = self.remember();
        memory.pass(passage);
        self.recall(self.id, &memory);
        self.neighbours.pass(self.state, passage);
        self.codec.pass(passage);
    }

    /// In place of all neighbours, those with these addresses, ascending, of whom nothing is known but that they were there: who is not
    /// heard before [`settle`](Self::settle) is forgotten then, and has kept a newcomer from its slot. For nodes whose behaviour
    /// [forgets](Behaviour::forgets).
    pub fn expect(&mut self, senders: impl Iterator<Item = NodeId>) {
        self.neighbours.expect(senders, self.state);
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
