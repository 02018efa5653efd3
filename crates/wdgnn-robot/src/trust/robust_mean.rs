//! Robust statistics of neighbors: median and median absolute deviation (MAD).
//!
//! A minority of arbitrary values changes neither by more than the range of the other values.

use core::{array, iter};

use wdgnn_core::math::SIMD_LANES;

/// One value of each column.
pub(crate) type Row = [f32; SIMD_LANES];

/// Returns the first values of a slice, padded with zeros.
#[inline]
pub(crate) fn row(numbers: &[f32]) -> Row {
    match numbers.first_chunk() {
        Some(first) => *first,
        None => array::from_fn(|lane| numbers.get(lane).copied().unwrap_or_default()),
    }
}

/// Overwrites the first values of a slice, up to the shorter length.
#[inline]
fn write(numbers: &mut [f32], row: &Row) {
    match numbers.first_chunk_mut() {
        Some(first) => *first = *row,
        None => numbers.iter_mut().zip(row).for_each(|(to, from)| *to = *from),
    }
}

/// Median of each column, and its median absolute deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MedianMad {
    median: Row,
    mad: Row,
}

impl MedianMad {
    /// Computes both, sorting the columns; returns `None` without rows.
    ///
    /// `min_mad` is added to every MAD.
    #[inline(never)] // Optimized for speed, and one copy in flash.
    pub(crate) fn compute(rows: &mut [Row], min_mad: f32) -> Option<Self> {
        sort(rows);
        let (low, high) = rows.split_at_checked(rows.len() / 2)?;
        let (&first, others) = high.split_first()?;
        let (mut median, above) = (first, if low.len() == high.len() { high } else { others });
        if let (Some(last), true) = (low.last(), low.len() == high.len()) {
            median.iter_mut().zip(last).for_each(|(median, last)| *median = 0.5 * (last + *median));
        }
        // Distances grow from the median to both sides. The nearest half of the values consists of
        // some values below and some above. This loop takes more and more values from below, until
        // the farthest of them is farther than the farthest above.
        let below = iter::once(&median).chain(low.iter().rev());
        let above = above.iter().rev().chain([&median]);
        let mut mad = [f32::INFINITY; SIMD_LANES];
        for (below, above) in below.zip(above) {
            let mut farther_above = false;
            for (((mad, median), below), above) in mad.iter_mut().zip(&median).zip(below).zip(above) {
                let (down, up) = (median - below, above - median);
                let farther = if up > down { up } else { down };
                *mad = if farther < *mad { farther } else { *mad };
                farther_above |= up > down;
            }
            if !farther_above {
                break;
            }
        }
        Some(Self { median, mad: mad.map(|mad| mad + min_mad) })
    }

    /// Returns the largest MAD of the first columns.
    pub(crate) fn largest_mad(&self, columns: usize) -> f32 {
        self.mad.iter().take(columns).fold(0.0, |most, mad| if *mad > most { *mad } else { most })
    }

    /// Clips the first values of a slice, one per column, to `spreads` MADs.
    #[inline(never)] // Optimized for speed, and one copy in flash.
    pub(crate) fn clip(&self, numbers: &mut [f32], spreads: f32) {
        self.clip_row(numbers, spreads);
    }

    /// Clips the first values of a slice; returns their distances in MADs.
    #[inline]
    fn clip_row(&self, numbers: &mut [f32], spreads: f32) -> Row {
        let mut bounded = row(numbers);
        let mut distance = [0.0; SIMD_LANES];
        for (((number, distance), median), mad) in
            bounded.iter_mut().zip(&mut distance).zip(&self.median).zip(&self.mad)
        {
            *distance = (*number - median).abs() / mad;
            let reach = spreads * mad;
            let (min_mad, most) = (median - reach, median + reach);
            let below = if *number > most { most } else { *number };
            *number = if below < min_mad { min_mad } else { below };
        }
        write(numbers, &bounded);
        distance
    }
}

