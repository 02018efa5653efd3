//! Frames sealed with the group key: every manipulation without the key, and replays, are rejected.

use crate::common::prelude::*;
use proptest::prelude::*;

const KEY: Key = *b"a swarm's secret";
const OTHER_KEY: Key = [0xa5; 16];

/// Dimensions that exceed the frame of a small radio.
type HugeTaps = Stacked<16, 40, NoChain>;
type HugeWide = Filter<16, 40, 2>;

fn dot154(key: &Key) -> Sealed<Dot154> {
    Sealed::new(Dot154::default(), key)
}

fn esb32(key: &Key) -> SealedEsb32 {
    SealedEsb32::new(Esb32, key)
}

#[test]
fn flipped_bits_are_rejected() {
    fn flips<P: Codec>(sealed: fn(&Key) -> P) {
        let good = encode(&sealed(&KEY), &full_beacon(&mut seeded(21), 9, 400), 1, 0);
        let now = 400 / P::FRAMES;
        let mut receiver = sealed(&KEY);
        assert_eq!(decode(&mut receiver, 0, &good), Err(Refusal::Untimely), "it starts to listen at tick 0");
        let timely = now - LATE_TICKS..=now + GUARD_TICKS;
        for (offset, bit) in (0..good.len()).flat_map(|offset| (0..8).map(move |bit| (offset, bit))) {
            let mut frame = good.clone();
            frame[offset] ^= 1 << bit;
            // A distant sequence is rejected before the tag is checked.
            let refusal = decode(&mut receiver, now, &frame).unwrap_err();
            assert!(matches!(refusal, Refusal::Forged | Refusal::Untimely), "bit {bit} of byte {offset}");
            let sequence = P::identity(&frame, now).unwrap().sequence;
            assert_eq!(refusal == Refusal::Untimely, !timely.contains(&(sequence / P::FRAMES)));
        }
        assert!(decode(&mut receiver, now, &good).is_ok(), "rejected frames leave no trace");
    }
    the_sealed_encodings!(flips);
}

#[test]
fn frames_of_other_lengths_are_rejected() {
    fn lengths<P: Codec>(sealed: fn(&Key) -> P) {
        let good = encode(&sealed(&KEY), &full_beacon(&mut seeded(22), 9, 0), 1, 0);
        let tag = if P::profile(true) == Profile::Esb32 { 4 } else { 8 };
        let mut receiver = sealed(&KEY);
        for length in (0..600).filter(|length| *length != good.len()) {
            let mut frame = good.clone();
            frame.resize(length, 0);
            let reason = match length {
                _ if length < P::header_bytes() + tag => Refusal::TooShort,
                0..=512 => Refusal::Forged,
                _ => Refusal::Trailing,
            };
            assert_eq!(decode(&mut receiver, 0, &frame), Err(reason), "{length} bytes");
        }
        assert!(decode(&mut receiver, 0, &good).is_ok());
    }
    the_sealed_encodings!(lengths);
}

#[test]
fn frames_under_another_key_or_model_are_rejected() {
    fn strangers<P: Codec>(sealed: fn(&Key) -> P) {
        let beacon = full_beacon(&mut seeded(23), 9, 0);
        let good = encode(&sealed(&KEY), &beacon, 1, 0);
        assert_eq!(decode(&mut sealed(&OTHER_KEY), 0, &good), Err(Refusal::Forged));
        // Another model under this key is distinguishable only where the header names the model.
        let other = Link { checksum: 1, ..link::<P>() };
        let mut frame = vec![0; good.len()];
        let length = sealed(&KEY).encode(&other, &beacon, 1, 0, &mut frame);
        assert_eq!(length, Some(good.len()));
        let told = if P::checksum(&frame).is_some() { Refusal::Model } else { Refusal::Forged };
        assert_eq!(decode(&mut sealed(&KEY), 0, &frame), Err(told));
        // A plain frame.
        let (header, content) = good.split_at(P::header_bytes());
        let unsealed = [header, &vec![0; content.len()]].concat();
        assert_eq!(decode(&mut sealed(&KEY), 0, &unsealed), Err(Refusal::Forged));
    }
    the_sealed_encodings!(strangers);
}

