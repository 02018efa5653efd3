//! AES-128 for many robots in one process, with a cache of authentic frames.
//!
//! CCM encrypts a frame's blocks in sequence, and each receiver repeats the sender's computation:
//! nine times with eight neighbors. Each thread therefore caches recent frames. If key, nonce,
//! header, tag and content equal those of a cached frame byte for byte, the cached plaintext is
//! returned. Results do not change, and only authentic frames are cached.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod hardware;

use std::{cell::RefCell, fmt};

// Processors without AES instructions, such as a browser's, use the software cipher.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use wdgnn_link::security::aes::Aes as HardwareAes;
use wdgnn_link::security::{
    ccm::{self, Block, BlockCipher, Nonce},
    key::Key,
};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use self::hardware::HardwareAes;

/// Cached frames per thread; the nonce determines a frame's place.
const CACHED_FRAMES: usize = 4096;

/// Cached frames per robot: the largest number of frames per exchange.
const FRAMES_PER_ROBOT: usize = 4;

/// AES-128 with a key and a shared cache of frames.
pub struct CachedAes {
    key: Key,
    aes: HardwareAes,
}

impl fmt::Debug for CachedAes {
    /// Writes the type name without the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CachedAes")
    }
}

impl BlockCipher for CachedAes {
    fn with_key(key: &Key) -> Self {
        Self { key: *key, aes: HardwareAes::with_key(key) }
    }

    fn encrypt(&self, block: &mut Block) {
        self.aes.encrypt(block);
    }

    fn seal(&self, nonce: &Nonce, associated: [&[u8]; 2], content: &mut [u8], tag: &mut [u8]) -> Option<()> {
        FRAME_CACHE.with_borrow_mut(|cache| {
            let frame = cache.get_mut(place(nonce))?;
            frame.clear();
            frame.plain.extend_from_slice(content);
            ccm::seal(&self.aes, nonce, associated, content, tag)?;
            frame.sealed.extend_from_slice(content);
            frame.set_inputs(self.inputs(nonce, associated, tag));
            Some(())
        })
    }

    fn open(&self, nonce: &Nonce, associated: [&[u8]; 2], content: &mut [u8], tag: &[u8]) -> Option<bool> {
        let inputs = self.inputs(nonce, associated, tag);
        FRAME_CACHE.with_borrow_mut(|cache| {
            let frame = cache.get_mut(place(nonce))?;
            if frame.matches(inputs, content) {
                content.copy_from_slice(&frame.plain);
                return Some(true);
            }
            frame.clear();
            frame.sealed.extend_from_slice(content);
            let authentic = ccm::decrypt(&self.aes, nonce, associated, content, tag);
            if authentic == Some(true) {
                frame.plain.extend_from_slice(content);
                frame.set_inputs(inputs);
            }
            authentic
        })
    }
}

impl CachedAes {
    /// Returns all inputs except the content.
    fn inputs<'a>(
        &'a self, nonce: &'a Nonce, [first, second]: [&'a [u8]; 2], tag: &'a [u8],
    ) -> [&'a [u8]; 5] {
        [&self.key, nonce, first, second, tag]
    }
}

thread_local! {
    static FRAME_CACHE: RefCell<Vec<Frame>> = RefCell::new(vec![Frame::default(); CACHED_FRAMES]);
}

/// Cached authentic frame.
#[derive(Clone, Default)]
struct Frame {
    /// Key, nonce, associated data and tag, each after its length; empty for an unused entry.
    inputs: Vec<u8>,
    /// Encrypted content.
    sealed: Vec<u8>,
    plain: Vec<u8>,
}

impl Frame {
    /// Returns whether the inputs equal those of this entry.
    fn matches(&self, parts: [&[u8]; 5], sealed: &[u8]) -> bool {
        let mut inputs = self.inputs.as_slice();
        let same = parts.into_iter().all(|part| {
            let rest = inputs.split_first().filter(|(length, _)| usize::from(**length) == part.len());
            let rest = rest.and_then(|(_, rest)| rest.strip_prefix(part));
            inputs = rest.unwrap_or_default();
            rest.is_some()
        });
        same && self.sealed == sealed
    }

    /// Clears the entry.
    fn clear(&mut self) {
        self.inputs.clear();
        self.sealed.clear();
        self.plain.clear();
    }

    /// Makes the entry valid. Entries with an input longer than 255 bytes stay invalid.
    fn set_inputs(&mut self, inputs: [&[u8]; 5]) {
        for part in inputs {
            let Ok(length) = u8::try_from(part.len()) else { return self.inputs.clear() };
            self.inputs.push(length);
            self.inputs.extend_from_slice(part);
        }
    }
}

