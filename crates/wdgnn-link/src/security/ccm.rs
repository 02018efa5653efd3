//! CCM authenticated encryption (RFC 3610) with any block cipher, in place.
//!
//! The nonce has 13 bytes as in IEEE 802.15.4, so the length field has 2 bytes.
//!
//! The functions take `dyn` ciphers, so they are compiled once in this crate and optimized for
//! speed. They never panic. Their duration depends only on the lengths of content and tag, not on
//! key, content or tag.

use core::hint::black_box;

/// Block of the cipher.
pub type Block = [u8; 16];

/// Nonce. It must never be used twice with one key.
pub type Nonce = [u8; 13];

/// Associated data in two parts, of which at least one is not empty: authenticated, but not encrypted.
pub type Clear<'a> = [&'a [u8]; 2];

/// Block cipher with its key, such as AES-128.
///
/// A board can implement it with its own hardware.
pub trait BlockCipher {
    /// Creates the cipher with this key.
    fn with_key(key: &[u8; 16]) -> Self
    where
        Self: Sized;

    /// Encrypts one block.
    fn encrypt(&self, block: &mut Block);

    /// Encrypts two blocks, for ciphers that do so in the time of one.
    fn encrypt_pair(&self, first: &mut Block, second: &mut Block) {
        self.encrypt(first);
        self.encrypt(second);
    }

    /// [`seal`]s a whole frame, for ciphers with hardware CCM.
    ///
    /// The default changes nothing and returns `None`: CCM then works block by block.
    fn seal(&self, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &mut [u8]) -> Option<()> {
        let _ = (nonce, clear, content, tag);
        None
    }

    /// [`decrypt`]s a whole frame, for ciphers with hardware CCM.
    ///
    /// The default changes nothing and returns `None`: CCM then works block by block.
    fn open(&self, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &[u8]) -> Option<bool> {
        let _ = (nonce, clear, content, tag);
        None
    }
}

/// Block operations of CCM: one block, or two independent blocks.
pub trait Blocks {
    /// Encrypts one block.
    fn one(&self, block: &mut Block);

    /// Encrypts two blocks.
    fn two(&self, first: &mut Block, second: &mut Block);
}

impl Blocks for dyn BlockCipher + '_ {
    fn one(&self, block: &mut Block) {
        self.encrypt(block);
    }

    fn two(&self, first: &mut Block, second: &mut Block) {
        self.encrypt_pair(first, second);
    }
}

/// Encrypts `content` and computes its authentication `tag`.
///
/// The tag also authenticates `clear`. It
/// has 4, 6, … 16 bytes. Returns `None` if a length does not fit the format.
pub fn seal(
    cipher: &dyn BlockCipher, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &mut [u8],
) -> Option<()> {
    let whole = cipher.seal(nonce, clear, content, tag);
    whole.or_else(|| {
        let made = run(cipher, nonce, clear, content, tag.len(), Way::Seal)?;
        tag.iter_mut().zip(made).for_each(|(to, from)| *to = from);
        Some(())
    })
}

/// Decrypts `content` and returns whether `tag` authenticates it.
///
/// The tag also authenticates `clear`. If it does not match, `content` is
/// zeroed.
#[must_use]
pub fn open(
    cipher: &dyn BlockCipher, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &[u8],
) -> bool {
    let authentic = decrypt(cipher, nonce, clear, content, tag) == Some(true);
    if !authentic {
        content.fill(0);
    }
    authentic
}

/// [`open`] that restores `content` if the tag does not match.
///
/// The caller can then try another key.
#[must_use]
pub fn try_open(
    cipher: &dyn BlockCipher, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &[u8],
) -> bool {
    let authentic = decrypt(cipher, nonce, clear, content, tag);
    if authentic == Some(false) {
        // A second application of the key stream restores the content.
        let _ = run(cipher, nonce, clear, content, tag.len(), Way::Seal);
    }
    authentic == Some(true)
}

