//! Key rotation in flight: remaining robots get the new key, an expelled robot is excluded, and old keys never return.

use crate::common::prelude::*;

const MASTER: Key = *b"an operator's...";
const FIRST: Key = [3; 16];
/// First tick of the operator's key updates, and the swarm's tick of the change.
const SAID: u32 = 150;
const AT: u32 = 400;

fn dot154(name: u16, key: &Key, epoch: u8) -> Managed<Dot154> {
    managed_link(key, |keys| keys.set_key_rotation(name, &personal_key(&MASTER, name), epoch, key))
}

fn esb32(name: u16) -> ManagedEsb32 {
    managed_link(&FIRST, |keys| keys.set_key_rotation(name, &personal_key(&MASTER, name), 0, &FIRST))
}

/// The operator's key update for a robot.
fn notice(name: u16, epoch: u8, at: u32, tag: usize) -> Vec<u8> {
    let mut frame = vec![0; KeyUpdate::bytes(tag)];
    let key = swarm_key(&MASTER, epoch);
    let length = KeyUpdate { name, epoch, at }.write(&personal_key(&MASTER, name), &key, tag, &mut frame);
    assert_eq!(length, Some(frame.len()));
    frame
}

/// Robots that receive the two neighbors on either side; the operator reaches robot 0.
struct Swarm {
    on_air: RadioSwarm<Managed<Dot154>>,
    /// Number of key updates among all frames.
    updates: usize,
}

impl Swarm {
    fn new(robots: u16, loss: f64) -> Self {
        Self { on_air: RadioSwarm { loss, reach: 2, ..RadioSwarm::new(robots, start) }, updates: 0 }
    }

    /// Flies until a tick. From `SAID` to `AT` the operator sends a key update per tick, in turn for all but `expelled`.
    fn fly_until(&mut self, tick: u32, expelled: Option<u16>) {
        while self.on_air.tick < tick {
            let now = self.on_air.tick;
            let name = (now % self.on_air.robots.len() as u32) as u16;
            let speaks = (SAID..AT).contains(&now) && Some(name) != expelled;
            let words: Vec<Vec<u8>> = speaks.then(|| notice(name, 1, AT, 8)).into_iter().collect();
            self.on_air.fly(&words, 1);
            let sent = self.on_air.sent.iter().flatten();
            self.updates += sent.filter(|frame| KeyUpdate::read(frame, 8).is_some()).count();
        }
    }

    fn epochs(&self) -> Vec<u8> {
        self.on_air.robots.iter().map(|(robot, _)| robot.link().security().key_epoch()).collect()
    }

    fn known(&self, robot: usize) -> Vec<u16> {
        self.on_air.known(robot)
    }

    /// Turns a robot off and on again, with the record in its store.
    fn restart(&mut self, robot: usize) {
        let (node, board) = &mut self.on_air.robots[robot];
        *node = start(robot as u16, board);
        self.on_air.off[robot] = false;
    }
}

/// A robot that starts with the record of its board.
fn start(name: u16, board: &mut Board) -> RobotOn<Managed<Dot154>> {
    let behavior = config(Learning::paper(0.1)).robust();
    let mut robot = robot_on(name, behavior, dot154(name, &FIRST, 0));
    board.flash.resume(&mut robot).unwrap();
    robot
}

#[test]
fn all_robots_change_the_key_at_the_announced_tick_and_none_is_lost() {
    let mut swarm = Swarm::new(12, 0.0);
    swarm.fly_until(AT, None);
    assert_eq!(swarm.epochs(), [0; 12], "not before the announced tick");
    while swarm.on_air.tick < AT + 50 {
        swarm.fly_until(swarm.on_air.tick + 1, None);
        for robot in 0..12_usize {
            let near = (robot.saturating_sub(2)..12.min(robot + 3)).filter(|near| *near != robot);
            let near: Vec<u16> = near.map(|near| near as u16).collect();
            assert_eq!(swarm.known(robot), near, "robot {robot} at tick {}", swarm.on_air.tick);
        }
    }
    assert_eq!(swarm.epochs(), [1; 12]);
    assert_eq!(
        swarm.on_air.rejected[FrameError::Forged as usize],
        0,
        "both keys are accepted around the change"
    );
}

