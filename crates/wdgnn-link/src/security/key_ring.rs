//! The swarm's keys as one robot has them: the one in use, the one before it, the one to come, and the frames that bring that one to others.
//!
//! * A key is taken only from a frame that the operator made for this robot, and only of a later epoch than every one before.
//! * Frames for others are handed on once the robot itself has the key that they bring: each a few times, in place of a beacon now and
//!   then, so that the air carries no more than it did; and again to whoever still speaks with the key before.
//! * From the stated tick on the new key is used. Around it both are heard; after it, the old one opens nothing any more.
//! * Who was just started does not know the time for sure: it waits for a second, or for the first word under the new key.

use heapless::Vec;

use crate::security::{
    ccm::BlockCipher,
    key::Key,
    key_update::{MOST_CONTENT, Notice},
    replay::{GUARD_TICKS, LATE_TICKS},
};
use wdgnn_core::task::NodeId;

/// For so many ticks after the change a frame with the old key is opened: it may be late, and clocks may differ.
const GRACE_TICKS: u32 = LATE_TICKS + GUARD_TICKS;
/// For so many ticks after its start a robot may not know the swarm's time yet.
const SETTLED_TICKS: u32 = 100;
/// A robot hands on each frame so many times: with three of ten lost, one of 120 single listeners misses all.
const PASSES: u8 = 4;
/// A robot hands on a frame in place of a beacon in one exchange out of so many.
const HAND_ON_EVERY: u32 = 4;
/// The same to those who are late: somebody who was left out may pretend to be one.
const ANSWER_EVERY: u32 = 8;
/// In one tick, so many frames that the key in use does not open are tried with another one around the change,
const TRIES: u32 = 64;
/// and so many afterwards.
const LATE_TRIES: u32 = 2;

/// Length of what is kept over a restart.
pub const STORED_LEN: usize = 44;

/// What a robot knows of its keys over a restart.
pub type StoredKeys = [u8; STORED_LEN];

/// A key to come.
#[derive(Clone, Copy)]
struct Next {
    epoch: u8,
    at: u32,
    key: Key,
}

/// A frame for somebody.
struct Held {
    name: NodeId,
    /// How often it was handed on.
    passes: u8,
    /// How often somebody else was heard to do so.
    heard: u8,
    /// It was made by somebody who has the key that it brings. Before a robot has that key itself, it cannot tell.
    vouched: bool,
    content: [u8; MOST_CONTENT],
}

/// What another key than the one in use is good for.
pub(super) enum SpareKey {
    /// Opens frames: it is about to be the key in use.
    Next(Key),
    /// Opens frames: it just was.
    Previous(Key),
    /// Opens nothing, but tells who is late.
    Expired(Key),
}

/// What came of a frame that brings a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUpdateResult {
    /// It is of the newest epoch that is known, or of one that this robot has no frame of yet.
    Taken,
    /// It is of an epoch that has passed, or says something else than what was said before.
    Old,
    /// The operator did not make it.
    Forged,
}

/// The keys of a robot, and room for the frames of so many robots.
pub(super) struct KeyRing<const ROSTER: usize> {
    name: NodeId,
    personal: Key,
    /// Tells whether a record is of this image's key.
    check: u32,
    epoch: u8,
    key: Key,
    before: Option<Key>,
    next: Option<Next>,
    /// Somebody spoke with the key to come.
    heard_next: bool,
    /// Ticks since the start.
    lived: u32,
    /// Those at the last change.
    changed: Option<u32>,
    /// Frames that were tried with another key in this tick.
    tries: u32,
    pub unsaved: bool,
    /// Who speaks with the key before.
    late: Option<NodeId>,
    held: Vec<Held, ROSTER>,
    /// The epoch that all of them are of, and the tick that they state.
    stated: (u8, u32),
    /// Which is handed on next.
    turn: usize,
}

impl<const ROSTER: usize> KeyRing<ROSTER> {
    /// The keys of the robot with this name, whose image has the swarm's key of this epoch.
    pub fn new<B: BlockCipher>(name: NodeId, personal: &Key, epoch: u8, key: &Key) -> Self {
        let mut check = *b"wdgnn key check.";
        B::with_key(key).encrypt(&mut check);
        let [a, b, c, d, ..] = check;
        Self {
            name,
            personal: *personal,
            check: u32::from_le_bytes([a, b, c, d]),
            epoch,
            key: *key,
            before: None,
            next: None,
            heard_next: false,
            lived: 0,
            changed: None,
            tries: 0,
            unsaved: false,
            late: None,
            held: Vec::new(),
            stated: (0, 0),
            turn: name.into(),
        }
    }

