//! What can be wrong with the ratings, or with a question about them: named, with the line, and what to do about it.

use std::path::PathBuf;

use crate::error::Error;

/// Where the data are.
pub const PAGE: &str = "https://grouplens.org/datasets/movielens/100k/";

/// What can be wrong with the data, or with a question about them.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// No ratings in the folder.
    #[error(
        "no u.data and no ratings.dat in {}; download ml-100k.zip from {PAGE}, unpack it and pass its folder with --data",
        folder.display()
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// Not the paper's file.
    #[error(
        "{} is not the published MovieLens 100K file (its SHA-256 is {found}); download it again from {PAGE}, or pass \
         --allow-other-data if it is meant to be another set",
        file.display()
    )]
    OtherData {
        /// The file.
        file: PathBuf,
        /// Its checksum.
        found: String,
    },
    /// A line that cannot be.
    #[error("{}, line {line}: {problem}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A movie that is not in the list.
    #[error("there is no movie {id} in {}; its first column lists the ids", file.display())]
    UnknownMovie {
        /// The id asked for.
        id: u32,
        /// The list of movies.
        file: PathBuf,
    },
    /// A user without a rating.
    #[error("there is no user {id} in the ratings; the users are {least} to {most}")]
    UnknownUser {
        /// The id asked for.
        id: u32,
        /// The smallest id.
        least: u32,
        /// The largest id.
        most: u32,
    },
    /// A user who rated none of the movies that became nodes.
    #[error(
        "user {id} rated none of the {movies} most rated movies, so there is nothing to go by; pass a larger --movies"
    )]
    SilentUser {
        /// The user.
        id: u32,
        /// The nodes.
        movies: usize,
    },
    /// A movie that nobody rated.
    #[error("nobody rated movie {id}, \"{title}\" ({}, line {line}); choose one with ratings", file.display())]
    NoRaters {
        /// The movie.
        id: u32,
        /// Its title.
        title: String,
        /// The list of movies.
        file: PathBuf,
        /// Its line there.
        line: usize,
    },
    /// A movie with too few ratings to be a node, or to be split.
    #[error(
        "movie {id}, \"{title}\" ({}, line {line}) has only {raters} ratings, {needed} are needed; choose a movie that \
         more people rated",
        file.display()
    )]
    TooFewRaters {
        /// The movie.
        id: u32,
        /// Its title.
        title: String,
        /// The list of movies.
        file: PathBuf,
        /// Its line there.
        line: usize,
        /// Its ratings.
        raters: usize,
        /// As many are needed.
        needed: usize,
    },
    /// Fewer rated movies than nodes.
    #[error("only {rated} movies have ratings, {asked} were asked for; pass --movies {rated} or fewer")]
    TooFewMovies {
        /// Movies with at least one rating.
        rated: usize,
        /// Nodes asked for.
        asked: usize,
    },
    /// A movie that is similar to fewer than ten others.
    #[error(
        "movie {id}, \"{title}\" ({}, line {line}) is similar to only {similar} of the others, {needed} are needed: too few \
         people rated it together with them; pass a smaller --movies",
        file.display()
    )]
    TooFewSimilar {
        /// The movie.
        id: u32,
        /// Its title.
        title: String,
        /// The list of movies.
        file: PathBuf,
        /// Its line there.
        line: usize,
        /// Movies with a positive similarity.
        similar: usize,
        /// As many are needed.
        needed: usize,
    },
    /// A movie with more neighbours than a node has room for.
    #[error(
        "movie {id}, \"{title}\" has {degree} neighbours, a node has room for {room}; pass a smaller --movies"
    )]
    TooManyNeighbours {
        /// The movie.
        id: u32,
        /// Its title.
        title: String,
        /// Its neighbours.
        degree: usize,
        /// The room.
        room: usize,
    },
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Data(Box::new(error))
    }
}
