//! Images that are flashed, on chips register by register, and simulated robots in the air of real ones.

use nrf52_emulator::Part;

use super::{
    super::{
        swarm_chips::{ChipFlight, Image},
        swarm_gateway::GatewayFlight,
    },
    Given, Nodes, SwarmArguments,
};
use crate::{
    error::{Error, Result},
    medium::options::Faults,
    world::Environment,
};

impl SwarmArguments {
    /// Flies chips.
    pub(super) fn fly_on_chips<W: Environment>(&self, kind: Part, given: &Given) -> Result {
        let Given { condition, faults, model, key } = given;
        self.refuse_on_chips::<W>(faults)?;
        let settings =
            Image { profile: self.profile, key: self.key.as_deref(), model: self.model.as_deref() };
        let (json, log) = (self.outputs.json, self.log);
        let settled = self.settled(condition);
        let origin = self.scenario.origin(settled.command("swarm"), model.describe());
        let origin = &origin.with_faults(&self.faults.words());
        let flight = ChipFlight { kind, image: self.image.as_deref(), settings, log, json, origin };
        self.scenario.check()?;
        self.chips.fly(&flight, model, condition, faults, *key, self.seed)?;
        self.scenario.save("swarm", &settled)
    }

    /// Flies simulated robots in the air of real ones.
    pub(super) fn fly_beside_real<W: Environment>(&self, given: &Given) -> Result {
        let Given { condition, faults, model, key } = given;
        self.chips.refuse()?;
        if self.nodes != Nodes::Native || self.emulates() || self.image.is_some() || self.log {
            return Err(Error::usage(
                "--gateway cannot be combined with --nodes, --emulated, --compare, --image or --log",
            ));
        }
        if W::NAME != "flocking" {
            return Err(Error::usage(format!("boards fly flocking only, not --task {}", W::NAME)));
        }
        if *faults != (Faults { seed: faults.seed, ..Faults::default() }) {
            return Err(Error::usage("--gateway cannot be combined with faults: the air is real"));
        }
        if self.records.any() || self.outputs.any_file() {
            return Err(Error::usage(
                "--capture, --trajectories, --csv, --report and --svg are for native and emulated robots",
            ));
        }
        let settled = self.settled(condition);
        let origin = &self.scenario.origin(settled.command("swarm"), model.describe());
        let (profile, json, seed) = (self.profile, self.outputs.json, self.seed);
        self.scenario.check()?;
        self.gateway.fly(&GatewayFlight { profile, model, condition, seed, json, origin }, *key)?;
        self.scenario.save("swarm", &settled)
    }
}
