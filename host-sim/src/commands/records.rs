//! What a flight leaves to take home, as options.

use std::path::PathBuf;

use clap::Args;

use crate::{
    error::Result,
    files,
    flight::{Moment, Observer},
    records::{scene::Film, trajectories::Trajectories},
    swarm::capture::Listener,
    world::World,
};

/// Files that are written on the way.
#[derive(Args, Clone, Debug, Default)]
pub struct RecordArguments {
    /// Write every frame that robots send to a pcap file, for Wireshark.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Write every robot at every tick as comma-separated values.
    #[arg(id = "trajectories_of", long = "trajectories", value_name = "FILE")]
    pub trajectories: Option<PathBuf>,
    /// Write the flight as an MCAP log with a scene, for Foxglove.
    #[arg(long, value_name = "FILE")]
    pub mcap: Option<PathBuf>,
}

impl RecordArguments {
    /// Whether anything was asked for.
    pub fn any(&self) -> bool {
        self.capture.is_some() || self.trajectories.is_some() || self.mcap.is_some()
    }

    /// Whoever writes them, for a flight of a task.
    pub fn records<W: World>(&self, task: &W::Task) -> Result<Records> {
        for path in [&self.trajectories, &self.mcap].into_iter().flatten() {
            files::probe(path)?;
        }
        Ok(Records {
            listener: self.capture.clone().map(|path| Listener::new::<W>(path, task)),
            trajectories: self.trajectories.clone().map(|path| Trajectories::new::<W>(path, task)),
            film: self.mcap.clone().map(|path| Film::new::<W>(path, task)),
        })
    }
}

/// Whoever writes files on the way.
#[derive(Debug)]
pub struct Records {
    listener: Option<Listener>,
    trajectories: Option<Trajectories>,
    film: Option<Film>,
}

impl Records {
    /// Completes all files.
    pub fn finish(self) -> Result {
        self.listener.map_or(Ok(()), Listener::finish)?;
        self.trajectories.map_or(Ok(()), Trajectories::finish)?;
        self.film.map_or(Ok(()), Film::finish)
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
        if let Some(film) = &mut self.film {
            film.see(moment)?;
        }
        Ok(())
    }
}