    pub fn epoch(&self) -> u8 {
        self.epoch
    }

    /// A tick begins. Returns the key to use from now on, if that is another one.
    pub fn begin(&mut self, now: u32) -> Option<Key> {
        self.lived = self.lived.saturating_add(1);
        self.tries = 0;
        let sure = self.heard_next || self.lived > SETTLED_TICKS;
        let next = self.next.take_if(|next| now >= next.at && sure)?;
        self.before = Some(core::mem::replace(&mut self.key, next.key));
        (self.epoch, self.changed, self.heard_next) = (next.epoch, Some(self.lived), false);
        self.unsaved = true;
        Some(next.key)
    }

    /// Another key that a frame may be sealed with, which the one in use does not open.
    pub fn spare(&mut self) -> Option<SpareKey> {
        let recent = self.changed.is_some_and(|changed| self.lived.saturating_sub(changed) <= GRACE_TICKS);
        let spare = match (&self.next, &self.before) {
            (Some(next), _) => SpareKey::Next(next.key),
            (None, Some(before)) if recent => SpareKey::Previous(*before),
            (None, Some(before)) => SpareKey::Expired(*before),
            (None, None) => return None,
        };
        let most = if matches!(spare, SpareKey::Expired(_)) { LATE_TRIES } else { TRIES };
        self.tries = self.tries.saturating_add(1);
        (self.tries <= most).then_some(spare)
    }

    /// Somebody spoke with the key to come.
    pub fn heard_next(&mut self) {
        self.heard_next = true;
    }

    /// Somebody speaks with the key before.
    pub fn is_late(&mut self, name: NodeId) {
        self.late = Some(name);
    }

    /// Takes in a frame that brings a key.
    pub fn receive_update<B: BlockCipher>(
        &mut self,
        cipher: &B,
        tag: usize,
        frame: &[u8],
    ) -> KeyUpdateResult {
        let Some(notice) = Notice::read(frame, tag) else { return KeyUpdateResult::Forged };
        let newest = self.next.as_ref().map_or(self.epoch, |next| next.epoch);
        if notice.epoch < newest || notice.epoch == 0 {
            return KeyUpdateResult::Old;
        }
        if notice.epoch > newest {
            return self.receive::<B>(&notice, tag, frame);
        }
        let at = self.next.as_ref().map(|next| next.at);
        let at = at.or_else(|| (self.stated.0 == notice.epoch).then_some(self.stated.1));
        if at.is_some_and(|at| at != notice.at) {
            return KeyUpdateResult::Old;
        }
        let vouched = match &self.next {
            Some(next) => notice.vouched(&B::with_key(&next.key), tag, frame),
            None => notice.vouched(cipher, tag, frame),
        };
        if !vouched {
            return KeyUpdateResult::Forged;
        }
        self.hold(&notice, frame, true);
        KeyUpdateResult::Taken
    }

    /// A frame of an epoch that is new here: only that for this robot can be read.
    fn receive<B: BlockCipher>(&mut self, notice: &Notice, tag: usize, frame: &[u8]) -> KeyUpdateResult {
        if notice.name != self.name {
            // As long as nothing that is known to be good is in the way.
            if self.next.is_none() && (self.held.is_empty() || self.stated.0 > self.epoch) {
                self.hold(notice, frame, false);
            }
            return KeyUpdateResult::Taken;
        }
        let key = notice.unwrap::<B>(&self.personal, tag, frame);
        let Some(key) = key.filter(|key| notice.vouched(&B::with_key(key), tag, frame)) else {
            return KeyUpdateResult::Forged;
        };
        self.next = Some(Next { epoch: notice.epoch, at: notice.at, key });
        (self.heard_next, self.unsaved, self.late) = (false, true, None);
        self.hold(notice, frame, true);
        KeyUpdateResult::Taken
    }

