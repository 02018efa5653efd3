//! One split of the experiment, from the graph to every row's errors.
//!
//! Taps of everybody who is predicted come from the nodes' exchange; training uses the shortcut.

use wdgnn_core::online::Learning;

use crate::{
    data_error::DataError,
    movie::{
        gradient::{Loss, Sample},
        graph::{Graph, Similarity},
        network::{self, Architecture, Numbers, RatingModel},
        nodes::Movies,
        online::{Online, Rule, largest_stable_step},
        rows::Row,
        signals::Signals,
        split::{Raters, Split},
        statistics::root_mean_square,
        streams::{Learner, Mean, Score, Streams},
        taps,
        train::{EPOCHS, train},
    },
    seeds::{self, Purpose},
};

/// What an experiment is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The node that is trained on.
    pub train_on: usize,
    /// The node that the trained network is tried on as well.
    pub test_on: usize,
    /// What makes movies neighbours.
    pub similarity: Similarity,
    /// What a wrong prediction costs, in training and online.
    pub loss: Loss,
    /// The online rule's step size γ.
    pub step: f32,
    /// The decentralised rule's step size.
    pub decentralised_step: f32,
    /// Whether rows with a learning wide bias are added.
    pub adapt_bias: bool,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// One split's outcome.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// A score per row, in the order of [`Row::all`].
    pub scores: Vec<Score>,
    /// The smallest of the stream's largest stable steps.
    pub stable_step: f32,
    /// The graph's largest number of neighbours.
    pub largest_degree: usize,
}

/// Runs split number `index`.
///
/// # Errors
/// When the split's graph cannot be built.
pub fn run(signals: &Signals, settings: &Settings, index: usize) -> Result<Outcome, DataError> {
    let split = Split::draw(signals, settings.train_on, settings.test_on, settings.seed, index);
    let graph = Graph::build(signals, &split.graph, settings.similarity)?;
    let training = samples(signals, &graph, &split.same.rest, settings.train_on);
    let mean = training.iter().map(|sample| sample.label).sum::<f32>() / training.len() as f32;
    let trained = |architecture| {
        let mut random = seeds::generator(settings.seed, Purpose::Weights, index as u64);
        train(architecture, &training, settings.loss, EPOCHS, &mut random)
    };
    let [both, deep, wide] = [Architecture::WideAndDeep, Architecture::Deep, Architecture::Wide].map(trained);

    let by_nodes = ByNodes { signals, graph: &graph, numbers: &both, settings, mean };
    let (same_held_out, same_stream) = by_nodes.meet_held_out(&split.same, settings.train_on);
    let same = by_nodes.meet_stream_then_held_out(&split.same, settings.train_on);
    let other = by_nodes.meet_stream_then_held_out(&split.other, settings.test_on);
    let decentralised =
        Score { same: same.after, other: other.after, same_stream, other_stream: other.before };

    let streams =
        Streams { same: same.stream, same_held_out, other: other.stream, other_held_out: other.held_out };
    let models = [&both, &deep, &wide].map(|numbers| network::model(numbers, graph.scale));
    let learner = |model, steps, adapt_bias| {
        let rule = Rule { step: settings.step, steps, adapt_bias, loss: settings.loss };
        Learner { online: Online::new(model), rule }
    };
    let score = |row| match row {
        Row::WideAndDeep => streams.score(&learner(&models[0], 0, false)),
        Row::Gnn => streams.score(&learner(&models[1], 0, false)),
        Row::GraphFilter => streams.score(&learner(&models[2], 0, false)),
        Row::Online(steps) => streams.score(&learner(&models[0], steps, false)),
        Row::OnlineBias(steps) => streams.score(&learner(&models[0], steps, true)),
        Row::Decentralised => decentralised,
        Row::Constant => streams.score(&Mean { first: mean, seen: None }),
        Row::RunningMean => streams.score(&Mean { first: mean, seen: Some((0.0, 0.0)) }),
    };
    Ok(Outcome {
        scores: Row::all(settings.adapt_bias).into_iter().map(score).collect(),
        stable_step: stable_step(&models[0], &streams.other),
        largest_degree: graph.largest_degree(),
    })
}

