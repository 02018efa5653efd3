//! Where parcels wait for each other, and where it is known who is there.
//!
//! Every worker has a life of its own, a number that it draws when it starts. All of them together name an **age**: when a worker is lost
//! and another one takes its place, a new age begins, and what was sent in the old one is nobody's any more.

use std::{
    collections::HashMap,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// So often somebody who waits looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// A worker was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

/// On which parcel it says so: from whom to whom, in which age, and which of all that go between these two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// All workers' lives.
    pub age: u64,
    /// Who sends it.
    pub from: usize,
    /// Who gets it.
    pub to: usize,
    /// Which one it is.
    pub step: u64,
}

/// Whoever carries parcels to others' boards.
pub trait Post: Sync {
    /// Where parcels for this worker arrive.
    fn board(&self) -> &Board;

    /// Sends a parcel. Whether it arrives is told by the board of whoever waits for it.
    fn send(&self, address: Address, parcel: Vec<u8>);
}

/// A board.
#[derive(Debug)]
pub struct Board {
    pinned: Mutex<Pinned>,
    changed: Condvar,
}

#[derive(Debug)]
struct Pinned {
    /// Every worker's life, of those who are there.
    lives: Vec<Option<u64>>,
    parcels: HashMap<Address, Vec<u8>>,
}

impl Pinned {
    /// The age that it is, if everybody is there.
    fn age(&self) -> Option<u64> {
        // FNV-1a over everybody's life.
        self.lives.iter().try_fold(0xcbf2_9ce4_8422_2325, |age: u64, life| {
            Some(
                life.as_ref()?
                    .to_le_bytes()
                    .iter()
                    .fold(age, |age, byte| (age ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)),
            )
        })
    }
}

impl Board {
    /// A board for so many workers, of whom nobody is there yet.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        let pinned = Pinned { lives: vec![None; workers], parcels: HashMap::new() };
        Self { pinned: Mutex::new(pinned), changed: Condvar::new() }
    }

    fn pinned(&self) -> MutexGuard<'_, Pinned> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes, but not for so long that nobody would see that it is to stop.
    fn wait<'a>(&self, pinned: MutexGuard<'a, Pinned>, most: Duration) -> MutexGuard<'a, Pinned> {
        self.changed.wait_timeout(pinned, most.min(LOOK)).unwrap_or_else(PoisonError::into_inner).0
    }

    /// How many workers there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.pinned().lives.len()
    }

    /// A worker is there.
    pub fn join(&self, worker: usize, life: u64) {
        if let Some(place) = self.pinned().lives.get_mut(worker) {
            *place = Some(life);
        }
        self.changed.notify_all();
    }

    /// A worker's life has ended.
    pub fn leave(&self, worker: usize, life: u64) {
        if let Some(place) = self.pinned().lives.get_mut(worker) {
            // Another one may have taken its place already.
            place.take_if(|there| *there == life);
        }
        self.changed.notify_all();
    }

    /// A parcel has arrived.
    pub fn pin(&self, address: Address, parcel: Vec<u8>) {
        self.pinned().parcels.insert(address, parcel);
        self.changed.notify_all();
    }

    /// Waits until everybody is there, and tells the age; or who is missing when patience has come to its end, or when it is to `stop`.
    ///
    /// # Errors
    /// The numbers of those who are missing.
    pub fn meet(&self, patience: Duration, stop: &AtomicBool) -> Result<u64, Vec<usize>> {
        let end = Instant::now() + patience;
        let mut pinned = self.pinned();
        loop {
            if let Some(age) = pinned.age() {
                pinned.parcels.retain(|address, _| address.age == age);
                return Ok(age);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                let missing = pinned.lives.iter().enumerate().filter(|(_, life)| life.is_none());
                return Err(missing.map(|(worker, _)| worker).collect());
            }
            pinned = self.wait(pinned, left);
        }
    }

    /// Waits for a parcel of the present age.
    ///
    /// # Errors
    /// [`Lost`] when the age has come to its end, or when it is to `stop`.
    pub fn take(&self, address: Address, stop: &AtomicBool) -> Result<Vec<u8>, Lost> {
        let mut pinned = self.pinned();
        loop {
            if let Some(parcel) = pinned.parcels.remove(&address) {
                return Ok(parcel);
            }
            if stop.load(Ordering::Relaxed) || pinned.age() != Some(address.age) {
                return Err(Lost);
            }
            pinned = self.wait(pinned, LOOK);
        }
    }
}

/// All workers in one process have one board.
impl Post for Board {
    fn board(&self) -> &Board {
        self
    }

    fn send(&self, address: Address, parcel: Vec<u8>) {
        self.pin(address, parcel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static GO: AtomicBool = AtomicBool::new(false);

    fn address(age: u64) -> Address {
        Address { age, from: 0, to: 1, step: 7 }
    }

    #[test]
    fn who_is_missing_is_told_and_a_new_life_is_a_new_age() {
        let board = Board::new(2);
        board.join(0, 5);
        assert_eq!(board.meet(Duration::ZERO, &GO), Err(vec![1]));
        board.join(1, 6);
        let first = board.meet(Duration::ZERO, &GO).unwrap();
        board.pin(address(first), vec![1]);
        board.leave(1, 6);
        assert_eq!(board.take(address(first), &GO), Ok(vec![1]), "what has arrived has arrived");
        assert_eq!(board.take(address(first), &GO), Err(Lost));
        board.pin(address(first), vec![1]);
        board.join(1, 7);
        board.leave(1, 6);
        let second = board.meet(Duration::ZERO, &GO).unwrap();
        assert_ne!(first, second);
        assert_eq!(board.take(address(first), &GO), Err(Lost), "of an age that has ended");
    }

    #[test]
    fn a_parcel_is_waited_for() {
        let board = Board::new(1);
        board.join(0, 1);
        let age = board.meet(Duration::ZERO, &GO).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| board.take(address(age), &GO));
            board.pin(address(age), vec![3]);
            assert_eq!(waits.join().unwrap(), Ok(vec![3]));
        });
    }
}
