//! The frame that gives one robot the swarm's next key, and how the operator makes it.
//!
//! The operator has one secret, the **master**, that no robot has. From it follow every robot's **personal key**, which nobody else but
//! that robot has, and the swarm's key of every **epoch**. To change keys, the operator says one frame for each robot that stays; who was
//! captured gets none. A frame has the new key, wrapped by the personal key of the robot that it is for, so that nobody but the operator
//! can make one and nobody but that robot can read it; and behind it a second tag, by the new key itself, by which everybody who
//! has that key already knows whether the frame is worth handing on.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | [`KIND`] |
//! | 1 | 2 | the name of the robot that it is for |
//! | 3 | 1 | the epoch, from 1 on |
//! | 4 | 4 | the swarm's tick from which on the key is used |
//! | 8 | 16 | the key, wrapped: AES-128-CCM by the personal key, the eight bytes before authenticated |
//! | 24 | tag | of that: 8 bytes, 4 where frames' tags have 4 |
//! | | tag | AES-128-CCM of nothing by the new key, everything before authenticated |

#[cfg(feature = "aes")]
use crate::security::aes::Aes;
use crate::{
    header::VERSION,
    security::{
        ccm::{self, BlockCipher, Nonce},
        key::Key,
    },
};
use wdgnn_core::task::NodeId;

/// The first byte of such a frame. No profile's frames begin with it.
pub const KIND: u8 = VERSION | 0xf0;

const HEADER_BYTES: usize = 8;
const KEY_BYTES: usize = 16;
/// Behind the header, at most: the key and two tags of 8 bytes.
pub(crate) const MOST_CONTENT: usize = KEY_BYTES + 16;

/// What a nonce is for: its last byte, which is 0 in those of beacons.
#[derive(Clone, Copy)]
enum Purpose {
    Wrap = 1,
    Vouch = 2,
}

/// Which key a frame brings, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Notice {
    /// The robot that it is for.
    pub name: NodeId,
    /// Which key: the swarm's first is of epoch 0.
    pub epoch: u8,
    /// The swarm's tick from which on it is used.
    pub at: u32,
}

impl Notice {
    /// How long a frame is, with tags of so many bytes.
    #[must_use]
    pub const fn bytes(tag: usize) -> usize {
        HEADER_BYTES + KEY_BYTES + 2 * tag
    }

    /// What a frame says about itself, if it is one of this kind and as long as it has to be.
    #[must_use]
    pub fn read(frame: &[u8], tag: usize) -> Option<Self> {
        let &[kind, n0, n1, epoch, a0, a1, a2, a3] = frame.first_chunk::<HEADER_BYTES>()?;
        (kind == KIND && frame.len() == Self::bytes(tag)).then_some(Self {
            name: NodeId::from_le_bytes([n0, n1]),
            epoch,
            at: u32::from_le_bytes([a0, a1, a2, a3]),
        })
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let [n0, n1] = self.name.to_le_bytes();
        let [a0, a1, a2, a3] = self.at.to_le_bytes();
        [KIND, n0, n1, self.epoch, a0, a1, a2, a3]
    }

    /// Under one key, no two frames have the same: they differ in name, epoch or tick, or are the same frame.
    fn nonce(&self, purpose: Purpose) -> Nonce {
        let [kind, n0, n1, epoch, a0, a1, a2, a3] = self.header();
        [n0, n1, epoch, a0, a1, a2, a3, kind, 0, 0, 0, 0, purpose as u8]
    }

