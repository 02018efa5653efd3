//! Connect: movies that the same people rate alike are neighbours.
//!
//! Similarity over the common raters of the training part, the ten nearest of every movie, made symmetric, divided by the
//! largest eigenvalue.

use wdgnn_core::task::NodeId;

use crate::{data_error::DataError, movie::signals::Signals};

/// Neighbours that every movie chooses (the paper's appendix).
pub const NEAREST: usize = 10;

/// The most neighbours that a node has room for: what a beacon can tell in its one byte. A movie is also chosen by others, up to
/// 89 edges by Pearson and 136 by the library's similarity in 100 splits of MovieLens 100K.
pub const MOST_NEIGHBOURS: usize = 255;

/// Two ratings' products and sums are exact in `f64`, so what is not above this is zero.
const ZERO: f64 = 1.0e-9;

/// Half of a correlation over this many common raters is believed (the best of 0, 30 and 100 for recommending).
const DOUBT: f64 = 100.0;

/// How alike two movies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Similarity {
    /// Pearson correlation over the common raters.
    Pearson,
    /// What the public library of the paper's group computes in its place: the variance of one movie's ratings among the
    /// common raters over both movies' standard deviations among all of theirs, averaged over the two directions.
    Library,
    /// Pearson correlation, trusted the less the fewer raters two movies have in common.
    Shrunk,
}

/// A weighted graph without direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Per node its neighbours in ascending id, with the weights of their edges.
    pub edges: Vec<Vec<(NodeId, f32)>>,
    /// One over the largest eigenvalue of the matrix of those weights.
    pub scale: f32,
}

impl Graph {
    /// The graph of the movies' similarity, as these users rated them.
    ///
    /// # Errors
    /// [`DataError::TooFewSimilar`], [`DataError::TooManyNeighbours`].
    pub fn build(signals: &Signals, users: &[usize], similarity: Similarity) -> Result<Self, DataError> {
        let table = similarities(signals, users, similarity);
        let count = signals.movies.len();
        let mut weights = vec![vec![0.0; count]; count];
        for (node, row) in table.iter().enumerate() {
            for chosen in nearest(row).ok_or_else(|| too_few(signals, node, row))? {
                // Both directions' mean: an edge that only one end chose has half the weight.
                weights[node][chosen] += row[chosen] / 2.0;
                weights[chosen][node] += row[chosen] / 2.0;
            }
        }
        let mut edges = Vec::with_capacity(count);
        for (node, row) in weights.iter().enumerate() {
            let list: Vec<(NodeId, f32)> = (0..count)
                .filter(|&other| row[other] > 0.0)
                .map(|other| (other as NodeId, row[other] as f32))
                .collect();
            if list.len() > MOST_NEIGHBOURS {
                let (id, title) = (signals.movies[node].id, signals.movies[node].title.clone());
                return Err(DataError::TooManyNeighbours {
                    id,
                    title,
                    degree: list.len(),
                    room: MOST_NEIGHBOURS,
                });
            }
            edges.push(list);
        }
        let scale = (1.0 / largest_eigenvalue(&edges)) as f32;
        Ok(Self { edges, scale })
    }

    /// The largest number of neighbours.
    #[must_use]
    pub fn largest_degree(&self) -> usize {
        self.edges.iter().map(Vec::len).max().unwrap_or_default()
    }
}

fn too_few(signals: &Signals, node: usize, row: &[f64]) -> DataError {
    let movie = signals.movies[node].clone();
    DataError::TooFewSimilar {
        id: movie.id,
        title: movie.title,
        file: signals.movie_file.clone(),
        line: movie.line,
        similar: row.iter().filter(|&&similarity| similarity > ZERO).count(),
        needed: NEAREST,
    }
}

/// The ten most similar, of equals the smaller index first; `None` when fewer than ten are similar at all.
fn nearest(row: &[f64]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..row.len()).filter(|&other| row[other] > ZERO).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    order.truncate(NEAREST);
    (order.len() == NEAREST).then_some(order)
}

