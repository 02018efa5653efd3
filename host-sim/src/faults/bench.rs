//! The bench: the same swarms, flown with and without a fault.

use rayon::prelude::*;

use crate::{
    air::{
        medium::odd_ones_out,
        options::{Faults, Trust},
        tally::Tally,
    },
    controllers::{Controller, Fleet},
    error::Result,
    flight::{Flight, Observer, Scene, fly},
    profiles::Profile,
    seeds::{Purpose, generator},
    start::{Condition, start},
    world::variation_of,
};

/// What is flown.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The models and the profile.
    pub fleet: Fleet,
    /// The condition.
    pub condition: Condition,
    /// How many swarms per row.
    pub swarms: usize,
    /// Seed of the swarms and of the faults.
    pub seed: u64,
    /// Whom robots believe.
    pub trust: Trust,
}

/// One flight, with every robot's velocity at every tick.
#[derive(Clone, Debug)]
pub struct Sortie {
    /// What was measured.
    pub flight: Flight,
    velocities: Vec<Vec<[f32; 2]>>,
}

impl Sortie {
    /// Total velocity variation of those robots that `odd` does not leave out.
    #[must_use]
    pub fn total(&self, odd: &[bool]) -> f64 {
        self.velocities.iter().map(|velocities| variation(velocities, odd)).sum()
    }

    /// Velocity variation of the same at the end.
    #[must_use]
    pub fn last(&self, odd: &[bool]) -> f64 {
        self.velocities.last().map_or(0.0, |velocities| variation(velocities, odd))
    }
}

fn variation(velocities: &[[f32; 2]], odd: &[bool]) -> f64 {
    let counted = velocities.iter().zip(odd).filter(|(_, odd)| !**odd);
    variation_of(counted.map(|(velocity, _)| *velocity))
}

/// Flights of all swarms under one fault.
#[derive(Clone, Debug)]
pub struct Sorties {
    /// One per swarm.
    pub sorties: Vec<Sortie>,
    faults: Faults,
}

impl Sorties {
    /// Cost against a fault-free run of the same swarms.
    #[must_use]
    pub fn ratio(&self, without: &Self) -> f64 {
        let total = |flown: &Self| -> f64 {
            let numbered = (0..).zip(&flown.sorties);
            numbered.map(|(swarm, sortie)| sortie.total(&self.odd(swarm, sortie))).sum()
        };
        total(self) / total(without)
    }

    /// Mean total velocity variation.
    #[must_use]
    pub fn total(&self) -> f64 {
        let sum: f64 = self.sorties.iter().map(|sortie| sortie.flight.total()).sum();
        sum / self.sorties.len() as f64
    }

    /// Mean velocity variation at the end.
    #[must_use]
    pub fn last(&self) -> f64 {
        let numbered = (0..).zip(&self.sorties);
        let sum: f64 = numbered.map(|(swarm, sortie)| sortie.last(&self.odd(swarm, sortie))).sum();
        sum / self.sorties.len() as f64
    }

    /// Mean disagreement of parameters at the end.
    #[must_use]
    pub fn disagreement(&self) -> f64 {
        let sum: f64 = self.sorties.iter().filter_map(|sortie| sortie.flight.disagreement).sum();
        sum / self.sorties.len() as f64
    }

    /// Whether every robot did the same as in another run, to the last bit.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        let pairs = self.sorties.iter().zip(&other.sorties);
        self.sorties.len() == other.sorties.len()
            && pairs.into_iter().all(|(a, b)| a.velocities == b.velocities)
    }

    /// What was counted, over all swarms.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        self.sorties
            .iter()
            .filter_map(|sortie| sortie.flight.tally.as_ref())
            .for_each(|tally| sum.add(tally));
        sum
    }

    fn odd(&self, swarm: u64, sortie: &Sortie) -> Vec<bool> {
        odd_ones_out(&self.faults, swarm, sortie.velocities.first().map_or(0, Vec::len))
    }
}

impl Bench {
    /// A bench with the model that comes with the program for `profile`.
    ///
    /// # Errors
    /// Models that do not fit, conditions that cannot be.
    pub fn new(profile: Profile, robots: usize, swarms: usize, seed: u64, trust: Trust) -> Result<Self> {
        let condition = Condition { robots, ..Condition::PAPER };
        condition.check()?;
        Ok(Self { fleet: Fleet::of_profile(profile)?, condition, swarms, seed, trust })
    }

    /// Flies all swarms with a fault.
    ///
    /// # Errors
    /// Models that do not fit, conditions that cannot be.
    pub fn fly(&self, faults: &Faults) -> Result<Sorties> {
        let faults = Faults { seed: self.seed, trust: self.trust, ..faults.clone() };
        let fleet = Fleet { faults: Some(faults.clone()), ..self.fleet.clone() };
        let period = fleet.task()?.period;
        let sorties = (0..self.swarms as u64)
            .into_par_iter()
            .map(|swarm| {
                let start = start(&self.condition, &mut generator(self.seed, Purpose::Testing, swarm))?;
                let mut pilot = fleet.pilot(Controller::WdGnnOnline, &start, swarm)?;
                let mut recorder = Recorder::default();
                let flight = fly(&self.condition, &start, period, pilot.as_mut(), &mut recorder);
                Ok(Sortie { flight, velocities: recorder.0 })
            })
            .collect::<Result<_>>()?;
        Ok(Sorties { sorties, faults })
    }

    /// The same bench with another length of flight and no more than so many swarms.
    #[must_use]
    pub fn longer(&self, ticks: u32, swarms: usize) -> Self {
        let condition = Condition { ticks, ..self.condition };
        Self { condition, swarms: self.swarms.min(swarms), ..self.clone() }
    }

    /// Exchanges in a flight.
    #[must_use]
    pub fn exchanges(&self) -> u32 {
        self.condition.ticks.div_ceil(self.fleet.profile.exchange())
    }
}

#[derive(Default)]
struct Recorder(Vec<Vec<[f32; 2]>>);

impl Observer for Recorder {
    fn see(&mut self, scene: &Scene<'_>, _: &[[f32; 2]]) {
        self.0.push(scene.motions.iter().map(|motion| motion.velocity).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_left_out_does_not_count() {
        let velocities = [[1.0, 0.0], [100.0, 100.0], [3.0, 0.0]];
        assert!((variation(&velocities, &[false, true, false]) - 1.0).abs() < 1.0e-12);
    }
}
