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
        let (mut below, mut above) = (low.iter().rev(), above.iter());
        let mut below = || below.next().map_or(f32::INFINITY, |x| median - *x);
        let mut above = || above.next().map_or(f32::INFINITY, |x| *x - median);
        let (mut down, mut up, mut spread) = (below(), above(), 0.0);
        for _ in 0..low.len() {
            if up < down {
                (spread, up) = (up, above());
            } else {
                (spread, down) = (down, below());
            }
        }
        Some(Self { median, spread: spread + least })
    }

    /// Brings every number to the nearest one within so many spreads of the middle.
    #[inline(never)] // for speed, and once in flash
    pub(crate) fn bound_all(&self, numbers: &mut [f32], spreads: f32) {
        for number in numbers {
            *number = self.bound(*number, spreads);
        }
    }

    #[inline]
    fn bound(&self, number: f32, spreads: f32) -> f32 {
        let reach = spreads * self.spread;
        let (least, most) = (self.median - reach, self.median + reach);
        if number > most {
            most
        } else if number < least {
            least
        } else {
            number
        }
    }

    /// How many spreads a number is from the middle.
    #[inline]
    fn oddness(&self, number: f32) -> f32 {
        (number - self.median).abs() / self.spread
    }
}

/// Many numbers of each of some, and one's own: each is held against the middle of what all say it is.
#[derive(Debug)]
pub(crate) struct Said<'a, 'n> {
    /// What others say, as many numbers each.
    pub(crate) others: &'a mut [&'n mut [f32]],
    /// One's own, which is left out where there is no room for it.
    pub(crate) own: &'a [f32],
    /// Room for what is said of one number.
    pub(crate) room: &'a mut [f32],
    /// None of them is taken to be nearer to the others than this.
    pub(crate) least: f32,
}

impl Said<'_, '_> {
    /// The middle of what all say that a number is.
    #[inline]
    fn middle(&mut self, index: usize) -> Option<Middle> {
        let Self { others, own, room, least } = self;
        let all = others.iter().map(|said| &**said).chain([*own]);
        let mut count = 0;
        for (room, said) in room.iter_mut().zip(all) {
            *room = *said.get(index)?;
            count += 1;
        }
        Middle::of(room.get_mut(..count)?, *least)
    }

    /// Brings everything to within so many spreads of the middle, and adds up how many it was from it, each up to `most`.
    #[inline(never)] // for speed, and once in flash
    pub(crate) fn bound(&mut self, spreads: f32, most: f32, odd: &mut [f32]) {
        for index in 0..self.own.len() {
            let Some(middle) = self.middle(index) else { return };
            for (said, odd) in self.others.iter_mut().zip(&mut *odd) {
                if let Some(number) = said.get_mut(index) {
                    let more = middle.oddness(*number);
                    *odd += if more < most { more } else { most };
                    *number = middle.bound(*number, spreads);
                }
            }
        }
    }

    /// Puts the middle in place of everything that those say who are more odd than this.
    #[inline(never)] // likewise
    pub(crate) fn replace(&mut self, odd: &[f32], most: f32) {
        for index in 0..self.own.len() {
            let Some(middle) = self.middle(index) else { return };
            let others = self.others.iter_mut().zip(odd).filter(|(_, odd)| **odd > most);
            for number in others.filter_map(|(said, _)| said.get_mut(index)) {
                *number = middle.median;
            }
        }
    }
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
        middle.bound_all(&mut numbers, 2.0);
        assert_eq!(numbers[..3], [6.0, 0.0, 4.5]);
        assert!(!numbers[3].is_infinite());
        assert_eq!(middle.oddness(6.0), 2.0);
    }

    #[test]
    fn each_number_is_held_against_what_all_say_it_is_and_who_is_odd_says_what_they_do() {
        let (mut a, mut b, mut c, mut d) = ([1.0, 10.0], [2.0, 20.0], [90.0, 30.0], [4.0, 40.0]);
        let mut odd = [0.0; 4];
        let mut others: [&mut [f32]; 4] = [&mut a, &mut b, &mut c, &mut d];
        let mut room = [0.0; 5];
        let mut said = Said { others: &mut others, own: &[3.0, 25.0], room: &mut room, least: 0.5 };
        // Of 1, 2, 90, 4, 3 the middle is 3 and the spread 1.5; of 10, 20, 30, 40, 25 they are 25 and 5.5.
        said.bound(2.0, 20.0, &mut odd);
        assert_eq!(odd[2], 20.0 + 5.0 / 5.5);
        said.replace(&odd, 20.0);
        assert_eq!((a, b, c, d), ([1.0, 14.0], [2.0, 20.0], [3.0, 25.0], [4.0, 36.0]));
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
