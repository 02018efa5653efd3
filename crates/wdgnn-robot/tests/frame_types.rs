//! Frame types for serde and postcard have the bytes that the encodings write and read.

use crate::common::frames::{
    assert_bytes, assert_frame, assert_plane, compact_header, encoded, esb32_header, exact_header, state,
    taps, wide,
};
use crate::common::messages::{decode as robot_decode, encode as robot_encode};
use crate::common::prelude::*;
use postcard_schema::key::Key as SchemaKey;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use wdgnn_link::frames::{
    AnyFrame, Bytes, CompactHeader, Dot154Frame, Esb32Frame, EspNowFrame, ExactFrame, F16, Floats, Frame,
    Halves, IdentityProofFrame, KeyUpdateFrame, P2p57Frame, Proof, Proofs, SealedDot154Frame, U16Le, U24Le,
    U32Le, decode, encode,
};

const KEY: Key = *b"a swarm's secret";

/// Robots in space: F = 9, K = 3, O = 3.
type SpaceTaps = LayerTaps<4, 9, ()>;
type SpaceWide = Filter<4, 9, 3>;
type Space = Message<Motion<3>, SpaceTaps, SpaceWide>;

/// Robots with two layers: eight transmitted taps and twelve wide parameters.
type TestTaps = LayerTaps<3, 2, LayerTaps<2, 4, ()>>;
type LayerWide = Filter<3, 2, 2>;
type TwoLayers = Message<Motion, TestTaps, LayerWide>;

/// Compares frame type and encoding on every frame with one flipped bit: both reject it or both read it.
fn assert_agreement<L: TestLink, F: Frame + DeserializeOwned>(mut link: L, bytes: &[u8]) {
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match (decode::<F>(&damaged), robot_decode(&mut link, 0, &damaged)) {
            (Ok(frame), Ok(_)) => {
                let mut again = vec![0; bytes.len()];
                assert_eq!(encode(&frame, &mut again), Some(bytes.len()));
                assert_eq!(again, damaged, "bit {bit}");
            }
            // The encoding knows the model and its parts; the frame type does not.
            (Ok(_), Err(FrameError::Model | FrameError::Dimensions)) => {}
            (Err(reason), Err(other)) if reason == other => {}
            // `exact` and `exact-unfolded` have one type.
            (Ok(_), Err(FrameError::Profile)) if damaged[..2] == [1, 1] => {}
            (frame, robot) => panic!("bit {bit}: {:?}, {:?}", frame.err(), robot.err()),
        }
    }
}

fn outgoing<S, L, W>(sent: &Numbered<Message<S, L, W>>, round: u32) -> OutgoingMessage<'_, S, L, W> {
    let Numbered { boot, sequence, message } = sent;
    OutgoingMessage { message, boot: *boot, sequence: *sequence, model: MODEL, round }
}

/// Checks that a robot's open link sends the frames of its encoding.
fn assert_links(sent: &Numbered, exchange: u32) {
    fn assert_link<L: TestLink>(mut link: L, sent: &Numbered, exchange: u32) {
        for index in 0..L::FRAMES_PER_EXCHANGE {
            let frame = robot_encode(&mut link, sent, exchange, index);
            assert_eq!(frame, encoded::<L::Encoding, _, _, _>(&outgoing(sent, exchange), index));
        }
    }
    assert_link(open_link::<Exact>(), sent, exchange);
    assert_link(open_link::<Dot154>(), sent, exchange);
    assert_link(open_link::<EspNow>(), sent, exchange);
    assert_link(open_link::<Esb32>(), sent, exchange);
    assert_link(open_link::<P2p57>(), sent, exchange);
}

