//! Several processes fly one swarm: starts them, or is one of them.

use super::{
    super::{stop_on_interrupt, swarm_launch::Launch, swarm_workers::Common},
    Given, SwarmArguments,
    crew::Crew,
};
use crate::{error::Result, world::World};

impl SwarmArguments {
    /// Has workers fly, or flies as one of them.
    pub(super) fn fly_with_workers<W: World>(&self, given: &Given, crew: &Crew<'_, W>) -> Result {
        let json = self.outputs.json;
        if let Some(workers) = self.workers.workers {
            // Built once, and not by every worker.
            let image = (self.emulates() && self.image.is_none()).then(|| crew.image()).transpose()?;
            let launch = Launch { workers: workers.into(), restarts: self.workers.restarts(), json, image };
            let stop = stop_on_interrupt()?;
            return launch.fly::<W>(&stop);
        }
        let Some(worker) = self.workers.worker else { return Ok(()) };
        let (draw, make) = (|| crew.draw(), || crew.share(|robot, first| worker.is_dealt(robot, first)));
        let (stop, settings) = (&stop_on_interrupt()?, self.agreed::<W>(given));
        let (condition, task) = (&given.condition, &crew.network.task);
        self.workers.fly::<W>(json, &Common { condition, draw: &draw, task, make: &make, settings, stop })
    }

    /// All that workers have to agree about, in words.
    fn agreed<W: World>(&self, given: &Given) -> String {
        let Given { condition, faults, model, key } = given;
        // Enough of a key to tell it from another one.
        let key = key.map(|key| crc::Crc::<u64>::new(&crc::CRC_64_XZ).checksum(&key));
        let (version, seed, profile) = (env!("CARGO_PKG_VERSION"), self.seed, self.profile);
        let checksum = model.weights().checksum;
        format!("{version} {} {condition:?} {seed} {profile:?} {key:?} {checksum} {faults:?}", W::NAME)
    }
}
