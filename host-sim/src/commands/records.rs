//! Options that record a flight: a capture of its frames, and its trajectories.

use std::path::PathBuf;

use clap::Args;

use crate::{
    error::Result,
    files,
    flight::{Moment, Observer},
    swarm::capture::Listener,
    trajectories::Trajectories,
    world::World,
};

/// Files that a flight writes.
#[derive(Args, Clone, Debug, Default)]
pub struct RecordArguments {
    /// Write every frame to a capture, for Wireshark and `host-sim sniff`.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Write every robot at every tick as comma-separated values.
    #[arg(id = "trajectories_of", long = "trajectories", value_name = "FILE")]
    pub trajectories: Option<PathBuf>,
}

impl RecordArguments {
    /// Returns whether a file is to be written.
    #[must_use]
    pub fn any(&self) -> bool {
        self.capture.is_some() || self.trajectories.is_some()
    }

    /// Returns the observer that writes the files of a flight.
    ///
    /// # Errors
    /// [`crate::error::Error::Write`] when a file cannot be written.
    pub fn records<W: World>(&self, task: &W::Task) -> Result<Records> {
        self.trajectories.as_deref().map(files::probe).transpose()?;
        Ok(Records {
            listener: self.capture.clone().map(|path| Listener::new::<W>(path, task)),
            trajectories: self.trajectories.clone().map(|path| Trajectories::new::<W>(path, task)),
        })
    }
}

/// Observer that writes the recorded files.
#[derive(Debug)]
pub struct Records {
    listener: Option<Listener>,
    trajectories: Option<Trajectories>,
}

impl Records {
    /// Completes all files.
    ///
    /// # Errors
    /// [`crate::error::Error::Write`].
    pub fn finish(self) -> Result {
        self.listener.map_or(Ok(()), Listener::finish)?;
        self.trajectories.map_or(Ok(()), Trajectories::finish)
    }
}

impl<W: World> Observer<W> for Records {
    fn see(&mut self, moment: &Moment<'_, W>) -> Result {
        if let Some(listener) = &mut self.listener {
            listener.see(moment)?;
        }
        if let Some(trajectories) = &mut self.trajectories {
            trajectories.see(moment)?;
        }
        Ok(())
    }
}
