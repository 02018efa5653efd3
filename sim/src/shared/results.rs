//! What came of a flight, put together from what all workers have.

use wdgnn_core::{
    refusal::{Refusal, Refusals},
    task::{Numbers as _, State},
};

use super::{
    checksum::ChecksumShare,
    company::{Company, FAREWELL, Outcome, RESULTS, Trouble, unreadable},
    sky::Sky,
    tick::Account,
};
use crate::{
    passing,
    world::{OutputOf, StateOf, World},
};

/// What came of a flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flown {
    /// The digest of everybody.
    pub digest: String,
    /// Frames heard, by everybody.
    pub heard: u64,
    /// Those refused.
    pub refused: Refusals,
    /// The score in the last tick, at the first worker: there everybody comes together, this once.
    pub score: Option<f64>,
    /// What this worker did.
    pub own: Account,
}

/// Puts together what all workers have.
///
/// # Errors
/// A worker that is lost.
pub fn together<W: World>(company: &Company<'_>, sky: Sky<'_, W>, own: Account) -> Outcome<Flown> {
    let Sky { world, swarm, tick, checksum, last, robots, .. } = sky;
    let tally = swarm.tally().unwrap_or_default();
    let share = checksum.finish(OutputOf::<W>::COUNT + swarm.wide_numbers());
    drop(swarm);
    let parcel = |to: usize| {
        let mut bytes = Vec::new();
        passing::write(&mut bytes, |passage| {
            passage.long(&mut share.clone());
            passage.long(&mut tally.heard.clone());
            for refusal in Refusal::ALL {
                passage.word(&mut tally.refused.of(*refusal));
            }
            // The first worker tells how things are at the end.
            for (robot, state) in last.iter().filter(|_| to == 0) {
                passage.word(&mut robot.clone());
                state.clone().pass(passage);
            }
        });
        (to, bytes)
    };
    let parcels: Vec<_> = company.others().map(parcel).collect();
    let first = company.number == 0;
    let mut states = vec![StateOf::<W>::zero(); if first { robots } else { 0 }];
    for (robot, state) in last.iter().filter(|_| first) {
        states[*robot as usize] = *state;
    }
    let mut flown =
        Flown { digest: String::new(), heard: tally.heard, refused: tally.refused, score: None, own };
    let mut shares = vec![share];
    for (from, bytes) in company.swap(RESULTS, parcels)? {
        shares.push(add(&mut flown, &mut states, &bytes).ok_or_else(|| unreadable(from))?);
    }
    flown.digest = ChecksumShare::digest(shares);
    flown.score = first.then(|| world.score(tick.saturating_sub(1), &states));
    // Who leaves before everybody has this would be missed; who leaves now is not.
    match company.swap(FAREWELL, company.others().map(|to| (to, Vec::new()))) {
        Ok(_) | Err(Trouble::Lost) => Ok(flown),
        Err(Trouble::Ended(error)) => Err(error.into()),
    }
}

/// Adds what another worker has, and returns its share of the digest.
fn add<S: State>(flown: &mut Flown, states: &mut [S], mut bytes: &[u8]) -> Option<u64> {
    let mut share = 0;
    let mut good = passing::read(&mut bytes, |passage| {
        let mut heard = 0;
        passage.long(&mut share);
        passage.long(&mut heard);
        flown.heard += heard;
        for refusal in Refusal::ALL {
            let mut count = 0;
            passage.word(&mut count);
            flown.refused.count_many(*refusal, count);
        }
    });
    while good && !bytes.is_empty() {
        good = passing::read(&mut bytes, |passage| {
            let (mut robot, mut state) = (0, S::zero());
            passage.word(&mut robot);
            state.pass(passage);
            match states.get_mut(robot as usize) {
                Some(place) => *place = state,
                None => passage.refuse(),
            }
        });
    }
    good.then_some(share)
}
