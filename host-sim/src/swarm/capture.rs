//! Everything that a swarm says in a flight, written to a capture.

use std::path::PathBuf;

use wdgnn_core::task::Task as _;

use crate::{
    capture::Capture,
    episode::{Observer, TickView},
    error::Result,
    world::Environment,
};

/// Listens to a flight.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
    /// Control period in seconds.
    period: f32,
    /// From the first frame on: its length tells what kind of radio it is for.
    capture: Option<Capture>,
}

impl Listener {
    /// Writes to `path` what robots of a task say.
    pub fn new<W: Environment>(path: PathBuf, task: &W::Task) -> Self {
        Self { path, period: task.period(), capture: None }
    }

    /// Ends the capture.
    pub fn finish(self) -> Result {
        self.capture.map_or(Ok(()), Capture::finish)
    }
}

impl<W: Environment> Observer<W> for Listener {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        let said = moment.swarm.frames();
        let longest = said.iter().flatten().map(|frame| frame.len()).max();
        let Some(longest) = longest else { return Ok(()) };
        let capture = match &mut self.capture {
            Some(capture) => capture,
            none => none.insert(Capture::create(&self.path, longest)?),
        };
        let microseconds = (f64::from(self.period) * f64::from(moment.scene.tick) * 1.0e6).round() as u64;
        for (robot, frames) in (0..).zip(said) {
            frames.iter().try_for_each(|frame| capture.frame(microseconds, robot, frame))?;
        }
        Ok(())
    }
}
