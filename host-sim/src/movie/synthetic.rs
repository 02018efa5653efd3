//! A small made-up set of ratings in the published format, from a seed: for tests, and to try the command without a download.
//!
//! Every user and every movie has a taste in three dimensions; a rating is 3.4 plus their product plus noise, rounded to
//! whole stars. Popular movies come first, as in life.

use std::{fmt::Write as _, path::Path};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{
    error::Result,
    files,
    movie::{
        data::{Data, Movie, Rating},
        signals::Signals,
    },
};

/// Users of the made-up set.
pub const USERS: u32 = 160;
/// Movies of the made-up set.
pub const MOVIES: u32 = 45;
const TASTES: usize = 3;

/// The made-up set of a seed.
#[must_use]
pub fn data(seed: u64) -> Data {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut taste = || -> [f32; TASTES] { std::array::from_fn(|_| random.random_range(-1.0..1.0)) };
    let users: Vec<_> = (0..USERS).map(|_| taste()).collect();
    let movies: Vec<_> = (0..MOVIES).map(|_| taste()).collect();
    let mut ratings = Vec::new();
    for (user, likes) in (1..).zip(&users) {
        for (movie, offers) in movies.iter().enumerate() {
            let share = 0.9 - 0.5 * movie as f32 / MOVIES as f32;
            if random.random_range(0.0..1.0) < share {
                let match_up: f32 = likes.iter().zip(offers).map(|(a, b)| a * b).sum();
                let stars = 3.4 + 2.0 * match_up + random.random_range(-0.8_f32..0.8);
                ratings.push(Rating { user, movie, stars: stars.round().clamp(1.0, 5.0) });
            }
        }
    }
    let movie = |id| Movie { id, title: format!("Made-up movie {id}"), line: id as usize };
    Data { movie_file: "u.item".into(), movies: (1..=MOVIES).map(movie).collect(), ratings }
}

/// The made-up set's signals.
///
/// # Panics
/// Never: every movie of the set has ratings.
#[must_use]
pub fn signals(seed: u64) -> Signals {
    Signals::select(&data(seed), MOVIES as usize).expect("every movie has ratings")
}

/// Writes the made-up set as `u.data` and `u.item`.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write(folder: &Path, seed: u64) -> Result {
    let data = data(seed);
    let (mut ratings, mut movies) = (String::new(), String::new());
    for Rating { user, movie, stars } in &data.ratings {
        let _ = writeln!(ratings, "{user}\t{}\t{stars}\t0", data.movies[*movie].id);
    }
    for Movie { id, title, .. } in &data.movies {
        let _ = writeln!(movies, "{id}|{title}|01-Jan-1999||none|0");
    }
    files::write(&folder.join("u.data"), ratings.as_bytes())?;
    files::write(&folder.join("u.item"), movies.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 3).unwrap();
        let (read, made) = (Data::read(folder.path(), true).unwrap(), data(3));
        assert_eq!(read.ratings, made.ratings);
        assert_eq!(read.movies, made.movies);
        assert_ne!(data(4).ratings, made.ratings);
    }
}
