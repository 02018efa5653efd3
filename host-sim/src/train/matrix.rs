//! Products of small matrices for training, row by row.
//!
//! Blocks of four rows and eight columns are summed in registers. The order of each sum does not
//! depend on its block, so results do not depend on the number of rows.

/// Columns per block.
const COLUMNS: usize = 8;
/// Rows per block.
const ROWS: usize = 4;

/// `out += a · b`, with `k` columns of `a` and `n` of `b`.
pub fn add_product(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    debug_assert_eq!(out.len() / n.max(1), a.len() / k.max(1));
    debug_assert_eq!(b.len(), k * n);
    let blocks = out.chunks_exact_mut(ROWS * n);
    let lines = a.chunks_exact(ROWS * k);
    let rest = lines.remainder();
    for (out, a) in blocks.zip(lines) {
        product::<ROWS>(out, a, b, k, n);
    }
    let done = out.len() - rest.len() / k.max(1) * n;
    for (out, a) in out[done..].chunks_exact_mut(n).zip(rest.chunks_exact(k)) {
        product::<1>(out, a, b, k, n);
    }
}

/// `out += a · b` for `R` rows.
#[inline]
fn product<const R: usize>(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    let whole = n / COLUMNS * COLUMNS;
    for column in (0..whole).step_by(COLUMNS) {
        let mut sums = [[0.0; COLUMNS]; R];
        for (row, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&out[row * n + column..][..COLUMNS]);
        }
        let inputs: [&[f32]; R] = std::array::from_fn(|row| &a[row * k..][..k]);
        for (index, weights) in b.chunks_exact(n).enumerate() {
            let weights: &[f32; COLUMNS] = weights[column..column + COLUMNS].as_array().expect("as many");
            for (sums, inputs) in sums.iter_mut().zip(&inputs) {
                let input = inputs[index];
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += input * weight;
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            out[row * n + column..][..COLUMNS].copy_from_slice(sums);
        }
    }
    for row in 0..R {
        for column in whole..n {
            let inputs = a[row * k..][..k].iter();
            let weights = b[column..].iter().step_by(n);
            let sum = &mut out[row * n + column];
            inputs.zip(weights).for_each(|(input, weight)| *sum += input * weight);
        }
    }
}

/// `out += aᵀ · b`, with `k` columns of `a`, `n` of `b` and equal numbers of rows.
pub fn add_transposed_product(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    debug_assert_eq!(out.len(), k * n);
    let whole = k / ROWS * ROWS;
    for row in (0..whole).step_by(ROWS) {
        transposed::<ROWS>(&mut out[row * n..][..ROWS * n], a, b, (row, k), n);
    }
    for row in whole..k {
        transposed::<1>(&mut out[row * n..][..n], a, b, (row, k), n);
    }
}

/// `out += aᵀ · b` for `R` rows of `out` from `first` on.
#[inline]
fn transposed<const R: usize>(out: &mut [f32], a: &[f32], b: &[f32], (first, k): (usize, usize), n: usize) {
    let whole = n / COLUMNS * COLUMNS;
    for column in (0..whole).step_by(COLUMNS) {
        let mut sums = [[0.0; COLUMNS]; R];
        for (row, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&out[row * n + column..][..COLUMNS]);
        }
        for (a, b) in a.chunks_exact(k).zip(b.chunks_exact(n)) {
            let factors: &[f32; R] = a[first..first + R].as_array().expect("as many");
            let others: &[f32; COLUMNS] = b[column..column + COLUMNS].as_array().expect("as many");
            for (sums, factor) in sums.iter_mut().zip(factors) {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum += factor * other;
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            out[row * n + column..][..COLUMNS].copy_from_slice(sums);
        }
    }
    for row in 0..R {
        for column in whole..n {
            let sum = &mut out[row * n + column];
            for (a, b) in a.chunks_exact(k).zip(b.chunks_exact(n)) {
                *sum += a[first + row] * b[column];
            }
        }
    }
}

/// `out += factor · a · bᵀ`, with `n` columns of `a` and `b` and `k` of `out`.
pub fn add_product_by_transposed(out: &mut [f32], factor: f32, a: &[f32], b: &[f32], k: usize, n: usize) {
    debug_assert_eq!(b.len(), k * n);
    for (out, a) in out.chunks_exact_mut(k).zip(a.chunks_exact(n)) {
        for (sum, b) in out.iter_mut().zip(b.chunks_exact(n)) {
            *sum += factor * dot(a, b);
        }
    }
}

/// Scalar product in eight sums.
#[inline]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_runs, a_rest) = a.as_chunks::<COLUMNS>();
    let (b_runs, b_rest) = b.as_chunks::<COLUMNS>();
    let mut sums = [0.0; COLUMNS];
    for (a, b) in a_runs.iter().zip(b_runs) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (a, b)| sum + a * b);
    sums.iter().fold(rest, |sum, part| sum + part)
}

pub fn add_rows(sums: &mut [f32], rows: &[f32]) {
    for row in rows.chunks_exact(sums.len()) {
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum += x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers have equal sums in any order.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|index| ((index * 7 + seed * 13) % 11) as f32 - 5.0).collect()
    }

    fn plain(a: &[f32], b: &[f32], k: usize, n: usize) -> Vec<f32> {
        let entry = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum();
        (0..a.len() / k).flat_map(|row| (0..n).map(move |column| entry(row, column))).collect()
    }

    fn transpose(a: &[f32], columns: usize) -> Vec<f32> {
        let rows = a.len() / columns;
        (0..columns).flat_map(|column| (0..rows).map(move |row| a[row * columns + column])).collect()
    }

    #[test]
    fn products_match_the_definition_for_all_sizes() {
        for (m, k, n) in [(1, 1, 1), (4, 3, 8), (5, 6, 2), (9, 24, 32), (7, 5, 19), (13, 9, 3)] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let expected = plain(&a, &b, k, n);
            let mut out = vec![1.0; m * n];
            add_product(&mut out, &a, &b, k, n);
            assert!(out.iter().zip(&expected).all(|(out, x)| *out == x + 1.0), "{m} {k} {n}");

            let mut out = vec![0.0; m * n];
            add_transposed_product(&mut out, &transpose(&a, k), &b, m, n);
            assert_eq!(out, expected, "{m} {k} {n} transposed");

            let mut out = vec![0.0; m * n];
            add_product_by_transposed(&mut out, 2.0, &a, &transpose(&b, n), n, k);
            assert!(out.iter().zip(&expected).all(|(out, x)| *out == 2.0 * x), "{m} {k} {n} by transposed");
        }
    }

    #[test]
    fn rows_are_added_up() {
        let mut sums = [1.0, 2.0];
        add_rows(&mut sums, &[1.0, 10.0, 2.0, 20.0]);
        assert_eq!(sums, [4.0, 32.0]);
    }
}
