//! Encodings: frame sizes, the bytes in the document, precision, rotation of parameters, and damaged frames.

use crate::common::prelude::*;
use proptest::prelude::*;

/// Half a unit in the last place of binary16: 2⁻¹¹ of the number, at least 2⁻²⁵.
fn half_step(x: f32) -> f32 {
    (x.abs() / 2048.0).max(0.5_f32.powi(25))
}

/// Exchange and index of the frame that carries these parts.
fn place<P: Codec>(parts: Parts) -> (u32, u32) {
    if P::profile(true) == Profile::P2p57 {
        let part = u32::from(parts.wide.from / 3);
        return (part / 2, part % 2);
    }
    let run = if P::FRAMES > 1 { 6 } else { 12 };
    if parts.wide == Span::NONE {
        (0, u32::from(parts.taps.from / run))
    } else {
        (u32::from(parts.wide.from / run), P::FRAMES - 1)
    }
}

#[test]
fn frames_fit_their_radios() {
    fn bytes<P: Codec, S: Codec>() -> (usize, usize) {
        (P::bytes::<Motion, Taps, Wide>(), S::bytes::<Motion, Taps, Wide>())
    }
    let dot154 = bytes::<Dot154, Sealed<Dot154>>();
    assert_eq!(dot154, (93, 101), "at most 116: 127 less a MAC header of 9 and a checksum of 2");
    assert_eq!(bytes::<EspNow, Sealed<EspNow>>(), (165, 173), "at most 250");
    assert_eq!(bytes::<Esb32, SealedEsb32>(), (28, 32), "exactly 32");
    assert_eq!(bytes::<P2p57, Sealed<P2p57>>(), (49, 57), "exactly 57");
}

#[test]
fn encodings_write_and_read_the_bytes_in_the_document() {
    fn both_ways<P: Codec>(name: &str, mut codec: P, beacon: &Example, index: u32, carried: Parts) {
        let golden = example(name);
        let mut frame = vec![0; golden.len()];
        assert_eq!(codec.encode(&link::<P>(), beacon, 5, index, &mut frame), Some(golden.len()));
        assert_eq!(frame, golden, "{name}");
        for length in 0..golden.len() {
            assert_eq!(codec.encode(&link::<P>(), beacon, 5, index, &mut frame[..length]), None);
        }
        let now = beacon.sequence / P::FRAMES;
        let (read, parts): (Example, Parts) = codec.decode(&link::<P>(), now, &golden).unwrap();
        assert_eq!(parts, carried, "{name}");
        assert_eq!((read.sender, read.boot, read.sequence), (beacon.sender, 3, beacon.sequence));
        assert_eq!(read.state, beacon.state, "{name}");
        // By Python's struct module: −0.1 is 0xae66, −0.099975586; 10⁻⁶ is 0x0011, 17·2⁻²⁴; 70,000 overflows.
        let taps = [1.5, -0.099_975_586, 0.0, 65504.0, 17.0 * 0.5_f32.powi(24), 2.0];
        assert_eq!(parts.taps.of(&read.chains.chain.0[0]), parts.taps.of(&taps), "{name}");
        assert_eq!(read.chains.chain.0[1], [0.0; 6], "the last tap is not transmitted");
        assert_eq!(parts.wide.of(read.wide.numbers()), parts.wide.of(beacon.wide.numbers()), "{name}");
        let outside = read.wide.numbers().iter().enumerate();
        let outside = outside.filter(|(at, _)| !(parts.wide.from..parts.wide.to).contains(&(*at as u16)));
        assert!(outside.into_iter().all(|(_, x)| *x == 0.0), "{name}");
    }
    let wide = |from, to| Span { from, to };
    let key: Key = core::array::from_fn(|index| index as u8);
    let long = example_beacon(0x0102, 0x0102_0304);
    let parts = Parts { taps: Span::ALL, wide: wide(12, 24) };
    both_ways("beacon-dot154", Dot154::default(), &long, 0, parts);
    both_ways("beacon-dot154-sealed", Sealed::new(Dot154::default(), &key), &long, 0, parts);
    let parts = Parts { taps: Span::ALL, wide: wide(0, 24) };
    both_ways("beacon-espnow", EspNow::default(), &long, 0, parts);
    both_ways("beacon-espnow-sealed", Sealed::new(EspNow::default(), &key), &long, 0, parts);
    let parts = Parts { taps: wide(0, 3), wide: wide(18, 24) };
    both_ways("beacon-p2p57", P2p57, &long, 0, parts);
    both_ways("beacon-p2p57-sealed", Sealed::new(P2p57, &key), &long, 0, parts);
    both_ways("beacon-p2p57-second", P2p57, &long, 1, Parts { taps: wide(3, 6), wide: Span::NONE });
    let short = example_beacon(2, 0x02_0304);
    let parts = Parts { taps: wide(0, 6), wide: Span::NONE };
    both_ways("beacon-esb32-taps", Esb32, &short, 0, parts);
    both_ways("beacon-esb32-taps-sealed", SealedEsb32::new(Esb32, &key), &short, 0, parts);
    both_ways("beacon-esb32-wide", Esb32, &short, 3, Parts { taps: Span::NONE, wide: wide(6, 12) });
}

