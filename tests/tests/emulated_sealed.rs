//! One emulated robot with a key, among strangers who have none: forgeries, recordings, altered and misshapen frames.

#![cfg(feature = "emulated")]

use std::{fs, path::Path};

use host_sim::{
    key, model::ModelFile, models, profiles::Profile, recipe::RecipeName, scene::Frame, swarm::TickOutcome,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use system_tests::{
    image,
    robot::{self, ID, motion, tick},
};
use wdgnn_core::task::NodeId;
use wdgnn_link::{
    encoding::{Codec as _, half::Dot154},
    error::Refusal,
    security::{
        group_key::Sealed,
        key::Key,
        replay::{LATE_TICKS, SENDERS},
    },
};
use wdgnn_robot::onboard::NEIGHBOURS;

type Link = Sealed<Dot154>;
type Native<'w> = robot::Native<'w, Link>;

/// Robots that have their turn in the same ticks as the emulated one, whose address is a multiple of 5, too.
const FRIENDS: [NodeId; 3] = [10, 15, 20];

/// Bytes of a frame's header: where its sender and its sequence stand, and all of it.
const SENDER: usize = 6;
const SEQUENCE: usize = 12;
const HEADER_BYTES: usize = 17;

fn model() -> ModelFile {
    models::for_profile(RecipeName::Ours, Profile::Dot154).unwrap()
}

fn key() -> Key {
    key::read(Path::new(image::KEY)).unwrap()
}

fn native<'w>(model: &'w ModelFile, id: NodeId, key: &Key) -> Native<'w> {
    robot::native(id, &model.weights(), key)
}

