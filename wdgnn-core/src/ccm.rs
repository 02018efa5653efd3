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
    /// Encrypts one block.
    fn encrypt(&self, block: &mut Block);

    /// Encrypts two blocks: for ciphers that do so at the price of one.
    fn encrypt_pair(&self, first: &mut Block, second: &mut Block) {
        self.encrypt(first);
        self.encrypt(second);
    }
}

/// Encrypts `content` and fills `tag`, which authenticates it and both parts of `associated`. A tag has 4, 6, … 16 bytes. `None` when
/// something is longer than the format can tell.
pub fn seal(
    cipher: &dyn BlockCipher,
    nonce: &Nonce,
    associated: [&[u8]; 2],
    content: &mut [u8],
    tag: &mut [u8],
) -> Option<()> {
    let mut run = Run::begin(cipher, nonce, associated, content.len(), tag.len())?;
    let (blocks, rest) = content.as_chunks_mut();
    for block in blocks {
        xor(&mut run.mac, block);
        xor(block, &run.stream);
        run.step();
    }
    if !rest.is_empty() {
        mix(&mut run.mac, rest);
        mix(rest, &run.stream);
        run.cipher.encrypt(&mut run.mac);
    }
    let made = run.tag();
    tag.iter_mut().zip(made).for_each(|(to, from)| *to = from);
    Some(())
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
    let Some(mut run) = Run::begin(cipher, nonce, associated, content.len(), tag.len()) else { return false };
    let (blocks, rest) = content.as_chunks_mut();
    for block in blocks {
        xor(block, &run.stream);
        xor(&mut run.mac, block);
        run.step();
    }
    if !rest.is_empty() {
        mix(rest, &run.stream);
        mix(&mut run.mac, rest);
        run.cipher.encrypt(&mut run.mac);
    }
    let authentic = same(&run.tag(), tag);
    if !authentic {
        content.fill(0);
    }
    authentic
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
    let Some(mut run) = Run::begin(cipher, nonce, associated, content.len(), tag.len()) else { return false };
    for block in content.chunks(16) {
        mix(&mut run.mac, block);
        // What was encrypted counts as what it was before: the key stream goes in as well, as far as the block goes.
        let stream = run.stream;
        mix(&mut run.mac, stream.get(..block.len()).unwrap_or_default());
        run.step();
    }
    same(&run.tag(), tag)
}

/// CBC-MAC and counter mode, side by side: each block's step of the one makes the next block of the other.
struct Run<'a> {
    cipher: &'a dyn BlockCipher,
    /// The authentication of everything so far.
    mac: Block,
    /// What hides the next block.
    stream: Block,
    /// Which comes behind that.
    counter: Block,
    /// What hides the tag.
    tag_mask: Block,
}

impl<'a> Run<'a> {
    /// Takes in lengths, nonce and associated data.
    fn begin(
        cipher: &'a dyn BlockCipher,
        nonce: &Nonce,
        associated: [&[u8]; 2],
        content_bytes: usize,
        tag_bytes: usize,
    ) -> Option<Self> {
        let associated_bytes = associated.iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()));
        let length = u16::try_from(content_bytes).ok()?.to_be_bytes();
        // From 0xff00 on, associated data would tell its length in another way. It is never empty here.
        let associated_length =
            u16::try_from(associated_bytes).ok().filter(|length| (1..0xff00).contains(length))?;
        let strength =
            u8::try_from(tag_bytes).ok().filter(|bytes| (4..=16).contains(bytes) && bytes % 2 == 0)?;
        // Flags: there is associated data, the tag's length, and a length of two bytes.
        let first = framed(0x40 | (strength - 2) / 2 << 3 | 1, nonce, length);
        let counter = framed(1, nonce, [0, 0]);
        let nothing = [0; 16];
        let mut run = Self { cipher, mac: first, stream: nothing, counter, tag_mask: nothing };
        run.step();
        run.tag_mask = run.stream;

        mix(&mut run.mac, &associated_length.to_be_bytes());
        let mut place = 2;
        for byte in associated.into_iter().flatten() {
            if place == 16 {
                cipher.encrypt(&mut run.mac);
                place = 0;
            }
            if let Some(slot) = run.mac.get_mut(place) {
                *slot ^= byte;
            }
            place += 1;
        }
        run.step();
        Some(run)
    }

    /// Ends a block of the authentication, and makes the next block of the key stream.
    fn step(&mut self) {
        self.stream = self.counter;
        self.cipher.encrypt_pair(&mut self.mac, &mut self.stream);
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

/// Flags, nonce and two bytes more: the frame of CCM's first block and of its counters.
fn framed(flags: u8, nonce: &Nonce, end: [u8; 2]) -> Block {
    let &[a, b, c, d, e, f, g, h, i, j, k, l, m] = nonce;
    [flags, a, b, c, d, e, f, g, h, i, j, k, l, m, end[0], end[1]]
}

/// `to ^= from`, four words.
fn xor(to: &mut Block, from: &Block) {
    *to = (u128::from_ne_bytes(*to) ^ u128::from_ne_bytes(*from)).to_ne_bytes();
}

/// `to ^= from`, as far as both go.
fn mix(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= from);
}

/// Whether a tag is the front of what was made, without a look at where they differ.
fn same(made: &Block, tag: &[u8]) -> bool {
    let different = made.iter().zip(tag).fold(0, |different, (a, b)| different | (a ^ b));
    black_box(different) == 0
}
