//! Products of small matrices for training, row by row, in a fixed order of sums.
//!
//! Networks of one layer are trained by [`super::block`], which is faster.

/// Sums of a scalar product.
const COLUMNS: usize = 8;

/// `out += factor · row`.
fn add_scaled(out: &mut [f32], factor: f32, row: &[f32]) {
    out.iter_mut().zip(row).for_each(|(sum, number)| *sum += factor * number);
}

/// `out += a · b`, with `k` columns of `a` and `n` of `b`.
pub fn add_product(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    debug_assert_eq!((out.len() / n.max(1), b.len()), (a.len() / k.max(1), k * n));
    for (out, a) in out.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        a.iter().zip(b.chunks_exact(n)).for_each(|(factor, row)| add_scaled(out, *factor, row));
    }
}

/// `out += aᵀ · b`, with `k` columns of `a`, `n` of `b` and equal numbers of rows.
pub fn add_transposed_product(out: &mut [f32], a: &[f32], b: &[f32], k: usize, n: usize) {
    debug_assert_eq!(out.len(), k * n);
    for (a, b) in a.chunks_exact(k).zip(b.chunks_exact(n)) {
        out.chunks_exact_mut(n).zip(a).for_each(|(out, factor)| add_scaled(out, *factor, b));
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
    rows.chunks_exact(sums.len()).for_each(|row| add_scaled(sums, 1.0, row));
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
