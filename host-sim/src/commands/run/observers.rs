//! Observers of a run: progress and lost robots.

use crate::{
    episode::{Observer, TickView},
    error::Result,
    progress::Progress,
    world::Environment,
};

/// Observer that advances a progress bar.
pub(super) struct Ticks(pub Progress);

impl<W: Environment> Observer<W> for Ticks {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        self.0.set_position(moment.scene.tick.into());
        Ok(())
    }
}

/// Observer that collects failures of emulated robots and prints them after the run.
#[derive(Default)]
pub(super) struct Losses(Vec<String>);

impl Losses {
    /// Prints the failures.
    pub fn print(self) {
        self.0.iter().for_each(|failure| eprintln!("host-sim: {failure}; the other robots continued"));
    }
}

impl<W: Environment> Observer<W> for Losses {
    fn observe(&mut self, _: &TickView<'_, W>) -> Result {
        Ok(())
    }

    fn robot_lost(&mut self, tick: u32, failure: &str) {
        self.0.push(format!("tick {tick}: {failure}"));
    }
}