#[test]
fn expelled_robots_neither_receive_nor_are_received() {
    let mut swarm = Swarm::new(12, 0.0);
    swarm.fly_until(AT + 50, Some(5));
    let epochs = swarm.epochs();
    assert!((0..12).all(|robot| epochs[robot] == u8::from(robot != 5)), "{epochs:?}");
    assert_eq!(swarm.known(5), [0; 0], "it receives no robot");
    assert!((0..12).all(|robot| !swarm.known(robot).contains(&5)), "and no robot receives it");
    // Its frames are forged under the new key, and the others still fly as one swarm.
    let before = swarm.on_air.rejected[FrameError::Forged as usize];
    swarm.fly_until(swarm.on_air.tick + 10, Some(5));
    assert!(swarm.on_air.rejected[FrameError::Forged as usize] > before);
    assert_eq!(swarm.known(4), [2, 3, 6]);
    // Nor is it accepted under another identity.
    let sealed: Managed<Dot154> = managed_link(&FIRST, |_| ());
    let mut other = robot_on(9, offline(), sealed);
    other.sense(swarm.on_air.tick - 1, seen(Motion::REST));
    for frame in other.says() {
        assert_eq!(swarm.on_air.robots[4].0.hears(&frame), Err(FrameError::Forged));
    }
    // Updates for other robots are wrapped with their personal keys.
    let mut board = Board::new();
    let mut thief = start(5, &mut board);
    for name in (0..12).filter(|name| *name != 5) {
        let mut frame = notice(name, 1, AT, 8);
        frame[1..3].copy_from_slice(&5_u16.to_le_bytes());
        assert_eq!(thief.receive(&mut frame), Err(FrameError::Forged));
    }
}

#[test]
fn updates_take_at_most_600_ms_per_hop_at_30_percent_loss_and_relaying_ends() {
    let mut swarm = Swarm::new(24, 0.3);
    let (name, hops) = (23, 11);
    let mut known = 0;
    // The operator reaches only the first robot and leaves out the last one.
    while known < 23 && swarm.on_air.tick < AT + 600 {
        swarm.fly_until(swarm.on_air.tick + 1, Some(name));
        // Bytes 24 and 25 of the record are the current and the next epoch.
        let has = |(_, board): &(_, Board)| {
            board.flash.kept.as_ref().is_some_and(|kept| kept[24].max(kept[25]) == 1)
        };
        known = swarm.on_air.robots.iter().filter(|robot| has(robot)).count();
    }
    let taken = swarm.on_air.tick - SAID;
    assert!(known == 23 && taken < 60 * hops, "{known} robots in {taken} ticks");
    swarm.fly_until(swarm.on_air.tick.max(AT) + 200, Some(name));
    let epochs = swarm.epochs();
    assert!(epochs[..23].iter().all(|epoch| *epoch == 1) && epochs[23] == 0, "{epochs:?}");
    // Relaying ends: each robot sends an update four times, and again to late robots.
    let settled = swarm.updates;
    assert!(settled / 24 <= 4 * 24, "{} frames each", settled / 24);
    swarm.fly_until(swarm.on_air.tick + 300, Some(name));
    swarm.fly_until(swarm.on_air.tick + 300, Some(name));
    assert!(swarm.updates / 24 <= 4 * 24, "{} frames each", swarm.updates / 24);
}

#[test]
fn robots_that_were_off_get_the_key_from_any_neighbor() {
    let mut swarm = Swarm::new(8, 0.1);
    swarm.fly_until(SAID - 10, None);
    swarm.on_air.off[4] = true;
    swarm.fly_until(AT + 200, None);
    assert_eq!(swarm.epochs()[4], 0);
    swarm.restart(4);
    let on = swarm.on_air.tick;
    while swarm.epochs()[4] == 0 && swarm.on_air.tick < on + 300 {
        swarm.fly_until(swarm.on_air.tick + 1, None);
    }
    assert!(swarm.on_air.tick - on <= 150, "{} ticks", swarm.on_air.tick - on);
    swarm.fly_until(swarm.on_air.tick + 20, None);
    assert_eq!(swarm.known(4), [2, 3, 5, 6]);
}

#[test]
fn power_loss_at_any_tick_leaves_the_old_key_or_the_new_one() {
    for cut in [SAID, SAID + 5, SAID + 40, AT - 1, AT, AT + 1, AT + 4, AT + 50] {
        let mut swarm = Swarm::new(6, 0.0);
        swarm.fly_until(cut, None);
        // An interrupted write leaves the old record.
        swarm.restart(3);
        swarm.fly_until(AT + 200, None);
        assert_eq!(swarm.epochs(), [1; 6], "power loss at tick {cut}");
        assert_eq!(swarm.known(3), [1, 2, 4, 5], "power loss at tick {cut}");
    }
}

