//! Encodings: frame sizes, the bytes in the document, precision, rotation of parameters, and damaged frames.

use crate::common::prelude::*;
use proptest::prelude::*;

/// Half a unit in the last place of binary16: 2⁻¹¹ of the number, at least 2⁻²⁵.
fn half_step(x: f32) -> f32 {
    (x.abs() / 2048.0).max(0.5_f32.powi(25))
}

#[test]
fn frames_fit_their_radios() {
    fn lengths<E: Encoding, const TAG: usize>() -> (usize, usize) {
        let longest = |link: &dyn MessageLink<Motion, Taps, Wide>| link.max_frame_len();
        (longest(&open_link::<E>()), longest(&sealed_link::<E, TAG>(&[0; 16])))
    }
    assert_eq!(
        lengths::<Dot154, 8>(),
        (93, 101),
        "at most 116: 127 less a MAC header of 9 and a checksum of 2"
    );
    assert_eq!(lengths::<EspNow, 8>(), (165, 173), "at most 250");
    assert_eq!(lengths::<Esb32, 4>(), (28, 32), "exactly 32");
    assert_eq!(lengths::<P2p57, 8>(), (49, 57), "exactly 57");
}

#[test]
fn encodings_write_and_read_the_bytes_in_the_document() {
    fn both_ways<L>(name: &str, mut link: L, sent: &Numbered<Example>, index: u32, carried: Payload)
    where
        L: MessageLink<Motion, LayerTaps<2, 6, ()>, Filter<2, 6, 2>>,
    {
        let golden = example(name);
        let mut frame = vec![0; golden.len()];
        assert_eq!(write(&mut link, sent, 5, index, &mut frame), Some(golden.len()));
        assert_eq!(frame, golden, "{name}");
        for length in 0..golden.len() {
            assert_eq!(write(&mut link, sent, 5, index, &mut frame[..length]), None);
        }
        let now = sent.sequence / link.frames_per_exchange();
        let (found, payload): (Numbered<Example>, Payload) = read(&mut link, now, &golden).unwrap();
        assert_eq!(payload, carried, "{name}");
        assert_eq!((found.boot, found.sequence), (3, sent.sequence));
        let (found, sent) = (found.message, sent.message);
        assert_eq!((found.sender, found.tick), (sent.sender, now));
        assert_eq!(found.state, sent.state, "{name}");
        // By Python's struct module: −0.1 is 0xae66, −0.099975586; 10⁻⁶ is 0x0011, 17·2⁻²⁴; 70,000 overflows.
        let taps = [1.5, -0.099_975_586, 0.0, 65504.0, 17.0 * 0.5_f32.powi(24), 2.0];
        assert_eq!(payload.taps.of(&found.taps.line.0[0]), payload.taps.of(&taps), "{name}");
        assert_eq!(found.taps.line.0[1], [0.0; 6], "the last tap is not transmitted");
        assert_eq!(payload.wide.of(found.wide.numbers()), payload.wide.of(sent.wide.numbers()), "{name}");
        let outside = found.wide.numbers().iter().enumerate();
        let outside = outside.filter(|(at, _)| !(payload.wide.from..payload.wide.to).contains(&(*at as u16)));
        assert!(outside.into_iter().all(|(_, x)| *x == 0.0), "{name}");
    }
    let wide = |from, to| ParamRange { from, to };
    let long = example_message(0x0102, 0x0102_0304);
    let parts = Payload { taps: wide(0, 6), wide: wide(12, 24) };
    both_ways("beacon-dot154", open_link::<Dot154>(), &long, 0, parts);
    let short = example_message(2, 0x02_0304);
    let parts = Payload { taps: wide(0, 6), wide: ParamRange::NONE };
    both_ways("beacon-esb32-taps", open_link::<Esb32>(), &short, 0, parts);
}

#[test]
fn exact_frames_are_the_bytes_in_the_document() {
    let message = Message {
        sender: 0x0102,
        tick: 0x0102_0304,
        degree: 5,
        state: Motion { position: [1.0, -2.0], velocity: [0.5, 0.25] },
        // The last tap is not transmitted.
        taps: LayerTaps { line: DelayLine([[1.5], [0.0]]), above: () },
        wide: Filter([[[1.0, 2.0]], [[3.0, 4.0]]]),
    };
    let (mut link, sent) = (open_link::<Exact>(), Numbered { boot: 3, sequence: 0x0102_0304, message });
    let golden = example("beacon-exact");
    let mut frame = vec![0; golden.len()];
    assert_eq!(write(&mut link, &sent, 0, 0, &mut frame), Some(golden.len()));
    assert_eq!(frame, golden);
    assert_eq!(read(&mut link, 0x0102_0304, &golden), Ok((sent, Payload::ALL)));
    for length in 0..golden.len() {
        assert_eq!(write(&mut link, &sent, 0, 0, &mut frame[..length]), None);
    }
}

#[test]
fn messages_in_space_do_not_fit_p2p57() {
    use wdgnn_robot::onboard::{ModelOf, OnboardTask};
    fn fits<T: OnboardTask>() -> bool {
        P2p57::has_room_for::<
            <T as Task>::State,
            <ModelOf<'static, T> as Model>::Taps,
            <ModelOf<'static, T> as Model>::Wide,
        >()
    }
    assert!(fits::<Flocking<2>>());
    assert!(!fits::<Flocking<3>>(), "six state numbers and 14 taps exceed 20 half-precision numbers");
}

