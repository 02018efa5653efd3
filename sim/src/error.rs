//! What can go wrong, each with a sentence that says what to do next.

use std::{io, path::PathBuf, process::ExitCode};

use wdgnn_core::weights::WeightsError;

use crate::jobs::Shard;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option that cannot be.
    #[error("{0}")]
    Usage(String),
    /// A file that could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that could not be written.
    #[error("cannot write {}: {source}; name another place", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A model that is damaged or does not fit.
    #[error("{} is not usable: {source}; train one with `host-sim train --out {}`", path.display(), path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        source: WeightsError,
    },
    /// Ctrl-C.
    #[error("interrupted; what was written before is complete")]
    Interrupted,
    /// One shard is complete. The command ends without its usual output.
    #[error("shard {0} is complete")]
    Shard(Shard),
    /// A run that ended badly, such as an experiment whose check did not hold.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// 2 for what the caller can put right, 130 for Ctrl-C, 1 for the rest.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Read { .. } | Self::Write { .. } | Self::Model { .. } => ExitCode::from(2),
            Self::Interrupted => ExitCode::from(130),
            Self::Failed(_) => ExitCode::from(1),
            Self::Shard(_) => ExitCode::SUCCESS,
        }
    }

    /// A [`Error::Usage`].
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }
}

/// What commands return.
pub type Result<T = ()> = std::result::Result<T, Error>;
