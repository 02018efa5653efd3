//! The operator of a swarm of chips: what robots are told before they fly, and the next key, which comes in flight by way of one robot's
//! companion, as `firmware/companion.py` brings it.

use std::ops::Range;

use chip::air::SECOND;
use wdgnn_core::{compact::TAG_BYTES, rekey::personal_key, seal::Key, task::NodeId};
use wdgnn_protocol::companion::CHECKSUM;

use super::{RELEASE, TICK};
use crate::{
    air::station::{self, MASTER},
    scene::Frame,
};

/// From one frame with a key to the next.
const EVERY: u64 = SECOND / 10;

/// Puts a checksum behind what is in a page from an offset on.
fn sealed(page: &mut Vec<u8>, from: usize) {
    let seal = CHECKSUM.checksum(&page[from..]).to_le_bytes();
    page.extend(seal);
}

/// The settings page of a robot with this address, of a swarm of so many (`firmware/src/board/nrf52/settings.rs`); where keys can
/// change, with its personal key and the epoch of its image's key, and where names are proven, with the keys for that.
#[must_use]
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
    #[must_use]
    pub fn roster(self, name: NodeId, robots: usize) -> &'static [Key] {
        if self.proofs { station::roster(name).get(..robots).unwrap_or_default() } else { &[] }
    }

    /// The settings pages of a swarm of so many.
    #[must_use]
    pub fn pages(self, robots: usize) -> Vec<Vec<u8>> {
        let page = |name| {
            let key = personal_key(&MASTER, name);
            settings_page(name, robots, self.personal.then_some((&key, 0)), self.roster(name, robots))
        };
        (0..robots).map(|robot| page(robot as NodeId)).collect()
    }
}

/// How the swarm's key is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rekey {
    /// From when on the operator speaks and when the key changes, in ticks from the release.
    pub ticks: Range<u32>,
    /// Who gets no key.
    pub expelled: Vec<usize>,
}

/// The operator.
#[derive(Clone, Debug)]
pub(super) struct Operator {
    frames: Vec<Frame>,
    staying: Vec<usize>,
    from: u64,
    until: u64,
    said: usize,
    /// The swarm's tick from which on the new key is used, once the operator has said it.
    pub changes: Option<u32>,
}

impl Operator {
    pub fn new(rekey: &Rekey, robots: usize) -> Self {
        let staying = (0..robots).filter(|robot| !rekey.expelled.contains(robot)).collect();
        let [from, until] = [rekey.ticks.start, rekey.ticks.end].map(|tick| RELEASE + u64::from(tick) * TICK);
        Self { frames: vec![], staying, from, until, said: 0, changes: None }
    }

    /// Whose companion it speaks to: that of the first who stays.
    pub fn listener(&self) -> Option<usize> {
        self.staying.first().copied()
    }

    /// What it says at a true time, when the robot that it speaks to has told this tick of the swarm's.
    pub fn say(&mut self, now: u64, tick: Option<u32>) -> Option<Frame> {
        let due = self.from + self.said as u64 * EVERY;
        if now < due || now >= self.until {
            return None;
        }
        if self.frames.is_empty() {
            let at = tick? + ((self.until - self.from) / TICK) as u32;
            self.frames = station::frames(self.staying.iter().copied(), at, TAG_BYTES);
            self.changes = Some(at);
        }
        let frame = self.frames.get(self.said % self.frames.len().max(1)).cloned();
        self.said += 1;
        frame
    }
}