/// Values reported by all neighbors, and the robot's own.
///
/// Each value is compared with the median of its column.
#[derive(Debug)]
pub(crate) struct Reports<'a, 'n> {
    /// Values of the neighbors, equally long.
    pub(crate) others: &'a mut [&'n mut [f32]],
    /// The robot's own values, left out if `room` is too small.
    pub(crate) own: &'a [f32],
    /// Buffer for the values of some columns.
    pub(crate) room: &'a mut [Row],
    /// Minimum added to every MAD.
    pub(crate) min_mad: f32,
}

impl Reports<'_, '_> {
    /// Computes median and MAD of the columns from `from` on.
    #[inline]
    fn median_mad(&mut self, from: usize) -> Option<MedianMad> {
        let Self { others, own, room, min_mad } = self;
        let all = others.iter().map(|report| &**report).chain([*own]);
        let mut count = 0;
        for (room, report) in room.iter_mut().zip(all) {
            *room = row(report.get(from..)?);
            count += 1;
        }
        MedianMad::compute(room.get_mut(..count)?, *min_mad)
    }

    /// Clips all neighbor values and adds up how far each neighbor was off.
    ///
    /// The distance of each value in MADs counts up to `most`.
    #[inline(never)] // Optimized for speed, and one copy in flash.
    pub(crate) fn clip(&mut self, spreads: f32, most: f32, distance: &mut [f32]) {
        for from in (0..self.own.len()).step_by(SIMD_LANES) {
            let Some(median) = self.median_mad(from) else { return };
            for (report, distance) in self.others.iter_mut().zip(&mut *distance) {
                for more in median.clip_row(report.get_mut(from..).unwrap_or_default(), spreads) {
                    *distance += if more < most { more } else { most };
                }
            }
        }
    }

    /// Replaces all values of neighbors above the limit `most` by the median.
    #[inline(never)] // Optimized for speed, and one copy in flash.
    pub(crate) fn replace_outliers(&mut self, distance: &[f32], most: f32) {
        for from in (0..self.own.len()).step_by(SIMD_LANES) {
            let Some(median) = self.median_mad(from) else { return };
            let others = self.others.iter_mut().zip(distance).filter(|(_, distance)| **distance > most);
            for report in others.filter_map(|(report, _)| report.get_mut(from..)) {
                write(report, &median.median);
            }
        }
    }
}