/// Sums over the common raters of two movies.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: f64,
    a: f64,
    b: f64,
    aa: f64,
    bb: f64,
    ab: f64,
}

impl Sums {
    fn over(raters: &[(usize, f64)], other: &[f64]) -> Self {
        let mut sums = Self::default();
        for &(user, a) in raters {
            let b = other[user];
            if b > 0.0 {
                sums.count += 1.0;
                sums.a += a;
                sums.b += b;
                sums.aa += a * a;
                sums.bb += b * b;
                sums.ab += a * b;
            }
        }
        sums
    }

    fn variance_a(&self) -> f64 {
        if self.count > 0.0 { self.aa / self.count - (self.a / self.count).powi(2) } else { 0.0 }
    }

    /// Nobody in common, or nobody who differs: no correlation.
    fn pearson(&self) -> f64 {
        let covariance = self.count * self.ab - self.a * self.b;
        let spread_a = self.count * self.aa - self.a * self.a;
        let spread_b = self.count * self.bb - self.b * self.b;
        if spread_a > ZERO && spread_b > ZERO { covariance / (spread_a * spread_b).sqrt() } else { 0.0 }
    }
}

fn similarities(signals: &Signals, users: &[usize], similarity: Similarity) -> Vec<Vec<f64>> {
    let count = signals.movies.len();
    let columns: Vec<Vec<f64>> = (0..count)
        .map(|node| users.iter().map(|&user| f64::from(signals.stars[user][node])).collect())
        .collect();
    let raters: Vec<Vec<(usize, f64)>> = columns
        .iter()
        .map(|column| column.iter().copied().enumerate().filter(|&(_, stars)| stars > 0.0).collect())
        .collect();
    let deviation: Vec<f64> = (0..count)
        .map(|node| Sums::over(&raters[node], &columns[node]).variance_a().max(0.0).sqrt())
        .collect();
    let mut table = vec![vec![0.0; count]; count];
    for a in 0..count {
        for b in a + 1..count {
            let value = match similarity {
                Similarity::Pearson => Sums::over(&raters[a], &columns[b]).pearson(),
                Similarity::Shrunk => {
                    let sums = Sums::over(&raters[a], &columns[b]);
                    sums.pearson() * sums.count / (sums.count + DOUBT)
                }
                Similarity::Library if deviation[a] > ZERO && deviation[b] > ZERO => {
                    let there = Sums::over(&raters[a], &columns[b]).variance_a();
                    let back = Sums::over(&raters[b], &columns[a]).variance_a();
                    (there + back) / (2.0 * deviation[a] * deviation[b])
                }
                Similarity::Library => 0.0,
            };
            table[a][b] = value;
            table[b][a] = value;
        }
    }
    table
}

