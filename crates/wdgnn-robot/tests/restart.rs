//! Restart: learned parameters return, boots are counted, and damaged or foreign records are rejected.

use crate::common::prelude::*;
use wdgnn_robot::{
    control_loop::{PortErrors, SAVE_INTERVAL_TICKS},
    persist::{LAST_RESERVED_TICKS, StoreError},
};

const BYTES: usize = exact::frame_len::<Motion, Taps, Wide>();

/// A robot with parameters that differ from the offline ones.
fn learned() -> PlainRobot {
    let mut node = robot(1, Learning::paper(1.0));
    let mut wide = *node.agent().wide();
    wide.numbers_mut().iter_mut().for_each(|w| *w *= 1.5);
    assert!(node.agent_mut().set_wide(&wide));
    node
}

/// Flash of a robot that has learned and is in its third boot.
fn flash_of_a_learned_robot() -> Flash {
    let (mut node, mut board) = (learned(), Board::new());
    node.link_mut().set_boot_count(3);
    board.run(&mut node, SAVE_INTERVAL_TICKS - 1);
    board.flash
}

#[test]
fn the_boot_count_is_flushed_before_the_first_frame() {
    let (mut node, mut flash) = (quiet_robot(1), Flash::default());
    assert_eq!(flash.resume(&mut node), Ok(false));
    assert_eq!((flash.saves, flash.flushed), (1, 1));
    flash.cannot_flush = true;
    assert_eq!(flash.resume(&mut node), Err(StoreError));
}

#[test]
fn parameters_are_saved_every_hundred_ticks() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    for tick in 0..3 * SAVE_INTERVAL_TICKS {
        board.run(&mut node, tick);
        assert_eq!(board.flash.saves, (tick + 1) / SAVE_INTERVAL_TICKS);
    }
}

#[test]
fn restarted_robots_continue_with_learned_parameters() {
    let mut flash = flash_of_a_learned_robot();
    let mut node = robot(1, Learning::paper(1.0));
    assert_eq!(flash.resume(&mut node), Ok(true));
    assert_eq!(node.agent().wide(), learned().agent().wide());
    assert_eq!(node.link().boot_count(), 4);
    // The boot is counted at once: a robot that stops before its first save must not reuse sequences.
    let mut again = robot(1, Learning::paper(1.0));
    assert_eq!(flash.resume(&mut again), Ok(true));
    assert_eq!(again.link().boot_count(), 5);
}

#[test]
fn restarted_robots_are_accepted_by_their_neighbors() {
    let mut listener = quiet_robot(2);
    let (mut node, mut buffer) = (quiet_robot(1), [0; BYTES]);
    let mut flash = Flash::default();
    assert_eq!(persist::restore(&mut node, &mut flash, &mut buffer), Ok(false));
    for _ in 0..5 {
        node.send(0, &mut buffer).unwrap();
        listener.receive(&mut buffer.to_vec()).unwrap();
    }
    let mut restarted = quiet_robot(1);
    assert_eq!(persist::restore(&mut restarted, &mut flash, &mut buffer), Ok(true));
    restarted.sense(restarted.first_tick(), None);
    restarted.send(0, &mut buffer).unwrap();
    assert_eq!(listener.receive(&mut buffer.to_vec()), Ok(()));
}

#[test]
fn the_first_tick_is_after_every_tick_ever_sent() {
    let mut board = Board::new();
    let mut said = 0;
    for lives in [0, 30, 250, 7, 1_000] {
        let mut node = quiet_robot(1);
        board.flash.resume(&mut node).unwrap();
        let first = node.first_tick();
        assert!(first >= said, "sent until tick {said}, starts at {first}");
        for tick in first..first + lives {
            board.run(&mut node, tick);
            said = tick + 1;
        }
    }
    // Once the store is full, more ticks are reserved.
    board.flash.is_nearly_full = true;
    let mut node = quiet_robot(1);
    board.flash.resume(&mut node).unwrap();
    let begins = node.first_tick();
    let mut after = quiet_robot(1);
    board.flash.resume(&mut after).unwrap();
    assert!(after.first_tick() - begins >= LAST_RESERVED_TICKS);
}

#[test]
fn forged_times_do_not_exclude_the_swarm_after_a_restart() {
    let mut board = Board::new();
    let mut node = quiet_robot(1);
    board.flash.resume(&mut node).unwrap();
    // It spends 200 ticks in a forged swarm time.
    for tick in 4_000_000..4_000_200 {
        board.run(&mut node, tick);
    }
    let mut after = sealed_robot(1);
    board.flash.resume(&mut after).unwrap();
    after.sense(after.first_tick(), None);
    // Its swarm at tick 300 is accepted; frames from before its own uptime are not.
    assert!(after.authenticate_late_frame(&said_at(2, 300)).is_some());
    assert!(after.authenticate_late_frame(&said_at(2, 150)).is_none());
}

