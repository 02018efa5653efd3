//! Independent jobs on all cores of one process, or distributed over several processes.
//!
//! A job is a function of its number, so its result does not depend on the process that computes it.
//!
//! ```text
//! shard k of n:  jobs k−1, k−1+n, k−1+2n, … → ShardResults
//! merge:         the ShardResults of all n shards → the results of all jobs, bit for bit
//! ```

use std::{fmt, str::FromStr, sync::OnceLock};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    error::{Error, Result},
    threads,
};

/// Shard `number` of `of`, counted from 1, written `2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u32,
    of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Self { number, of }),
            _ => Err("K/N with 1 ≤ K ≤ N, such as 2/8".into()),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// Numbers of the jobs of this shard.
    fn jobs(self, count: usize) -> impl ExactSizeIterator<Item = usize> {
        (self.number as usize - 1..count).step_by(self.of as usize)
    }
}

/// Results of one shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardResults {
    /// Description of the jobs. Shards with different descriptions cannot be merged.
    pub work: String,
    /// The shard.
    pub shard: Shard,
    /// Number of jobs in all shards together.
    pub jobs: u64,
    /// One result per job of the shard, encoded with postcard, in hexadecimal digits.
    pub results: Vec<String>,
}

/// Part of the jobs that this process computes.
#[expect(missing_debug_implementations, reason = "contains a function")]
pub enum JobSource {
    /// One shard. The function takes its results.
    One(Shard, Box<dyn Fn(ShardResults) -> Result + Send + Sync>),
    /// No job: these are the results of all shards, each with the name of its file.
    Merged(Vec<(String, ShardResults)>),
}

/// Whether jobs run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// On all cores, each job on one.
    Parallel,
    /// One job after another; each uses all cores by itself.
    Sequential,
}

impl Schedule {
    /// Returns the results of `count` jobs in order, all computed in this process.
    pub fn map<R: Send>(
        self, count: usize, job: impl Fn(usize) -> Result<R> + Send + Sync,
    ) -> Result<Vec<R>> {
        match self {
            Self::Parallel => threads::try_map(count, job),
            Self::Sequential => (0..count).map(job).collect(),
        }
    }
}

static SOURCE: OnceLock<JobSource> = OnceLock::new();

/// Sets the part of the jobs that this process computes. The default is all of them.
pub fn set_source(source: JobSource) -> Result {
    SOURCE.set(source).map_err(|_| Error::usage("the shard of this process is set already"))
}

/// Returns whether this process computes less than all of its jobs.
pub fn is_distributed() -> bool {
    SOURCE.get().is_some()
}

/// Returns the results of `count` jobs in order. `work` describes them.
pub fn map<R>(
    work: &str, pace: Schedule, count: usize, job: impl Fn(usize) -> Result<R> + Send + Sync,
) -> Result<Vec<R>>
where
    R: Serialize + DeserializeOwned + Send,
{
    match SOURCE.get() {
        None => pace.map(count, job),
        Some(JobSource::One(shard, take)) => {
            take(one(work, *shard, pace, count, job)?)?;
            Err(Error::Shard(*shard))
        }
        Some(JobSource::Merged(shards)) => merge(work, count, shards),
    }
}

/// Computes the jobs of one shard.
fn one<R: Serialize>(
    work: &str, shard: Shard, pace: Schedule, count: usize, job: impl Fn(usize) -> Result<R> + Send + Sync,
) -> Result<ShardResults> {
    let mine: Vec<usize> = shard.jobs(count).collect();
    let results = pace.map(mine.len(), |index| encode(&job(mine[index])?))?;
    Ok(ShardResults { work: work.into(), shard, jobs: count as u64, results })
}

fn encode(value: &impl Serialize) -> Result<String> {
    let bytes = postcard::to_allocvec(value)
        .map_err(|error| Error::Failed(format!("a result cannot be encoded: {error}")))?;
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

fn decode<R: DeserializeOwned>(digits: &str) -> Option<R> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    postcard::from_bytes(&pairs.iter().map(byte).collect::<Option<Vec<u8>>>()?).ok()
}

