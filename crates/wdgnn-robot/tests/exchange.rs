//! Exchange interval: work per control tick and per exchange, held neighbors, and messages of several frames.

use crate::common::prelude::*;

const DIVISOR: u32 = 4;

/// Robots whose addresses are multiples of this number send in the same ticks, starting with 0.
const TURN: u16 = DIVISOR as u16;

fn behavior() -> FlockConfig {
    FlockConfig { exchange_interval: DIVISOR, hold_ticks: DIVISOR, ..offline() }
}

fn motion(robot: usize, tick: u32) -> Motion {
    let (robot, time) = (robot as f32, tick as f32 * 0.01);
    let velocity = [1.0 + robot, -robot];
    Motion { position: [robot + velocity[0] * time, velocity[1] * time], velocity }
}

/// One tick of two robots that receive each other.
fn step<L: TestLink>(robots: &mut [RobotOn<L>; 2], tick: u32) {
    let mut sent = [Vec::new(), Vec::new()];
    for (id, robot) in robots.iter_mut().enumerate() {
        robot.sense(tick, seen(motion(id, tick)));
        if robot.exchanges_this_tick() {
            sent[id] = robot.says();
        }
    }
    for (id, robot) in robots.iter_mut().enumerate() {
        for frame in &sent[1 - id] {
            robot.hears(frame).expect("an honest frame is accepted");
        }
        robot.finish();
    }
}

#[test]
fn taps_advance_per_exchange_and_are_held_in_between() {
    let mut robots = [0, 1].map(|id| robot_on(TURN * id, behavior(), open_link::<Exact>()));
    let mut told = Vec::new();
    for tick in 0..5 * DIVISOR {
        let before = *robots[0].agent().taps();
        step(&mut robots, tick);
        let (taps, before) = (robots[0].agent().taps().line.0, before.line.0);
        if tick % DIVISOR == 0 {
            // Tap k is tap k − 1 of the other robot at the last exchange, not at the last tick.
            if let Some(earlier) = told.last() {
                let earlier: &[[f32; 6]; 4] = earlier;
                assert_eq!(taps[1..], earlier[..3], "tick {tick}");
            }
            told.push(robots[1].agent().taps().line.0);
        } else {
            assert_eq!(taps[1..], before[1..], "tick {tick}");
            assert_ne!(taps[0], before[0], "own features change in every tick");
        }
    }
    assert!(told[4][3].iter().any(|x| *x != 0.0), "the last tap is filled");
}

#[test]
fn addresses_select_the_tick_of_the_exchange() {
    let mut robots = [0, 1, 6, 11].map(|id| robot_on(id, behavior(), open_link::<Exact>()));
    for tick in 0..3 * DIVISOR {
        let speak = robots.each_mut().map(|robot| {
            robot.sense(tick, seen(REST));
            robot.exchanges_this_tick()
        });
        assert_eq!(speak, [0, 1, 2, 3].map(|turn| tick % DIVISOR == turn), "tick {tick}");
    }
}

#[test]
fn messages_carry_the_taps_of_the_last_exchange_and_the_current_state() {
    let mut robots = [0, 1].map(|id| robot_on(TURN * id, behavior(), open_link::<Exact>()));
    for tick in 0..DIVISOR {
        step(&mut robots, tick);
        if tick == 0 {
            continue;
        }
        let message = robots[0].message();
        assert_eq!(message.state, motion(0, tick));
        assert_ne!(message.taps.line.0[0], robots[0].agent().taps().line.0[0], "tick {tick}");
    }
}

#[test]
fn neighbors_are_extrapolated_for_a_bounded_age() {
    let mut robots = [0, 1].map(|id| robot_on(TURN * id, behavior(), open_link::<Exact>()));
    step(&mut robots, 0);
    let [robot, _] = &mut robots;
    for tick in 1..=DIVISOR {
        robot.sense(tick, seen(REST));
        robot.finish();
        let seen = robot.neighbors().next().expect("held").message.state;
        assert_eq!(seen.velocity, motion(1, tick).velocity);
        assert!((seen.position[0] - motion(1, tick).position[0]).abs() < 1.0e-6);
    }
    robot.sense(DIVISOR + 1, seen(REST));
    robot.finish();
    assert_eq!(robot.neighbors().count(), 0, "evicted after the hold time");
}

#[test]
fn the_control_loop_sends_frames_only_in_exchanges() {
    fn sent<L: TestLink>(link: L) -> Vec<Vec<usize>> {
        let mut robot = robot_on(TURN, behavior(), link);
        let mut board = Board::new();
        (0..2 * DIVISOR)
            .map(|tick| {
                let report = board.run(&mut robot, tick);
                assert_eq!(report.errors.send, 0);
                board.air.sent.drain(..).map(|frame| frame.len()).collect()
            })
            .collect()
    }
    let pattern = |frames: &[usize]| {
        let exchange = [vec![frames.to_vec()], vec![vec![]; DIVISOR as usize - 1]].concat();
        [exchange.clone(), exchange].concat()
    };
    assert_eq!(sent(open_link::<Exact>()), pattern(&[302]));
    assert_eq!(sent(open_link::<Dot154>()), pattern(&[93]));
    assert_eq!(sent(open_link::<EspNow>()), pattern(&[165]));
    assert_eq!(sent(open_link::<Esb32>()), pattern(&[28; 4]));
    assert_eq!(sent(open_link::<P2p57>()), pattern(&[49; 2]));
}

