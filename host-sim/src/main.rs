//! `host-sim`: parse, run, and say what went wrong in one sentence.

use std::process::ExitCode;

use clap::Parser;
use host_sim::cli::Cli;

fn main() -> ExitCode {
    end_quietly_on_a_closed_pipe();
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("host-sim: {error}");
            error.exit_code()
        }
    }
}

/// `host-sim sweep speed | head` is no error: when the reader goes away, so does the writer. The standard library turns the closed
/// pipe into a panic of `println!`, so this is where it can be told from others.
fn end_quietly_on_a_closed_pipe() {
    let other = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.starts_with("failed printing to stdout") && message.contains("Broken pipe") {
            std::process::exit(0);
        }
        other(panic);
    }));
}