/// Users as training sees them, by the shortcut.
fn samples(signals: &Signals, graph: &Graph, users: &[usize], target: usize) -> Vec<Sample> {
    let sample = |&user| {
        let (signal, label) = signals.question(user, target);
        Sample { taps: taps::at(graph, &signal, target), label }
    };
    users.iter().map(sample).collect()
}

fn stable_step(model: &RatingModel<'_>, stream: &[Sample]) -> f32 {
    let steps = stream.iter().map(|sample| largest_stable_step(model, &sample.taps, false));
    steps.fold(f32::INFINITY, f32::min)
}

/// The nodes' own run over a stream: everybody's taps, and the decentralised rule's errors.
struct ByNodes<'a> {
    signals: &'a Signals,
    graph: &'a Graph,
    numbers: &'a Numbers,
    settings: &'a Settings,
    mean: f32,
}

/// A run over a stream with learning, and over the held-out users without.
struct Met {
    stream: Vec<Sample>,
    held_out: Vec<Sample>,
    before: f64,
    after: f64,
}

impl ByNodes<'_> {
    fn meet_held_out(&self, raters: &Raters, target: usize) -> (Vec<Sample>, f64) {
        self.meet(&mut self.movies(), &raters.held_out, target, true)
    }

    fn meet_stream_then_held_out(&self, raters: &Raters, target: usize) -> Met {
        let mut movies = self.movies();
        let (stream, before) = self.meet(&mut movies, raters.stream(), target, true);
        let (held_out, after) = self.meet(&mut movies, &raters.held_out, target, false);
        Met { stream, held_out, before, after }
    }

    fn movies(&self) -> Movies<'_> {
        // The paper's rule; a rating beyond five stars is an error to learn from like any other.
        let rule = Learning { through_clamp: true, ..Learning::paper(self.settings.decentralised_step) };
        Movies::new(self.graph, self.numbers, rule, self.settings.loss, self.mean)
    }

    fn meet(
        &self,
        movies: &mut Movies<'_>,
        users: &[usize],
        target: usize,
        learn: bool,
    ) -> (Vec<Sample>, f64) {
        let meet_one = |&user| {
            let (signal, label) = self.signals.question(user, target);
            movies.show(&signal);
            let error = movies.prediction(target) - label;
            if learn {
                movies.learn(target, label);
            }
            (Sample { taps: movies.taps(target), label }, error)
        };
        let (samples, errors): (Vec<Sample>, Vec<f32>) = users.iter().map(meet_one).unzip();
        (samples, root_mean_square(errors.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::synthetic;

    const SETTINGS: Settings = Settings {
        train_on: 0,
        test_on: 1,
        similarity: Similarity::Pearson,
        loss: Loss::SmoothL1,
        step: 0.01,
        decentralised_step: 0.01,
        adapt_bias: true,
        seed: 5,
    };

    #[test]
    fn every_network_beats_the_mean_on_ratings_that_are_made_from_tastes() {
        let signals = synthetic::signals(1);
        let outcome = run(&signals, &SETTINGS, 0).unwrap();
        let rows = Row::all(true);
        assert_eq!(outcome.scores.len(), rows.len());
        let score = |row| outcome.scores[rows.iter().position(|other| *other == row).unwrap()];
        for row in [Row::WideAndDeep, Row::Gnn, Row::GraphFilter, Row::Online(1), Row::Decentralised] {
            assert!(score(row).same < 0.95 * score(Row::Constant).same, "{row:?}: {outcome:?}");
        }
        assert_ne!(score(Row::Online(1)), score(Row::WideAndDeep));
        assert_ne!(score(Row::OnlineBias(1)), score(Row::Online(1)));
    }

    #[test]
    fn without_a_step_nothing_is_learned_online() {
        let outcome = run(&synthetic::signals(1), &Settings { step: 0.0, ..SETTINGS }, 0).unwrap();
        let rows = Row::all(true);
        for (row, score) in rows.iter().zip(&outcome.scores) {
            if matches!(row, Row::Online(_) | Row::OnlineBias(_)) {
                assert_eq!(score, &outcome.scores[0], "{row:?}");
            }
        }
    }
}
