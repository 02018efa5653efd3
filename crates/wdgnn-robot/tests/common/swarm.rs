//! Nodes that exchange real, encoded frames through their verbs.

use wdgnn_core::model::Model;
use wdgnn_robot::{node::Node, ports::Sensed, tasks::RobotTask};

/// What a node did in a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deed<O> {
    /// The network's raw output.
    pub output: O,
    /// What the gate let through.
    pub command: O,
}

/// One tick of everybody: all speak, then each hears whom it can and does the rest of its tick.
///
/// Frames arrive in descending order of their senders: the table must put them right.
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
            assert!(node.sense(tick, Some(Sensed::now(*state))));
            let mut frame = vec![0; Node::<M, T, N>::FRAME_BYTES];
            assert_eq!(node.speak(&mut frame), Some(frame.len()));
            frame
        })
        .collect();
    nodes
        .iter_mut()
        .zip(graph)
        .map(|(node, hears)| {
            for (frame, _) in frames.iter().zip(hears).rev().filter(|(_, hears)| **hears) {
                node.hear(&mut frame.clone()).expect("an honest frame is accepted");
            }
            node.settle();
            let features = node.observe();
            node.aggregate();
            let output = node.infer(&features);
            let (command, _) = node.guard();
            node.learn();
            node.agree();
            Deed { output, command }
        })
        .collect()
}
