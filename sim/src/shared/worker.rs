//! One of the workers that fly a swarm together.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use super::{
    beginning::Beginning,
    board::Post,
    company::{Company, Outcome, Trouble},
    results::{self, Flown},
    snapshot::Snapshots,
    tick::{self, Account},
};
use crate::{
    error::{Error, Result},
    flight::Start,
    swarm::networks::AnyShare,
    world::{Condition, World},
};

/// Draws the start that all workers have a share of. It is kept no longer than it takes to find this one's.
pub type Draw<'a, W> = &'a (dyn Fn() -> Result<Start<W>> + Sync);

/// Makes the swarm that all workers have a share of, at its start.
pub type Make<'a, 's, W> = &'a (dyn Fn() -> Result<AnyShare<'s, <W as World>::Task>> + Sync);

/// Which worker this is, and what all of them fly.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "swarms are told apart by what they do")]
pub struct Worker<'a, 's, W: World> {
    /// Its number.
    pub number: usize,
    /// Carries parcels.
    pub post: &'a dyn Post,
    /// The circumstances.
    pub condition: &'a Condition,
    /// Draws the start.
    pub draw: Draw<'a, W>,
    /// The task.
    pub task: &'a W::Task,
    /// Makes the swarm.
    pub make: Make<'a, 's, W>,
    /// A checksum of all that workers have to agree about, besides what is above.
    pub settings: u64,
    /// For how long it waits for others to be there.
    pub patience: Duration,
    /// Whether it is to stop.
    pub stop: &'a AtomicBool,
    /// Told of every tick before it is flown, and with `true` when everybody goes back to it.
    pub progress: &'a (dyn Fn(u32, bool) + Sync),
}

impl<'s, W: World> Worker<'_, 's, W> {
    /// Flies to the end with all others; goes back to the last snapshot with them when one is lost.
    ///
    /// # Errors
    /// Workers that do not come, or fly something else; what ends a flight.
    pub fn fly(&self) -> Result<Flown> {
        let swarm = (self.make)()?;
        let workers = self.post.board().workers();
        let beginning = Beginning::new((self.draw)()?, swarm.as_ref(), self.number, workers);
        let mut swarm = Some(swarm);
        let mut snapshots = Snapshots::default();
        let mut account = Account::default();
        loop {
            // Who goes back begins with a swarm at its start.
            let swarm = swarm.take().map_or_else(|| (self.make)(), Ok)?;
            match self.fly_an_age(&beginning, swarm, &mut snapshots, &mut account) {
                Ok(flown) => return Ok(flown),
                Err(Trouble::Ended(error)) => return Err(error),
                Err(Trouble::Lost) if self.stop.load(Ordering::Relaxed) => return Err(Error::Interrupted),
                Err(Trouble::Lost) => account.returns += 1,
            }
        }
    }

    /// From when everybody is there to the end, or until somebody is lost.
    fn fly_an_age(
        &self,
        beginning: &Beginning<W>,
        swarm: AnyShare<'s, W::Task>,
        snapshots: &mut Snapshots,
        account: &mut Account,
    ) -> Outcome<Flown> {
        let met = self.post.board().meet(self.patience, self.stop);
        let age = met.map_err(|missing| self.missing(&missing))?;
        let company = Company { number: self.number, age, post: self.post, stop: self.stop };
        let mut sky = beginning.agree(&company, self.settings, swarm, snapshots)?;
        (self.progress)(sky.tick, true);
        for tick in sky.tick..self.condition.ticks {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted.into());
            }
            (self.progress)(tick, false);
            tick::fly(&company, &mut sky, self.task, self.condition, snapshots, account)?;
        }
        results::together(&company, sky, *account)
    }

    fn missing(&self, missing: &[usize]) -> Error {
        if self.stop.load(Ordering::Relaxed) {
            return Error::Interrupted;
        }
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let (of, seconds) = (self.post.board().workers(), self.patience.as_secs());
        let names = names.join(", ");
        Error::Failed(format!(
            "of {of} workers, {names} did not come within {seconds} s: start each with its --worker"
        ))
    }
}