#[test]
fn messages_that_the_short_header_cannot_represent_are_not_sent() {
    let good = example_message(255, (1 << 24) - 1);
    let send = |sent: &Numbered<Example>| write(&mut open_link::<Esb32>(), sent, 0, 0, &mut [0; 32]);
    assert_eq!(send(&good), Some(28));
    assert_eq!(send(&example_message(256, good.sequence)), None);
    assert_eq!(send(&Numbered { boot: 1 << 16, ..good }), None);
    // The lower bits of a sequence suffice.
    assert_eq!(send(&Numbered { sequence: 1 << 24, ..good }), Some(28));
}

#[test]
fn every_encoding_carries_the_obstacle_only_flag() {
    fn flag<L: TestLink>(mut link: L) {
        for (degree, obstacle) in [(255, true), (254, false), (0, false)] {
            for index in 0..L::FRAMES_PER_EXCHANGE {
                let mut sent = full_message(&mut seeded(12), 9, 0);
                sent.message.degree = degree;
                let frame = encode(&mut link, &sent, 0, index);
                let (read, _) = decode(&mut link, 0, &frame).unwrap();
                assert_eq!(read.message.degree == 255, obstacle, "{degree} in frame {index}");
            }
        }
    }
    for_open_links!(flag);
}

#[test]
fn decoded_messages_are_within_half_precision_of_the_encoded_ones() {
    fn round_trip<L: TestLink>(mut link: L) {
        let state_is_exact = ![Profile::Esb32, Profile::P2p57].contains(&L::PROFILE);
        let mut rng = seeded(11);
        for exchange in 0..64 {
            let sent = full_message(&mut rng, 9, exchange);
            for index in 0..L::FRAMES_PER_EXCHANGE {
                let frame = encode(&mut link, &sent, exchange, index);
                let (read, parts) = decode(&mut link, 0, &frame).unwrap();
                let near = |a: &f32, b: &f32| (a - b).abs() <= half_step(*a);
                let numbers = |motion: &Motion| [motion.position, motion.velocity].concat();
                let states = (numbers(&sent.message.state), numbers(&read.message.state));
                assert!(states.0 == states.1 || !state_is_exact);
                assert!(states.0.iter().zip(&states.1).all(|(a, b)| near(a, b)));
                let taps = |sent: &Numbered| parts.taps.of(sent.message.taps.line.numbers()).to_vec();
                assert!(taps(&sent).iter().zip(&taps(&read)).all(|(a, b)| near(a, b)));
                let wide = |sent: &Numbered| parts.wide.of(sent.message.wide.numbers()).to_vec();
                assert!(wide(&sent).iter().zip(&wide(&read)).all(|(a, b)| near(a, b)));
            }
        }
    }
    for_open_links!(round_trip);
}

#[test]
fn rotation_sends_every_tap_per_exchange_and_every_parameter_once_per_turn() {
    fn turn<L: TestLink>(mut link: L, exchanges: u32) {
        let sent = full_message(&mut seeded(12), 9, 0);
        // A turn may begin anywhere.
        for first in [0, 1, 1_000_003] {
            let mut parameters = [0; 48];
            for exchange in first..first + exchanges {
                let mut taps = [0; 18];
                for index in 0..L::FRAMES_PER_EXCHANGE {
                    let frame = encode(&mut link, &sent, exchange, index);
                    let (_, parts) = decode(&mut link, 0, &frame).unwrap();
                    parts.taps.of_mut(&mut taps).iter_mut().for_each(|count| *count += 1);
                    parts.wide.of_mut(&mut parameters).iter_mut().for_each(|count| *count += 1);
                }
                assert_eq!(taps, [1; 18]);
            }
            assert_eq!(parameters, [1; 48]);
        }
    }
    turn(open_link::<Dot154>(), 4);
    turn(open_link::<EspNow>(), 1);
    turn(open_link::<Esb32>(), 8);
    turn(open_link::<P2p57>(), 8);
}

#[test]
fn nonzero_padding_is_rejected() {
    // Eight wide parameters leave four numbers of the last piece unused.
    type Small = Message<Motion, (), Filter<1, 1, 8>>;
    let state = Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] };
    let wide = Filter([[[1.0; 8]]]);
    let message = Small { sender: 1, tick: 0, degree: 0, state, taps: (), wide };
    let sent = Numbered { boot: 0, sequence: 0, message };
    let mut frame = [0; 28];
    assert_eq!(write(&mut open_link::<Esb32>(), &sent, 1, 0, &mut frame), Some(28));
    assert_eq!(frame[16..], [0, 0x3c, 0, 0x3c, 0, 0, 0, 0, 0, 0, 0, 0]);
    let read =
        |frame: &[u8]| read::<Motion, (), Filter<1, 1, 8>>(&mut open_link::<Esb32>(), 0, frame).map(|_| ());
    assert!(read(&frame).is_ok());
    for offset in 20..28 {
        let mut frame = frame;
        frame[offset] = 1;
        assert_eq!(read(&frame).err(), Some(FrameError::NotAdmissible));
    }
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn decoded_noise_is_admissible(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        kept in 0..24_usize,
    ) {
        fn check<L: TestLink>(mut link: L, noise: &[u8], kept: usize) {
            let good = encode(&mut link, &full_message(&mut seeded(17), 9, 0), 0, 0);
            let frame = [&good[..kept], noise].concat();
            for frame in [noise, &frame, &frame[..good.len().min(frame.len())]] {
                if let Ok((read, _)) = decode(&mut link, 0, frame) {
                    assert!(read.message.is_admissible());
                }
            }
        }
        check(open_link::<Exact>(), &noise, kept);
        check(open_link::<Dot154>(), &noise, kept);
        check(open_link::<EspNow>(), &noise, kept);
        check(open_link::<Esb32>(), &noise, kept);
        check(open_link::<P2p57>(), &noise, kept);
    }
}