/// The largest eigenvalue by power iteration. Weights are positive, so it belongs to a positive vector, and a positive start
/// has a part of that. One is added to every eigenvalue meanwhile, so that −λ never ties with λ.
fn largest_eigenvalue(edges: &[Vec<(NodeId, f32)>]) -> f64 {
    const ROUNDS: usize = 10_000;
    const PRECISION: f64 = 1.0e-12;
    let mut vector = vec![1.0 / (edges.len() as f64).sqrt(); edges.len()];
    let mut eigenvalue = 0.0;
    for _ in 0..ROUNDS {
        let mut next = vector.clone();
        for (sum, row) in next.iter_mut().zip(edges) {
            for &(neighbour, weight) in row {
                *sum += f64::from(weight) * vector[usize::from(neighbour)];
            }
        }
        let norm = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        for x in &mut next {
            *x /= norm;
        }
        vector = next;
        let before = std::mem::replace(&mut eigenvalue, norm - 1.0);
        if (eigenvalue - before).abs() <= PRECISION * eigenvalue.abs() {
            break;
        }
    }
    eigenvalue
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::synthetic;

    #[test]
    fn pearson_by_hand() {
        // Common raters rate a: 1, 2, 3 and b: 2, 2, 5. Deviations −1, 0, 1 and −1, −1, 2: covariance 3, spreads 2 and 6.
        let raters = [(0, 1.0), (1, 2.0), (2, 3.0), (3, 5.0)];
        let sums = Sums::over(&raters, &[2.0, 2.0, 5.0, 0.0]);
        assert!((sums.pearson() - 3.0 / 12.0_f64.sqrt()).abs() < 1.0e-12);
        // One direction of the library's: variance 2/3 of a among the common raters.
        assert!((sums.variance_a() - 2.0 / 3.0).abs() < 1.0e-12);
        assert_eq!(Sums::over(&raters, &[0.0, 0.0, 0.0, 4.0]).pearson(), 0.0, "one common rater");
        assert_eq!(Sums::over(&raters, &[0.0; 4]).pearson(), 0.0, "none");
    }

    #[test]
    fn the_largest_eigenvalue_is_found_on_graphs_whose_spectrum_is_known() {
        // A ring of 6 with weight ½: 2 · ½ = 1. It is bipartite, so −1 is an eigenvalue too.
        let ring: Vec<Vec<(NodeId, f32)>> =
            (0..6).map(|i| vec![((i + 5) % 6, 0.5), ((i + 1) % 6, 0.5)]).collect();
        assert!((largest_eigenvalue(&ring) - 1.0).abs() < 1.0e-9);
        // A path of 3: √2. A pair beside it with weight 3: 3.
        let two: Vec<Vec<(NodeId, f32)>> =
            vec![vec![(1, 1.0)], vec![(0, 1.0), (2, 1.0)], vec![(1, 1.0)], vec![(4, 3.0)], vec![(3, 3.0)]];
        assert!((largest_eigenvalue(&two[..3]) - 2.0_f64.sqrt()).abs() < 1.0e-9);
        assert!((largest_eigenvalue(&two) - 3.0).abs() < 1.0e-9);
    }

    #[test]
    fn every_movie_has_ten_neighbours_or_more_both_ways() {
        let signals = synthetic::signals(1);
        let users: Vec<usize> = (0..signals.users.len()).collect();
        for similarity in [Similarity::Pearson, Similarity::Library, Similarity::Shrunk] {
            let graph = Graph::build(&signals, &users, similarity).unwrap();
            for (node, row) in graph.edges.iter().enumerate() {
                assert!(row.len() >= NEAREST);
                assert!(row.is_sorted_by_key(|edge| edge.0), "ascending, as the core sums");
                for &(other, weight) in row {
                    assert_ne!(usize::from(other), node);
                    assert!(graph.edges[usize::from(other)].contains(&(node as NodeId, weight)));
                }
            }
        }
    }

    #[test]
    fn only_the_given_users_count() {
        let signals = synthetic::signals(1);
        let (all, most): (Vec<usize>, Vec<usize>) =
            ((0..signals.users.len()).collect(), (9..signals.users.len()).collect());
        let mut blinded = signals.clone();
        blinded.stars[..9].iter_mut().for_each(|stars| stars.fill(0.0));
        let build = |signals, users: &[usize]| Graph::build(signals, users, Similarity::Pearson).unwrap();
        assert_eq!(build(&signals, &most), build(&blinded, &all));
        assert_ne!(build(&signals, &most), build(&signals, &all));
    }

    #[test]
    fn a_movie_with_too_few_common_raters_is_named() {
        let mut signals = synthetic::signals(1);
        let node = 3;
        for stars in &mut signals.stars[1..] {
            stars[node] = 0.0;
        }
        let users: Vec<usize> = (0..signals.users.len()).collect();
        let error = Graph::build(&signals, &users, Similarity::Pearson).unwrap_err();
        let DataError::TooFewSimilar { id, line, similar: 0, .. } = error else { panic!("{error}") };
        assert_eq!((id, line), (signals.movies[node].id, signals.movies[node].line));
    }
}
