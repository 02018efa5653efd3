//! Options that record an episode: captured frames and trajectories.

use std::path::PathBuf;

use clap::Args;

use crate::{
    controllers::EvalConfig,
    episode::{Observer, TickView},
    error::Result,
    files,
    swarm::capture::Listener,
    trajectories::{self, Trajectories},
    world::{Environment, Scenario},
};

/// Trajectory file.
#[derive(Args, Clone, Debug, Default)]
pub struct TrajectoryArguments {
    /// Write state and command of each robot at each tick as CSV, for `wdgnn.plot` and
    /// `wdgnn.export`.
    #[arg(long, value_name = "FILE")]
    pub trajectories: Option<PathBuf>,
}

/// Recorded files.
#[derive(Args, Clone, Debug, Default)]
pub struct RecordArguments {
    /// Write all frames to a pcap file, for Wireshark.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    #[command(flatten)]
    pub trajectories: TrajectoryArguments,
}

impl TrajectoryArguments {
    /// Checks that the file can be written.
    pub fn check(&self) -> Result {
        self.trajectories.as_deref().map_or(Ok(()), files::probe)
    }

    /// Runs the first held-out swarm of a seed under each shown controller and writes the file.
    pub fn write<W: Environment>(&self, eval: &EvalConfig<W>, condition: &Scenario, seed: u64) -> Result {
        let Some(path) = &self.trajectories else { return Ok(()) };
        trajectories::write(path, eval, condition, seed)
    }
}

impl RecordArguments {
    /// Returns whether a flight writes any file.
    pub fn any(&self) -> bool {
        self.capture.is_some() || self.trajectories.trajectories.is_some()
    }

    /// Checks that every file can be written.
    pub fn check(&self) -> Result {
        self.capture.as_deref().map_or(Ok(()), files::probe)?;
        self.trajectories.check()
    }

    /// Returns the observer that writes the files of a flight.
    pub fn records<W: Environment>(&self, task: &W::Task) -> Result<Records> {
        self.check()?;
        let trajectories = self.trajectories.trajectories.clone();
        Ok(Records {
            listener: self.capture.clone().map(|path| Listener::new::<W>(path, task)),
            trajectories: trajectories.map(|path| Trajectories::new::<W>(path, task)),
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
    pub fn finish(self) -> Result {
        self.listener.map_or(Ok(()), Listener::finish)?;
        self.trajectories.map_or(Ok(()), Trajectories::finish)
    }
}

impl<W: Environment> Observer<W> for Records {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        if let Some(listener) = &mut self.listener {
            listener.observe(moment)?;
        }
        if let Some(trajectories) = &mut self.trajectories {
            trajectories.observe(moment)?;
        }
        Ok(())
    }
}
