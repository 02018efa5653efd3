//! The rating task: what one movie's node observes, and what its output means.
//!
//! A node's state is the rating that the user on display gave to its movie, 0 for none. Its output is the rating that the
//! user would give. Only the node that is told the true rating has something to learn.

use wdgnn_core::task::{Isolation, NodeId, State, Task};

use crate::movie::gradient::Loss;

/// The task's number in weight files.
pub const TASK: u16 = 2;

/// The lowest and the highest rating.
pub const RANGE: (f32, f32) = (1.0, 5.0);

/// What a movie's node tells its neighbours about the user on display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stars {
    /// The user's rating of this movie, 0 for none.
    pub stars: f32,
}

impl State for Stars {
    type Numbers = [f32; 1];

    fn numbers(&self) -> [f32; 1] {
        [self.stars]
    }

    fn from_numbers([stars]: [f32; 1]) -> Self {
        Self { stars }
    }
}

/// The rating task at one node of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingTask<'g> {
    /// The node's neighbours in ascending id, with the weights of their edges.
    pub edges: &'g [(NodeId, f32)],
    /// What a wrong prediction costs.
    pub loss: Loss,
    /// The rating that the user gave after all, where this node was told.
    pub label: Option<f32>,
    /// What to predict without neighbours: the mean of the ratings trained on.
    pub mean: f32,
}

impl Task for RatingTask<'_> {
    const NUMBER: u16 = TASK;

    type State = Stars;
    type Features = [f32; 1];
    type Output = [f32; 1];
    type Evidence = ();

    /// Without a graph; that is rebuilt from the data.
    fn from_settings(_: &[f32; 8]) -> Self {
        Self { edges: &[], loss: Loss::SmoothL1, label: None, mean: f32::midpoint(RANGE.0, RANGE.1) }
    }

    /// A step is not a time.
    fn period(&self) -> f32 {
        1.0
    }

    fn observe<'a>(&self, own: &Stars, _: impl Iterator<Item = &'a Stars>) -> [f32; 1] {
        [own.stars]
    }

    fn loss<'a>(&self, _: &Stars, _: impl Iterator<Item = &'a Stars> + Clone, command: &[f32; 1]) -> f32 {
        self.label.map_or(0.0, |label| self.loss.value(command[0] - label))
    }

    fn gradient<'a>(
        &self,
        _: &Stars,
        _: impl Iterator<Item = &'a Stars>,
        output: &[f32; 1],
        through_clamp: bool,
    ) -> [f32; 1] {
        let passes = through_clamp || self.command(output) == *output;
        [self.label.filter(|_| passes).map_or(0.0, |label| self.loss.slope(output[0] - label))]
    }

    /// A rating that can be given. A NaN stays one: the gate looks for it.
    fn command(&self, output: &[f32; 1]) -> [f32; 1] {
        output.map(|rating| rating.clamp(RANGE.0, RANGE.1))
    }

    fn weight(&self, neighbour: NodeId) -> f32 {
        // Nobody but neighbours is heard; a stranger would count for nothing.
        self.edges.binary_search_by_key(&neighbour, |edge| edge.0).map_or(0.0, |index| self.edges[index].1)
    }

    fn fallback(&self, _: &Stars, _: Isolation) -> [f32; 1] {
        [self.mean]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [(NodeId, f32); 2] = [(2, 0.25), (7, 0.5)];
    const OWN: Stars = Stars { stars: 3.0 };

    fn task(label: Option<f32>) -> RatingTask<'static> {
        RatingTask { edges: &EDGES, loss: Loss::SmoothL1, label, mean: 3.5 }
    }

    #[test]
    fn edges_have_their_weights_and_strangers_none() {
        assert_eq!([2, 7, 5].map(|id| task(None).weight(id)), [0.25, 0.5, 0.0]);
    }

    #[test]
    fn only_a_node_that_was_told_learns() {
        let gradient = |label, output, through| task(label).gradient(&OWN, [].iter(), &[output], through)[0];
        assert_eq!(gradient(None, 4.5, true), 0.0);
        assert_eq!(gradient(Some(4.0), 4.5, true), 0.5);
        assert_eq!(gradient(Some(4.0), 5.5, false), 0.0, "beyond five stars");
        assert_eq!(gradient(Some(4.0), 5.5, true), 1.0);
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        for (label, output) in [(4.0, 3.5), (2.0, 4.5)] {
            let at = |output| task(Some(label)).loss(&OWN, [].iter(), &[output]);
            // 2⁻⁴: exact on both pieces of the loss but for rounding, 1e-7 · 8.
            let difference = (at(output + 0.0625) - at(output - 0.0625)) / 0.125;
            let gradient = task(Some(label)).gradient(&OWN, [].iter(), &[output], false)[0];
            assert!((difference - gradient).abs() < 1.0e-5);
        }
    }

    #[test]
    fn a_command_is_a_rating_that_can_be_given() {
        assert_eq!(task(None).command(&[7.0]), [5.0]);
        assert_eq!(task(None).command(&[-1.0]), [1.0]);
        assert_eq!(task(None).command(&[3.25]), [3.25]);
        assert_eq!(task(None).fallback(&OWN, Isolation::Hold), [3.5]);
    }
}
