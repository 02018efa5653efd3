//! Robust trust: neighbors are clipped to the median, own sensors are compared with the track, and untrusted robots are
//! still avoided.

use crate::common::prelude::*;
use wdgnn_robot::{
    config::ROBUST_STATE_AGE_TICKS,
    safety::failsafe::FailsafeLevel,
    tasks::{ActuatorResponse, PlausibilityChecks as _},
};

fn robust() -> FlockConfig {
    offline().robust()
}

/// Motion after a number of ticks at constant velocity.
fn after(start: Motion, ticks: u32) -> Motion {
    start.extrapolate(ticks as f32 * TASK.period)
}

/// Lets a robot at rest receive six others for some ticks: five fly at 1 m/s, and `lies` modifies the messages of the sixth.
fn hear_six(robot: &mut PlainRobot, ticks: u32, lies: impl Fn(&mut Full, u32)) {
    let mut rng = seeded(5);
    for tick in 0..ticks {
        robot.sense(tick, seen(REST));
        for sender in 2..8 {
            let start =
                Motion { position: [f32::from(sender), 1.0], velocity: [1.0, 0.01 * f32::from(sender)] };
            let mut message =
                neighbor_message(&mut rng, &robot.config().agent.model, sender, after(start, tick));
            message.tick = tick;
            if sender == 7 {
                lies(&mut message, tick);
            }
            let _ = robot.takes(&message);
        }
        robot.end_receive();
    }
}

#[test]
fn velocities_are_clipped_near_the_median() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    // Its positions are consistent with the high velocity that it reports.
    let start = Motion { position: [7.0, 1.0], velocity: [5.0, 0.0] };
    hear_six(&mut robot, 20, |message, tick| message.state = after(start, tick));
    assert_eq!(robot.trusted().count(), 6);
    let liar = robot.trusted().last().unwrap().message.state;
    assert!((1.0..1.2).contains(&liar.velocity[0]), "{liar:?}");
    assert_eq!(liar.position, after(start, 19).position, "positions are not clipped");
    let honest = robot.trusted().next().unwrap().message.state;
    assert_eq!(honest.velocity, [1.0, 0.02]);
}

#[test]
fn lying_taps_are_clipped_to_the_median() {
    let taps = |lie: Option<f32>| {
        let mut robot = robot_on(1, robust(), open_link::<Exact>());
        hear_six(&mut robot, 3, |message, _| {
            if let Some(size) = lie {
                message.taps.transmitted_mut().for_each(|(_, taps)| taps.fill(size));
            }
        });
        let said = robot.trusted().last().unwrap().message.taps;
        said.transmitted_from(0).iter().map(|tap| tap.abs()).fold(0.0, f32::max)
    };
    for size in [95.0, -95.0, 20.0] {
        assert!(taps(Some(size)) < 2.0, "{size}: {}", taps(Some(size)));
    }
    assert!(taps(None) > 0.5, "honest taps are not clipped");
}

#[test]
fn taps_of_a_lying_majority_are_limited_by_the_spread_of_states() {
    let largest = |normalized: bool| {
        let mut config = robust();
        config.agent.task.normalized = normalized;
        let mut robot = robot_on(1, config, open_link::<Exact>());
        let mut rng = seeded(5);
        robot.sense(0, seen(REST));
        for sender in 2..8 {
            let state =
                Motion { position: [f32::from(sender), 1.0], velocity: [1.0, 0.01 * f32::from(sender)] };
            let mut message = neighbor_message(&mut rng, &robot.config().agent.model, sender, state);
            message.taps.transmitted_mut().for_each(|(_, taps)| taps.fill(5.0));
            robot.takes(&message).unwrap();
        }
        robot.end_receive();
        let taps = robot.trusted().next().unwrap().message.taps;
        [0, 2].map(|feature| taps.transmitted_from(0)[feature])
    };
    let [velocity, position] = largest(true);
    assert!((0.05..0.15).contains(&velocity), "{velocity}");
    assert_eq!((position, largest(false)), (5.0, [5.0; 2]), "only means of velocities are limited");
}

#[test]
fn two_neighbors_are_not_clipped() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    let mut rng = seeded(5);
    for (sender, speed) in [(2, 1.0), (3, 9.0)] {
        let state = Motion { position: [f32::from(sender), 1.0], velocity: [speed, 0.0] };
        robot.takes(&neighbor_message(&mut rng, &robot.config().agent.model, sender, state)).unwrap();
    }
    robot.sense(0, seen(REST));
    robot.end_receive();
    assert!(robot.trusted().map(|n| n.message.state.velocity[0]).eq([1.0, 9.0]));
}

