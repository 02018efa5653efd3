//! Who looks on while a swarm flies.

use crate::{
    episode::{Observer, TickView},
    error::Result,
    progress::Progress,
    world::Environment,
};

/// Tells how far the flight is.
pub(super) struct Ticks(pub Progress);

impl<W: Environment> Observer<W> for Ticks {
    fn observe(&mut self, moment: &TickView<'_, W>) -> Result {
        self.0.set_position(moment.scene.tick.into());
        Ok(())
    }
}

/// Tells who was lost, once there is a line to tell it on.
#[derive(Default)]
pub(super) struct Losses(Vec<String>);

impl Losses {
    /// Tells.
    pub fn tell(self) {
        self.0.iter().for_each(|story| eprintln!("host-sim: {story}; the others flew on"));
    }
}

impl<W: Environment> Observer<W> for Losses {
    fn observe(&mut self, _: &TickView<'_, W>) -> Result {
        Ok(())
    }

    fn robot_lost(&mut self, tick: u32, story: &str) {
        self.0.push(format!("tick {tick}: {story}"));
    }
}