    /// Writes the frame that gives the robot with this personal key the swarm's new one, and returns its length: what the operator
    /// does. `None` when `buffer` is too short, or a tag has neither 4 nor 8 bytes.
    #[cfg(feature = "aes")]
    #[must_use]
    pub fn write(&self, personal: &Key, key: &Key, tag: usize, buffer: &mut [u8]) -> Option<usize> {
        let frame = buffer.get_mut(..Self::bytes(tag)).filter(|_| tag == 4 || tag == 8)?;
        let (sealed, second) = frame.split_at_mut_checked(HEADER_BYTES + KEY_BYTES + tag)?;
        let (header, rest) = sealed.split_first_chunk_mut()?;
        *header = self.header();
        let (wrapped, first) = rest.split_first_chunk_mut()?;
        *wrapped = *key;
        ccm::seal(&Aes::new(personal), &self.nonce(Purpose::Wrap), [header, &[]], wrapped, first)?;
        ccm::seal(&Aes::new(key), &self.nonce(Purpose::Vouch), [sealed, &[]], &mut [], second)?;
        Some(Self::bytes(tag))
    }

    /// The key in a frame for the robot with this personal key, if it was wrapped for it.
    pub(crate) fn unwrap<B: BlockCipher>(&self, personal: &Key, tag: usize, frame: &[u8]) -> Option<Key> {
        let (header, rest) = frame.split_first_chunk::<HEADER_BYTES>()?;
        let (wrapped, tags) = rest.split_first_chunk::<KEY_BYTES>()?;
        let mut key = *wrapped;
        let cipher = B::with_key(personal);
        ccm::open(&cipher, &self.nonce(Purpose::Wrap), [header, &[]], &mut key, tags.get(..tag)?)
            .then_some(key)
    }

    /// Whether somebody who has this new key made the frame.
    pub(crate) fn vouched<B: BlockCipher>(&self, cipher: &B, tag: usize, frame: &[u8]) -> bool {
        let Some((sealed, second)) = frame.len().checked_sub(tag).and_then(|at| frame.split_at_checked(at))
        else {
            return false;
        };
        ccm::verify(cipher, &self.nonce(Purpose::Vouch), [sealed, &[]], &[], second)
    }

    /// Puts a frame together again from what is behind its header, and returns its length.
    pub(crate) fn repeat(&self, content: &[u8], buffer: &mut [u8]) -> Option<usize> {
        let frame = buffer.get_mut(..HEADER_BYTES + content.len())?;
        let (header, rest) = frame.split_first_chunk_mut()?;
        *header = self.header();
        rest.iter_mut().zip(content).for_each(|(to, from)| *to = *from);
        Some(frame.len())
    }

    /// How many bytes are behind a frame's header.
    pub(crate) const fn content_bytes(tag: usize) -> usize {
        KEY_BYTES + 2 * tag
    }

    /// What is behind a frame's header.
    pub(crate) fn content(frame: &[u8]) -> &[u8] {
        frame.get(HEADER_BYTES..).unwrap_or_default()
    }
}

/// What follows from a secret: different for every purpose and number.
fn derived<B: BlockCipher>(secret: &Key, purpose: [u8; 14], number: u16) -> Key {
    let mut block = [0; 16];
    let [low, high] = number.to_le_bytes();
    block.iter_mut().zip(purpose.into_iter().chain([low, high])).for_each(|(to, from)| *to = from);
    B::with_key(secret).encrypt(&mut block);
    block
}

/// The personal key of the robot with this name.
#[cfg(feature = "aes")]
#[must_use]
pub fn personal_key(master: &Key, name: NodeId) -> Key {
    derived::<Aes>(master, *b"wdgnn personal", name)
}

/// The swarm's key of an epoch. That of epoch 0 may be any other: robots have it from their image.
#[cfg(feature = "aes")]
#[must_use]
pub fn swarm_key(master: &Key, epoch: u8) -> Key {
    derived::<Aes>(master, *b"wdgnn swarm's ", epoch.into())
}

/// The key by which the robot with this personal key proves its name to the one with that name ([`crate::security::peer_auth`]). The operator tells it to
/// the latter, and nobody else can make it.
#[must_use]
pub fn pair_key<B: BlockCipher>(personal: &Key, to: NodeId) -> Key {
    derived::<B>(personal, *b"wdgnn proof to", to)
}
