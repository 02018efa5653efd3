//! What is expected of a rating before any graph: how good others find the movie, and how generous the user is.

use crate::movie::signals::Signals;

/// As many ratings like everybody else's are imagined for every user, so that a few ratings do not make a habit (a customary
/// amount of shrinkage; the result hardly depends on it).
const IMAGINED: f32 = 5.0;

/// What others give.
#[derive(Clone, Debug, PartialEq)]
pub struct Habits {
    /// Every movie's mean rating.
    pub others: Vec<f32>,
}

impl Habits {
    /// Of these users. A movie that none of them rated gets the mean of all ratings.
    #[must_use]
    pub fn of(signals: &Signals, users: &[usize]) -> Self {
        let sums = |node: usize| {
            let rated = users.iter().map(|&user| signals.stars[user][node]).filter(|&stars| stars > 0.0);
            rated.fold((0.0_f64, 0.0_f64), |(sum, count), stars| (sum + f64::from(stars), count + 1.0))
        };
        let movies: Vec<(f64, f64)> = (0..signals.movies.len()).map(sums).collect();
        let (all, count) = movies.iter().fold((0.0, 0.0), |all, movie| (all.0 + movie.0, all.1 + movie.1));
        let mean =
            |&(sum, ratings): &(f64, f64)| (if ratings > 0.0 { sum / ratings } else { all / count }) as f32;
        Self { others: movies.iter().map(mean).collect() }
    }

    /// A user's ratings less what is expected of them, 0 where there are none, and how many stars the user gives above
    /// others.
    #[must_use]
    pub fn surprises(&self, stars: &[f32]) -> (Vec<f32>, f32) {
        let rated = || stars.iter().zip(&self.others).filter(|(stars, _)| **stars > 0.0);
        let generosity =
            rated().map(|(stars, others)| stars - others).sum::<f32>() / (rated().count() as f32 + IMAGINED);
        let surprise =
            |(&stars, others): (&f32, &f32)| if stars > 0.0 { stars - others - generosity } else { 0.0 };
        (stars.iter().zip(&self.others).map(surprise).collect(), generosity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::data::Movie;

    #[test]
    fn by_hand() {
        let movie = |id| Movie { id, title: String::new(), line: 1 };
        let signals = Signals {
            movies: vec![movie(1), movie(2), movie(3)],
            movie_file: "u.item".into(),
            users: vec![1, 2, 3],
            stars: vec![vec![4.0, 2.0, 0.0], vec![2.0, 0.0, 0.0], vec![5.0, 5.0, 5.0]],
        };
        let habits = Habits::of(&signals, &[0, 1]);
        // (4 + 2)/2; 2; nobody of these two rated the third: (4 + 2 + 2)/3.
        assert_eq!(habits.others, [3.0, 2.0, 8.0 / 3.0]);
        // 4 − 3 and 2 − 2 among two and five imagined ratings: 1/7.
        let (surprises, generosity) = habits.surprises(&signals.stars[0]);
        assert_eq!(generosity, 1.0 / 7.0);
        assert_eq!(surprises, [1.0 - 1.0 / 7.0, -1.0 / 7.0, 0.0]);
    }
}