/// Sorts the columns of a few rows by insertion.
fn sort(rows: &mut [Row]) {
    for sorted in 1..rows.len() {
        let Some((sorted, [next, ..])) = rows.split_at_mut_checked(sorted) else { return };
        let mut row = *next;
        let mut hole = next;
        for place in sorted.iter_mut().rev() {
            let larger = |(place, number): (&f32, &f32)| place > number;
            if !place.iter().zip(&row).map(larger).fold(false, |one, other| one | other) {
                break;
            }
            for ((hole, place), number) in hole.iter_mut().zip(&*place).zip(&mut row) {
                (*hole, *number) = if *place > *number { (*place, *number) } else { (*number, *place) };
            }
            hole = place;
        }
        *hole = row;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    /// Copies the numbers to every column, rotated: all columns have one median.
    fn rows(numbers: &[f32]) -> std::vec::Vec<Row> {
        let mut rows = std::vec![[0.0; SIMD_LANES]; numbers.len()];
        for lane in 0..SIMD_LANES {
            for (place, row) in rows.iter_mut().enumerate() {
                row[lane] = numbers[(place + lane) % numbers.len()];
            }
        }
        rows
    }

    fn median_mad(numbers: &[f32]) -> (f32, f32) {
        let median = MedianMad::compute(&mut rows(numbers), 0.0).unwrap();
        assert_eq!(
            (median.median, median.mad),
            ([median.median[0]; SIMD_LANES], [median.mad[0]; SIMD_LANES])
        );
        (median.median[0], median.mad[0])
    }

    #[test]
    fn median_and_mad_match_hand_computed_examples() {
        assert_eq!(median_mad(&[3.0]), (3.0, 0.0));
        assert_eq!(median_mad(&[1.0, 5.0]), (3.0, 2.0));
        // Distances: 6, 1, 0, 2, 98.
        assert_eq!(median_mad(&[7.0, 5.0, 103.0, -1.0, 4.0]), (5.0, 2.0));
        assert_eq!(MedianMad::compute(&mut [], 1.0), None);
    }

    #[test]
    fn outliers_are_clipped_and_other_values_stay() {
        let median = MedianMad::compute(&mut rows(&[1.0, 2.0, 3.0, 4.0, 90.0]), 0.5).unwrap();
        let bounded = |number: f32| {
            let mut numbers = [number, 7.0];
            let distance = median.clip_row(&mut numbers[..1], 2.0)[0];
            assert_eq!(numbers[1], 7.0);
            (numbers[0], distance)
        };
        assert_eq!(bounded(90.0), (6.0, 58.0));
        assert_eq!(bounded(-90.0), (0.0, 62.0));
        assert_eq!(bounded(4.5), (4.5, 1.0));
        assert_eq!(bounded(6.0), (6.0, 2.0));
        assert!(!bounded(f32::NAN).0.is_infinite());
    }

    #[test]
    fn outliers_are_clipped_and_their_sources_replaced_by_the_median() {
        let (mut a, mut b, mut c, mut d) = ([1.0, 10.0], [2.0, 20.0], [90.0, 30.0], [4.0, 40.0]);
        let mut distance = [0.0; 4];
        let mut others: [&mut [f32]; 4] = [&mut a, &mut b, &mut c, &mut d];
        let mut room = [[0.0; SIMD_LANES]; 5];
        let mut report = Reports { others: &mut others, own: &[3.0, 25.0], room: &mut room, min_mad: 0.5 };
        // 1, 2, 90, 4 and 3 have median 3 and MAD 1.5. 10, 20, 30, 40 and 25 have median 25 and MAD
        // 5.5. Both MADs include the minimum of 0.5.
        report.clip(2.0, 20.0, &mut distance);
        assert_eq!(distance[2], 20.0 + 5.0 / 5.5);
        report.replace_outliers(&distance, 20.0);
        assert_eq!((a, b, c, d), ([1.0, 14.0], [2.0, 20.0], [3.0, 25.0], [4.0, 36.0]));
    }

    proptest! {
        #[test]
        fn columns_are_sorted(numbers in proptest::collection::vec(-10.0_f32..10.0, 0..16)) {
            let mut sorted = rows(&numbers);
            sort(&mut sorted);
            let mut expected = numbers;
            expected.sort_by(f32::total_cmp);
            for lane in 0..SIMD_LANES {
                let column: std::vec::Vec<f32> = sorted.iter().map(|row| row[lane]).collect();
                prop_assert_eq!(&column, &expected);
            }
        }

        #[test]
        fn minority_moves_the_median_no_further_than_the_others(
            honest in proptest::collection::vec(-10.0_f32..10.0, 5..9),
            outliers in proptest::collection::vec(-1.0e9_f32..1.0e9, 0..4),
        ) {
            let all: std::vec::Vec<f32> = outliers.iter().chain(&honest).copied().collect();
            let (median, mad) = median_mad(&all);
            prop_assert!(median.abs() <= 10.0 && mad <= 20.0);
        }

        #[test]
        fn mad_is_the_distance_to_half_of_the_values(
            numbers in proptest::collection::vec(-10.0_f32..10.0, 1..16),
        ) {
            let (median, mad) = median_mad(&numbers);
            let mut distances: std::vec::Vec<f32> = numbers.iter().map(|x| (x - median).abs()).collect();
            distances.sort_unstable_by(f32::total_cmp);
            prop_assert_eq!(mad, distances[(numbers.len() - 1) / 2]);
        }
    }
}
