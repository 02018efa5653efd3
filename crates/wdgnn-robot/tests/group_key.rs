//! Frames sealed with the group key: every manipulation without the key, and replays, are rejected.

use crate::common::prelude::*;

const KEY: Key = *b"a swarm's secret";
const OTHER_KEY: Key = [0xa5; 16];

fn dot154(key: &Key) -> Sealed<Dot154> {
    sealed_link::<Dot154, 8>(key)
}

fn esb32(key: &Key) -> SealedEsb32 {
    sealed_link::<Esb32, 4>(key)
}

#[test]
fn flipped_bits_are_rejected() {
    fn flips<L: TestLink>(sealed: fn(&Key) -> L) {
        let good = encode(&mut sealed(&KEY), &full_message(&mut seeded(21), 9, 400), 1, 0);
        let now = 400 / L::FRAMES_PER_EXCHANGE;
        let mut receiver = sealed(&KEY);
        assert_eq!(
            decode(&mut receiver, 0, &good),
            Err(FrameError::OutOfWindow),
            "it starts to listen at tick 0"
        );
        let timely = now - MAX_FRAME_AGE_TICKS..=now + MAX_FRAME_LEAD_TICKS;
        for (offset, bit) in (0..good.len()).flat_map(|offset| (0..8).map(move |bit| (offset, bit))) {
            let mut frame = good.clone();
            frame[offset] ^= 1 << bit;
            // A distant sequence is rejected before the tag is checked.
            let refusal = decode(&mut receiver, now, &frame).unwrap_err();
            assert!(
                matches!(refusal, FrameError::Forged | FrameError::OutOfWindow),
                "bit {bit} of byte {offset}"
            );
            let sequence = receiver.frame_id(now, &frame).unwrap().sequence;
            assert_eq!(
                refusal == FrameError::OutOfWindow,
                !timely.contains(&(sequence / L::FRAMES_PER_EXCHANGE))
            );
        }
        assert!(decode(&mut receiver, now, &good).is_ok(), "rejected frames leave no trace");
    }
    for_sealed_links!(flips);
}

#[test]
fn frames_under_another_key_or_model_are_rejected() {
    fn strangers<L: TestLink>(sealed: fn(u32, &Key) -> L) {
        let sent = full_message(&mut seeded(23), 9, 0);
        let good = encode(&mut sealed(MODEL, &KEY), &sent, 1, 0);
        assert_eq!(decode(&mut sealed(MODEL, &OTHER_KEY), 0, &good), Err(FrameError::Forged));
        // Another model under this key is distinguishable only where the header names the model.
        let frame = encode(&mut sealed(1, &KEY), &sent, 1, 0);
        assert_eq!(frame.len(), good.len());
        let header = L::Encoding::read_header(&frame, 0).unwrap();
        let reason = if header.model.is_some() { FrameError::Model } else { FrameError::Forged };
        assert_eq!(decode(&mut sealed(MODEL, &KEY), 0, &frame), Err(reason));
        // A plain frame.
        let (header, content) = good.split_at(L::HEADER_LEN);
        let unsealed = [header, &vec![0; content.len()]].concat();
        assert_eq!(decode(&mut sealed(MODEL, &KEY), 0, &unsealed), Err(FrameError::Forged));
    }
    strangers(sealed_link_of::<Exact, 8>);
    strangers(sealed_link_of::<Dot154, 8>);
    strangers(sealed_link_of::<EspNow, 8>);
    strangers(sealed_link_of::<Esb32, 4>);
    strangers(sealed_link_of::<P2p57, 8>);
}