#[test]
fn new_keys_are_stored_at_once_and_retried_after_a_failure() {
    let mut board = Board::new();
    let mut robot = start(2, &mut board);
    board.run(&mut robot, 0);
    let saves = board.flash.saves;
    board.flash.cannot_save = true;
    board.air.heard.push_back(Ok(notice(2, 1, AT, 8)));
    assert_eq!(board.run(&mut robot, 1).errors.store, 1);
    board.flash.cannot_save = false;
    board.run(&mut robot, 2);
    assert_eq!(board.flash.saves, saves + 1);
    board.run(&mut robot, 3);
    assert_eq!(board.flash.saves, saves + 1, "stored once");
    // After a restart it has the next key. The key of another image is not replaced by the store.
    let mut again = start(2, &mut board);
    for tick in 0..=AT {
        board.run(&mut again, tick);
    }
    assert_eq!(again.link().security().key_epoch(), 1);
    let behavior = offline().robust();
    let mut flashed = robot_on(2, behavior, dot154(2, &[9; 16], 0));
    board.flash.resume(&mut flashed).unwrap();
    assert_eq!(flashed.link().security().key_epoch(), 0);
}

#[test]
fn earlier_epochs_are_never_accepted_again() {
    let mut board = Board::new();
    let mut robot = start(2, &mut board);
    let hear = |robot: &mut RobotOn<_>, epoch, at| robot.receive(&mut notice(2, epoch, at, 8));
    assert_eq!(hear(&mut robot, 2, 10), Err(FrameError::KeyUpdate));
    assert_eq!(hear(&mut robot, 1, 10), Err(FrameError::Replayed), "a skipped epoch");
    assert_eq!(hear(&mut robot, 2, 20), Err(FrameError::Replayed), "another tick for one epoch");
    for tick in 0..200 {
        board.run(&mut robot, tick);
    }
    assert_eq!(robot.link().security().key_epoch(), 2);
    for epoch in 0..=1 {
        assert_eq!(hear(&mut robot, epoch, 1_000), Err(FrameError::Replayed));
    }
    assert_eq!(hear(&mut robot, 3, 1_000), Err(FrameError::KeyUpdate));
    // Nor after a restart, nor for a newer image.
    board.run(&mut robot, 200);
    let mut again = start(2, &mut board);
    assert_eq!(
        (again.link().security().key_epoch(), hear(&mut again, 2, 10)),
        (2, Err(FrameError::Replayed))
    );
    let behavior = offline().robust();
    let mut spare = robot_on(2, behavior, dot154(2, &swarm_key(&MASTER, 3), 3));
    assert_eq!(hear(&mut spare, 2, 10), Err(FrameError::Replayed));
}

#[test]
fn modified_updates_and_those_for_other_robots_change_no_key() {
    fn check<L: TestLink>(link: impl Fn() -> L, tag: usize) {
        let behavior = offline().robust();
        let good = notice(2, 1, 0, tag);
        for (place, bit) in (1..good.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
            let mut robot = robot_on(2, behavior, link());
            let mut frame = good.clone();
            frame[place] ^= 1 << bit;
            // An update for another robot changes nothing here.
            let heard = robot.receive(&mut frame);
            let others = KeyUpdate::read(&frame, tag).is_some_and(|notice| notice.name != 2);
            let old = frame[3] == 0;
            let refusal = match (old, others) {
                (true, _) => FrameError::Replayed,
                (false, true) => FrameError::KeyUpdate,
                (false, false) => FrameError::Forged,
            };
            assert_eq!(heard, Err(refusal), "bit {bit} of byte {place}");
            assert_eq!(robot.hears(&good), Err(FrameError::KeyUpdate), "the valid update is still accepted");
        }
        for length in 1..good.len() {
            let mut robot = robot_on(2, behavior, link());
            assert_eq!(robot.receive(&mut good[..length].to_vec()), Err(FrameError::Forged));
        }
    }
    check(|| dot154(2, &FIRST, 0), 8);
    check(|| esb32(2), 4);
}

