//! Names that cannot be taken: who is there proves it to whom it hears, and whoever else speaks in its name is a body at most.

use crate::common;

use common::{
    board::Board,
    flock::{MODEL, RobotOn, robot_on, weights},
    seeded,
};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{online::Learning, tasks::flocking::Motion};
use wdgnn_link::{
    encoding::{Codec, esb32::Esb32, half::Dot154, p2p57::P2p57},
    error::Refusal,
    security::{
        aes::Aes,
        ccm,
        group_key::{Rekeyable, RekeyableEsb32, Sealed},
        key::Key,
        key_update::{pair_key, personal_key},
        peer_auth::{MARK, PROVEN_TICKS},
    },
};
use wdgnn_robot::{config::Behaviour, ports::Sensed};

const MASTER: Key = *b"an operator's...";
const KEY: Key = [3; 16];
/// Bytes of a dot154 frame's header, of the state behind it, of a proof, and of the tag.
const HEADER: usize = 17;
const STATE: usize = 16;
const PROOF: usize = 5;
const TAG: usize = 8;

/// What the operator tells the robot with this name: by which keys others prove theirs to it.
fn roster(name: u16, robots: u16) -> &'static [Key] {
    let keys = (0..robots).map(|from| pair_key::<Aes>(&personal_key(&MASTER, from), name));
    Box::leak(keys.collect::<Vec<_>>().into_boxed_slice())
}

fn dot154(name: u16, robots: u16) -> Rekeyable<Dot154> {
    Rekeyable::new(Dot154::default(), &KEY).knowing(name, &personal_key(&MASTER, name), roster(name, robots))
}

fn esb32(name: u16, robots: u16) -> RekeyableEsb32 {
    RekeyableEsb32::new(Esb32, &KEY).knowing(name, &personal_key(&MASTER, name), roster(name, robots))
}

fn p2p57(name: u16, robots: u16) -> Rekeyable<P2p57> {
    Rekeyable::new(P2p57, &KEY).knowing(name, &personal_key(&MASTER, name), roster(name, robots))
}

fn has_proofs(frame: &[u8]) -> bool {
    frame[0] & MARK != 0
}

fn place(name: u16) -> Motion {
    Motion { position: [f32::from(name), 0.0], velocity: [0.0; 2] }
}

/// Robots a metre apart, all of which hear each other.
struct Swarm<'w, P> {
    robots: Vec<(RobotOn<'w, P>, Board)>,
    tick: u32,
    loss: f64,
    random: ChaCha8Rng,
    /// What was said in the tick before.
    said: Vec<Vec<Vec<u8>>>,
    /// What was refused, by reason.
    refused: Vec<u32>,
}

impl<'w, P: Codec> Swarm<'w, P> {
    fn new(weights: &'w [f32], robots: u16, codec: impl Fn(u16, u16) -> P) -> Self {
        let behaviour = Behaviour::new(Learning::paper(0.1)).robust();
        let start = |name| {
            let mut board = Board::new();
            board.eyes.0 = Ok(Sensed::now(place(name)));
            (robot_on(name, weights, behaviour, codec(name, robots)), board)
        };
        Self {
            robots: (0..robots).map(start).collect(),
            tick: 0,
            loss: 0.0,
            random: seeded(5),
            said: vec![Vec::new(); robots.into()],
            refused: vec![0; Refusal::ALL.len()],
        }
    }

    /// A tick in which everybody hears `words` first, and then what the others said in the one before.
    fn fly(&mut self, words: &[Vec<u8>]) {
        let said = core::mem::take(&mut self.said);
        for (place, (robot, board)) in self.robots.iter_mut().enumerate() {
            let others = said.iter().enumerate().filter(|(other, _)| *other != place);
            for frame in words.iter().chain(others.flat_map(|(_, frames)| frames)) {
                if !self.random.random_bool(self.loss) {
                    board.air.heard.push_back(Ok(frame.clone()));
                }
            }
            let report = board.run(robot, self.tick);
            for (sum, reason) in self.refused.iter_mut().zip(Refusal::ALL) {
                *sum += report.refused.of(*reason);
            }
            self.said.push(core::mem::take(&mut board.air.sent));
        }
        self.tick += 1;
    }

    /// Who is in a robot's table, and who counts.
    fn known(&self, robot: usize) -> (Vec<u16>, Vec<u16>) {
        let robot = &self.robots[robot].0;
        let names = robot.neighbours().map(|other| other.beacon.sender).collect();
        (names, robot.trusted().map(|other| other.beacon.sender).collect())
    }