    /// Keeps a frame for somebody, if there is room. All that are kept are of one epoch and one time.
    fn hold(&mut self, notice: &Notice, frame: &[u8], vouched: bool) {
        let stated = (notice.epoch, notice.at);
        if core::mem::replace(&mut self.stated, stated) != stated {
            self.held.clear();
        }
        let mut content = [0; MOST_CONTENT];
        content.iter_mut().zip(Notice::content(frame)).for_each(|(to, from)| *to = *from);
        if let Some(held) = self.held.iter_mut().find(|held| held.name == notice.name) {
            held.heard = held.heard.saturating_add(1);
            if !held.vouched {
                (held.content, held.vouched) = (content, vouched);
            }
            return;
        }
        // Where there are more robots than room, others bring it to them.
        let _ = self.held.push(Held { name: notice.name, passes: 0, heard: 0, vouched, content });
    }

    /// Writes a frame that is handed on in this exchange in place of a beacon, and returns its length. Who is `near` gets its own first:
    /// it can hand on nothing before.
    pub fn relay<B: BlockCipher>(
        &mut self,
        round: u32,
        tag: usize,
        near: impl Fn(NodeId) -> bool,
        buffer: &mut [u8],
    ) -> Option<usize> {
        // What it has no key to tell good from bad is not handed on.
        if self.stated.0 > self.next.as_ref().map_or(self.epoch, |next| next.epoch) {
            return None;
        }
        let turn = round.wrapping_add(self.name.into());
        let late = self.late.take_if(|_| turn.is_multiple_of(ANSWER_EVERY));
        let answer = late.and_then(|name| self.held.iter().position(|held| held.name == name));
        let place = match answer {
            Some(place) => place,
            None if turn.is_multiple_of(HAND_ON_EVERY) => self.least_handed_on(near)?,
            None => return None,
        };
        let (epoch, at) = self.stated;
        let next = self.next.as_ref().map(|next| next.key);
        let held = self.held.get_mut(place)?;
        let notice = Notice { name: held.name, epoch, at };
        let length = notice.repeat(held.content.get(..Notice::content_bytes(tag))?, buffer)?;
        held.passes = held.passes.saturating_add(1);
        if !held.vouched {
            let made = notice.vouched(&B::with_key(&next.unwrap_or(self.key)), tag, buffer.get(..length)?);
            held.vouched = made;
            if !made {
                self.held.retain(|held| held.name != notice.name);
                return None;
            }
        }
        Some(length)
    }

    /// The frame that was handed on least, if that was not often enough; from a place on that differs from robot to robot.
    fn least_handed_on(&mut self, near: impl Fn(NodeId) -> bool) -> Option<usize> {
        let count = self.held.len();
        self.turn = self.turn.wrapping_add(1);
        let places = (0..count).map(|step| self.turn.wrapping_add(step) % count.max(1));
        let open = |place: &usize| self.held.get(*place).is_some_and(|held| held.passes < PASSES);
        let order =
            |place: &usize| self.held.get(*place).map(|held| (held.passes, !near(held.name), held.heard));
        places.filter(open).min_by_key(order)
    }

    /// What is to be known after a restart: little-endian, a check of the image's key, the epoch, the next one or 0, two zeros, the tick
    /// of the change, and both keys.
    pub fn to_stored(&self) -> StoredKeys {
        let next = self.next.unwrap_or(Next { epoch: 0, at: 0, key: [0; 16] });
        let numbers = self.check.to_le_bytes().into_iter().chain([self.epoch, next.epoch, 0, 0]);
        let bytes = numbers.chain(next.at.to_le_bytes()).chain(self.key).chain(next.key);
        let mut kept = [0; STORED_LEN];
        kept.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        kept
    }

    /// Takes up what was kept, unless the image has another key since. Returns the key to use.
    pub fn restore(&mut self, kept: &StoredKeys) -> Option<Key> {
        let (&[c0, c1, c2, c3, epoch, next_epoch, _, _, a0, a1, a2, a3], keys) = kept.split_first_chunk()?;
        let (key, next) = keys.split_first_chunk()?;
        if u32::from_le_bytes([c0, c1, c2, c3]) != self.check || epoch < self.epoch {
            return None;
        }
        (self.epoch, self.key) = (epoch, *key);
        let at = u32::from_le_bytes([a0, a1, a2, a3]);
        let next = next.first_chunk().filter(|_| next_epoch > epoch);
        self.next = next.map(|key| Next { epoch: next_epoch, at, key: *key });
        Some(self.key)
    }
}
