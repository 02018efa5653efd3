//! Over a restart: what was learned comes back, the boot is counted, and nothing damaged or foreign is taken up.

use crate::common;

use common::{
    board::{Board, Flash},
    flock::{
        MODEL, REST, Robot, RobotOn, UnfoldedRobot, frames, network, quiet_robot, robot, robot_on, settings,
        unfolded_robot, weights,
    },
};
use wdgnn_core::{
    model::{Metric, Model, folded::Folded},
    online::Learning,
    tensor::Tensor,
};
use wdgnn_link::{
    encoding::{exact::Exact, half::Dot154},
    error::Refusal,
    security::group_key::Sealed,
};
use wdgnn_robot::{
    config::Behaviour,
    control_loop::{self, PortErrors, SAVE_EVERY, StoreFailed},
    node::Settings,
    persist::LAST_RESERVED_TICKS,
    ports::Sensed,
};

const BYTES: usize = Robot::FRAME_BYTES;

/// A robot that has learned something: its parameters differ from the offline ones.
fn learned(weights: &[f32]) -> Robot<'_> {
    let mut node = robot(1, network(weights), Learning::paper(1.0));
    let mut wide = *node.wide();
    wide.add_scaled(&wide.clone(), 0.5);
    assert!(node.set_wide(&wide));
    node
}

/// The flash of a robot that has learned something and was on its third boot.
fn flash_of_a_learned_robot(weights: &[f32]) -> Flash {
    let (mut node, mut board) = (learned(weights), Board::new());
    node.set_boot(3);
    board.run(&mut node, SAVE_EVERY - 1);
    board.flash
}

#[test]
fn the_boot_count_is_kept_before_the_first_word_and_a_store_that_cannot_keep_it_has_failed() {
    let weights = weights(1);
    let (mut node, mut flash) = (quiet_robot(1, &weights), Flash::default());
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Ok(false));
    assert_eq!((flash.saves, flash.flushed), (1, 1));
    flash.cannot_flush = true;
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Err(StoreFailed));
}

#[test]
fn parameters_are_saved_once_per_hundred_ticks() {
    let weights = weights(1);
    let (mut node, mut board) = (quiet_robot(1, &weights), Board::new());
    for tick in 0..3 * SAVE_EVERY {
        board.run(&mut node, tick);
        assert_eq!(board.flash.saves, (tick + 1) / SAVE_EVERY);
    }
}

#[test]
fn a_restarted_robot_goes_on_from_what_it_had_learned() {
    let weights = weights(1);
    let mut flash = flash_of_a_learned_robot(&weights);
    let mut node = robot(1, network(&weights), Learning::paper(1.0));
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Ok(true));
    assert_eq!(node.wide(), learned(&weights).wide());
    assert_eq!(node.boot(), 4);
    // The boot is counted at once: a robot that dies before its first save must not repeat itself.
    let mut again = robot(1, network(&weights), Learning::paper(1.0));
    assert_eq!(control_loop::resume(&mut again, &mut flash, &mut [0; BYTES]), Ok(true));
    assert_eq!(again.boot(), 5);
}

#[test]
fn a_restarted_robot_is_heard_though_it_counts_from_where_nobody_is() {
    let weights = weights(1);
    let mut listener = quiet_robot(2, &weights);
    let (mut node, mut buffer) = (quiet_robot(1, &weights), [0; BYTES]);
    let mut flash = Flash::default();
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut buffer), Ok(false));
    for _ in 0..5 {
        node.speak(&mut buffer).unwrap();
        listener.hear(&mut buffer.to_vec()).unwrap();
    }
    let mut restarted = quiet_robot(1, &weights);
    assert_eq!(control_loop::resume(&mut restarted, &mut flash, &mut buffer), Ok(true));
    restarted.sense(restarted.first_tick(), None);
    restarted.speak(&mut buffer).unwrap();
    assert_eq!(listener.hear(&mut buffer.to_vec()), Ok(()));
}

#[test]
fn the_time_that_a_robot_begins_at_is_behind_everything_that_it_ever_said() {
    let weights = weights(1);
    let mut board = Board::new();
    let mut said = 0;
    for lives in [0, 30, 250, 7, 1_000] {
        let mut node = quiet_robot(1, &weights);
        control_loop::resume(&mut node, &mut board.flash, &mut [0; BYTES]).unwrap();
        let first = node.first_tick();
        assert!(first >= said, "it has spoken in tick {said} and begins at {first}");
        for tick in first..first + lives {
            board.run(&mut node, tick);
            said = tick + 1;
        }
    }
    // Once the store has no room, time is reserved for longer.
    board.flash.is_last = true;
    let mut node = quiet_robot(1, &weights);
    control_loop::resume(&mut node, &mut board.flash, &mut [0; BYTES]).unwrap();
    let begins = node.first_tick();
    let mut after = quiet_robot(1, &weights);
    control_loop::resume(&mut after, &mut board.flash, &mut [0; BYTES]).unwrap();
    assert!(after.first_tick() - begins >= LAST_RESERVED_TICKS);
}

#[test]
fn what_a_liar_makes_of_the_time_is_never_taken_for_the_past() {
    let weights = weights(1);
    let mut board = Board::new();
    let mut node = quiet_robot(1, &weights);
    control_loop::resume(&mut node, &mut board.flash, &mut [0; BYTES]).unwrap();
    // It lives for 200 ticks in a time that somebody made up.
    for tick in 4_000_000..4_000_200 {
        board.run(&mut node, tick);
    }
    let mut after = sealed_robot(1, &weights);
    control_loop::resume(&mut after, &mut board.flash, &mut [0; BYTES]).unwrap();
    after.sense(after.first_tick(), None);
    // Its swarm is in tick 300, and is still a swarm to it; what is from before its own life is not.
    assert!(after.vouch(&said_at(2, &weights, 300)).is_some());
    assert!(after.vouch(&said_at(2, &weights, 150)).is_none());
}

