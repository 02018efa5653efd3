//! Predict: one `wdgnn-core` node per movie, exchanging beacons with similar movies in synchronous rounds.
//!
//! The graph and the user stand still for K rounds; after round k tap k is exact everywhere, and after the last one every
//! node knows what the user would give to its movie.

use wdgnn_core::{
    behaviour::Behaviour,
    codec::Exact,
    node::{BeaconOf, Node, Settings},
    online::Learning,
    ports::Sensed,
    task::NodeId,
};

use crate::movie::{
    gradient::Loss,
    graph::{Graph, MOST_NEIGHBOURS},
    network::{self, Numbers, RatingModel, TAPS},
    task::{RatingTask, Stars},
};

/// One movie.
pub type MovieNode<'g> = Node<RatingModel<'g>, RatingTask<'g>, MOST_NEIGHBOURS>;
/// What it broadcasts.
pub type MovieBeacon<'g> = BeaconOf<RatingModel<'g>, RatingTask<'g>>;

/// All movies.
#[derive(Debug)]
pub struct Movies<'g> {
    graph: &'g Graph,
    nodes: Vec<MovieNode<'g>>,
    signal: Vec<f32>,
    outputs: Vec<f32>,
    round: u32,
}

impl<'g> Movies<'g> {
    /// A node per movie of the graph, each with the same network.
    #[must_use]
    pub fn new(graph: &'g Graph, numbers: &'g Numbers, learning: Learning, loss: Loss, mean: f32) -> Self {
        let model = network::model(numbers, graph.scale);
        let node = |(id, edges): (usize, &'g Vec<(NodeId, f32)>)| {
            let task = RatingTask { edges, loss, label: None, mean };
            let (id, behaviour, state) = (id as NodeId, Behaviour::new(learning), Stars { stars: 0.0 });
            Node::new(Settings { id, model, task, checksum: 0, behaviour, state, codec: Exact })
        };
        let nodes: Vec<_> = graph.edges.iter().enumerate().map(node).collect();
        let count = nodes.len();
        Self { graph, nodes, signal: vec![0.0; count], outputs: vec![mean; count], round: 0 }
    }

    /// Puts a user on display and exchanges until every tap is exact.
    pub fn show(&mut self, signal: &[f32]) {
        self.signal.copy_from_slice(signal);
        for (node, &stars) in self.nodes.iter_mut().zip(signal) {
            node.sense(self.round, Some(Sensed::now(Stars { stars })));
            let features = node.observe();
            node.infer(&features);
        }
        for _ in 1..TAPS {
            self.exchange(|beacon| *beacon);
        }
    }

