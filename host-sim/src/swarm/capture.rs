//! Observer that writes all frames of an episode to a capture.

use std::path::PathBuf;

use wdgnn_robot::tasks::MotionModel as _;

use crate::{
    capture::Capture,
    episode::{Observer, TickView},
    error::Result,
    world::Environment,
};

/// Observer of an episode.
#[derive(Debug)]
pub struct Listener {
    path: PathBuf,
    /// Control period in seconds.
    period: f32,
    /// Capture file, opened at the first frame, whose length selects the link type.
    capture: Option<Capture>,
}

impl Listener {
    /// Creates an observer that writes to `path`.
    pub fn new<W: Environment>(path: PathBuf, task: &W::Task) -> Self {
        Self { path, period: task.period(), capture: None }
    }

    /// Completes the capture.
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
