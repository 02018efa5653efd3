//! The command line. One subcommand, one file in `commands`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    commands,
    error::Result,
    table,
    tasks::{self, Tasks},
};

/// Trains, flies and measures swarms of Wide and Deep Graph Neural Network robots.
///
/// Without a subcommand it flies the flocking experiment (`host-sim flock`).
#[derive(Debug, Parser)]
#[command(version, about, long_about, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
enum Command {
    Air(commands::air::AirArguments),
    Faults(commands::faults::FaultsArguments),
    Flock(commands::flock::FlockArguments),
    Fly(commands::fly::FlyArguments),
    Shift(commands::shift::ShiftArguments),
    Swarm(commands::swarm::SwarmArguments),
    Sniff(commands::sniff::SniffArguments),
    Sweep(commands::sweep::SweepArguments),
    /// List the tasks there are.
    Tasks,
    Theorem(commands::theorem::TheoremArguments),
    Train(commands::train::TrainArguments),
    Movie(commands::movie::MovieArguments),
}

impl Cli {
    /// Runs what was asked for.
    ///
    /// # Errors
    /// Whatever ended the command.
    pub fn run(self, tasks: Tasks<'_>) -> Result {
        let task = |name: &str| tasks::named(tasks, name);
        match self.command {
            Some(Command::Air(arguments)) => arguments.run(),
            Some(Command::Faults(arguments)) => task(&arguments.task)?.faults(&arguments),
            Some(Command::Flock(arguments)) => arguments.run(),
            Some(Command::Fly(arguments)) => task(&arguments.task)?.fly(&arguments),
            Some(Command::Shift(arguments)) => arguments.run(),
            Some(Command::Swarm(arguments)) => task(&arguments.task)?.swarm(&arguments),
            Some(Command::Sniff(arguments)) => arguments.run(),
            Some(Command::Sweep(arguments)) => task(&arguments.task)?.sweep(&arguments),
            Some(Command::Tasks) => {
                print!("{}", table::aligned(&list(tasks)));
                Ok(())
            }
            Some(Command::Theorem(arguments)) => arguments.run(),
            Some(Command::Train(arguments)) => task(&arguments.task)?.train(&arguments),
            Some(Command::Movie(arguments)) => arguments.run(),
            None => commands::flock::FlockArguments::default().run(),
        }
    }
}

fn list(tasks: Tasks<'_>) -> Vec<Vec<String>> {
    let heading = ["task", "what", "score, less is better", "trained by"].map(str::to_owned).to_vec();
    let row = |task: &&dyn tasks::Entry| {
        let (title, score, recipe) = task.words();
        [task.name(), title, score, recipe].map(str::to_owned).to_vec()
    };
    std::iter::once(heading).chain(tasks.iter().map(row)).collect()
}

/// A program with these tasks: parses, runs, and says what went wrong in one sentence.
#[must_use]
pub fn main(tasks: Tasks<'_>) -> ExitCode {
    end_quietly_on_a_closed_pipe();
    match Cli::parse().run(tasks) {
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
