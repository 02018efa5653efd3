//! Over a restart: what was learned comes back, the boot is counted, and nothing damaged or foreign is taken up.

use crate::common::prelude::*;
use wdgnn_robot::{
    control_loop::{PortErrors, SAVE_EVERY, StoreFailed},
    persist::LAST_RESERVED_TICKS,
};

const BYTES: usize = Robot::FRAME_BYTES;

/// A robot that has learned something: its parameters differ from the offline ones.
fn learned() -> Robot {
    let mut node = robot(1, Learning::paper(1.0));
    let mut wide = *node.wide();
    wide.add_scaled(&wide.clone(), 0.5);
    assert!(node.set_wide(&wide));
    node
}

/// The flash of a robot that has learned something and was on its third boot.
fn flash_of_a_learned_robot() -> Flash {
    let (mut node, mut board) = (learned(), Board::new());
    node.set_boot(3);
    board.run(&mut node, SAVE_EVERY - 1);
    board.flash
}

#[test]
fn the_boot_count_is_kept_before_the_first_word_and_a_store_that_cannot_keep_it_has_failed() {
    let (mut node, mut flash) = (quiet_robot(1), Flash::default());
    assert_eq!(flash.resume(&mut node), Ok(false));
    assert_eq!((flash.saves, flash.flushed), (1, 1));
    flash.cannot_flush = true;
    assert_eq!(flash.resume(&mut node), Err(StoreFailed));
}

#[test]
fn parameters_are_saved_once_per_hundred_ticks() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    for tick in 0..3 * SAVE_EVERY {
        board.run(&mut node, tick);
        assert_eq!(board.flash.saves, (tick + 1) / SAVE_EVERY);
    }
}

#[test]
fn a_restarted_robot_goes_on_from_what_it_had_learned() {
    let mut flash = flash_of_a_learned_robot();
    let mut node = robot(1, Learning::paper(1.0));
    assert_eq!(flash.resume(&mut node), Ok(true));
    assert_eq!(node.wide(), learned().wide());
    assert_eq!(node.boot(), 4);
    // The boot is counted at once: a robot that dies before its first save must not repeat itself.
    let mut again = robot(1, Learning::paper(1.0));
    assert_eq!(flash.resume(&mut again), Ok(true));
    assert_eq!(again.boot(), 5);
}

#[test]
fn a_restarted_robot_is_heard_though_it_counts_from_where_nobody_is() {
    let mut listener = quiet_robot(2);
    let (mut node, mut buffer) = (quiet_robot(1), [0; BYTES]);
    let mut flash = Flash::default();
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut buffer), Ok(false));
    for _ in 0..5 {
        node.speak(&mut buffer).unwrap();
        listener.hear(&mut buffer.to_vec()).unwrap();
    }
    let mut restarted = quiet_robot(1);
    assert_eq!(control_loop::resume(&mut restarted, &mut flash, &mut buffer), Ok(true));
    restarted.sense(restarted.first_tick(), None);
    restarted.speak(&mut buffer).unwrap();
    assert_eq!(listener.hear(&mut buffer.to_vec()), Ok(()));
}

#[test]
fn the_time_that_a_robot_begins_at_is_behind_everything_that_it_ever_said() {
    let mut board = Board::new();
    let mut said = 0;
    for lives in [0, 30, 250, 7, 1_000] {
        let mut node = quiet_robot(1);
        board.flash.resume(&mut node).unwrap();
        let first = node.first_tick();
        assert!(first >= said, "it has spoken in tick {said} and begins at {first}");
        for tick in first..first + lives {
            board.run(&mut node, tick);
            said = tick + 1;
        }
    }
    // Once the store has no room, time is reserved for longer.
    board.flash.is_last = true;
    let mut node = quiet_robot(1);
    board.flash.resume(&mut node).unwrap();
    let begins = node.first_tick();
    let mut after = quiet_robot(1);
    board.flash.resume(&mut after).unwrap();
    assert!(after.first_tick() - begins >= LAST_RESERVED_TICKS);
}