/// Checks encodings on a message of a network with two layers, with taps and parameters that fill no piece.
fn assert_two_layers(out: &OutgoingMessage<'_, Motion, TestTaps, LayerWide>) {
    let exchange = out.round;
    let Message { state: motion, taps: lines, wide: filter, .. } = &out.message;
    let floats: Floats<4> = Floats::new(&state(motion));
    let frame = ExactFrame {
        header: exact_header(out, (4, 8, 12)),
        state: floats,
        taps: Floats::<8>::new(&taps(lines, 0)),
        wide: Floats::<12>::new(&wide(filter, 0)),
    };
    assert_frame::<Exact, _, _, _, _>(out, 0, &frame);
    let (taps_of_all, wide_of_all) = (Halves::<8>::new(&taps(lines, 0)), Halves::<12>::new(&wide(filter, 0)));
    let header = compact_header(out, 0x21, 0);
    let frame = Dot154Frame { header, state: floats, taps: taps_of_all, wide: wide_of_all };
    assert_frame::<Dot154, _, _, _, _>(out, 0, &frame);
    let header = compact_header(out, 0x31, 0);
    let frame = EspNowFrame { header, state: floats, taps: taps_of_all, wide: wide_of_all };
    assert_frame::<EspNow, _, _, _, _>(out, 0, &frame);
    for index in 0..4 {
        let piece = if index < 2 { index } else { 2 + exchange % 2 };
        let mut numbers = [0.0; 6];
        match piece {
            0 => numbers = taps(lines, 0),
            1 => numbers[..2].copy_from_slice(&taps::<2, _>(lines, 6)),
            _ => numbers = wide(filter, 6 * (piece as usize - 2)),
        }
        let frame: Esb32Frame = Esb32Frame {
            header: esb32_header(out, piece as u8),
            state: Halves::new(&state(motion)),
            numbers: Halves::new(&numbers),
        };
        assert_frame::<Esb32, _, _, _, _>(out, index, &frame);
    }
}

/// Checks the encodings that messages in space fit into.
fn assert_space(out: &OutgoingMessage<'_, Motion<3>, SpaceTaps, SpaceWide>) {
    let in_round = |round| OutgoingMessage { round, ..*out };
    let floats = Floats::new(&state(&out.message.state));
    let all = Halves::<27>::new(&taps(&out.message.taps, 0));
    let frame = ExactFrame {
        header: exact_header(out, (6, 27, 108)),
        state: floats,
        taps: Floats::<27>::new(&taps(&out.message.taps, 0)),
        wide: Floats::<108>::new(&wide(&out.message.wide, 0)),
    };
    assert_frame::<Exact, ExactFrame<Floats<6>, _, _>, _, _, _>(&in_round(0), 0, &frame);
    let run = Halves::<6>::new(&wide(&out.message.wide, 24));
    let frame = Dot154Frame { header: compact_header(out, 0x21, 4), state: floats, taps: all, wide: run };
    assert_frame::<Dot154, _, _, _, _>(&in_round(22), 0, &frame);
    let run = Halves::<73>::new(&wide(&out.message.wide, 0));
    let frame = EspNowFrame { header: compact_header(out, 0x31, 0), state: floats, taps: all, wide: run };
    assert_frame::<EspNow, _, _, _, _>(&in_round(0), 0, &frame);
    let run = Halves::<35>::new(&wide(&out.message.wide, 73));
    let frame = EspNowFrame { header: compact_header(out, 0x31, 1), state: floats, taps: all, wide: run };
    assert_frame::<EspNow, _, _, _, _>(&in_round(1), 0, &frame);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..seeded_cases() })]

    #[test]
    fn frame_types_have_the_bytes_of_the_encodings(
        seed: u64, sender in 0..256_u16, boot in 0..65_536_u32, sequence: u32, degree: u8, exchange in 0..64_u32,
    ) {
        let mut random = seeded(seed);
        let mut sent = full_message(&mut random, sender, sequence);
        (sent.boot, sent.message.degree) = (boot, degree);
        assert_plane(&outgoing(&sent, exchange));
        assert_links(&sent, exchange);
        let mut space = Space { sender, degree, ..Space::empty(Motion::REST) };
        let numbers = random_numbers(&mut random, 3, 9.0);
        space.state.position.copy_from_slice(&numbers);
        space.taps.line.numbers_mut()[..27].copy_from_slice(&random_numbers(&mut random, 27, 9.0));
        space.wide.numbers_mut().copy_from_slice(&random_numbers(&mut random, 108, 2.0));
        assert_space(&outgoing(&Numbered { boot, sequence, message: space }, exchange));
        let mut layers = TwoLayers { sender, degree, ..TwoLayers::empty(sent.message.state) };
        let numbers = random_numbers(&mut random, 8, 9.0);
        layers.taps.transmitted_mut().for_each(|(from, line)| line.copy_from_slice(&numbers[from..from + line.len()]));
        layers.wide.numbers_mut().copy_from_slice(&random_numbers(&mut random, 12, 2.0));
        assert_two_layers(&outgoing(&Numbered { boot, sequence, message: layers }, exchange));
    }

    #[test]
    fn noise_is_an_error_or_a_frame(noise in prop::collection::vec(any::<u8>(), 0..330), first in 0..8_u8) {
        let mut noise = noise;
        if let Some(byte) = noise.first_mut() {
            *byte = 1 | first << 4;
        }
        let _ = AnyFrame::decode(&noise);
        let _ = AnyFrame::open(&Aes::new(&KEY), MODEL, 7, &mut noise);
    }
}