#[test]
fn replays_are_rejected_for_every_boot_count() {
    fn replays<L: TestLink>(sealed: fn(&Key) -> L) {
        let frame = |boot, sequence| {
            let sent = full_message(&mut seeded(25), 9, sequence);
            encode(&mut sealed(&KEY), &Numbered { boot, ..sent }, 1, 0)
        };
        let mut receiver = sealed(&KEY);
        let (first, now) = (100 * L::FRAMES_PER_EXCHANGE, 100);
        assert!(decode(&mut receiver, now, &frame(1, first + 1)).is_ok());
        for boot in [0, 1, 2, 65_535] {
            assert_eq!(
                decode(&mut receiver, now, &frame(boot, first + 1)),
                Err(FrameError::Replayed),
                "again"
            );
            assert_eq!(decode(&mut receiver, now, &frame(boot, first)), Err(FrameError::Replayed), "late");
        }
        assert!(decode(&mut receiver, now, &frame(1, first + 2)).is_ok());
        assert!(
            decode(&mut receiver, now + 1, &frame(0, first + L::FRAMES_PER_EXCHANGE + 2)).is_ok(),
            "a restarted robot lost its boot count"
        );
    }
    for_sealed_links!(replays);
}

#[test]
fn one_spoofed_frame_silences_a_robot_only_within_the_guard_time() {
    fn spoofed<L: TestLink>(sealed: fn(&Key) -> L) {
        let said = |boot, tick: u32| {
            let sent = full_message(&mut seeded(31), 9, tick * L::FRAMES_PER_EXCHANGE);
            encode(&mut sealed(&KEY), &Numbered { boot, ..sent }, 1, 0)
        };
        let mut receiver = sealed(&KEY);
        assert!(decode(&mut receiver, 99, &said(3, 99)).is_ok());
        // The largest boot count, with the newest acceptable tick.
        let largest = if L::FRAMES_PER_EXCHANGE > 1 { 65_535 } else { u32::MAX - 1 };
        for ahead in [1000, MAX_FRAME_LEAD_TICKS + 1] {
            assert_eq!(decode(&mut receiver, 100, &said(largest, 100 + ahead)), Err(FrameError::OutOfWindow));
        }
        assert!(decode(&mut receiver, 100, &said(largest, 100 + MAX_FRAME_LEAD_TICKS)).is_ok());
        let mut silenced = (101..).take_while(|tick| decode(&mut receiver, *tick, &said(3, *tick)).is_err());
        assert_eq!(silenced.by_ref().count(), MAX_FRAME_LEAD_TICKS as usize, "then it is accepted again");
    }
    for_sealed_links!(spoofed);
}

#[test]
fn a_swarm_recovers_from_spoofing_of_all_robots_within_half_a_second() {
    fn recovers<L: TestLink>(sealed: fn(&Key) -> L, interval: u32) {
        const ROBOTS: u16 = 12;
        let behavior = offline().with_exchange_interval(interval).robust();
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
                if robot.sends_this_tick() {
                    air.extend(robot.says().into_iter().map(|frame| (id, frame)));
                }
            }
            if now == 60 {
                // The newest acceptable tick, another place and the largest boot count, before any honest frame.
                for id in 0..ROBOTS {
                    let mut liar = robot_on(id, behavior, sealed(&KEY));
                    liar.link_mut().set_boot_count(65_534);
                    liar.sense(
                        now + MAX_FRAME_LEAD_TICKS,
                        seen(Motion { position: [50.0; 2], velocity: [0.0; 2] }),
                    );
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
                robot.finish();
                if now > 40 + interval && !(60..110).contains(&now) {
                    assert_eq!(robot.trusted().count(), usize::from(ROBOTS) - 1, "robot {id}, tick {now}");
                }
            }
        }
        assert_eq!(spoofs, ROBOTS);
        assert!((60..110).contains(&last_refused), "spoofed in tick 60, refused until {last_refused}");
    }
    recovers(sealed_link::<Exact, 8>, 1);
    recovers(dot154, 5);
    recovers(sealed_link::<EspNow, 8>, 2);
    recovers(esb32, 5);
}

#[test]
fn addresses_outside_the_swarm_are_rejected() {
    let of = |sender| encode(&mut dot154(&KEY), &full_message(&mut seeded(32), sender, 0), 0, 0);
    let mut receiver = dot154(&KEY).with_swarm_size(10);
    for sender in [10, 11, 500, u16::MAX] {
        assert_eq!(decode(&mut receiver, 0, &of(sender)), Err(FrameError::UnknownSender), "{sender}");
        assert_eq!(receiver.authenticate_late_frame(1000, 0, &of(sender)), None);
    }
    for sender in [0, 9] {
        assert!(receiver.authenticate_late_frame(1000, 0, &of(sender)).is_some());
        assert!(decode(&mut receiver, 0, &of(sender)).is_ok());
    }
    let mut receiver = dot154(&KEY).with_swarm_size(0);
    assert!(decode(&mut receiver, 0, &of(500)).is_ok(), "the swarm size is unknown");
}