#[test]
fn exact_frames_are_the_bytes_in_the_document() {
    type Small<W> = Beacon<Motion, Stacked<2, 1, NoChain>, W>;
    fn beacon<W>(wide: W) -> Small<W> {
        Beacon {
            sender: 0x0102,
            boot: 3,
            sequence: 0x0102_0304,
            degree: 5,
            state: Motion { position: [1.0, -2.0], velocity: [0.5, 0.25] },
            // The last tap is not transmitted.
            chains: Stacked { chain: Chain([[1.5], [0.0]]), above: NoChain },
            wide,
        }
    }
    fn both_ways<P: Codec, W: Tensor + PartialEq + core::fmt::Debug>(
        name: &str,
        mut codec: P,
        profile: Profile,
        wide: W,
    ) {
        let (golden, link) = (example(name), Link { profile, checksum: MODEL });
        let mut frame = vec![0; golden.len()];
        assert_eq!(codec.encode(&link, &beacon(wide), 0, 0, &mut frame), Some(golden.len()));
        assert_eq!(frame, golden, "{name}");
        assert_eq!(codec.decode(&link, 0x0102_0304, &golden), Ok((beacon(wide), Parts::ALL)));
        for length in 0..golden.len() {
            assert_eq!(codec.encode(&link, &beacon(wide), 0, 0, &mut frame[..length]), None);
        }
    }
    let key: Key = core::array::from_fn(|index| index as u8);
    let folded = Filter([[[1.0, 2.0]], [[3.0, 4.0]]]);
    both_ways("beacon-exact", Exact, Profile::Exact, folded);
    both_ways("beacon-exact-sealed", Sealed::new(Exact, &key), Profile::Exact, folded);
    let unfolded = Filter([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]);
    both_ways("beacon-exact-unfolded", Exact, Profile::ExactUnfolded, unfolded);
}

#[test]
fn messages_in_space_do_not_fit_p2p57() {
    use wdgnn_robot::onboard::{ModelOf, Onboard};
    fn fits<T: Onboard>() -> bool {
        P2p57::fits::<
            <T as Task>::State,
            <ModelOf<'static, T> as Model>::Chains,
            <ModelOf<'static, T> as Model>::Wide,
        >()
    }
    assert!(fits::<Flocking<2>>());
    assert!(!fits::<Flocking<3>>(), "six state numbers and 14 taps exceed 20 half-precision numbers");
}

#[test]
fn messages_that_the_short_header_cannot_represent_are_not_sent() {
    let good = example_beacon(255, (1 << 24) - 1);
    let send = |beacon: &Example| Esb32.encode(&link::<Esb32>(), beacon, 0, 0, &mut [0; 32]);
    assert_eq!(send(&good), Some(28));
    assert_eq!(send(&Example { sender: 256, ..good }), None);
    assert_eq!(send(&Example { boot: 1 << 16, ..good }), None);
    // The lower bits of a sequence suffice.
    assert_eq!(send(&Example { sequence: 1 << 24, ..good }), Some(28));
}

#[test]
fn every_encoding_carries_the_obstacle_only_flag() {
    fn flag<P: Codec>(mut codec: P) {
        for (degree, obstacle) in [(255, true), (254, false), (0, false)] {
            for index in 0..P::FRAMES {
                let sent = Full { degree, ..full_beacon(&mut seeded(12), 9, 0) };
                let frame = encode(&codec, &sent, 0, index);
                let (read, _) = decode(&mut codec, 0, &frame).unwrap();
                assert_eq!(read.degree == 255, obstacle, "{degree} in frame {index}");
            }
        }
    }
    the_encodings!(flag);
}

