//! Robots that exchange encoded frames.

use wdgnn_robot::node::Agreement;

use super::prelude::*;

/// Result of one tick of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deed<O> {
    /// Output of the network.
    pub output: O,
    /// Command behind the safety gate.
    pub command: O,
    pub verdict: Verdict,
    pub agreement: Agreement,
}

/// One tick of all robots: each sends, then each receives along the graph and finishes its tick.
///
/// Frames arrive in descending order of their senders, so the neighbor table must sort them.
pub fn exchange<M, T, const N: usize>(
    nodes: &mut [Node<M, T, N>],
    tick: u32,
    states: &[T::State],
    graph: &[Vec<bool>],
) -> Vec<Deed<M::Output>>
where
    M: Model,
    T: RobotTask<Features = M::Features, Output = M::Output>,
{
    let frames: Vec<Vec<u8>> = nodes
        .iter_mut()
        .zip(states)
        .map(|(node, state)| {
            assert!(node.sense(tick, seen(*state)));
            node.says().remove(0)
        })
        .collect();
    nodes
        .iter_mut()
        .zip(graph)
        .map(|(node, hears)| {
            for (frame, _) in frames.iter().zip(hears).rev().filter(|(_, hears)| **hears) {
                node.hears(frame).expect("an honest frame is accepted");
            }
            node.conclude()
        })
        .collect()
}