/// Decrypts `content` and returns whether the tag matches.
///
/// `content` is decrypted in both cases. Returns `None`, without changes, if a length does not fit
/// the format.
#[must_use]
pub fn decrypt(
    cipher: &dyn BlockCipher, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &[u8],
) -> Option<bool> {
    let whole = cipher.open(nonce, clear, content, tag);
    whole.or_else(|| run(cipher, nonce, clear, content, tag.len(), Way::Open).map(|made| same(&made, tag)))
}

/// [`seal`] with static dispatch, compiled into the caller.
///
/// It is for callers whose processor has instructions for the block operations.
#[expect(clippy::inline_always, reason = "callers enable the processor's instructions")]
#[inline(always)]
pub fn seal_by(
    blocks: &impl Blocks, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &mut [u8],
) -> Option<()> {
    let made = run_by(blocks, nonce, clear, content, tag.len(), Way::Seal)?;
    tag.iter_mut().zip(made).for_each(|(to, from)| *to = from);
    Some(())
}

/// [`decrypt`] with static dispatch, compiled into the caller.
#[expect(clippy::inline_always, reason = "callers enable the processor's instructions")]
#[inline(always)]
pub fn decrypt_by(
    blocks: &impl Blocks, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag: &[u8],
) -> Option<bool> {
    run_by(blocks, nonce, clear, content, tag.len(), Way::Open).map(|made| same(&made, tag))
}

/// Returns the result of [`open`] without changing `content`.
#[must_use]
pub fn verify(cipher: &dyn BlockCipher, nonce: &Nonce, clear: Clear<'_>, content: &[u8], tag: &[u8]) -> bool {
    let Some(lengths) = Lengths::of(clear, content.len(), tag.len()) else { return false };
    let mut run = Run::begin(cipher, nonce, clear, &lengths);
    for block in content.chunks(16) {
        mix(&mut run.mac, block);
        // CCM authenticates the plaintext, which is the ciphertext XOR the key stream.
        let stream = run.stream;
        mix(&mut run.mac, stream.get(..block.len()).unwrap_or_default());
        run.step();
    }
    same(&run.tag(), tag)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Seal,
    Open,
}

/// Encrypts or decrypts in place and returns the tag.
#[inline(never)]
fn run(
    cipher: &dyn BlockCipher, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag_bytes: usize, way: Way,
) -> Option<Block> {
    run_by(cipher, nonce, clear, content, tag_bytes, way)
}

/// [`run`] with static dispatch, compiled into the caller.
#[expect(clippy::inline_always, reason = "callers enable the processor's instructions")]
#[inline(always)]
fn run_by<B: Blocks + ?Sized>(
    cipher: &B, nonce: &Nonce, clear: Clear<'_>, content: &mut [u8], tag_bytes: usize, way: Way,
) -> Option<Block> {
    let lengths = Lengths::of(clear, content.len(), tag_bytes)?;
    let mut run = Run::begin(cipher, nonce, clear, &lengths);
    let (blocks, rest) = content.as_chunks_mut();
    for block in blocks {
        let given = *block;
        xor(block, &run.stream);
        // CCM authenticates the plaintext.
        xor(&mut run.mac, if way == Way::Seal { &given } else { block });
        run.step();
    }
    if !rest.is_empty() {
        if way == Way::Seal {
            mix(&mut run.mac, rest);
        }
        mix(rest, &run.stream);
        if way == Way::Open {
            mix(&mut run.mac, rest);
        }
        cipher.one(&mut run.mac);
    }
    Some(run.tag())
}

/// Length fields of the first blocks.
struct Lengths {
    flags: u8,
    content: [u8; 2],
    associated: [u8; 2],
}

impl Lengths {
    fn of(clear: Clear<'_>, content: usize, tag: usize) -> Option<Self> {
        let associated = clear.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        // From 0xff00 bytes on, the length of associated data has another encoding.
        let associated = u16::try_from(associated).ok().filter(|length| (1..0xff00).contains(length))?;
        let tag = u8::try_from(tag).ok().filter(|bytes| (4..=16).contains(bytes) && bytes % 2 == 0)?;
        Some(Self {
            // Flags: associated data is present, the tag's length, and a length field of two bytes.
            flags: 0x40 | (((tag - 2) / 2) << 3) | 1,
            content: u16::try_from(content).ok()?.to_be_bytes(),
            associated: associated.to_be_bytes(),
        })
    }
}

