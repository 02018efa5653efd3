//! Probation: neighbors that contradict themselves or report impossible values are not trusted until they have been honest.

use crate::common::prelude::*;

const DIVISOR: u32 = 5;
const PROBATION: u8 = 3;

type Dot154Robot = RobotOn<Link<Dot154>>;

/// Configuration of a robot that trusts all and reports its states as measured.
fn trusting() -> FlockConfig {
    FlockConfig { exchange_interval: DIVISOR, hold_ticks: 2 * DIVISOR, ..offline() }
}

fn behavior() -> FlockConfig {
    with_probation(trusting(), PROBATION)
}

/// Motion at 1 m/s along x.
fn honest(tick: u32) -> Motion {
    Motion { position: [1.0 + tick as f32 * 0.01, 1.0], velocity: [1.0, 0.0] }
}

/// Motion along x with a reported velocity along y.
fn contradiction(tick: u32) -> Motion {
    Motion { velocity: [0.0, 3.0], ..honest(tick) }
}

/// One exchange and the ticks up to the next: the result for each frame, and whether the listener trusts the speaker.
fn exchange<L: TestLink>(
    listener: &mut RobotOn<L>, speaker: &mut RobotOn<L>, number: u32, says: fn(u32) -> Motion,
) -> (Vec<Result<(), FrameError>>, bool) {
    let mut outcomes = Vec::new();
    for tick in number * DIVISOR..(number + 1) * DIVISOR {
        listener.sense(tick, seen(REST));
        speaker.sense(tick, seen(says(tick)));
        if speaker.exchanges_this_tick() {
            outcomes = speaker.says().iter().map(|frame| listener.hears(frame)).collect();
        }
        listener.finish();
    }
    (outcomes, listener.trusted().count() == 1)
}

fn liar<L: TestLink>(link: fn() -> L) {
    let mut listener = robot_on(1, behavior(), link());
    let mut speaker = robot_on(2, trusting(), link());
    let frames = L::FRAMES_PER_EXCHANGE as usize;
    for number in 0..10 {
        let (outcomes, counts) = exchange(&mut listener, &mut speaker, number, honest);
        assert_eq!(outcomes, vec![Ok(()); frames]);
        assert!(counts, "without proven neighbors, newcomers are trusted");
    }
    // Its velocity jumps, and then its positions do not follow from the velocity.
    for number in 10..20 {
        let (outcomes, counts) = exchange(&mut listener, &mut speaker, number, contradiction);
        assert_eq!(outcomes, vec![Err(FrameError::Implausible); frames], "exchange {number}");
        assert!(!counts, "from the first lie on");
    }
    // It is honest again: the inconsistency decays within a second, then probation starts.
    let mut honest_since = None;
    for number in 20..60 {
        let (outcomes, counts) = exchange(&mut listener, &mut speaker, number, honest);
        assert!(number > 20 || outcomes[0].is_err(), "the first honest message contradicts the last lie");
        let since = *honest_since.get_or_insert(number);
        if outcomes[0].is_err() {
            honest_since = None;
            assert!(number < 40, "exchange {number}");
        }
        let proven = number + 1 - since >= u32::from(PROBATION);
        assert_eq!(counts, outcomes[0].is_ok() && proven, "exchange {number}");
    }
}

#[test]
fn liars_lose_trust_until_they_pass_probation() {
    liar(open_link::<Dot154>);
}

#[test]
fn liars_lose_trust_with_several_frames_per_exchange() {
    liar(open_link::<Esb32>);
    liar(open_link::<P2p57>);
}

#[test]
fn lying_newcomers_are_rejected_at_their_second_message() {
    let mut listener = robot_on(1, behavior(), open_link::<Dot154>());
    let mut speaker = robot_on(2, trusting(), open_link::<Dot154>());
    for number in 0..30 {
        let (outcomes, counts) = exchange(&mut listener, &mut speaker, number, contradiction);
        assert_eq!(outcomes[0].is_err(), number >= 1, "exchange {number}");
        assert_eq!(counts, number < 1, "exchange {number}");
    }
}

