//! Link profiles for small radios: sizes, golden bytes, precision, rotation, and frames that are damaged.

use crate::common;

use common::{
    beacons::{Example, Full, Taps, Wide, decode, encode, example_beacon, link, random_beacon},
    document::example,
    seeded,
};
use proptest::prelude::*;
use wdgnn_core::{
    filter::Chains as _,
    tasks::flocking::Motion,
    tensor::{Tensor as _, span::Span},
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::Exact,
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    header::{Parts, Profile},
    security::group_key::{Sealed, SealedEsb32},
};

/// Half a step of binary16: 2⁻¹¹ of a number, and 2⁻²⁵ next to zero.
fn half_step(x: f32) -> f32 {
    (x.abs() / 2048.0).max(0.5_f32.powi(25))
}

/// The exchange and the index of the frame that carries these parts.
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
    let bytes = |plain: usize, sealed: usize| (plain, sealed);
    let dot154 =
        bytes(Dot154::bytes::<Motion, Taps, Wide>(), Sealed::<Dot154>::bytes::<Motion, Taps, Wide>());
    let espnow =
        bytes(EspNow::bytes::<Motion, Taps, Wide>(), Sealed::<EspNow>::bytes::<Motion, Taps, Wide>());
    let esb32 = bytes(Esb32::bytes::<Motion, Taps, Wide>(), SealedEsb32::bytes::<Motion, Taps, Wide>());
    assert_eq!(dot154, (93, 101), "at most 116: 127 less a MAC header of 9 and a checksum of 2");
    assert_eq!(espnow, (165, 173), "at most 250");
    let p2p57 = bytes(P2p57::bytes::<Motion, Taps, Wide>(), Sealed::<P2p57>::bytes::<Motion, Taps, Wide>());
    assert_eq!(esb32, (28, 32), "exactly 32");
    assert_eq!(p2p57, (49, 57), "exactly 57");
}

#[test]
fn every_profile_writes_and_reads_the_document_s_bytes() {
    fn both_ways<P: Codec>(name: &str, mut codec: P, beacon: &Example, index: u32, carried: Parts) {
        let golden = example(name);
        let mut frame = vec![0; golden.len()];
        assert_eq!(codec.encode(&link::<P>(), beacon, 5, index, &mut frame), Some(golden.len()));
        assert_eq!(frame, golden, "{name}");
        for length in 0..golden.len() {
            assert_eq!(codec.encode(&link::<P>(), beacon, 5, index, &mut frame[..length]), None);
        }
        let (read, parts): (Example, Parts) = codec.decode(&link::<P>(), 0, &golden).unwrap();
        assert_eq!(parts, carried, "{name}");
        assert_eq!((read.sender, read.boot, read.sequence), (beacon.sender, 3, beacon.sequence));
        assert_eq!(read.state, beacon.state, "{name}");
        // Python's struct module says: −0.1 is 0xae66, −0.099975586; 10⁻⁶ is 0x0011, 17·2⁻²⁴; 70,000 is too large.
        let taps = [1.5, -0.099_975_586, 0.0, 65504.0, 17.0 * 0.5_f32.powi(24), 2.0];
        assert_eq!(parts.taps.of(&read.chains.chain.0[0]), parts.taps.of(&taps), "{name}");
        assert_eq!(read.chains.chain.0[1], [0.0; 6], "the last tap stays at home");
        assert_eq!(parts.wide.of(read.wide.numbers()), parts.wide.of(beacon.wide.numbers()), "{name}");
        let outside = read.wide.numbers().iter().enumerate();
        let outside = outside.filter(|(at, _)| !(parts.wide.from..parts.wide.to).contains(&(*at as u16)));
        assert!(outside.into_iter().all(|(_, x)| *x == 0.0), "{name}");
    }
    let wide = |from, to| Span { from, to };
    let long = example_beacon(0x0102, 0x0102_0304);
    both_ways("beacon-dot154", Dot154::default(), &long, 0, Parts { taps: Span::ALL, wide: wide(12, 24) });
    both_ways("beacon-espnow", EspNow::default(), &long, 0, Parts { taps: Span::ALL, wide: wide(0, 24) });
    both_ways("beacon-p2p57", P2p57, &long, 0, Parts { taps: wide(0, 3), wide: wide(18, 24) });
    both_ways("beacon-p2p57-second", P2p57, &long, 1, Parts { taps: wide(3, 6), wide: Span::NONE });
    let short = example_beacon(2, 0x02_0304);
    both_ways("beacon-esb32-taps", Esb32, &short, 0, Parts { taps: wide(0, 6), wide: Span::NONE });
    both_ways("beacon-esb32-wide", Esb32, &short, 3, Parts { taps: Span::NONE, wide: wide(6, 12) });
}

