//! CCM (RFC 3610): encryption and authentication by any block cipher, with the nonce of IEEE 802.15.4 (13 bytes) and so a length of 2
//! bytes, in place.
//!
//! It is not generic, so it is compiled here, once and for speed. It never panics, and takes the same time for every key, content
//! and tag of one length.

use core::hint::black_box;

/// What a block cipher works on.
pub type Block = [u8; 16];

/// What must never be used twice with one key.
pub type Nonce = [u8; 13];

/// A block cipher with its key, such as AES-128. A board may bring its own, such as its processor's.
pub trait BlockCipher {
    /// The cipher with this key.
    fn with_key(key: &[u8; 16]) -> Self
    where
        Self: Sized;

    /// Encrypts one block.
    fn encrypt(&self, block: &mut Block);

    /// Encrypts two blocks: for ciphers that do so at the price of one.
    fn encrypt_pair(&self, first: &mut Block, second: &mut Block) {
        self.encrypt(first);
        self.encrypt(second);
    }

    /// [`seal`]s a whole frame: for whatever has a faster way to do so than block by block, such as a chip's own CCM. `None`, and nothing
    /// has changed, where there is none.
    fn seal(&self, nonce: &Nonce, associated: [&[u8]; 2], content: &mut [u8], tag: &mut [u8]) -> Option<()> {
        let _ = (nonce, associated, content, tag);
        None
    }

    /// [`decrypt`]s a whole frame, likewise.
    fn open(&self, nonce: &Nonce, associated: [&[u8]; 2], content: &mut [u8], tag: &[u8]) -> Option<bool> {
        let _ = (nonce, associated, content, tag);
        None
    }
}

/// What CCM asks of a cipher: a block, or two that do not depend on each other.
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

/// Encrypts `content` and fills `tag`, which authenticates it and both parts of `associated`, which is never empty. A tag has 4, 6, …
/// 16 bytes. `None` when something is longer than the format can tell, or shorter.
pub fn seal(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &mut [u8],
) -> Option<()> {
    let whole = cipher.seal(nonce, associated, content, tag);
    whole.or_else(|| {
        let made = run(cipher, nonce, associated, content, tag.len(), Way::Seal)?;
        tag.iter_mut().zip(made).for_each(|(to, from)| *to = from);
        Some(())
    })
}

/// Decrypts `content`, and says whether `tag` authenticates it and both parts of `associated`. If it does not, `content` is wiped.
#[must_use]
pub fn open(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &[u8],
) -> bool {
    let authentic = decrypt(cipher, nonce, associated, content, tag) == Some(true);
    if !authentic {
        content.fill(0);
    }
    authentic
}

/// The same, but if the tag does not fit, `content` is what it was before: for whoever has another key to try.
#[must_use]
pub fn try_open(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &[u8],
) -> bool {
    let authentic = decrypt(cipher, nonce, associated, content, tag);
    if authentic == Some(false) {
        // What hides it once more brings it back.
        let _ = run(cipher, nonce, associated, content, tag.len(), Way::Seal);
    }
    authentic == Some(true)
}

/// Decrypts `content`, whether the tag fits or not, and says which. `None` when something is too long, or too short: nothing has changed then.
#[must_use]
pub fn decrypt(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &[u8],
) -> Option<bool> {
    let whole = cipher.open(nonce, associated, content, tag);
    whole.or_else(|| {
        run(cipher, nonce, associated, content, tag.len(), Way::Open).map(|made| same(&made, tag))
    })
}

/// [`seal`] for whoever has both kinds of block at hand as instructions: all of it is compiled into the caller.
#[expect(clippy::inline_always, reason = "see above")]
#[inline(always)]
pub fn seal_by(
    blocks: &impl Blocks,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &mut [u8],
) -> Option<()> {
    let made = run_by(blocks, nonce, associated, content, tag.len(), Way::Seal)?;
    tag.iter_mut().zip(made).for_each(|(to, from)| *to = from);
    Some(())
}

/// [`decrypt`], likewise.
#[expect(clippy::inline_always, reason = "see above")]
#[inline(always)]
pub fn decrypt_by(
    blocks: &impl Blocks,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &[u8],
) -> Option<bool> {
    run_by(blocks, nonce, associated, content, tag.len(), Way::Open).map(|made| same(&made, tag))
}