/// Within the separation distance of a robot at rest.
const NEXT: Motion = Motion { position: [0.0, 0.1], velocity: [0.0; 2] };

fn avoiding() -> PlainRobot {
    let mut config = robust();
    config.agent.task.separation = 0.15;
    robot_on(1, config, open_link::<Exact>())
}

#[test]
fn untrusted_robots_are_avoided() {
    let mut robot = avoiding();
    for tick in 0..3 {
        robot.sense(tick, seen(REST));
        let mut message = neighbor_message(&mut seeded(5), &robot.config().agent.model, 2, NEXT);
        message.tick = tick;
        message.taps.transmitted_mut().for_each(|(_, taps)| taps.fill(1.0e4));
        assert_eq!(robot.takes(&message), Err(FrameError::Implausible));
        robot.end_receive();
    }
    assert_eq!(robot.trusted().count(), 0);
    let ([_, away], verdict) = robot.decide();
    assert!(away == -10.0 && matches!(verdict, Verdict::Alone(_)), "{away} {verdict:?}");
}

#[test]
fn stuck_sensors_are_detected_and_the_robot_stops() {
    let (mut robot, mut board) = (robot_on(1, robust(), open_link::<Exact>()), Board::new());
    let flying = Motion { position: [0.0; 2], velocity: [2.0, -1.0] };
    let mut see = |robot: &mut PlainRobot, tick: u32, seen: u32| {
        board.sensor.0 = Ok(Measurement::now(after(flying, seen)));
        board.run(robot, tick).verdict
    };
    for tick in 0..50 {
        see(&mut robot, tick, tick);
    }
    // The sensor repeats its last pose.
    let slow =
        (50..400).find(|tick| see(&mut robot, *tick, 49) == Verdict::Failsafe(FailsafeLevel::Slow)).unwrap();
    assert!((50 + MAX_STATE_AGE_TICKS..60 + MAX_STATE_AGE_TICKS).contains(&slow), "{slow}");
    let blind = (slow + 1..400).find(|tick| see(&mut robot, *tick, 49) == Verdict::Blind).unwrap();
    assert!((50 + ROBUST_STATE_AGE_TICKS..60 + ROBUST_STATE_AGE_TICKS).contains(&blind), "{blind}");
    for tick in blind..600 {
        assert_eq!(see(&mut robot, tick, 49), Verdict::Blind, "permanently");
        assert!(robot.sends_this_tick() && robot.message().degree == 255, "as an obstacle");
    }
    assert!(
        robot.agent().state().velocity.iter().all(|v| v.abs() < 1.0e-3),
        "at rest: {:?}",
        robot.agent().state()
    );
    assert!(!matches!(see(&mut robot, 600, 600), Verdict::Blind), "until the pose changes");
}

#[test]
fn robots_without_a_recent_state_send_nothing() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    assert!((0..500).all(|tick| !robot.sense(tick, None) && !robot.sends_this_tick()));
    robot.sense(500, seen(REST));
    let spoken = (501..6_000).filter(|tick| !robot.sense(*tick, None) && robot.sends_this_tick()).count();
    assert_eq!(spoken, 3_000, "for 30 s");
}

#[test]
fn self_declared_obstacles_are_avoided_and_not_trusted() {
    let mut robot = avoiding();
    for tick in 0..50 {
        robot.sense(tick, seen(REST));
        let message = neighbor_message(&mut seeded(5), &robot.config().agent.model, 2, NEXT);
        let degree = if tick < 25 { 3 } else { 255 };
        assert_eq!(robot.takes(&Message { tick, degree, ..message }), Ok(()));
        robot.end_receive();
        assert_eq!(robot.trusted().count(), usize::from(tick < 25), "tick {tick}");
        let ([_, away], _) = robot.decide();
        assert_eq!(away, -10.0, "tick {tick}");
    }
}

#[test]
fn robots_at_rest_may_sense_one_state_for_ever() {
    let (mut robot, mut board) = (robot_on(1, robust(), open_link::<Exact>()), Board::new());
    assert!(
        (0..500).all(|tick| !matches!(
            board.run(&mut robot, tick).verdict,
            Verdict::Blind | Verdict::Failsafe(_)
        ))
    );
}