#[test]
fn send_errors_are_counted_per_frame() {
    let mut robot = robot_on(TURN, behavior(), open_link::<Esb32>());
    let mut board = Board::new();
    board.air.cannot_send = true;
    assert_eq!(board.run(&mut robot, 0).errors.send, 4);
    // The buffer is too short for a frame.
    let mut ports = PortSet {
        radio: &mut board.air,
        sensor: &mut board.sensor,
        actuator: &mut board.motors,
        store: &mut board.flash,
    };
    assert_eq!(control_loop::begin_tick(&mut robot, DIVISOR, &mut ports, &mut [0; 27]).send, 4);
}

#[test]
fn each_frame_of_an_exchange_is_usable_alone() {
    let mut speaker = robot_on(2 * TURN, behavior(), open_link::<Esb32>());
    speaker.sense(0, seen(motion(1, 0)));
    speaker.finish();
    speaker.sense(DIVISOR, seen(motion(1, DIVISOR)));
    let sent = speaker.says();
    for (index, frame) in sent.iter().enumerate() {
        let mut listener = robot_on(TURN, behavior(), open_link::<Esb32>());
        listener.sense(DIVISOR, seen(REST));
        listener.hears(frame).unwrap();
        let heard = listener.neighbors().next().unwrap();
        let near = |a: f32, b: f32| (a - b).abs() <= a.abs() / 2048.0;
        assert!(near(motion(1, DIVISOR).position[0], heard.message.state.position[0]));
        let wide = ParamRange { from: 6, to: 12 };
        assert_eq!(heard.fresh, if index == 3 { wide } else { ParamRange::NONE }, "frame {index}");
    }
    // All frames in ascending order give all taps.
    let mut listener = robot_on(TURN, behavior(), open_link::<Esb32>());
    listener.sense(DIVISOR, seen(REST));
    for frame in &sent {
        listener.hears(frame).unwrap();
    }
    let heard = listener.neighbors().next().unwrap();
    let (told, read) = (speaker.message().taps.line.0, heard.message.taps.line.0);
    for (a, b) in told[..3].as_flattened().iter().zip(read[..3].as_flattened()) {
        assert!((a - b).abs() <= (a.abs() / 2048.0).max(3.0e-8), "{a} {b}");
    }
    assert_eq!(heard.fresh, ParamRange { from: 6, to: 12 });
}

#[test]
fn received_packets_of_an_exchange_mark_their_parameters_as_fresh() {
    let mut speaker = robot_on(2 * TURN, behavior(), open_link::<P2p57>());
    speaker.sense(DIVISOR, seen(motion(1, DIVISOR)));
    let sent = speaker.says();
    let fresh = |heard: &[usize]| {
        let mut listener = robot_on(TURN, behavior(), open_link::<P2p57>());
        listener.sense(DIVISOR, seen(REST));
        for index in heard {
            listener.receive(&mut sent[*index].clone()).unwrap();
        }
        listener.neighbors().next().unwrap().fresh
    };
    // Exchange 1 carries parts 2 and 3, of three parameters each.
    assert_eq!(fresh(&[0]), ParamRange { from: 6, to: 9 });
    assert_eq!(fresh(&[1]), ParamRange { from: 9, to: 12 });
    assert_eq!(fresh(&[0, 1]), ParamRange { from: 6, to: 12 });
}

#[test]
fn only_parameters_received_in_this_tick_are_mixed() {
    let learning = Learning { mixing: Mixing::Uniform, ..Learning::OFF };
    let config = FlockConfig { agent: config(learning).agent, ..behavior() };
    let mut robots = [0, 1].map(|id| robot_on(TURN * id, config, open_link::<Dot154>()));
    robots[0].agent_mut().set_wide(&Filter([[[0.0; 2]; 6]; 4]));
    robots[1].agent_mut().set_wide(&Filter([[[1.0; 2]; 6]; 4]));
    for tick in 0..4 * DIVISOR {
        step(&mut robots, tick);
        // Exchange e carries tap e of C; between exchanges the held neighbor adds nothing.
        let taps = (tick / DIVISOR) as usize;
        let mean = |tap: usize| if tap <= taps { 0.5 } else { 0.0 };
        let expected = Filter([0, 1, 2, 3].map(|tap| [[mean(tap); 2]; 6]));
        assert_eq!(robots[0].agent().wide(), &expected, "tick {tick}");
    }
    assert_eq!(robots[1].agent().wide().numbers(), [0.5; 48]);
}

#[test]
fn omitted_parameters_are_not_mixed() {
    let learning = Learning { mixing: Mixing::Uniform, ..Learning::OFF };
    let config = FlockConfig { agent: config(learning).agent, ..behavior() };
    let mut robot = robot_on(TURN, config, open_link::<Esb32>());
    let offline = *robot.agent().wide();
    let mut other = robot_on(2 * TURN, config, open_link::<Esb32>());
    other.agent_mut().set_wide(&Filter([[[9.0; 2]; 6]; 4]));
    robot.sense(0, seen(REST));
    other.sense(0, seen(motion(1, 0)));
    let payload = Payload { taps: ParamRange::ALL, wide: ParamRange::NONE };
    let reception = Reception { payload, ..Reception::whole(0) };
    robot.receive_decoded(&other.message(), &reception).unwrap();
    robot.finish();
    assert_eq!(robot.agent().wide(), &offline);
}
