//! Nodes that become others: what one keeps goes out of it and into another.

use super::{Node, memory::Memory};
use crate::{
    behaviour::Behaviour,
    net::wide::Model,
    passage::Passage,
    tasks::task::{NodeId, Task},
    wire::codec::Codec,
};

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
        (memory.own, memory.obedience) = (self.memory.own, self.memory.obedience);
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
