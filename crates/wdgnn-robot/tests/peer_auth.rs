//! Peer authentication: robots prove their identity to each neighbor, and an impostor counts as an obstacle at most.

use crate::common::prelude::*;
use wdgnn_link::security::{
    ccm,
    peer_auth::{PROOF_LIFETIME_TICKS, PROOF_MARK},
};

const MASTER: Key = *b"an operator's...";
const KEY: Key = [3; 16];
/// Bytes of the header of a dot154 frame, of the state behind it, of a proof, and of the tag.
const HEADER: usize = 17;
const STATE: usize = 16;
const PROOF: usize = 5;
const TAG: usize = 8;

/// Pair keys by which other robots prove their identity to this one.
fn roster(name: u16, robots: u16) -> &'static [Key] {
    let keys = (0..robots).map(|from| pair_key::<Aes>(&personal_key(&MASTER, from), name));
    Box::leak(keys.collect::<Vec<_>>().into_boxed_slice())
}

fn dot154(name: u16, robots: u16) -> Managed<Dot154> {
    managed_link(&KEY, |keys| keys.set_peer_keys(name, &personal_key(&MASTER, name), roster(name, robots)))
}

fn esb32(name: u16, robots: u16) -> ManagedEsb32 {
    managed_link(&KEY, |keys| keys.set_peer_keys(name, &personal_key(&MASTER, name), roster(name, robots)))
}

fn p2p57(name: u16, robots: u16) -> Managed<P2p57> {
    managed_link(&KEY, |keys| keys.set_peer_keys(name, &personal_key(&MASTER, name), roster(name, robots)))
}

fn has_proofs(frame: &[u8]) -> bool {
    frame[0] & PROOF_MARK != 0
}

fn place(name: u16) -> Motion {
    Motion { position: [f32::from(name), 0.0], velocity: [0.0; 2] }
}

type Swarm<L> = RadioSwarm<L>;

fn swarm<L: TestLink>(robots: u16, link: impl Fn(u16, u16) -> L) -> Swarm<L> {
    let behavior = config(Learning::paper(0.1)).robust();
    Swarm::new(robots, |name, _| robot_on(name, behavior, link(name, robots)))
}

/// A frame of an insider without a personal key, in another robot's name.
fn spoof(name: u16, tick: u32, state: Motion) -> Vec<u8> {
    let behavior = config(Learning::paper(0.1));
    let mut robot = robot_on(name, behavior, sealed_link::<Dot154, 8>(&KEY));
    robot.sense(tick, seen(state));
    robot.says().remove(0)
}

/// Opens a frame with the group key, modifies its content, and seals it again, as an insider can.
fn resealed(frame: &[u8], change: impl Fn(&mut [u8])) -> Vec<u8> {
    let nonce = |frame: &[u8]| {
        let mut nonce = [0; 13];
        nonce[..10].copy_from_slice(&frame[6..16]);
        nonce
    };
    let cipher = Aes::new(&KEY);
    let mut inside = frame[..frame.len() - TAG].to_vec();
    let (header, content) = inside.split_at_mut(HEADER);
    let associated: [&[u8]; 2] = [&MODEL.to_le_bytes(), header];
    assert!(ccm::open(&cipher, &nonce(frame), associated, content, &frame[frame.len() - TAG..]));
    change(&mut inside);
    let nonce = nonce(&inside);
    let (header, content) = inside.split_at_mut(HEADER);
    let mut tag = [0; TAG];
    ccm::seal(&cipher, &nonce, [&MODEL.to_le_bytes(), header], content, &mut tag).unwrap();
    [inside, tag.to_vec()].concat()
}

/// Three robots just before they receive the proofs of robot 0, and that frame.
fn about_to_prove() -> (Swarm<Managed<Dot154>>, Vec<u8>) {
    let mut swarm = swarm(3, dot154);
    (0..3).for_each(|_| swarm.fly(&[], usize::MAX));
    let frame = swarm.sent[0].remove(0);
    assert!(has_proofs(&frame) && frame.len() == HEADER + STATE + 2 * PROOF + TAG);
    (swarm, frame)
}

