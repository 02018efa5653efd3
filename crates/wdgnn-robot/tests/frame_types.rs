//! Frame types for serde and postcard have the bytes that the encodings write and read.

use crate::common::messages::{decode as robot_decode, encode as robot_encode};
use crate::common::prelude::*;
use postcard_schema::key::Key as SchemaKey;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use wdgnn_link::frames::{
    AnyFrame, Bytes, CompactHeader, Dot154Frame, Esb32Frame, Esb32Header, EspNowFrame, ExactFrame,
    ExactHeader, F16, Floats, Frame, Halves, IdentityProofFrame, KeyUpdateFrame, P2p57Frame, Proof, Proofs,
    SealedDot154Frame, U16Le, U24Le, U32Le, decode, encode,
};

const KEY: Key = *b"a swarm's secret";

/// Robots in space: F = 9, K = 3, O = 3.
type SpaceTaps = Stacked<4, 9, NoDelayLine>;
type SpaceWide = Filter<4, 9, 3>;
type Space = Message<Motion<3>, SpaceTaps, SpaceWide>;

/// Robots with two layers: eight transmitted taps and twelve wide parameters.
type TwoLayers = Message<Motion, Stacked<3, 2, Stacked<2, 4, NoDelayLine>>, Filter<3, 2, 2>>;

/// Checks the bytes of a frame in both directions and rejects all other lengths.
fn assert_bytes<F: Frame + DeserializeOwned + PartialEq + std::fmt::Debug>(frame: &F, bytes: &[u8]) {
    let mut buffer = vec![0; bytes.len()];
    assert_eq!(postcard::to_slice(frame, &mut buffer).unwrap(), bytes);
    assert_eq!(encode(frame, &mut buffer), Some(bytes.len()));
    assert_eq!(F::BYTES, bytes.len());
    let (read, rest) = postcard::take_from_bytes::<F>(bytes).unwrap();
    assert_eq!((&read, rest), (frame, &[][..]));
    assert_eq!(decode::<F>(bytes).as_ref(), Ok(frame));
    for length in 0..bytes.len() {
        assert_eq!(decode::<F>(&bytes[..length]), Err(FrameError::Truncated), "{length} bytes");
        assert_eq!(encode(frame, &mut buffer[..length]), None, "{length} bytes");
    }
    for trailing in 1..4 {
        let longer = [bytes, &[0; 4][..trailing]].concat();
        assert_eq!(decode::<F>(&longer), Err(FrameError::Trailing), "{trailing} trailing bytes");
    }
}

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

/// Numbers of a frame type, as a receiver uses them.
trait Content {
    fn numbers(&self) -> Vec<f32>;
}

impl<const N: usize> Content for Floats<N> {
    fn numbers(&self) -> Vec<f32> {
        self.0.to_vec()
    }
}

impl<const N: usize> Content for Halves<N> {
    fn numbers(&self) -> Vec<f32> {
        self.get().to_vec()
    }
}

macro_rules! content_of {
    ($frame:ident) => {
        impl<S: Content, T: Content, W: Content> Content for $frame<S, T, W> {
            fn numbers(&self) -> Vec<f32> {
                [self.state.numbers(), self.taps.numbers(), self.wide.numbers()].concat()
            }
        }
    };
}

content_of!(ExactFrame);
content_of!(Dot154Frame);
content_of!(EspNowFrame);
content_of!(P2p57Frame);

impl<S: Content, N: Content> Content for Esb32Frame<S, N> {
    fn numbers(&self) -> Vec<f32> {
        [self.state.numbers(), self.numbers.numbers()].concat()
    }
}

/// Checks a frame type against the encoding `E` in both directions.
///
/// The robot writes the frame's postcard bytes, and reads the frame's numbers from them.
fn assert_frame<E, F, S, L, W>(sent: &Numbered<Message<S, L, W>>, exchange: u32, index: u32, frame: &F)
where
    E: Encoding,
    F: Frame + Content + DeserializeOwned + PartialEq + std::fmt::Debug,
    S: State,
    L: DelayLines,
    W: Tensor,
{
    let bytes = robot_encode(&mut open_link::<E>(), sent, exchange, index);
    assert_bytes(frame, &bytes);
    let now = sent.sequence / E::FRAMES;
    let (found, payload) = read::<S, L, W>(&mut open_link::<E>(), now, &bytes).unwrap();
    assert_eq!((found.boot, found.sequence), (sent.boot, sent.sequence));
    let Message { sender, tick, degree, state, taps, wide } = found.message;
    assert_eq!((sender, tick), (sent.message.sender, now));
    // The short header has one bit for robots that are obstacles only.
    let expected = if E::PROFILE == Profile::Esb32 { degree } else { sent.message.degree };
    assert_eq!((degree, degree == 255), (expected, sent.message.degree == 255));
    let taps: Vec<f32> = taps.transmitted().flat_map(|(_, line)| line.to_vec()).collect();
    let numbers =
        [state.to_array().as_ref(), payload.taps.of(&taps), payload.wide.of(wide.numbers())].concat();
    let all = frame.numbers();
    let (expected, padding) = all.split_at(numbers.len());
    assert_eq!(numbers, expected);
    assert!(padding.iter().all(|x| *x == 0.0), "{padding:?}");
}

