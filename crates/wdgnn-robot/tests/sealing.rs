//! Sealed frames: golden bytes, and everything that an attacker without the key can do, refused.

use crate::common;

use common::{
    beacons::{Example, decode, encode, example_beacon, link, random_beacon},
    board::Board,
    document::example,
    flock::{REST, RobotOn, frames, robot_on, weights},
    seeded,
};
use proptest::prelude::*;
use wdgnn_core::{
    filter::{NoChain, Stacked},
    message::Beacon,
    online::Learning,
    tasks::flocking::Motion,
    tensor::Filter,
};
use wdgnn_link::{
    encoding::{
        Codec,
        esb32::Esb32,
        exact::{self, Exact},
        half::{Dot154, EspNow},
        p2p57::P2p57,
    },
    error::Refusal,
    header::{Link, Parts, Profile},
    security::{
        group_key::{Sealed, SealedEsb32},
        key::Key,
        replay::{FORGET_TICKS, GUARD_TICKS, LATE_TICKS, SENDERS},
    },
};
use wdgnn_robot::{config::Behaviour, control_loop, ports::Sensed};

/// 00 01 02 … 0f.
const KEY: Key = {
    let mut key = [0; 16];
    let mut index = 0;
    while index < 16 {
        key[index] = index as u8;
        index += 1;
    }
    key
};

/// The document's smaller example.
type Small = Beacon<Motion, Stacked<2, 1, NoChain>, Filter<2, 1, 2>>;

const OTHER_KEY: Key = [0xa5; 16];

fn dot154(key: &Key) -> Sealed<Dot154> {
    Sealed::new(Dot154::default(), key)
}

fn esb32(key: &Key) -> SealedEsb32 {
    SealedEsb32::new(Esb32, key)
}

/// Runs a check on every profile that can be sealed.
macro_rules! on_every_profile {
    ($check:ident) => {
        $check(|key| Sealed::new(Exact, key));
        $check(dot154);
        $check(|key| Sealed::new(EspNow::default(), key));
        $check(esb32);
        $check(|key| Sealed::new(P2p57, key));
    };
}

#[test]
fn sealed_frames_are_the_document_s_bytes_and_these_bytes_are_the_beacon() {
    fn both_ways<P: Codec>(name: &str, mut codec: P, beacon: &Example) {
        let golden = example(name);
        let mut frame = vec![0; golden.len()];
        assert_eq!(codec.encode(&link::<P>(), beacon, 5, 0, &mut frame), Some(golden.len()));
        assert_eq!(frame, golden, "{name}");
        for length in 0..golden.len() {
            assert_eq!(codec.encode(&link::<P>(), beacon, 5, 0, &mut frame[..length]), None);
        }
        let now = beacon.sequence / P::FRAMES;
        let (read, _): (Example, Parts) = codec.decode(&link::<P>(), now, &golden).unwrap();
        assert_eq!((read.sender, read.state), (beacon.sender, beacon.state));
        assert_eq!(read.chains.chain.0[0][..3], [1.5, -0.099_975_586, 0.0]);
    }
    let long = example_beacon(0x0102, 0x0102_0304);
    both_ways("beacon-dot154-sealed", dot154(&KEY), &long);
    both_ways("beacon-espnow-sealed", Sealed::new(EspNow::default(), &KEY), &long);
    both_ways("beacon-p2p57-sealed", Sealed::new(P2p57, &KEY), &long);
    both_ways("beacon-esb32-taps-sealed", esb32(&KEY), &example_beacon(2, 0x02_0304));
    // `exact` has the document's smaller example: sealed, its plain bytes are those of the golden sealed ones.
    let link = link::<Exact>();
    let plain: Small = exact::decode(&link, &example("beacon-exact")).unwrap();
    let golden = example("beacon-exact-sealed");
    let mut codec = Sealed::new(Exact, &KEY);
    assert_eq!(codec.decode(&link, 0x0102_0304, &golden), Ok((plain, Parts::ALL)));
    let mut frame = vec![0; golden.len()];
    assert_eq!(codec.encode(&link, &plain, 0, 0, &mut frame), Some(golden.len()));
    assert_eq!(frame, golden);
}