#[test]
fn what_has_no_room_in_a_packet_does_not_fit() {
    use wdgnn_core::{model::Model, task::Task, tasks::flocking::Flocking};
    use wdgnn_robot::onboard::{ModelOf, Onboard};
    fn fits<T: Onboard>() -> bool {
        P2p57::fits::<
            <T as Task>::State,
            <ModelOf<'static, T> as Model>::Chains,
            <ModelOf<'static, T> as Model>::Wide,
        >()
    }
    assert!(fits::<Flocking<2>>());
    assert!(!fits::<Flocking<3>>(), "six numbers of state and 14 taps are more than 20 in half precision");
}

#[test]
fn what_a_short_header_cannot_tell_is_not_sent() {
    let good = example_beacon(255, (1 << 24) - 1);
    let send = |beacon: &Example| Esb32.encode(&link::<Esb32>(), beacon, 0, 0, &mut [0; 32]);
    assert_eq!(send(&good), Some(28));
    assert_eq!(send(&Example { sender: 256, ..good }), None);
    assert_eq!(send(&Example { boot: 1 << 16, ..good }), None);
    // Of a sequence, the lower bits are enough.
    assert_eq!(send(&Example { sequence: 1 << 24, ..good }), Some(28));
}

#[test]
fn who_is_nothing_but_a_body_says_so_in_every_profile() {
    fn told<P: Codec>(mut codec: P) {
        for (degree, body) in [(255, true), (254, false), (0, false)] {
            for index in 0..P::FRAMES {
                let sent = Full { degree, ..random_beacon(&mut seeded(12), 9, 0) };
                let frame = encode(&codec, &sent, 0, index);
                let (read, _) = decode(&mut codec, 0, &frame).unwrap();
                assert_eq!(read.degree == 255, body, "{degree} in frame {index}");
            }
        }
    }
    told(Exact);
    told(Dot154::default());
    told(EspNow::default());
    told(Esb32);
    told(P2p57);
}