#[test]
fn replays_are_rejected_for_every_boot_count() {
    fn replays<P: Codec>(sealed: fn(&Key) -> P) {
        let sender = sealed(&KEY);
        let frame = |boot, sequence| {
            let beacon = full_beacon(&mut seeded(25), 9, sequence);
            encode(&sender, &Beacon { boot, ..beacon }, 1, 0)
        };
        let mut receiver = sealed(&KEY);
        let (first, now) = (100 * P::FRAMES, 100);
        assert!(decode(&mut receiver, now, &frame(1, first + 1)).is_ok());
        for boot in [0, 1, 2, 65_535] {
            assert_eq!(decode(&mut receiver, now, &frame(boot, first + 1)), Err(Refusal::Replayed), "again");
            assert_eq!(decode(&mut receiver, now, &frame(boot, first)), Err(Refusal::Replayed), "late");
        }
        assert!(decode(&mut receiver, now, &frame(1, first + 2)).is_ok());
        assert!(
            decode(&mut receiver, now + 1, &frame(0, first + P::FRAMES + 2)).is_ok(),
            "a restarted robot lost its boot count"
        );
    }
    the_sealed_encodings!(replays);
}

#[test]
fn one_spoofed_frame_silences_a_robot_only_within_the_guard_time() {
    fn spoofed<P: Codec>(sealed: fn(&Key) -> P) {
        let codec = sealed(&KEY);
        let said = |boot, tick: u32| {
            let beacon = full_beacon(&mut seeded(31), 9, tick * P::FRAMES);
            encode(&codec, &Beacon { boot, ..beacon }, 1, 0)
        };
        let mut receiver = sealed(&KEY);
        assert!(decode(&mut receiver, 99, &said(3, 99)).is_ok());
        // The largest boot count, with the newest acceptable tick.
        let largest = if P::FRAMES > 1 { 65_535 } else { u32::MAX - 1 };
        for ahead in [1000, GUARD_TICKS + 1] {
            assert_eq!(decode(&mut receiver, 100, &said(largest, 100 + ahead)), Err(Refusal::Untimely));
        }
        assert!(decode(&mut receiver, 100, &said(largest, 100 + GUARD_TICKS)).is_ok());
        let mut silenced = (101..).take_while(|tick| decode(&mut receiver, *tick, &said(3, *tick)).is_err());
        assert_eq!(silenced.by_ref().count(), GUARD_TICKS as usize, "then it is accepted again");
    }
    the_sealed_encodings!(spoofed);
}

#[test]
fn a_swarm_recovers_from_spoofing_of_all_robots_within_half_a_second() {
    fn recovers<P: Codec + core::fmt::Debug>(sealed: fn(&Key) -> P, interval: u32) {
        const ROBOTS: u16 = 12;
        let behavior = offline().every(interval).robust();
        let mut robots: Vec<_> = (0..ROBOTS).map(|id| robot_on(id, behavior, sealed(&KEY))).collect();
        let at = |id: u16, tick: u32| Motion {
            position: [f32::from(id) + 0.01 * tick as f32, 0.0],
            velocity: [1.0, 0.0],
        };
        let (mut last_refused, mut spoofs) = (0, 0);
        for now in 0..150 {
            let mut air = Vec::new();
            for (id, robot) in (0..).zip(&mut robots) {
                robot.sense(now, seen(at(id, now)));
                if robot.speaks() {
                    air.extend(robot.says().into_iter().map(|frame| (id, frame)));
                }
            }
            if now == 60 {
                // The newest acceptable tick, another place and the largest boot count, before any honest frame.
                for id in 0..ROBOTS {
                    let mut liar = robot_on(id, behavior, sealed(&KEY));
                    liar.set_boot(65_534);
                    liar.sense(now + GUARD_TICKS, seen(Motion { position: [50.0; 2], velocity: [0.0; 2] }));
                    air.splice(0..0, liar.says().into_iter().map(|frame| (u16::MAX, frame)));
                    spoofs += 1;
                }
            }
            for (id, robot) in (0..).zip(&mut robots) {
                for (from, frame) in &air {
                    let outcome = if *from == id { Ok(()) } else { robot.hears(frame) };
                    let honest = *from != u16::MAX;
                    if now > 40 && honest && outcome.is_err() {
                        last_refused = now;
                    }
                }
                robot.conclude();
                if now > 40 + interval && !(60..110).contains(&now) {
                    assert_eq!(robot.trusted().count(), usize::from(ROBOTS) - 1, "robot {id}, tick {now}");
                }
            }
        }
        assert_eq!(spoofs, ROBOTS);
        assert!((60..110).contains(&last_refused), "spoofed in tick 60, refused until {last_refused}");
    }
    recovers(|key| Sealed::new(Exact, key), 1);
    recovers(dot154, 5);
    recovers(|key| Sealed::new(EspNow::default(), key), 2);
    recovers(esb32, 5);
}

