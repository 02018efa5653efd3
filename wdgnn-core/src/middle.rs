//! What most say: the middle of some numbers, and how far most of them are from it. Fewer than half of them, whatever they are, move
//! neither by more than the others are apart.

/// The median of some numbers and the median of their distances from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Middle {
    median: f32,
    spread: f32,
}

impl Middle {
    /// Of these numbers, which are put in order. None is taken to be nearer to the others than `least`. `None` of no numbers.
    #[inline(never)] // once in flash
    pub(crate) fn of(numbers: &mut [f32], least: f32) -> Option<Self> {
        sort(numbers);
        let (low, high) = numbers.split_at_checked(numbers.len() / 2)?;
        let (&first, others) = high.split_first()?;
        let (median, above) = match low.last() {
            Some(last) if low.len() == high.len() => (0.5 * (last + first), high),
            _ => (first, others),
        };
        // Distances grow to either side, so that half of them are found by going outwards.
        let (mut below, mut above) = (low.iter().rev().peekable(), above.iter().peekable());
        let mut spread = 0.0;
        for _ in 0..low.len() {
            let down = below.peek().map(|x| median - **x);
            let up = above.peek().map(|x| **x - median);
            spread = match (down, up) {
                (Some(down), Some(up)) if up < down => take(&mut above, up),
                (Some(down), _) => take(&mut below, down),
                (None, Some(up)) => take(&mut above, up),
                (None, None) => spread,
            };
        }
        Some(Self { median, spread: spread + least })
    }

    /// The middle itself.
    pub(crate) fn median(&self) -> f32 {
        self.median
    }

    /// Brings every number to the nearest one within so many spreads of the middle.
    #[inline(never)] // for speed, and once in flash
    pub(crate) fn bound(&self, numbers: &mut [f32], spreads: f32) {
        let reach = spreads * self.spread;
        let (least, most) = (self.median - reach, self.median + reach);
        for number in numbers {
            if *number > most {
                *number = most;
            } else if *number < least {
                *number = least;
            }
        }
    }

    /// Adds to `odd` how many spreads every number is from the middle, up to `most` of them.
    #[inline(never)] // likewise
    pub(crate) fn oddness(&self, numbers: &[f32], most: f32, odd: &mut [f32]) {
        for (number, odd) in numbers.iter().zip(odd) {
            let more = (number - self.median).abs() / self.spread;
            *odd += if more < most { more } else { most };
        }
    }
}

fn take<I: Iterator>(numbers: &mut I, distance: f32) -> f32 {
    numbers.next();
    distance
}

/// Puts a few numbers in order, each behind those that are not larger.
fn sort(numbers: &mut [f32]) {
    for sorted in 1..numbers.len() {
        let Some((sorted, [next, ..])) = numbers.split_at_mut_checked(sorted) else { return };
        let number = *next;
        let mut hole = next;
        for place in sorted.iter_mut().rev() {
            if *place <= number {
                break;
            }
            *hole = *place;
            hole = place;
        }
        *hole = number;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    fn middle(numbers: &[f32]) -> (f32, f32) {
        let mut numbers = numbers.to_vec();
        let middle = Middle::of(&mut numbers, 0.0).unwrap();
        (middle.median, middle.spread)
    }

    #[test]
    fn the_middle_by_hand() {
        assert_eq!(middle(&[3.0]), (3.0, 0.0));
        assert_eq!(middle(&[1.0, 5.0]), (3.0, 2.0));
        // Distances 6, 1, 0, 2, 98.
        assert_eq!(middle(&[7.0, 5.0, 103.0, -1.0, 4.0]), (5.0, 2.0));
        assert_eq!(Middle::of(&mut [], 1.0), None);
    }

    #[test]
    fn what_is_far_from_the_middle_is_brought_back_and_what_is_near_stays() {
        let middle = Middle::of(&mut [1.0, 2.0, 3.0, 4.0, 90.0], 0.5).unwrap();
        let mut numbers = [90.0, -90.0, 4.5, f32::NAN];
        let mut odd = [1.0; 3];
        middle.oddness(&[6.0, 0.0, 1.0e9], 5.0, &mut odd);
        assert_eq!(odd, [3.0, 3.0, 6.0]);
        middle.bound(&mut numbers, 2.0);
        assert_eq!(numbers[..3], [6.0, 0.0, 4.5]);
        assert!(!numbers[3].is_infinite());
    }

    proptest! {
        #[test]
        fn numbers_are_put_in_order(numbers in proptest::collection::vec(-10.0_f32..10.0, 0..16)) {
            let (mut sorted, mut expected) = (numbers.clone(), numbers);
            sort(&mut sorted);
            expected.sort_by(f32::total_cmp);
            prop_assert_eq!(sorted, expected);
        }

        #[test]
        fn fewer_than_half_move_the_middle_no_further_than_the_others_are(
            honest in proptest::collection::vec(-10.0_f32..10.0, 5..9),
            lies in proptest::collection::vec(-1.0e9_f32..1.0e9, 0..4),
        ) {
            let all: std::vec::Vec<f32> = lies.iter().chain(&honest).copied().collect();
            let (median, spread) = middle(&all);
            prop_assert!(median.abs() <= 10.0 && spread <= 20.0);
        }

        #[test]
        fn the_spread_is_the_distance_within_which_half_of_them_are(
            numbers in proptest::collection::vec(-10.0_f32..10.0, 1..16),
        ) {
            let (median, spread) = middle(&numbers);
            let mut distances: std::vec::Vec<f32> = numbers.iter().map(|x| (x - median).abs()).collect();
            distances.sort_unstable_by(f32::total_cmp);
            prop_assert_eq!(spread, distances[(numbers.len() - 1) / 2]);
        }
    }
}