#[test]
fn what_a_liar_makes_of_the_time_is_never_taken_for_the_past() {
    let mut board = Board::new();
    let mut node = quiet_robot(1);
    board.flash.resume(&mut node).unwrap();
    // It lives for 200 ticks in a time that somebody made up.
    for tick in 4_000_000..4_000_200 {
        board.run(&mut node, tick);
    }
    let mut after = sealed_robot(1);
    board.flash.resume(&mut after).unwrap();
    after.sense(after.first_tick(), None);
    // Its swarm is in tick 300, and is still a swarm to it; what is from before its own life is not.
    assert!(after.vouch(&said_at(2, 300)).is_some());
    assert!(after.vouch(&said_at(2, 150)).is_none());
}

#[test]
fn a_robot_that_learns_the_time_from_the_first_frame_does_not_learn_it_from_a_recording() {
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
        assert_eq!(restarted.hears(&frame), Err(Refusal::Untimely));
        // All but what was said since the last record, which is a second's worth.
        assert_eq!(restarted.vouch(frame).is_some(), *tick >= 4_700, "tick {tick}");
    }
    assert!(restarted.vouch(&said_at(2, 4_750)).is_some(), "its swarm is there still");
}

type SealedRobot = RobotOn<Sealed<Dot154>>;

fn sealed_robot(id: u16) -> SealedRobot {
    robot_on(id, offline(), Sealed::new(Dot154::default(), &[7; 16]))
}

fn said_at(id: u16, tick: u32) -> Vec<u8> {
    let mut robot = sealed_robot(id);
    robot.sense(tick, seen(REST));
    robot.says().remove(0)
}

#[test]
fn parameters_of_another_model_are_rejected_and_the_boot_count_continues() {
    let mut flash = flash_of_a_learned_robot();
    let mut other = robot_with(1, TASK, MODEL + 1, offline(), Exact);
    assert_eq!(flash.resume(&mut other), Ok(false));
    assert_eq!((other.wide(), other.boot()), (other.model().offline(), 4));
    // The record of an unfolded robot is longer than the buffer of a folded one.
    let (mut unfolded, mut flash) = (unfolded_robot(1, Learning::OFF), Flash::default());
    let mut buffer = vec![0; UnfoldedRobot::FRAME_BYTES];
    assert_eq!(control_loop::resume(&mut unfolded, &mut flash, &mut buffer), Ok(false));
    let mut folded = quiet_robot(1);
    assert_eq!(flash.resume(&mut folded), Ok(false));
    assert_eq!((folded.wide(), folded.boot()), (folded.model().offline(), 1));
}

#[test]
fn damaged_records_are_rejected() {
    let good = flash_of_a_learned_robot().kept.unwrap();
    let resumed = |kept: Vec<u8>| {
        let mut flash = Flash { kept: Some(kept), ..Flash::default() };
        let mut robot = quiet_robot(1);
        assert_eq!(flash.resume(&mut robot), Ok(false));
        assert_eq!(robot.wide(), robot.model().offline());
        robot
    };
    for offset in 0..good.len() {
        let mut damaged = good.clone();
        damaged[offset] ^= 1 << (offset % 8);
        let robot = resumed(damaged);
        // The first 20 bytes have a checksum of their own and hold the boot count and the ticks.
        assert_eq!(robot.boot(), if offset < 20 { 0 } else { 4 }, "byte {offset}");
        assert_eq!(robot.first_tick() > 0, offset >= 20, "byte {offset}");
    }
    (0..good.len()).for_each(|length| drop(resumed(good[..length].to_vec())));
    (1..40).for_each(|extra| drop(resumed([&good[..], &vec![0; extra]].concat())));
}

#[test]
fn a_store_that_fails_is_told_and_leaves_the_robot_fit_to_fly() {
    let mut node = quiet_robot(1);
    let mut flash = Flash { cannot_load: true, ..Flash::default() };
    assert_eq!(flash.resume(&mut node), Err(StoreFailed));
    let mut flash = Flash { cannot_save: true, ..Flash::default() };
    assert_eq!(flash.resume(&mut node), Err(StoreFailed));
    assert_eq!((node.wide(), node.boot()), (node.model().offline(), 0));
    let report = Board::new().run(&mut node, 0);
    assert_eq!(report.errors, PortErrors::default());
}