fn state<const N: usize, S: State>(state: &S) -> [f32; N] {
    state.to_array().as_ref().try_into().unwrap()
}

fn taps<const N: usize, L: DelayLines>(lines: &L, from: usize) -> [f32; N] {
    let all: Vec<f32> = lines.transmitted().flat_map(|(_, line)| line.to_vec()).collect();
    all[from..from + N].try_into().unwrap()
}

fn wide<const N: usize, W: Tensor>(wide: &W, from: usize) -> [f32; N] {
    wide.numbers()[from..from + N].try_into().unwrap()
}

fn exact_header<S, L, W>(sent: &Numbered<Message<S, L, W>>, counts: (u8, u16, u16)) -> ExactHeader {
    ExactHeader {
        version: 1,
        profile: 0,
        state_numbers: counts.0,
        tap_numbers: U16Le::new(counts.1),
        wide_numbers: U16Le::new(counts.2),
        model: U32Le::new(MODEL),
        sender: U16Le::new(sent.message.sender),
        boot: U32Le::new(sent.boot),
        sequence: U32Le::new(sent.sequence),
        degree: sent.message.degree,
    }
}

fn compact_header<S, L, W>(sent: &Numbered<Message<S, L, W>>, first: u8, part: u8) -> CompactHeader {
    CompactHeader {
        version_and_profile: first,
        part,
        model: U32Le::new(MODEL),
        sender: U16Le::new(sent.message.sender),
        boot: U32Le::new(sent.boot),
        sequence: U32Le::new(sent.sequence),
        degree: sent.message.degree,
    }
}

fn esb32_header<S, L, W>(sent: &Numbered<Message<S, L, W>>, piece: u8) -> Esb32Header {
    Esb32Header {
        version_and_profile: 0x41,
        sender: sent.message.sender as u8,
        boot: U16Le::new(sent.boot as u16),
        sequence: U24Le::new(sent.sequence),
        piece: if sent.message.degree == 255 { piece | 0x80 } else { piece },
    }
}

/// Checks encodings on a message of a network with two layers, with taps and parameters that fill no piece.
fn assert_two_layers(sent: &Numbered<TwoLayers>, exchange: u32) {
    let Message { state: motion, taps: lines, wide: filter, .. } = &sent.message;
    let floats: Floats<4> = Floats::new(&state(motion));
    let frame = ExactFrame {
        header: exact_header(sent, (4, 8, 12)),
        state: floats,
        taps: Floats::<8>::new(&taps(lines, 0)),
        wide: Floats::<12>::new(&wide(filter, 0)),
    };
    assert_frame::<Exact, _, _, _, _>(sent, exchange, 0, &frame);
    let (taps_of_all, wide_of_all) = (Halves::<8>::new(&taps(lines, 0)), Halves::<12>::new(&wide(filter, 0)));
    let header = compact_header(sent, 0x21, 0);
    let frame = Dot154Frame { header, state: floats, taps: taps_of_all, wide: wide_of_all };
    assert_frame::<Dot154, _, _, _, _>(sent, exchange, 0, &frame);
    let header = compact_header(sent, 0x31, 0);
    let frame = EspNowFrame { header, state: floats, taps: taps_of_all, wide: wide_of_all };
    assert_frame::<EspNow, _, _, _, _>(sent, exchange, 0, &frame);
    for index in 0..4 {
        let piece = if index < 2 { index } else { 2 + exchange % 2 };
        let mut numbers = [0.0; 6];
        match piece {
            0 => numbers = taps(lines, 0),
            1 => numbers[..2].copy_from_slice(&taps::<2, _>(lines, 6)),
            _ => numbers = wide(filter, 6 * (piece as usize - 2)),
        }
        let frame: Esb32Frame = Esb32Frame {
            header: esb32_header(sent, piece as u8),
            state: Halves::new(&state(motion)),
            numbers: Halves::new(&numbers),
        };
        assert_frame::<Esb32, _, _, _, _>(sent, exchange, index, &frame);
    }
}

