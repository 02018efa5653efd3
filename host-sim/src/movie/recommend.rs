//! Recommend: what a user would rate highest among the movies not rated yet, and which ratings say so.
//!
//! The experiment's networks know one movie. This one is trained on ratings of all of them: any node's six numbers and the
//! rating that was taken out there; the same weights then answer at every node. For that, ratings are taken relative to what
//! others give to the movie and to how generous the user is ([`crate::movie::habits`]): zero then means "as expected" and not
//! "hated it", which one network for all movies needs (on raw ratings it does worse than the mean).

use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::online::Learning;

use crate::{
    data_error::DataError,
    movie::{
        gradient::{Loss, Sample, predict},
        graph::{Graph, Similarity},
        habits::Habits,
        network::{Architecture, HIDDEN, Numbers, TAPS, over},
        nodes::Movies,
        signals::Signals,
        statistics::root_mean_square,
        taps,
        task::RANGE,
        train::{EPOCHS, train},
    },
    seeds::{self, Purpose},
};

/// Ratings per user that are trained on: enough of everybody, not too much of the busiest.
const RATINGS_PER_USER: usize = 60;
/// One user in three trains the network; the others make the graph. Whoever makes a graph looks well predicted by it, and a
/// network trained on them trusts it too much: on others it is then worse than no network at all.
const FOR_THE_NETWORK: usize = 3;
/// One user in ten only serves to measure how far off the network is.
const HELD_OUT: usize = 10;
/// Ratings shown as the reasons of a recommendation.
const REASONS: usize = 3;

/// A network for all movies.
#[derive(Clone, Debug)]
pub struct Recommender {
    /// The movies' similarity.
    pub graph: Graph,
    /// The network.
    pub numbers: Numbers,
    /// What is expected without it.
    pub habits: Habits,
}

/// How far off a network is on users whom it has not seen, in stars, beside what is expected without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// With the network.
    pub network: f64,
    /// By the habits alone.
    pub habits: f64,
}

/// A rating's share in a prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// The movie rated, as a node.
    pub node: usize,
    /// The user's stars.
    pub stars: f32,
    /// How many stars others give to it.
    pub others: f32,
    /// How many stars of the prediction it accounts for.
    pub share: f32,
}

/// A movie to watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// The movie, as a node.
    pub node: usize,
    /// The rating that the user would give.
    pub rating: f32,
    /// How many stars others give to it.
    pub others: f32,
    /// The ratings that speak most for it, strongest first.
    pub reasons: Vec<Reason>,
}