#[test]
fn a_beacon_comes_back_within_half_precision() {
    fn round_trip<P: Codec>(mut codec: P, state_is_exact: bool) {
        let mut rng = seeded(11);
        for exchange in 0..64 {
            let sent = random_beacon(&mut rng, 9, exchange);
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
    round_trip(Exact, true);
    round_trip(Dot154::default(), true);
    round_trip(EspNow::default(), true);
    round_trip(Esb32, false);
    round_trip(P2p57, false);
}

#[test]
fn rotation_carries_every_tap_in_every_exchange_and_every_parameter_once_per_turn() {
    fn turn<P: Codec>(mut codec: P, exchanges: u32) {
        let sent = random_beacon(&mut seeded(12), 9, 0);
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
fn every_length_but_the_right_one_is_refused() {
    fn lengths<P: Codec>(mut codec: P) {
        let header = P::header_bytes();
        let good = encode(&codec, &random_beacon(&mut seeded(13), 9, 0), 2, 0);
        for length in 0..=300 {
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
    lengths(Dot154::default());
    lengths(EspNow::default());
    lengths(Esb32);
    lengths(P2p57);
}

/// Without a tag a changed frame can be another good frame. Then it is read as what it is: written again, it is the same bytes.
#[test]
fn every_flipped_bit_is_refused_or_another_good_frame() {
    fn flips<P: Codec>(mut codec: P, reason: impl Fn(usize, u32) -> Option<Refusal>) {
        let good = encode(&codec, &random_beacon(&mut seeded(14), 9, 0), 2, P::FRAMES - 1);
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
}

#[test]
fn parts_and_pieces_that_do_not_exist_are_refused() {
    fn parts<P: Codec>(mut codec: P, offset: usize, count: u8, numbers: u8) {
        let good = encode(&codec, &random_beacon(&mut seeded(15), 9, 0), 0, 0);
        for part in 0..=u8::MAX {
            let mut frame = good.clone();
            frame[offset] = part;
            let refusal = decode(&mut codec, 0, &frame).err();
            assert_eq!(refusal, (part & numbers >= count).then_some(Refusal::Dimensions), "part {part}");
        }
    }
    parts(Dot154::default(), 1, 4, u8::MAX);
    parts(EspNow::default(), 1, 1, u8::MAX);
    // The highest bit is no part of the number.
    parts(Esb32, 7, 3 + 8, 0x7f);
    parts(P2p57, 1, 16, u8::MAX);
}

#[test]
fn a_negative_zero_is_read_as_zero_and_written_as_one() {
    let mut sent = random_beacon(&mut seeded(18), 9, 0);
    sent.state.velocity[1] = -0.0;
    for (frame, zero) in
        [(encode(&Dot154::default(), &sent, 0, 0), 17 + 12..17 + 16), (encode(&Esb32, &sent, 0, 0), 14..16)]
    {
        assert!(frame[zero].iter().all(|byte| *byte == 0));
    }
    let mut frame = encode(&Esb32, &sent, 0, 0);
    frame[15] = 0x80;
    let (read, _) = decode(&mut Esb32, 0, &frame).unwrap();
    assert_eq!(read.state.velocity[1], 0.0);
}

#[test]
fn a_half_that_is_no_number_is_refused_wherever_it_is() {
    fn halves<P: Codec>(mut codec: P, first: usize) {
        let good = encode(&codec, &random_beacon(&mut seeded(16), 9, 0), 1, 0);
        for offset in (first..good.len()).step_by(2) {
            // ±∞, NaNs; then the largest numbers, the smallest and zeros.
            for (bits, refused) in [
                (0x7c00_u16, true),
                (0xfc00, true),
                (0x7c01, true),
                (0x7e00, true),
                (0xffff, true),
                (0x7bff, false),
                (0xfbff, false),
                (0x0001, false),
                (0x8000, false),
            ] {
                let mut frame = good.clone();
                frame[offset..offset + 2].copy_from_slice(&bits.to_le_bytes());
                let refusal = decode(&mut codec, 0, &frame).err();
                assert_eq!(refusal, refused.then_some(Refusal::NotAdmissible), "{bits:04x} at {offset}");
            }
        }
    }
    halves(Dot154::default(), 17 + 16);
    halves(EspNow::default(), 17 + 16);
    halves(Esb32, 8);
    halves(P2p57, 17);
}

#[test]
fn a_filling_that_is_not_zero_is_refused() {
    // The document's example has 6 taps: all pieces are full. Here the last piece of 8 wide numbers has two.
    use wdgnn_core::{filter::NoChain, message::Beacon, tensor::Vector};
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
    #![proptest_config(common::seeded_cases())]

    #[test]
    fn noise_never_panics_and_what_is_read_is_admissible(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        kept in 0..24_usize,
    ) {
        fn read<P: Codec>(mut codec: P, noise: &[u8], kept: usize) {
            let mut frame = encode(&codec, &random_beacon(&mut seeded(17), 9, 0), 0, 0);
            let end = frame.len();
            frame.truncate(kept);
            frame.extend(noise);
            for frame in [noise, &frame, &frame[..end.min(frame.len())]] {
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
