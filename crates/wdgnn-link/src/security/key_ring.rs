//! Group keys of one robot: current, previous and next, with their distribution.
//!
//! * A robot accepts a key only from a frame that the operator made for it, and only with an epoch
//!   above all earlier ones.
//! * A robot that has the new key relays the frames for other robots. It relays each frame a few
//!   times, instead of a message, so the radio load does not grow. It relays again to robots that
//!   still send with the previous key.
//! * The new key is in use from the tick that the frame states. For a few ticks around it, robots
//!   accept both keys. Later, the previous key opens no frame.
//! * A robot that just started is unsure of the swarm's time. It changes keys after one second, or
//!   after the first frame with the new key.

use heapless::Vec;

use crate::{
    error::FrameError,
    security::{
        ccm::BlockCipher,
        key::Key,
        key_update::{KeyUpdate, MOST_CONTENT},
        replay::{MAX_FRAME_AGE_TICKS, MAX_FRAME_LEAD_TICKS},
    },
};
use wdgnn_core::task::NodeId;

/// Ticks after the change in which frames with the previous key are accepted.
///
/// Frames may be late, and clocks may differ.
const GRACE_TICKS: u32 = MAX_FRAME_AGE_TICKS + MAX_FRAME_LEAD_TICKS;
/// Ticks after the start until a robot is sure of the swarm's time.
const SETTLED_TICKS: u32 = 100;
/// Number of times that a robot relays each frame.
///
/// With 30 % loss, 1 of 120 receivers with a single relay misses all four.
const PASSES: u8 = 4;
/// Exchanges per relayed frame: one frame replaces one of this many messages.
const HAND_ON_EVERY: u32 = 4;
/// Exchanges per frame that is relayed to a robot with the previous key.
///
/// The limit is lower because an excluded robot may pretend to be late.
const ANSWER_EVERY: u32 = 8;
/// Frames per tick that are tried with a second key around the change.
const TRIES: u32 = 64;
/// Frames per tick that are tried with the previous key after the change.
const LATE_TRIES: u32 = 2;

/// Length of the stored record in bytes.
pub const STORED_KEYS_LEN: usize = 44;

/// Stored record of the keys, which survives a restart.
pub type StoredKeys = [u8; STORED_KEYS_LEN];

/// Next group key.
#[derive(Clone, Copy)]
struct Next {
    epoch: u8,
    at: u32,
    key: Key,
}

/// Key update frame for another robot.
struct Held {
    name: NodeId,
    /// Number of times that this robot relayed it.
    passes: u8,
    /// Number of times that another robot was heard relaying it.
    heard: u8,
    /// Whether the second tag was verified: the frame's maker has the new key.
    ///
    /// A robot without the new key cannot verify it.
    vouched: bool,
    content: [u8; MOST_CONTENT],
}

/// Use of a key other than the current one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpareKey {
    /// Opens frames: the key is about to be current.
    Next,
    /// Opens frames: the key was current until a few ticks ago.
    Previous,
    /// Opens no frames, but identifies robots that still use it.
    Expired,
}

/// Keys of a robot, with storage for the frames of `ROSTER` robots.
pub(super) struct KeyRing<const ROSTER: usize> {
    name: NodeId,
    personal: Key,
    /// Check value that tells whether a stored record belongs to the image's key.
    check: u32,
    epoch: u8,
    key: Key,
    before: Option<Key>,
    next: Option<Next>,
    /// Whether a frame with the next key was received.
    pub heard_next: bool,
    /// Ticks since the start.
    uptime_ticks: u32,
    /// Uptime at the last key change.
    changed_at: Option<u32>,
    /// Frames that were tried with a second key in this tick.
    tries: u32,
    pub unsaved: bool,
    /// A robot that still sends with the previous key.
    pub late: Option<NodeId>,
    held: Vec<Held, ROSTER>,
    /// Epoch and tick that all frames in `held` state.
    stated: (u8, u32),
    /// Position from which the search for the next relayed frame starts.
    turn: usize,
}

impl<const ROSTER: usize> KeyRing<ROSTER> {
    /// Creates the keys of robot `name`, whose image has the group key of `epoch`.
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
            uptime_ticks: 0,
            changed_at: None,
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

    /// Starts a tick; returns the new key if it changes.
    pub fn begin(&mut self, now: u32) -> Option<Key> {
        self.uptime_ticks = self.uptime_ticks.saturating_add(1);
        self.tries = 0;
        let sure = self.heard_next || self.uptime_ticks > SETTLED_TICKS;
        let next = self.next.take_if(|next| now >= next.at && sure)?;
        self.before = Some(core::mem::replace(&mut self.key, next.key));
        (self.epoch, self.changed_at, self.heard_next) = (next.epoch, Some(self.uptime_ticks), false);
        self.unsaved = true;
        Some(next.key)
    }

    /// Returns another key for a frame that the current key does not open.
    pub fn spare(&mut self) -> Option<(Key, SpareKey)> {
        let recent = self.changed_at.is_some_and(|at| self.uptime_ticks.saturating_sub(at) <= GRACE_TICKS);
        let (key, spare) = match (&self.next, self.before) {
            (Some(next), _) => (next.key, SpareKey::Next),
            (None, before) => (before?, if recent { SpareKey::Previous } else { SpareKey::Expired }),
        };
        let most = if spare == SpareKey::Expired { LATE_TRIES } else { TRIES };
        self.tries = self.tries.saturating_add(1);
        (self.tries <= most).then_some((key, spare))
    }

