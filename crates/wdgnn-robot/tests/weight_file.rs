//! Invalid weight files: each is rejected with its error, never with a panic.

use std::sync::LazyLock;

use crate::common::prelude::*;
use proptest::prelude::*;
use wdgnn_core::weights::{HEADER_BYTES, HeaderField, WeightsError};

/// Network type of the example: F = 1, TAPS = 2, G = 2, O = 1, one layer.
type Golden<'w> = Network<'w, 1, 2, 2, 1, Layer<'w, 2, 1, 2, EndOfStack>>;

const BYTES: usize = 184;

/// The example in the document.
static WEIGHTS: LazyLock<[u8; BYTES]> = LazyLock::new(|| example("weights").try_into().unwrap());

/// The example with `bytes` at `offset` and a correct checksum.
fn with(offset: usize, bytes: &[u8]) -> Aligned<[u8; BYTES]> {
    let mut file = *WEIGHTS;
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
    seal(file)
}

/// CRC-32 bit by bit, independent of the core.
fn seal(mut file: [u8; BYTES]) -> Aligned<[u8; BYTES]> {
    let mut crc = u32::MAX;
    for byte in &file[..BYTES - 4] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    file[BYTES - 4..].copy_from_slice(&(!crc).to_le_bytes());
    Aligned(file)
}

/// Bytes of any length at a multiple of four.
fn aligned(bytes: &[u8]) -> (Vec<u32>, usize) {
    let words = bytes.chunks(4).map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    });
    (words.collect(), bytes.len())
}

fn open(bytes: &[u8]) -> Result<u32, WeightsError> {
    let (words, length) = aligned(bytes);
    let copy = &bytemuck::cast_slice(&words)[..length];
    Weights::open(copy).map(|weights| weights.checksum)
}

#[test]
fn the_checksum_of_this_test_is_that_of_the_example() {
    assert_eq!(seal(*WEIGHTS).0, *WEIGHTS);
}

#[test]
fn truncated_files_are_rejected() {
    for length in 0..BYTES {
        let expected = match length {
            0..4 => WeightsError::NotWeights,
            4..HEADER_BYTES => WeightsError::Length { needed: HEADER_BYTES + 4, found: length },
            _ => WeightsError::Length { needed: BYTES, found: length },
        };
        assert_eq!(open(&WEIGHTS[..length]), Err(expected));
    }
}

#[test]
fn extended_files_are_rejected() {
    let mut long = WEIGHTS.to_vec();
    for _ in 0..64 {
        long.push(0);
        assert_eq!(open(&long), Err(WeightsError::Length { needed: BYTES, found: long.len() }));
    }
}

#[test]
fn flipped_bits_are_rejected() {
    for offset in 0..BYTES {
        for bit in 0..8 {
            let mut file = *WEIGHTS;
            file[offset] ^= 1 << bit;
            let found = file[offset];
            match (offset, open(&file)) {
                (0..4, outcome) => assert_eq!(outcome, Err(WeightsError::NotWeights)),
                (4, outcome) => assert_eq!(outcome, Err(WeightsError::Version { found })),
                (104..108, outcome) => assert!(matches!(outcome, Err(WeightsError::Length { .. }))),
                (_, outcome) => assert_eq!(outcome, Err(WeightsError::Checksum), "bit {bit} of {offset}"),
            }
        }
    }
}

#[test]
fn overflowing_counts_are_rejected() {
    for count in [u32::MAX, u32::MAX / 4, u32::MAX / 4 + 1, 1 << 30, 17, 19] {
        assert!(matches!(
            Weights::open(&with(104, &count.to_le_bytes()).0),
            Err(WeightsError::Length { found: BYTES, .. })
        ));
    }
}

#[test]
fn unknown_codes_are_named() {
    let codes = [
        (5, 3, HeaderField::Activation),
        (7, 4, HeaderField::Scale),
        (96, 2, HeaderField::Learning),
        (97, 3, HeaderField::Learning),
        (98, 4, HeaderField::Learning),
    ];
    for (offset, first_unknown, field) in codes {
        for code in first_unknown..=u8::MAX {
            let error = WeightsError::UnknownCode { field, code };
            assert_eq!(Weights::open(&with(offset, &[code]).0), Err(error));
        }
    }
}

