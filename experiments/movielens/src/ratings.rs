//! Ratings: reads MovieLens 100K or generates a synthetic set, and keeps the most rated movies.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest as _, Sha256};

/// SHA-256 of the published `u.data`.
const SHA_256: &str = "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490";

/// Advice on how to get the data, whose license does not allow redistribution.
pub const DOWNLOAD: &str = "Download ml-100k.zip from https://grouplens.org/datasets/movielens/100k/, \
     unpack it and pass its folder with --data.";

/// Ratings of the most rated movies.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// Name of the data set and of its two target movies.
    pub name: &'static str,
    /// Stars by user and movie, both in ascending id; 0 for a movie that the user did not rate.
    pub stars: Vec<Vec<f32>>,
    /// Index of the movie that the networks are trained on.
    pub same: usize,
    /// Index of the movie that the trained networks are transferred to.
    pub other: usize,
}

impl Ratings {
    /// Reads `u.data` from its folder or by its own path, with the paper's 400 movies.
    pub fn load(path: &Path) -> Result<Self, String> {
        let file = if path.is_dir() { path.join("u.data") } else { path.into() };
        let shown = file.display();
        let bytes = fs::read(&file).map_err(|error| format!("cannot read {shown}: {error}. {DOWNLOAD}"))?;
        let digest = <[u8; 32]>::from(Sha256::digest(&bytes)).map(|byte| format!("{byte:02x}")).concat();
        if digest != SHA_256 {
            return Err(format!("{shown} is not u.data of MovieLens 100K: SHA-256 is {digest}. {DOWNLOAD}"));
        }
        let name = "MovieLens 100K, trained on Star Wars, transferred to Contact";
        Self::parse(name, &String::from_utf8_lossy(&bytes), 400, [50, 258])
    }

    /// A synthetic set of 160 users and 45 movies in the format of `u.data`.
    pub fn synthetic() -> Self {
        let name = "Synthetic ratings, trained on movie 1, transferred to movie 2";
        Self::parse(name, &synthetic_text(), 45, [1, 2]).expect("the generator's format")
    }

    fn parse(name: &'static str, text: &str, movies: usize, targets: [u32; 2]) -> Result<Self, String> {
        let mut ratings = Vec::new();
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let damaged = || format!("line {}: expected user, movie, stars (1 to 5) and time", index + 1);
            let (user, movie, stars) = parse_line(line).ok_or_else(damaged)?;
            ratings.push((user, movie, stars));
            *counts.entry(movie).or_default() += 1;
        }
        // Of two movies with equally many ratings, the smaller id comes first.
        let mut selected: Vec<u32> = counts.keys().copied().collect();
        selected.sort_by_key(|movie| (usize::MAX - counts[movie], *movie));
        selected.truncate(movies);
        selected.sort_unstable();
        let mut users: Vec<u32> = ratings.iter().map(|rating| rating.0).collect();
        users.sort_unstable();
        users.dedup();
        let mut stars = vec![vec![0.0; selected.len()]; users.len()];
        for (user, movie, rating) in ratings {
            if let (Ok(user), Ok(node)) = (users.binary_search(&user), selected.binary_search(&movie)) {
                stars[user][node] = rating;
            }
        }
        match targets.map(|id| selected.binary_search(&id)) {
            [Ok(same), Ok(other)] => Ok(Self { name, stars, same, other }),
            _ => Err(format!("movies {targets:?} are not both among the {movies} most rated")),
        }
    }

    /// Indices of the users who rated a movie.
    pub fn raters(&self, node: usize) -> Vec<usize> {
        (0..self.stars.len()).filter(|&user| self.stars[user][node] > 0.0).collect()
    }
}

fn parse_line(line: &str) -> Option<(u32, u32, f32)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[user, movie, stars, _time] = fields.as_slice() else { return None };
    let stars = stars.parse().ok().filter(|stars| (1.0..=5.0).contains(stars))?;
    Some((user.parse().ok()?, movie.parse().ok()?, stars))
}

/// Users and movies have random tastes in three dimensions. A rating is 3.4 plus twice their
/// product plus noise, rounded to whole stars. Movies with small ids have more ratings.
fn synthetic_text() -> String {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut taste = |_| -> [f32; 3] { std::array::from_fn(|_| random.random_range(-1.0..1.0)) };
    let [users, movies] = [160, 45].map(|count| (0..count).map(&mut taste).collect::<Vec<_>>());
    let mut text = String::new();
    for (user, likes) in (1..).zip(&users) {
        for (movie, offers) in (1_u16..).zip(&movies) {
            let rated_share = 0.9 - 0.5 * f32::from(movie) / movies.len() as f32;
            if random.random_range(0.0..1.0) < rated_share {
                let product: f32 = likes.iter().zip(offers).map(|(a, b)| a * b).sum();
                let stars = 3.4 + 2.0 * product + random.random_range(-0.8_f32..0.8);
                let _ = writeln!(text, "{user}\t{movie}\t{}\t0", stars.round().clamp(1.0, 5.0));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_rated_movies_are_kept_in_ascending_id() {
        // Movie 30 has two ratings. Movies 10 and 20 have one each, and 10 is the smaller id.
        let text = "5\t20\t1\t0\n3\t30\t4\t0\n5\t30\t5\t0\n3\t10\t2\t0\n";
        let ratings = Ratings::parse("test", text, 2, [30, 10]).unwrap();
        assert_eq!(ratings.stars, [[2.0, 4.0], [0.0, 5.0]]);
        assert_eq!((ratings.same, ratings.other), (1, 0));
        assert_eq!(ratings.raters(0), [0]);
        assert!(Ratings::parse("test", text, 2, [30, 20]).unwrap_err().contains("20"));
    }

    #[test]
    fn damaged_line_is_named_by_its_number() {
        for damage in
            ["7\t1\tfive\t0", "7\t1\t6\t0", "7\t1\tNaN\t0", "7\t1\t5", "x\t1\t5\t0", "7\t1\t5\t0\t0", ""]
        {
            let text = format!("7\t2\t5\t0\n{damage}\n");
            let error = Ratings::parse("test", &text, 2, [2, 2]).unwrap_err();
            assert!(error.starts_with("line 2:"), "{damage}: {error}");
        }
    }
}