impl Recommender {
    /// The graph that these users make.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn graph(signals: &Signals, users: &[usize], similarity: Similarity) -> Result<Graph, DataError> {
        Graph::build(signals, &share(users, false), similarity)
    }

    /// Trains on what these users rated.
    ///
    /// # Errors
    /// When the graph cannot be built.
    pub fn train(
        signals: &Signals,
        users: &[usize],
        similarity: Similarity,
        loss: Loss,
        seed: u64,
    ) -> Result<Self, DataError> {
        let graph = Self::graph(signals, users, similarity)?;
        let habits = Habits::of(signals, users);
        let mut random = seeds::generator(seed, Purpose::Weights, 0);
        let samples = samples(signals, &graph, &habits, &share(users, true), &mut random);
        let numbers = train(Architecture::WideAndDeep, &samples, loss, EPOCHS, &mut random);
        Ok(Self { graph, numbers, habits })
    }

    /// How far off a network is that was trained in this way on nine users in ten, on what the tenth rated.
    ///
    /// # Errors
    /// When the graph cannot be built.
    pub fn measure(
        signals: &Signals,
        similarity: Similarity,
        loss: Loss,
        seed: u64,
    ) -> Result<Accuracy, DataError> {
        let mut random = seeds::generator(seed, Purpose::Raters, 0);
        let mut unseen: Vec<usize> = (0..signals.users.len()).collect();
        unseen.shuffle(&mut random);
        let known = unseen.split_off(unseen.len().div_ceil(HELD_OUT));
        let Self { graph, numbers, habits } = Self::train(signals, &known, similarity, loss, seed)?;
        let samples = samples(signals, &graph, &habits, &unseen, &mut random);
        let error = |sample: &Sample| predict(&numbers, &sample.taps) - sample.label;
        Ok(Accuracy {
            network: root_mean_square(samples.iter().map(error)),
            habits: root_mean_square(samples.iter().map(|sample| sample.label)),
        })
    }

    /// The `count` best of the movies that the user has not rated, predicted by the nodes.
    ///
    /// # Errors
    /// [`DataError::SilentUser`].
    pub fn recommend(
        &self,
        signals: &Signals,
        user: usize,
        count: usize,
    ) -> Result<Vec<Recommendation>, DataError> {
        let stars = &signals.stars[user];
        if stars.iter().all(|&stars| stars == 0.0) {
            return Err(DataError::SilentUser { id: signals.users[user], movies: signals.movies.len() });
        }
        let (signal, generosity) = self.habits.surprises(stars);
        let mut movies = Movies::new(&self.graph, &self.numbers, Learning::OFF, Loss::SmoothL1, 0.0);
        movies.show(&signal);
        let rating = |node: usize| self.habits.others[node] + generosity + movies.prediction(node);
        let mut unseen: Vec<usize> = (0..stars.len()).filter(|&node| stars[node] == 0.0).collect();
        unseen.sort_by(|&a, &b| rating(b).total_cmp(&rating(a)));
        unseen.truncate(count);
        let recommend = |node| Recommendation {
            node,
            rating: rating(node).clamp(RANGE.0, RANGE.1),
            others: self.habits.others[node],
            reasons: self.reasons(stars, &self.shares(&signal, node, &movies.taps(node))),
        };
        Ok(unseen.into_iter().map(recommend).collect())
    }

    fn reasons(&self, stars: &[f32], shares: &[f32]) -> Vec<Reason> {
        let reason = |node: usize| Reason {
            node,
            stars: stars[node],
            others: self.habits.others[node],
            share: shares[node],
        };
        let mut reasons: Vec<Reason> =
            (0..stars.len()).filter(|&node| shares[node] > 0.0).map(reason).collect();
        reasons.sort_by(|a, b| b.share.total_cmp(&a.share));
        reasons.truncate(REASONS);
        reasons
    }

    /// Every rating's share in a prediction. ReLU is linear on either side of its corner, so around these taps the network is
    /// `constant + Σ_k g_k z_k`, and `z_k = Σ_j (S^k)_ij x_j`: the shares and the constant add up to the prediction.
    fn shares(&self, signal: &[f32], node: usize, taps: &[f32; TAPS]) -> Vec<f32> {
        let slopes = self.slopes(taps);
        let mut alone = vec![0.0; signal.len()];
        alone[node] = 1.0;
        // S has no direction, so what reaches the node from j is what reaches j from the node.
        let reach = taps::everywhere(&self.graph, &alone);
        (0..signal.len())
            .map(|j| signal[j] * (0..TAPS).map(|k| slopes[k] * reach[k][j]).sum::<f32>())
            .collect()
    }

    /// `g_k = Σ_i R_i (α_D [d_i > 0] A_ki + α_W B_ki)`.
    fn slopes(&self, taps: &[f32; TAPS]) -> [f32; TAPS] {
        let network = over(&self.numbers, self.graph.scale);
        let mut slopes = [0.0; TAPS];
        for i in 0..HIDDEN {
            let sum: f32 = (0..TAPS).map(|k| taps[k] * network.deep.filter[k][0][i]).sum();
            let open = if sum + network.deep.bias[i] > 0.0 { network.alpha_deep } else { 0.0 };
            for (k, slope) in slopes.iter_mut().enumerate() {
                let through =
                    open * network.deep.filter[k][0][i] + network.alpha_wide * network.wide[k][0][i];
                *slope += network.readout[i][0] * through;
            }
        }
        slopes
    }
}

