//! Emulated boards with the image that boards run, and simulated robots among real ones.

use nrf52_emulator::Part;

use super::{
    RunArguments, Setup, Target,
    chips::{ChipFlight, Image},
    gateway::GatewayFlight,
};
use crate::{
    error::{Error, Result},
    world::Environment,
};

impl RunArguments {
    /// Runs the swarm on emulated boards.
    pub(super) fn run_on_chips<W: Environment>(&self, part: Part, setup: &Setup) -> Result {
        let Setup { condition, faults, model, key } = setup;
        self.check_on_chips::<W>(faults)?;
        let settings =
            Image { profile: self.profile(), key: self.key.as_deref(), model: self.model.model.as_deref() };
        let (json, log) = (self.outputs.json, self.log);
        let resolved = self.resolved(condition);
        let origin = self.scenario.origin(resolved.command("run"), model.describe());
        let origin = &origin.with_faults(&self.faults.settings());
        let flight = ChipFlight { kind: part, image: self.image.as_deref(), settings, log, json, origin };
        self.scenario.check()?;
        self.chips.fly(&flight, model, condition, faults, *key, self.seed)?;
        self.scenario.save("run", &resolved)
    }

    /// Runs simulated robots on the radio channel of real ones.
    pub(super) fn run_with_real_robots<W: Environment>(&self, setup: &Setup) -> Result {
        let Setup { condition, faults, model, key } = setup;
        self.chips.check_unused()?;
        if self.target != Target::Native || self.compare || self.image.is_some() || self.log {
            return Err(Error::usage(
                "--gateway cannot be combined with --target, --compare, --image or --log: leave them out",
            ));
        }
        if W::NAME != "flocking" {
            return Err(Error::usage(format!("--gateway needs --task flocking, got {}", W::NAME)));
        }
        if !faults.settings().is_empty() {
            return Err(Error::usage("--gateway cannot be combined with faults: the radio channel is real"));
        }
        self.check_no_recordings()?;
        let resolved = self.resolved(condition);
        let origin = &self.scenario.origin(resolved.command("run"), model.describe());
        let (profile, json, seed) = (self.profile(), self.outputs.json, self.seed);
        self.scenario.check()?;
        self.gateway.fly(&GatewayFlight { profile, model, condition, seed, json, origin }, *key)?;
        self.scenario.save("run", &resolved)
    }
}