#[test]
fn without_sensing_the_state_follows_the_commands() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    robot.sense(0, seen(REST));
    robot.set_executed_command(Some([2.0, -4.0]));
    for tick in 1..=10 {
        robot.sense(tick, None);
    }
    let Motion { position: [x, y], velocity } = *robot.agent().state();
    // 0.1 s at 2 and −4 m/s²: v = 0.2 and −0.4 m/s, p = 1 and −2 cm.
    assert!((velocity[0] - 0.2).abs() < 1.0e-6 && (velocity[1] + 0.4).abs() < 1.0e-6, "{velocity:?}");
    assert!((x - 0.01).abs() < 1.0e-6 && (y + 0.02).abs() < 1.0e-6, "{x} {y}");
    robot.set_executed_command(None);
    robot.sense(11, None);
    assert!(
        (robot.agent().state().position[0] - 0.012).abs() < 1.0e-6,
        "at constant velocity without a command"
    );
}

#[test]
fn rotated_velocities_are_corrected_by_positions() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    let flying = Motion { position: [0.0; 2], velocity: [1.5, 0.0] };
    for tick in 0..150 {
        let mut sensed = after(flying, tick);
        // Rotated by 30 degrees.
        sensed.velocity = [1.3, 0.75];
        robot.sense(tick, seen(sensed));
    }
    let [x, y] = robot.agent().state().velocity;
    assert!((x - 1.5).abs() < 0.1 && y.abs() < 0.1, "{x} {y}");
    let [x, y] = robot.agent().state().position;
    assert!((x - 1.5 * 1.49).abs() < 1.0e-3 && y.abs() < 1.0e-3, "{x} {y}");
}

#[test]
fn constant_velocity_offsets_are_corrected() {
    for off in [0.05, -0.09] {
        let mut robot = robot_on(1, robust(), open_link::<Exact>());
        let flying = Motion { position: [0.0; 2], velocity: [1.0, -2.0] };
        for tick in 0..300 {
            let truth = after(flying, tick);
            let sensed = Motion { velocity: [1.0 + off, -2.0], ..truth };
            robot.sense(tick, seen(sensed));
            let Motion { position, velocity } = *robot.agent().state();
            // The track lags by the velocity offset times 0.2 s.
            if tick > 250 {
                let behind = position[0] - truth.position[0];
                assert!(behind.abs() < 0.1 * 0.2 * off.abs(), "{off} m/s, tick {tick}: {behind} m");
                assert!((velocity[0] - 1.0).abs() < 0.1 * off.abs(), "{off} m/s, tick {tick}: {velocity:?}");
                assert!((velocity[1] + 2.0).abs() < 1.0e-3, "{velocity:?}");
            }
        }
    }
}

#[test]
fn reported_states_have_a_fifth_of_the_sensor_noise() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    let mut rng = seeded(9);
    let mut squares = 0.0;
    for tick in 0..1100 {
        // Uniform in ±0.173 m: a standard deviation of 10 cm.
        let noise: [f32; 2] = core::array::from_fn(|_| rand::RngExt::random_range(&mut rng, -0.173..0.173));
        robot.sense(tick, seen(Motion { position: noise, velocity: [0.0; 2] }));
        if tick >= 100 {
            squares += robot.agent().state().position.iter().map(|x| x * x).sum::<f32>();
        }
    }
    let deviation = (squares / 2000.0).sqrt();
    assert!((0.01..0.02).contains(&deviation), "{deviation} m");
}

#[test]
fn low_batteries_slow_a_robot_down_and_empty_ones_stop_it() {
    let mut robot = robot_on(1, robust(), open_link::<Exact>());
    let flying = Motion { position: [0.0; 2], velocity: [1.0, 0.0] };
    for (left, verdict) in [
        (None, None),
        (Some(100), None),
        (Some(19), Some(FailsafeLevel::Slow)),
        (Some(9), Some(FailsafeLevel::Stop)),
        (Some(80), None),
    ] {
        robot.sense(0, seen(flying));
        robot.set_battery(left);
        robot.end_receive();
        let ([along, _], told) = robot.decide();
        let expected = verdict.map(Verdict::Failsafe);
        assert_eq!(matches!(told, Verdict::Failsafe(_)).then_some(told), expected, "{left:?}");
        assert_eq!(along < 0.0, verdict.is_some(), "{left:?}");
    }
}

