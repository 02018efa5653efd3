//! Experiment: one random split of the users, from the graph to the errors of every predictor.

use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    graph::{self, Similarity},
    network::{self, Architecture, INPUTS, Loss, Sample, TAPS},
    online::{Predictor, Rule},
    ratings::Ratings,
};

/// Users of an online stream (the paper's appendix), or fewer where a movie has fewer raters.
pub const MAX_STREAM: usize = 400;

/// Settings of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, clap::Args)]
pub struct Config {
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Similarity of two movies.
    #[arg(long, value_enum, default_value_t = Similarity::Pearson)]
    pub similarity: Similarity,
    /// Loss in training and online.
    #[arg(long, value_enum, default_value_t = Loss::SmoothL1)]
    pub loss: Loss,
    /// Step size of online learning.
    #[arg(long, value_name = "STEP", default_value_t = 0.01)]
    pub step_size: f64,
}

/// Errors by predictor ([`crate::report::ROWS`]) and column ([`crate::report::COLUMNS`]).
pub type Scores = Vec<[f64; 4]>;

/// Random generator of one purpose (4: weights and batches, 20: split of the users) in one split.
fn generator(seed: u64, purpose: u64, split: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (part, number) in key.chunks_exact_mut(8).zip([seed, purpose, split]) {
        part.copy_from_slice(&number.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// Raters of a movie in random order: a tenth for testing (the paper's appendix), and the rest.
fn shuffled_raters(ratings: &Ratings, node: usize, random: &mut ChaCha8Rng) -> [Vec<usize>; 2] {
    let mut held_out = ratings.raters(node);
    held_out.shuffle(random);
    let rest = held_out.split_off(held_out.len().div_ceil(10));
    [held_out, rest]
}

/// Runs the split with this index. The result depends on the seed and the index only.
pub fn run_split(ratings: &Ratings, config: &Config, split: u64) -> Scores {
    let mut random = generator(config.seed, 20, split);
    let same = shuffled_raters(ratings, ratings.same, &mut random);
    let other = shuffled_raters(ratings, ratings.other, &mut random);
    // Held-out users take no part in the graph either.
    let is_held_out = |user: &usize| same[0].contains(user) || other[0].contains(user);
    let graph_users: Vec<usize> = (0..ratings.stars.len()).filter(|user| !is_held_out(user)).collect();
    let shift = graph::shift_operator(ratings, &graph_users, config.similarity);
    let [same_held_out, training] = samples(ratings, &shift, ratings.same, &same);
    let [other_held_out, other_rest] = samples(ratings, &shift, ratings.other, &other);
    let same_stream = &training[..training.len().min(MAX_STREAM)];
    let other_stream = &other_rest[..other_rest.len().min(MAX_STREAM)];

    let architectures = [Architecture::WideAndDeep, Architecture::Deep, Architecture::Wide];
    let [both, deep, wide] = architectures.map(|architecture| {
        let mut random = generator(config.seed, 4, split);
        architecture.train(&training, config.loss, &mut random)
    });
    let labels: f32 = training.iter().map(|sample| sample.label).sum();
    let constant = network::constant(labels / training.len() as f32);
    let mut predictors = [&both, &deep, &wide].map(|network| Predictor::new(network, Rule::Fixed)).to_vec();
    for (bias, steps) in [(false, 1), (false, 2), (false, 3), (true, 1), (true, 2), (true, 3)] {
        let rule = Rule::Gradient { step_size: config.step_size as f32, steps, bias, loss: config.loss };
        predictors.push(Predictor::new(&both, rule));
    }
    predictors.extend([Rule::Fixed, Rule::RunningMean].map(|rule| Predictor::new(&constant, rule)));

    let score = |predictor: &Predictor<'_>| {
        let [mut on_same, mut on_other, mut on_held_out] = [(); 3].map(|()| predictor.clone());
        on_same.predict_then_learn(same_stream);
        let other_stream = on_other.predict_then_learn(other_stream);
        let same_stream = on_held_out.predict_then_learn(&same_held_out);
        [on_same.test(&same_held_out), on_other.test(&other_held_out), same_stream, other_stream]
    };
    predictors.iter().map(score).collect()
}

/// Samples of two groups of users at one movie, whose rating is the label and 0 in the signal.
fn samples(ratings: &Ratings, shift: &[Vec<f64>], node: usize, groups: &[Vec<usize>; 2]) -> [Vec<Sample>; 2] {
    let rows = graph::tap_rows(shift, node);
    let sample = |&user: &usize| {
        let mut signal = ratings.stars[user].clone();
        let label = std::mem::replace(&mut signal[node], 0.0);
        let mut inputs = [1.0; INPUTS];
        for (input, row) in inputs[..TAPS].iter_mut().zip(&rows) {
            *input = row.iter().zip(&signal).map(|(a, &b)| a * f64::from(b)).sum::<f64>() as f32;
        }
        Sample { inputs, label }
    };
    groups.each_ref().map(|users| users.iter().map(sample).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ROWS;

    #[test]
    fn networks_beat_the_constant_on_ratings_generated_from_tastes() {
        let (similarity, loss) = (Similarity::Pearson, Loss::SmoothL1);
        let config = Config { seed: 5, similarity, loss, step_size: 0.01 };
        let scores = run_split(&Ratings::synthetic(), &config, 0);
        assert_eq!(scores.len(), ROWS.len());
        let constant = scores[9];
        for (row, scores) in ROWS.iter().zip(&scores).take(9) {
            assert!(scores[0] < 0.95 * constant[0], "{}: {} and {}", row.0, scores[0], constant[0]);
        }
    }

    #[test]
    fn held_out_users_are_a_tenth_and_not_among_the_rest() {
        let ratings = Ratings::synthetic();
        let [held_out, rest] = shuffled_raters(&ratings, 0, &mut generator(7, 20, 0));
        let mut all = [held_out.clone(), rest].concat();
        assert_eq!(held_out.len(), all.len().div_ceil(10));
        all.sort_unstable();
        assert_eq!(all, ratings.raters(0));
    }
}