#[test]
fn frames_are_accepted_after_the_clock_went_back() {
    let said = |tick| encode(&mut dot154(&KEY), &full_message(&mut seeded(33), 9, tick), tick, 0);
    let mut receiver = dot154(&KEY);
    // The receiver starts ahead of its swarm, next to another robot that does.
    assert!(decode(&mut receiver, 7000, &said(7000)).is_ok());
    for now in 1000..1010 {
        assert!(decode(&mut receiver, now, &said(now)).is_ok(), "tick {now}");
        assert_eq!(decode(&mut receiver, now, &said(now)), Err(FrameError::Replayed));
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
            one.end_receive();
        }
        // Equal short sequences of the turn before.
        let mut another = robot(1);
        for (frame, number) in recorded.iter().zip(0..) {
            another.sense(around - 20 + number / 4 - (1 << 22), seen(REST));
            assert_eq!(another.hears(frame), Err(FrameError::Forged));
        }
    }
    // Ticks beyond the last sequence are neither sent nor accepted.
    other.sense(1 << 30, seen(REST));
    assert_eq!(other.send(0, &mut [0; 64]), None);
}

#[test]
fn frames_are_accepted_only_within_the_time_window() {
    fn window<L: TestLink>(sealed: fn(&Key) -> L) {
        let frames = L::FRAMES_PER_EXCHANGE;
        for last in [0, frames - 1] {
            let good =
                encode(&mut sealed(&KEY), &full_message(&mut seeded(27), 9, 1000 * frames + last), 0, 0);
            for (now, fits) in [
                (1000 - MAX_FRAME_LEAD_TICKS - 1, false),
                (1000 - MAX_FRAME_LEAD_TICKS, true),
                (1000, true),
                (1000 + MAX_FRAME_AGE_TICKS, true),
                (1000 + MAX_FRAME_AGE_TICKS + 1, false),
                (1 << 20, false),
            ] {
                let mut receiver = sealed(&KEY);
                // The receiver has been listening since tick 0.
                assert!(decode(&mut receiver, 0, &good).is_err());
                let refusal = decode(&mut receiver, now, &good).err();
                assert_eq!(refusal, (!fits).then_some(FrameError::OutOfWindow), "tick {now}");
            }
        }
    }
    for_sealed_links!(window);
}

#[test]
fn silent_senders_are_forgotten_and_not_replayed() {
    fn forgets<L: TestLink>(sealed: fn(&Key) -> L) {
        let of = |sender: usize, tick: u32| {
            let sent = full_message(&mut seeded(28), sender as u16, tick * L::FRAMES_PER_EXCHANGE);
            encode(&mut sealed(&KEY), &sent, 0, 0)
        };
        let mut receiver = sealed(&KEY);
        for sender in 0..2 * MAX_SENDERS {
            let mut forged = of(100 + sender, 10);
            *forged.last_mut().unwrap() ^= 1;
            assert_eq!(decode(&mut receiver, 10, &forged), Err(FrameError::Forged), "forgeries take no slot");
        }
        // A full list of identities, as far ahead as accepted; then they fall silent.
        for sender in 0..MAX_SENDERS {
            assert!(decode(&mut receiver, 10, &of(sender, 10 + MAX_FRAME_LEAD_TICKS)).is_ok());
            assert_eq!(
                decode(&mut receiver, 10, &of(sender, 10 + MAX_FRAME_LEAD_TICKS)),
                Err(FrameError::Replayed)
            );
        }
        for now in 10..=10 + SENDER_TIMEOUT_TICKS {
            assert_eq!(decode(&mut receiver, now, &of(200, now)), Err(FrameError::TooManySenders));
        }
        let now = 10 + SENDER_TIMEOUT_TICKS + 1;
        assert_eq!(
            decode(&mut receiver, now, &of(0, 10 + MAX_FRAME_LEAD_TICKS)),
            Err(FrameError::OutOfWindow)
        );
        // A forged newcomer evicts no sender.
        let mut forged = of(200, now);
        *forged.last_mut().unwrap() ^= 1;
        assert_eq!(decode(&mut receiver, now, &forged), Err(FrameError::Forged));
        for honest in 100..100 + MAX_SENDERS {
            assert!(decode(&mut receiver, now, &of(honest, now)).is_ok());
            assert_eq!(decode(&mut receiver, now, &of(honest, now)), Err(FrameError::Replayed));
        }
        assert_eq!(
            decode(&mut receiver, now, &of(0, now)),
            Err(FrameError::TooManySenders),
            "they are forgotten"
        );
    }
    forgets(dot154);
    forgets(esb32);
}