/// First tick in which an isolated robot reports itself as an obstacle. It brakes gently after one second and fully after two.
/// `does` gives the acceleration of the motors for a tick and a command; the measured velocity has the given noise in m/s.
fn obstacle_from_from(speed: f32, noise: f32, does: impl Fn(u32, f32) -> f32) -> Option<u32> {
    const DEGREE: usize = 21;
    let (mut robot, mut board, mut rng) =
        (robot_on(1, robust(), open_link::<Exact>()), Board::new(), seeded(8));
    let mut motion = Motion { position: [0.0; 2], velocity: [speed, 0.0] };
    (0..400).find(|tick| {
        // Uniform noise has a deviation of 1/√12 of its width.
        let sensed = motion.velocity.map(|v| v + noise * 12.0_f32.sqrt() * rng.random_range(-0.5..0.5));
        board.sensor.0 = Ok(Measurement::now(Motion { velocity: sensed, ..motion }));
        let done = board.run(&mut robot, *tick).command.map(|told| does(*tick, told));
        motion = TASK.predict_with_command(&motion, &done, 1);
        board.air.sent.drain(..).any(|frame| frame[DEGREE] == 255)
    })
}

fn obstacle_from(noise: f32, does: impl Fn(u32, f32) -> f32) -> Option<u32> {
    obstacle_from_from(5.0, noise, does)
}

#[test]
fn robots_with_failed_motors_declare_themselves_obstacles() {
    let from = |fails: u32, noise, failing: fn(f32) -> f32| {
        obstacle_from(noise, |tick, told| if tick < fails { told } else { failing(told) })
    };
    let dead = from(180, 0.0, |_| 0.0).unwrap();
    // The deviation must last ten ticks, one tenth of a second.
    assert!((202..230).contains(&dead), "it brakes fully from tick 201 on: {dead}");
    assert!(from(180, 0.1, |_| 0.0).is_some());
    let stuck = from(150, 0.0, |_| 5.0).unwrap();
    assert!((151..180).contains(&stuck), "{stuck}");
    let reversed = from(180, 0.0, |told| -told).unwrap();
    assert!((181..230).contains(&reversed), "{reversed}");
}

#[test]
fn thrown_robots_do_not_judge_motors_that_never_responded() {
    let thrown = |does: fn(f32) -> f32| {
        let does = move |tick, told| match tick {
            0..40 => 0.0,
            40..90 => 9.0,
            _ => does(told),
        };
        obstacle_from_from(0.0, 0.0, does)
    };
    assert_eq!(thrown(|told| told), None);
    assert_eq!(thrown(|_| 0.0), None);
    assert!(obstacle_from(0.0, |_, _| 0.0).is_some(), "a robot in flight detects it at once");
    let later = |tick, told| match tick {
        0..90 => 6.0,
        90..180 => told,
        _ => 0.0,
    };
    assert!(obstacle_from_from(0.0, 0.0, later).is_some(), "the motors have responded before");
}

#[test]
fn weak_or_saturated_motors_and_noise_are_no_failure() {
    for noise in [0.0, 0.1] {
        assert_eq!(obstacle_from(noise, |_, told| told), None);
        assert_eq!(obstacle_from(noise, |_, told| 0.4 * told), None);
        assert_eq!(obstacle_from(noise, |_, told| told.clamp(-3.0, 3.0)), None);
    }
}

#[test]
fn actuator_responses_follow_deviate_or_are_unknown() {
    let moving = Motion { position: [0.0; 2], velocity: [1.0, 0.0] };
    assert_eq!(TASK.actuator_response(&moving, &[6.0, 0.0], &[0.0; 2]), ActuatorResponse::Deviates);
    assert_eq!(
        TASK.actuator_response(&moving, &[0.0; 2], &[0.0, 9.0]),
        ActuatorResponse::Deviates,
        "accelerated without a command"
    );
    assert_eq!(TASK.actuator_response(&REST, &[6.0, 0.0], &[0.0; 2]), ActuatorResponse::AtRest);
    assert_eq!(
        TASK.actuator_response(&moving, &[4.0, 0.0], &[0.0; 2]),
        ActuatorResponse::Unknown,
        "a small command"
    );
    assert_eq!(TASK.actuator_response(&moving, &[10.0, 0.0], &[3.0, 0.0]), ActuatorResponse::Unknown, "weak");
    assert_eq!(TASK.actuator_response(&moving, &[5.0, 0.0], &[4.0, 0.5]), ActuatorResponse::Follows);
}
