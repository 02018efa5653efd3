//! Limits of faults: ranges, existing robots and ticks, and required options.

use wdgnn_link::security::managed_keys::ROSTER_CAPACITY;

use super::options::{FAULTS, Faults};
use crate::{
    error::{Error, Result},
    profiles::Profile,
};

impl Faults {
    /// Checks all faults for an episode of `robots` robots and `ticks` ticks.
    pub fn check(&self, robots: usize, ticks: u32) -> Result {
        for fault in FAULTS {
            let key = fault.key;
            if let Some(text) = fault.value(self) {
                fault.set(&mut Self::default(), &text)?;
            }
            if let Some(robot) = fault.robots(self).into_iter().find(|robot| *robot >= robots) {
                let last = robots.saturating_sub(1);
                return Err(Error::usage(format!(
                    "--fault {key} names robot {robot}: the robots are 0 to {last}"
                )));
            }
            let rekey = self.rekey.as_ref().filter(|_| key == "rekey").map(|ticks| ticks.end);
            if let Some(tick) = fault.ticks(self).into_iter().chain(rekey).find(|tick| *tick >= ticks) {
                let last = ticks.saturating_sub(1);
                return Err(Error::usage(format!(
                    "--fault {key} names tick {tick}: the last tick of this flight is {last}"
                )));
            }
        }
        self.check_partners()?;
        self.check_keys(robots)
    }

    /// Rejects faults that have no effect without another one.
    fn check_partners(&self) -> Result {
        let alone = [
            ("burst", self.burst != 1.0 && self.drop_chance == 0.0, "drop-chance"),
            ("sybil-distance", self.sybil_distance.is_some() && self.sybil == 0, "sybil"),
            ("expel", !self.expel.is_empty() && self.rekey.is_none(), "rekey"),
        ];
        match alone.into_iter().find(|(_, alone, _)| *alone) {
            Some((option, _, partner)) => {
                Err(Error::usage(format!("--fault {option} has no effect without {partner}")))
            }
            None => Ok(()),
        }
    }

    /// Checks options about keys.
    fn check_keys(&self, robots: usize) -> Result {
        for (option, given) in [("peer-auth", self.peer_auth), ("rekey", self.rekey.is_some())] {
            if given && robots > ROSTER_CAPACITY {
                return Err(Error::usage(format!(
                    "--fault {option} is for at most {ROSTER_CAPACITY} robots, got {robots}: each robot stores one entry per peer"
                )));
            }
        }
        if self.rekey.is_some() && self.liars.is_some() {
            return Err(Error::usage("--fault liars and rekey cannot be combined: liars keep the first key"));
        }
        Ok(())
    }

    /// Checks that a profile carries these faults, with `robots` robots.
    pub fn check_profile(&self, profile: Profile, robots: usize) -> Result {
        if self.collisions && profile.radio().is_none() {
            return Err(Error::usage(
                "--fault collisions needs a --profile with a radio: dot154, esb32, espnow or p2p57",
            ));
        }
        if self.sybil > 0 && profile.check_robots(robots + self.sybil as usize).is_err() {
            return Err(Error::usage(format!(
                "--fault sybil={} and {robots} robots need more addresses than --profile {} has",
                self.sybil,
                profile.name()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_without_its_partner_is_rejected() {
        for (settings, partner) in
            [("sybil-distance=0.5", "sybil"), ("expel=3", "rekey"), ("burst=5", "drop-chance")]
        {
            let key = settings.split('=').next().unwrap();
            let error = Faults::parse(settings).unwrap().check(5, 200).unwrap_err().to_string();
            assert_eq!(error, format!("--fault {key} has no effect without {partner}"));
        }
    }
}