/// Puts the results of all shards in the order of jobs.
fn merge<R: DeserializeOwned>(work: &str, count: usize, shards: &[(String, ShardResults)]) -> Result<Vec<R>> {
    let mut all: Vec<Option<R>> = (0..count).map(|_| None).collect();
    let of = shards.first().map_or(1, |(_, first)| first.shard.of);
    for (name, results) in shards {
        let wrong = |why: &str| Error::usage(format!("{name} {why}"));
        let shard = results.shard;
        if results.work != work || results.jobs != count as u64 {
            return Err(wrong(&format!("is a shard of `{}`, not of `{work}`", results.work)));
        }
        if shard.of != of {
            return Err(wrong(&format!("is shard {shard}, but other files are one of {of}")));
        }
        if shard.jobs(count).len() != results.results.len() {
            return Err(wrong("is damaged: the number of results is wrong"));
        }
        for (number, result) in shard.jobs(count).zip(&results.results) {
            let result = decode(result).ok_or_else(|| wrong("is damaged: a result cannot be decoded"))?;
            if all[number].replace(result).is_some() {
                return Err(wrong(&format!("is shard {shard}, like another file")));
            }
        }
    }
    if let Some(number) = all.iter().position(Option::is_none) {
        return Err(Error::usage(format!("shard {}/{of} is missing", number % of as usize + 1)));
    }
    Ok(all.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(number: usize) -> f64 {
        if number == 3 { f64::INFINITY } else { 1.0 / (number as f64 + 0.1) }
    }

    fn shards(of: u32) -> Vec<(String, ShardResults)> {
        let shard = |number| {
            one("sums", Shard { number, of }, Schedule::Parallel, 10, |job| Ok(result(job))).unwrap()
        };
        (1..=of).map(|number| (number.to_string(), shard(number))).collect()
    }

    #[test]
    fn merged_shards_equal_the_unsharded_result_in_any_order() {
        let whole: Vec<f64> = (0..10).map(result).collect();
        for of in [1, 2, 3, 10, 13] {
            let mut shards = shards(of);
            shards.reverse();
            assert_eq!(merge::<f64>("sums", 10, &shards).unwrap(), whole, "{of} shards");
        }
    }

    #[test]
    fn mismatched_shards_are_rejected_by_name() {
        let refusal = |shards: &[(String, ShardResults)], work: &str, count| {
            merge::<f64>(work, count, shards).unwrap_err().to_string()
        };
        let thirds = shards(3);
        assert!(refusal(&thirds[..2], "sums", 10).contains("shard 3/3 is missing"));
        assert!(refusal(&thirds, "products", 10).contains("1 is a shard of `sums`, not of `products`"));
        assert!(refusal(&thirds, "sums", 11).contains("is a shard of"));
        let twice = [thirds.clone(), thirds.clone()].concat();
        assert!(refusal(&twice, "sums", 10).contains("1 is shard 1/3, like another file"));
        let mixed = [&thirds[..1], &shards(2)[1..]].concat();
        assert!(refusal(&mixed, "sums", 10).contains("2 is shard 2/2, but other files are one of 3"));
        for damage in ["", "0", "zz", "é0", "00"] {
            let mut damaged = thirds.clone();
            damaged[1].1.results[0] = damage.into();
            assert!(refusal(&damaged, "sums", 10).contains("2 is damaged"), "{damage}");
        }
        let mut short = thirds;
        short[1].1.results.pop();
        assert!(refusal(&short, "sums", 10).contains("2 is damaged"));
        assert!(refusal(&[], "sums", 10).contains("missing"));
    }

    #[test]
    fn shard_text_round_trips_and_invalid_text_is_rejected() {
        assert_eq!("2/8".parse(), Ok(Shard { number: 2, of: 8 }));
        assert_eq!(Shard { number: 2, of: 8 }.to_string(), "2/8");
        for text in ["", "2", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_failed_job_ends_the_work() {
        let failing = |number| if number == 4 { Err(Error::usage("no")) } else { Ok(number as u64) };
        assert!(one("sums", Shard { number: 1, of: 2 }, Schedule::Parallel, 10, failing).is_err());
        assert!(one("sums", Shard { number: 2, of: 2 }, Schedule::Sequential, 10, failing).is_ok());
    }
}
