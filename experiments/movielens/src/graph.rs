//! Graph: similar movies are neighbors.
//!
//! Every movie chooses its ten most similar movies. The weight of an edge is the mean of both
//! directions, and the matrix is divided by its largest eigenvalue: the shift operator S.

use crate::{network::TAPS, ratings::Ratings};

/// Neighbors that every movie chooses (the paper's appendix).
const NEAREST: usize = 10;

/// Sums of products of whole stars are exact, so smaller values are rounding.
const ZERO: f64 = 1.0e-9;

/// Similarity of two movies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Similarity {
    /// Pearson correlation over the common raters.
    Pearson,
    /// Formula of the paper group's public library, with variances instead of the covariance.
    Library,
}

/// Variances of a and b and their covariance over the common raters, times count²; and count².
///
/// `a` lists raters with their stars; `b` holds the stars of all users.
fn moments(a: &[(usize, f64)], b: &[f64]) -> ([f64; 3], f64) {
    let [mut n, mut sum_a, mut sum_b, mut aa, mut bb, mut ab] = [0.0; 6];
    for (a, b) in a.iter().map(|&(user, a)| (a, b[user])).filter(|pair| pair.1 > 0.0) {
        (n, sum_a, sum_b) = (n + 1.0, sum_a + a, sum_b + b);
        (aa, bb, ab) = (aa + a * a, bb + b * b, ab + a * b);
    }
    ([n * aa - sum_a * sum_a, n * bb - sum_b * sum_b, n * ab - sum_a * sum_b], n * n)
}

fn similarities(ratings: &Ratings, users: &[usize], similarity: Similarity) -> Vec<Vec<f64>> {
    let movies = ratings.stars[0].len();
    let column = |node: usize| users.iter().map(|&user| f64::from(ratings.stars[user][node])).collect();
    let columns: Vec<Vec<f64>> = (0..movies).map(column).collect();
    let rated = |column: &Vec<f64>| column.iter().copied().enumerate().filter(|star| star.1 > 0.0).collect();
    let raters: Vec<Vec<(usize, f64)>> = columns.iter().map(rated).collect();
    let variance = |node: usize| {
        let ([variance, ..], factor) = moments(&raters[node], &columns[node]);
        variance / factor.max(1.0)
    };
    let all_raters: Vec<f64> = (0..movies).map(variance).collect();
    let mut table = vec![vec![0.0; movies]; movies];
    for a in 0..movies {
        for b in 0..a {
            let ([variance_a, variance_b, covariance], factor) = moments(&raters[a], &columns[b]);
            let (numerator, variances) = match similarity {
                Similarity::Pearson => (covariance, [variance_a, variance_b]),
                Similarity::Library => {
                    let mean = f64::midpoint(variance_a, variance_b) / factor.max(1.0);
                    (mean, [all_raters[a], all_raters[b]])
                }
            };
            if variances.iter().all(|variance| *variance > ZERO) {
                table[a][b] = numerator / (variances[0] * variances[1]).sqrt();
                table[b][a] = table[a][b];
            }
        }
    }
    table
}

/// Shift operator S of the movies, from the ratings of `users`.
pub fn shift_operator(ratings: &Ratings, users: &[usize], similarity: Similarity) -> Vec<Vec<f64>> {
    let table = similarities(ratings, users, similarity);
    let mut weights = vec![vec![0.0; table.len()]; table.len()];
    for (node, row) in table.iter().enumerate() {
        let mut nearest: Vec<usize> = (0..row.len()).filter(|&other| row[other] > ZERO).collect();
        nearest.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        for &other in nearest.iter().take(NEAREST) {
            weights[node][other] += row[other] / 2.0;
            weights[other][node] += row[other] / 2.0;
        }
    }
    let eigenvalue = largest_eigenvalue(&weights);
    weights.iter_mut().flatten().for_each(|weight| *weight /= eigenvalue);
    weights
}

/// Largest eigenvalue of a symmetric matrix without negative entries, by power iteration.
///
/// The iteration adds 1 to every eigenvalue, so that −λ never ties with λ.
fn largest_eigenvalue(matrix: &[Vec<f64>]) -> f64 {
    let mut vector = vec![1.0 / (matrix.len() as f64).sqrt(); matrix.len()];
    let mut eigenvalue = 0.0;
    for _round in 0..10_000 {
        let mut next = product(matrix, &vector);
        next.iter_mut().zip(&vector).for_each(|(next, x)| *next += x);
        let norm = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector = next.into_iter().map(|x| x / norm).collect();
        let previous = std::mem::replace(&mut eigenvalue, norm - 1.0);
        if (eigenvalue - previous).abs() <= 1.0e-10 * eigenvalue {
            break;
        }
    }
    eigenvalue
}

fn product(matrix: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

/// Rows `S^k e_node` for k = 0…K.
///
/// S is symmetric, so their products with a signal x are the taps `(S^k x)` at the node. One layer,
/// one input feature and one output node mean that the network needs nothing else of a user.
pub fn tap_rows(shift: &[Vec<f64>], node: usize) -> [Vec<f64>; TAPS] {
    let mut next = vec![0.0; shift.len()];
    next[node] = 1.0;
    std::array::from_fn(|_| {
        let shifted = product(shift, &next);
        std::mem::replace(&mut next, shifted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_by_hand() {
        // Common raters give a: 1, 2, 3 and b: 2, 2, 5. Variances ⅔ and 2, covariance 1.
        let a = [(0, 1.0), (1, 2.0), (2, 3.0), (3, 5.0)];
        assert_eq!(moments(&a, &[2.0, 2.0, 5.0, 0.0]), ([6.0, 18.0, 9.0], 9.0));
    }

    #[test]
    fn shift_operator_is_symmetric_with_ten_neighbors_and_largest_eigenvalue_1() {
        let ratings = Ratings::synthetic();
        let users: Vec<usize> = (9..ratings.stars.len()).collect();
        let mut other_users_blinded = ratings.clone();
        other_users_blinded.stars[..9].iter_mut().for_each(|stars| stars.fill(0.0));
        for similarity in [Similarity::Pearson, Similarity::Library] {
            let shift = shift_operator(&ratings, &users, similarity);
            assert_eq!(shift, shift_operator(&other_users_blinded, &users, similarity));
            assert!((largest_eigenvalue(&shift) - 1.0).abs() < 1.0e-9);
            for (node, row) in shift.iter().enumerate() {
                assert_eq!(row[node], 0.0);
                assert!(row.iter().filter(|weight| **weight > 0.0).count() >= NEAREST);
                assert!((0..row.len()).all(|other| row[other] == shift[other][node]));
            }
        }
    }

    #[test]
    fn tap_rows_are_powers_of_the_shift_operator() {
        // A path a – b – c: S x = (4, 0, 2) → (0, 4, 0) → (2, 0, 4) → (0, 5, 0) → (2.5, 0, 5) → …
        let shift = [vec![0.0, 0.5, 0.0], vec![0.5, 0.0, 1.0], vec![0.0, 1.0, 0.0]];
        let taps = |node| tap_rows(&shift, node).map(|row| 4.0 * row[0] + 2.0 * row[2]);
        assert_eq!(taps(0), [4.0, 0.0, 2.0, 0.0, 2.5, 0.0]);
        assert_eq!(taps(1), [0.0, 4.0, 0.0, 5.0, 0.0, 6.25]);
        assert!((largest_eigenvalue(&shift) - 1.25_f64.sqrt()).abs() < 1.0e-9);
    }
}
