//! A mission: a fleet flies through the simulated world and air.

use std::sync::atomic::{AtomicBool, Ordering};

use wdgnn_core::flocking::Motion;

use super::{Fleet, digest::FlightDigest, events::Events};
use crate::{
    error::{Error, Result},
    links::Links,
    start::Condition,
    world,
};

/// What came of a mission.
#[derive(Clone, Debug)]
pub struct Debriefing {
    /// Velocity variation at every tick.
    pub variation: Vec<f64>,
    /// The digest over every command and every parameter.
    pub digest: String,
    /// Frames heard and frames refused, over all robots and ticks.
    pub frames: (u64, u64),
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
}

/// Flies `fleet` from `start`; `lost` is told who is lost on the way.
///
/// # Errors
/// [`Error::Interrupted`] once `interrupted` is set; a robot that does not come back from a reboot.
pub fn fly(
    fleet: &mut dyn Fleet,
    condition: &Condition,
    start: &[Motion],
    period: f32,
    events: &Events,
    interrupted: &AtomicBool,
    lost: &mut dyn FnMut(u32, &str),
) -> Result<Debriefing> {
    let mut motions = start.to_vec();
    let mut digest = FlightDigest::default();
    let mut debriefing = Debriefing { variation: Vec::new(), digest: String::new(), frames: (0, 0) };
    for tick in 0..condition.ticks {
        events.kills_at(tick).for_each(|robot| fleet.kill(robot));
        events.reboots_at(tick).try_for_each(|robot| fleet.reboot(robot))?;
        debriefing.variation.push(world::variation(&motions));
        let links = Links::within(&motions, condition.radius);
        let said = fleet.speak(tick, &motions);
        let heard: Vec<Vec<&[u8]>> = (0..motions.len())
            .map(|robot| {
                let audible = |other: &usize| !events.silent(robot, tick) && !events.silent(*other, tick);
                let others = links.of(robot).iter().map(|&other| other as usize).filter(audible);
                others.filter_map(|other| said[other].as_deref()).collect()
            })
            .collect();
        let outcomes = fleet.hear(&heard);
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        fleet.casualties().iter().for_each(|story| lost(tick, story));
        outcomes.iter().flatten().for_each(|outcome| {
            digest.add(outcome);
            debriefing.frames.0 += u64::from(outcome.heard);
            debriefing.frames.1 += outcome.refused.iter().copied().map(u64::from).sum::<u64>();
        });
        // Who is gone flies on as it was.
        let commands: Vec<[f32; 2]> =
            outcomes.iter().map(|outcome| outcome.map_or([0.0; 2], |outcome| outcome.command)).collect();
        world::step(&mut motions, &commands, period);
    }
    debriefing.digest = digest.finish();
    Ok(debriefing)
}
