//! Agreement without learning: on a connected graph everybody ends up with the same parameters.

mod common;

use common::{
    ROUNDING, connected_graph, random_numbers, seeded,
    signal::{Regression, Signal},
    swarm::exchange,
};
use wdgnn_core::{
    Network,
    activation::Activation,
    deep::{Layer, Top},
    node::{Behaviour, Node},
    online::{Learning, Mixing},
    taps::Scale,
    tensor::{Filter, Tensor, Vector},
    wide::{Folded, Metric},
};

const NODES: usize = 12;
const ROUNDS: u32 = 300;
/// Parameters lie in ±1.
const RANGE: f32 = 1.0;

type Deep<'w> = Layer<'w, 2, 1, 2, Top>;
type Net<'w> = Network<'w, 1, 2, 2, 2, Deep<'w>>;
type Talker<'w> = Node<Folded<'w, 1, 2, 2, 2, Deep<'w>>, Regression<1, 2>, 12>;

fn parameters(nodes: &[Talker<'_>]) -> Vec<Vec<f64>> {
    nodes.iter().map(|node| node.wide().numbers().iter().map(|x| f64::from(*x)).collect()).collect()
}

fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    (0..rows[0].len()).map(|c| rows.iter().map(|row| row[c]).sum::<f64>() / rows.len() as f64).collect()
}

/// The largest distance of any parameter from `centre`.
fn spread(rows: &[Vec<f64>], centre: &[f64]) -> f64 {
    rows.iter().flat_map(|row| row.iter().zip(centre).map(|(x, c)| (x - c).abs())).fold(0.0, f64::max)
}

fn graph(seed: u64) -> Vec<Vec<bool>> {
    connected_graph(&mut seeded(seed + 100), NODES, 0.1)
}

/// The parameters before and after `ROUNDS` exchanges on a connected graph.
fn agree(mixing: Mixing, graph: &[Vec<bool>], seed: u64) -> [Vec<Vec<f64>>; 2] {
    let mut rng = seeded(seed);
    let numbers = random_numbers(&mut rng, Net::NUMBERS, 0.5);
    let network = Net::over(&numbers, Activation::Relu, Scale::Sum).unwrap();
    let model = Folded::new(network, Metric::Paper);
    let rule = Learning { mixing, ..Learning::OFF };
    let signals = [Signal(Vector([0.5])); NODES];
    let talker = |id| Talker::new(id, model, Regression::new(), 0, Behaviour::new(rule), signals[0]);
    let mut nodes: Vec<Talker<'_>> = (0..NODES as u16).map(talker).collect();
    // Degrees are told in beacons: one exchange before there is anything to agree on.
    exchange(&mut nodes, 0, &signals, graph);
    for node in &mut nodes {
        let mut wide = Filter::ZERO;
        wide.numbers_mut().copy_from_slice(&random_numbers(&mut rng, 4, RANGE));
        assert!(node.set_wide(&wide));
    }
    let before = parameters(&nodes);
    for round in 1..=ROUNDS {
        exchange(&mut nodes, round, &signals, graph);
    }
    [before, parameters(&nodes)]
}

/// Each round adds at most a rounding per neighbour and one for the mean to numbers in ±1; mixing never enlarges an error.
const ROUNDED: f64 = ROUNDS as f64 * (NODES as f64 + 1.0) * ROUNDING;

#[test]
fn metropolis_weights_lead_to_the_mean_of_all() {
    for seed in 0..5 {
        let [before, after] = agree(Mixing::Metropolis, &graph(seed), seed);
        let start = mean(&before);
        assert!(spread(&before, &start) > 0.5, "there was something to agree on");
        assert!(spread(&after, &start) < ROUNDED, "{}", spread(&after, &start));
    }
}

#[test]
fn the_paper_s_plain_mean_leads_to_agreement_weighted_by_degree() {
    for seed in 0..5 {
        let graph = graph(seed);
        let [before, after] = agree(Mixing::Uniform, &graph, seed);
        assert!(spread(&after, &mean(&after)) < ROUNDED);
        // The stationary weights of averaging over oneself and one's neighbours are (degree + 1) / Σ (degree + 1).
        let weights: Vec<f64> =
            graph.iter().map(|row| 1.0 + row.iter().filter(|linked| **linked).count() as f64).collect();
        let total: f64 = weights.iter().sum();
        let weighted: Vec<f64> = (0..before[0].len())
            .map(|c| before.iter().zip(&weights).map(|(row, w)| w * row[c]).sum::<f64>() / total)
            .collect();
        assert!(spread(&after, &weighted) < ROUNDED, "{}", spread(&after, &weighted));
    }
}

#[test]
fn alone_nobody_moves() {
    let [before, after] = agree(Mixing::Alone, &graph(0), 0);
    assert_eq!(before, after);
}