/// Whether a robot trusts robot 0 by its proof: robot 2 is proven, so unproven robots are not trusted.
fn counts(swarm: &Swarm<Managed<Dot154>>, robot: usize) -> bool {
    swarm.trusted(robot).contains(&0)
}

#[test]
fn all_robots_prove_their_identity_within_a_few_exchanges() {
    fn check<L: TestLink>(link: impl Fn(u16, u16) -> L, exchanges: u32, most: usize) {
        let mut swarm = swarm(9, link);
        let longest = swarm.robots[0].0.max_frame_len();
        swarm.fly(&[], usize::MAX);
        let mut proofs = 0;
        while swarm.tick < 300 {
            swarm.fly(&[], usize::MAX);
            assert!(swarm.tick < 2 + exchanges || swarm.all_trusted(), "tick {}", swarm.tick);
            proofs += swarm.sent.iter().flatten().filter(|frame| has_proofs(frame)).count();
            for frames in &swarm.sent {
                assert!(frames.iter().all(|frame| frame.len() <= longest));
                assert!(
                    L::FRAMES_PER_EXCHANGE == 1 || !has_proofs(&frames[0]),
                    "the first of several frames is a message"
                );
            }
        }
        assert!(proofs > 0 && proofs <= 9 * most, "{proofs} frames with proofs");
        assert_eq!(swarm.rejected.iter().sum::<u32>(), 0);
    }
    check(dot154, 5, 4);
    check(p2p57, 5, 5);
    check(esb32, 4, 9);
}

#[test]
fn a_robot_with_another_model_proves_its_identity_with_its_first_frame() {
    let managed = |name, model| -> Managed<Dot154> {
        let mut keys = ManagedKeys::new(GroupKey::new(&KEY));
        keys.set_peer_keys(name, &personal_key(&MASTER, name), roster(name, 3));
        Link::new(model, keys)
    };
    let behavior = config(Learning::paper(0.1)).robust();
    let mut robots = [(0, MODEL), (1, MODEL), (2, MODEL + 1)]
        .map(|(name, model)| robot_on(name, behavior, managed(name, model)));
    let mut first_frames = 0;
    for tick in 0..40 {
        let frames = robots.each_mut().map(|robot| {
            robot.sense(tick, seen(place(robot.id())));
            robot.says().remove(0)
        });
        let [listener, ..] = &mut robots;
        // The first frame of robot 2 in the table of robot 0 is a proof.
        let known = listener.neighbors().any(|other| other.message.sender == 2);
        let _ = listener.hears(&frames[1]);
        if known || has_proofs(&frames[2]) {
            assert_eq!(listener.hears(&frames[2]), Err(FrameError::Model));
            first_frames += u32::from(!known);
        }
        for (index, robot) in robots.iter_mut().enumerate() {
            if index > 0 {
                for (_, frame) in frames.iter().enumerate().filter(|(sender, _)| *sender != index) {
                    let _ = robot.hears(frame);
                }
            }
            robot.finish();
        }
        let trusts = robots[0].trusted().any(|other| other.message.sender == 2);
        assert_eq!(trusts, first_frames > 0, "tick {tick}");
    }
    assert_eq!(first_frames, 1);
}

#[test]
fn proofs_are_renewed_before_they_expire() {
    let mut swarm = swarm(4, dot154);
    (0..5).for_each(|_| swarm.fly(&[], usize::MAX));
    let mut late = 0;
    for _ in 0..3 * PROOF_LIFETIME_TICKS {
        swarm.fly(&[], usize::MAX);
        assert!(swarm.all_trusted(), "tick {}", swarm.tick);
        late += swarm.sent.iter().flatten().filter(|frame| has_proofs(frame)).count();
    }
    assert!((4 * 3..=4 * 12).contains(&late), "{late} frames");
}

#[test]
fn at_30_percent_loss_all_robots_are_proven_within_a_second() {
    let mut swarm = Swarm { loss: 0.3, ..swarm(9, dot154) };
    (0..100).for_each(|_| swarm.fly(&[], usize::MAX));
    let most = (0..400).map(|_| {
        swarm.fly(&[], usize::MAX);
        (0..9).map(|robot| swarm.trusted(robot).len()).min().unwrap()
    });
    assert!(most.min().unwrap() >= 6, "silent robots are held and stay proven");
}