/// Says what [`open`] would, and leaves `content` as it is.
#[must_use]
pub fn verify(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &[u8],
    tag: &[u8],
) -> bool {
    let Some(lengths) = Lengths::of(associated, content.len(), tag.len()) else { return false };
    let mut run = Run::begin(cipher, nonce, associated, &lengths);
    for block in content.chunks(16) {
        mix(&mut run.mac, block);
        // What was encrypted counts as what it was before: the key stream goes in as well, as far as the block goes.
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

/// Both ways, in place. Returns the tag.
#[inline(never)]
fn run(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag_bytes: usize,
    way: Way,
) -> Option<Block> {
    run_by(cipher, nonce, associated, content, tag_bytes, way)
}

/// [`run`], compiled into whoever calls it.
#[expect(
    clippy::inline_always,
    reason = "processors' instructions are only used where they are known to be there"
)]
#[inline(always)]
fn run_by<B: Blocks + ?Sized>(
    cipher: &B,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag_bytes: usize,
    way: Way,
) -> Option<Block> {
    let lengths = Lengths::of(associated, content.len(), tag_bytes)?;
    let mut run = Run::begin(cipher, nonce, associated, &lengths);
    let (blocks, rest) = content.as_chunks_mut();
    for block in blocks {
        let given = *block;
        xor(block, &run.stream);
        // What is authenticated is what is not encrypted.
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

/// Lengths as the first blocks tell them.
struct Lengths {
    flags: u8,
    content: [u8; 2],
    associated: [u8; 2],
}

impl Lengths {
    fn of(associated: [&[u8]; 2], content: usize, tag: usize) -> Option<Self> {
        let associated = associated.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        // From 0xff00 on, associated data would tell its length in another way.
        let associated = u16::try_from(associated).ok().filter(|length| (1..0xff00).contains(length))?;
        let tag = u8::try_from(tag).ok().filter(|bytes| (4..=16).contains(bytes) && bytes % 2 == 0)?;
        Some(Self {
            // There is associated data, the tag's length, and a length of two bytes.
            flags: 0x40 | (((tag - 2) / 2) << 3) | 1,
            content: u16::try_from(content).ok()?.to_be_bytes(),
            associated: associated.to_be_bytes(),
        })
    }
}

/// CBC-MAC and counter mode, side by side: each block's step of the one makes the next block of the other.
struct Run<'a, B: ?Sized> {
    cipher: &'a B,
    /// The authentication of everything so far.
    mac: Block,
    /// What hides the next block.
    stream: Block,
    /// Which comes behind that.
    counter: Block,
    /// What hides the tag.
    tag_mask: Block,
}

impl<'a, B: Blocks + ?Sized> Run<'a, B> {
    /// Takes in lengths, nonce and associated data.
    #[expect(clippy::inline_always, reason = "handing it over by value took a third as long as making it")]
    #[inline(always)]
    fn begin(cipher: &'a B, nonce: &Nonce, associated: [&[u8]; 2], lengths: &Lengths) -> Self {
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
        for mut part in associated {
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

    /// Ends a block of the authentication, and makes the next block of the key stream.
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

/// `to ^= from`, four words, or one register of those that are wide enough.
#[inline]
fn xor(to: &mut Block, from: &Block) {
    let (words, _) = to.as_chunks_mut();
    let (from_words, _) = from.as_chunks();
    for (to, from) in words.iter_mut().zip(from_words) {
        *to = (u32::from_ne_bytes(*to) ^ u32::from_ne_bytes(*from)).to_ne_bytes();
    }
}

/// `to ^= from`, as far as both go: by words, and then by bytes.
fn mix(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    let (words, bytes) = to.get_mut(..count).unwrap_or_default().as_chunks_mut();
    let (from_words, from_bytes) = from.get(..count).unwrap_or_default().as_chunks();
    for (to, from) in words.iter_mut().zip(from_words) {
        *to = (u32::from_ne_bytes(*to) ^ u32::from_ne_bytes(*from)).to_ne_bytes();
    }
    bytes.iter_mut().zip(from_bytes).for_each(|(to, from)| *to ^= from);
}

/// Whether a tag is the front of what was made, without a look at where they differ.
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