#[test]
fn decoded_messages_are_within_half_precision_of_the_encoded_ones() {
    fn round_trip<P: Codec>(mut codec: P) {
        let state_is_exact = ![Profile::Esb32, Profile::P2p57].contains(&P::profile(true));
        let mut rng = seeded(11);
        for exchange in 0..64 {
            let sent = full_beacon(&mut rng, 9, exchange);
            for index in 0..P::FRAMES {
                let frame = encode(&codec, &sent, exchange, index);
                let (read, parts) = decode(&mut codec, 0, &frame).unwrap();
                let near = |a: &f32, b: &f32| (a - b).abs() <= half_step(*a);
                let numbers = |motion: &Motion| [motion.position, motion.velocity].concat();
                let states = (numbers(&sent.state), numbers(&read.state));
                assert!(states.0 == states.1 || !state_is_exact);
                assert!(states.0.iter().zip(&states.1).all(|(a, b)| near(a, b)));
                let taps = |beacon: &Full| parts.taps.of(beacon.chains.chain.numbers()).to_vec();
                assert!(taps(&sent).iter().zip(&taps(&read)).all(|(a, b)| near(a, b)));
                let wide = |beacon: &Full| parts.wide.of(beacon.wide.numbers()).to_vec();
                assert!(wide(&sent).iter().zip(&wide(&read)).all(|(a, b)| near(a, b)));
            }
        }
    }
    the_encodings!(round_trip);
}

#[test]
fn rotation_sends_every_tap_per_exchange_and_every_parameter_once_per_turn() {
    fn turn<P: Codec>(mut codec: P, exchanges: u32) {
        let sent = full_beacon(&mut seeded(12), 9, 0);
        // A turn may begin anywhere.
        for first in [0, 1, 1_000_003] {
            let mut parameters = [0; 48];
            for exchange in first..first + exchanges {
                let mut taps = [0; 18];
                for index in 0..P::FRAMES {
                    let frame = encode(&codec, &sent, exchange, index);
                    let (_, parts) = decode(&mut codec, 0, &frame).unwrap();
                    parts.taps.of_mut(&mut taps).iter_mut().for_each(|count| *count += 1);
                    parts.wide.of_mut(&mut parameters).iter_mut().for_each(|count| *count += 1);
                }
                assert_eq!(taps, [1; 18]);
            }
            assert_eq!(parameters, [1; 48]);
        }
    }
    turn(Dot154::default(), 4);
    turn(EspNow::default(), 1);
    turn(Esb32, 8);
    turn(P2p57, 8);
}

#[test]
fn frames_of_every_other_length_are_rejected() {
    fn lengths<P: Codec>(mut codec: P) {
        let header = P::header_bytes();
        let good = encode(&codec, &full_beacon(&mut seeded(13), 9, 0), 2, 0);
        for length in 0..=500 {
            let mut frame = good.clone();
            frame.resize(length, 0);
            let reason = match length {
                _ if length < header => Some(Refusal::TooShort),
                _ if length < good.len() => Some(Refusal::Truncated),
                _ if length > good.len() => Some(Refusal::Trailing),
                _ => None,
            };
            assert_eq!(decode(&mut codec, 0, &frame).err(), reason, "{length} bytes");
        }
    }
    the_encodings!(lengths);
}

/// Without a tag a changed frame can be another valid frame, which must encode to its own bytes again.
#[test]
fn frames_with_a_flipped_bit_are_rejected_or_valid() {
    fn flips<P: Codec>(mut codec: P, reason: impl Fn(usize, u32) -> Option<Refusal>) {
        let good = encode(&codec, &full_beacon(&mut seeded(14), 9, 0), 2, P::FRAMES - 1);
        for (offset, bit) in (0..good.len()).flat_map(|offset| (0..8).map(move |bit| (offset, bit))) {
            let mut frame = good.clone();
            frame[offset] ^= 1 << bit;
            match (decode(&mut codec, 0, &frame), reason(offset, bit)) {
                (Err(refusal), Some(reason)) => assert_eq!(refusal, reason, "bit {bit} of byte {offset}"),
                (Err(refusal), None) => assert!(
                    matches!(refusal, Refusal::NotAdmissible | Refusal::Dimensions),
                    "bit {bit} of byte {offset}: {refusal:?}"
                ),
                (Ok((read, parts)), None) => {
                    let (exchange, index) = place::<P>(parts);
                    assert_eq!(encode(&codec, &read, exchange, index), frame, "bit {bit} of byte {offset}");
                }
                (Ok(_), Some(reason)) => panic!("bit {bit} of byte {offset} should be {reason:?}"),
            }
        }
    }
    let first = |bit| if bit < 4 { Refusal::Version } else { Refusal::Profile };
    let half = |offset, bit| match offset {
        0 => Some(first(bit)),
        2..6 => Some(Refusal::Model),
        _ => None,
    };
    flips(Dot154::default(), half);
    flips(EspNow::default(), half);
    flips(P2p57, half);
    flips(Esb32, |offset, bit| (offset == 0).then_some(first(bit)));
    flips(Exact, |offset, _| match offset {
        0 => Some(Refusal::Version),
        1 => Some(Refusal::Profile),
        2..7 => Some(Refusal::Dimensions),
        7..11 => Some(Refusal::Model),
        _ => None,
    });
}

