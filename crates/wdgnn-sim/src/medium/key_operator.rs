//! Key operator that sends a swarm its next group key.
//!
//! It sends one frame per exchange, repeatedly, and only one robot receives it directly.

use std::{ops::Range, sync::LazyLock};

use wdgnn_core::task::NodeId;
use wdgnn_link::security::{
    aes::Aes,
    key::Key,
    key_update::{KeyUpdate, pair_key, personal_key, swarm_key},
    managed_keys::ROSTER_CAPACITY,
};

use super::options::Faults;
use crate::scene::Frame;

/// Master key of simulated swarms. Real operators read theirs from a file.
pub const MASTER: Key = *b"simulated master";

/// Pairwise keys by receiver, then by sender.
static PEER_KEYS: LazyLock<Vec<Vec<Key>>> = LazyLock::new(|| {
    let names = || (0..ROSTER_CAPACITY).map(|name| name as NodeId);
    let personal: Vec<Key> = names().map(|name| personal_key(&MASTER, name)).collect();
    let to = |name| personal.iter().map(|personal| pair_key::<Aes>(personal, name)).collect();
    names().map(to).collect()
});

/// Returns the pairwise keys by which the robot `name` authenticates its peers.
pub fn peer_keys(name: NodeId) -> &'static [Key] {
    PEER_KEYS.get(usize::from(name)).map_or(&[], Vec::as_slice)
}

/// Epoch of the new group key.
pub const EPOCH: u8 = 1;

/// Returns one key-update frame per remaining robot; the new key is used from tick `at` on.
pub fn update_frames(remaining: impl Iterator<Item = usize>, at: u32, tag: usize) -> Vec<Frame> {
    let key = swarm_key(&MASTER, EPOCH);
    let frame = |robot: usize| {
        let mut frame = vec![0; KeyUpdate::bytes(tag)];
        let name = robot as NodeId;
        let notice = KeyUpdate { name, epoch: EPOCH, at };
        notice.write(&personal_key(&MASTER, name), &key, tag, &mut frame).map(|_| frame.into())
    };
    remaining.filter_map(frame).collect()
}

/// Key operator of a swarm.
#[derive(Clone, Debug)]
pub struct KeyOperator {
    frames: Vec<Frame>,
    /// Robot that receives the operator's frames.
    pub receiver: usize,
    active: Range<u32>,
    sent: usize,
}

impl KeyOperator {
    /// Creates the operator of a swarm, if its key is to change.
    ///
    /// Authentication tags have `tag` bytes.
    pub fn new(faults: &Faults, tag: usize, robots: usize) -> Option<Self> {
        let active = faults.rekey.clone()?;
        let remaining = || (0..robots).filter(|robot| !faults.expel.contains(robot));
        Some(Self {
            frames: update_frames(remaining(), active.end, tag),
            receiver: remaining().next()?,
            active,
            sent: 0,
        })
    }

    /// Returns the operator's frame for an exchange.
    pub fn next_frame(&mut self, tick: u32) -> Option<Frame> {
        let frame =
            self.frames.get(self.sent % self.frames.len().max(1)).filter(|_| self.active.contains(&tick))?;
        self.sent += 1;
        Some(frame.clone())
    }
}
