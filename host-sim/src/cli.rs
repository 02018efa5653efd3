//! The command line. One subcommand, one file in `commands`.

use clap::{Parser, Subcommand};

use crate::{commands, error::Result};

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
enum Command {
    Air(commands::air::AirArguments),
    Faults(commands::faults::FaultsArguments),
    Flock(commands::flock::FlockArguments),
    Shift(commands::shift::ShiftArguments),
    Swarm(commands::swarm::SwarmArguments),
    Sniff(commands::sniff::SniffArguments),
    Sweep(commands::sweep::SweepArguments),
    Theorem(commands::theorem::TheoremArguments),
    Train(commands::train::TrainArguments),
    Movie(commands::movie::MovieArguments),
}

impl Cli {
    /// Runs what was asked for.
    ///
    /// # Errors
    /// Whatever ended the command.
    pub fn run(self) -> Result {
        match self.command {
            Some(Command::Air(arguments)) => arguments.run(),
            Some(Command::Faults(arguments)) => arguments.run(),
            Some(Command::Flock(arguments)) => arguments.run(),
            Some(Command::Shift(arguments)) => arguments.run(),
            Some(Command::Swarm(arguments)) => arguments.run(),
            Some(Command::Sniff(arguments)) => arguments.run(),
            Some(Command::Sweep(arguments)) => arguments.run(),
            Some(Command::Theorem(arguments)) => arguments.run(),
            Some(Command::Train(arguments)) => arguments.run(),
            Some(Command::Movie(arguments)) => arguments.run(),
            None => commands::flock::FlockArguments::default().run(),
        }
    }
}
