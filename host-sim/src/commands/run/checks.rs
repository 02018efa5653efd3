//! Checks of options that exclude each other.

use super::{super::recordings::RecordArguments, RunArguments, Target};
use crate::{
    error::{Error, Result},
    medium::options::Faults,
};

impl RunArguments {
    /// Rejects faults that need a key.
    pub(super) fn check_key(&self, faults: &Faults) -> Result {
        for (fault, given) in [("rekey", faults.rekey.is_some()), ("peer-auth", faults.peer_auth)] {
            if given && self.key.is_none() {
                return Err(Error::usage(format!("--fault {fault} needs --key")));
            }
        }
        Ok(())
    }

    /// Rejects files that boards and gateways do not write.
    pub(super) fn check_no_recordings(&self) -> Result {
        let RecordArguments { capture, trajectories } = &self.records;
        if capture.is_some() || trajectories.is_some() || self.outputs.any_file() {
            return Err(Error::usage(
                "--capture, --trajectories, --csv, --report and --svg need --target native or qemu",
            ));
        }
        Ok(())
    }

    /// Rejects options that native robots and robots in QEMU do not support.
    pub(super) fn check_simulated(&self, faults: &Faults, robots: usize) -> Result {
        self.chips.check_unused()?;
        if self.is_packed(robots) && !faults.settings().is_empty() {
            return Err(Error::usage(format!(
                "--robots must be at most 65536 with faults, the number of addresses, got {robots}"
            )));
        }
        if let Target::Qemu(Some(emulated)) = self.target
            && !(1..=robots).contains(&emulated)
        {
            return Err(Error::usage(format!(
                "--target qemu:N must have N between 1 and {robots}, the number of robots, got {emulated}"
            )));
        }
        if !self.uses_qemu() && (self.image.is_some() || self.log) {
            return Err(Error::usage(
                "--image and --log have no effect on native robots: give --target qemu",
            ));
        }
        self.check_key(faults)?;
        if faults.mixed_models > 0.0 && self.uses_qemu() {
            return Err(Error::usage(
                "--fault mixed-models needs --target native: robots in QEMU run one image",
            ));
        }
        Ok(())
    }
}
