//! Theorem 1 on measured taps: gradient descent tracks the optimum of a problem that changes at
//! each tick.
//!
//! At tick t, robot i has taps z_i, and its offline command differs from the expert's by e_i. The
//! problem in D = C − C† is
//!
//! `J_t(D) = 1/N · Σ_i ‖α_W Dᵀz_i − e_i‖² + ridge · ‖D‖²`,
//!
//! a quadratic with the Hessian `H_t = 2α_W²/N · Σ z_i z_iᵀ + 2·ridge` for each output. The theorem
//! requires strong convexity, which never holds in B (its rank is at most TAPS·F·O of TAPS·F·G) and
//! holds in C only with the ridge. One gradient step per tick with step γ contracts by `m_t =
//! max(|1 − γ C_s|, |1 − γ C_ℓ|)`, C_s and C_ℓ being H_t's largest and smallest eigenvalues, so
//!
//! `‖D_t − D*_t‖ ≤ Π m · ‖D_0 − D*_0‖ + (1 − m̂ᵗ)/(1 − m̂) · C_B`, with C_B the largest drift of
//! the optimum in one tick.
//!
//! The decentralized rule (robots average with their neighbors and descend their own terms) is
//! compared with the same bound; the paper leaves its proof open.

use crate::links::Links;

/// Data of the problem at one tick.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// α_W·z of each robot.
    pub taps: Vec<Vec<f64>>,
    /// Expert command minus offline command of each robot.
    pub misses: Vec<[f64; 2]>,
    pub links: Links,
}

/// Result at a tick.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Row {
    pub tick: usize,
    pub bound: f64,
    /// Distance of the central rule to the optimum.
    pub centralised: f64,
    /// Distance of the robots' mean to the optimum.
    pub decentralised_mean: f64,
    /// Distance of the furthest robot to the optimum.
    pub decentralised_worst: f64,
    /// Drift of the optimum since the previous tick.
    pub drift: f64,
}

type Parameters = [Vec<f64>; 2];

/// Runs both rules over an episode.
pub fn track(scenes: &[Scene], ridge: f64) -> Vec<Row> {
    let problems: Vec<(Eigen, Parameters)> = scenes.iter().map(|scene| problem(scene, ridge)).collect();
    // Step that is stable for each robot's term, which is steeper than their mean.
    let steepest = scenes.iter().flat_map(|scene| &scene.taps).map(|z| 2.0 * dot(z, z)).fold(0.0, f64::max);
    let step = 1.0 / (steepest + 2.0 * ridge);
    let optima: Vec<&Parameters> = problems.iter().map(|(_, optimum)| optimum).collect();
    let drifts: Vec<f64> = optima.windows(2).map(|pair| distance(pair[0], pair[1])).collect();
    let drift_bound = drifts.iter().copied().fold(0.0, f64::max);
    let width = scenes.first().and_then(|scene| scene.taps.first()).map_or(0, Vec::len);
    let robots = scenes.first().map_or(0, |scene| scene.taps.len());
    let mut center: Parameters = [vec![0.0; width], vec![0.0; width]];
    let mut swarm = vec![center.clone(); robots];
    let begin = optima.first().map_or(0.0, |optimum| distance(&center, optimum));
    let (mut product, mut slowest) = (1.0, 0.0_f64);
    let mut rows = Vec::with_capacity(scenes.len());
    for (tick, scene) in scenes.iter().enumerate() {
        let geometric =
            if slowest < 1.0 { (1.0 - slowest.powf(tick as f64)) / (1.0 - slowest) } else { tick as f64 };
        rows.push(Row {
            tick,
            bound: product * begin + geometric * drift_bound,
            centralised: distance(&center, optima[tick]),
            decentralised_mean: distance(&mean(&swarm, width), optima[tick]),
            decentralised_worst: swarm.iter().map(|own| distance(own, optima[tick])).fold(0.0, f64::max),
            drift: tick.checked_sub(1).map_or(0.0, |before| drifts[before]),
        });
        let (low, high) = problems[tick].0.range();
        let contraction = (1.0 - step * low).abs().max((1.0 - step * high).abs());
        product *= contraction;
        slowest = slowest.max(contraction);
        center = descend(&center, &center, scene, 0..robots, ridge, step);
        swarm = (0..robots)
            .map(|robot| {
                descend(
                    &average(&swarm, robot, &scene.links),
                    &swarm[robot],
                    scene,
                    robot..robot + 1,
                    ridge,
                    step,
                )
            })
            .collect();
    }
    rows
}