#[test]
fn modified_proofs_prove_nothing() {
    let (mut swarm, frame) = about_to_prove();
    swarm.fly(core::slice::from_ref(&frame), usize::MAX);
    assert!(counts(&swarm, 1), "the original proof is valid");
    let behind = HEADER + STATE;
    // The state, the proof for robot 1, and sender, boot count and sequence.
    for place in (HEADER..behind + PROOF).chain([6, 8, 12]) {
        for bit in [0x01, 0x10, 0x80] {
            let (mut swarm, _) = about_to_prove();
            swarm.fly(&[resealed(&frame, |inside| inside[place] ^= bit)], usize::MAX);
            assert!(!counts(&swarm, 1), "byte {place}, bit {bit:#x}: {:?}", swarm.rejected);
        }
    }
}

#[test]
fn proofs_for_another_robot_prove_nothing() {
    let (mut swarm, frame) = about_to_prove();
    // The first of two proofs is for robot 1. An insider relays it to robot 2 as a proof for robot 2.
    let names = |name: u8| move |inside: &mut [u8]| inside[HEADER + STATE] = name | 0x80;
    for (name, refused) in [(1, 0), (2, 1)] {
        let before = swarm.rejected[FrameError::Forged as usize];
        let (mut one, _) = about_to_prove();
        let relayed = resealed(&frame, |inside| {
            inside[HEADER + STATE + PROOF] = 9;
            names(name)(inside);
        });
        one.fly(&[relayed], usize::MAX);
        assert_eq!(one.rejected[FrameError::Forged as usize] - before, refused, "to {name}");
    }
    swarm.fly(&[frame], usize::MAX);
    assert_eq!(swarm.rejected[FrameError::Forged as usize], 0);
}

#[test]
fn repeated_and_late_proofs_are_rejected() {
    let (mut swarm, frame) = about_to_prove();
    swarm.fly(&[frame.clone(), frame.clone()], usize::MAX);
    assert_eq!(swarm.rejected[FrameError::Replayed as usize], 3, "at all robots");
    swarm.fly(core::slice::from_ref(&frame), usize::MAX);
    assert_eq!(swarm.rejected[FrameError::Replayed as usize], 6);
    (0..10).for_each(|_| swarm.fly(core::slice::from_ref(&frame), usize::MAX));
    assert!(swarm.rejected[FrameError::OutOfWindow as usize] >= 2 * 8, "{:?}", swarm.rejected);
}

#[test]
fn proofs_under_another_group_key_are_forged() {
    let (mut swarm, frame) = about_to_prove();
    let behavior = config(Learning::paper(0.1)).robust();
    let personal = personal_key(&MASTER, 0);
    let other: Managed<Dot154> =
        managed_link(&[4; 16], |keys| keys.set_peer_keys(0, &personal, roster(0, 3)));
    let mut expelled = robot_on(0, behavior, other);
    expelled.sense(2, seen(place(0)));
    let forged = expelled.says().remove(0);
    swarm.fly(&[forged], usize::MAX);
    assert_eq!(swarm.rejected[FrameError::Forged as usize], 3, "at all robots");
    drop(frame);
}

#[test]
fn sixteen_sybils_neither_fill_the_table_nor_are_trusted() {
    let mut swarm = swarm(8, |name, _| dot154(name, 30));
    let invented = |tick: u32| -> Vec<Vec<u8>> {
        let ghost = |name: u16| Motion { position: [f32::from(name), 1.0], velocity: [0.0; 2] };
        (10..26).map(|name| spoof(name, tick, ghost(name))).collect()
    };
    let true_ones = |names: &[u16]| names.iter().filter(|name| **name < 8).count();
    for tick in 0..400 {
        swarm.fly(&invented(tick), usize::MAX);
        for robot in 0..8 {
            let (known, counted) = (swarm.known(robot), swarm.trusted(robot));
            if tick >= 12 {
                assert_eq!((true_ones(&known), counted.len()), (7, 7), "tick {tick}, robot {robot}");
                assert_eq!(true_ones(&counted), 7, "tick {tick}, robot {robot}: {counted:?}");
            }
            assert!(tick < 60 || known.len() <= 7 + 4, "tick {tick}: {known:?}");
        }
    }
    assert!(swarm.rejected[FrameError::TableFull as usize] > 0);
}

