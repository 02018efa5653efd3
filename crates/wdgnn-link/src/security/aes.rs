//! AES-128 in software, with the `aes` crate in constant time.

use aes::{
    Aes128,
    cipher::{BlockCipherEncrypt as _, KeyInit as _},
};

use crate::security::{
    ccm::{Block, BlockCipher},
    key::Key,
};

/// AES-128 with an expanded key.
pub struct Aes(Aes128);

impl Aes {
    /// Expands the key.
    pub fn new(key: &Key) -> Self {
        Self(Aes128::new(&(*key).into()))
    }
}

impl core::fmt::Debug for Aes {
    /// Prints the type only, never the key.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Aes")
    }
}

impl BlockCipher for Aes {
    fn with_key(key: &Key) -> Self {
        Self::new(key)
    }

    fn encrypt(&self, block: &mut Block) {
        self.0.encrypt_block(block.into());
    }

    /// Encrypts two blocks in the time of one, in shared registers.
    fn encrypt_pair(&self, first: &mut Block, second: &mut Block) {
        let mut pair = [(*first).into(), (*second).into()];
        self.0.encrypt_blocks(&mut pair);
        [*first, *second] = pair.map(Into::into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, plaintext and ciphertext of FIPS-197, appendix C.1.
    const EXAMPLE: [Block; 3] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff],
        [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a],
    ];

    #[test]
    fn single_and_paired_blocks_match_fips_197() {
        let [key, plain, encrypted] = EXAMPLE;
        let aes = Aes::new(&key);
        let mut block = plain;
        aes.encrypt(&mut block);
        assert_eq!(block, encrypted);
        let (mut first, mut second) = (plain, [7; 16]);
        aes.encrypt_pair(&mut first, &mut second);
        aes.encrypt(&mut block);
        assert_eq!(first, encrypted);
        let mut alone = [7; 16];
        aes.encrypt(&mut alone);
        assert_eq!(second, alone);
    }
}
