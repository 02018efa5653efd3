//! Builds the robots of a swarm: native, packed or in QEMU.

use std::path::PathBuf;

use wdgnn_emulation::{
    emulated::{Emulated, Link},
    image::{self, Settings},
};

use super::{RunArguments, Target};
use crate::{
    episode::Episode,
    error::Result,
    seeds::{Purpose, generator},
    swarm::{
        networks::{AnySwarm, Network},
        radio_swarm::RadioConfig,
    },
    world::{Environment, Scenario},
};

/// Configuration of all robots.
pub(super) struct RobotBuilder<'a, W: Environment> {
    /// Options of the command.
    pub arguments: &'a RunArguments,
    /// Scenario of the episode.
    pub condition: &'a Scenario,
    /// Network of the robots.
    pub network: Network<'a, W::Task>,
    /// Radio medium with faults.
    pub air: RadioConfig<'a>,
}

impl<'a, W: Environment> RobotBuilder<'a, W> {
    /// Draws the initial states.
    pub fn draw(&self) -> Result<Episode<W>> {
        let mut random = generator(self.arguments.seed, Purpose::Testing, 0);
        Episode::draw(&W::default(), self.condition, &mut random)
    }

    /// Builds native robots.
    pub fn native(&self, start: &Episode<W>) -> Result<AnySwarm<'a, W::Task>> {
        if self.arguments.is_packed(self.condition.robots) {
            return self.network.in_array(&start.states);
        }
        self.network.native(&self.air, self.condition.robots, self.arguments.key.is_some())
    }

    /// Starts the robots in QEMU, and native robots for the rest of the swarm.
    pub fn emulated(&self) -> Result<AnySwarm<'a, W::Task>> {
        let Self { arguments, condition, network, air } = self;
        let link = Link { profile: arguments.profile(), sealed: arguments.key.is_some() };
        let count = condition.robots;
        let emulated = if let Target::Qemu(Some(some)) = arguments.target { some } else { count };
        let first = count.saturating_sub(emulated);
        let image = self.image()?;
        let robots = Emulated::new::<W::Task>(&image, network.model, link, first..count, air.faults)?;
        network.elsewhere(air, Box::new(robots), first, count, link.sealed)
    }

    /// Returns the image of the robots in QEMU.
    fn image(&self) -> Result<PathBuf> {
        image::check_emulator()?;
        let RunArguments { image, key, model, .. } = self.arguments;
        if let Some(image) = image {
            return Ok(image.clone());
        }
        image::build(&Settings {
            task: W::NAME,
            package: W::PACKAGE,
            profile: self.arguments.profile(),
            key: key.as_deref(),
            model: model.model.as_deref(),
            board: None,
            rekeyed: self.air.faults.rekey.is_some() || self.air.faults.peer_auth,
            gateway: false,
        })
    }
}
