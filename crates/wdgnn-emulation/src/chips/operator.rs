//! Operator of a swarm of chips: provisioning before the run, and a key change through one robot's
//! companion, as with `firmware/companion.py`.

use std::ops::Range;

use wdgnn_core::task::NodeId;
use wdgnn_link::{
    encoding::half::MAX_TAG_LEN,
    security::{key::Key, key_update::personal_key},
};
use wdgnn_protocol::line::CHECKSUM;

use crate::{
    medium::{
        any_link::OwnKeys,
        key_operator::{self, MASTER},
    },
    scene::Frame,
};

/// Ticks between two key frames.
const EVERY: u32 = 10;

/// Appends a checksum to the content of a page from an offset on.
fn sealed(page: &mut Vec<u8>, from: usize) {
    let seal = CHECKSUM.checksum(&page[from..]).to_le_bytes();
    page.extend(seal);
}

/// Returns the provisioning page of a robot in a swarm
/// (`firmware/src/board/nrf52/provisioning.rs`): with key rotation, its personal key and key epoch;
/// with peer authentication, the peers' keys.
pub fn settings_page(
    address: NodeId, robots: usize, personal: Option<(&Key, u8)>, roster: &[Key],
) -> Vec<u8> {
    let mut page = b"wdgn\x02\x00".to_vec();
    page.extend(address.to_le_bytes());
    page.extend((robots as u32).to_le_bytes());
    sealed(&mut page, 0);
    let Some((key, epoch)) = personal else { return page };
    page.extend(key);
    page.extend(u32::from(epoch).to_le_bytes());
    sealed(&mut page, 16);
    if !roster.is_empty() {
        page.extend((roster.len() as u32).to_le_bytes());
        page.extend(roster.as_flattened());
        sealed(&mut page, 40);
    }
    page
}

/// Provisioned keys: personal keys, peer keys, or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provisioning {
    /// Whether robots have personal keys, for key rotation or peer authentication.
    pub personal: bool,
    /// Whether robots authenticate each other.
    pub proofs: bool,
}

impl Provisioning {
    /// Returns the keys by which a robot authenticates its peers.
    pub fn roster(self, name: NodeId, robots: usize) -> &'static [Key] {
        if self.proofs { key_operator::peer_keys(name).get(..robots).unwrap_or_default() } else { &[] }
    }

    /// Returns the keys of a robot in a swarm.
    pub fn own(self, name: NodeId, robots: usize) -> Option<OwnKeys> {
        let personal = self.personal.then(|| personal_key(&MASTER, name))?;
        Some(OwnKeys { name, personal, epoch: 0, roster: self.roster(name, robots) })
    }

    /// Returns the provisioning pages of a swarm.
    pub fn pages(self, robots: usize) -> Vec<Vec<u8>> {
        let page = |name| match self.own(name, robots) {
            Some(own) => settings_page(name, robots, Some((&own.personal, own.epoch)), own.roster),
            None => settings_page(name, robots, None, &[]),
        };
        (0..robots).map(|robot| page(robot as NodeId)).collect()
    }
}

/// Change of the swarm key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rekey {
    /// First tick of the operator and tick of the change, from the start of the run.
    pub ticks: Range<u32>,
    /// Robots without the new key.
    pub expelled: Vec<usize>,
}

/// Operator.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    frames: Vec<Frame>,
    staying: Vec<usize>,
    ticks: Range<u32>,
    said: usize,
    /// Swarm tick at which the new key becomes active, once announced.
    pub changes: Option<u32>,
}

impl Operator {
    pub fn new(rekey: &Rekey, robots: usize) -> Self {
        let staying = (0..robots).filter(|robot| !rekey.expelled.contains(robot)).collect();
        Self { frames: vec![], staying, ticks: rekey.ticks.clone(), said: 0, changes: None }
    }

    /// Robot whose companion sends the frames: the first that keeps membership.
    pub fn listener(&self) -> Option<usize> {
        self.staying.first().copied()
    }

    /// Returns the key frame of a tick of the run, given the swarm tick of the relaying robot.
    pub fn say(&mut self, now: u32, tick: Option<u32>) -> Option<Frame> {
        let due = self.ticks.start.saturating_add(EVERY.saturating_mul(self.said as u32));
        if now < due || now >= self.ticks.end {
            return None;
        }
        if self.frames.is_empty() {
            let at = tick?.saturating_add(self.ticks.len() as u32);
            self.frames = key_operator::update_frames(self.staying.iter().copied(), at, MAX_TAG_LEN);
            self.changes = Some(at);
        }
        let frame = self.frames.get(self.said % self.frames.len().max(1)).cloned();
        self.said += 1;
        frame
    }
}