    fn everybody_counts(&self) -> bool {
        let others = self.robots.len() - 1;
        (0..self.robots.len()).all(|robot| self.known(robot).1.len() == others)
    }
}

/// What somebody with the swarm's key, and without a personal one, says in a robot's name.
fn spoof(name: u16, tick: u32, state: Motion, weights: &[f32]) -> Vec<u8> {
    let behaviour = Behaviour::new(Learning::paper(0.1));
    let mut robot = robot_on(name, weights, behaviour, Sealed::new(Dot154::default(), &KEY));
    robot.sense(tick, Some(Sensed::now(state)));
    common::flock::frames(&mut robot).remove(0)
}

/// Opens a frame by the swarm's key, changes what is inside, and seals it again: what an insider can do.
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

/// Three robots of which nobody has heard 0's frame with proofs yet, which was said in the tick before the next.
fn about_to_prove(weights: &[f32]) -> (Swarm<'_, Rekeyable<Dot154>>, Vec<u8>) {
    let mut swarm = Swarm::new(weights, 3, dot154);
    (0..3).for_each(|_| swarm.fly(&[]));
    let frame = swarm.said[0].remove(0);
    assert!(has_proofs(&frame) && frame.len() == HEADER + STATE + 2 * PROOF + TAG);
    (swarm, frame)
}

/// Whether a robot knows 0 by its proof: it counts, though 2 is proven and others do not count then.
fn counts(swarm: &Swarm<'_, Rekeyable<Dot154>>, robot: usize) -> bool {
    swarm.known(robot).1.contains(&0)
}

#[test]
fn everybody_counts_at_first_and_everybody_who_is_there_is_proven_within_a_few_exchanges() {
    fn check<P: Codec>(codec: impl Fn(u16, u16) -> P, exchanges: u32, most: usize) {
        let weights = weights(1);
        let mut swarm = Swarm::new(&weights, 9, codec);
        swarm.fly(&[]);
        let mut proofs = 0;
        while swarm.tick < 300 {
            swarm.fly(&[]);
            assert!(swarm.tick < 2 + exchanges || swarm.everybody_counts(), "tick {}", swarm.tick);
            proofs += swarm.said.iter().flatten().filter(|frame| has_proofs(frame)).count();
            for frames in &swarm.said {
                assert!(frames.iter().all(|frame| frame.len() <= RobotOn::<P>::frame_bytes()));
                assert!(
                    P::FRAMES == 1 || !has_proofs(&frames[0]),
                    "where there are more, the first one is a beacon's"
                );
            }
        }
        assert!(proofs > 0 && proofs <= 9 * most, "{proofs} frames in place of beacons");
        assert_eq!(swarm.refused.iter().sum::<u32>(), 0);
    }
    check(dot154, 5, 4);
    check(p2p57, 5, 5);
    check(esb32, 4, 9);
}

#[test]
fn a_proof_lasts_and_is_renewed_before_it_ends() {
    let weights = weights(1);
    let mut swarm = Swarm::new(&weights, 4, dot154);
    (0..5).for_each(|_| swarm.fly(&[]));
    let mut late = 0;
    for _ in 0..3 * PROVEN_TICKS {
        swarm.fly(&[]);
        assert!(swarm.everybody_counts(), "tick {}", swarm.tick);
        late += swarm.said.iter().flatten().filter(|frame| has_proofs(frame)).count();
    }
    assert!((4 * 3..=4 * 12).contains(&late), "{late} frames");
}

#[test]
fn with_three_of_ten_frames_lost_everybody_is_proven_within_a_second() {
    let weights = weights(1);
    let mut swarm = Swarm { loss: 0.3, ..Swarm::new(&weights, 9, dot154) };
    (0..100).for_each(|_| swarm.fly(&[]));
    let most = (0..400).map(|_| {
        swarm.fly(&[]);
        (0..9).map(|robot| swarm.known(robot).1.len()).min().unwrap()
    });
    assert!(most.min().unwrap() >= 6, "who is silent for a moment is held, and stays proven");
}