#[test]
fn a_robot_that_learns_the_time_from_the_first_frame_does_not_learn_it_from_a_recording() {
    let weights = weights(1);
    let mut board = Board::new();
    let mut node = sealed_robot(1, &weights);
    control_loop::resume(&mut node, &mut board.flash, &mut [0; BYTES]).unwrap();
    let mut recording = Vec::new();
    for tick in 0..4_700 {
        if tick % 100 == 0 {
            recording.push((tick, said_at(2, &weights, tick)));
        }
        board.run(&mut node, tick);
    }
    let mut restarted = sealed_robot(1, &weights);
    control_loop::resume(&mut restarted, &mut board.flash, &mut [0; BYTES]).unwrap();
    restarted.sense(restarted.first_tick(), None);
    for (tick, frame) in &recording {
        assert_eq!(restarted.hear(&mut frame.clone()), Err(Refusal::Untimely));
        // All but what was said since the last record, which is a second's worth.
        assert_eq!(restarted.vouch(frame).is_some(), *tick >= 4_700, "tick {tick}");
    }
    assert!(restarted.vouch(&said_at(2, &weights, 4_750)).is_some(), "its swarm is there still");
}

type SealedRobot<'w> = RobotOn<'w, Sealed<Dot154>>;

fn sealed_robot(id: u16, weights: &[f32]) -> SealedRobot<'_> {
    robot_on(id, weights, Behaviour::new(Learning::OFF), Sealed::new(Dot154::default(), &[7; 16]))
}

fn said_at(id: u16, weights: &[f32], tick: u32) -> Vec<u8> {
    let mut robot = sealed_robot(id, weights);
    robot.sense(tick, Some(Sensed::now(REST)));
    frames(&mut robot).remove(0)
}

#[test]
fn the_parameters_of_another_model_are_refused_and_the_boot_still_counts() {
    let weights = weights(1);
    let mut flash = flash_of_a_learned_robot(&weights);
    let model = Folded::new(network(&weights), Metric::Paper);
    let behaviour = Behaviour::new(Learning::OFF);
    let mut other = Robot::new(Settings { checksum: MODEL + 1, ..settings(1, model, behaviour, Exact) });
    assert_eq!(control_loop::resume(&mut other, &mut flash, &mut [0; BYTES]), Ok(false));
    assert_eq!((other.wide(), other.boot()), (other.model().offline(), 4));
}

#[test]
fn the_boot_counts_on_even_when_the_other_model_s_parameters_were_longer() {
    let weights = weights(1);
    // An unfolded robot saved G/O times as much as the folded one has room for.
    let mut unfolded: UnfoldedRobot<'_> = unfolded_robot(1, network(&weights), Learning::OFF);
    let mut flash = Flash::default();
    let mut buffer = vec![0; UnfoldedRobot::FRAME_BYTES];
    assert_eq!(control_loop::resume(&mut unfolded, &mut flash, &mut buffer), Ok(false));
    let mut folded = quiet_robot(1, &weights);
    assert_eq!(control_loop::resume(&mut folded, &mut flash, &mut [0; BYTES]), Ok(false));
    assert_eq!((folded.wide(), folded.boot()), (folded.model().offline(), 1));
}

#[test]
fn damaged_parameters_are_refused_bit_by_bit() {
    let weights = weights(1);
    let good = flash_of_a_learned_robot(&weights).kept.unwrap();
    for offset in 0..good.len() {
        let mut damaged = good.clone();
        damaged[offset] ^= 1 << (offset % 8);
        let mut flash = Flash { kept: Some(damaged), ..Flash::default() };
        let mut node = quiet_robot(1, &weights);
        assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Ok(false), "byte {offset}");
        assert_eq!(node.wide(), node.model().offline());
        // The head is twenty bytes: without it nobody knows how often the robot was started, or when.
        assert_eq!(node.boot(), if offset < 20 { 0 } else { 4 });
        assert_eq!(node.first_tick() > 0, offset >= 20);
    }
}

#[test]
fn a_record_of_any_length_is_refused_without_harm() {
    let weights = weights(1);
    let good = flash_of_a_learned_robot(&weights).kept.unwrap();
    let cut = (0..good.len()).map(|length| good[..length].to_vec());
    let stretched = (1..40).map(|extra| [good.clone(), vec![0; extra]].concat());
    for kept in cut.chain(stretched) {
        let mut flash = Flash { kept: Some(kept), ..Flash::default() };
        let mut node = quiet_robot(1, &weights);
        assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Ok(false));
        assert_eq!(node.wide(), node.model().offline());
    }
}

#[test]
fn a_store_that_fails_is_told_and_leaves_the_robot_fit_to_fly() {
    let weights = weights(1);
    let mut node = quiet_robot(1, &weights);
    let mut flash = Flash { cannot_load: true, ..Flash::default() };
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Err(StoreFailed));
    let mut flash = Flash { cannot_save: true, ..Flash::default() };
    assert_eq!(control_loop::resume(&mut node, &mut flash, &mut [0; BYTES]), Err(StoreFailed));
    assert_eq!((node.wide(), node.boot()), (node.model().offline(), 0));
    let report = Board::new().run(&mut node, 0);
    assert_eq!(report.errors, PortErrors::default());
}
