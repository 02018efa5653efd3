//! Authentication of frames outside the time window, from which a radio learns the swarm's clock and slots: members only,
//! never recordings of known robots or forgeries.

use crate::common::prelude::*;
use wdgnn_robot::control_loop::MAX_LATE_AUTHENTICATIONS;

const KEY: Key = [7; 16];
const FAR: u32 = 500;

fn member<L: TestLink>(id: u16, link: L) -> RobotOn<L> {
    robot_on(id, offline(), link)
}

fn dot154(key: &Key) -> Sealed<Dot154> {
    sealed_link::<Dot154, 8>(key)
}

/// A frame sent at `tick`.
fn said<L: TestLink>(robot: &mut RobotOn<L>, tick: u32) -> Vec<u8> {
    robot.sense(tick, seen(REST));
    robot.says().remove(0)
}

#[test]
fn frames_before_the_start_of_the_listener_are_not_authenticated() {
    fn authenticated<L: TestLink>(sealed: fn(&Key) -> L) {
        let mut speaker = member(2, sealed(&KEY));
        let frame = said(&mut speaker, FAR);
        let is_authentic = |since| sealed(&KEY).authenticate_late_frame(FAR, since, &frame).is_some();
        assert!(is_authentic(0) && is_authentic(FAR));
        assert!(!is_authentic(FAR + 1));
    }
    authenticated(dot154);
    authenticated(sealed_link::<Esb32, 4>);
}

#[test]
fn members_with_another_clock_are_authenticated_without_side_effects() {
    fn authenticated<L: TestLink>(sealed: fn(&Key) -> L) {
        let mut listener = member(1, sealed(&KEY));
        let mut speaker = member(2, sealed(&KEY));
        for (now, tick) in [(FAR, 5), (FAR, 9 * FAR)] {
            listener.sense(now, seen(REST));
            let frame = said(&mut speaker, tick);
            assert_eq!(listener.hears(&frame), Err(FrameError::OutOfWindow));
            let before = stored_state(&listener);
            for _ in 0..2 {
                let sender = listener.authenticate_late_frame(&frame).expect("a swarm member");
                assert_eq!(Some(sender), L::Encoding::read_header(&frame, now).map(|header| header.id));
                assert_eq!(sender.sender, 2);
            }
            assert_eq!(stored_state(&listener), before);
        }
    }
    authenticated(dot154);
    authenticated(sealed_link::<Exact, 8>);
    authenticated(sealed_link::<Esb32, 4>);
    authenticated(sealed_link::<P2p57, 8>);
}

#[test]
fn recordings_of_known_robots_are_not_authenticated() {
    let mut listener = member(1, dot154(&KEY));
    let mut speaker = member(2, dot154(&KEY));
    let earlier = said(&mut speaker, FAR);
    speaker.link_mut().set_boot_count(1);
    let heard = said(&mut speaker, FAR);
    listener.sense(FAR, seen(REST));
    assert_eq!(listener.hears(&heard), Ok(()));
    listener.sense(2 * FAR, seen(REST));
    for recording in [&earlier, &heard] {
        assert_eq!(listener.hears(recording), Err(FrameError::OutOfWindow));
        assert_eq!(listener.authenticate_late_frame(recording), None);
    }
    assert!(
        listener.authenticate_late_frame(&said(&mut speaker, FAR + 1)).is_some(),
        "newer frames are authenticated"
    );
}

#[test]
fn forgeries_are_not_authenticated() {
    fn forged<L: TestLink>(sealed: fn(&Key) -> L) {
        let mut listener = member(1, sealed(&KEY));
        let good = said(&mut member(2, sealed(&KEY)), 3);
        listener.sense(FAR, seen(REST));
        assert!(listener.authenticate_late_frame(&good).is_some());
        for bit in 0..8 * good.len() {
            let mut frame = good.clone();
            frame[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(listener.authenticate_late_frame(&frame), None, "bit {bit}");
        }
        for length in 0..good.len() {
            assert_eq!(listener.authenticate_late_frame(&good[..length]), None, "{length} bytes");
        }
        assert_eq!(listener.authenticate_late_frame(&[good.clone(), vec![0]].concat()), None);
        assert_eq!(listener.authenticate_late_frame(&[good.clone(), vec![0; 600]].concat()), None);
        assert_eq!(
            listener.authenticate_late_frame(&said(&mut member(2, sealed(&[8; 16])), 3)),
            None,
            "another key"
        );
    }
    forged(dot154);
    forged(sealed_link::<Esb32, 4>);
}

#[test]
fn unsealed_frames_are_accepted_without_authentication() {
    let frame = said(&mut member(2, open_link::<Dot154>()), 3);
    let identity = Some(FrameId { sender: 2, boot: 0, sequence: 3 });
    assert_eq!(member(1, open_link::<Dot154>()).authenticate_late_frame(&frame), identity);
}

#[test]
fn the_radio_learns_about_members_only() {
    let behavior = offline().robust();
    let mut robot = robot_on(1, behavior, dot154(&KEY));
    let mut board = Board::new();
    board.run(&mut robot, FAR);
    let mut friend = member(2, dot154(&KEY));
    let good = said(&mut friend, FAR + 1);
    // Too far for one tick.
    friend.sense(FAR + 1, seen(Motion { position: [9.0, 9.0], velocity: [0.0; 2] }));
    let implausible = friend.says().remove(0);
    let untimely = said(&mut member(3, dot154(&KEY)), 5);
    let forged = said(&mut member(4, dot154(&[8; 16])), FAR + 1);
    let echo = said(&mut member(1, dot154(&KEY)), FAR + 2);
    let heard = [&good, &implausible, &untimely, &forged, &good, &echo];
    board.air.heard = heard.into_iter().cloned().map(Ok).chain([Ok(vec![1, 2])]).collect();
    let report = board.run(&mut robot, FAR + 1);
    assert_eq!(report.rejected.total(), 5, "{:?}", report.rejected);
    let authenticated: Vec<_> =
        board.air.authenticated.iter().map(|(sender, at)| (sender.sender, *at)).collect();
    assert_eq!(authenticated, [(2, 1), (2, 2), (3, 3)], "sender and arrival on the radio's clock");
    assert_eq!(board.air.authenticated[0].0.sequence, FAR + 1);
    assert_eq!(board.air.begun, [FAR, FAR + 1]);
}

#[test]
fn members_without_a_table_slot_are_authenticated() {
    let (mut robot, mut board) = (quiet_robot(1), Board::new());
    board.air.heard = (2..20).map(|id| Ok(said(&mut quiet_robot(id), 0))).collect();
    assert_eq!(board.run(&mut robot, 0).rejected.of(FrameError::TableFull), 2);
    assert!(board.air.authenticated.iter().map(|(identity, _)| identity.sender).eq(2..20));
}

#[test]
fn few_frames_of_an_untimely_flood_are_decrypted() {
    let mut robot = member(1, dot154(&KEY));
    let mut board = Board::new();
    for tick in FAR..FAR + 3 {
        board.air.heard = (2..22).map(|id| Ok(said(&mut member(id, dot154(&KEY)), 5))).collect();
        board.air.authenticated.clear();
        assert_eq!(board.run(&mut robot, tick).rejected.of(FrameError::OutOfWindow), 20);
        assert_eq!(board.air.authenticated.len(), MAX_LATE_AUTHENTICATIONS as usize);
    }
}
