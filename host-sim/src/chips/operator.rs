//! The operator of a swarm of chips: what robots are told before they fly, and the next key, which comes in flight by way of one robot's
//! companion, as `firmware/companion.py` brings it.

use std::ops::Range;

use wdgnn_core::task::NodeId;
use wdgnn_link::{
    encoding::half::TAG_BYTES,
    security::{key::Key, key_update::personal_key},
};
use wdgnn_protocol::companion::CHECKSUM;

use crate::{
    medium::key_operator::{self, MASTER},
    profiles::RobotKeyring,
    scene::Frame,
};

/// Ticks from one frame with a key to the next.
const EVERY: u32 = 10;

/// Puts a checksum behind what is in a page from an offset on.
fn sealed(page: &mut Vec<u8>, from: usize) {
    let seal = CHECKSUM.checksum(&page[from..]).to_le_bytes();
    page.extend(seal);
}

/// The settings page of a robot with this address, of a swarm of so many (`firmware/src/board/nrf52/provisioning.rs`); where keys can
/// change, with its personal key and the epoch of its image's key, and where names are proven, with the keys for that.
pub fn settings_page(
    address: NodeId,
    robots: usize,
    personal: Option<(&Key, u8)>,
    roster: &[Key],
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

/// What the simulated operator tells robots: their personal keys, the keys by which others prove their names, or neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The swarm's key can change in flight, or names are proven.
    pub personal: bool,
    /// Names are proven.
    pub proofs: bool,
}

impl Told {
    /// The keys by which others prove their names to this robot, of a swarm of so many.
    pub fn roster(self, name: NodeId, robots: usize) -> &'static [Key] {
        if self.proofs { key_operator::peer_keys(name).get(..robots).unwrap_or_default() } else { &[] }
    }

    /// What this robot is told of its own, of a swarm of so many.
    pub fn own(self, name: NodeId, robots: usize) -> Option<RobotKeyring> {
        let personal = self.personal.then(|| personal_key(&MASTER, name))?;
        Some(RobotKeyring { name, personal, epoch: 0, roster: self.roster(name, robots) })
    }

    /// The settings pages of a swarm of so many.
    pub fn pages(self, robots: usize) -> Vec<Vec<u8>> {
        let page = |name| match self.own(name, robots) {
            Some(own) => settings_page(name, robots, Some((&own.personal, own.epoch)), own.roster),
            None => settings_page(name, robots, None, &[]),
        };
        (0..robots).map(|robot| page(robot as NodeId)).collect()
    }
}

/// How the swarm's key is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rekey {
    /// From when on the operator speaks and when the key changes, in ticks from the beginning of the flight.
    pub ticks: Range<u32>,
    /// Who gets no key.
    pub expelled: Vec<usize>,
}

/// The operator.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    frames: Vec<Frame>,
    staying: Vec<usize>,
    ticks: Range<u32>,
    said: usize,
    /// The swarm's tick from which on the new key is used, once the operator has said it.
    pub changes: Option<u32>,
}

impl Operator {
    pub fn new(rekey: &Rekey, robots: usize) -> Self {
        let staying = (0..robots).filter(|robot| !rekey.expelled.contains(robot)).collect();
        Self { frames: vec![], staying, ticks: rekey.ticks.clone(), said: 0, changes: None }
    }

    /// Whose companion it speaks to: that of the first who stays.
    pub fn listener(&self) -> Option<usize> {
        self.staying.first().copied()
    }

    /// What it says in a tick of the flight, when the robot that it speaks to has told this tick of the swarm's.
    pub fn say(&mut self, now: u32, tick: Option<u32>) -> Option<Frame> {
        let due = self.ticks.start.saturating_add(EVERY.saturating_mul(self.said as u32));
        if now < due || now >= self.ticks.end {
            return None;
        }
        if self.frames.is_empty() {
            let at = tick?.saturating_add(self.ticks.len() as u32);
            self.frames = key_operator::update_frames(self.staying.iter().copied(), at, TAG_BYTES);
            self.changes = Some(at);
        }
        let frame = self.frames.get(self.said % self.frames.len().max(1)).cloned();
        self.said += 1;
        frame
    }
}
