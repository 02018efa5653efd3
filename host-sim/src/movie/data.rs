//! Read: a folder with the ratings as their publisher ships them, every line checked.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{
    data_error::DataError,
    error, files,
    movie::lines::{self, Layout},
};

/// SHA-256 of the `u.data` that the paper used (100,000 ratings, computed from the published file).
pub const SHA_256: &str = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490";

/// A movie as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movie {
    /// Its number in the files.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// Its line in the list, from 1.
    pub line: usize,
}

/// One rating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Who.
    pub user: u32,
    /// Which movie, as an index into [`Data::movies`].
    pub movie: usize,
    /// How good.
    pub stars: f32,
}

/// A checked set of ratings.
#[derive(Clone, Debug)]
pub struct Data {
    /// The list of movies, for error messages.
    pub movie_file: PathBuf,
    /// The movies in the order of the list.
    pub movies: Vec<Movie>,
    /// The ratings in the order of the file.
    pub ratings: Vec<Rating>,
}

impl Data {
    /// Reads `u.data` and `u.item`, or `ratings.dat` and `movies.dat`, from a folder.
    ///
    /// # Errors
    /// A [`DataError`] that names what is missing or the line that is damaged.
    pub fn read(folder: &Path, allow_other_data: bool) -> error::Result<Self> {
        let layout = Layout::ALL
            .into_iter()
            .find(|layout| folder.join(layout.ratings).is_file())
            .ok_or_else(|| DataError::Missing { folder: folder.into() })?;
        let rating_file = folder.join(layout.ratings);
        let bytes = files::read(&rating_file)?;
        if !allow_other_data {
            let found = checksum(&bytes);
            if found != SHA_256 {
                return Err(DataError::OtherData { file: rating_file, found }.into());
            }
        }
        let movie_file = folder.join(layout.movies);
        let movies = parse_movies(&layout, &movie_file, &files::read(&movie_file)?)?;
        let ratings = parse_ratings(&layout, &rating_file, &bytes, &movies)?;
        Ok(Self { movie_file, movies, ratings })
    }

    /// The index of the movie with this id.
    ///
    /// # Errors
    /// [`DataError::UnknownMovie`].
    pub fn movie(&self, id: u32) -> Result<usize, DataError> {
        let unknown = || DataError::UnknownMovie { id, file: self.movie_file.clone() };
        self.movies.iter().position(|movie| movie.id == id).ok_or_else(unknown)
    }
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn parse_movies(layout: &Layout, file: &Path, bytes: &[u8]) -> Result<Vec<Movie>, DataError> {
    let text = lines::decode(bytes);
    let mut known: HashMap<u32, usize> = HashMap::new();
    let mut movies = Vec::new();
    for (line, content) in lines::numbered(&text) {
        let damaged = |problem| DataError::Line { file: file.into(), line, problem };
        let (id, title) = lines::movie(layout, content).map_err(damaged)?;
        if let Some(first) = known.insert(id, line) {
            return Err(damaged(format!("movie {id} was listed before, on line {first}")));
        }
        movies.push(Movie { id, title, line });
    }
    Ok(movies)
}

fn parse_ratings(
    layout: &Layout,
    file: &Path,
    bytes: &[u8],
    movies: &[Movie],
) -> Result<Vec<Rating>, DataError> {
    let text = lines::decode(bytes);
    let index: HashMap<u32, usize> =
        movies.iter().enumerate().map(|(index, movie)| (movie.id, index)).collect();
    let mut known: HashMap<(u32, u32), usize> = HashMap::new();
    let mut ratings = Vec::new();
    for (line, content) in lines::numbered(&text) {
        let damaged = |problem| DataError::Line { file: file.into(), line, problem };
        let (user, id, stars) = lines::rating(layout, content).map_err(damaged)?;
        let &movie = index.get(&id).ok_or_else(|| {
            damaged(format!("movie {id} is not in {}; add it there or remove the line", layout.movies))
        })?;
        if let Some(first) = known.insert((user, id), line) {
            return Err(damaged(format!(
                "user {user} rated movie {id} before, on line {first}; keep one of them"
            )));
        }
        ratings.push(Rating { user, movie, stars });
    }
    Ok(ratings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data_error::PAGE, error::Error};

    fn read(files: &[(&str, &str)], allow_other_data: bool) -> Result<Data, DataError> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Data::read(folder.path(), allow_other_data).map_err(|error| match error {
            Error::Data(error) => *error.downcast().unwrap(),
            other => panic!("{other}"),
        })
    }

    const ITEMS: &str = "1|Toy Story (1995)|01-Jan-1995||x|0\n50|Star Wars (1977)|01-Jan-1977||x|0\n";

    #[test]
    fn both_layouts_read_the_same_ratings() {
        let tabs = read(&[("u.data", "7\t50\t5\t881250949\n9\t1\t3\t1\n"), ("u.item", ITEMS)], true).unwrap();
        let colons = read(
            &[
                ("ratings.dat", "7::50::5::881250949\r\n9::1::3::1\r\n"),
                ("movies.dat", "1::Toy Story (1995)::Animation\r\n50::Star Wars (1977)::Action\r\n"),
            ],
            true,
        )
        .unwrap();
        assert_eq!(tabs.movies, colons.movies);
        assert_eq!(tabs.ratings, colons.ratings);
        assert_eq!(tabs.ratings[0], Rating { user: 7, movie: 1, stars: 5.0 });
        assert_eq!(tabs.movies[1].title, "Star Wars (1977)");
    }

    #[test]
    fn an_empty_folder_says_where_to_get_the_data() {
        let error = read(&[], true).unwrap_err();
        assert!(error.to_string().contains(PAGE), "{error}");
    }

    #[test]
    fn another_set_is_only_read_when_allowed() {
        let files = [("u.data", "7\t50\t5\t1\n"), ("u.item", ITEMS)];
        let Err(DataError::OtherData { found, .. }) = read(&files, false) else { panic!() };
        // printf '7\t50\t5\t1\n' | sha256sum
        assert_eq!(found, "d7a2dbe862bdc0941553d2f4ae842cf6a072d8cfa87d8c14683b13fb3ab70e11");
        assert!(read(&files, true).is_ok());
    }

    #[test]
    fn a_damaged_line_is_named_with_its_number() {
        let problem = |data: &str, items: &str| match read(&[("u.data", data), ("u.item", items)], true) {
            Err(DataError::Line { line, problem, .. }) => (line, problem),
            other => panic!("{other:?}"),
        };
        let good = "7\t50\t5\t1\n";
        assert_eq!(problem(&format!("{good}7\t1\tfive\t1\n"), ITEMS).0, 2);
        assert_eq!(problem(&format!("{good}\n7\t1\t6\t1\n"), ITEMS).0, 3, "empty lines count");
        assert_eq!(problem("7\t50\n", ITEMS).0, 1);
        let (line, sentence) = problem(&format!("{good}7\t51\t5\t1\n"), ITEMS);
        assert!(line == 2 && sentence.contains("movie 51"), "{sentence}");
        let (line, sentence) = problem(&format!("{good}8\t1\t5\t1\n{good}"), ITEMS);
        assert!(line == 3 && sentence.contains("line 1"), "{sentence}");
        assert_eq!(problem(good, "50|Star Wars\n50|Again\n").0, 2);
    }

    #[test]
    fn an_unknown_movie_is_named() {
        let data = read(&[("u.data", "7\t50\t5\t1\n"), ("u.item", ITEMS)], true).unwrap();
        assert_eq!(data.movie(50), Ok(1));
        assert!(matches!(data.movie(51), Err(DataError::UnknownMovie { id: 51, .. })));
    }
}
