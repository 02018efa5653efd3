//! Nodes that exchange frames compute the dense equations of `common/dense.rs`, within its bound on `f32` rounding.

use crate::common::dense::{self, Dense, Matrix};
use crate::common::prelude::*;

const NODES: usize = 9;
const TICKS: usize = 12;
const SCALES: [Scale; 3] = [Scale::Sum, Scale::Mean, Scale::Scaled(0.375)];

/// Weights of a network and its dimensions for [`Dense`].
struct Case {
    numbers: &'static [f32],
    features: usize,
    layers: &'static [(usize, usize)],
}

impl Case {
    fn new(count: usize, features: usize, layers: &'static [(usize, usize)]) -> Self {
        Self { numbers: random_numbers(&mut seeded(count as u64), count, 0.5).leak(), features, layers }
    }

    fn dense(&self, activation: Activation) -> Dense {
        Dense::read(self.numbers, activation, self.features, self.layers, 2)
    }
}

/// Shift matrix S: row i is the aggregation of node i.
fn shift_matrix(graph: &[Vec<bool>], weights: &[Vec<f32>], scale: Scale) -> Matrix {
    let row = |(heard, weights): (&Vec<bool>, &Vec<f32>)| {
        let count = heard.iter().filter(|heard| **heard).count().max(1);
        let factor = match scale {
            Scale::Sum => 1.0,
            Scale::Mean => 1.0 / count as f64,
            Scale::Scaled(factor) => f64::from(factor),
            _ => panic!("a scale that this test does not know"),
        };
        let entry = |(heard, weight): (&bool, &f32)| if *heard { f64::from(*weight) * factor } else { 0.0 };
        heard.iter().zip(weights).map(entry).collect::<Vec<f64>>()
    };
    dense::exact(&graph.iter().zip(weights).map(row).collect::<Vec<_>>())
}

fn nodes<M, const F: usize>(
    model: M, weights: &[Vec<f32>],
) -> Vec<Robot<RobotConfig<M, Regression<F, 2>>, Link<Exact>>>
where
    M: Model<Features = [f32; F], Output = [f32; 2]> + Copy,
{
    let make = |(id, weights): (usize, &Vec<f32>)| {
        let task = Regression { weights: weights.clone() };
        node(id as u16, model, task, Learning::OFF, Signal([0.0; F]))
    };
    weights.iter().enumerate().map(make).collect()
}

fn random_signals<const F: usize>(rng: &mut ChaCha8Rng) -> Vec<Signal<F>> {
    (0..NODES).map(|_| Signal(core::array::from_fn(|_| rng.random_range(-2.0..2.0)))).collect()
}

fn features<const F: usize>(signals: &[Signal<F>]) -> Matrix {
    dense::exact(&signals.iter().map(|signal| signal.0).collect::<Vec<_>>())
}

fn compare(outputs: &[[f32; 2]], expected: &Matrix) {
    for (node, (outputs, expected)) in outputs.iter().zip(expected).enumerate() {
        for (output, expected) in outputs.iter().zip(expected) {
            let error = (f64::from(*output) - expected.value).abs();
            assert!(error <= expected.error, "node {node}: {output} is {error:e} away from {expected:?}");
            // The bound is tight: outputs are of order 1.
            assert!(expected.error < 1.0e-2 * expected.value.abs().max(1.0), "{expected:?}");
        }
    }
}

/// Delayed: tap k is `S_t S_{t-1} … S_{t-k+1} X_{t-k}`.
fn delayed<M, const F: usize>(model: M, dense: &Dense, folded: bool, seed: u64)
where
    M: Model<Features = [f32; F], Output = [f32; 2]> + Copy,
{
    let mut rng = seeded(seed);
    let weights = vec![vec![1.0; NODES]; NODES];
    let mut nodes = nodes(model, &weights);
    let mut shifts: Vec<Matrix> = Vec::new();
    let mut signals_of_layers: Vec<Vec<Matrix>> = vec![Vec::new(); 3];
    for tick in 0..TICKS {
        let graph = random_graph(&mut rng, NODES, 0.3);
        let signals = random_signals::<F>(&mut rng);
        shifts.push(shift_matrix(&graph, &weights, model.scale()));
        let outputs: Vec<[f32; 2]> =
            exchange(&mut nodes, tick as u32, &signals, &graph).iter().map(|deed| deed.output).collect();
        let expected = dense.outputs(&features(&signals), folded, |layer, signal, k| {
            let past = &mut signals_of_layers[layer];
            if k == 0 {
                past.push(signal.clone());
            }
            // Nothing was received before the first tick.
            let Some(start) = tick.checked_sub(k) else { return dense::times(signal, 0.0) };
            let mut shifted = past[start].clone();
            for shift in &shifts[start + 1..] {
                shifted = dense::product(shift, &shifted);
            }
            shifted
        });
        compare(&outputs, &expected);
    }
}