/// Returns the cache place of a nonce.
///
/// The place depends on the sender's address and the lowest bits of the sequence number. New frames
/// of a robot replace its old ones, and a small swarm's entries stay in the processor's caches.
fn place(&[low, high, _, _, _, _, sequence, ..]: &Nonce) -> usize {
    (usize::from(u16::from_le_bytes([low, high])) * FRAMES_PER_ROBOT
        + usize::from(sequence) % FRAMES_PER_ROBOT)
        % CACHED_FRAMES
}

#[cfg(test)]
mod tests {
    use wdgnn_link::security::aes::Aes;

    use super::*;

    const HEADER: [&[u8]; 2] = [b"who and ", b"when"];

    fn sealed(cipher: &dyn BlockCipher, nonce: &Nonce, content: &mut [u8]) -> [u8; 8] {
        let mut tag = [0; 8];
        ccm::seal(cipher, nonce, HEADER, content, &mut tag).unwrap();
        tag
    }

    #[test]
    fn cached_and_uncached_frames_open_as_with_the_reference_cipher() {
        let key = [3; 16];
        // More frames than places, and contents of many lengths.
        for round in 0..3_u8 {
            for number in 0..2 * CACHED_FRAMES as u16 {
                let [low, high] = number.to_le_bytes();
                let mut nonce = [round; 13];
                (nonce[3], nonce[4]) = (low, high);
                let plain: Vec<u8> = (0..number % 300).map(|byte| byte as u8 ^ low).collect();
                let mut content = plain.clone();
                let tag = sealed(&Aes::new(&key), &nonce, &mut content);
                for _ in 0..2 {
                    let mut opened = content.clone();
                    assert!(ccm::open(&CachedAes::with_key(&key), &nonce, HEADER, &mut opened, &tag));
                    assert_eq!(opened, plain);
                }
            }
        }
    }

    #[test]
    fn a_cached_frame_with_any_byte_changed_is_rejected() {
        let (cipher, nonce) = (CachedAes::with_key(&[4; 16]), [5; 13]);
        let mut content = *b"what robots tell each other, a few words";
        let tag = sealed(&cipher, &nonce, &mut content);
        let refused = |cipher: &CachedAes, nonce: &Nonce, header: [&[u8]; 2], content: &[u8], tag: &[u8]| {
            let mut opened = content.to_vec();
            !ccm::open(cipher, nonce, header, &mut opened, tag) && opened.iter().all(|byte| *byte == 0)
        };
        let known = || assert!(!refused(&cipher, &nonce, HEADER, &content, &tag));
        for place in 0..content.len() {
            known();
            let mut changed = content;
            changed[place] ^= 1;
            assert!(refused(&cipher, &nonce, HEADER, &changed, &tag));
        }
        for place in 0..tag.len() {
            known();
            let mut changed = tag;
            changed[place] ^= 0x80;
            assert!(refused(&cipher, &nonce, HEADER, &content, &changed));
        }
        known();
        assert!(refused(&cipher, &nonce, HEADER, &content[1..], &tag));
        assert!(refused(&cipher, &[6; 13], HEADER, &content, &tag));
        assert!(refused(&cipher, &nonce, [b"who and ", b"then"], &content, &tag));
        assert!(refused(&CachedAes::with_key(&[7; 16]), &nonce, HEADER, &content, &tag));
        // CCM authenticates the concatenated header, so the boundary between its parts has no
        // effect.
        assert!(!refused(&cipher, &nonce, [b"who", b" and when"], &content, &tag));
    }

    #[test]
    fn a_frame_sealed_or_opened_once_is_not_decrypted_again() {
        let first = CachedAes::with_key(&[8; 16]);
        // Has the key for lookups but another cipher, so it cannot open a frame itself.
        let second = CachedAes { key: [8; 16], aes: HardwareAes::with_key(&[0; 16]) };
        let (mut ours, mut theirs) = ([1, 2, 3], [4, 5, 6]);
        let our_tag = sealed(&first, &[9; 13], &mut ours);
        let their_tag = sealed(&Aes::new(&[8; 16]), &[10; 13], &mut theirs);
        let opens = |who: &CachedAes, nonce, mut content: [u8; 3], tag| {
            ccm::open(who, nonce, HEADER, &mut content, tag).then_some(content)
        };
        assert_eq!(opens(&second, &[9; 13], ours, &our_tag), Some([1, 2, 3]));
        assert_eq!(opens(&second, &[10; 13], theirs, &their_tag), None);
        assert_eq!(opens(&first, &[10; 13], theirs, &their_tag), Some([4, 5, 6]));
        assert_eq!(opens(&second, &[10; 13], theirs, &their_tag), Some([4, 5, 6]));
    }
}