#[test]
fn every_flipped_bit_is_refused() {
    fn flips<P: Codec>(sealed: fn(&Key) -> P) {
        let good = encode(&sealed(&KEY), &random_beacon(&mut seeded(21), 9, 400), 1, 0);
        let now = 400 / P::FRAMES;
        let mut receiver = sealed(&KEY);
        assert_eq!(decode(&mut receiver, 0, &good), Err(Refusal::Untimely), "it listens from tick 0 on");
        let timely = now - LATE_TICKS..=now + GUARD_TICKS;
        for (offset, bit) in (0..good.len()).flat_map(|offset| (0..8).map(move |bit| (offset, bit))) {
            let mut frame = good.clone();
            frame[offset] ^= 1 << bit;
            // A sequence far away is refused before its tag is looked at.
            let refusal = decode(&mut receiver, now, &frame).unwrap_err();
            assert!(matches!(refusal, Refusal::Forged | Refusal::Untimely), "bit {bit} of byte {offset}");
            let sequence = P::identity(&frame, now).unwrap().sequence;
            assert_eq!(refusal == Refusal::Untimely, !timely.contains(&(sequence / P::FRAMES)));
        }
        assert!(decode(&mut receiver, now, &good).is_ok(), "what was refused left no trace");
    }
    on_every_profile!(flips);
}