#[test]
fn newcomers_pass_probation_once_a_neighbor_has() {
    let mut listener = robot_on(1, behavior(), open_link::<Dot154>());
    let mut friend = robot_on(2, trusting(), open_link::<Dot154>());
    let mut newcomer = robot_on(3, trusting(), open_link::<Dot154>());
    for number in 0..20 {
        for tick in number * DIVISOR..(number + 1) * DIVISOR {
            listener.sense(tick, seen(REST));
            friend.sense(tick, seen(honest(tick)));
            newcomer.sense(tick, seen(honest(tick)));
            if friend.exchanges_this_tick() {
                listener.receive(&mut friend.says()[0]).unwrap();
                if number >= 10 {
                    listener.receive(&mut newcomer.says()[0]).unwrap();
                }
            }
            listener.finish();
        }
        let counts = if number >= 10 + u32::from(PROBATION) { 2 } else { 1 };
        assert_eq!(listener.trusted().count(), counts, "exchange {number}");
    }
}

#[test]
fn without_probation_all_messages_are_accepted() {
    fn believed<L: TestLink>(link: fn() -> L) {
        let mut listener = robot_on(1, trusting(), link());
        let mut speaker = robot_on(2, trusting(), link());
        for number in 0..5 {
            let says = if number % 2 == 0 { honest } else { contradiction };
            let (outcomes, counts) = exchange(&mut listener, &mut speaker, number, says);
            assert_eq!((outcomes, counts), (vec![Ok(()); L::FRAMES_PER_EXCHANGE as usize], true));
        }
    }
    believed(open_link::<Exact>);
    believed(open_link::<Dot154>);
    believed(open_link::<Esb32>);
    believed(open_link::<P2p57>);
}

#[test]
fn small_lies_within_one_tick_do_not_accumulate() {
    let every_tick = |config| FlockConfig { exchange_interval: 1, ..config };
    let mut listener = robot_on(1, every_tick(behavior()), open_link::<Dot154>());
    let mut speaker = robot_on(2, every_tick(trusting()), open_link::<Dot154>());
    let tell = |listener: &mut Dot154Robot, speaker: &mut Dot154Robot, tick, state| {
        speaker.sense(tick, seen(state));
        listener.receive(&mut speaker.says()[0])
    };
    for tick in 0..10 {
        listener.sense(tick, seen(REST));
        tell(&mut listener, &mut speaker, tick, honest(tick)).unwrap();
        listener.finish();
    }
    assert_eq!(listener.trusted().count(), 1);
    // Steps of 2 cm: a single one is within sensor noise.
    listener.sense(10, seen(REST));
    let outcomes: Vec<_> = (1..=20)
        .map(|step: u8| {
            let Motion { position: [x, y], velocity } = honest(10);
            let moved = Motion { position: [x, y + 0.02 * f32::from(step)], velocity };
            tell(&mut listener, &mut speaker, 10, moved)
        })
        .collect();
    assert_eq!(outcomes[0], Ok(()));
    assert!(outcomes[1..].iter().all(|outcome| *outcome == Err(FrameError::Implausible)), "{outcomes:?}");
    listener.finish();
    assert_eq!(listener.trusted().count(), 0);
}

/// Two samples of the standard normal distribution.
fn normal(random: &mut u64) -> [f32; 2] {
    let mut uniform = || {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*random >> 40) as f64 + 0.5) / f64::from(1 << 24)
    };
    let (radius, angle) = ((-2.0 * uniform().ln()).sqrt(), std::f64::consts::TAU * uniform());
    [(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]
}

/// Share of rejected messages of a robot that circles and reports a velocity with an offset, with noisy sensors.
fn refused<L: TestLink>(link: fn() -> L, every: u32, noise: [f32; 2], off: f32) -> f64 {
    const WORDS: u32 = 1000;
    let behavior = offline().with_exchange_interval(every).robust();
    let mut total = 0;
    for seed in 1..=2 {
        let mut random = seed;
        let mut sensed = |mut state: Motion| {
            let (p, v) = (normal(&mut random), normal(&mut random));
            for axis in 0..2 {
                state.position[axis] += noise[0] * p[axis];
                state.velocity[axis] += noise[1] * v[axis];
            }
            seen(state)
        };
        let mut listener = robot_on(1, behavior, link());
        let mut speaker = robot_on(2, behavior, link());
        for tick in 0..WORDS * every {
            let angle = tick as f32 * 0.02;
            let state = Motion {
                position: [2.0 + angle.cos(), 2.0 + angle.sin()],
                velocity: [-2.0 * angle.sin(), 2.0 * angle.cos()],
            };
            listener.sense(tick, sensed(REST));
            speaker.sense(tick, sensed(state));
            if speaker.exchanges_this_tick() {
                let outcomes: Vec<_> = if off == 0.0 {
                    speaker.says().into_iter().map(|mut frame| listener.receive(&mut frame)).collect()
                } else {
                    let mut message = speaker.message();
                    message.state.velocity[0] += off;
                    message.state.velocity[1] -= off;
                    vec![listener.takes(&message)]
                };
                total += u32::from(outcomes.contains(&Err(FrameError::Implausible)));
            }
            listener.finish();
        }
    }
    f64::from(total) / f64::from(2 * WORDS)
}