#[test]
fn addresses_outside_the_swarm_are_rejected() {
    let sealed = dot154(&KEY);
    let of = |sender| encode(&sealed, &full_beacon(&mut seeded(32), sender, 0), 0, 0);
    let mut receiver = dot154(&KEY).among(10);
    for sender in [10, 11, 500, u16::MAX] {
        assert_eq!(decode(&mut receiver, 0, &of(sender)), Err(Refusal::Unlisted), "{sender}");
        assert_eq!(receiver.vouch(&link::<Dot154>(), 1000, 0, &of(sender)), None);
    }
    for sender in [0, 9] {
        assert!(receiver.vouch(&link::<Dot154>(), 1000, 0, &of(sender)).is_some());
        assert!(decode(&mut receiver, 0, &of(sender)).is_ok());
    }
    assert!(decode(&mut dot154(&KEY).among(0), 0, &of(500)).is_ok(), "the swarm size is unknown");
}

#[test]
fn frames_are_accepted_after_the_clock_went_back() {
    let sealed = dot154(&KEY);
    let said = |tick| encode(&sealed, &full_beacon(&mut seeded(33), 9, tick), tick, 0);
    let mut receiver = dot154(&KEY);
    // The receiver starts ahead of its swarm, next to another robot that does.
    assert!(decode(&mut receiver, 7000, &said(7000)).is_ok());
    for now in 1000..1010 {
        assert!(decode(&mut receiver, now, &said(now)).is_ok(), "tick {now}");
        assert_eq!(decode(&mut receiver, now, &said(now)), Err(Refusal::Replayed));
    }
}

#[test]
fn esb32_continues_when_its_short_sequence_wraps() {
    let robot = |id| robot_on(id, offline(), esb32(&KEY));
    let (mut one, mut other) = (robot(1), robot(2));
    // 2²⁴ frames are 4,194,304 ticks or 11.65 hours: the first turn, the fortieth, and the last.
    for around in [(1 << 22) + 20, 40 << 22, 255 << 22] {
        let mut recorded: Vec<Vec<u8>> = Vec::new();
        for now in around - 20..around + 10 {
            one.sense(now, seen(REST));
            other.sense(now, seen(REST));
            for frame in other.says() {
                assert_eq!(one.hears(&frame), Ok(()), "tick {now}");
                recorded.push(frame);
            }
            one.settle();
        }
        // Equal short sequences of the turn before.
        let mut another = robot(1);
        for (frame, number) in recorded.iter().zip(0..) {
            another.sense(around - 20 + number / 4 - (1 << 22), seen(REST));
            assert_eq!(another.hears(frame), Err(Refusal::Forged));
        }
    }
    // Ticks beyond the last sequence are neither sent nor accepted.
    other.sense(1 << 30, seen(REST));
    assert_eq!(other.speak(&mut [0; 64]), None);
}

#[test]
fn frames_are_accepted_only_within_the_time_window() {
    fn window<P: Codec>(sealed: fn(&Key) -> P) {
        let frames = P::FRAMES;
        for last in [0, frames - 1] {
            let good = encode(&sealed(&KEY), &full_beacon(&mut seeded(27), 9, 1000 * frames + last), 0, 0);
            for (now, fits) in [
                (1000 - GUARD_TICKS - 1, false),
                (1000 - GUARD_TICKS, true),
                (1000, true),
                (1000 + LATE_TICKS, true),
                (1000 + LATE_TICKS + 1, false),
                (1 << 20, false),
            ] {
                let mut receiver = sealed(&KEY);
                // The receiver has been listening since tick 0.
                assert!(decode(&mut receiver, 0, &good).is_err());
                let refusal = decode(&mut receiver, now, &good).err();
                assert_eq!(refusal, (!fits).then_some(Refusal::Untimely), "tick {now}");
            }
        }
    }
    the_sealed_encodings!(window);
}

