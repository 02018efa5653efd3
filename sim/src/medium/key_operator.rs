//! The operator's station: it brings a swarm its next key, one frame in every exchange, over and over, to the one robot that hears it.

use std::{ops::Range, sync::LazyLock};

use wdgnn_core::task::NodeId;
use wdgnn_link::security::{
    aes::Aes,
    group_key::ROSTER,
    key::Key,
    key_update::{Notice, pair_key, personal_key, swarm_key},
};

use super::options::Faults;
use crate::scene::Frame;

/// A simulated operator's secret. Real ones have their own, from a file.
pub const MASTER: Key = *b"simulated master";

/// The keys by which every robot proves its name to every other, by the latter's name and then by the former's.
static ROSTERS: LazyLock<Vec<Vec<Key>>> = LazyLock::new(|| {
    let names = || (0..ROSTER).map(|name| name as NodeId);
    let personal: Vec<Key> = names().map(|name| personal_key(&MASTER, name)).collect();
    let to = |name| personal.iter().map(|personal| pair_key::<Aes>(personal, name)).collect();
    names().map(to).collect()
});

/// What a simulated operator tells the robot with this name: the keys by which others prove their names to it.
pub fn roster(name: NodeId) -> &'static [Key] {
    ROSTERS.get(usize::from(name)).map_or(&[], Vec::as_slice)
}

/// The epoch of the key that it brings.
pub const EPOCH: u8 = 1;

/// The frames that bring those who stay the swarm's next key, which is used from a tick on.
pub fn frames(staying: impl Iterator<Item = usize>, at: u32, tag: usize) -> Vec<Frame> {
    let key = swarm_key(&MASTER, EPOCH);
    let frame = |robot: usize| {
        let mut frame = vec![0; Notice::bytes(tag)];
        let name = robot as NodeId;
        let notice = Notice { name, epoch: EPOCH, at };
        notice.write(&personal_key(&MASTER, name), &key, tag, &mut frame).map(|_| frame.into())
    };
    staying.filter_map(frame).collect()
}

/// The operator's station.
#[derive(Clone, Debug)]
pub struct KeyOperator {
    frames: Vec<Frame>,
    /// Who hears it.
    pub listener: usize,
    speaks: Range<u32>,
    said: usize,
}

impl KeyOperator {
    /// The station of a swarm of so many robots whose tags have so many bytes, if its key is to change.
    pub fn new(faults: &Faults, tag: usize, robots: usize) -> Option<Self> {
        let speaks = faults.rekey.clone()?;
        let staying = || (0..robots).filter(|robot| !faults.expelled.contains(robot));
        Some(Self {
            frames: frames(staying(), speaks.end, tag),
            listener: staying().next()?,
            speaks,
            said: 0,
        })
    }

    /// What it says in an exchange.
    pub fn say(&mut self, tick: u32) -> Option<Frame> {
        let frame =
            self.frames.get(self.said % self.frames.len().max(1)).filter(|_| self.speaks.contains(&tick))?;
        self.said += 1;
        Some(frame.clone())
    }
}