#[test]
fn updates_are_relayed_only_after_verification() {
    let mut board = Board::new();
    let mut robot = start(2, &mut board);
    let mut handed_on = |robot: &mut RobotOn<Managed<Dot154>>, from: u32| {
        let mut names = Vec::new();
        for tick in from..from + 200 {
            board.run(robot, tick);
            let sent = core::mem::take(&mut board.air.sent);
            names.extend(sent.iter().filter_map(|frame| KeyUpdate::read(frame, 8)).map(|notice| notice.name));
        }
        names.sort_unstable();
        names
    };
    // Without the new key it cannot verify updates for others: it stores them and relays none.
    let mut forged = notice(8, 1, AT, 8);
    forged[30] ^= 1;
    for mut frame in [notice(7, 1, AT, 8), forged.clone()] {
        assert_eq!(robot.receive(&mut frame), Err(FrameError::KeyUpdate));
    }
    assert_eq!(handed_on(&mut robot, 0), [0; 0]);
    assert_eq!(robot.receive(&mut notice(2, 1, AT, 8)), Err(FrameError::KeyUpdate));
    forged[1] = 9;
    assert_eq!(robot.receive(&mut forged), Err(FrameError::Forged));
    // An update of a later epoch cannot be verified and does not displace verified ones.
    assert_eq!(robot.receive(&mut notice(9, 2, AT, 8)), Err(FrameError::KeyUpdate));
    // Each update is relayed four times.
    assert_eq!(handed_on(&mut robot, 200), [2, 2, 2, 2, 7, 7, 7, 7]);
    assert_eq!(handed_on(&mut robot, 400), [0; 0]);
}

#[test]
fn valid_updates_replace_forged_ones() {
    let mut board = Board::new();
    let mut robot = start(2, &mut board);
    let mut forged = notice(7, 1, AT, 8);
    forged[30] ^= 1;
    for mut frame in [forged, notice(2, 1, AT, 8), notice(7, 1, AT, 8)] {
        assert_eq!(robot.receive(&mut frame), Err(FrameError::KeyUpdate));
    }
    let (mut names, mut rounds) = (Vec::new(), Vec::new());
    for tick in 0..100 {
        board.run(&mut robot, tick);
        for frame in core::mem::take(&mut board.air.sent) {
            if let Some(notice) = KeyUpdate::read(&frame, 8) {
                names.push(notice.name);
                rounds.push(tick);
            }
        }
    }
    names.sort_unstable();
    assert_eq!(names, [2, 2, 2, 2, 7, 7, 7, 7]);
    assert!(rounds.windows(2).all(|pair| pair[1] - pair[0] == 4), "in one exchange of four: {rounds:?}");
}

#[test]
fn updates_replace_the_last_frame_of_an_exchange() {
    let mut robot = robot_on(2, offline().robust(), esb32(2));
    let mut board = Board::new();
    assert_eq!(robot.receive(&mut notice(2, 1, AT, 4)), Err(FrameError::KeyUpdate));
    let mut handed_on = 0;
    for tick in 0..40 {
        board.run(&mut robot, tick);
        let said = core::mem::take(&mut board.air.sent);
        let (last, others) = said.split_last().unwrap();
        assert_eq!(others.len(), 3);
        assert!(others.iter().all(|frame| KeyUpdate::read(frame, 4).is_none()));
        handed_on += u32::from(KeyUpdate::read(last, 4).is_some());
    }
    assert_eq!(handed_on, 4);
}

#[test]
fn links_without_key_rotation_keep_their_key() {
    let mut robot = robot_on(2, offline().robust(), sealed_link::<Dot154, 8>(&FIRST));
    let mut board = Board::new();
    assert_ne!(robot.receive(&mut notice(2, 1, 0, 8)), Err(FrameError::KeyUpdate));
    for tick in 0..300 {
        board.run(&mut robot, tick);
    }
    assert_eq!(robot.link().security().key_epoch(), 0);
}