    /// One synchronous round: everybody speaks, then everybody hears, aggregates and infers. `travel` is what happens to a
    /// beacon on its way.
    pub fn exchange(&mut self, travel: impl Fn(&MovieBeacon<'g>) -> MovieBeacon<'g>) {
        self.round += 1;
        for (node, &stars) in self.nodes.iter_mut().zip(&self.signal) {
            node.sense(self.round, Some(Sensed::now(Stars { stars })));
        }
        let beacons: Vec<MovieBeacon<'g>> =
            self.nodes.iter_mut().map(|node| travel(&node.beacon())).collect();
        for ((node, edges), output) in self.nodes.iter_mut().zip(&self.graph.edges).zip(&mut self.outputs) {
            for &(neighbour, _) in edges {
                let heard = node.accept(beacons[usize::from(neighbour)]);
                debug_assert_eq!(heard, Ok(()), "the table has room for every edge of the graph");
            }
            node.settle();
            let features = node.observe();
            node.aggregate();
            [*output] = node.infer(&features);
        }
    }

    /// What the user on display would give to this movie.
    #[must_use]
    pub fn prediction(&self, node: usize) -> f32 {
        self.outputs[node]
    }

    /// The six numbers of the user on display at this movie.
    #[must_use]
    pub fn taps(&self, node: usize) -> [f32; TAPS] {
        self.nodes[node].chains().chain.0.map(|[tap]| tap)
    }

    /// Tells one node the rating; it learns from it, and all nodes average their wide parts with their neighbours'.
    pub fn learn(&mut self, target: usize, label: f32) {
        self.nodes[target].task_mut().label = Some(label);
        for node in &mut self.nodes {
            node.learn();
            node.agree();
        }
        self.nodes[target].task_mut().label = None;
    }

    /// The nodes, to look at.
    #[must_use]
    pub fn nodes(&self) -> &[MovieNode<'g>] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::{
        graph::Similarity,
        network::Architecture,
        online::{Online, Rule},
        synthetic, taps,
    };
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use wdgnn_core::{message::Beacon, online::Mixing, tensor::Tensor as _};

    fn numbers() -> Numbers {
        Architecture::WideAndDeep.start(&mut ChaCha8Rng::seed_from_u64(3))
    }

    #[test]
    fn the_shortcut_is_the_nodes_exchange_to_the_bit_for_every_user() {
        let signals = synthetic::signals(1);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let graph = Graph::build(&signals, &users, Similarity::Pearson).unwrap();
        let numbers = numbers();
        let mut movies = Movies::new(&graph, &numbers, Learning::OFF, Loss::SmoothL1, 3.5);
        for user in users {
            let (signal, _) = signals.question(user, 5);
            movies.show(&signal);
            let everywhere = taps::everywhere(&graph, &signal);
            for node in 0..signals.movies.len() {
                let expected = everywhere.each_ref().map(|tap| tap[node]);
                assert_eq!(
                    movies.taps(node).map(f32::to_bits),
                    expected.map(f32::to_bits),
                    "user {user}, node {node}"
                );
            }
        }
    }

    #[test]
    fn beacons_handed_over_and_beacons_sent_as_bytes_are_the_same() {
        let signals = synthetic::signals(2);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let graph = Graph::build(&signals, &users, Similarity::Library).unwrap();
        let numbers = numbers();
        let rule = Learning { through_clamp: true, ..Learning::paper(0.01) };
        let run = |by_wire: bool| {
            let mut movies = Movies::new(&graph, &numbers, rule, Loss::SmoothL1, 3.5);
            let link = *movies.nodes()[0].link();
            let wire = |beacon: &MovieBeacon<'_>| {
                let mut buffer = [0; 256];
                let length = beacon.encode(&link, &mut buffer).unwrap();
                Beacon::decode(&link, &buffer[..length]).unwrap()
            };
            let mut seen = Vec::new();
            for user in 0..6 {
                let (signal, label) = signals.question(user, 5);
                movies.show(&signal);
                // A last tap stays at home, so one more round by wire must bring back what is there already.
                for _ in 0..TAPS {
                    if by_wire { movies.exchange(wire) } else { movies.exchange(|beacon| *beacon) }
                }
                seen.extend((0..signals.movies.len()).map(|node| movies.prediction(node).to_bits()));
                movies.learn(5, label);
                seen.extend(movies.nodes()[5].wide().numbers().iter().map(|w| w.to_bits()));
            }
            seen
        };
        assert_eq!(run(true), run(false));
    }

    #[test]
    fn a_node_that_learns_alone_is_the_centralised_rule_to_the_bit() {
        let signals = synthetic::signals(1);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let graph = Graph::build(&signals, &users, Similarity::Pearson).unwrap();
        let numbers = numbers();
        let rule = Learning { through_clamp: true, mixing: Mixing::Alone, ..Learning::paper(0.02) };
        let mut movies = Movies::new(&graph, &numbers, rule, Loss::SmoothL1, 3.5);
        let model = network::model(&numbers, graph.scale);
        let mut online = Online::new(&model);
        let rule = Rule { step: 0.02, steps: 1, adapt_bias: false, loss: Loss::SmoothL1 };
        for user in signals.raters(5) {
            let (signal, label) = signals.question(user, 5);
            movies.show(&signal);
            let taps = movies.taps(5);
            assert_eq!(movies.prediction(5).to_bits(), online.predict(&taps).to_bits(), "user {user}");
            movies.learn(5, label);
            online.learn(&taps, label, &rule);
        }
    }

    #[test]
    fn a_told_rating_brings_the_prediction_closer_and_reaches_the_neighbours() {
        let signals = synthetic::signals(1);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let graph = Graph::build(&signals, &users, Similarity::Pearson).unwrap();
        let numbers = numbers();
        let rule = Learning { through_clamp: true, ..Learning::paper(0.01) };
        let mut movies = Movies::new(&graph, &numbers, rule, Loss::SmoothL1, 3.5);
        let (signal, _) = signals.question(0, 5);
        movies.show(&signal);
        let before = movies.prediction(5);
        let offline = *movies.nodes()[5].wide();
        movies.learn(5, 4.0);
        movies.exchange(|beacon| *beacon);
        assert!((movies.prediction(5) - 4.0).abs() < (before - 4.0).abs());
        // Further than a mean over 45 equal numbers rounds.
        let far = |node: &&MovieNode<'_>| node.wide().distance(&offline) > 1.0e-5;
        let moved = |movies: &Movies<'_>| movies.nodes().iter().filter(far).count();
        assert_eq!(moved(&movies), 1, "nobody else was told");
        movies.learn(5, 4.0);
        assert_eq!(moved(&movies), 1 + graph.edges[5].len(), "the neighbours heard of it");
    }
}
