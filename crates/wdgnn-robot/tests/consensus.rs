//! Consensus without learning: on a connected graph all robots converge to equal parameters.

use crate::common::prelude::*;

const NODES: usize = 12;
const ROUNDS: u32 = 300;
/// Parameters lie in ±1.
const RANGE: f32 = 1.0;

type Deep = Layer<'static, 2, 1, 2, EndOfStack>;
type Net = Network<'static, 1, 2, 2, 2, Deep>;
type Talker = Robot<RobotConfig<Folded<'static, 1, 2, 2, 2, Deep>, Regression<1, 2>>, Link<Exact>, 12>;

fn parameters(nodes: &[Talker]) -> Vec<Vec<f64>> {
    nodes.iter().map(|node| node.agent().wide().numbers().iter().map(|x| f64::from(*x)).collect()).collect()
}

fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    (0..rows[0].len()).map(|c| rows.iter().map(|row| row[c]).sum::<f64>() / rows.len() as f64).collect()
}

/// Largest distance of any parameter from `center`.
fn spread(rows: &[Vec<f64>], center: &[f64]) -> f64 {
    rows.iter().flat_map(|row| row.iter().zip(center).map(|(x, c)| (x - c).abs())).fold(0.0, f64::max)
}

fn graph(seed: u64) -> Vec<Vec<bool>> {
    connected_graph(&mut seeded(seed + 100), NODES, 0.1)
}

/// Parameters before the first exchange and after each one, one graph per exchange.
fn history(mixing: Mixing, graphs: &[Vec<Vec<bool>>], seed: u64) -> Vec<Vec<Vec<f64>>> {
    let mut rng = seeded(seed);
    let numbers = random_numbers(&mut rng, Net::WEIGHT_COUNT, 0.5).leak();
    let network = Net::from_numbers(numbers, Activation::Relu, Scale::Sum).unwrap();
    let model = Folded::new(network, GradientMetric::Paper);
    let rule = Learning { mixing, ..Learning::OFF };
    let signals = [Signal([0.5]); NODES];
    let talker = |id| node(id, model, Regression::new(), rule, signals[0]);
    let mut nodes: Vec<Talker> = (0..NODES as u16).map(talker).collect();
    // The first exchange only announces degrees.
    exchange(&mut nodes, 0, &signals, &graphs[0]);
    for node in &mut nodes {
        let mut wide = Filter::ZERO;
        wide.numbers_mut().copy_from_slice(&random_numbers(&mut rng, 4, RANGE));
        assert!(node.agent_mut().set_wide(&wide));
    }
    let mut history = vec![parameters(&nodes)];
    for (round, graph) in (1..).zip(graphs) {
        exchange(&mut nodes, round, &signals, graph);
        history.push(parameters(&nodes));
    }
    history
}

/// Parameters before and after `ROUNDS` exchanges on a constant graph.
fn agree(mixing: Mixing, graph: &[Vec<bool>], seed: u64) -> [Vec<Vec<f64>>; 2] {
    let graphs = vec![graph.to_vec(); ROUNDS as usize];
    let mut history = history(mixing, &graphs, seed);
    let after = history.pop().unwrap();
    [history.swap_remove(0), after]
}

fn degrees(graph: &[Vec<bool>]) -> Vec<usize> {
    graph.iter().map(|row| row.iter().filter(|linked| **linked).count()).collect()
}

/// Mixing matrix of an exchange on `graph`, where the messages carry the degrees of the graph `before`.
fn mixing_matrix(mixing: Mixing, graph: &[Vec<bool>], before: &[Vec<bool>]) -> Vec<Vec<f64>> {
    let (degree, told) = (degrees(graph), degrees(before));
    let row = |i: usize| {
        let weight = |j: usize| match mixing {
            _ if !graph[i][j] => 0.0,
            Mixing::Uniform => 1.0 / (1 + degree[i]) as f64,
            _ => 1.0 / (1 + told[i].max(told[j]).max(degree[i])) as f64,
        };
        let mut row: Vec<f64> = (0..graph.len()).map(weight).collect();
        row[i] = 1.0 - row.iter().sum::<f64>();
        assert!(row[i] > 0.0, "every robot keeps a share of its own parameters");
        row
    };
    (0..graph.len()).map(row).collect()
}

#[test]
fn exchanges_multiply_by_the_mixing_matrix_on_changing_graphs() {
    let graphs: Vec<_> = (0..20).map(graph).collect();
    for mixing in [Mixing::Uniform, Mixing::Metropolis] {
        let history = history(mixing, &graphs, 1);
        for (round, graph) in graphs.iter().enumerate() {
            let matrix = mixing_matrix(mixing, graph, &graphs[round.saturating_sub(1)]);
            let (before, after) = (&history[round], &history[round + 1]);
            for (row, after) in matrix.iter().zip(after) {
                for (c, found) in after.iter().enumerate() {
                    let expected: f64 = row.iter().zip(before).map(|(w, before)| w * before[c]).sum();
                    // A weight, a difference and a sum per neighbor, of numbers in ±1.
                    let bound = 3.0 * NODES as f64 * ROUNDING;
                    assert!(
                        (found - expected).abs() < bound,
                        "{mixing:?}, round {round}: {found} {expected}"
                    );
                }
            }
        }
    }
}

/// Each round adds at most one rounding per neighbor and one for the mean; mixing never increases an error.
const ROUNDED: f64 = ROUNDS as f64 * (NODES as f64 + 1.0) * ROUNDING;

#[test]
fn metropolis_weights_converge_to_the_mean() {
    for seed in 0..5 {
        let [before, after] = agree(Mixing::Metropolis, &graph(seed), seed);
        let start = mean(&before);
        assert!(spread(&before, &start) > 0.5, "the parameters differ at first");
        assert!(spread(&after, &start) < ROUNDED, "{}", spread(&after, &start));
    }
}

#[test]
fn uniform_weights_converge_to_the_degree_weighted_mean() {
    for seed in 0..5 {
        let graph = graph(seed);
        let [before, after] = agree(Mixing::Uniform, &graph, seed);
        assert!(spread(&after, &mean(&after)) < ROUNDED);
        // The stationary weights of averaging over a closed neighborhood are (degree + 1) / Σ (degree + 1).
        let weights: Vec<f64> = degrees(&graph).iter().map(|degree| 1.0 + *degree as f64).collect();
        let total: f64 = weights.iter().sum();
        let weighted: Vec<f64> = (0..before[0].len())
            .map(|c| before.iter().zip(&weights).map(|(row, w)| w * row[c]).sum::<f64>() / total)
            .collect();
        assert!(spread(&after, &weighted) < ROUNDED, "{}", spread(&after, &weighted));
    }
}

#[test]
fn without_mixing_parameters_are_constant() {
    let [before, after] = agree(Mixing::Alone, &graph(0), 0);
    assert_eq!(before, after);
}
