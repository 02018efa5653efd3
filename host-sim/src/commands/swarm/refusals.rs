//! What cannot go together in one swarm, in sentences.

use super::{Nodes, SwarmArguments};
use crate::{
    error::{Error, Result},
    medium::options::Faults,
    world::Environment,
};

impl SwarmArguments {
    /// Says what robots without a key do not do.
    fn refuse_unsealed(&self, faults: &Faults) -> Result {
        if faults.rekey.is_some() && self.key.is_none() {
            return Err(Error::usage("--rekey needs --key"));
        }
        if faults.proofs && self.key.is_none() {
            return Err(Error::usage("--proofs needs --key"));
        }
        Ok(())
    }

    /// Says what chips do not do.
    pub(super) fn refuse_on_chips<W: Environment>(&self, faults: &Faults) -> Result {
        if self.compare {
            return Err(Error::usage(
                "--compare has no effect on chips, which are always compared with native robots",
            ));
        }
        if self.emulated.is_some() {
            return Err(Error::usage("--emulated and --nodes nrf52840 or nrf52833 cannot be combined"));
        }
        self.refuse_unsealed(faults)?;
        if W::NAME != "flocking" {
            return Err(Error::usage(format!(
                "chips fly flocking only: --task {} needs --nodes native or emulated",
                W::NAME
            )));
        }
        if self.records.any() || self.outputs.any_file() {
            return Err(Error::usage(
                "--capture, --trajectories, --csv, --report and --svg are for native and emulated robots",
            ));
        }
        Ok(())
    }

    /// Says what native and emulated robots do not do.
    pub(super) fn refuse_off_chips(&self, faults: &Faults, robots: usize) -> Result {
        self.chips.refuse()?;
        if self.packs(robots) && *faults != (Faults { seed: faults.seed, ..Faults::default() }) {
            return Err(Error::usage(format!(
                "--robots must be at most 65536 with faults, the number of addresses, got {robots}"
            )));
        }
        if let Some(some) = self.emulated {
            if self.nodes == Nodes::Emulated {
                return Err(Error::usage(
                    "--emulated and --nodes emulated cannot be combined: --nodes emulated emulates all robots",
                ));
            }
            if some == 0 || some > robots {
                return Err(Error::usage(format!(
                    "--emulated must be a whole number between 1 and {robots}, the number of robots, got {some}"
                )));
            }
        }
        if self.nodes == Nodes::Native && !self.emulates() && (self.image.is_some() || self.log) {
            return Err(Error::usage(
                "--image and --log have no effect on native robots: give --nodes emulated or --emulated N",
            ));
        }
        self.refuse_unsealed(faults)?;
        if faults.other_models > 0.0 && self.emulates() {
            return Err(Error::usage(
                "--other-model and emulated robots cannot be combined: emulated robots run one image",
            ));
        }
        Ok(())
    }
}