#[test]
fn silent_senders_are_forgotten_and_not_replayed() {
    fn forgets<P: Codec>(sealed: fn(&Key) -> P) {
        let codec = sealed(&KEY);
        let of = |sender: usize, tick: u32| {
            let beacon = full_beacon(&mut seeded(28), sender as u16, tick * P::FRAMES);
            encode(&codec, &beacon, 0, 0)
        };
        let mut receiver = sealed(&KEY);
        for sender in 0..2 * SENDERS {
            let mut forged = of(100 + sender, 10);
            *forged.last_mut().unwrap() ^= 1;
            assert_eq!(decode(&mut receiver, 10, &forged), Err(Refusal::Forged), "forgeries take no slot");
        }
        // A full list of identities, as far ahead as accepted; then they fall silent.
        for sender in 0..SENDERS {
            assert!(decode(&mut receiver, 10, &of(sender, 10 + GUARD_TICKS)).is_ok());
            assert_eq!(decode(&mut receiver, 10, &of(sender, 10 + GUARD_TICKS)), Err(Refusal::Replayed));
        }
        for now in 10..=10 + FORGET_TICKS {
            assert_eq!(decode(&mut receiver, now, &of(200, now)), Err(Refusal::TooManySenders));
        }
        let now = 10 + FORGET_TICKS + 1;
        assert_eq!(decode(&mut receiver, now, &of(0, 10 + GUARD_TICKS)), Err(Refusal::Untimely));
        // A forged newcomer evicts no sender.
        let mut forged = of(200, now);
        *forged.last_mut().unwrap() ^= 1;
        assert_eq!(decode(&mut receiver, now, &forged), Err(Refusal::Forged));
        for honest in 100..100 + SENDERS {
            assert!(decode(&mut receiver, now, &of(honest, now)).is_ok());
            assert_eq!(decode(&mut receiver, now, &of(honest, now)), Err(Refusal::Replayed));
        }
        assert_eq!(
            decode(&mut receiver, now, &of(0, now)),
            Err(Refusal::TooManySenders),
            "they are forgotten"
        );
    }
    forgets(dot154);
    forgets(esb32);
}

/// Sender, boot and sequence of each frame, the content of its nonce.
fn nonces<P: Codec>(sent: &[Vec<u8>]) -> Vec<(u16, u32, u32)> {
    let nonce =
        |frame: &Vec<u8>| P::identity(frame, 0).map(|found| (found.sender, found.boot, found.sequence));
    sent.iter().filter_map(nonce).collect()
}

#[test]
fn nonces_are_unique_over_restarts_and_clock_jumps() {
    fn restarts<P: Codec>(sealed: fn(&Key) -> P) {
        let mut board = Board::new();
        for begin in [0, 0, 5000, 3, u32::MAX / 2000] {
            let mut robot = robot_on(1, offline(), sealed(&KEY));
            board.flash.resume(&mut robot).unwrap();
            for now in begin..begin + 30 {
                board.run(&mut robot, now);
            }
            // A clock that stands still, then goes back.
            for now in [begin, begin, begin + 5] {
                board.run(&mut robot, now);
            }
        }
        let mut used = nonces::<P>(&board.air.sent);
        assert_eq!(used.len(), 5 * 33 * P::FRAMES as usize);
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 5 * 33 * P::FRAMES as usize);
    }
    restarts(dot154);
    restarts(esb32);
}

#[test]
fn exhausted_sequences_stop_sending() {
    let mut robot = robot_on(1, offline(), dot154(&KEY));
    robot.sense(u32::MAX - 1, seen(REST));
    let mut buffer = [0; 200];
    assert_eq!(robot.speak(&mut buffer), Some(101));
    assert_eq!(robot.speak(&mut buffer), None);
    assert_eq!(robot.speak(&mut buffer), None);
}

#[test]
fn exhausted_boot_counts_stop_sending_for_ever() {
    let mut board = Board::new();
    let mut last = robot_on(1, offline(), dot154(&KEY));
    last.set_boot(u32::MAX - 2);
    board.flash.resume(&mut last).unwrap();
    let said = [true, false, false].map(|speaks| {
        let mut robot = robot_on(1, offline(), dot154(&KEY));
        board.flash.resume(&mut robot).unwrap();
        robot.sense(5, seen(REST));
        assert_eq!(robot.speak(&mut [0; 200]).is_some(), speaks);
        robot.boot()
    });
    assert_eq!(said, [u32::MAX - 1, u32::MAX, u32::MAX]);
}

#[test]
fn debug_output_hides_the_key() {
    let robot = robot_on(1, offline(), dot154(&OTHER_KEY));
    for text in [format!("{:?}", dot154(&OTHER_KEY)), format!("{robot:?}"), format!("{robot:#?}")] {
        let text = text.to_lowercase();
        for way in ["a5", "165, 165", "key", "cipher", "round"] {
            assert!(!text.contains(way), "{way} in {text}");
        }
    }
    // The text does not depend on the key.
    assert_eq!(format!("{:?}", dot154(&KEY)), format!("{:?}", dot154(&OTHER_KEY)));
}

