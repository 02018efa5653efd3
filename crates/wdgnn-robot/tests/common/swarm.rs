//! Robots that exchange encoded frames.

use super::prelude::*;

/// Result of one tick of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickResult<O> {
    /// Output of the network.
    pub output: O,
    /// Command behind the safety gate.
    pub command: O,
    pub verdict: Verdict,
    pub consensus: ConsensusReport,
}

/// One tick of all robots: each sends, then each receives along the graph and finishes its tick.
///
/// Frames arrive in descending order of their senders, so the neighbor table must sort them.
pub fn exchange<M, T, L, const N: usize>(
    nodes: &mut [Robot<RobotConfig<M, T>, L, N>], tick: u32, states: &[T::State], graph: &[Vec<bool>],
) -> Vec<TickResult<M::Output>>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    L: MessageLink<T::State, M::Taps, M::Wide>,
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
            node.finish()
        })
        .collect()
}
