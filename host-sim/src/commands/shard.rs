//! `--shard K/N` and `host-sim merge`: distribution of episodes over processes.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    files,
    jobs::{self, JobSource, Shard, ShardResults},
};

/// Options without effect on the output of a command.
const LEFT_OUT: [&str; 2] = ["--shard", "--threads"];

/// Largest shard file in bytes.
const MAX_SHARD_BYTES: u64 = 1 << 34;

/// Options for distribution.
#[derive(Args, Clone, Debug, Default)]
pub struct ShardArguments {
    /// Run shard K of N and print its results as JSON, for `host-sim merge`.
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,
}

/// Merge the results of all shards into the output of their command.
///
/// The output, files included, equals that of a single process byte for byte.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim sweep speed --json --shard 1/2 > one.json\n  \
                        host-sim sweep speed --json --shard 2/2 > two.json\n  host-sim merge one.json two.json")]
pub struct MergeArguments {
    /// Output file of each shard.
    #[arg(value_name = "SHARD.json", required = true)]
    shards: Vec<PathBuf>,
}

/// Output of a shard.
#[derive(Serialize, Deserialize)]
struct ShardFile {
    version: String,
    /// Command line of the shard.
    command: Vec<String>,
    #[serde(flatten)]
    results: ShardResults,
}

/// Runs one shard of a command line in this process and prints its results.
pub fn fly(shard: Shard, words: &[String]) -> Result {
    let command = without_process_options(words);
    let print = move |results| {
        let file = ShardFile { version: env!("CARGO_PKG_VERSION").into(), command: command.clone(), results };
        let json = serde_json::to_string(&file)
            .map_err(|error| Error::Failed(format!("a shard cannot be written: {error}")))?;
        files::write(Path::new("-"), format!("{json}\n").as_bytes())
    };
    jobs::set_source(JobSource::One(shard, Box::new(print)))
}

fn without_process_options(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if !LEFT_OUT.contains(&name) {
            kept.push(word.clone());
        } else if value.is_none() {
            words.next();
        }
    }
    kept
}

impl MergeArguments {
    /// Loads the results of all shards. Returns their command line.
    pub fn read(&self) -> Result<Vec<String>> {
        let mut command: Option<Vec<String>> = None;
        let mut shards = Vec::new();
        for path in &self.shards {
            let wrong = |why: &str| Error::usage(format!("{} {why}", path.display()));
            let bytes = files::read_up_to(path, MAX_SHARD_BYTES)?;
            let file: ShardFile =
                serde_json::from_slice(&bytes).map_err(|_| wrong("is not the output of a shard"))?;
            if file.version != env!("CARGO_PKG_VERSION") {
                return Err(wrong(&format!("has version {}: run this shard again", file.version)));
            }
            if *command.get_or_insert_with(|| file.command.clone()) != file.command {
                return Err(wrong(&format!("is a shard of another command: {}", file.command.join(" "))));
            }
            shards.push((path.display().to_string(), file.results));
        }
        jobs::set_source(JobSource::Merged(shards))?;
        Ok(command.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_contain_the_options_of_their_output() {
        let words = "sweep speed --shard 1/2 --json --threads=1 --values 1,2 --shard=1/2 --threads 4";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert_eq!(without_process_options(&words).join(" "), "sweep speed --json --values 1,2");
    }
}