#[test]
fn part_numbers_out_of_range_are_rejected() {
    fn parts<P: Codec>(mut codec: P, offset: usize, count: u8, numbers: u8) {
        let good = encode(&codec, &full_beacon(&mut seeded(15), 9, 0), 0, 0);
        for part in 0..=u8::MAX {
            let mut frame = good.clone();
            frame[offset] = part;
            let refusal = decode(&mut codec, 0, &frame).err();
            assert_eq!(refusal, (part & numbers >= count).then_some(Refusal::Dimensions), "part {part}");
        }
    }
    parts(Dot154::default(), 1, 4, u8::MAX);
    parts(EspNow::default(), 1, 1, u8::MAX);
    // The highest bit is the obstacle flag.
    parts(Esb32, 7, 3 + 8, 0x7f);
    parts(P2p57, 1, 16, u8::MAX);
}

#[test]
fn inadmissible_numbers_are_rejected_at_every_offset() {
    fn numbers<P: Codec, const N: usize>(
        mut codec: P,
        offsets: core::ops::Range<usize>,
        list: &[([u8; N], bool)],
    ) {
        let good = encode(&codec, &full_beacon(&mut seeded(16), 9, 0), 1, 0);
        for offset in offsets.step_by(N) {
            for (bytes, rejected) in list {
                let mut frame = good.clone();
                frame[offset..offset + N].copy_from_slice(bytes);
                let refusal = decode(&mut codec, 0, &frame).err();
                assert_eq!(refusal, rejected.then_some(Refusal::NotAdmissible), "{bytes:x?} at {offset}");
            }
        }
    }
    let subnormal = f32::from_bits(0x007f_ffff);
    let bad = [
        f32::NAN,
        -f32::NAN,
        f32::from_bits(0x7f80_0001),
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::from_bits(1),
        -subnormal,
        LARGEST.next_up(),
        f32::MAX,
        f32::MIN,
    ];
    let good = [0.0, -0.0, f32::MIN_POSITIVE, -f32::MIN_POSITIVE, LARGEST, -LARGEST];
    let singles: Vec<_> = bad
        .map(|x| (x.to_le_bytes(), true))
        .into_iter()
        .chain(good.map(|x| (x.to_le_bytes(), false)))
        .collect();
    numbers(Exact, exact::HEADER_BYTES..Exact::bytes::<Motion, Taps, Wide>(), &singles);
    numbers(Dot154::default(), 17..33, &singles);
    numbers(EspNow::default(), 17..33, &singles);
    let bad = [0x7c00_u16, 0xfc00, 0x7c01, 0x7e00, 0xffff].map(|half| (half.to_le_bytes(), true));
    let good = [0x7bff_u16, 0xfbff, 0x0001, 0x8000].map(|half| (half.to_le_bytes(), false));
    let halves: Vec<_> = bad.into_iter().chain(good).collect();
    numbers(Dot154::default(), 33..93, &halves);
    numbers(EspNow::default(), 33..165, &halves);
    numbers(Esb32, 8..28, &halves);
    numbers(P2p57, 17..49, &halves);
}

#[test]
fn nonzero_padding_is_rejected() {
    // Eight wide parameters leave four numbers of the last piece unused.
    type Small = Beacon<Motion, NoChain, Vector<8>>;
    let state = Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] };
    let wide = Vector([1.0; 8]);
    let sent = Small { sender: 1, boot: 0, sequence: 0, degree: 0, state, chains: NoChain, wide };
    let mut frame = [0; 28];
    assert_eq!(Esb32.encode(&link::<Esb32>(), &sent, 1, 0, &mut frame), Some(28));
    assert_eq!(frame[16..], [0, 0x3c, 0, 0x3c, 0, 0, 0, 0, 0, 0, 0, 0]);
    let read = |frame: &[u8]| Esb32.decode::<Motion, NoChain, Vector<8>>(&link::<Esb32>(), 0, frame);
    assert!(read(&frame).is_ok());
    for offset in 20..28 {
        let mut frame = frame;
        frame[offset] = 1;
        assert_eq!(read(&frame).err(), Some(Refusal::NotAdmissible));
    }
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn decoded_noise_is_admissible(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        kept in 0..24_usize,
    ) {
        fn read<P: Codec>(mut codec: P, noise: &[u8], kept: usize) {
            let good = encode(&codec, &full_beacon(&mut seeded(17), 9, 0), 0, 0);
            let frame = [&good[..kept], noise].concat();
            for frame in [noise, &frame, &frame[..good.len().min(frame.len())]] {
                if let Ok((beacon, _)) = decode(&mut codec, 0, frame) {
                    assert!(beacon.chains.admissible() && beacon.wide.admissible());
                }
            }
        }
        read(Exact, &noise, kept);
        read(Dot154::default(), &noise, kept);
        read(EspNow::default(), &noise, kept);
        read(Esb32, &noise, kept);
        read(P2p57, &noise, kept);
    }
}
