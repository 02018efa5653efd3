//! Parameter mixing: order of mixing and ridge, the influence of a liar, and the reported degree.

use crate::common::prelude::*;

const PASSING: Motion = Motion { position: [1.0, 0.5], velocity: [2.0, -1.0] };

/// Parameters after a tick, starting `off` times from the offline ones, with two neighbors that have others.
fn after_a_tick(rule: Learning, off: f32) -> Vec<f32> {
    let mut node: PlainRobot = robot(1, rule);
    let offline = *node.config().agent.model.offline();
    let mut own = offline;
    own.numbers_mut().iter_mut().for_each(|w| *w *= off);
    assert!(node.agent_mut().set_wide(&own));
    node.sense(0, seen(REST));
    let mut rng = seeded(5);
    for sender in [2, 3] {
        let mut heard = neighbor_message(&mut rng, &node.config().agent.model, sender, PASSING);
        let other = random_numbers(&mut rng, offline.numbers().len(), 1.0);
        heard.wide.numbers_mut().copy_from_slice(&other);
        node.takes(&heard).unwrap();
    }
    node.finish();
    node.agent().wide().numbers().to_vec()
}

#[test]
fn the_ridge_acts_on_the_robot_s_own_parameters_before_mixing() {
    const RIDGE: f32 = 0.5;
    const STEP: f32 = 0.2;
    let offline = robot(1, Learning::OFF).agent().wide().numbers().to_vec();
    for mixing in [Mixing::Alone, Mixing::Uniform, Mixing::Metropolis] {
        for off in [1.0, 1.5, 0.25, -1.0] {
            let rule = Learning { mixing, ..Learning::paper(STEP) };
            let free = after_a_tick(rule, off);
            let pulled = after_a_tick(Learning { ridge: RIDGE, ..rule }, off);
            for ((free, pulled), offline) in free.iter().zip(&pulled).zip(&offline) {
                let expected = -STEP * RIDGE * (off - 1.0) * offline;
                // A few roundings of numbers near 1.
                assert!(
                    (pulled - free - expected).abs() < 1.0e-6,
                    "{mixing:?}, {off}: {} {expected}",
                    pulled - free
                );
                assert!(off != 1.0 || pulled == free, "no pull at the offline parameters");
            }
        }
    }
}

#[test]
fn a_liar_moves_a_robot_by_equal_shares_per_tick_at_any_interval() {
    for interval in 1..=10 {
        // Learning is on, with a negligible step.
        let rule = Learning::paper(1.0e-20);
        let behavior = config(rule).with_exchange_interval(interval).robust();
        let mut node = robot_on(1, behavior, open_link::<Exact>());
        let offline = *node.config().agent.model.offline();
        node.sense(0, seen(REST));
        let mut lie = neighbor_message(&mut seeded(3), &node.config().agent.model, 2, PASSING);
        // Just inside the plausible ball of 30 % of the norm.
        lie.wide.numbers_mut()[0] += 0.29 * offline.norm();
        node.takes(&lie).unwrap();
        node.finish();
        let moved = node.agent().wide().distance(&offline) / offline.norm();
        // Half of the clipped difference, as the mean of two robots.
        let expected = 0.5 * 0.02 * interval as f32;
        assert!((moved - expected).abs() < 1.0e-5, "every {interval}: {moved} instead of {expected}");
    }
}

#[test]
fn the_reported_degree_counts_trusted_neighbors() {
    const LIES_FROM: u32 = 30;
    let behavior = with_probation(FlockConfig { hold_ticks: 5, ..offline() }, 3);
    let mut listener = robot_on(1, behavior, open_link::<Dot154>());
    let mut friend = robot_on(2, behavior, open_link::<Dot154>());
    let mut liar = robot_on(3, behavior, open_link::<Dot154>());
    let mut distrusted = 0;
    for tick in 0..60 {
        let honest = |y| Motion { position: [1.0 + tick as f32 * 0.01, y], velocity: [1.0, 0.0] };
        let lie = Motion { velocity: [0.0, 5.0], ..honest(2.0) };
        listener.sense(tick, seen(REST));
        friend.sense(tick, seen(honest(1.0)));
        liar.sense(tick, seen(if tick < LIES_FROM { honest(2.0) } else { lie }));
        for mut frame in [friend.says(), liar.says()].concat() {
            let _ = listener.receive(&mut frame);
        }
        listener.finish();
        let (counting, all) = (listener.trusted().count(), listener.neighbors().len());
        assert_eq!(usize::from(listener.message().degree), counting, "tick {tick}");
        assert!(tick >= LIES_FROM || counting == 2, "tick {tick}");
        distrusted += u32::from(counting == 1 && all == 2);
    }
    assert!(distrusted > 20, "the liar was in the table without trust for {distrusted} ticks");
}
