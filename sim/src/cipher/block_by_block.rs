//! CCM where processors have no AES of their own, as in a browser: the core's, in software.

use wdgnn_core::{
    ccm::{self, Block, BlockCipher as _, Nonce},
    cipher::Aes,
    seal::Key,
};

/// AES-128 with a key.
pub struct Whole(Aes);

impl Whole {
    /// Expands the key.
    pub fn new(key: &Key) -> Self {
        Self(Aes::new(key))
    }

    /// Encrypts one block.
    pub fn encrypt(&self, block: &mut Block) {
        self.0.encrypt(block);
    }

    /// [`ccm::seal`].
    pub fn seal(
        &self,
        nonce: &Nonce,
        associated: [&[u8]; 2],
        content: &mut [u8],
        tag: &mut [u8],
    ) -> Option<()> {
        ccm::seal(&self.0, nonce, associated, content, tag)
    }

    /// [`ccm::decrypt`].
    pub fn decrypt(
        &self,
        nonce: &Nonce,
        associated: [&[u8]; 2],
        content: &mut [u8],
        tag: &[u8],
    ) -> Option<bool> {
        ccm::decrypt(&self.0, nonce, associated, content, tag)
    }
}