/// CBC-MAC and counter mode, computed in pairs of independent blocks.
struct Run<'a, B: ?Sized> {
    cipher: &'a B,
    /// CBC-MAC of all blocks so far.
    mac: Block,
    /// Key stream for the next block.
    stream: Block,
    /// Counter block that follows `stream`.
    counter: Block,
    /// Key stream for the tag.
    tag_mask: Block,
}

impl<'a, B: Blocks + ?Sized> Run<'a, B> {
    /// Processes lengths, nonce and associated data.
    #[expect(clippy::inline_always, reason = "a return by value takes a third as long as the computation")]
    #[inline(always)]
    fn begin(cipher: &'a B, nonce: &Nonce, clear: Clear<'_>, lengths: &Lengths) -> Self {
        let &[a, b, c, d, e, f, g, h, i, j, k, l, m] = nonce;
        let mut tag_mask = [1, a, b, c, d, e, f, g, h, i, j, k, l, m, 0, 0];
        let (mut mac, mut counter) = (tag_mask, tag_mask);
        let [flags, .., high, low] = &mut mac;
        *flags = lengths.flags;
        [*high, *low] = lengths.content;
        let [.., low] = &mut counter;
        *low = 1;
        cipher.two(&mut mac, &mut tag_mask);

        let [high, low] = lengths.associated;
        let [first, second, ..] = &mut mac;
        (*first, *second) = (*first ^ high, *second ^ low);
        let mut place = 2;
        for mut part in clear {
            while !part.is_empty() {
                if place == 16 {
                    cipher.one(&mut mac);
                    place = 0;
                }
                let room = mac.get_mut(place..).unwrap_or_default();
                let (now, later) = part.split_at_checked(room.len()).unwrap_or((part, &[]));
                mix(room, now);
                place += now.len();
                part = later;
            }
        }
        let mut run = Self { cipher, mac, stream: counter, counter, tag_mask };
        run.step();
        run
    }

    /// Ends a block of the CBC-MAC and computes the next block of the key stream.
    fn step(&mut self) {
        self.stream = self.counter;
        self.cipher.two(&mut self.mac, &mut self.stream);
        let [.., high, low] = &mut self.counter;
        let next = u16::from_be_bytes([*high, *low]).wrapping_add(1);
        [*high, *low] = next.to_be_bytes();
    }

    fn tag(&self) -> Block {
        let mut tag = self.mac;
        xor(&mut tag, &self.tag_mask);
        tag
    }
}

/// `to ^= from`, by words.
#[inline]
fn xor(to: &mut Block, from: &Block) {
    let (words, _) = to.as_chunks_mut();
    let (from_words, _) = from.as_chunks();
    for (to, from) in words.iter_mut().zip(from_words) {
        *to = (u32::from_ne_bytes(*to) ^ u32::from_ne_bytes(*from)).to_ne_bytes();
    }
}

/// `to ^= from` up to the shorter length, by words and then by bytes.
fn mix(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    let (words, bytes) = to.get_mut(..count).unwrap_or_default().as_chunks_mut();
    let (from_words, from_bytes) = from.get(..count).unwrap_or_default().as_chunks();
    for (to, from) in words.iter_mut().zip(from_words) {
        *to = (u32::from_ne_bytes(*to) ^ u32::from_ne_bytes(*from)).to_ne_bytes();
    }
    bytes.iter_mut().zip(from_bytes).for_each(|(to, from)| *to ^= from);
}

/// Returns whether `tag` is the front of `made`, in constant time.
fn same(made: &Block, tag: &[u8]) -> bool {
    let (words, bytes) = tag.as_chunks::<4>();
    let (made_words, _) = made.as_chunks::<4>();
    let made_bytes = made.iter().skip(tag.len() - bytes.len());
    let word = |word: &[u8; 4]| u32::from_ne_bytes(*word);
    let different = words.iter().zip(made_words).fold(0, |different, (a, b)| different | (word(a) ^ word(b)));
    let different =
        bytes.iter().zip(made_bytes).fold(different, |different, (a, b)| different | u32::from(a ^ b));
    black_box(different) == 0
}
