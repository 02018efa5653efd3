//! CCM over whole frames by the processor's own AES, where it has one: the instructions are found once a frame, and not once a block.

use aes::{
    Aes128,
    cipher::{
        Block as BlockOf, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt as _,
        BlockSizeUser, consts::U16,
    },
};
use wdgnn_core::ccm::{self, Block, Blocks, Nonce};

/// A frame to be sealed or opened: its nonce, what is only authenticated, and its content.
#[derive(Debug)]
pub struct Frame<'a> {
    /// Never used twice.
    pub nonce: &'a Nonce,
    /// What is only authenticated.
    pub associated: [&'a [u8]; 2],
    /// What is encrypted, too.
    pub content: &'a mut [u8],
}

impl Frame<'_> {
    /// [`ccm::seal`].
    pub fn seal(self, aes: &Aes128, tag: &mut [u8]) -> Option<()> {
        let mut sealed = None;
        aes.encrypt_with_backend(Seal { frame: self, tag, sealed: &mut sealed });
        sealed
    }

    /// [`ccm::decrypt`].
    pub fn decrypt(self, aes: &Aes128, tag: &[u8]) -> Option<bool> {
        let mut authentic = None;
        aes.encrypt_with_backend(Open { frame: self, tag, authentic: &mut authentic });
        authentic
    }
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
    #[expect(clippy::inline_always, reason = "to where the processor's instructions are known to be there")]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let Frame { nonce, associated, content } = self.frame;
        *self.sealed = ccm::seal_by(&Backend(backend), nonce, associated, content, self.tag);
    }
}

impl BlockCipherEncClosure for Open<'_> {
    #[expect(clippy::inline_always, reason = "likewise")]
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let Frame { nonce, associated, content } = self.frame;
        *self.authentic = ccm::decrypt_by(&Backend(backend), nonce, associated, content, self.tag);
    }
}

/// Whatever encrypts on this processor.
struct Backend<'a, B>(&'a B);

impl<B: BlockCipherEncBackend<BlockSize = U16>> Blocks for Backend<'_, B> {
    #[expect(clippy::inline_always, reason = "likewise")]
    #[inline(always)]
    fn one(&self, block: &mut Block) {
        let block: &mut BlockOf<B> = block.into();
        self.0.encrypt_block(block.into());
    }

    /// One does not wait for the other: the processor does both at a time.
    #[expect(clippy::inline_always, reason = "likewise")]
    #[inline(always)]
    fn two(&self, first: &mut Block, second: &mut Block) {
        self.one(first);
        self.one(second);
    }
}
