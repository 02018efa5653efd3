//! A mission: a fleet flies through the simulated world and air.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use firmware::emulation::Outcome;
use wdgnn_core::{flocking::Motion, refusal::Refusal};

use super::{Fleet, air::FleetAir, digest::FlightDigest};
use crate::{
    error::{Error, Result},
    flight::Scene,
    links::Links,
    profiles::FlownCodec,
    start::Condition,
    world,
};

/// What came of a mission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Debriefing {
    /// Velocity variation at every tick.
    pub variation: Vec<f64>,
    /// The digest over every command and every parameter.
    pub digest: String,
    /// Frames heard over all robots and ticks, refused ones included.
    pub heard: u64,
    /// Frames refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

impl Debriefing {
    /// Total velocity variation.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.variation.iter().sum()
    }

    /// Velocity variation at the last tick.
    #[must_use]
    pub fn last(&self) -> f64 {
        self.variation.last().copied().unwrap_or_default()
    }

    fn count(&mut self, outcome: &Outcome) {
        self.heard += u64::from(outcome.heard);
        for (refusal, count) in
            Refusal::ALL.iter().copied().zip(outcome.refused).filter(|(_, count)| *count > 0)
        {
            *self.refused.entry(refusal.name()).or_default() += u64::from(count);
        }
    }
}

/// Flies `fleet` from `start` through `air`; `lost` is told who is lost on the way.
///
/// # Errors
/// [`Error::Interrupted`] once `interrupted` is set; a robot that does not come back from a reboot, or has another key.
pub fn fly<C: FlownCodec>(
    fleet: &mut dyn Fleet,
    air: &mut FleetAir<'_, C>,
    condition: &Condition,
    start: &[Motion],
    period: f32,
    interrupted: &AtomicBool,
    lost: &mut dyn FnMut(u32, &str),
) -> Result<Debriefing> {
    let mut motions = start.to_vec();
    let mut digest = FlightDigest::default();
    let mut debriefing = Debriefing::default();
    for tick in 0..condition.ticks {
        air.events().kills_at(tick).for_each(|robot| fleet.kill(robot));
        air.events().reboots_at(tick).try_for_each(|robot| fleet.reboot(robot))?;
        debriefing.variation.push(world::variation(&motions));
        let links = Links::within(&motions, condition.radius);
        let said = fleet.speak(&air.clocks(tick), &air.sense(&motions));
        let heard = air.carry(&Scene { tick, motions: &motions, links: &links }, said)?;
        let outcomes = fleet.hear(&heard);
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        fleet.casualties().iter().for_each(|story| lost(tick, story));
        outcomes.iter().flatten().for_each(|outcome| {
            digest.add(outcome);
            debriefing.count(outcome);
        });
        // Who is gone flies on as it was.
        let commands: Vec<[f32; 2]> =
            outcomes.iter().map(|outcome| outcome.map_or([0.0; 2], |outcome| outcome.command)).collect();
        world::step(&mut motions, &commands, period);
    }
    debriefing.digest = digest.finish();
    Ok(debriefing)
}