/// Static graph and constant signal: after `ΣK_ℓ` exchanges tap k is `S^k X`.
fn on_a_static_graph<M, const F: usize>(
    model: M, dense: &Dense, folded: bool, layers: &[(usize, usize)], seed: u64,
) where
    M: Model<Features = [f32; F], Output = [f32; 2]> + Copy,
{
    let mut rng = seeded(seed);
    let graph = random_graph(&mut rng, NODES, 0.3);
    let weights: Vec<Vec<f32>> = (0..NODES).map(|_| random_numbers(&mut rng, NODES, 1.0)).collect();
    let shift = shift_matrix(&graph, &weights, model.scale());
    let mut nodes = nodes(model, &weights);
    let signals = random_signals::<F>(&mut rng);
    let expected = dense.outputs(&features(&signals), folded, |_, signal, k| {
        (0..k).fold(signal.clone(), |shifted, _| dense::product(&shift, &shifted))
    });
    // The first round only announces the signals of the next one.
    let exchanges: usize = layers.iter().map(|(taps, _)| taps - 1).sum();
    let mut outputs = Vec::new();
    for round in 0..=exchanges {
        outputs = exchange(&mut nodes, round as u32, &signals, &graph);
    }
    compare(&outputs.iter().map(|deed| deed.output).collect::<Vec<_>>(), &expected);
}

macro_rules! networks_of {
    ($module:ident, features $f:literal, taps $taps:literal, hidden $g:literal, layers $layers:expr, $deep:ty) => {
        mod $module {
            use super::*;

            type Net = Network<'static, $f, $taps, $g, 2, $deep>;
            const LAYERS: &[(usize, usize)] = $layers;

            fn each(check: impl Fn(&Case, Activation, Scale)) {
                let case = Case::new(Net::WEIGHT_COUNT, $f, LAYERS);
                for activation in Activation::ALL {
                    for scale in SCALES {
                        check(&case, *activation, scale);
                    }
                }
            }

            #[test]
            fn taps_on_a_changing_graph_are_products_of_the_past_shifts() {
                each(|case, activation, scale| {
                    let network = Net::from_numbers(case.numbers, activation, scale).unwrap();
                    let dense = case.dense(activation);
                    delayed(Unfolded::new(network), &dense, false, 1);
                    delayed(Folded::new(network, GradientMetric::Paper), &dense, true, 2);
                });
            }

            #[test]
            fn taps_on_a_static_graph_are_powers_of_the_shift() {
                each(|case, activation, scale| {
                    let network = Net::from_numbers(case.numbers, activation, scale).unwrap();
                    let dense = case.dense(activation);
                    on_a_static_graph(Unfolded::new(network), &dense, false, LAYERS, 3);
                    on_a_static_graph(Folded::new(network, GradientMetric::Paper), &dense, true, LAYERS, 4);
                });
            }
        }
    };
}

networks_of!(one_layer, features 3, taps 4, hidden 5, layers &[(4, 5)], Layer<'static, 4, 3, 5, EndOfStack>);
networks_of!(
    two_layers, features 3, taps 3, hidden 4, layers &[(3, 6), (2, 4)],
    Layer<'static, 3, 3, 6, Layer<'static, 2, 6, 4, EndOfStack>>
);
networks_of!(
    three_layers, features 2, taps 2, hidden 3, layers &[(2, 5), (4, 4), (3, 3)],
    Layer<'static, 2, 2, 5, Layer<'static, 4, 5, 4, Layer<'static, 3, 4, 3, EndOfStack>>>
);