#[test]
fn restarted_robots_do_not_learn_the_time_from_recordings() {
    let mut board = Board::new();
    let mut node = sealed_robot(1);
    board.flash.resume(&mut node).unwrap();
    let mut recording = Vec::new();
    for tick in 0..4_700 {
        if tick % 100 == 0 {
            recording.push((tick, said_at(2, tick)));
        }
        board.run(&mut node, tick);
    }
    let mut restarted = sealed_robot(1);
    board.flash.resume(&mut restarted).unwrap();
    restarted.sense(restarted.first_tick(), None);
    for (tick, frame) in &recording {
        assert_eq!(restarted.hears(frame), Err(FrameError::OutOfWindow));
        // Only frames sent since the last record are accepted, one second of them.
        assert_eq!(restarted.authenticate_late_frame(frame).is_some(), *tick >= 4_700, "tick {tick}");
    }
    assert!(restarted.authenticate_late_frame(&said_at(2, 4_750)).is_some(), "its swarm is accepted");
}

type SealedRobot = RobotOn<Sealed<Dot154>>;

fn sealed_robot(id: u16) -> SealedRobot {
    robot_on(id, offline(), sealed_link::<Dot154, 8>(&[7; 16]))
}

fn said_at(id: u16, tick: u32) -> Vec<u8> {
    let mut robot = sealed_robot(id);
    robot.sense(tick, seen(REST));
    robot.says().remove(0)
}

#[test]
fn parameters_of_another_model_are_rejected_and_the_boot_count_continues() {
    let mut flash = flash_of_a_learned_robot();
    let mut other = robot_on(1, offline(), Link::<Exact>::open(MODEL + 1));
    assert_eq!(flash.resume(&mut other), Ok(false));
    assert_eq!((other.agent().wide(), other.link().boot_count()), (other.config().agent.model.offline(), 4));
    // The record of an unfolded robot is longer than the buffer of a folded one.
    let (mut unfolded, mut flash) = (unfolded_robot(1, Learning::OFF), Flash::default());
    let mut buffer = vec![0; unfolded.max_frame_len()];
    assert_eq!(persist::restore(&mut unfolded, &mut flash, &mut buffer), Ok(false));
    let mut folded = quiet_robot(1);
    assert_eq!(flash.resume(&mut folded), Ok(false));
    assert_eq!(
        (folded.agent().wide(), folded.link().boot_count()),
        (folded.config().agent.model.offline(), 1)
    );
}

#[test]
fn damaged_records_are_rejected() {
    let good = flash_of_a_learned_robot().kept.unwrap();
    let resumed = |kept: Vec<u8>| {
        let mut flash = Flash { kept: Some(kept), ..Flash::default() };
        let mut robot = quiet_robot(1);
        assert_eq!(flash.resume(&mut robot), Ok(false));
        assert_eq!(robot.agent().wide(), robot.config().agent.model.offline());
        robot
    };
    for offset in 0..good.len() {
        let mut damaged = good.clone();
        damaged[offset] ^= 1 << (offset % 8);
        let robot = resumed(damaged);
        // The first 20 bytes have a checksum of their own and hold the boot count and the ticks.
        assert_eq!(robot.link().boot_count(), if offset < 20 { 0 } else { 4 }, "byte {offset}");
        assert_eq!(robot.first_tick() > 0, offset >= 20, "byte {offset}");
    }
    (0..good.len()).for_each(|length| drop(resumed(good[..length].to_vec())));
    (1..40).for_each(|extra| drop(resumed([&good[..], &vec![0; extra]].concat())));
}

#[test]
fn store_failures_are_reported_and_the_robot_can_fly() {
    let mut node = quiet_robot(1);
    let mut flash = Flash { cannot_load: true, ..Flash::default() };
    assert_eq!(flash.resume(&mut node), Err(StoreError));
    let mut flash = Flash { cannot_save: true, ..Flash::default() };
    assert_eq!(flash.resume(&mut node), Err(StoreError));
    assert_eq!((node.agent().wide(), node.link().boot_count()), (node.config().agent.model.offline(), 0));
    let report = Board::new().run(&mut node, 0);
    assert_eq!(report.errors, PortErrors::default());
}
