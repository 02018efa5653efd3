//! Select: the most rated movies become nodes, and every user a signal on them.

use std::path::PathBuf;

use crate::data_error::DataError;
use crate::movie::data::{Data, Movie};

/// One signal per user on the most rated movies.
#[derive(Clone, Debug)]
pub struct Signals {
    /// The nodes, in ascending id.
    pub movies: Vec<Movie>,
    /// The list of movies, for error messages.
    pub movie_file: PathBuf,
    /// The users' ids, ascending.
    pub users: Vec<u32>,
    /// A user's stars per node, 0 where there are none.
    pub stars: Vec<Vec<f32>>,
}

impl Signals {
    /// The `count` most rated movies; of two with as many ratings, the one with the smaller id.
    ///
    /// # Errors
    /// [`DataError::TooFewMovies`].
    pub fn select(data: &Data, count: usize) -> Result<Self, DataError> {
        let mut raters = vec![0_usize; data.movies.len()];
        for rating in &data.ratings {
            raters[rating.movie] += 1;
        }
        let mut order: Vec<usize> = (0..data.movies.len()).filter(|&movie| raters[movie] > 0).collect();
        if order.len() < count {
            return Err(DataError::TooFewMovies { rated: order.len(), asked: count });
        }
        order.sort_by_key(|&movie| (usize::MAX - raters[movie], data.movies[movie].id));
        order.truncate(count);
        order.sort_by_key(|&movie| data.movies[movie].id);
        let mut node = vec![None; data.movies.len()];
        for (index, &movie) in order.iter().enumerate() {
            node[movie] = Some(index);
        }
        let mut users: Vec<u32> = data.ratings.iter().map(|rating| rating.user).collect();
        users.sort_unstable();
        users.dedup();
        let mut stars = vec![vec![0.0; count]; users.len()];
        for rating in &data.ratings {
            if let (Some(node), Ok(user)) = (node[rating.movie], users.binary_search(&rating.user)) {
                stars[user][node] = rating.stars;
            }
        }
        let movies = order.iter().map(|&movie| data.movies[movie].clone()).collect();
        Ok(Self { movies, movie_file: data.movie_file.clone(), users, stars })
    }

    /// The node of a movie that is to be predicted, which `needed` users must have rated.
    ///
    /// # Errors
    /// [`DataError::UnknownMovie`], [`DataError::NoRaters`], or [`DataError::TooFewRaters`] also where it is not among the most
    /// rated.
    pub fn target(&self, data: &Data, id: u32, needed: usize) -> Result<usize, DataError> {
        let index = data.movie(id)?;
        let Movie { title, line, .. } = data.movies[index].clone();
        let file = self.movie_file.clone();
        let raters = data.ratings.iter().filter(|rating| rating.movie == index).count();
        if raters == 0 {
            return Err(DataError::NoRaters { id, title, file, line });
        }
        let fewest = |node: usize| self.raters(node).len();
        let node = self.movies.binary_search_by_key(&id, |movie| movie.id);
        match node {
            Ok(node) if raters >= needed => Ok(node),
            Ok(_) => Err(DataError::TooFewRaters { id, title, file, line, raters, needed }),
            Err(_) => {
                // Among as many ratings the smaller id wins, so this movie may only just have missed.
                let least = (0..self.movies.len()).map(fewest).min().unwrap_or_default();
                let needed = least.max(needed).max(raters + 1);
                Err(DataError::TooFewRaters { id, title, file, line, raters, needed })
            }
        }
    }

    /// The users, as indices, who rated this node.
    #[must_use]
    pub fn raters(&self, node: usize) -> Vec<usize> {
        (0..self.users.len()).filter(|&user| self.stars[user][node] > 0.0).collect()
    }

    /// A user's index.
    ///
    /// # Errors
    /// [`DataError::UnknownUser`].
    pub fn user(&self, id: u32) -> Result<usize, DataError> {
        self.users.binary_search(&id).map_err(|_| DataError::UnknownUser {
            id,
            least: self.users.first().copied().unwrap_or_default(),
            most: self.users.last().copied().unwrap_or_default(),
        })
    }

    /// A user's signal with the target's entry taken out, and that entry: a question and its answer.
    #[must_use]
    pub fn question(&self, user: usize, target: usize) -> (Vec<f32>, f32) {
        let mut signal = self.stars[user].clone();
        let label = std::mem::replace(&mut signal[target], 0.0);
        (signal, label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movie::data::Rating;

    fn data() -> Data {
        let movie = |id| Movie { id, title: format!("Movie {id}"), line: id as usize };
        let rating = |user, movie, stars| Rating { user, movie, stars };
        Data {
            movie_file: "u.item".into(),
            movies: vec![movie(30), movie(10), movie(20), movie(40)],
            ratings: vec![rating(5, 2, 1.0), rating(3, 0, 4.0), rating(5, 0, 5.0), rating(3, 1, 2.0)],
        }
    }

    #[test]
    fn the_most_rated_movies_are_kept_in_ascending_id() {
        let signals = Signals::select(&data(), 2).unwrap();
        // 30 has two ratings; 10 and 20 have one each, and 10 is the smaller.
        assert_eq!(signals.movies.iter().map(|movie| movie.id).collect::<Vec<_>>(), [10, 30]);
        assert_eq!(signals.users, [3, 5]);
        assert_eq!(signals.stars, [[2.0, 4.0], [0.0, 5.0]]);
        assert_eq!(signals.raters(0), [0]);
        assert_eq!(signals.question(0, 1), (vec![2.0, 0.0], 4.0));
    }

    #[test]
    fn targets_that_cannot_be_are_told_apart() {
        let data = data();
        let signals = Signals::select(&data, 2).unwrap();
        assert_eq!(signals.target(&data, 30, 2), Ok(1));
        assert!(matches!(
            signals.target(&data, 30, 3),
            Err(DataError::TooFewRaters { raters: 2, needed: 3, .. })
        ));
        assert!(matches!(signals.target(&data, 20, 1), Err(DataError::TooFewRaters { raters: 1, .. })));
        assert!(matches!(signals.target(&data, 40, 1), Err(DataError::NoRaters { id: 40, line: 40, .. })));
        assert!(matches!(signals.target(&data, 99, 1), Err(DataError::UnknownMovie { id: 99, .. })));
        assert!(matches!(signals.user(4), Err(DataError::UnknownUser { id: 4, least: 3, most: 5 })));
        assert_eq!(Signals::select(&data, 4).unwrap_err(), DataError::TooFewMovies { rated: 3, asked: 4 });
    }
}