#[test]
fn honest_robots_with_noisy_sensors_are_plausible() {
    // At 30 cm more honest messages are rejected; a rejected robot is trusted again with its next message.
    for (noise, most) in [
        ([0.0, 0.0], 0.0),
        ([0.02, 0.0], 0.02),
        ([0.1, 0.0], 0.02),
        ([0.0, 0.1], 0.02),
        ([0.1, 0.1], 0.02),
        ([0.3, 0.1], 0.1),
    ] {
        let shares = [
            refused(open_link::<Exact>, 1, noise, 0.0),
            refused(open_link::<Dot154>, 1, noise, 0.0),
            refused(open_link::<Dot154>, 5, noise, 0.0),
            refused(open_link::<Esb32>, 5, noise, 0.0),
        ];
        assert!(shares.iter().all(|share| *share <= most), "{noise:?}: {shares:?}");
    }
}

#[test]
fn liars_are_detected_among_noise() {
    for (noise, every, off) in
        [(0.0, 1, 0.15), (0.0, 5, 0.2), (0.05, 1, 0.25), (0.05, 5, 0.25), (0.1, 1, 0.25), (0.1, 5, 0.35)]
    {
        let share = refused(open_link::<Dot154>, every, [noise, 0.1], off);
        assert!(share >= 0.9, "{noise} m, every {every}, {off} m/s: {share}");
    }
}

#[test]
fn senders_of_impossible_taps_are_obstacles_only() {
    let mut listener = robot_on(1, behavior(), open_link::<Dot154>());
    let speaker = robot_on(2, trusting(), open_link::<Dot154>());
    let mut message = speaker.message();
    message.taps.line.numbers_mut()[7] = -1001.0;
    assert_eq!(listener.takes(&message), Err(FrameError::Implausible));
    listener.end_receive();
    assert_eq!((listener.neighbors().len(), listener.trusted().count()), (1, 0));
    let known = listener.neighbors().next().unwrap().message;
    assert!(known.taps == Taps::ZERO && known.wide == Wide::ZERO, "only the state is kept");
    let mut listener = robot_on(1, behavior(), open_link::<Dot154>());
    message.taps.line.numbers_mut()[7] = -1000.0;
    assert_eq!(listener.takes(&message), Ok(()));
    listener.end_receive();
    assert_eq!(listener.trusted().count(), 1);
}

#[test]
fn parameters_outside_the_ball_are_rejected() {
    let learning = Learning { ball: 0.3, clip: 0.02, ..Learning::OFF };
    let behavior = FlockConfig { agent: config(learning).agent, ..behavior() };
    let mut listener = robot_on(1, behavior, open_link::<Dot154>());
    let mut speaker = robot_on(2, behavior, open_link::<Dot154>());
    let offline = *speaker.agent().wide();
    let tell = |listener: &mut Dot154Robot, speaker: &mut Dot154Robot, share: f32| {
        let mut wide = offline;
        wide.numbers_mut()[0] += share * offline.norm();
        speaker.agent_mut().set_wide(&wide);
        listener.receive(&mut speaker.says()[0])
    };
    assert_eq!(tell(&mut listener, &mut speaker, 0.31), Err(FrameError::Implausible));
    assert_eq!(tell(&mut listener, &mut speaker, -0.31), Err(FrameError::Implausible));
    assert_eq!(tell(&mut listener, &mut speaker, 0.29), Ok(()));
}
