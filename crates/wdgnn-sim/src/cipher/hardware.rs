//! CCM with the processor's AES instructions, which are detected once per frame.

use aes::{
    Aes128,
    cipher::{
        Block as BlockOf, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt as _,
        BlockSizeUser, KeyInit as _, consts::U16,
    },
};
use wdgnn_link::security::{
    ccm::{self, Block, BlockCipher, Blocks, Nonce},
    key::Key,
};

/// AES-128 with a key.
pub struct HardwareAes(Aes128);

impl BlockCipher for HardwareAes {
    fn with_key(key: &Key) -> Self {
        Self(Aes128::new(key.into()))
    }

    fn encrypt(&self, block: &mut Block) {
        self.0.encrypt_block(block.into());
    }

    fn seal(&self, nonce: &Nonce, associated: [&[u8]; 2], content: &mut [u8], tag: &mut [u8]) -> Option<()> {
        let mut sealed = None;
        let frame = Frame { nonce, associated, content };
        self.0.encrypt_with_backend(Seal { frame, tag, sealed: &mut sealed });
        sealed
    }

    fn open(&self, nonce: &Nonce, associated: [&[u8]; 2], content: &mut [u8], tag: &[u8]) -> Option<bool> {
        let mut authentic = None;
        let frame = Frame { nonce, associated, content };
        self.0.encrypt_with_backend(Open { frame, tag, authentic: &mut authentic });
        authentic
    }
}

/// Nonce, associated data and content of a frame.
struct Frame<'a> {
    nonce: &'a Nonce,
    associated: [&'a [u8]; 2],
    content: &'a mut [u8],
}

struct Seal<'a> {
    frame: Frame<'a>,
    tag: &'a mut [u8],
    sealed: &'a mut Option<()>,
}

struct Open<'a> {
    frame: Frame<'a>,
    tag: &'a [u8],
    authentic: &'a mut Option<bool>,
}

impl BlockSizeUser for Seal<'_> {
    type BlockSize = U16;
}

impl BlockSizeUser for Open<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Seal<'_> {
    #[expect(
        clippy::inline_always,
        reason = "must be inlined into the function that enables the CPU features"
    )]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let Frame { nonce, associated, content } = self.frame;
        *self.sealed = ccm::seal_by(&Backend(backend), nonce, associated, content, self.tag);
    }
}

impl BlockCipherEncClosure for Open<'_> {
    #[expect(
        clippy::inline_always,
        reason = "must be inlined into the function that enables the CPU features"
    )]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let Frame { nonce, associated, content } = self.frame;
        *self.authentic = ccm::decrypt_by(&Backend(backend), nonce, associated, content, self.tag);
    }
}

/// AES implementation for this processor.
struct Backend<'a, B>(&'a B);

impl<B: BlockCipherEncBackend<BlockSize = U16>> Blocks for Backend<'_, B> {
    #[expect(
        clippy::inline_always,
        reason = "must be inlined into the function that enables the CPU features"
    )]
    #[inline(always)]
    fn one(&self, block: &mut Block) {
        let block: &mut BlockOf<B> = block.into();
        self.0.encrypt_block(block.into());
    }

    /// The two encryptions are independent, so the processor overlaps them.
    #[expect(
        clippy::inline_always,
        reason = "must be inlined into the function that enables the CPU features"
    )]
    #[inline(always)]
    fn two(&self, first: &mut Block, second: &mut Block) {
        self.one(first);
        self.one(second);
    }
}
