//! What faults cannot be: each number within its range, every robot there, and nothing that a profile has no room for.

use wdgnn_link::security::group_key::ROSTER;

use super::{loss::Loss, options::Faults};
use crate::{
    error::{Error, Result},
    profiles::Profile,
};

/// The most that a sensor is off by, in metres and m/s.
const MOST_NOISE: f64 = 100.0;
/// The most that a clock drifts, in parts per million: a tenth.
const MOST_DRIFT: f64 = 100_000.0;
/// The most frames of strangers per exchange: a tick looks at 256.
const MOST_FORGED: f64 = 10_000.0;

impl Faults {
    /// Checks that all of it can be, with so many robots in a flight of so many ticks.
    pub fn check(&self, robots: usize, ticks: u32) -> Result {
        self.check_numbers()?;
        let jumping = self.clocks.jumps.iter().map(|jump| jump.moment.robot).max();
        if let Some(robot) = self.events.largest().max(jumping).filter(|robot| *robot >= robots) {
            let last = robots.saturating_sub(1);
            return Err(Error::usage(format!(
                "there is no robot {robot}: {robots} robots count from 0 to {last}"
            )));
        }
        self.check_keys(robots, ticks)?;
        let jumps = self.clocks.jumps.iter().map(|jump| jump.moment.tick).max();
        if let Some(tick) = self.events.latest().max(jumps).filter(|tick| *tick >= ticks) {
            return Err(Error::usage(format!(
                "nothing happens at tick {tick}: a flight of {ticks} ticks ends before"
            )));
        }
        Ok(())
    }

    /// Checks that the key can change so.
    fn check_keys(&self, robots: usize, ticks: u32) -> Result {
        let refuse = |why: String| Err(Error::usage(why));
        if self.proofs && robots > ROSTER {
            return refuse(format!("--proofs is for up to {ROSTER} robots: each keeps a key of every other"));
        }
        let Some(rekey) = &self.rekey else {
            return if self.expelled.is_empty() {
                Ok(())
            } else {
                refuse("--expel leaves a robot out when the key changes: give --rekey FROM-AT, too".into())
            };
        };
        if let Some(robot) = self.expelled.iter().find(|robot| **robot >= robots) {
            return refuse(format!("there is no robot {robot} to --expel: {robots} robots count from 0 on"));
        }
        if rekey.end >= ticks {
            return refuse(format!(
                "no key changes at tick {}: a flight of {ticks} ticks ends before",
                rekey.end
            ));
        }
        if robots > ROSTER {
            return refuse(format!("--rekey is for up to {ROSTER} robots: each keeps the others' frames"));
        }
        if self.liars.is_some() {
            return refuse("--liars know no other key than the first: leave --rekey out".into());
        }
        Ok(())
    }

    /// Checks that a profile has room for it, with so many robots.
    pub fn check_profile(&self, profile: Profile, robots: usize) -> Result {
        if self.collisions && profile.radio().is_none() {
            return Err(Error::usage(
                "--collisions is for a --profile that a radio carries: dot154, esb32, espnow or p2p57",
            ));
        }
        if self.sybil > 0 && profile.check_robots(robots + self.sybil as usize).is_err() {
            return Err(Error::usage(format!(
                "--sybil {} cannot be on {}: it has no addresses for so many",
                self.sybil,
                profile.name()
            )));
        }
        Ok(())
    }

    /// Checks numbers that have a range.
    fn check_numbers(&self) -> Result {
        let Loss { chance, burst } = self.radio.loss;
        let (noise, bias) = (self.senses.noise, self.senses.bias);
        let shares = [
            ("drop-chance", chance),
            ("corrupt-chance", self.radio.corrupt),
            ("duplicate-chance", self.radio.duplicate),
            ("one-way", self.one_way),
            ("other-model", self.other_models),
            ("skip", self.clocks.skip),
        ];
        if let Some((option, share)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Err(Error::usage(format!("--{option} {share} cannot be: give a share between 0 and 1")));
        }
        let ranges = [
            ("position-noise", noise.position.into(), MOST_NOISE),
            ("velocity-noise", noise.velocity.into(), MOST_NOISE),
            ("position-bias", bias.position.into(), MOST_NOISE),
            ("velocity-bias", bias.velocity.into(), MOST_NOISE),
            ("drift", self.clocks.drift, MOST_DRIFT),
            ("forge", self.forge.into(), MOST_FORGED),
            ("sybil-at", self.sybil_at.into(), MOST_NOISE),
        ];
        let outside = |(_, number, most): &&(&str, f64, f64)| !(0.0..=*most).contains(number);
        if let Some((option, number, most)) = ranges.iter().find(outside) {
            return Err(Error::usage(format!("--{option} {number} cannot be: give between 0 and {most}")));
        }
        if !(burst.is_finite() && burst >= 1.0) {
            return Err(Error::usage(format!("--burst {burst} cannot be: give 1 frame or more")));
        }
        match self.drives.saturation.filter(|most| !(most.is_finite() && *most > 0.0)) {
            Some(most) => Err(Error::usage(format!("--saturation {most} cannot be: give more than 0"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::events::{Events, Moment};

    #[test]
    fn who_is_not_there_and_what_comes_after_the_end_is_told() {
        let kill = |robot, tick| Faults {
            events: Events { kills: vec![Moment { robot, tick }], ..Events::default() },
            ..Faults::default()
        };
        let refused = |faults: &Faults| faults.check(5, 200).unwrap_err().to_string();
        assert!(refused(&kill(5, 1)).contains("there is no robot 5"));
        assert!(refused(&kill(3, 5000)).contains("nothing happens at tick 5000"));
        kill(4, 199).check(5, 200).unwrap();
        assert!(refused(&Faults { forge: 1_000_000, ..Faults::default() }).contains("--forge 1000000"));
    }
}
