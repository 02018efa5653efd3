//! What the integration tests share: a second task, swarms that exchange real frames, and the equations over dense matrices.
#![allow(dead_code, reason = "every test file takes what it needs")]

pub mod dense;
pub mod flock;
pub mod signal;
pub mod swarm;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Half the distance from 1 to the next `f32`: the largest relative error of one rounding.
pub const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

pub fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// `count` numbers in ±`range`.
pub fn random_numbers(rng: &mut ChaCha8Rng, count: usize, range: f32) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-range..range)).collect()
}

/// Who hears whom: `graph[i][j]` says that node i hears node j. Every direction of every pair with the given chance.
pub fn random_graph(rng: &mut ChaCha8Rng, nodes: usize, chance: f64) -> Vec<Vec<bool>> {
    (0..nodes).map(|i| (0..nodes).map(|j| i != j && rng.random_bool(chance)).collect()).collect()
}

/// A ring with a few chords: connected and undirected.
pub fn connected_graph(rng: &mut ChaCha8Rng, nodes: usize, chance: f64) -> Vec<Vec<bool>> {
    let mut graph = vec![vec![false; nodes]; nodes];
    for i in 0..nodes {
        for j in 0..i {
            let neighbours_on_the_ring = i - j == 1 || i - j == nodes - 1;
            let linked = neighbours_on_the_ring || rng.random_bool(chance);
            graph[i][j] = linked;
            graph[j][i] = linked;
        }
    }
    graph
}
