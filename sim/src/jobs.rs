//! Work in parts: jobs that know nothing of each other, done here by all cores, or a part here and the others elsewhere.
//!
//! A job is a function of its number alone. So whoever does one, on whatever machine, gets the same bits, and results that are put
//! together by number are those of one machine.
//!
//! ```text
//! machine k of n:  every n-th job from the k-th on → a file
//! afterwards:      n files → all results, as if they had been computed here
//! ```

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rayon::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use crate::part::Part;
use crate::{
    error::{Error, Result},
    files,
};

/// How a file of results begins.
const MAGIC: &str = "wdgnn part";

/// The longest file of results that is read, in bytes.
const LONGEST_BYTES: u64 = 1 << 34;

/// What this program does of its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// One part; its results go into a file.
    One(Part, PathBuf),
    /// Nothing: the results are in these files, or in those of these folders.
    None(Vec<PathBuf>),
}

/// Whether jobs are done at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// On all cores, each job on one.
    Together,
    /// One after the other: each keeps all cores busy by itself.
    InTurn,
}

impl Pace {
    /// The results of `count` jobs in order, all done here.
    ///
    /// # Errors
    /// What a job says.
    pub fn map<R: Send>(
        self,
        count: usize,
        job: impl Fn(usize) -> Result<R> + Send + Sync,
    ) -> Result<Vec<R>> {
        match self {
            Self::Together => (0..count).into_par_iter().map(job).collect(),
            Self::InTurn => (0..count).map(job).collect(),
        }
    }
}

static SHARE: OnceLock<Share> = OnceLock::new();

/// Says what this program does of its work; without this, all of it.
///
/// # Errors
/// [`Error::Usage`] when that was said already.
pub fn share(share: Share) -> Result {
    SHARE.set(share).map_err(|_| Error::usage("say once which part of the work is to be done"))
}

/// Whether this program does less than all of its work.
#[must_use]
pub fn shared() -> bool {
    SHARE.get().is_some()
}

/// A file of results.
#[derive(Debug, Serialize, Deserialize)]
struct PartFile {
    magic: String,
    version: String,
    /// What is worked on.
    work: String,
    part: Part,
    /// How many jobs there are in all parts together.
    count: u64,
    /// This part's, in the order of jobs.
    results: Vec<Vec<u8>>,
}

/// The results of `count` jobs in order. `work` says what they are about, so that parts of different work are told apart.
///
/// # Errors
/// What a job says; [`Error::Part`] when this program has done its part and the results are in their file; [`Error::Usage`] for files
/// that are no parts of this work.
pub fn map<R>(
    work: &str,
    pace: Pace,
    count: usize,
    job: impl Fn(usize) -> Result<R> + Send + Sync,
) -> Result<Vec<R>>
where
    R: Serialize + DeserializeOwned + Send,
{
    match SHARE.get() {
        None => pace.map(count, job),
        Some(Share::One(part, file)) => {
            files::probe(file)?;
            files::write(file, &one(work, *part, pace, count, job)?)?;
            Err(Error::Part { part: *part, path: file.clone() })
        }
        Some(Share::None(places)) => {
            let files = all_files(places)?;
            let parts = files.into_iter().map(|path| {
                let bytes = files::read_up_to(&path, LONGEST_BYTES)?;
                Ok((path, bytes))
            });
            together(work, count, &parts.collect::<Result<Vec<_>>>()?)
        }
    }
}

/// Does one part of the jobs: the bytes of its file.
fn one<R: Serialize>(
    work: &str,
    part: Part,
    pace: Pace,
    count: usize,
    job: impl Fn(usize) -> Result<R> + Send + Sync,
) -> Result<Vec<u8>> {
    let mine: Vec<usize> = (part.number as usize - 1..count).step_by(part.of as usize).collect();
    let results = pace.map(mine.len(), |index| bytes(&job(mine[index])?))?;
    bytes(&PartFile {
        magic: MAGIC.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        work: work.into(),
        part,
        count: count as u64,
        results,
    })
}

fn bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_allocvec(value)
        .map_err(|error| Error::Failed(format!("a result cannot be written: {error}")))
}

