//! Options that record an episode: captured frames and trajectories.

use std::path::PathBuf;

use clap::Args;

use crate::{
    capture::Capture,
    episode::{Observer, TickView},
    error::Result,
    files,
    trajectories::Trajectories,
    world::Environment,
};

/// Recorded files.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct RecordArguments {
    /// Write all frames to a pcap file, for Wireshark.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Write state and command of each robot at each tick as CSV, for `wdgnn.plot` and
    /// `wdgnn.export`.
    #[arg(long, value_name = "FILE")]
    pub trajectories: Option<PathBuf>,
}

impl RecordArguments {
    /// Checks that every file can be written.
    pub fn check(&self) -> Result {
        [&self.capture, &self.trajectories].into_iter().flatten().try_for_each(|path| files::probe(path))
    }

    /// Returns the observer that writes the files of a flight.
    pub fn records<W: Environment>(&self, task: &W::Task) -> Result<Records> {
        self.check()?;
        Ok(Records {
            capture: self.capture.clone().map(|path| Capture::new::<W>(path, task)),
            trajectories: self.trajectories.clone().map(|path| Trajectories::new::<W>(path, task)),
        })
    }
}

/// Observer that writes the recorded files.
#[derive(Debug)]
pub struct Records {
    capture: Option<Capture>,
    trajectories: Option<Trajectories>,
}

impl Records {
    /// Completes all files.
    pub fn finish(self) -> Result {
        self.capture.map_or(Ok(()), Capture::finish)?;
        self.trajectories.map_or(Ok(()), Trajectories::finish)
    }
}

impl<W: Environment> Observer<W> for Records {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        self.capture.as_mut().map_or(Ok(()), |capture| capture.observe(moment))?;
        self.trajectories.as_mut().map_or(Ok(()), |trajectories| trajectories.observe(moment))
    }
}
