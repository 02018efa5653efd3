//! Transposition of scattered samples: sixteen or more samples next to each other for each number.

/// Size of a transposed tile: the numbers in the narrowest registers.
const TILE: usize = 4;

/// Writes the numbers of sample s to indices s, s + `stride`, s + 2 `stride`, …
pub fn side_by_side<'a>(places: &mut [f32], stride: usize, samples: impl Iterator<Item = &'a [f32]>) {
    let mut samples = samples.fuse();
    for first in (0..stride).step_by(TILE) {
        match std::array::from_fn(|_| samples.next()) {
            [Some(a), Some(b), Some(c), Some(d)] if first + TILE <= stride => {
                tiles(&mut places[first..], stride, [a, b, c, d]);
            }
            [None, ..] => return,
            some => {
                for (sample, numbers) in some.into_iter().flatten().enumerate() {
                    column(&mut places[first + sample..], stride, numbers);
                }
            }
        }
    }
}

/// Writes one sample.
fn column(places: &mut [f32], stride: usize, numbers: &[f32]) {
    places.iter_mut().step_by(stride).zip(numbers).for_each(|(place, number)| *place = *number);
}

/// Writes four samples of equal length, four numbers at a time, with a quarter of the loads and
/// stores.
fn tiles(places: &mut [f32], stride: usize, samples: [&[f32]; TILE]) {
    let [(a, rest), (b, _), (c, _), (d, _)] = samples.map(<[f32]>::as_chunks::<TILE>);
    let mut rows = places.chunks_mut(stride);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for ((((a, b), c), d), row) in a.iter().zip(b).zip(c).zip(d).zip(rows.by_ref()) {
            row[..TILE].copy_from_slice(&[*a, *b, *c, *d]);
        }
    }
    for (row, number) in rows.zip(samples[0].len() - rest.len()..samples[0].len()) {
        row.iter_mut().zip(samples).for_each(|(place, sample)| *place = sample[number]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposition_keeps_all_other_numbers() {
        for (stride, samples, numbers) in
            [(16, 16, 24), (16, 13, 24), (16, 3, 7), (16, 0, 4), (6, 6, 5), (1, 1, 9)]
        {
            let rows: Vec<Vec<f32>> = (0..samples)
                .map(|sample| (0..numbers).map(|number| (100 * sample + number) as f32).collect())
                .collect();
            let mut places = vec![-1.0; stride * numbers];
            side_by_side(&mut places, stride, rows.iter().map(Vec::as_slice));
            for (place, found) in places.iter().enumerate() {
                let (number, sample) = (place / stride, place % stride);
                let expected = rows.get(sample).map_or(-1.0, |row| row[number]);
                assert_eq!(*found, expected, "{stride} {samples} {numbers}: {sample}, {number}");
            }
        }
    }
}
