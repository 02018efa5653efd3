//! AES-CCM: the vectors of RFC 3610, the crate `ccm` as a reference, and every changed bit.

use crate::common::prelude::{Aes, seeded_cases};
use ccm::{
    Ccm,
    aead::{
        AeadInOut as _, KeyInit as _,
        consts::{U4, U6, U8, U10, U12, U13, U14, U16},
    },
};
use proptest::prelude::*;
use wdgnn_link::security::ccm::{Block, BlockCipher, Nonce, open, seal, try_open, verify};

/// Packets with 8-byte tags in RFC 3610, section 8: last count of the nonce, length of the associated data, packet length,
/// and ciphertext with tag.
const PACKETS: [(u8, usize, usize, &str); 6] = [
    (3, 8, 31, "588c979a61c663d2f066d0c2c0f989806d5f6b61dac38417e8d12cfdf926e0"),
    (4, 8, 32, "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3ba091d56e10400916"),
    (5, 8, 33, "51b1e5f44a197d1da46b0f8e2d282ae871e838bb64da8596574adaa76fbd9fb0c5"),
    (6, 12, 31, "a28c6865939a9a79faaa5c4c2a9d4a91cdac8c96c861b9c9e61ef1"),
    (7, 12, 32, "dcf1fb7b5d9e23fb9d4e131253658ad86ebdca3e51e83f077d9c2d93"),
    (8, 12, 33, "6fc1b011f006568b5171a42d953d469b2570a4bd87405a0443ac91cb94"),
];

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn rfc_3610_vectors_are_reproduced() {
    let key: [u8; 16] = core::array::from_fn(|index| 0xc0 + index as u8);
    let aes = Aes::new(&key);
    for (number, associated, length, sealed) in PACKETS {
        let counts = [number, number - 1, number - 2, number - 3];
        let nonce: Nonce = [[0, 0, 0].as_slice(), &counts, &[0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5]]
            .concat()
            .try_into()
            .unwrap();
        let mut packet: Vec<u8> = (0..length as u8).collect();
        let (header, content) = packet.split_at_mut(associated);
        // The split of the associated data does not matter.
        for cut in 0..=associated {
            let (first, second) = header.split_at(cut);
            let (mut content, mut tag) = (content.to_vec(), [0; 8]);
            let plain = content.clone();
            seal(&aes, &nonce, [first, second], &mut content, &mut tag).unwrap();
            assert_eq!([content.as_slice(), &tag].concat(), bytes(sealed), "packet with nonce {number}");
            assert!(verify(&aes, &nonce, [first, second], &content, &tag));
            assert!(open(&aes, &nonce, [first, second], &mut content, &tag));
            assert_eq!(content, plain);
        }
    }
}

#[test]
fn lengths_that_the_format_cannot_represent_are_rejected() {
    let aes = Aes::new(&[7; 16]);
    let (mut tag, mut long) = ([0; 8], vec![0; 65_536]);
    let refused = |associated: &[u8], content: &mut [u8], tag: &mut [u8]| {
        seal(&aes, &[0; 13], [associated, &[]], content, tag).is_none()
            && !open(&aes, &[0; 13], [associated, &[]], content, tag)
            && !verify(&aes, &[0; 13], [associated, &[]], content, tag)
    };
    assert!(refused(&[1], &mut long, &mut tag));
    assert!(refused(&vec![1; 0xff00], &mut [], &mut tag));
    assert!(refused(&[], &mut [1], &mut tag), "associated data is never empty");
    for bytes in [0, 2, 5, 18] {
        assert!(refused(&[1], &mut [1], &mut vec![0; bytes]), "a tag of {bytes} bytes");
    }
}

/// Ciphertext and tag of the reference crate.
fn reference(
    key: [u8; 16], nonce: [u8; 13], associated: &[u8], content: &[u8], bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    macro_rules! made {
        ($length:ty) => {{
            let mut sealed = content.to_vec();
            let tag = Ccm::<aes::Aes128, $length, U13>::new(&key.into())
                .encrypt_inout_detached(&nonce.into(), associated, sealed.as_mut_slice().into())
                .unwrap();
            (sealed, tag.to_vec())
        }};
    }
    match bytes {
        4 => made!(U4),
        6 => made!(U6),
        8 => made!(U8),
        10 => made!(U10),
        12 => made!(U12),
        14 => made!(U14),
        _ => made!(U16),
    }
}