/// Sender, boot and sequence of each frame, the content of its nonce.
fn nonces<L: TestLink>(sent: &[Vec<u8>]) -> Vec<(u16, u32, u32)> {
    let nonce = |frame: &Vec<u8>| {
        L::Encoding::read_header(frame, 0).map(|found| (found.id.sender, found.id.boot, found.id.sequence))
    };
    sent.iter().filter_map(nonce).collect()
}

#[test]
fn nonces_are_unique_over_restarts_and_clock_jumps() {
    fn restarts<L: TestLink>(sealed: fn(&Key) -> L) {
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
        let mut used = nonces::<L>(&board.air.sent);
        assert_eq!(used.len(), 5 * 33 * L::FRAMES_PER_EXCHANGE as usize);
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), 5 * 33 * L::FRAMES_PER_EXCHANGE as usize);
    }
    restarts(dot154);
    restarts(esb32);
}

#[test]
fn exhausted_sequences_stop_sending() {
    let mut robot = robot_on(1, offline(), dot154(&KEY));
    robot.sense(u32::MAX - 1, seen(REST));
    let mut buffer = [0; 200];
    assert_eq!(robot.send(0, &mut buffer), Some(101));
    assert_eq!(robot.send(0, &mut buffer), None);
    assert_eq!(robot.send(0, &mut buffer), None);
}

#[test]
fn exhausted_boot_counts_stop_sending_for_ever() {
    let mut board = Board::new();
    let mut last = robot_on(1, offline(), dot154(&KEY));
    last.link_mut().set_boot_count(u32::MAX - 2);
    board.flash.resume(&mut last).unwrap();
    let said = [true, false, false].map(|speaks| {
        let mut robot = robot_on(1, offline(), dot154(&KEY));
        board.flash.resume(&mut robot).unwrap();
        robot.sense(5, seen(REST));
        assert_eq!(robot.send(0, &mut [0; 200]).is_some(), speaks);
        robot.link().boot_count()
    });
    assert_eq!(said, [u32::MAX - 1, u32::MAX, u32::MAX]);
}

#[test]
fn debug_output_hides_the_key() {
    let robot = robot_on(1, offline(), dot154(&OTHER_KEY));
    for text in [format!("{:?}", dot154(&OTHER_KEY)), format!("{robot:?}"), format!("{robot:#?}")] {
        // The name of the type is no secret.
        let text = text.replace("GroupKey", "").to_lowercase();
        for way in ["a5", "165, 165", "key", "cipher", "round"] {
            assert!(!text.contains(way), "{way} in {text}");
        }
    }
    // The text does not depend on the key.
    assert_eq!(format!("{:?}", dot154(&KEY)), format!("{:?}", dot154(&OTHER_KEY)));
}

#[test]
fn only_content_that_fits_is_sealed() {
    fn sealed<const TAG: usize>(content: usize, room: usize) -> Option<usize> {
        let insider = Insider { content: &vec![7; content], flip: (0, 0) };
        let Numbered { boot, sequence, message } = &full_message(&mut seeded(1), 9, 7);
        let (boot, sequence) = (*boot, *sequence);
        let out = OutgoingMessage { message, boot, sequence, model: MODEL, round: 0 };
        insider.write::<Dot154, TAG, _, _, _>(&KEY, &out, &mut vec![0; room])
    }
    let header = Dot154::HEADER_LEN;
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