#[test]
fn frame_types_round_extreme_numbers_as_the_encodings_do() {
    let mut sent = full_message(&mut seeded(1), 9, 7);
    sent.message.taps.line.0[0] = [-0.0, 1.0e-40, 65_520.0, -1.0e9, 1.0e-30, 0.5_f32.powi(24)];
    sent.message.state.velocity = [-0.0, -1.0e-40];
    sent.message.degree = 255;
    assert_plane(&outgoing(&sent, 3));
}

#[test]
fn frame_types_and_encodings_reject_equal_damage() {
    let sent = full_message(&mut seeded(3), 9, 7);
    assert_agreement::<_, ExactFrame>(
        open_link::<Exact>(),
        &robot_encode(&mut open_link::<Exact>(), &sent, 0, 0),
    );
    assert_agreement::<_, Dot154Frame>(
        open_link::<Dot154>(),
        &robot_encode(&mut open_link::<Dot154>(), &sent, 1, 0),
    );
    assert_agreement::<_, EspNowFrame>(
        open_link::<EspNow>(),
        &robot_encode(&mut open_link::<EspNow>(), &sent, 1, 0),
    );
    for index in 0..4 {
        assert_agreement::<_, Esb32Frame>(
            open_link::<Esb32>(),
            &robot_encode(&mut open_link::<Esb32>(), &sent, 1, index),
        );
    }
    for index in 0..2 {
        assert_agreement::<_, P2p57Frame>(
            open_link::<P2p57>(),
            &robot_encode(&mut open_link::<P2p57>(), &sent, 1, index),
        );
    }
}

#[test]
fn sealed_frame_types_open_to_their_message() {
    fn opens<L: TestLink, S: TestLink>(mut open: L, mut sealed: S, sequence: u32) {
        let sent = full_message(&mut seeded(5), 9, sequence);
        for index in 0..L::FRAMES_PER_EXCHANGE {
            let inside = AnyFrame::decode(&robot_encode(&mut open, &sent, 3, index)).unwrap();
            let bytes = robot_encode(&mut sealed, &sent, 3, index);
            let frame = AnyFrame::decode(&bytes).unwrap();
            let mut again = vec![0; bytes.len() + 8];
            let length = postcard::to_slice(&frame, &mut again).unwrap().len();
            assert_eq!(again[1..length], bytes, "an enum has its variant first");
            let now = sequence / L::FRAMES_PER_EXCHANGE + 1000;
            let mut copy = bytes.clone();
            assert_eq!(AnyFrame::open(&Aes::new(&KEY), MODEL, now, &mut copy), Ok(inside));
            assert_eq!(
                AnyFrame::open(&Aes::new(&[1; 16]), MODEL, now, &mut bytes.clone()),
                Err(FrameError::Forged)
            );
        }
    }
    opens(open_link::<Exact>(), sealed_link::<Exact, 8>(&KEY), 7);
    opens(open_link::<Dot154>(), sealed_link::<Dot154, 8>(&KEY), 7);
    opens(open_link::<EspNow>(), sealed_link::<EspNow, 8>(&KEY), 7);
    // A frame carries the low 24 bits of this sequence.
    opens(open_link::<Esb32>(), sealed_link::<Esb32, 4>(&KEY), 0x0102_0304);
    opens(open_link::<P2p57>(), sealed_link::<P2p57, 8>(&KEY), 7);
    let bytes = robot_encode(&mut sealed_link::<Dot154, 8>(&KEY), &full_message(&mut seeded(6), 9, 7), 0, 0);
    assert_bytes(&decode::<SealedDot154Frame>(&bytes).unwrap(), &bytes);
}