fn assert_adds_a_tag<C: Codec, const TAG: usize>(plain: &C, sealed: &SealedWith<C, Aes, TAG>) {
    fn told<P: Codec>(_: &P) -> (u32, usize, [usize; 2], [bool; 2]) {
        let bytes = [P::bytes::<Motion, Taps, Wide>(), P::bytes::<Motion, HugeTaps, HugeWide>()];
        let fits = [P::fits::<Motion, Taps, Wide>(), P::fits::<Motion, HugeTaps, HugeWide>()];
        (P::FRAMES, P::header_bytes(), bytes, fits)
    }
    let (frames, header, bytes, fits) = told(plain);
    assert_eq!(told(sealed), (frames, header, bytes.map(|bytes| bytes + TAG), fits));
    for folded in [true, false] {
        assert_eq!(SealedWith::<C, Aes, TAG>::profile(folded), C::profile(folded));
    }
    // The identity is readable without the key.
    let beacon: Full = full_beacon(&mut seeded(1), 9, 7);
    let frame = encode(sealed, &beacon, 0, 0);
    let identity = SealedWith::<C, Aes, TAG>::identity(&frame, 7).unwrap();
    assert_eq!((identity.sender, identity.boot, identity.sequence), (9, 3, 7));
    assert_eq!(C::identity(&frame, 7), Some(identity));
    assert!(format!("{sealed:?}").starts_with("Sealed {"));
}

#[test]
fn sealing_adds_a_tag_to_the_encoding() {
    assert_adds_a_tag(&Exact, &Sealed::new(Exact, &KEY));
    assert_adds_a_tag(&Dot154::default(), &Sealed::new(Dot154::default(), &KEY));
    assert_adds_a_tag(&EspNow::default(), &Sealed::new(EspNow::default(), &KEY));
    assert_adds_a_tag(&Esb32, &SealedEsb32::new(Esb32, &KEY));
    assert!(!Dot154::fits::<Motion, HugeTaps, HugeWide>(), "the dimensions exceed a frame");
}

#[test]
fn only_content_that_fits_is_sealed() {
    fn sealed<const TAG: usize>(content: usize, room: usize) -> Option<usize> {
        let content = vec![7; content];
        let insider = Insider { codec: Dot154::default(), content: &content, flip: (0, 0) };
        let beacon: Full = full_beacon(&mut seeded(1), 9, 7);
        SealedWith::<_, Aes, TAG>::new(insider, &KEY).encode(
            &link::<Dot154>(),
            &beacon,
            0,
            0,
            &mut vec![0; room],
        )
    }
    let header = Dot154::header_bytes();
    // The longest frame has 640 bytes including its tag.
    for most in [640 - header - 8, 640 - header - 9, 100] {
        assert_eq!(sealed::<8>(most, 700), Some(header + most + 8));
    }
    for most in [640 - header - 4, 100] {
        assert_eq!(sealed::<4>(most, 700), Some(header + most + 4));
    }
    assert_eq!(sealed::<8>(640 - header - 7, 700), None);
    assert_eq!(sealed::<4>(640 - header - 3, 700), None);
    assert_eq!(sealed::<8>(660, 700), None);
    assert_eq!(sealed::<8>(100, header + 107), None, "a buffer that is a byte too short");
    assert_eq!(sealed::<8>(100, header + 108), Some(header + 108));
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn noise_is_rejected_and_changes_nothing(
        noise in prop::collection::vec(any::<u8>(), 0..600),
        kept in 0..40_usize,
    ) {
        fn refused<P: Codec + core::fmt::Debug>(sealed: fn(&Key) -> P, noise: &[u8], kept: usize) {
            let mut robot = robot_on(1, offline(), sealed(&KEY));
            let mut other: RobotOn<P> = robot_on(2, offline(), sealed(&KEY));
            let good = other.says().remove(0);
            // Noise alone, and behind the beginning of a valid frame.
            for frame in [noise, &[&good[..kept.min(good.len())], noise].concat()] {
                let before = format!("{robot:?}");
                if frame != good {
                    assert!(robot.hear(&mut frame.to_vec()).is_err());
                    assert_eq!(before, format!("{robot:?}"));
                }
            }
            assert_eq!(robot.hears(&good), Ok(()));
        }
        refused(dot154, &noise, kept);
        refused(esb32, &noise, kept);
    }
}
