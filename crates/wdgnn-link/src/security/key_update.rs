//! Key update frames: one robot's next group key, written by the operator.
//!
//! The operator has a **master key** that no robot has. It derives every robot's **robot key**,
//! which only that robot has, and the group key of every **epoch**. To change keys, the operator
//! sends one frame per robot that stays in the swarm. A captured robot gets none.
//!
//! A frame contains the new key, wrapped with the recipient's robot key: only the operator can
//! write it and only the recipient can read it. A second tag is computed with the new key. Robots
//! that have the new key use it to verify a frame before they relay it.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | [`KEY_UPDATE_BYTE`] |
//! | 1 | 2 | address of the recipient |
//! | 3 | 1 | epoch, from 1 on |
//! | 4 | 4 | tick of the swarm from which the key is used |
//! | 8 | 16 | wrapped key: AES-128-CCM with the robot key, bytes 0 to 7 authenticated |
//! | 24 | tag | tag of the wrapped key: 8 bytes, or 4 with 4-byte frame tags |
//! | | tag | AES-128-CCM tag with the new key, of everything before |

#[cfg(feature = "aes")]
use crate::security::aes::Aes;
use crate::{
    header::PROTOCOL_VERSION,
    security::{
        ccm::{self, BlockCipher, Nonce},
        key::Key,
    },
};
use wdgnn_core::task::NodeId;

/// First byte of a key update frame. No profile's frames begin with it.
pub const KEY_UPDATE_BYTE: u8 = PROTOCOL_VERSION | 0xf0;

const HEADER_BYTES: usize = 8;
const KEY_BYTES: usize = 16;
/// Maximum length after the header: the key and two tags of 8 bytes.
pub(crate) const MOST_CONTENT: usize = KEY_BYTES + 16;

/// Use of a nonce: its last byte, which is 0 in nonces of messages.
#[derive(Clone, Copy)]
enum Purpose {
    Wrap = 1,
    Vouch = 2,
}

/// Header of a key update frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUpdate {
    /// Address of the recipient.
    pub name: NodeId,
    /// Epoch of the key. The swarm's first key has epoch 0.
    pub epoch: u8,
    /// Tick of the swarm from which the key is used.
    pub at: u32,
}

impl KeyUpdate {
    /// Length of a frame in bytes, with tags of `tag` bytes.
    pub const fn bytes(tag: usize) -> usize {
        HEADER_BYTES + KEY_BYTES + 2 * tag
    }

    /// Reads a frame's header; `None` if kind or length are wrong.
    pub fn read(frame: &[u8], tag: usize) -> Option<Self> {
        let &[kind, n0, n1, epoch, a0, a1, a2, a3] = frame.first_chunk::<HEADER_BYTES>()?;
        (kind == KEY_UPDATE_BYTE && frame.len() == Self::bytes(tag)).then_some(Self {
            name: NodeId::from_le_bytes([n0, n1]),
            epoch,
            at: u32::from_le_bytes([a0, a1, a2, a3]),
        })
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let [n0, n1] = self.name.to_le_bytes();
        let [a0, a1, a2, a3] = self.at.to_le_bytes();
        [KEY_UPDATE_BYTE, n0, n1, self.epoch, a0, a1, a2, a3]
    }

    /// Nonce of the frame.
    ///
    /// It is unique under one key: two different frames differ in recipient, epoch or tick.
    fn nonce(&self, purpose: Purpose) -> Nonce {
        let [kind, n0, n1, epoch, a0, a1, a2, a3] = self.header();
        [n0, n1, epoch, a0, a1, a2, a3, kind, 0, 0, 0, 0, purpose as u8]
    }

    /// Writes the frame for the robot with this `personal` key; returns its length.
    ///
    /// Only the operator calls it. Returns `None` if `buffer` is too short or `tag` is neither 4
    /// nor 8.
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

    /// Unwraps the key in a frame; `None` if it is for another robot key or forged.
    pub(crate) fn unwrap<B: BlockCipher>(&self, personal: &Key, tag: usize, frame: &[u8]) -> Option<Key> {
        let (header, rest) = frame.split_first_chunk::<HEADER_BYTES>()?;
        let (wrapped, tags) = rest.split_first_chunk::<KEY_BYTES>()?;
        let mut key = *wrapped;
        let cipher = B::with_key(personal);
        ccm::open(&cipher, &self.nonce(Purpose::Wrap), [header, &[]], &mut key, tags.get(..tag)?)
            .then_some(key)
    }

    /// Returns whether the frame's maker has the new key, by its second tag.
    pub(crate) fn vouched<B: BlockCipher>(&self, cipher: &B, tag: usize, frame: &[u8]) -> bool {
        let Some((sealed, second)) = frame.len().checked_sub(tag).and_then(|at| frame.split_at_checked(at))
        else {
            return false;
        };
        ccm::verify(cipher, &self.nonce(Purpose::Vouch), [sealed, &[]], &[], second)
    }

    /// Rebuilds a frame from the bytes after its header; returns its length.
    pub(crate) fn repeat(&self, content: &[u8], buffer: &mut [u8]) -> Option<usize> {
        let frame = buffer.get_mut(..HEADER_BYTES + content.len())?;
        let (header, rest) = frame.split_first_chunk_mut()?;
        *header = self.header();
        rest.iter_mut().zip(content).for_each(|(to, from)| *to = *from);
        Some(frame.len())
    }

    /// Number of bytes after a frame's header.
    pub(crate) const fn content_bytes(tag: usize) -> usize {
        KEY_BYTES + 2 * tag
    }

    /// Bytes after a frame's header.
    pub(crate) fn content(frame: &[u8]) -> &[u8] {
        frame.get(HEADER_BYTES..).unwrap_or_default()
    }
}

/// Derives a key from a secret, a purpose and a number.
fn derived<B: BlockCipher>(secret: &Key, purpose: [u8; 14], number: u16) -> Key {
    let mut block = [0; 16];
    let [low, high] = number.to_le_bytes();
    block.iter_mut().zip(purpose.into_iter().chain([low, high])).for_each(|(to, from)| *to = from);
    B::with_key(secret).encrypt(&mut block);
    block
}

/// Derives the robot key of robot `name` from the master key.
#[cfg(feature = "aes")]
pub fn personal_key(master: &Key, name: NodeId) -> Key {
    derived::<Aes>(master, *b"wdgnn personal", name)
}

/// Derives the group key of an epoch from the master key.
///
/// The key of epoch 0 can be any other: robots have it in their image.
#[cfg(feature = "aes")]
pub fn swarm_key(master: &Key, epoch: u8) -> Key {
    derived::<Aes>(master, *b"wdgnn swarm's ", epoch.into())
}

/// Derives the pairwise key with which a robot authenticates to robot `to`.
///
/// `personal` is the authenticating robot's key. The operator gives the pairwise key to the
/// verifying robot only ([`crate::security::peer_auth`]).
pub fn pair_key<B: BlockCipher>(personal: &Key, to: NodeId) -> Key {
    derived::<B>(personal, *b"wdgnn proof to", to)
}