/// What all of them say at a tick. They hear nobody.
fn say(robots: &mut [(NodeId, Native<'_>)], now: u32) -> Vec<Frame> {
    let mut said = Vec::new();
    for (id, robot) in robots {
        said.extend(robot.speak(now, motion(*id, now)));
        robot.hear(&[]);
    }
    said
}

/// The reasons for which frames were refused.
fn refused(outcome: &TickOutcome) -> Vec<(Refusal, u32)> {
    Refusal::ALL.iter().copied().zip(outcome.counts.refused).filter(|(_, count)| *count > 0).collect()
}

/// What a robot did, without what it counted.
fn done(outcome: &TickOutcome) -> TickOutcome {
    let mut done = outcome.clone();
    (done.counts.heard, done.counts.refused) = (0, [0; Refusal::ALL.len()]);
    done
}

#[test]
fn ten_thousand_forged_replayed_and_altered_frames_are_refused_and_change_no_bit() {
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = robot::start(&image::build_sealed("dot154", &[]).unwrap(), folder.path());
    robot.hello().unwrap();
    let mut undisturbed = native(&model, ID, &key());
    let mut friends: Vec<_> = FRIENDS.map(|id| (id, native(&model, id, &key()))).into();
    let mut strangers: Vec<_> = [10, 15, 20, 45].map(|id| (id, native(&model, id, &[7; 16]))).into();
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut recorded: Vec<(u32, Frame)> = Vec::new();
    let mut counted = [0_u32; Refusal::ALL.len()];
    let mut hostile = 0;
    for now in 0..150 {
        let (good, mut foreign) = (say(&mut friends, now), say(&mut strangers, now));
        let mut expected = [0_u32; Refusal::ALL.len()];
        let mut frames = Vec::new();
        while frames.len() < 100 && !recorded.is_empty() {
            let (frame, reason) = match random.random_range(0..3) {
                0 if !foreign.is_empty() => (foreign.swap_remove(0), Refusal::Forged),
                // Newer than anything that was heard, so that nothing but the tag can tell.
                0 => (altered(&recorded[recorded.len() - 1].1, now, SEQUENCE, 1), Refusal::Forged),
                1 => {
                    // The last one half of the time: few are still of these ticks.
                    let from = if random.random() { recorded.len() - 1 } else { 0 };
                    let (then, frame) = &recorded[random.random_range(from..recorded.len())];
                    let timely = now - then <= LATE_TICKS;
                    (frame.clone(), if timely { Refusal::Replayed } else { Refusal::Untimely })
                }
                _ => {
                    let frame = altered(&recorded[recorded.len() - 1].1, now, HEADER_BYTES, 0);
                    let (at, bit) = (random.random_range(0..frame.len()), random.random_range(0..8));
                    // Whose it is and when it was sent decide before the tag does; all else is left to the tag.
                    let told = (SENDER..HEADER_BYTES - 1).contains(&at);
                    (altered(&frame, now, if told { HEADER_BYTES } else { at }, 1 << bit), Refusal::Forged)
                }
            };
            frames.push(frame);
            expected[reason as usize] += 1;
        }
        hostile += frames.len();
        frames.extend(good.iter().cloned());
        let (_, outcome) = tick(&mut robot, now, Some(motion(ID, now)), &frames);
        undisturbed.speak(now, motion(ID, now));
        assert_eq!(done(&outcome), done(&undisturbed.hear(&good)), "tick {now}");
        assert_eq!(outcome.counts.heard as usize, frames.len());
        assert_eq!(outcome.counts.refused, expected, "tick {now}");
        counted.iter_mut().zip(expected).for_each(|(sum, count)| *sum += count);
        recorded.extend(good.into_iter().map(|frame| (now, frame)));
    }
    assert!(hostile >= 10_000, "{hostile}");
    for reason in [Refusal::Forged, Refusal::Replayed, Refusal::Untimely] {
        assert!(counted[reason as usize] > 1_000, "{}: {counted:?}", reason.name());
    }
    assert_eq!(counted.iter().sum::<u32>() as usize, hostile, "none was accepted");
    assert!(robot.leave().unwrap().success(), "it ends well");
}

/// A frame with the sequence that its sender's next one could have at `now`, and some bits of one byte changed.
fn altered(frame: &Frame, now: u32, at: usize, bits: u8) -> Frame {
    let mut bytes = frame.to_vec();
    bytes[SEQUENCE..SEQUENCE + 4].copy_from_slice(&(now + 1).to_le_bytes());
    bytes[at] ^= bits;
    bytes.into()
}

#[test]
fn misshapen_frames_of_every_length_are_refused_as_on_the_host_and_change_no_bit() {
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = robot::start(&image::build_sealed("dot154", &[]).unwrap(), folder.path());
    robot.hello().unwrap();
    let (mut judge, mut undisturbed) = (native(&model, ID, &key()), native(&model, ID, &key()));
    let mut friends = [(FRIENDS[0], native(&model, FRIENDS[0], &key()))];
    let mut unsealed = robot::native::<Dot154>(20, &model.weights(), &key());
    let [mut short, mut long] = [0, 0];
    for now in 0..20 {
        let good = say(&mut friends, now);
        // A hundred lengths in every exchange, nobody in between.
        let from = now as usize * 20;
        let lengths = if good.is_empty() { 0..0 } else { from..from + 100 };
        let misshapen = lengths.filter(|length| *length != good[0].len()).map(|length| {
            let bytes = good[0].iter().copied().chain(std::iter::repeat(0xa5));
            bytes.take(length).collect::<Frame>()
        });
        let version = good.iter().map(|frame| [&[frame[0] + 1], &frame[1..]].concat().into());
        let plain = unsealed.speak(now, motion(20, now));
        unsealed.hear(&[]);
        let frames: Vec<Frame> = misshapen.chain(version).chain(plain).chain(good.clone()).collect();
        let (_, outcome) = tick(&mut robot, now, Some(motion(ID, now)), &frames);
        for twin in [&mut judge, &mut undisturbed] {
            twin.speak(now, motion(ID, now));
        }
        assert_eq!(outcome, judge.hear(&frames), "tick {now}");
        assert_eq!(done(&outcome), done(&undisturbed.hear(&good)), "tick {now}");
        assert_eq!(outcome.counts.refused.iter().sum::<u32>() as usize, frames.len() - good.len());
        short += outcome.counts.refused[Refusal::TooShort as usize];
        long += outcome.counts.refused[Refusal::Trailing as usize];
    }
    // Without a whole header, or without room for a tag behind it; and longer than any robot's frame.
    assert_eq!(short as usize, HEADER_BYTES + 8);
    assert!(long > 50, "{long}");
}

#[test]
fn two_hundred_senders_with_the_key_do_not_displace_those_who_were_there() {
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = robot::start(&image::build_sealed("dot154", &[]).unwrap(), folder.path());
    robot.hello().unwrap();
    let mut judge = native(&model, ID, &key());
    let mut friends: Vec<_> = FRIENDS.map(|id| (id, native(&model, id, &key()))).into();
    let mut crowd: Vec<_> =
        (0..200).map(|n| 500 + 5 * n).map(|id| (id, native(&model, id, &key()))).collect();
    for now in 0..60 {
        // The crowd comes later, and is heard first.
        let mut frames = if now < 10 { Vec::new() } else { say(&mut crowd, now) };
        frames.extend(say(&mut friends, now));
        let (_, outcome) = tick(&mut robot, now, Some(motion(ID, now)), &frames);
        judge.speak(now, motion(ID, now));
        assert_eq!(outcome, judge.hear(&frames), "tick {now}");
        if now >= 10 && !frames.is_empty() {
            // Of a crowd that says nothing new some are not believed; friends are, all the time.
            let neighbours = outcome.counts.neighbors as usize;
            assert!((friends.len()..=NEIGHBOURS).contains(&neighbours), "{neighbours}");
            let known = judge.trust_snapshot().neighbors;
            let stays =
                |id: &u16| known.iter().any(|one| one.sender == *id && one.heard_now && one.is_trusted);
            assert!(FRIENDS.iter().all(stays), "friends stay at tick {now}: {known:?}");
            let strangers = (200 - (SENDERS - friends.len())) as u32;
            // Friends among the first that were there; whoever else the list has room for finds none in the table.
            let reasons = refused(&outcome);
            let count =
                |reason| reasons.iter().find(|(one, _)| *one == reason).map_or(0, |(_, count)| *count);
            assert_eq!(count(Refusal::TooManySenders), strangers, "{reasons:?}");
            assert!(count(Refusal::TableFull) >= (SENDERS - NEIGHBOURS) as u32, "{reasons:?}");
        }
    }
    assert!(robot.leave().unwrap().success());
}

#[test]
fn after_a_reset_in_flight_its_frames_are_accepted_and_recordings_are_not() {
    let model = model();
    let image = image::build_sealed("dot154", &[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = robot::start(&image, folder.path());
    assert_eq!(robot.hello().unwrap().boot, 0);
    let mut friend = native(&model, FRIENDS[0], &key());
    let (mut its, mut friends) = (Vec::new(), Vec::new());
    // One tick of both, each of which hears the other and a recording.
    let mut fly = |robot: &mut _, now: u32, recording: &(Vec<Frame>, Vec<Frame>)| {
        let heard = friend.speak(now, motion(FRIENDS[0], now));
        let both = [recording.1.clone(), heard.clone()].concat();
        let (said, outcome) = tick(robot, now, Some(motion(ID, now)), &both);
        (said.clone(), heard, outcome, friend.hear(&[recording.0.clone(), said].concat()))
    };
    for now in 0..100 {
        let (said, heard, outcome, of_friend) = fly(&mut robot, now, &Default::default());
        assert_eq!((refused(&outcome), refused(&of_friend)), (vec![], vec![]));
        its.extend(said);
        friends.extend(heard);
    }
    assert_eq!(its.len(), 20);
    // Pulled out of the air without a word, and back again half a second later.
    drop(robot);
    let mut robot = robot::start(&image, folder.path());
    assert_eq!(robot.hello().unwrap().boot, 1);
    let recording = (its.clone(), friends);
    let mut last = 0;
    for now in 150..160 {
        let (said, _, outcome, of_friend) = fly(&mut robot, now, &recording);
        assert_eq!(refused(&outcome), [(Refusal::Untimely, 20)], "sent before it began to listen");
        let (replayed, untimely) = (Refusal::Replayed as usize, Refusal::Untimely as usize);
        assert_eq!(of_friend.counts.refused[replayed] + of_friend.counts.refused[untimely], 20);
        assert_eq!(
            refused(&of_friend).iter().map(|(_, count)| count).sum::<u32>(),
            20,
            "and its own are not"
        );
        assert_eq!((outcome.counts.neighbors, of_friend.counts.neighbors), (1, 1));
        for frame in said {
            let identity = Link::identity(&frame, now).unwrap();
            assert_eq!(identity.boot, 1);
            last = identity.sequence;
        }
    }
    drop(robot);

    // A store that lost the count: the world's ticks go on, so no nonce comes twice, and nobody minds.
    fs::write(folder.path().join("store"), b"not what it wrote").unwrap();
    let mut robot = robot::start(&image, folder.path());
    assert_eq!(robot.hello().unwrap().boot, 0);
    let (said, _, _, of_friend) = fly(&mut robot, 160, &Default::default());
    assert_eq!((refused(&of_friend), of_friend.counts.neighbors), (vec![], 1));
    assert!(Link::identity(&said[0], 160).unwrap().sequence > last);
}
