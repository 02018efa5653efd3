//! Where a worker begins: at its share of the start, or of the last snapshot that all workers have together.

use super::{
    company::{Company, Outcome, ROLL_CALL, SHARES},
    crowd::Crowd,
    cut::Cut,
    sky::Sky,
    snapshot::{RollCall, Snapshots, last_common, sender},
};
use crate::{
    error::Error,
    flight::Start,
    passing,
    swarm::{networks::AnyShare, share::Share},
    world::{StateOf, World},
};

/// A worker's share of the start: the rest of it is forgotten.
#[derive(Clone, Debug)]
pub struct Beginning<W: World> {
    world: W,
    robots: usize,
    cut: Cut,
    crowd: Crowd<StateOf<W>>,
}

impl<W: World> Beginning<W> {
    /// The share of worker `number` of so many in a flight of `swarm`; all of it, where what happens depends on everybody.
    #[must_use]
    pub fn new(start: Start<W>, swarm: &dyn Share<W::Task>, number: usize, workers: usize) -> Self {
        let Start { world, states, .. } = start;
        let whole = swarm.sees_everybody() || !world.is_local();
        let places: Vec<[f32; 3]> = states.iter().map(W::place).collect();
        let cut = Cut::new(workers, swarm.settled(), &places);
        let mine = |robot: usize| cut.owner(robot, &places[robot]) == number;
        let crowd = Crowd::of(&states, |robot| whole || mine(robot), mine);
        Self { world, robots: states.len(), cut, crowd }
    }

    /// The sky before the first tick, for this swarm.
    fn empty<'s>(&self, swarm: AnyShare<'s, W::Task>, number: usize) -> Sky<'s, W> {
        Sky::empty(self.world.clone(), swarm, self.cut.clone(), self.robots, number == 0)
    }

    /// Agrees with everybody where to begin. `settings` is a checksum of everything that all have to agree about.
    ///
    /// # Errors
    /// A worker that is lost, or flies something else.
    pub fn agree<'s>(
        &self,
        company: &Company<'_>,
        settings: u64,
        swarm: AnyShare<'s, W::Task>,
        snapshots: &mut Snapshots,
    ) -> Outcome<Sky<'s, W>> {
        let number = company.number;
        let tick = call_the_roll(company, settings, snapshots)?;
        let sky = self.empty(swarm, number);
        let Some(mut bytes) = snapshots.of(number, tick) else { return Ok(sky.with(self.crowd.clone())) };
        let mut sky = sky.with(Crowd::of(&[], |_| false, |_| false));
        if !(passing::read(&mut bytes, |passage| sky.pass(passage)) && bytes.is_empty()) {
            return Err(Error::Failed(format!("the snapshot of tick {tick} cannot be read")).into());
        }
        Ok(sky)
    }
}

/// Finds the tick from which everybody can go on, and gets everybody's share of it to where it belongs.
fn call_the_roll(company: &Company<'_>, settings: u64, snapshots: &mut Snapshots) -> Outcome<u32> {
    let number = company.number;
    let mut own = RollCall { settings, shares: snapshots.list() };
    let mut bytes = Vec::new();
    passing::write(&mut bytes, |passage| own.pass(passage));
    let mut calls = vec![own; company.workers()];
    for (from, bytes) in company.swap(ROLL_CALL, company.others().map(|to| (to, bytes.clone())))? {
        let good = passing::read(&mut &bytes[..], |passage| calls[from].pass(passage));
        if !good || calls[from].settings != settings {
            return Err(Error::usage(format!(
                "worker {from} flies something else than worker {number}: give all of them the same options"
            ))
            .into());
        }
    }
    let tick = last_common(&calls);
    let share_for = |to: usize| {
        let share = snapshots.of(to, tick).filter(|_| sender(&calls, to, tick) == Some(number));
        (to, share.unwrap_or_default().to_vec())
    };
    let parcels: Vec<(usize, Vec<u8>)> = company.others().map(share_for).collect();
    for (from, share) in company.swap(SHARES, parcels)? {
        if sender(&calls, number, tick) == Some(from) {
            snapshots.keep(number, tick, share);
        }
    }
    snapshots.forget_after(tick);
    Ok(tick)
}