    /// Processes a key update frame. Returns [`FrameError::KeyUpdate`] for a valid one, [`FrameError::Replayed`]
    /// for an earlier epoch or another tick than stated, [`FrameError::Forged`] if the operator did not make it.
    pub fn receive_update<B: BlockCipher>(&mut self, cipher: &B, tag: usize, frame: &[u8]) -> FrameError {
        let Some(notice) = KeyUpdate::read(frame, tag) else { return FrameError::Forged };
        let newest = self.next.as_ref().map_or(self.epoch, |next| next.epoch);
        if notice.epoch < newest || notice.epoch == 0 {
            return FrameError::Replayed;
        }
        if notice.epoch > newest {
            return self.receive::<B>(&notice, tag, frame);
        }
        let at = self.next.as_ref().map(|next| next.at);
        let at = at.or_else(|| (self.stated.0 == notice.epoch).then_some(self.stated.1));
        if at.is_some_and(|at| at != notice.at) {
            return FrameError::Replayed;
        }
        let next = self.next.map(|next| B::with_key(&next.key));
        if !notice.vouched(next.as_ref().unwrap_or(cipher), tag, frame) {
            return FrameError::Forged;
        }
        self.hold(&notice, frame, true);
        FrameError::KeyUpdate
    }

    /// Processes a frame with a new epoch, of which only the robot's own is readable.
    fn receive<B: BlockCipher>(&mut self, notice: &KeyUpdate, tag: usize, frame: &[u8]) -> FrameError {
        if notice.name != self.name {
            // Unverified frames must not replace verified ones.
            if self.next.is_none() && (self.held.is_empty() || self.stated.0 > self.epoch) {
                self.hold(notice, frame, false);
            }
            return FrameError::KeyUpdate;
        }
        let key = notice.unwrap::<B>(&self.personal, tag, frame);
        let Some(key) = key.filter(|key| notice.vouched(&B::with_key(key), tag, frame)) else {
            return FrameError::Forged;
        };
        self.next = Some(Next { epoch: notice.epoch, at: notice.at, key });
        (self.heard_next, self.unsaved, self.late) = (false, true, None);
        self.hold(notice, frame, true);
        FrameError::KeyUpdate
    }

    /// Stores a frame for another robot if there is room.
    ///
    /// All stored frames have one epoch and one tick.
    fn hold(&mut self, notice: &KeyUpdate, frame: &[u8], vouched: bool) {
        let stated = (notice.epoch, notice.at);
        if core::mem::replace(&mut self.stated, stated) != stated {
            self.held.clear();
        }
        let mut content = [0; MOST_CONTENT];
        content.iter_mut().zip(KeyUpdate::content(frame)).for_each(|(to, from)| *to = *from);
        if let Some(held) = self.held.iter_mut().find(|held| held.name == notice.name) {
            held.heard = held.heard.saturating_add(1);
            if !held.vouched {
                (held.content, held.vouched) = (content, vouched);
            }
            return;
        }
        // In a swarm larger than the storage, other robots relay the remaining frames.
        let _ = self.held.push(Held { name: notice.name, passes: 0, heard: 0, vouched, content });
    }

    /// Writes a frame to relay in this exchange and returns its length.
    ///
    /// The frame replaces a message. Frames for robots in range (`near`) come first, because a
    /// robot cannot relay before it has the key. Returns `None` if nothing is due.
    pub fn relay<B: BlockCipher>(
        &mut self, round: u32, tag: usize, near: impl Fn(NodeId) -> bool, buffer: &mut [u8],
    ) -> Option<usize> {
        // Without the new key, the robot cannot verify the frames and does not relay them.
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
        let notice = KeyUpdate { name: held.name, epoch, at };
        let length = notice.repeat(held.content.get(..KeyUpdate::content_bytes(tag))?, buffer)?;
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

    /// Returns the least relayed frame that is below the limit.
    ///
    /// The search starts at a position that differs from robot to robot.
    fn least_handed_on(&mut self, near: impl Fn(NodeId) -> bool) -> Option<usize> {
        let count = self.held.len();
        self.turn = self.turn.wrapping_add(1);
        let places = (0..count).map(|step| self.turn.wrapping_add(step) % count.max(1));
        let open = |place: &usize| self.held.get(*place).is_some_and(|held| held.passes < PASSES);
        let order =
            |place: &usize| self.held.get(*place).map(|held| (held.passes, !near(held.name), held.heard));
        places.filter(open).min_by_key(order)
    }

    /// Returns the record to store.
    ///
    /// Little-endian: check value (4 bytes), epoch, next epoch or 0, two zeros, tick of the change
    /// (4 bytes), current key, next key.
    pub fn to_stored(&self) -> StoredKeys {
        let next = self.next.unwrap_or(Next { epoch: 0, at: 0, key: [0; 16] });
        let head = self.check.to_le_bytes().into_iter().chain([self.epoch, next.epoch, 0, 0]);
        let bytes = head.chain(next.at.to_le_bytes()).chain(self.key).chain(next.key);
        let mut kept = [0; STORED_KEYS_LEN];
        kept.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        kept
    }

    /// Restores a stored record and returns the key to use.
    ///
    /// Returns `None` if the image has had another key or a later epoch since.
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
