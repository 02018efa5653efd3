//! Limits of faults: ranges, existing robots and ticks, and required options.

use wdgnn_link::security::managed_keys::ROSTER_CAPACITY;

use super::options::{FAULTS, Faults};
use crate::{
    error::{Error, Result},
    option_range::OptionRange,
    profiles::Profile,
};

/// Mean length of a burst of lost frames.
pub const BURST_FRAMES: OptionRange = OptionRange::real(1.0, 1.0e6);
/// Noise and bias of a sensor, in meters and m/s.
pub const NOISE: OptionRange = OptionRange::real(0.0, 100.0);
/// Rate error of a clock in parts per million: at most a tenth.
pub const DRIFT_PPM: OptionRange = OptionRange::real(0.0, 100_000.0);
/// Difference between clocks in ticks. Robots discard frames that are older than some ticks.
pub const SKEW_TICKS: OptionRange = OptionRange::whole(0, 10_000);
/// Delay that an attacker adds to every frame, in ticks.
pub const ATTACK_DELAY_TICKS: OptionRange = OptionRange::whole(0, 10_000);
/// Forged frames per exchange. A robot reads at most 256 frames in a tick.
pub const FORGED_FRAMES: OptionRange = OptionRange::whole(0, 10_000);
/// Invented robots. Addresses have 16 bits.
pub const SYBIL_NAMES: OptionRange = OptionRange::whole(0, 65_535);
/// Largest acceleration of a motor in m/s².
pub const SATURATION: OptionRange = OptionRange::above(0.0, 1000.0);

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
            ("burst", self.radio.loss.burst != 1.0 && self.radio.loss.chance == 0.0, "drop-chance"),
            ("sybil-distance", self.sybil_at.is_some() && self.sybil == 0, "sybil"),
            ("expel", !self.expelled.is_empty() && self.rekey.is_none(), "rekey"),
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
        for (option, given) in [("peer-auth", self.proofs), ("rekey", self.rekey.is_some())] {
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
    use crate::medium::events::{Events, RobotTick};

    #[test]
    fn robots_and_ticks_outside_the_episode_are_rejected() {
        let kill = |robot, tick| Faults {
            events: Events { kills: vec![RobotTick { robot, tick }], ..Events::default() },
            ..Faults::default()
        };
        let refused = |faults: &Faults| faults.check(5, 200).unwrap_err().to_string();
        assert_eq!(refused(&kill(5, 1)), "--fault kill names robot 5: the robots are 0 to 4");
        assert_eq!(
            refused(&kill(3, 5000)),
            "--fault kill names tick 5000: the last tick of this flight is 199"
        );
        kill(4, 199).check(5, 200).unwrap();
        let replay = Faults { replay: Some(200), ..Faults::default() };
        assert!(refused(&replay).starts_with("--fault replay names tick 200"));
        let forge = Faults { forge: 1_000_000, ..Faults::default() };
        assert_eq!(refused(&forge), "--fault forge must be a whole number between 0 and 10000, got 1000000");
    }

    #[test]
    fn an_option_without_its_required_option_is_rejected() {
        let refused = |faults: &Faults| faults.check(5, 200).unwrap_err().to_string();
        let sybil = Faults { sybil_at: Some(0.5), ..Faults::default() };
        assert_eq!(refused(&sybil), "--fault sybil-distance has no effect without sybil");
        let expel = Faults { expelled: vec![3], ..Faults::default() };
        assert_eq!(refused(&expel), "--fault expel has no effect without rekey");
        let mut burst = Faults::default();
        burst.radio.loss.burst = 5.0;
        assert_eq!(refused(&burst), "--fault burst has no effect without drop-chance");
    }
}