/// A cipher that encrypts one block at a time, as a hardware engine does.
struct OneByOne(Aes);

impl BlockCipher for OneByOne {
    fn with_key(key: &[u8; 16]) -> Self {
        Self(Aes::new(key))
    }

    fn encrypt(&self, block: &mut Block) {
        self.0.encrypt(block);
    }
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn ciphertext_and_tags_of_every_length_are_those_of_the_reference_crate(
        key: [u8; 16],
        nonce: [u8; 13],
        associated in prop::collection::vec(any::<u8>(), 1..80),
        content in prop::collection::vec(any::<u8>(), 0..200),
        cut in any::<prop::sample::Index>(),
        bytes in (2_usize..=8).prop_map(|half| 2 * half),
    ) {
        let aes = Aes::new(&key);
        let parts: [&[u8]; 2] = associated.split_at(cut.index(associated.len())).into();
        let (mut sealed, mut tag) = (content.clone(), vec![0; bytes]);
        seal(&aes, &nonce, parts, &mut sealed, &mut tag).unwrap();
        let (expected, expected_tag) = reference(key, nonce, &associated, &content, bytes);
        prop_assert_eq!((&sealed, &tag), (&expected, &expected_tag));
        prop_assert!(verify(&aes, &nonce, parts, &sealed, &tag));
        let mut opened = sealed.clone();
        prop_assert!(open(&aes, &nonce, parts, &mut opened, &tag));
        prop_assert_eq!(&opened, &content);
        // One bit of one or of two bytes: equal differences must not cancel.
        for first in 0..bytes {
            for second in first..bytes {
                let mut changed = tag.clone();
                changed[first] ^= 0x10;
                if second > first {
                    changed[second] ^= 0x10;
                }
                prop_assert!(!verify(&aes, &nonce, parts, &sealed, &changed), "{} {}", first, second);
            }
        }
    }

    #[test]
    fn single_block_ciphers_give_the_result_of_paired_ones(
        key: [u8; 16],
        content in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let (mut pairs, mut single, mut tags) = (content.clone(), content, [[0; 8]; 2]);
        let [first, second] = &mut tags;
        seal(&Aes::new(&key), &[3; 13], [&[1], &[2]], &mut pairs, first).unwrap();
        seal(&OneByOne(Aes::new(&key)), &[3; 13], [&[1], &[2]], &mut single, second).unwrap();
        prop_assert_eq!((pairs, tags[0]), (single, tags[1]));
    }

    #[test]
    fn one_changed_bit_is_detected_and_the_plaintext_is_wiped(
        content in prop::collection::vec(any::<u8>(), 1..100),
        associated in prop::collection::vec(any::<u8>(), 1..30),
        bit in any::<prop::sample::Index>(),
    ) {
        let aes = Aes::new(&[7; 16]);
        let (mut sealed, mut tag) = (content, [0; 8]);
        seal(&aes, &[1; 13], [&associated, &[]], &mut sealed, &mut tag).unwrap();
        let mut all = [[1; 13].as_slice(), &associated, &sealed, &tag].concat();
        let bit = bit.index(8 * all.len());
        all[bit / 8] ^= 1 << (bit % 8);
        let (nonce, rest) = all.split_first_chunk::<13>().unwrap();
        let (associated, rest) = rest.split_at(associated.len());
        let (changed, tag) = rest.split_at(sealed.len());
        prop_assert!(!verify(&aes, nonce, [associated, &[]], changed, tag));
        let mut opened = changed.to_vec();
        prop_assert!(!open(&aes, nonce, [associated, &[]], &mut opened, tag));
        prop_assert!(opened.iter().all(|byte| *byte == 0));
    }
}

#[test]
fn content_that_one_key_does_not_open_is_unchanged_for_the_next_key() {
    let [right, wrong] = [[1; 16], [2; 16]].map(|key: [u8; 16]| Aes::new(&key));
    for length in 0..70 {
        let plain: Vec<u8> = (0..length).collect();
        let (mut content, mut tag) = (plain.clone(), [0; 8]);
        seal(&right, &[7; 13], [&[9], &[]], &mut content, &mut tag).unwrap();
        let sealed = content.clone();
        assert!(!try_open(&wrong, &[7; 13], [&[9], &[]], &mut content, &tag));
        assert_eq!(content, sealed);
        assert!(try_open(&right, &[7; 13], [&[9], &[]], &mut content, &tag));
        assert_eq!(content, plain);
    }
}