/// Returns the Hessian's eigenvalues and the optimum.
fn problem(scene: &Scene, ridge: f64) -> (Eigen, Parameters) {
    let n = scene.taps.len() as f64;
    let width = scene.taps.first().map_or(0, Vec::len);
    let mut hessian = vec![vec![0.0; width]; width];
    let mut right: Parameters = [vec![0.0; width], vec![0.0; width]];
    for (z, miss) in scene.taps.iter().zip(&scene.misses) {
        for (row, a) in hessian.iter_mut().zip(z) {
            for (h, b) in row.iter_mut().zip(z) {
                *h += 2.0 / n * a * b;
            }
        }
        for (right, miss) in right.iter_mut().zip(miss) {
            for (r, a) in right.iter_mut().zip(z) {
                *r += 2.0 / n * a * miss;
            }
        }
    }
    for (index, row) in hessian.iter_mut().enumerate() {
        row[index] += 2.0 * ridge;
    }
    let eigen = Eigen::of(&hessian);
    let optimum = right.map(|right| eigen.solve(&right));
    (eigen, optimum)
}

/// Returns `from − step · ∇J(at)` with the mean gradient of the given robots' terms.
fn descend(
    from: &Parameters, at: &Parameters, scene: &Scene, robots: std::ops::Range<usize>, ridge: f64, step: f64,
) -> Parameters {
    let mut next = from.clone();
    let n = robots.len() as f64;
    for output in 0..2 {
        for (next, at) in next[output].iter_mut().zip(&at[output]) {
            *next -= step * 2.0 * ridge * at;
        }
        for robot in robots.clone() {
            let z = &scene.taps[robot];
            let error = dot(z, &at[output]) - scene.misses[robot][output];
            for (next, z) in next[output].iter_mut().zip(z) {
                *next -= step * 2.0 / n * error * z;
            }
        }
    }
    next
}

/// Averages a robot's parameters with those of its neighbors.
fn average(swarm: &[Parameters], robot: usize, links: &Links) -> Parameters {
    let mut group: Vec<&Parameters> = links.of(robot).iter().map(|&other| &swarm[other as usize]).collect();
    group.push(&swarm[robot]);
    let width = swarm[robot][0].len();
    mean_of(&group, width)
}

fn mean(swarm: &[Parameters], width: usize) -> Parameters {
    mean_of(&swarm.iter().collect::<Vec<_>>(), width)
}

fn mean_of(group: &[&Parameters], width: usize) -> Parameters {
    [0, 1].map(|output| {
        (0..width).map(|k| group.iter().map(|own| own[output][k]).sum::<f64>() / group.len() as f64).collect()
    })
}

fn distance(a: &Parameters, b: &Parameters) -> f64 {
    let squares = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Eigenvalues, in any order, and eigenvectors of a symmetric matrix, by Jacobi rotations:
/// `matrix · vectors[k] = values[k] · vectors[k]`.
struct Eigen {
    values: Vec<f64>,
    vectors: Vec<Vec<f64>>,
}

/// Sweeps over all pairs of axes; twelve reach rounding errors for this size.
const SWEEPS: usize = 30;

impl Eigen {
    /// Computes the decomposition of a symmetric matrix given as rows.
    fn of(matrix: &[Vec<f64>]) -> Self {
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
    fn solve(&self, right: &[f64]) -> Vec<f64> {
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
    fn range(&self) -> (f64, f64) {
        self.values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)))
    }
}

/// Returns the scalar product.
fn dot(a: &[f64], b: &[f64]) -> f64 {
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

    /// One robot and one tap: J_t(d) = (d − miss)² + ridge·d² per output.
    fn still(miss: f64) -> Scene {
        Scene { taps: vec![vec![1.0]], misses: vec![[miss, 0.0]], links: Links::within(&[[0.0; 3]], 1.0) }
    }

    #[test]
    fn a_constant_problem_is_solved_in_one_step() {
        let rows = track(&vec![still(2.0); 5], 1.0);
        // The optimum is 2/(1 + 1) = 1, and the step 1/H reaches it at once.
        assert!((rows[0].centralised - 1.0).abs() < 1.0e-12);
        assert!((rows[0].bound - 1.0).abs() < 1.0e-12);
        assert!(rows[1].centralised < 1.0e-12 && rows[1].decentralised_worst < 1.0e-12);
    }

    #[test]
    fn the_bound_holds_while_the_optimum_moves() {
        let scenes: Vec<Scene> = (0..50).map(|tick| still(2.0 + f64::from(tick) * 0.1)).collect();
        for row in track(&scenes, 0.5) {
            assert!(row.centralised <= row.bound + 1.0e-12, "tick {}", row.tick);
        }
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
        // By hand: 3 and 1 with the vectors (1, 1) and (1, -1).
        let eigen = Eigen::of(&[vec![2.0, 1.0], vec![1.0, 2.0]]);
        let ((low, high), x) = (eigen.range(), eigen.solve(&[3.0, 0.0]));
        for (value, expected) in [low, high, x[0], x[1]].into_iter().zip([1.0, 3.0, 2.0, -1.0]) {
            assert!((value - expected).abs() < 1.0e-12, "{value} {expected}");
        }
    }
}
