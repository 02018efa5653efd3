//! A worker among others, for as long as all of them are there.

use std::sync::atomic::AtomicBool;

use super::board::{Address, Lost, Post};
use crate::error::Error;

/// Parcels besides those of ticks.
pub const ROLL_CALL: u64 = u64::MAX;
/// Shares of a snapshot, for whoever has lost his own.
pub const SHARES: u64 = u64::MAX - 1;
/// What came of a flight.
pub const RESULTS: u64 = u64::MAX - 2;
/// Everybody has that.
pub const FAREWELL: u64 = u64::MAX - 3;

/// Which worker this is, and how it reaches the others.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "posts are told apart by where they carry parcels")]
pub struct Company<'a> {
    /// Its number.
    pub number: usize,
    /// All workers' lives.
    pub age: u64,
    /// Carries parcels.
    pub post: &'a dyn Post,
    /// Whether it is to stop.
    pub stop: &'a AtomicBool,
}

/// Why a flight does not go on.
#[derive(Debug)]
pub enum Trouble {
    /// A worker was lost.
    Lost,
    /// For good.
    Ended(Error),
}

impl From<Lost> for Trouble {
    fn from(Lost: Lost) -> Self {
        Self::Lost
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Ended(error)
    }
}

/// What comes of what is done with others.
pub type Outcome<T = ()> = Result<T, Trouble>;

impl Company<'_> {
    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.post.board().workers()
    }

    /// All but this one.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.number;
        (0..self.workers()).filter(move |worker| *worker != own)
    }

    /// Sends a parcel to each of some workers, and waits for theirs.
    ///
    /// # Errors
    /// When one of the workers is lost.
    pub fn swap(
        &self,
        step: u64,
        parcels: impl IntoIterator<Item = (usize, Vec<u8>)>,
    ) -> Outcome<Vec<(usize, Vec<u8>)>> {
        let Self { number, age, post, stop } = *self;
        let from: Vec<usize> = parcels
            .into_iter()
            .map(|(to, parcel)| {
                post.send(Address { age, from: number, to, step }, parcel);
                to
            })
            .collect();
        let take = |from| Ok((from, post.board().take(Address { age, from, to: number, step }, stop)?));
        from.into_iter().map(take).collect()
    }
}

/// What a worker sent makes no sense.
#[must_use]
pub fn unreadable(from: usize) -> Error {
    Error::Failed(format!("what worker {from} sent cannot be read: is it the same program?"))
}