#[test]
fn key_update_frames_have_the_bytes_of_the_operator() {
    let mut bytes = [0; 64];
    let notice = KeyUpdate { name: 0x0102, epoch: 3, at: 0x0405_0607 };
    let length = notice.write(&personal_key(&KEY, 0x0102), &swarm_key(&KEY, 3), 8, &mut bytes).unwrap();
    let frame: KeyUpdateFrame = decode(&bytes[..length]).unwrap();
    assert_eq!((frame.robot.get(), frame.epoch, frame.first_tick.get()), (0x0102, 3, 0x0405_0607));
    assert_bytes(&frame, &bytes[..length]);
    assert_eq!(AnyFrame::decode(&bytes[..length]), Ok(AnyFrame::KeyUpdate(frame)));
    let length = notice.write(&personal_key(&KEY, 0x0102), &swarm_key(&KEY, 3), 4, &mut bytes).unwrap();
    let frame: KeyUpdateFrame<4> = decode(&bytes[..length]).unwrap();
    assert_bytes(&frame, &bytes[..length]);
    assert_eq!(decode::<KeyUpdateFrame<4>>(&[0; 32]), Err(FrameError::Version));
}

#[test]
fn identity_proof_frames_have_header_state_and_proofs() {
    let sent = full_message(&mut seeded(7), 9, 7);
    let frame = IdentityProofFrame {
        header: compact_header(&outgoing(&sent, 0), 0xa1, 0),
        state: Floats::new(&state::<4, _>(&sent.message.state)),
        proofs: Proofs([Proof { robot: 3, tag: [1, 2, 3, 4] }, Proof { robot: 0x85, tag: [5; 4] }]),
    };
    let mut bytes = robot_encode(&mut open_link::<Dot154>(), &sent, 0, 0)[..33].to_vec();
    bytes[0] = 0xa1;
    bytes.extend([3, 1, 2, 3, 4, 0x85, 5, 5, 5, 5]);
    assert_bytes(&frame, &bytes);
    let any = AnyFrame::decode(&bytes).unwrap();
    assert_eq!(any, AnyFrame::IdentityProof { sender: 9, boot: 3, sequence: 7 });
    bytes[0] = 0x21;
    let refused = decode::<IdentityProofFrame<CompactHeader, Floats<4>, Proofs<2>>>(&bytes);
    assert_eq!(refused.err(), Some(FrameError::Version));
}

#[test]
fn integers_and_halves_have_a_fixed_length() {
    assert_eq!(U16Le::new(0x0102), U16Le([2, 1]));
    assert_eq!(U24Le::new(0xff01_0203), U24Le([3, 2, 1]));
    assert_eq!((U24Le([3, 2, 1]).get(), U32Le([4, 3, 2, 1]).get()), (0x01_0203, 0x0102_0304));
    assert_eq!((F16::new(1.0), F16::new(1.0).get()), (F16([0, 0x3c]), Some(1.0)));
    assert_eq!(F16([0, 0x7c]).get(), None);
    assert_eq!(postcard::to_slice(&U32Le::new(1), &mut [0; 8]).unwrap(), [1, 0, 0, 0]);
    assert_eq!(format!("{:?} {:?}", U24Le([3, 0, 0]), Bytes([0xab, 1])), "3 ab01");
}

#[test]
fn every_frame_type_has_its_own_key() {
    let keys = [
        SchemaKey::for_path::<ExactFrame>(""),
        SchemaKey::for_path::<Dot154Frame>(""),
        SchemaKey::for_path::<EspNowFrame>(""),
        SchemaKey::for_path::<Esb32Frame>(""),
        SchemaKey::for_path::<P2p57Frame>(""),
        SchemaKey::for_path::<Dot154Frame<Floats<6>, Halves<27>, Halves<6>>>(""),
    ];
    for (index, key) in keys.iter().enumerate() {
        assert!(!keys[..index].contains(key));
    }
}
