//! A robot passes whole: into another one that was made with the same settings, which is the same robot from then on.

use crate::common;

use common::{
    board::Board,
    flock::{RobotOn, robot_on, weights},
};
use wdgnn_core::{
    behaviour::Behaviour,
    cipher::Aes,
    compact::Dot154,
    flocking::Motion,
    online::Learning,
    passage::Passage,
    ports::Sensed,
    rekey::{Notice, pair_key, personal_key, swarm_key},
    seal::{Key, Rekeyable},
};

const MASTER: Key = *b"an operator's...";
const KEY: Key = [3; 16];
const ROBOTS: u16 = 4;

type Robot<'w> = RobotOn<'w, Rekeyable<Dot154>>;

/// Whose key can change, and whose neighbours prove their names.
fn start(weights: &[f32], name: u16) -> Robot<'_> {
    let personal = personal_key(&MASTER, name);
    let key = |from| pair_key::<Aes>(&personal_key(&MASTER, from), name);
    let roster: Vec<Key> = (0..ROBOTS).map(key).collect();
    let codec = Rekeyable::new(Dot154::default(), &KEY).rekeyed(name, &personal, 0, &KEY);
    let behaviour = Behaviour::new(Learning::paper(0.1)).robust();
    robot_on(name, weights, behaviour, codec.knowing(name, &personal, roster.leak()))
}

fn bytes(robot: &mut Robot<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    robot.pass(&mut Passage::new(&mut |some| {
        bytes.extend_from_slice(some);
        true
    }));
    bytes
}

/// Whether all of it could pass in.
fn become_another(robot: &mut Robot<'_>, mut bytes: &[u8]) -> bool {
    let mut carry = |some: &mut [u8]| {
        let Some((front, rest)) = bytes.split_at_checked(some.len()) else { return false };
        some.copy_from_slice(front);
        bytes = rest;
        true
    };
    let mut passage = Passage::new(&mut carry);
    robot.pass(&mut passage);
    passage.good() && bytes.is_empty()
}

#[test]
fn a_robot_that_was_passed_on_says_does_and_knows_the_same_as_if_it_had_not_been() {
    let weights = weights(1);
    let mut robots: Vec<(Robot<'_>, Board)> =
        (0..ROBOTS).map(|name| (start(&weights, name), Board::new())).collect();
    let mut said: Vec<Vec<Vec<u8>>> = vec![Vec::new(); ROBOTS.into()];
    let mut notice = vec![0; Notice::bytes(8)];
    let new = Notice { name: 1, epoch: 1, at: 150 };
    new.write(&personal_key(&MASTER, 1), &swarm_key(&MASTER, 1), 8, &mut notice).unwrap();
    let mut recorded = Vec::new();
    let mut twin: Option<(Robot<'_>, Board)> = None;
    for tick in 0..200 {
        let heard = core::mem::take(&mut said);
        for (place, (robot, board)) in robots.iter_mut().enumerate() {
            let position = [place as f32 + 0.01 * tick as f32, 0.3];
            let eyes = Ok(Sensed::now(Motion { position, velocity: [1.0, 0.0] }));
            let others = heard.iter().enumerate().filter(|(other, _)| *other != place);
            let mut frames: Vec<_> = others.flat_map(|(_, frames)| frames.clone()).collect();
            if place == 1 && tick == 20 {
                frames.push(notice.clone());
            }
            // Somebody plays again what it has heard, before anything new is said.
            if place == 1 {
                let again = core::mem::replace(&mut recorded, frames.clone());
                frames.splice(0..0, again);
            }
            // In the middle of a change of keys, of proofs and of everything else.
            if place == 1 && tick == 60 {
                let all = bytes(robot);
                let mut other = start(&weights, 1);
                assert_ne!(bytes(&mut other), all);
                assert!(!become_another(&mut start(&weights, 1), &all[..all.len() - 1]), "a byte is missing");
                assert!(become_another(&mut other, &all));
                assert_eq!(bytes(&mut other), all);
                twin = Some((other, Board::new()));
            }
            board.eyes.0 = eyes;
            board.air.heard.extend(frames.iter().cloned().map(Ok));
            let report = board.run(robot, tick);
            let now = core::mem::take(&mut board.air.sent);
            if let (1, Some((twin, board))) = (place, &mut twin) {
                board.eyes.0 = eyes;
                board.air.heard.extend(frames.into_iter().map(Ok));
                assert_eq!(format!("{report:?}"), format!("{:?}", board.run(twin, tick)), "tick {tick}");
                assert_eq!(now, core::mem::take(&mut board.air.sent), "tick {tick}");
                let known = |robot: &Robot<'_>| {
                    robot.neighbours().map(|known| format!("{known:?}")).collect::<Vec<_>>()
                };
                assert_eq!(known(robot), known(twin), "tick {tick}");
                assert_eq!(robot.epoch(), twin.epoch());
            }
            said.push(now);
        }
    }
    assert_eq!(robots[1].0.epoch(), 1);
}