#[test]
fn every_length_but_the_right_one_is_refused() {
    fn lengths<P: Codec>(sealed: fn(&Key) -> P) {
        let good = encode(&sealed(&KEY), &random_beacon(&mut seeded(22), 9, 0), 1, 0);
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
    on_every_profile!(lengths);
}

#[test]
fn a_wrong_key_and_another_swarm_look_the_same() {
    fn strangers<P: Codec>(sealed: fn(&Key) -> P) {
        let beacon = random_beacon(&mut seeded(23), 9, 0);
        let good = encode(&sealed(&KEY), &beacon, 1, 0);
        assert_eq!(decode(&mut sealed(&OTHER_KEY), 0, &good), Err(Refusal::Forged));
        // The same key, but another model, can be told from both where the header names it, and nowhere else.
        let other = Link { checksum: 1, ..link::<P>() };
        let mut frame = vec![0; good.len()];
        let length = sealed(&KEY).encode(&other, &beacon, 1, 0, &mut frame);
        assert_eq!(length, Some(good.len()));
        let told = if P::checksum(&frame).is_some() { Refusal::Model } else { Refusal::Forged };
        assert_eq!(decode(&mut sealed(&KEY), 0, &frame), Err(told));
        // Not sealed at all.
        let (header, content) = good.split_at(P::header_bytes());
        let unsealed = [header, &vec![0; content.len()]].concat();
        assert_eq!(decode(&mut sealed(&KEY), 0, &unsealed), Err(Refusal::Forged));
    }
    on_every_profile!(strangers);
}

#[test]
fn a_frame_under_another_name_is_refused() {
    let sealed = dot154(&KEY);
    let of = |sender, sequence| encode(&sealed, &random_beacon(&mut seeded(24), sender, sequence), 1, 0);
    let (one, other) = (of(9, 0), of(10, 0));
    let swapped = [&one[..22], &other[22..]].concat();
    assert_eq!(decode(&mut dot154(&KEY), 0, &swapped), Err(Refusal::Forged));
    let later = [&of(9, 1)[..22], &one[22..]].concat();
    assert_eq!(decode(&mut dot154(&KEY), 0, &later), Err(Refusal::Forged));
}

#[test]
fn repetitions_and_late_frames_are_refused_whatever_their_boot() {
    fn replays<P: Codec>(sealed: fn(&Key) -> P) {
        let sender = sealed(&KEY);
        let frame = |boot, sequence| {
            let beacon = random_beacon(&mut seeded(25), 9, sequence);
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
            "it lost its count"
        );
    }
    on_every_profile!(replays);
}

#[test]
fn one_frame_of_an_insider_in_another_s_name_silences_it_for_no_longer_than_clocks_differ() {
    fn spoofed<P: Codec>(sealed: fn(&Key) -> P) {
        let codec = sealed(&KEY);
        let said = |boot, tick: u32| {
            let beacon = random_beacon(&mut seeded(31), 9, tick * P::FRAMES);
            encode(&codec, &Beacon { boot, ..beacon }, 1, 0)
        };
        let mut receiver = sealed(&KEY);
        assert!(decode(&mut receiver, 99, &said(3, 99)).is_ok());
        // The largest boot count that there is, and one that is as far ahead as may be.
        let largest = if P::FRAMES > 1 { 65_535 } else { u32::MAX - 1 };
        for ahead in [1000, GUARD_TICKS + 1] {
            assert_eq!(decode(&mut receiver, 100, &said(largest, 100 + ahead)), Err(Refusal::Untimely));
        }
        assert!(decode(&mut receiver, 100, &said(largest, 100 + GUARD_TICKS)).is_ok());
        let mut silenced = (101..).take_while(|tick| decode(&mut receiver, *tick, &said(3, *tick)).is_err());
        assert_eq!(silenced.by_ref().count(), GUARD_TICKS as usize, "and is then heard again");
    }
    on_every_profile!(spoofed);
}

#[test]
fn a_swarm_whose_robots_were_all_spoofed_at_once_hears_everybody_again_within_half_a_second() {
    fn everybody<P: Codec + core::fmt::Debug>(sealed: fn(&Key) -> P, interval: u32) {
        const ROBOTS: u16 = 12;
        let weights = weights(1);
        let behaviour = Behaviour::new(Learning::OFF).every(interval).robust();
        let mut robots: Vec<_> =
            (0..ROBOTS).map(|id| robot_on(id, &weights, behaviour, sealed(&KEY))).collect();
        let at = |id: u16, tick: u32| Motion {
            position: [f32::from(id) + 0.01 * tick as f32, 0.0],
            velocity: [1.0, 0.0],
        };
        let (mut last_refused, mut spoofs) = (0, 0);
        for now in 0..150 {
            let mut air = Vec::new();
            for (id, robot) in (0..).zip(&mut robots) {
                robot.sense(now, Some(Sensed::now(at(id, now))));
                if robot.speaks() {
                    air.extend(frames(robot).into_iter().map(|frame| (id, frame)));
                }
            }
            if now == 60 {
                // As far ahead as may be, from elsewhere, with the largest boot count: before anybody honest speaks.
                for id in 0..ROBOTS {
                    let mut liar = robot_on(id, &weights, behaviour, sealed(&KEY));
                    liar.set_boot(65_534);
                    liar.sense(
                        now + GUARD_TICKS,
                        Some(Sensed::now(Motion { position: [50.0; 2], velocity: [0.0; 2] })),
                    );
                    air.splice(0..0, frames(&mut liar).into_iter().map(|frame| (u16::MAX, frame)));
                    spoofs += 1;
                }
            }
            for (id, robot) in (0..).zip(&mut robots) {
                for (from, frame) in &air {
                    let outcome = if *from == id { Ok(()) } else { robot.hear(&mut frame.clone()) };
                    let honest = *from != u16::MAX;
                    if now > 40 && honest && outcome.is_err() {
                        last_refused = now;
                    }
                }
                common::flock::conclude(robot);
                if now > 40 + interval && !(60..110).contains(&now) {
                    assert_eq!(robot.trusted().count(), usize::from(ROBOTS) - 1, "robot {id}, tick {now}");
                }
            }
        }
        assert_eq!(spoofs, ROBOTS);
        assert!((60..110).contains(&last_refused), "spoofed in tick 60, refused until {last_refused}");
    }
    everybody(|key| Sealed::new(Exact, key), 1);
    everybody(dot154, 5);
    everybody(|key| Sealed::new(EspNow::default(), key), 2);
    everybody(esb32, 5);
}

#[test]
fn nobody_is_heard_whom_the_swarm_does_not_have() {
    let sealed = dot154(&KEY);
    let of = |sender| encode(&sealed, &random_beacon(&mut seeded(32), sender, 0), 0, 0);
    let mut receiver = dot154(&KEY).among(10);
    for sender in [10, 11, 500, u16::MAX] {
        assert_eq!(decode(&mut receiver, 0, &of(sender)), Err(Refusal::Unlisted), "{sender}");
        assert_eq!(receiver.vouch(&link::<Dot154>(), 1000, 0, &of(sender)), None);
    }
    for sender in [0, 9] {
        assert!(receiver.vouch(&link::<Dot154>(), 1000, 0, &of(sender)).is_some());
        assert!(decode(&mut receiver, 0, &of(sender)).is_ok());
    }
    assert!(decode(&mut dot154(&KEY).among(0), 0, &of(500)).is_ok(), "nobody told it how many there are");
}

#[test]
fn where_time_goes_back_everybody_is_heard_in_the_time_that_is() {
    let sealed = dot154(&KEY);
    let said = |tick| encode(&sealed, &random_beacon(&mut seeded(33), 9, tick), tick, 0);
    let mut receiver = dot154(&KEY);
    // Ahead of its swarm, as somebody is who has just started, with another who is.
    assert!(decode(&mut receiver, 7000, &said(7000)).is_ok());
    for now in 1000..1010 {
        assert!(decode(&mut receiver, now, &said(now)).is_ok(), "tick {now}");
        assert_eq!(decode(&mut receiver, now, &said(now)), Err(Refusal::Replayed));
    }
}

#[test]
fn esb32_goes_on_when_its_short_numbers_begin_again() {
    let weights = weights(1);
    let robot = |id| robot_on(id, &weights, Behaviour::new(Learning::OFF), esb32(&KEY));
    let (mut one, mut other) = (robot(1), robot(2));
    // 2²⁴ frames are 4,194,304 ticks, 11.65 hours; the fortieth time; and the last.
    for around in [(1 << 22) + 20, 40 << 22, 255 << 22] {
        let mut recorded: Vec<Vec<u8>> = Vec::new();
        for now in around - 20..around + 10 {
            one.sense(now, Some(Sensed::now(REST)));
            other.sense(now, Some(Sensed::now(REST)));
            for frame in frames(&mut other) {
                assert_eq!(one.hear(&mut frame.clone()), Ok(()), "tick {now}");
                recorded.push(frame);
            }
            one.settle();
        }
        // The same short numbers, a whole turn earlier.
        let mut another = robot(1);
        for (frame, number) in recorded.iter().zip(0..) {
            another.sense(around - 20 + number / 4 - (1 << 22), Some(Sensed::now(REST)));
            assert_eq!(another.hear(&mut frame.clone()), Err(Refusal::Forged));
        }
    }
    // Ticks that have no number any more are said by nobody, and heard from nobody.
    other.sense(1 << 30, Some(Sensed::now(REST)));
    assert_eq!(other.speak(&mut [0; 64]), None);
}

#[test]
fn a_recording_is_refused_also_by_a_robot_that_was_restarted() {
    // Ten seconds at 100 ticks a second, played right afterwards to somebody who knows nobody yet. What is younger than clocks
    // may differ cannot be told from the truth.
    let sealed = dot154(&KEY);
    let mut rng = seeded(26);
    let recording: Vec<_> = (0..1000 - GUARD_TICKS)
        .map(|tick| encode(&sealed, &random_beacon(&mut rng, 9, tick), tick, 0))
        .collect();
    let mut restarted = dot154(&KEY);
    for frame in &recording {
        assert_eq!(decode(&mut restarted, 1000, frame), Err(Refusal::Untimely));
    }
    let live = encode(&sealed, &random_beacon(&mut rng, 9, 1000), 1000, 0);
    assert!(decode(&mut restarted, 1000, &live).is_ok());
}

#[test]
fn a_frame_counts_only_within_the_few_ticks_around_its_own() {
    fn window<P: Codec>(sealed: fn(&Key) -> P) {
        let frames = P::FRAMES;
        for last in [0, frames - 1] {
            let good = encode(&sealed(&KEY), &random_beacon(&mut seeded(27), 9, 1000 * frames + last), 0, 0);
            for (now, fits) in [
                (1000 - GUARD_TICKS - 1, false),
                (1000 - GUARD_TICKS, true),
                (1000, true),
                (1000 + LATE_TICKS, true),
                (1000 + LATE_TICKS + 1, false),
                (1 << 20, false),
            ] {
                let mut receiver = sealed(&KEY);
                // It has been listening for long.
                assert!(decode(&mut receiver, 0, &good).is_err());
                let refusal = decode(&mut receiver, now, &good).err();
                assert_eq!(refusal, (!fits).then_some(Refusal::Untimely), "tick {now}");
            }
        }
    }
    on_every_profile!(window);
}

#[test]
fn a_full_table_never_turns_into_trust() {
    let sealed = dot154(&KEY);
    let of = |sender: usize, sequence| {
        encode(&sealed, &random_beacon(&mut seeded(28), sender as u16, sequence), 0, 0)
    };
    let mut receiver = dot154(&KEY);
    // Whoever has no key takes no place.
    for sender in 0..2 * SENDERS {
        let mut forged = of(1000 + sender, 0);
        forged[60] ^= 1;
        assert_eq!(decode(&mut receiver, 0, &forged), Err(Refusal::Forged));
    }
    for sender in 0..SENDERS {
        assert!(decode(&mut receiver, 0, &of(sender, 0)).is_ok());
    }
    for sender in SENDERS..2 * SENDERS {
        assert_eq!(decode(&mut receiver, 0, &of(sender, 0)), Err(Refusal::TooManySenders));
    }
    for sender in 0..SENDERS {
        assert!(decode(&mut receiver, 1, &of(sender, 1)).is_ok(), "who is in stays in");
        assert_eq!(decode(&mut receiver, 1, &of(sender, 1)), Err(Refusal::Replayed));
    }
}

#[test]
fn a_frame_that_is_longer_than_any_is_too_long_and_nothing_else() {
    let mut frame = encode(&dot154(&KEY), &random_beacon(&mut seeded(29), 3, 10 * Dot154::FRAMES), 0, 0);
    frame.resize(1_000, 0);
    assert_eq!(decode(&mut dot154(&KEY), 10, &frame), Err(Refusal::Trailing));
}

#[test]
fn names_that_fall_silent_make_room_within_a_few_ticks_and_are_not_replayed() {
    fn forgets<P: Codec>(sealed: fn(&Key) -> P) {
        let codec = sealed(&KEY);
        let of = |sender: usize, tick: u32| {
            let beacon = random_beacon(&mut seeded(28), sender as u16, tick * P::FRAMES);
            encode(&codec, &beacon, 0, 0)
        };
        let mut receiver = sealed(&KEY);
        // As many invented names as there is room for, as far ahead as may be; then they fall silent.
        for sender in 0..SENDERS {
            assert!(decode(&mut receiver, 10, &of(sender, 10 + GUARD_TICKS)).is_ok());
            assert_eq!(decode(&mut receiver, 10, &of(sender, 10 + GUARD_TICKS)), Err(Refusal::Replayed));
        }
        for now in 10..=10 + FORGET_TICKS {
            assert_eq!(decode(&mut receiver, now, &of(200, now)), Err(Refusal::TooManySenders));
        }
        let now = 10 + FORGET_TICKS + 1;
        assert_eq!(decode(&mut receiver, now, &of(0, 10 + GUARD_TICKS)), Err(Refusal::Untimely));
        // A forged newcomer drives nobody out.
        let mut forged = of(200, now);
        *forged.last_mut().unwrap() ^= 1;
        assert_eq!(decode(&mut receiver, now, &forged), Err(Refusal::Forged));
        for honest in 100..100 + SENDERS {
            assert!(decode(&mut receiver, now, &of(honest, now)).is_ok());
            assert_eq!(decode(&mut receiver, now, &of(honest, now)), Err(Refusal::Replayed));
        }
        assert_eq!(decode(&mut receiver, now, &of(0, now)), Err(Refusal::TooManySenders), "now they are out");
    }
    forgets(dot154);
    forgets(esb32);
}

/// Sender, boot and sequence: what a nonce is made of.
fn nonces<P: Codec>(sent: &[Vec<u8>]) -> Vec<(u16, u32, u32)> {
    let nonce =
        |frame: &Vec<u8>| P::identity(frame, 0).map(|found| (found.sender, found.boot, found.sequence));
    sent.iter().filter_map(nonce).collect()
}

#[test]
fn no_nonce_is_used_twice_over_restarts_whatever_the_clock_does() {
    fn restarts<P: Codec>(sealed: fn(&Key) -> P) {
        let weights = weights(1);
        let mut board = Board::new();
        for begin in [0, 0, 5000, 3, u32::MAX / 2000] {
            let mut robot = robot_on(1, &weights, Behaviour::new(Learning::OFF), sealed(&KEY));
            control_loop::resume(&mut robot, &mut board.flash, &mut [0; 512]).unwrap();
            for now in begin..begin + 30 {
                board.run(&mut robot, now);
            }
            // A clock that stands still, or goes back.
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
fn a_count_that_has_come_to_its_end_seals_nothing_more() {
    let weights = weights(1);
    let mut robot = robot_on(1, &weights, Behaviour::new(Learning::OFF), dot154(&KEY));
    robot.sense(u32::MAX - 1, Some(Sensed::now(REST)));
    let mut buffer = [0; 200];
    assert_eq!(robot.speak(&mut buffer), Some(101));
    assert_eq!(robot.speak(&mut buffer), None);
    assert_eq!(robot.speak(&mut buffer), None);
}

#[test]
fn a_boot_count_that_has_come_to_its_end_seals_nothing_though_the_robot_is_started_again_and_again() {
    let weights = weights(1);
    let mut board = Board::new();
    let mut last = robot_on(1, &weights, Behaviour::new(Learning::OFF), dot154(&KEY));
    last.set_boot(u32::MAX - 2);
    control_loop::resume(&mut last, &mut board.flash, &mut [0; 512]).unwrap();
    let said = [true, false, false].map(|speaks| {
        let mut robot = robot_on(1, &weights, Behaviour::new(Learning::OFF), dot154(&KEY));
        control_loop::resume(&mut robot, &mut board.flash, &mut [0; 512]).unwrap();
        robot.sense(5, Some(Sensed::now(REST)));
        assert_eq!(robot.speak(&mut [0; 200]).is_some(), speaks);
        robot.boot()
    });
    assert_eq!(said, [u32::MAX - 1, u32::MAX, u32::MAX]);
}

#[test]
fn a_frame_too_long_to_be_opened_is_not_sealed() {
    type Unfolded = Beacon<Motion, NoChain, Filter<4, 6, 32>>;
    let (state, wide) = (REST, Filter([[[0.0; 32]; 6]; 4]));
    let beacon = Unfolded { sender: 1, boot: 0, sequence: 0, degree: 0, state, chains: NoChain, wide };
    let link = Link { profile: Profile::ExactUnfolded, checksum: 0 };
    assert_eq!(Sealed::new(Exact, &KEY).encode(&link, &beacon, 0, 0, &mut [0; 4096]), None);
}

#[test]
fn nothing_that_is_printed_tells_the_key() {
    let weights = weights(1);
    let robot = robot_on(1, &weights, Behaviour::new(Learning::OFF), dot154(&OTHER_KEY));
    for text in [format!("{:?}", dot154(&OTHER_KEY)), format!("{robot:?}"), format!("{robot:#?}")] {
        let text = text.to_lowercase();
        for way in ["a5", "165, 165", "key", "cipher", "round"] {
            assert!(!text.contains(way), "{way} in {text}");
        }
    }
    // Two keys, one text.
    assert_eq!(format!("{:?}", dot154(&KEY)), format!("{:?}", dot154(&OTHER_KEY)));
}

#[test]
fn sealed_robots_fly_and_hear_each_other_and_no_stranger() {
    let weights = weights(1);
    let robot = |id, key: &Key| robot_on(id, &weights, Behaviour::new(Learning::OFF), esb32(key));
    let (mut one, mut other, mut stranger) = (robot(1, &KEY), robot(2, &KEY), robot(3, &OTHER_KEY));
    for now in 0..20 {
        for robot in [&mut one, &mut other, &mut stranger] {
            robot.sense(now, Some(Sensed::now(REST)));
        }
        for frame in frames(&mut other) {
            assert_eq!(frame.len(), 32);
            assert_eq!(one.hear(&mut frame.clone()), Ok(()));
            assert_eq!(one.hear(&mut frame.clone()), Err(Refusal::Replayed));
            assert_eq!(stranger.hear(&mut frame.clone()), Err(Refusal::Forged));
        }
        for frame in frames(&mut stranger) {
            assert_eq!(one.hear(&mut frame.clone()), Err(Refusal::Forged));
        }
        for robot in [&mut one, &mut other, &mut stranger] {
            robot.settle();
        }
        assert!(one.neighbours().map(|heard| heard.beacon.sender).eq([2]));
        assert_eq!(stranger.neighbours().count(), 0);
    }
    // Its own frame, sent back.
    let own = frames(&mut one);
    assert_eq!(one.hear(&mut own[0].clone()), Err(Refusal::Echo));
}

proptest! {
    #![proptest_config(common::seeded_cases())]

    #[test]
    fn noise_is_refused_and_changes_nothing(
        noise in prop::collection::vec(any::<u8>(), 0..600),
        kept in 0..40_usize,
    ) {
        fn refused<P: Codec + core::fmt::Debug>(sealed: fn(&Key) -> P, noise: &[u8], kept: usize) {
            let weights = weights(1);
            let mut robot = robot_on(1, &weights, Behaviour::new(Learning::OFF), sealed(&KEY));
            let mut other: RobotOn<'_, P> = robot_on(2, &weights, Behaviour::new(Learning::OFF), sealed(&KEY));
            let good = frames(&mut other).remove(0);
            // Noise alone, and behind an honest beginning.
            for frame in [noise, &[&good[..kept.min(good.len())], noise].concat()] {
                let before = format!("{robot:?}");
                if frame != good {
                    assert!(robot.hear(&mut frame.to_vec()).is_err());
                    assert_eq!(before, format!("{robot:?}"));
                }
            }
            assert_eq!(robot.hear(&mut good.clone()), Ok(()));
        }
        refused(dot154, &noise, kept);
        refused(esb32, &noise, kept);
    }
}