/// Checks all encodings on a message of the planar network.
fn assert_full(sent: &Numbered, exchange: u32) {
    let floats = Floats::new(&state(&sent.message.state));
    let halves: Halves<4> = Halves::new(&state(&sent.message.state));

    let frame: ExactFrame = ExactFrame {
        header: exact_header(sent, (4, 18, 48)),
        state: floats,
        taps: Floats::new(&taps(&sent.message.taps, 0)),
        wide: Floats::new(&wide(&sent.message.wide, 0)),
    };
    assert_frame::<Exact, _, _, _, _>(sent, exchange, 0, &frame);

    let part = (exchange % 4) as usize;
    let frame: Dot154Frame = Dot154Frame {
        header: compact_header(sent, 0x21, part as u8),
        state: floats,
        taps: Halves::new(&taps(&sent.message.taps, 0)),
        wide: Halves::new(&wide(&sent.message.wide, 12 * part)),
    };
    assert_frame::<Dot154, _, _, _, _>(sent, exchange, 0, &frame);

    let frame: EspNowFrame = EspNowFrame {
        header: compact_header(sent, 0x31, 0),
        state: floats,
        taps: Halves::new(&taps(&sent.message.taps, 0)),
        wide: Halves::new(&wide(&sent.message.wide, 0)),
    };
    assert_frame::<EspNow, _, _, _, _>(sent, exchange, 0, &frame);

    for index in 0..2 {
        let part = (2 * exchange + index) % 16;
        let frame: P2p57Frame = P2p57Frame {
            header: compact_header(sent, 0x51, part as u8),
            state: halves,
            taps: Halves::new(&taps(&sent.message.taps, 9 * index as usize)),
            wide: Halves::new(&wide(&sent.message.wide, 3 * part as usize)),
        };
        assert_frame::<P2p57, _, _, _, _>(sent, exchange, index, &frame);
    }

    for index in 0..4 {
        let piece = if index < 3 { index } else { 3 + exchange % 8 };
        let frame: Esb32Frame = Esb32Frame {
            header: esb32_header(sent, piece as u8),
            state: halves,
            numbers: if index < 3 {
                Halves::new(&taps(&sent.message.taps, 6 * index as usize))
            } else {
                Halves::new(&wide(&sent.message.wide, 6 * (piece as usize - 3)))
            },
        };
        assert_frame::<Esb32, _, _, _, _>(sent, exchange, index, &frame);
    }
}

/// Checks the encodings that messages in space fit into.
fn assert_space(sent: &Numbered<Space>) {
    let floats = Floats::new(&state(&sent.message.state));
    let all = Halves::<27>::new(&taps(&sent.message.taps, 0));
    let frame = ExactFrame {
        header: exact_header(sent, (6, 27, 108)),
        state: floats,
        taps: Floats::<27>::new(&taps(&sent.message.taps, 0)),
        wide: Floats::<108>::new(&wide(&sent.message.wide, 0)),
    };
    assert_frame::<Exact, ExactFrame<Floats<6>, _, _>, _, _, _>(sent, 0, 0, &frame);
    let run = Halves::<6>::new(&wide(&sent.message.wide, 24));
    let frame = Dot154Frame { header: compact_header(sent, 0x21, 4), state: floats, taps: all, wide: run };
    assert_frame::<Dot154, _, _, _, _>(sent, 22, 0, &frame);
    let run = Halves::<73>::new(&wide(&sent.message.wide, 0));
    let frame = EspNowFrame { header: compact_header(sent, 0x31, 0), state: floats, taps: all, wide: run };
    assert_frame::<EspNow, _, _, _, _>(sent, 0, 0, &frame);
    let run = Halves::<35>::new(&wide(&sent.message.wide, 73));
    let frame = EspNowFrame { header: compact_header(sent, 0x31, 1), state: floats, taps: all, wide: run };
    assert_frame::<EspNow, _, _, _, _>(sent, 1, 0, &frame);
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
        assert_full(&sent, exchange);
        let mut space = Space { sender, degree, ..Space::empty(Motion::REST) };
        let numbers = random_numbers(&mut random, 3, 9.0);
        space.state.position.copy_from_slice(&numbers);
        space.taps.line.numbers_mut()[..27].copy_from_slice(&random_numbers(&mut random, 27, 9.0));
        space.wide.numbers_mut().copy_from_slice(&random_numbers(&mut random, 108, 2.0));
        assert_space(&Numbered { boot, sequence, message: space });
        let mut layers = TwoLayers { sender, degree, ..TwoLayers::empty(sent.message.state) };
        let numbers = random_numbers(&mut random, 8, 9.0);
        layers.taps.for_each_transmitted(|from, line| line.copy_from_slice(&numbers[from..from + line.len()]));
        layers.wide.numbers_mut().copy_from_slice(&random_numbers(&mut random, 12, 2.0));
        assert_two_layers(&Numbered { boot, sequence, message: layers }, exchange);
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
    assert_full(&sent, 3);
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
        for index in 0..L::FRAMES {
            let inside = AnyFrame::decode(&robot_encode(&mut open, &sent, 3, index)).unwrap();
            let bytes = robot_encode(&mut sealed, &sent, 3, index);
            let frame = AnyFrame::decode(&bytes).unwrap();
            let mut again = vec![0; bytes.len() + 8];
            let length = postcard::to_slice(&frame, &mut again).unwrap().len();
            assert_eq!(again[1..length], bytes, "an enum has its variant first");
            let now = sequence / L::FRAMES + 1000;
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
    let notice = Notice { name: 0x0102, epoch: 3, at: 0x0405_0607 };
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
        header: compact_header(&sent, 0xa1, 0),
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