#[test]
fn nothing_that_an_insider_changes_in_a_proof_is_one() {
    let weights = weights(1);
    let (mut swarm, frame) = about_to_prove(&weights);
    swarm.fly(core::slice::from_ref(&frame));
    assert!(counts(&swarm, 1), "as it is, it is one");
    let behind = HEADER + STATE;
    // The state, the proof for robot 1, and the frame's sender, boot count and number.
    for place in (HEADER..behind + PROOF).chain([6, 8, 12]) {
        for bit in [0x01, 0x10, 0x80] {
            let (mut swarm, _) = about_to_prove(&weights);
            swarm.fly(&[resealed(&frame, |inside| inside[place] ^= bit)]);
            assert!(!counts(&swarm, 1), "byte {place}, bit {bit:#x}: {:?}", swarm.refused);
        }
    }
}

#[test]
fn a_proof_for_one_robot_proves_nothing_to_another() {
    let weights = weights(1);
    let (mut swarm, frame) = about_to_prove(&weights);
    // The first of the two is for 1. An insider hands it on to 2 as if it were for that one.
    let names = |name: u8| move |inside: &mut [u8]| inside[HEADER + STATE] = name | 0x80;
    for (name, refused) in [(1, 0), (2, 1)] {
        let before = swarm.refused[Refusal::Forged as usize];
        let (mut one, _) = about_to_prove(&weights);
        let relayed = resealed(&frame, |inside| {
            inside[HEADER + STATE + PROOF] = 9;
            names(name)(inside);
        });
        one.fly(&[relayed]);
        assert_eq!(one.refused[Refusal::Forged as usize] - before, refused, "to {name}");
    }
    swarm.fly(&[frame]);
    assert_eq!(swarm.refused[Refusal::Forged as usize], 0);
}

#[test]
fn a_proof_comes_once_and_in_time() {
    let weights = weights(1);
    let (mut swarm, frame) = about_to_prove(&weights);
    swarm.fly(&[frame.clone(), frame.clone()]);
    assert_eq!(swarm.refused[Refusal::Replayed as usize], 3, "to everybody");
    swarm.fly(core::slice::from_ref(&frame));
    assert_eq!(swarm.refused[Refusal::Replayed as usize], 6);
    (0..10).for_each(|_| swarm.fly(core::slice::from_ref(&frame)));
    assert!(swarm.refused[Refusal::Untimely as usize] >= 2 * 8, "{:?}", swarm.refused);
}

#[test]
fn a_proof_under_another_key_of_the_swarm_is_none() {
    let weights = weights(1);
    let (mut swarm, frame) = about_to_prove(&weights);
    let other = Rekeyable::new(Dot154::default(), &[4; 16]);
    let behaviour = Behaviour::new(Learning::paper(0.1)).robust();
    let personal = personal_key(&MASTER, 0);
    let mut expelled = robot_on(0, &weights, behaviour, other.knowing(0, &personal, roster(0, 3)));
    expelled.sense(2, Some(Sensed::now(place(0))));
    let forged = common::flock::frames(&mut expelled).remove(0);
    swarm.fly(&[forged]);
    assert_eq!(swarm.refused[Refusal::Forged as usize], 3, "to everybody");
    drop(frame);
}

#[test]
fn sixteen_invented_names_neither_fill_the_table_nor_count_once_somebody_is_proven() {
    let weights = weights(1);
    let mut swarm = Swarm::new(&weights, 8, |name, _| dot154(name, 30));
    let invented = |tick: u32| -> Vec<Vec<u8>> {
        let ghost = |name: u16| Motion { position: [f32::from(name), 1.0], velocity: [0.0; 2] };
        (10..26).map(|name| spoof(name, tick, ghost(name), &weights)).collect()
    };
    let true_ones = |names: &[u16]| names.iter().filter(|name| **name < 8).count();
    for tick in 0..400 {
        swarm.fly(&invented(tick));
        for robot in 0..8 {
            let (known, counted) = swarm.known(robot);
            if tick >= 12 {
                assert_eq!((true_ones(&known), counted.len()), (7, 7), "tick {tick}, robot {robot}");
                assert_eq!(true_ones(&counted), 7, "tick {tick}, robot {robot}: {counted:?}");
            }
            assert!(tick < 60 || known.len() <= 7 + 4, "tick {tick}: {known:?}");
        }
    }
    assert!(swarm.refused[Refusal::TableFull as usize] > 0);
}