#[test]
fn restarted_robots_change_the_key_by_time_or_by_a_neighbor() {
    let begun = || {
        let mut board = Board::new();
        let mut robot = start(2, &mut board);
        assert_eq!(robot.receive(&mut notice(2, 1, 0, 8)), Err(FrameError::KeyUpdate));
        (robot, board)
    };
    // A robot alone changes after one second.
    let (mut robot, mut board) = begun();
    for tick in 0..=100 {
        assert_eq!(robot.link().security().key_epoch(), 0, "tick {tick}");
        board.run(&mut robot, tick);
    }
    assert_eq!(robot.link().security().key_epoch(), 1);
    // A robot that receives a frame under the new key changes in the next tick, and that frame is used.
    let (mut robot, mut board) = begun();
    let there = Motion { position: [0.5, 0.25], velocity: [0.0; 2] };
    let key = swarm_key(&MASTER, 1);
    let mut other = robot_on(3, offline(), dot154(3, &key, 1));
    for tick in 0..4 {
        assert_eq!(robot.link().security().key_epoch(), u8::from(tick == 3), "tick {tick}");
        if tick == 1 {
            other.sense(tick, seen(there));
            board.air.heard.extend(other.says().into_iter().map(Ok));
        }
        board.run(&mut robot, tick);
    }
    let heard: Vec<Motion> = robot.neighbors().map(|known| known.message.state).collect();
    assert_eq!(heard, [there]);
}

#[test]
fn after_the_change_only_updates_of_its_tick_are_accepted() {
    let mut swarm = Swarm::new(2, 0.0);
    swarm.fly_until(AT + 20, None);
    let robot = &mut swarm.on_air.robots[0].0;
    assert_eq!(robot.link().security().key_epoch(), 1);
    assert_eq!(
        robot.receive(&mut notice(7, 1, AT + 7, 8)),
        Err(FrameError::Replayed),
        "another tick for this epoch"
    );
    assert_eq!(robot.receive(&mut notice(7, 1, AT, 8)), Err(FrameError::KeyUpdate));
}

#[test]
fn late_robots_get_their_key_despite_forged_later_epochs() {
    let mut swarm = Swarm::new(6, 0.0);
    swarm.fly_until(SAID - 10, None);
    swarm.on_air.off[3] = true;
    swarm.fly_until(AT + 200, None);
    for (robot, _) in &mut swarm.on_air.robots {
        assert_eq!(robot.receive(&mut notice(200, 9, AT, 8)), Err(FrameError::KeyUpdate));
    }
    swarm.restart(3);
    swarm.fly_until(swarm.on_air.tick + 200, None);
    assert_eq!(swarm.epochs(), [1; 6]);
}

#[test]
fn robots_without_an_update_keep_their_key_over_a_restart() {
    let mut swarm = Swarm::new(3, 0.0);
    swarm.fly_until(120, None);
    swarm.on_air.robots[1].1.flash.kept.as_ref().expect("something is kept");
    swarm.restart(1);
    // Without key updates.
    (0..300).for_each(|_| swarm.on_air.fly(&[], 0));
    assert_eq!((swarm.epochs(), swarm.known(1), swarm.known(0)), (vec![0; 3], vec![0, 2], vec![1, 2]));
}

#[test]
fn personal_group_and_pair_keys_all_differ() {
    let mut keys: Vec<Key> = (0..500).map(|name| personal_key(&MASTER, name)).collect();
    keys.extend((0..=255).map(|epoch| swarm_key(&MASTER, epoch)));
    let pairs = (0..8).flat_map(|from| (0..8).map(move |to| (personal_key(&MASTER, from), to)));
    keys.extend(pairs.map(|(personal, to)| pair_key::<Aes>(&personal, to)));
    keys.push(MASTER);
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn the_old_key_is_accepted_for_four_ticks_after_the_change() {
    let mut swarm = Swarm::new(2, 0.0);
    // PlainRobot 1 gets no new key and sends under the old one in every tick.
    swarm.fly_until(AT + 10, Some(1));
    assert_eq!(swarm.epochs(), [1, 0]);
    let heard: Vec<u32> = swarm.on_air.robots[0].0.neighbors().map(|known| known.last_received).collect();
    assert_eq!(heard, [AT + 4]);
}

#[test]
fn key_streams_differ_by_epoch_tick_and_robot() {
    // One key for one robot: the stream that hides it differs by epoch, tick and name.
    let (personal, key) = (personal_key(&MASTER, 2), swarm_key(&MASTER, 1));
    let hidden = |name, epoch, at| {
        let mut frame = [0; 64];
        let length = KeyUpdate { name, epoch, at }.write(&personal, &key, 8, &mut frame).unwrap();
        frame[8..length - 16].to_vec()
    };
    let all = [hidden(2, 1, 400), hidden(2, 2, 400), hidden(2, 1, 401), hidden(3, 1, 400)];
    for (place, one) in all.iter().enumerate() {
        assert_eq!(one.len(), 16);
        assert!(all[..place].iter().all(|other| other != one));
    }
}
