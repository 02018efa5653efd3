//! The paper's second experiment: rating prediction on MovieLens 100K.
//!
//! Nodes are movies, edges join similar movies, and a user is a graph signal of ratings. A network
//! learns to predict the rating of one movie, and keeps learning online on that movie or another.

#![forbid(unsafe_code)]

mod experiment;
mod graph;
mod network;
mod online;
mod ratings;
mod report;

use std::{io::Write as _, path::PathBuf, process::ExitCode};

use clap::Parser;
use rayon::prelude::*;

use crate::{
    experiment::{Config, Scores},
    ratings::{DOWNLOAD, Ratings},
    report::Report,
};

/// Predict movie ratings: the paper's second experiment.
#[derive(Parser)]
#[command(version, after_help = DOWNLOAD, allow_negative_numbers = true)]
struct Arguments {
    /// Folder of MovieLens 100K, or its file u.data.
    #[arg(long, value_name = "PATH", conflicts_with = "synthetic")]
    data: Option<PathBuf>,
    /// Use a small synthetic data set instead of --data.
    #[arg(long)]
    synthetic: bool,
    /// Number of random splits into training and held-out users, at least 2.
    #[arg(long, value_name = "N", default_value_t = 10)]
    splits: u32,
    #[command(flatten)]
    config: Config,
    /// Print JSON instead of the tables.
    #[arg(long)]
    json: bool,
}

fn run(arguments: &Arguments) -> Result<String, String> {
    let Arguments { splits, config, .. } = arguments;
    if *splits < 2 {
        return Err(format!("--splits must be at least 2, got {splits}"));
    }
    if !(config.step_size.is_finite() && config.step_size >= 0.0) {
        return Err(format!("--step-size must be finite and at least 0, got {}", config.step_size));
    }
    let ratings = match (&arguments.data, arguments.synthetic) {
        (Some(path), _) => Ratings::load(path)?,
        (None, true) => Ratings::synthetic(),
        (None, false) => return Err(format!("--data or --synthetic is required. {DOWNLOAD}")),
    };
    let splits: Vec<Scores> = (0..*splits)
        .into_par_iter()
        .map(|index| experiment::run_split(&ratings, config, index.into()))
        .collect();
    let report = Report { ratings: &ratings, config, splits: &splits };
    Ok(if arguments.json { report.json() } else { report.text() })
}

/// First paragraph of a command-line error, as one line.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn main() -> ExitCode {
    let output = match Arguments::try_parse() {
        Ok(arguments) => run(&arguments),
        Err(help) if !help.use_stderr() => Ok(help.to_string().trim_end().to_owned() + "\n"),
        Err(error) => Err(first_paragraph(&error)),
    };
    let written = output.and_then(|text| {
        let result = std::io::stdout().write_all(text.as_bytes());
        result.map_err(|error| format!("cannot write to the standard output: {error}"))
    });
    if let Err(message) = written {
        eprintln!("error: {message}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}
