//! One line of a file: what its columns mean, and what is wrong with it if they cannot mean that.

/// How a set of ratings lies on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The file with a user, a movie, stars and a time per line.
    pub ratings: &'static str,
    /// What separates its columns.
    separator: &'static str,
    /// The file with an id and a title per line.
    pub movies: &'static str,
    /// What separates its columns.
    movie_separator: &'static str,
}

impl Layout {
    /// `MovieLens` 100K, and the later sets with `::`.
    pub const ALL: [Self; 2] = [
        Self { ratings: "u.data", separator: "\t", movies: "u.item", movie_separator: "|" },
        Self { ratings: "ratings.dat", separator: "::", movies: "movies.dat", movie_separator: "::" },
    ];
}

/// The text of a file: UTF-8, or else Latin-1, in which the older sets are written.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// The lines that hold something, with their numbers from 1.
pub fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim().is_empty())
}

/// A movie's id and title.
///
/// # Errors
/// A sentence about the column that is wrong.
pub fn movie(layout: &Layout, line: &str) -> Result<(u32, String), String> {
    let mut columns = line.split(layout.movie_separator);
    let id = positive(columns.next(), "a movie id")?;
    let title = columns.next().map(str::trim).filter(|title| !title.is_empty());
    let title = title.ok_or_else(|| format!("no title behind movie {id}"))?;
    Ok((id, title.into()))
}

/// A rating's user, movie id and stars. Stars go from 0.5 to 5: zero stands for "not rated" and is none.
///
/// # Errors
/// A sentence about the column that is wrong.
pub fn rating(layout: &Layout, line: &str) -> Result<(u32, u32, f32), String> {
    let columns: Vec<&str> = line.split(layout.separator).collect();
    let &[user, movie, stars, _time] = columns.as_slice() else {
        return Err(format!("{} columns, 4 are needed: user, movie, rating, time", columns.len()));
    };
    let user = positive(Some(user), "a user id")?;
    let movie = positive(Some(movie), "a movie id")?;
    let parsed = stars.trim().parse::<f32>().ok().filter(|stars| (0.5..=5.0).contains(stars));
    let stars = parsed.ok_or_else(|| format!("\"{stars}\" is no rating from 0.5 to 5"))?;
    Ok((user, movie, stars))
}

fn positive(column: Option<&str>, what: &str) -> Result<u32, String> {
    let column = column.unwrap_or_default().trim();
    column.parse().ok().filter(|&id| id > 0).ok_or_else(|| format!("\"{column}\" is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABS: Layout = Layout::ALL[0];
    const COLONS: Layout = Layout::ALL[1];

    #[test]
    fn good_lines_read_as_they_are() {
        assert_eq!(rating(&TABS, "196\t242\t3\t881250949"), Ok((196, 242, 3.0)));
        assert_eq!(rating(&COLONS, "1::1193::4.5::978300760"), Ok((1, 1193, 4.5)));
        assert_eq!(
            movie(&TABS, "50|Star Wars (1977)|01-Jan-1977||url|0"),
            Ok((50, "Star Wars (1977)".into()))
        );
        assert_eq!(movie(&COLONS, "1::Toy Story (1995)::Comedy"), Ok((1, "Toy Story (1995)".into())));
    }

    #[test]
    fn bad_lines_are_refused_with_the_column_that_is_wrong() {
        for line in [
            "",
            "1\t2\t3",
            "1\t2\t3\t4\t5",
            "0\t2\t3\t4",
            "-1\t2\t3\t4",
            "1\tx\t3\t4",
            "1\t2\t0\t4",
            "1\t2\tNaN\t4",
            "1\t2\t5.5\t4",
        ] {
            assert!(rating(&TABS, line).is_err(), "{line}");
        }
        assert_eq!(rating(&TABS, "1\t2\tinf\t4"), Err("\"inf\" is no rating from 0.5 to 5".into()));
        assert!(movie(&TABS, "x|Title").is_err());
        assert_eq!(movie(&TABS, "7| |x"), Err("no title behind movie 7".into()));
    }

    #[test]
    fn latin_1_titles_are_decoded() {
        assert_eq!(decode(b"Mis\xe9rables"), "Misérables");
        assert_eq!(decode("Misérables".as_bytes()), "Misérables");
    }
}
