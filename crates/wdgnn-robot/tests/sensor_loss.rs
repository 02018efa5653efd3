//! Sensor loss: a robot extrapolates for a bounded time, then stops, sends nothing and learns nothing until it senses again.

use crate::common::prelude::*;
use proptest::prelude::*;

const FLYING: Motion = Motion { position: [1.0, 2.0], velocity: [3.0, -4.0] };

/// Motion after a number of ticks at constant velocity, computed tick by tick.
fn flown(ticks: u32) -> Motion {
    (0..ticks).fold(FLYING, |mut motion, _| {
        motion.position[0] += TASK.period * motion.velocity[0];
        motion.position[1] += TASK.period * motion.velocity[1];
        motion
    })
}

#[test]
fn sensed_states_are_extrapolated_by_a_bounded_age() {
    let mut node = quiet_robot(1);
    for (tick, age) in
        [0, 1, 2, 7, MAX_STATE_AGE_TICKS, MAX_STATE_AGE_TICKS + 1, 1000, u32::MAX].into_iter().enumerate()
    {
        assert!(node.sense(tick as u32, Some(Measurement { state: FLYING, age })));
        assert_eq!(*node.agent().state(), flown(age.min(MAX_STATE_AGE_TICKS)), "age {age}");
        assert_eq!(node.is_blind(), age > MAX_STATE_AGE_TICKS, "age {age}");
    }
}

#[test]
fn robots_are_blind_exactly_after_the_limit() {
    fn limit<L: TestLink>(link: L) {
        let behavior = FlockConfig { max_state_age_ticks: 7, ..offline() };
        let (mut node, mut board) = (robot_on(1, behavior, link), Board::new());
        let frames = L::FRAMES_PER_EXCHANGE as usize;
        for age in [0, 3, 7] {
            board.sensor.0 = Ok(Measurement { state: FLYING, age });
            let begin = node.tick() + 1;
            let before = (board.air.sent.len(), board.motors.commands.len(), board.motors.stops);
            for silent in 0..20 {
                let report = board.run(&mut node, begin + silent);
                board.sensor.0 = Err(());
                let blind = age + silent > 7;
                assert_eq!((node.is_blind(), report.verdict == Verdict::Blind), (blind, blind), "{silent}");
                assert_eq!(report.errors.sensor, u32::from(silent > 0));
                let seeing = (silent + 1).min(8 - age) as usize;
                assert_eq!(board.air.sent.len(), before.0 + seeing * frames, "no frame while blind");
                assert_eq!(board.motors.commands.len(), before.1 + seeing, "no command while blind");
                assert_eq!(
                    board.motors.stops,
                    before.2 + (silent + 1) - seeing as u32,
                    "it stops while blind"
                );
                if blind {
                    assert_eq!(report.command, [0.0, 0.0]);
                }
            }
        }
    }
    limit(open_link::<Exact>());
    limit(open_link::<Dot154>());
    limit(open_link::<Esb32>());
    limit(open_link::<P2p57>());
}

#[test]
fn robots_that_never_sensed_send_nothing_and_stop() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    board.sensor.0 = Err(());
    for tick in 0..50 {
        assert_eq!(board.run(&mut node, tick).verdict, Verdict::Blind);
        assert!(node.exchanges_this_tick() && !node.sends_this_tick(), "it does not use its turn");
    }
    assert_eq!((board.air.sent.len(), board.motors.commands.len(), board.motors.stops), (0, 0, 50));
    assert_eq!(*node.agent().state(), REST, "it stays at rest");
    board.sensor.0 = Ok(Measurement::now(FLYING));
    board.run(&mut node, 50);
    assert_eq!((board.air.sent.len(), board.motors.commands.len(), board.motors.stops), (1, 1, 50));
}

#[test]
fn failed_stops_are_counted() {
    let (mut node, mut board) = (quiet_robot(1), Board::new());
    (board.sensor.0, board.motors.broken) = (Err(()), true);
    assert_eq!(board.run(&mut node, 0).errors.actuator, 1);
}

#[test]
fn blind_robots_do_not_learn() {
    let mut node = robot(1, Learning::paper(1.0));
    // Slow enough for the command not to be clamped, where nothing is learned.
    let beside = Motion { position: [1.0, 0.5], velocity: [0.3, -0.2] };
    let mut tick = 0;
    let mut learns = |sensed| {
        node.sense(tick, sensed);
        let mut heard = neighbor_message(&mut seeded(tick.into()), &node.config().agent.model, 2, beside);
        heard.tick = tick;
        node.takes(&heard).unwrap();
        let before = *node.agent().wide();
        node.finish();
        tick += 1;
        *node.agent().wide() != before
    };
    assert!(!learns(None), "no state was sensed yet");
    assert!(learns(seen(REST)));
    for age in 1..=2 * MAX_STATE_AGE_TICKS {
        assert_eq!(learns(None), age <= MAX_STATE_AGE_TICKS, "age {age}");
    }
    assert!(learns(seen(REST)));
}

#[test]
fn assigned_turns_are_used() {
    let behavior = offline().with_exchange_interval(5);
    let mut node = robot_on(7, behavior, open_link::<Exact>());
    for (given, residue) in [(None, 2), (Some(0), 0), (Some(4), 4), (Some(8), 3)] {
        if let Some(turn) = given {
            node.set_exchange_phase(turn);
        }
        for _ in 0..10 {
            let tick = node.tick() + 1;
            node.sense(tick, seen(REST));
            assert_eq!(
                (node.exchanges_this_tick(), node.sends_this_tick()),
                (tick % 5 == residue, tick % 5 == residue)
            );
        }
    }
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn states_are_extrapolated_over_skipped_ticks(
        age in 0..40_u32,
        skips in prop::collection::vec(1..6_u32, 1..20),
    ) {
        let mut node = quiet_robot(1);
        node.sense(100, Some(Measurement { state: FLYING, age }));
        let mut passed = 0;
        for skip in skips {
            passed += skip;
            node.sense(100 + passed, None);
            prop_assert_eq!(*node.agent().state(), flown((age + passed).min(MAX_STATE_AGE_TICKS)));
            prop_assert_eq!(node.is_blind(), age + passed > MAX_STATE_AGE_TICKS);
        }
    }
}
