//! Eigenvalues and solutions of small symmetric matrices by Jacobi rotations.

/// Eigenvalues and eigenvectors of a symmetric matrix: `matrix · vectors[k] = values[k] ·
/// vectors[k]`.
#[derive(Clone, Debug)]
pub struct Eigen {
    /// Eigenvalues in any order.
    pub values: Vec<f64>,
    pub vectors: Vec<Vec<f64>>,
}

/// Sweeps over all pairs of axes; twelve reach rounding errors for this size.
const SWEEPS: usize = 30;

impl Eigen {
    /// Computes the decomposition of a symmetric matrix given as rows.
    pub fn of(matrix: &[Vec<f64>]) -> Self {
        let n = matrix.len();
        let mut a = matrix.to_vec();
        let mut vectors: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        for _ in 0..SWEEPS {
            let off: f64 =
                (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j].powi(2)).sum();
            let diagonal: f64 = (0..n).map(|i| a[i][i].powi(2)).sum();
            if off <= 1.0e-30 * diagonal {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
        }
        Self { values: (0..n).map(|i| a[i][i]).collect(), vectors }
    }

    /// Solves `matrix · x = right`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; right.len()];
        for (value, vector) in self.values.iter().zip(&self.vectors) {
            let share = dot(vector, right) / value;
            for (x, v) in x.iter_mut().zip(vector) {
                *x += share * v;
            }
        }
        x
    }

    /// Returns the smallest and the largest eigenvalue.
    pub fn range(&self) -> (f64, f64) {
        self.values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
    }
}

/// Returns the scalar product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Rotates the axes p and q such that `a[p][q]` vanishes.
fn rotate(a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    for k in 0..a.len() {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
        (vectors[p][k], vectors[q][k]) =
            (c * vectors[p][k] - s * vectors[q][k], s * vectors[p][k] + c * vectors[q][k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_by_two_by_hand() {
        let eigen = Eigen::of(&[vec![2.0, 1.0], vec![1.0, 2.0]]);
        let (low, high) = eigen.range();
        assert!((low - 1.0).abs() < 1.0e-12 && (high - 3.0).abs() < 1.0e-12);
        let x = eigen.solve(&[3.0, 0.0]);
        assert!((x[0] - 2.0).abs() < 1.0e-12 && (x[1] + 1.0).abs() < 1.0e-12);
    }

    #[test]
    fn all_vectors_are_eigenvectors() {
        let n = 9;
        let matrix: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| f64::from((i * j + i + j) % 7) + f64::from(u8::from(i == j))).collect())
            .collect();
        let eigen = Eigen::of(&matrix);
        for (value, vector) in eigen.values.iter().zip(&eigen.vectors) {
            for (row, v) in matrix.iter().zip(vector) {
                assert!((dot(row, vector) - value * v).abs() < 1.0e-9);
            }
        }
    }
}
