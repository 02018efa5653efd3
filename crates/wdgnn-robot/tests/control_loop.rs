//! The control loop with failing ports: every failure is counted, and every tick ends.

use crate::common::prelude::*;
use wdgnn_robot::control_loop::{MAX_FRAMES_PER_TICK, PortErrors, SAVE_INTERVAL_TICKS};

const BYTES: usize = exact::frame_len::<Motion, Taps, Wide>();

/// A frame of robot `id`, 1 m to the east and 1 m/s faster.
fn frame(id: u16) -> Vec<u8> {
    let mut sender = quiet_robot(id);
    sender.sense(0, seen(Motion { position: [1.0, 0.0], velocity: [1.0, 0.0] }));
    let mut frame = vec![0; BYTES];
    sender.send(0, &mut frame).unwrap();
    frame
}

#[test]
fn undisturbed_ticks_send_receive_and_act() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    board.air.heard.push_back(Ok(frame(2)));
    let report = board.run(&mut node, 0);
    assert_eq!((report.received, report.rejected.total(), report.neighbors, report.evicted), (1, 0, 1, 0));
    assert_eq!(report.verdict, Verdict::Clear);
    assert_eq!(report.errors, PortErrors::default());
    assert_eq!(board.air.sent.len(), 1);
    assert_eq!(board.motors.commands, [report.command]);
    // The neighbor is faster to the east, so the network accelerates.
    assert!(report.command[0] > 0.0);
    let report = board.run(&mut node, 1);
    assert_eq!((report.received, report.neighbors, report.evicted), (0, 0, 1));
    assert_eq!((report.verdict, report.command), (Verdict::Alone(IsolationPhase::Hold), [0.0, 0.0]));
}

#[test]
fn failures_of_all_ports_in_one_tick_are_counted() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    let before = board.run(&mut node, SAVE_INTERVAL_TICKS - 2);
    board.sensor.0 = Err(());
    board.air.cannot_send = true;
    board.motors.broken = true;
    board.flash.cannot_save = true;
    board.air.heard = [Err(()), Ok(frame(2)), Err(()), Ok(frame(3))].into();
    let report = board.run(&mut node, SAVE_INTERVAL_TICKS - 1);
    assert_eq!(report.errors, PortErrors { sensor: 1, send: 1, receive: 2, actuator: 1, store: 1 });
    assert_eq!((report.received, report.neighbors), (2, 2), "successful receptions count");
    assert_eq!(board.motors.commands, [before.command, report.command]);
}

#[test]
fn missing_states_are_extrapolated() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    board.sensor.0 = Ok(Measurement::now(Motion { position: [1.0, 2.0], velocity: [3.0, -4.0] }));
    board.run(&mut node, 0);
    let no_number = Motion { position: [f32::NAN, 0.0], velocity: [0.0; 2] };
    for unusable in [Err(()), Ok(Measurement::now(no_number))] {
        board.sensor.0 = unusable;
        let before = *node.agent().state();
        let next = node.tick() + 1;
        let report = board.run(&mut node, next);
        assert_eq!(report.errors.sensor, 1);
        for axis in 0..2 {
            // One period at the last velocity.
            let expected = before.position[axis] + TASK.period * before.velocity[axis];
            assert_eq!(node.agent().state().position[axis], expected);
        }
        assert_eq!(node.agent().state().velocity, [3.0, -4.0]);
    }
}

#[test]
fn rejected_frames_are_counted_by_error() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    let good = frame(2);
    let mut other_version = good.clone();
    other_version[0] = 9;
    let mut one_too_long = good.clone();
    one_too_long.push(0);
    let frames = [
        vec![],
        other_version,
        good[..BYTES - 1].to_vec(),
        one_too_long,
        vec![1; 10 * BYTES],
        frame(1),
        good.clone(),
        good,
    ];
    board.air.heard = frames.into_iter().map(Ok).collect();
    let report = board.run(&mut node, 0);
    assert_eq!((report.received, report.neighbors), (8, 1));
    let counted: Vec<_> = report.rejected.iter().collect();
    let expected = [
        (FrameError::TooShort, 1),
        (FrameError::Version, 1),
        (FrameError::Truncated, 1),
        (FrameError::Trailing, 2),
        (FrameError::OwnFrame, 1),
        (FrameError::Old, 1),
    ];
    assert_eq!(counted, expected);
}

#[test]
fn floods_end_reception_but_not_the_tick() {
    let good = frame(2);
    let most = MAX_FRAMES_PER_TICK as usize;
    // The limit itself is no flood.
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    board.air.heard = (0..most).map(|_| Ok(good.clone())).collect();
    let report = board.run(&mut node, 0);
    assert_eq!((report.received, report.rejected.of(FrameError::Flood)), (MAX_FRAMES_PER_TICK, 0));
    // Above the limit, the robot takes one more frame, counts a flood and leaves the rest.
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    board.air.heard = (0..3 * most).map(|_| Ok(good.clone())).collect();
    let report = board.run(&mut node, 0);
    assert_eq!((report.received, report.rejected.of(FrameError::Flood)), (MAX_FRAMES_PER_TICK + 1, 1));
    assert_eq!(board.air.heard.len(), 2 * most - 1);
    assert_eq!((report.neighbors, board.motors.commands.len()), (1, 1));
    // A radio that always fails does not prolong the tick.
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    board.air.heard = (0..3 * most).map(|_| Err(())).collect();
    let report = board.run(&mut node, 0);
    assert_eq!((report.received, report.errors.receive), (0, MAX_FRAMES_PER_TICK + 1));
}

#[test]
fn short_buffers_are_send_errors() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    let mut ports = PortSet {
        radio: &mut board.air,
        sensor: &mut board.sensor,
        actuator: &mut board.motors,
        store: &mut board.flash,
    };
    let report = control_loop::run_tick(&mut node, 0, &mut ports, &mut [0; BYTES - 1]);
    assert_eq!((report.errors.send, board.air.sent.len()), (1, 0));
}
