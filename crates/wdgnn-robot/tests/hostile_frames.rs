//! Hostile frames at a robot's door: an error changes nothing, and the table never grows.
//! `encodings.rs` checks the error of every malformed frame, `group_key.rs` those of sealed frames.

use crate::common::prelude::*;
use proptest::prelude::*;

const BYTES: usize = exact::frame_len::<Motion, Taps, Wide>();

/// A frame of robot `id` without zeros among its numbers.
fn frame(id: u16, sequence: u32) -> Vec<u8> {
    let mut sender = quiet_robot(id);
    sender.sense(0, seen(Motion { position: [1.0, 2.0], velocity: [3.0, 4.0] }));
    let mut message = sender.message();
    for (index, x) in message.taps.line.0.as_flattened_mut().iter_mut().enumerate() {
        *x = index as f32 + 0.5;
    }
    encode(sender.link_mut(), &Numbered { boot: 0, sequence, message }, 0, 0)
}

/// Receives a frame, and checks that the robot's state changes if and only if the frame is accepted.
fn receive(robot: &mut PlainRobot, frame: &[u8]) -> Result<(), FrameError> {
    let before = stored_state(robot);
    let outcome = robot.hears(frame);
    assert_eq!(before == stored_state(robot), outcome.is_err(), "{outcome:?}");
    outcome
}

/// A robot that knows neighbor 7.
fn listener() -> PlainRobot {
    let mut robot = quiet_robot(1);
    robot.hears(&frame(7, 10)).unwrap();
    robot
}

#[test]
fn own_frames_repetitions_and_newcomers_to_a_full_table_are_rejected() {
    let mut robot = listener();
    assert_eq!(receive(&mut robot, &frame(1, 0)), Err(FrameError::OwnFrame));
    assert_eq!(receive(&mut robot, &frame(7, 10)), Err(FrameError::Old));
    assert_eq!(receive(&mut robot, &frame(7, 9)), Err(FrameError::Old));
    for id in 100..115 {
        assert_eq!(receive(&mut robot, &frame(id, 0)), Ok(()));
    }
    assert_eq!(receive(&mut robot, &frame(115, 0)), Err(FrameError::TableFull));
    assert_eq!(receive(&mut robot, &frame(7, 11)), Ok(()), "known neighbors keep their slots");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..seeded_cases() })]

    #[test]
    fn rejected_frames_change_nothing_and_accepted_ones_are_finite(
        noise in prop::collection::vec(any::<u8>(), 0..2 * BYTES),
        kept in 0..BYTES,
        changes in prop::collection::vec((0..BYTES, any::<u8>()), 1..8),
    ) {
        let good = frame(2, 0);
        let mixed = [&good[..kept], &noise].concat();
        let mut changed = good;
        for (offset, byte) in changes {
            changed[offset] = byte;
        }
        for hostile in [&noise, &mixed, &changed] {
            let mut robot = listener();
            if receive(&mut robot, hostile).is_ok() {
                prop_assert_eq!(hostile.len(), BYTES);
                prop_assert_eq!(&hostile[7..11], &MODEL.to_le_bytes());
                robot.end_receive();
                robot.decide();
                prop_assert!(robot.agent().taps().line.0[0].iter().all(|x| x.is_finite()), "features");
            }
        }
    }
}
