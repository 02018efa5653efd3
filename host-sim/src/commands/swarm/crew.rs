//! Makes the robots of a swarm: in this process, packed, or emulated.

use std::path::PathBuf;

use super::SwarmArguments;
use crate::{
    episode::Episode,
    error::Result,
    seeds::{Purpose, generator},
    swarm::{
        emulated::{Emulated, Link},
        image::{self, Settings},
        networks::{AnySwarm, Network},
        radio_swarm::RadioConfig,
    },
    world::{Environment, Scenario},
};

/// What robots are made of.
pub struct Crew<'a, W: Environment> {
    /// What was asked for.
    pub arguments: &'a SwarmArguments,
    /// Under which circumstances.
    pub condition: &'a Scenario,
    /// What robots carry.
    pub network: Network<'a, W::Task>,
    /// What they speak through.
    pub air: RadioConfig<'a>,
}

impl<'a, W: Environment> Crew<'a, W> {
    /// A start.
    pub fn draw(&self) -> Result<Episode<W>> {
        let mut random = generator(self.arguments.seed, Purpose::Testing, 0);
        Episode::draw(&W::default(), self.condition, &mut random)
    }

    /// Everybody in this process.
    pub fn native(&self, start: &Episode<W>) -> Result<AnySwarm<'a, W::Task>> {
        if self.arguments.packs(self.condition.robots) {
            return self.network.packed(&start.states);
        }
        self.network.native(&self.air, self.condition.robots, self.arguments.key.is_some())
    }

    /// Starts the emulated robots, and native robots for the rest of the swarm.
    pub fn emulated(&self) -> Result<AnySwarm<'a, W::Task>> {
        let Self { arguments, condition, network, air } = self;
        let link = Link { profile: arguments.profile, sealed: arguments.key.is_some() };
        let count = condition.robots;
        let first = arguments.emulated.map_or(0, |some| count.saturating_sub(some));
        let image = self.image()?;
        let robots = Emulated::some::<W::Task>(&image, network.model, link, first, count, air.faults)?;
        network.elsewhere(air, Box::new(robots), first, count, link.sealed)
    }

    /// The image of emulated robots.
    fn image(&self) -> Result<PathBuf> {
        image::check_emulator()?;
        let SwarmArguments { image, profile, key, model, .. } = self.arguments;
        if let Some(image) = image {
            return Ok(image.clone());
        }
        image::build(&Settings {
            task: W::NAME,
            package: W::PACKAGE,
            profile: *profile,
            key: key.as_deref(),
            model: model.as_deref(),
            board: None,
            rekeyed: self.air.faults.rekey.is_some() || self.air.faults.proofs,
            gateway: false,
        })
    }
}