/// Who trains the network, or who makes the graph.
fn share(users: &[usize], network: bool) -> Vec<usize> {
    let chosen = |place: &usize| place.is_multiple_of(FOR_THE_NETWORK) == network;
    (0..users.len()).filter(chosen).map(|place| users[place]).collect()
}

/// Up to so many of each user's ratings, each with the six numbers at its movie once it is taken out.
fn samples(
    signals: &Signals,
    graph: &Graph,
    habits: &Habits,
    users: &[usize],
    random: &mut ChaCha8Rng,
) -> Vec<Sample> {
    let mut samples = Vec::new();
    for &user in users {
        let mut rated: Vec<usize> =
            (0..signals.movies.len()).filter(|&node| signals.stars[user][node] > 0.0).collect();
        rated.shuffle(random);
        for &node in rated.iter().take(RATINGS_PER_USER) {
            let (stars, label) = signals.question(user, node);
            let (signal, generosity) = habits.surprises(&stars);
            let label = label - habits.others[node] - generosity;
            samples.push(Sample { taps: taps::at(graph, &signal, node), label });
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::synthetic;

    fn recommender() -> (Signals, Recommender) {
        let signals = synthetic::signals(1);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let recommender =
            Recommender::train(&signals, &users, Similarity::Shrunk, Loss::SmoothL1, 0).unwrap();
        (signals, recommender)
    }

    #[test]
    fn a_network_for_all_movies_knows_more_than_the_habits() {
        let accuracy =
            Recommender::measure(&synthetic::signals(1), Similarity::Shrunk, Loss::SmoothL1, 0).unwrap();
        assert!(accuracy.network < 0.95 * accuracy.habits, "{accuracy:?}");
    }

    #[test]
    fn recommendations_are_unseen_and_best_first() {
        let (signals, recommender) = recommender();
        for user in 0..20 {
            let list = recommender.recommend(&signals, user, 5).unwrap();
            assert_eq!(list.len(), 5);
            assert!(list.is_sorted_by(|a, b| a.rating >= b.rating));
            for movie in &list {
                assert_eq!(signals.stars[user][movie.node], 0.0);
                assert!((1.0..=5.0).contains(&movie.rating));
                assert!(movie.reasons.iter().all(|reason| reason.stars == signals.stars[user][reason.node]));
            }
        }
    }

    #[test]
    fn shares_account_for_all_of_a_prediction_that_depends_on_the_user() {
        // Without the ratings the taps are zero, so a prediction less its shares is the network's constant at that pattern of
        // open units; moving all ratings a little keeps the pattern, and moves the prediction by the shares' part alone.
        let (signals, recommender) = recommender();
        let (signal, node) = (&recommender.habits.surprises(&signals.stars[3]).0, 7);
        let rate =
            |signal: &[f32]| predict(&recommender.numbers, &taps::at(&recommender.graph, signal, node));
        let moved: Vec<f32> = signal.iter().map(|stars| stars * 1.001).collect();
        let shares: f32 =
            recommender.shares(signal, node, &taps::at(&recommender.graph, signal, node)).iter().sum();
        // Outputs near 1 round to 1e-7 sixty times, which a thousandth turns into 5e-3 at the very most.
        assert!(((rate(&moved) - rate(signal)) * 1000.0 - shares).abs() < 5.0e-3 * (1.0 + shares.abs()));
    }

    #[test]
    fn a_user_without_ratings_has_nothing_to_go_by() {
        let (mut signals, recommender) = recommender();
        signals.stars[2].fill(0.0);
        let error = recommender.recommend(&signals, 2, 5).unwrap_err();
        assert_eq!(error, DataError::SilentUser { id: signals.users[2], movies: signals.movies.len() });
    }
}