#[test]
fn spoofing_does_not_silence_a_proven_robot() {
    let mut swarm = swarm(4, dot154);
    (0..5).for_each(|_| swarm.fly(&[], usize::MAX));
    assert!(swarm.all_trusted());
    let elsewhere = Motion { position: [1.5, 0.5], velocity: [0.0; 2] };
    for _ in 0..200 {
        // First in every tick, and with the newest acceptable sequence.
        let tick = swarm.tick;
        swarm.fly(&[spoof(3, tick, elsewhere), spoof(3, tick + 2, elsewhere)], usize::MAX);
        for robot in 0..3 {
            let others: Vec<_> = swarm.robots[robot].0.trusted().collect();
            let three = others.iter().find(|other| other.message.sender == 3);
            let [x, y] = three.expect("it is trusted").message.state.position;
            assert!((x - 3.0).abs() < 0.01 && y.abs() < 0.01, "tick {tick}, {robot}: {x} {y}");
        }
    }
}

#[test]
fn an_impostor_loses_an_identity_to_its_owner() {
    let mut swarm = swarm(3, dot154);
    let elsewhere = Motion { position: [0.5, 0.5], velocity: [0.0; 2] };
    for tick in 0..20 {
        // In the name of robot 0, before robot 0 sends.
        swarm.fly(&[spoof(0, tick, elsewhere)], usize::MAX);
    }
    for robot in [1, 2] {
        assert!(counts(&swarm, robot));
        let known = swarm.robots[robot].0.neighbors().find(|other| other.message.sender == 0).unwrap();
        assert!(known.message.state.position[1].abs() < 0.01, "{:?}", known.message.state);
    }
}

#[test]
fn robots_without_a_roster_send_unchanged_bytes() {
    let said = |swarm: &mut dyn FnMut() -> Vec<Vec<Vec<u8>>>| (0..40).map(|_| swarm()).collect::<Vec<_>>();
    let mut plain = swarm(4, |_, _| sealed_link::<Dot154, 8>(&KEY));
    let mut told = swarm(4, |_, _| -> Managed<Dot154> { managed_link(&KEY, |_| ()) });
    let one = said(&mut || {
        plain.fly(&[], usize::MAX);
        plain.sent.clone()
    });
    let other = said(&mut || {
        told.fly(&[], usize::MAX);
        told.sent.clone()
    });
    assert_eq!(one, other);
}

#[test]
fn links_without_a_roster_need_no_proofs() {
    let sealed = |_, _| sealed_link::<Dot154, 8>(&KEY);
    assert!(!sealed(1, 4).security().requires_proof() && dot154(1, 4).security().requires_proof());
    assert!(!dot154(1, 0).security().requires_proof(), "nor with an empty roster");
    let mut swarm = swarm(4, sealed);
    for _ in 0..40 {
        swarm.fly(&[], usize::MAX);
        assert!(swarm.sent.iter().flatten().all(|frame| !has_proofs(frame)));
    }
    assert!(swarm.all_trusted());
}

#[test]
fn identities_of_departed_robots_need_a_new_proof() {
    let mut swarm = swarm(4, dot154);
    (0..5).for_each(|_| swarm.fly(&[], usize::MAX));
    assert!(swarm.all_trusted());
    // Out of reach and evicted long before its proof expires.
    let left = swarm.robots.pop().unwrap();
    swarm.sent.pop();
    (0..40).for_each(|_| swarm.fly(&[], usize::MAX));
    assert!((0..3).all(|robot| !swarm.known(robot).contains(&3)));
    let elsewhere = Motion { position: [1.5, 0.5], velocity: [0.0; 2] };
    for _ in 0..100 {
        swarm.fly(&[spoof(3, swarm.tick, elsewhere)], usize::MAX);
        assert!((0..3).all(|robot| !swarm.trusted(robot).contains(&3)), "tick {}", swarm.tick);
    }
    assert!(swarm.tick < PROOF_LIFETIME_TICKS, "the owner's proof has not expired");
    swarm.robots.push(left);
    (0..100).for_each(|_| swarm.fly(&[], usize::MAX));
    assert!(swarm.all_trusted(), "its owner is back");
}