#[test]
fn whoever_keeps_talking_in_a_proven_name_does_not_silence_it() {
    let weights = weights(1);
    let mut swarm = Swarm::new(&weights, 4, dot154);
    (0..5).for_each(|_| swarm.fly(&[]));
    assert!(swarm.everybody_counts());
    let elsewhere = Motion { position: [1.5, 0.5], velocity: [0.0; 2] };
    for _ in 0..200 {
        // First in every tick, and as far ahead as is believed.
        let tick = swarm.tick;
        swarm.fly(&[spoof(3, tick, elsewhere, &weights), spoof(3, tick + 2, elsewhere, &weights)]);
        for robot in 0..3 {
            let others: Vec<_> = swarm.robots[robot].0.trusted().collect();
            let three = others.iter().find(|other| other.beacon.sender == 3);
            let [x, y] = three.expect("it counts").beacon.state.position;
            assert!((x - 3.0).abs() < 0.01 && y.abs() < 0.01, "tick {tick}, {robot}: {x} {y}");
        }
    }
}

#[test]
fn who_takes_a_name_first_loses_it_to_its_owner() {
    let weights = weights(1);
    let mut swarm = Swarm::new(&weights, 3, dot154);
    let elsewhere = Motion { position: [0.5, 0.5], velocity: [0.0; 2] };
    for tick in 0..20 {
        // In 0's name, to everybody, before 0 can say anything.
        swarm.fly(&[spoof(0, tick, elsewhere, &weights)]);
    }
    for robot in [1, 2] {
        assert!(counts(&swarm, robot));
        let known = swarm.robots[robot].0.neighbours().find(|other| other.beacon.sender == 0).unwrap();
        assert!(known.beacon.state.position[1].abs() < 0.01, "{:?}", known.beacon.state);
    }
}

#[test]
fn robots_without_a_roster_say_the_same_bytes_as_ever() {
    let weights = weights(1);
    let said = |swarm: &mut dyn FnMut() -> Vec<Vec<Vec<u8>>>| (0..40).map(|_| swarm()).collect::<Vec<_>>();
    let mut plain = Swarm::new(&weights, 4, |_, _| Sealed::new(Dot154::default(), &KEY));
    let mut told = Swarm::new(&weights, 4, |_, _| Rekeyable::new(Dot154::default(), &KEY));
    let one = said(&mut || {
        plain.fly(&[]);
        plain.said.clone()
    });
    let other = said(&mut || {
        told.fly(&[]);
        told.said.clone()
    });
    assert_eq!(one, other);
}

#[test]
fn where_there_is_no_room_for_a_roster_nobody_has_to_prove_anything() {
    let weights = weights(1);
    let told = |name, robots| {
        Sealed::new(Dot154::default(), &KEY).knowing(name, &personal_key(&MASTER, name), roster(name, robots))
    };
    assert!(!told(1, 4).wants_proofs() && dot154(1, 4).wants_proofs());
    assert!(!dot154(1, 0).wants_proofs(), "nor where there is a roster of nobody");
    let mut swarm = Swarm::new(&weights, 4, told);
    for _ in 0..40 {
        swarm.fly(&[]);
        assert!(swarm.said.iter().flatten().all(|frame| !has_proofs(frame)));
    }
    assert!(swarm.everybody_counts());
}

#[test]
fn pairs_have_keys_of_their_own_in_each_direction() {
    let mut keys: Vec<Key> = (0..8).flat_map(|name| roster(name, 8).to_vec()).collect();
    keys.extend((0..8).map(|name| personal_key(&MASTER, name)));
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn whoever_takes_the_name_of_somebody_who_has_left_has_to_prove_it_anew() {
    let weights = weights(1);
    let mut swarm = Swarm::new(&weights, 4, dot154);
    (0..5).for_each(|_| swarm.fly(&[]));
    assert!(swarm.everybody_counts());
    // Out of reach, and forgotten, long before its proof ends.
    let left = swarm.robots.pop().unwrap();
    swarm.said.pop();
    (0..40).for_each(|_| swarm.fly(&[]));
    assert!((0..3).all(|robot| !swarm.known(robot).0.contains(&3)));
    let elsewhere = Motion { position: [1.5, 0.5], velocity: [0.0; 2] };
    for _ in 0..100 {
        swarm.fly(&[spoof(3, swarm.tick, elsewhere, &weights)]);
        assert!((0..3).all(|robot| !swarm.known(robot).1.contains(&3)), "tick {}", swarm.tick);
    }
    assert!(swarm.tick < PROVEN_TICKS, "its owner's proof would have lasted");
    swarm.robots.push(left);
    (0..100).for_each(|_| swarm.fly(&[]));
    assert!(swarm.everybody_counts(), "its owner is back");
}
