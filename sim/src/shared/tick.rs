//! One tick with everybody who is near.

use std::time::Instant;

use wdgnn_core::task::Numbers as _;

use super::{
    company::{Company, Outcome, unreadable},
    cut::Sample,
    parcel::{self, Parcel},
    sky::Sky,
    snapshot::Snapshots,
};
use crate::{
    error::Error,
    passing,
    world::{Condition, OutputOf, World},
};

/// Every so many ticks a snapshot is made, and strips are cut anew.
pub const EVERY: u32 = 50;

/// Strips are found to be near with a little more than a radius: whatever is rounded, nobody within it is left out.
const MARGIN: f32 = 1.000_1;

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Parcels that it sent in ticks.
    pub parcels: u64,
    /// Their bytes, without snapshots.
    pub bytes: u64,
    /// Bytes of snapshots that it sent.
    pub snapshots: u64,
    /// Robots that it gave away.
    pub given: u64,
    /// Robots of others' that it was told of.
    pub told: u64,
    /// Robots that it flew, summed over ticks.
    pub flown: u64,
    /// Seconds that it waited for others' parcels.
    pub waited: f64,
    /// How often everybody went back to a snapshot.
    pub returns: u32,
}

/// Flies a tick.
///
/// # Errors
/// A worker that is lost, a robot that went too far, what ends a flight.
pub fn fly<W: World>(
    company: &Company<'_>,
    sky: &mut Sky<'_, W>,
    task: &W::Task,
    condition: &Condition,
    snapshots: &mut Snapshots,
    account: &mut Account,
) -> Outcome {
    let (tick, step) = (sky.tick, u64::from(sky.tick) * 2);
    let balances = tick.is_multiple_of(EVERY);
    // Whoever flies alone has nobody to go back with, and where robots cannot be passed, everybody goes back to the start.
    if balances && tick > 0 && company.workers() > 1 && !sky.cut.settles(sky.robots) {
        let mut share = Vec::new();
        passing::write(&mut share, |passage| sky.pass(passage));
        snapshots.keep(company.number, tick, share);
    }
    sky.speak()?;
    let own_sample = balances.then(|| sky.sample());
    let parcels = pack(company, sky, condition, own_sample.as_ref(), snapshots, account)?;
    let began = Instant::now();
    let arrived = company.swap(step, parcels)?;
    account.waited += began.elapsed().as_secs_f64();
    let mut samples = vec![own_sample.unwrap_or_default(); company.workers()];
    let mut told = Vec::new();
    for (from, bytes) in arrived {
        let opened = parcel::open(&bytes, sky.robots, sky.swarm.as_mut(), |robot| told.push(robot));
        let (sample, share) = opened.ok_or_else(|| unreadable(from))?;
        samples[from] = sample.unwrap_or_default();
        if let Some(share) = share {
            snapshots.keep(from, tick, share.to_vec());
        }
    }
    account.told += told.len() as u64;
    if !sky.crowd.hear_of(told) {
        return Err(Error::Failed("two workers tell of one robot: are they the same program?".into()).into());
    }
    sky.listen(condition)?;
    // Others count on every robot until it is said to end.
    if let Some(story) = sky.swarm.lost().pop() {
        return Err(Error::Failed(story).into());
    }
    if sky.whole {
        swap_commands(company, sky, step + 1)?;
    }
    sky.go(task, tick + 1 == condition.ticks);
    if balances {
        sky.cut.balance(&samples);
    }
    // Everybody has sent a parcel of this tick, so that everybody has got all those of the one before: nobody goes back any further.
    if tick > EVERY && tick % EVERY == 1 {
        snapshots.forget_before(tick - 1);
    }
    Ok(())
}

/// What everybody nearby is told: of robots near its strip, and whole robots that have flown into it.
fn pack<W: World>(
    company: &Company<'_>,
    sky: &mut Sky<'_, W>,
    condition: &Condition,
    sample: Option<&Sample>,
    snapshots: &Snapshots,
    account: &mut Account,
) -> Outcome<Vec<(usize, Vec<u8>)>> {
    let (own, tick, radius) = (company.number, sky.tick, condition.radius * MARGIN);
    let next = (own + 1) % company.workers();
    let before = account.snapshots;
    // In the first tick after the cut was made anew, robots go anywhere.
    let everybody = sky.whole || tick % EVERY <= 1;
    let mut parcels: Vec<Option<Parcel>> = vec![None; company.workers()];
    for to in company.others().filter(|to| everybody || sky.cut.close(own, *to, 2.0 * radius)) {
        let share = snapshots.of(own, tick).filter(|_| to == next);
        account.snapshots += share.map_or(0, <[u8]>::len) as u64;
        parcels[to] = Some(Parcel::new(sample, share));
    }
    for row in 0..sky.crowd.len() {
        if !sky.crowd.mine[row] {
            continue;
        }
        account.flown += 1;
        let robot = sky.crowd.numbers[row] as usize;
        let owner = sky.cut.owner(robot, &sky.places[row]);
        for to in sky.told(row, radius).filter(|to| *to != own) {
            let Some(parcel) = &mut parcels[to] else {
                return Err(Error::usage(format!(
                    "robot {robot} went farther than the radio's range in tick {tick}: workers do not follow, fly it in one process"
                ))
                .into());
            };
            parcel.tell(robot, sky.crowd.states[row], to == owner, sky.swarm.as_mut());
        }
        if owner != own {
            sky.crowd.mine[row] = false;
            sky.swarm.give(robot, false);
            account.given += 1;
        }
    }
    let parcels: Vec<(usize, Vec<u8>)> =
        parcels.into_iter().enumerate().filter_map(|(to, parcel)| Some((to, parcel?.seal()))).collect();
    account.parcels += parcels.len() as u64;
    let bytes: usize = parcels.iter().map(|(_, parcel)| parcel.len()).sum();
    account.bytes += bytes as u64 + before - account.snapshots;
    Ok(parcels)
}

/// Where a world is to be seen as a whole, everybody is told what everybody does.
fn swap_commands<W: World>(company: &Company<'_>, sky: &mut Sky<'_, W>, step: u64) -> Outcome {
    let mut bytes = Vec::new();
    passing::write(&mut bytes, |passage| {
        for row in sky.crowd.own() {
            passage.word(&mut sky.crowd.numbers[row].clone());
            passage.numbers(sky.commands[row].as_mut());
        }
    });
    for (from, bytes) in company.swap(step, company.others().map(|to| (to, bytes.clone())))? {
        let mut bytes = &bytes[..];
        while !bytes.is_empty() {
            let (mut robot, mut command) = (0, OutputOf::<W>::ZERO);
            let good = passing::read(&mut bytes, |passage| {
                passage.word(&mut robot);
                passage.numbers(command.as_mut());
            });
            // Everybody is known: rows are numbers.
            let place = sky.commands.get_mut(robot as usize).filter(|_| good);
            *place.ok_or_else(|| unreadable(from))? = command;
        }
    }
    Ok(())
}