/// Puts parts together.
fn together<R: DeserializeOwned>(work: &str, count: usize, files: &[(PathBuf, Vec<u8>)]) -> Result<Vec<R>> {
    let mut all: Vec<Option<R>> = (0..count).map(|_| None).collect();
    let mut parts = None;
    for (path, bytes) in files {
        let wrong = |why: &str| Error::usage(format!("{} {why}", path.display()));
        let file: PartFile =
            postcard::from_bytes(bytes).map_err(|_| wrong("is no part of anything, or damaged"))?;
        if file.magic != MAGIC || file.version != env!("CARGO_PKG_VERSION") {
            return Err(wrong("was written by another version of this program: compute it again"));
        }
        if file.work != work || file.count != count as u64 {
            return Err(wrong(&format!("is a part of other work: of `{}`, here it is `{work}`", file.work)));
        }
        if *parts.get_or_insert(file.part.of) != file.part.of {
            return Err(wrong(&format!("is part {}, and others are parts of another number", file.part)));
        }
        let numbers = (file.part.number as usize - 1..count).step_by(file.part.of.max(1) as usize);
        if numbers.len() != file.results.len() {
            return Err(wrong("is damaged: it has another number of results than its part"));
        }
        for (number, result) in numbers.zip(&file.results) {
            let result = postcard::from_bytes(result).map_err(|_| wrong("has a damaged result"))?;
            if all[number].replace(result).is_some() {
                return Err(wrong(&format!("is part {}, which another file is already", file.part)));
            }
        }
    }
    let missing = all.iter().position(Option::is_none);
    if let Some(number) = missing {
        let part = number % parts.unwrap_or(1) as usize + 1;
        return Err(Error::usage(format!("part {part} of {} is missing", parts.unwrap_or(1))));
    }
    Ok(all.into_iter().flatten().collect())
}

/// The files, and those in the folders among them.
fn all_files(places: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for place in places {
        if place.is_dir() {
            files.extend(folder(place)?);
        } else {
            files.push(place.clone());
        }
    }
    Ok(files)
}

fn folder(place: &Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Read { path: place.into(), source };
    let entries = std::fs::read_dir(place).map_err(failed)?;
    let mut files =
        entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect::<Result<Vec<PathBuf>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "part"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(number: usize) -> f64 {
        1.0 / (number as f64 + 0.1)
    }

    fn parts(of: u32) -> Vec<(PathBuf, Vec<u8>)> {
        (1..=of)
            .map(|number| {
                (
                    number.to_string().into(),
                    one("sums", Part { number, of }, Pace::Together, 10, |job| Ok(result(job))).unwrap(),
                )
            })
            .collect()
    }

    #[test]
    fn parts_together_are_the_whole_to_the_last_bit_in_any_order() {
        let whole: Vec<f64> = (0..10).map(result).collect();
        for of in [1, 2, 3, 10, 13] {
            let mut parts = parts(of);
            parts.reverse();
            assert_eq!(together::<f64>("sums", 10, &parts).unwrap(), whole, "{of} parts");
        }
    }

    #[test]
    fn what_is_no_part_of_the_work_is_refused_by_name() {
        let refusal = |files: &[(PathBuf, Vec<u8>)], work: &str, count| {
            together::<f64>(work, count, files).unwrap_err().to_string()
        };
        let parts_of_3 = parts(3);
        assert!(refusal(&parts_of_3[..2], "sums", 10).contains("part 3 of 3 is missing"));
        assert!(refusal(&parts_of_3, "products", 10).contains("other work"));
        assert!(refusal(&parts_of_3, "sums", 11).contains("other work"));
        let twice = [parts_of_3.clone(), parts_of_3.clone()].concat();
        assert!(refusal(&twice, "sums", 10).contains("which another file is already"));
        let mixed = [&parts_of_3[..1], &parts(2)[1..]].concat();
        assert!(refusal(&mixed, "sums", 10).contains("another number"));
        let mut damaged = parts_of_3;
        damaged[1].1.truncate(20);
        assert!(refusal(&damaged, "sums", 10).contains("damaged"));
        assert!(refusal(&[], "sums", 10).contains("missing"));
    }

    #[test]
    fn what_a_job_says_ends_the_work() {
        let failing = |number| if number == 4 { Err(Error::usage("no")) } else { Ok(number as u64) };
        assert!(one("sums", Part { number: 1, of: 2 }, Pace::Together, 10, failing).is_err());
        assert!(one("sums", Part { number: 2, of: 2 }, Pace::InTurn, 10, failing).is_ok());
    }
}
