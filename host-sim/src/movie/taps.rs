//! The shortcut for training: the six numbers `z_k = (S^k x)` at the target node.
//!
//! One layer, one input feature and one node that is read mean that a user enters the network through these six numbers
//! alone, and they do not depend on the weights: they are computed once per user, whatever is trained on them. Sums run
//! over the neighbours in ascending id and are scaled afterwards, as in the core, so they are the nodes' taps to the bit.

use crate::movie::{graph::Graph, network::TAPS};

/// `S x`.
#[must_use]
pub fn shift(graph: &Graph, signal: &[f32]) -> Vec<f32> {
    let at = |row: &Vec<_>| {
        let sum =
            row.iter().fold(0.0, |sum, &(neighbour, weight)| sum + weight * signal[usize::from(neighbour)]);
        sum * graph.scale
    };
    graph.edges.iter().map(at).collect()
}

/// `z_0 … z_K` at every node: `[tap][node]`.
#[must_use]
pub fn everywhere(graph: &Graph, signal: &[f32]) -> [Vec<f32>; TAPS] {
    let mut next = signal.to_vec();
    std::array::from_fn(|_| {
        let shifted = shift(graph, &next);
        std::mem::replace(&mut next, shifted)
    })
}

/// `z_0 … z_K` at one node.
#[must_use]
pub fn at(graph: &Graph, signal: &[f32], node: usize) -> [f32; TAPS] {
    everywhere(graph, signal).map(|tap| tap[node])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_numbers_by_hand() {
        // A path a – b – c with weights 1 and 2, scaled by ½: S = [[0, ½, 0], [½, 0, 1], [0, 1, 0]].
        let graph =
            Graph { edges: vec![vec![(1, 1.0)], vec![(0, 1.0), (2, 2.0)], vec![(1, 2.0)]], scale: 0.5 };
        // x = (4, 0, 2); Sx = (0, 4, 0); S²x = (2, 0, 4); S³x = (0, 5, 0); S⁴x = (2.5, 0, 5); S⁵x = (0, 6.25, 0).
        assert_eq!(at(&graph, &[4.0, 0.0, 2.0], 0), [4.0, 0.0, 2.0, 0.0, 2.5, 0.0]);
        assert_eq!(at(&graph, &[4.0, 0.0, 2.0], 1), [0.0, 4.0, 0.0, 5.0, 0.0, 6.25]);
    }
}