#[test]
fn inadmissible_numbers_in_files_are_rejected() {
    let settings = [8].into_iter().chain((44..96).step_by(4));
    let numbers = (HEADER_BYTES..BYTES - 4).step_by(4);
    for offset in settings.chain(numbers) {
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(1), MAX_ADMISSIBLE.next_up()] {
            let file = with(offset, &x.to_le_bytes());
            assert_eq!(Weights::open(&file.0), Err(WeightsError::NotAdmissible), "{x} at {offset}");
        }
    }
}

#[test]
fn misaligned_files_are_rejected() {
    #[repr(align(4))]
    struct Shifted([u8; BYTES + 1]);
    let mut shifted = Shifted([0; BYTES + 1]);
    shifted.0[1..].copy_from_slice(&*WEIGHTS);
    assert_eq!(Weights::open(&shifted.0[1..]), Err(WeightsError::Misaligned));
}

#[test]
fn differing_dimensions_are_named() {
    let mismatch = |file: &Aligned<[u8; BYTES]>| {
        let weights = Weights::open(&file.0).unwrap();
        match Golden::from_weights(&weights) {
            Err(WeightsError::Mismatch { field, expected, found }) => Some((field, expected, found)),
            _ => None,
        }
    };
    assert_eq!(mismatch(&Aligned(*WEIGHTS)), None);
    let two_bytes = |offset, value: u16| mismatch(&with(offset, &value.to_le_bytes()));
    assert_eq!(two_bytes(12, 6), Some((HeaderField::Features, 1, 6)));
    assert_eq!(two_bytes(14, 64), Some((HeaderField::Hidden, 2, 64)));
    assert_eq!(two_bytes(16, 2), Some((HeaderField::Outputs, 1, 2)));
    assert_eq!(two_bytes(20, 4), Some((HeaderField::Taps, 2, 4)));
    assert_eq!(two_bytes(22, 3), Some((HeaderField::LayerFeatures, 2, 3)));
    assert_eq!(mismatch(&with(20, &[0, 0])), Some((HeaderField::Layers, 1, 0)));
    assert_eq!(mismatch(&with(24, &[2, 0, 2, 0])), Some((HeaderField::Layers, 1, 2)));

    let weights = Aligned(*WEIGHTS);
    let weights = Weights::open(&weights.0).unwrap();
    assert!(weights.check_task(1).is_ok());
    let task = WeightsError::Mismatch { field: HeaderField::Task, expected: 2, found: 1 };
    assert_eq!(weights.check_task(2), Err(task));
}

#[test]
fn differing_later_layers_are_named() {
    type Two<'w> = Network<'w, 1, 2, 2, 1, Layer<'w, 2, 1, 2, Layer<'w, 3, 2, 2, EndOfStack>>>;
    let outcome = |second: [u8; 4]| {
        let file = with(24, &second);
        Two::from_weights(&Weights::open(&file.0).unwrap()).map(|_| ())
    };
    let named = |field, expected, found| Err(WeightsError::Mismatch { field, expected, found });
    assert_eq!(outcome([5, 0, 2, 0]), named(HeaderField::LayerTaps, 3, 5));
    assert_eq!(outcome([3, 0, 9, 0]), named(HeaderField::LayerFeatures, 2, 9));
    // The dimensions agree, but the numbers of the second layer are missing.
    let needed = 4 * Two::WEIGHT_COUNT;
    assert_eq!(outcome([3, 0, 2, 0]), Err(WeightsError::Length { needed, found: 72 }));
}

#[test]
fn errors_have_messages() {
    let told = |error: WeightsError| error.to_string();
    let mismatch = WeightsError::Mismatch { field: HeaderField::Hidden, expected: 2, found: 64 };
    assert_eq!(told(mismatch), "Hidden differs: 2 here, 64 in the weight file");
    let unknown = WeightsError::UnknownCode { field: HeaderField::Activation, code: 9 };
    assert_eq!(told(unknown), "Activation has the code 9, which this build does not know");
    assert_eq!(
        told(WeightsError::Version { found: 3 }),
        "weight file version 3 is unknown (this build reads 1)"
    );
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn files_with_any_header_never_panic(changes in prop::collection::vec((5..HEADER_BYTES, any::<u8>()), 1..8)) {
        let mut file = *WEIGHTS;
        for (offset, byte) in changes {
            file[offset] = byte;
        }
        let file = seal(file);
        if let Ok(weights) = Weights::open(&file.0) {
            // A comparison with the network type does not panic either.
            let same = |range: core::ops::Range<usize>| file.0[range.clone()] == WEIGHTS[range];
            let fits = Golden::from_weights(&weights).is_ok();
            prop_assert_eq!(fits, same(12..18) && same(20..26));
        }
    }
}
