//! Helpers of the tests: robots, ports, frames, a second task, and the equations over dense matrices.
#![allow(dead_code, reason = "each test program needs a part of it")]

pub mod board;
pub mod dense;
pub mod document;
pub mod flock;
pub mod frames;
pub mod insider;
pub mod messages;
pub mod prelude;
pub mod radio_swarm;
pub mod signal;
pub mod swarm;

use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Half the distance from 1 to the next `f32`: the largest relative error of one rounding, 2⁻²⁴.
pub const ROUNDING: f64 = 5.960_464_477_539_063e-8;

/// Property tests run the same cases every time.
pub fn seeded_cases() -> ProptestConfig {
    ProptestConfig {
        cases: 512,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// `count` numbers in ±`range`.
pub fn random_numbers(rng: &mut ChaCha8Rng, count: usize, range: f32) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-range..range)).collect()
}

/// Directed random graph: `graph[i][j]` is true where node i receives from node j, with the given probability.
pub fn random_graph(rng: &mut ChaCha8Rng, nodes: usize, chance: f64) -> Vec<Vec<bool>> {
    (0..nodes).map(|i| (0..nodes).map(|j| i != j && rng.random_bool(chance)).collect()).collect()
}

/// A ring with a few chords: connected and undirected.
pub fn connected_graph(rng: &mut ChaCha8Rng, nodes: usize, chance: f64) -> Vec<Vec<bool>> {
    let lower: Vec<Vec<bool>> = (0..nodes)
        .map(|i| (0..i).map(|j| i - j == 1 || i - j == nodes - 1 || rng.random_bool(chance)).collect())
        .collect();
    let linked = |i: usize, j: usize| i != j && lower[i.max(j)][i.min(j)];
    (0..nodes).map(|i| (0..nodes).map(|j| linked(i, j)).collect()).collect()
}
