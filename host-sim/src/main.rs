//! `host-sim`: parse, run, and say what went wrong in one sentence.

use std::process::ExitCode;

use clap::Parser;
use host_sim::cli::Cli;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("host-sim: {error}");
            error.exit_code()
        }
    }
}
