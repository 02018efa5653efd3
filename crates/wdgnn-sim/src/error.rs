//! Errors that end a command, each with a message of one line.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use wdgnn_core::{task::Task as _, weights::WeightsError};

use crate::{
    jobs::Shard,
    world::{World, flock::Flock},
};

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Invalid option or combination of options.
    #[error("{0}")]
    Usage(String),
    /// A file that could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause of the error.
        source: io::Error,
    },
    /// A file that could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause of the error.
        source: io::Error,
    },
    /// A model that is damaged or has other dimensions.
    #[error("cannot use the model {}: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Cause of the error.
        source: WeightsError,
    },
    /// A model that was trained for another task.
    #[error("{}", other_task(path, *trained, *flown, task_name))]
    Task {
        /// The file.
        path: PathBuf,
        /// Number of the task for which the model was trained.
        trained: u16,
        /// Number of the task for which the model was given.
        flown: u16,
    },
    /// Interruption by Ctrl-C.
    #[error("interrupted; files written so far are complete")]
    Interrupted,
    /// One shard is complete. The command ends without its usual output.
    #[error("shard {0} is complete")]
    Shard(Shard),
    /// Run that failed, such as an experiment whose check did not hold.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// Returns 2 for errors of the caller, 130 for Ctrl-C and 1 for other errors.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_)
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Model { .. }
            | Self::Task { .. } => ExitCode::from(2),
            Self::Interrupted => ExitCode::from(130),
            Self::Failed(_) => ExitCode::from(1),
            Self::Shard(_) => ExitCode::SUCCESS,
        }
    }

    /// Creates an [`Error::Usage`].
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }
}

/// Message for a model that was trained for another task, with names from `name_of`.
///
/// The file may be the only copy of a network, so the message suggests no command that writes it.
pub fn other_task(
    path: &Path, trained: u16, flown: u16, name_of: impl Fn(u16) -> Option<&'static str>,
) -> String {
    let path = path.display();
    let name = |number| name_of(number).map_or_else(|| format!("number {number}"), str::to_owned);
    let advice = name_of(trained).map_or_else(String::new, |task| {
        format!(": fly it with `host-sim eval --task {task} --model {path}`")
    });
    format!("{path} was trained for the task {}, not for {}{advice}", name(trained), name(flown))
}

/// Name of a task of this crate.
fn task_name(number: u16) -> Option<&'static str> {
    fn entry<W: World>() -> (u16, &'static str) {
        (W::Task::ID, W::NAME)
    }
    let known = [entry::<Flock<2>>(), entry::<Flock<3>>()];
    known.into_iter().find(|(known, _)| *known == number).map(|(_, name)| name)
}

/// Result of this crate's functions.
pub type Result<T = ()> = std::result::Result<T, Error>;
