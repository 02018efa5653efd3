//! Tests of episodes against the simulator, and of disturbances.

use wdgnn_sim::{
    controllers::EvalConfig,
    episode::Episode,
    recipe::RecipeName,
    seeds::{Purpose, generator},
    world::flock::{Flock, dynamics::ModelMismatch},
};

use super::*;
use crate::models;

const CONDITION: Scenario = Scenario { robots: 20, radius: 2.0, speed: 3.0, ticks: 60 };

fn flight(controller: Controller) -> Flight<Flock> {
    Flight::new(models::flocking().unwrap(), CONDITION, 1, controller).unwrap()
}

/// Scores of a simulated episode with an actuator delay, by name of the controller.
fn simulated(name: &str, delay: u32) -> Vec<f64> {
    let eval = EvalConfig::shipped(RecipeName::Through).unwrap();
    let world = Flock::with(ModelMismatch { delay, ..ModelMismatch::default() });
    let start = Episode::draw(&world, &CONDITION, &mut generator(1, Purpose::Testing, 0)).unwrap();
    let controller = wdgnn_sim::controllers::Controller::named(name).unwrap();
    let mut swarm = eval.swarm(&controller, &start, 0).unwrap();
    start.run_unobserved(&eval.task().unwrap(), swarm.as_mut()).unwrap().score
}

#[test]
fn episodes_equal_the_simulators_bit_for_bit_also_with_actuator_delay() {
    for (controller, name) in [
        (Controller::Offline, "wd-gnn"),
        (Controller::Online, "wd-gnn-online"),
        (Controller::Expert, "expert"),
        (Controller::Averaging, "averaging-1-hop"),
    ] {
        for delay in [0, 4] {
            let mut flight = flight(controller);
            let knobs = Knobs { delay, ..Knobs::default() };
            let mut scores = Vec::new();
            for _tick in 0..CONDITION.ticks {
                scores.push(flight.figures().score);
                flight.step(&knobs, 1).unwrap();
            }
            assert_eq!(scores, simulated(name, delay), "{name}, delay {delay}");
        }
    }
}

#[test]
fn online_learning_damps_oscillation_under_actuator_delay() {
    let late = |controller| {
        let mut flight = flight(controller);
        flight.step(&Knobs { delay: 4, ..Knobs::default() }, 400).unwrap();
        flight.figures()
    };
    let (offline, online) = (late(Controller::Offline), late(Controller::Online));
    assert!(online.score < 0.1 * offline.score, "{offline:?} {online:?}");
    assert!(offline.gain == 1.0 && online.gain < 0.9, "{online:?}");
}

#[test]
fn a_removed_robot_is_gone_and_the_others_continue() {
    for controller in [Controller::Offline, Controller::Expert, Controller::Averaging] {
        let mut flight = flight(controller);
        let knobs = Knobs { delay: 3, spread: 0.3, noise: 0.1, loss: 0.2, ..Knobs::default() };
        flight.step(&knobs, 5).unwrap();
        flight.kill(3);
        flight.kill(3);
        flight.step(&knobs, 5).unwrap();
        let mut numbers = Vec::new();
        flight.show(&mut numbers);
        let ids: Vec<f32> = numbers.iter().skip(SHOWN - 1).step_by(SHOWN).copied().collect();
        assert_eq!(ids.len(), 19);
        assert!(!ids.contains(&3.0) && numbers.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_partition_makes_two_groups_and_ends() {
    let mut flight = flight(Controller::Offline);
    assert_eq!(flight.figures().groups, 1.0);
    let east = flight.eastern();
    assert_eq!(east.len(), 10);
    flight.cut(&east);
    assert!(flight.figures().groups >= 2.0);
    flight.cut(&[]);
    assert_eq!(flight.figures().groups, 1.0);
}

#[test]
fn robust_trust_resists_liars() {
    let score = |controller| {
        let mut flight = flight(controller);
        (0..4).for_each(|id| flight.set_liar(5 * id, true));
        flight.step(&Knobs::default(), 200).unwrap();
        flight.figures().score
    };
    let (trusting, wary) = (score(Controller::Online), score(Controller::Wary));
    assert!(wary < 0.5 * trusting, "{trusting} {wary}");
}

#[test]
fn a_restarted_swarm_keeps_its_learned_parameters() {
    let mut flight = flight(Controller::Online);
    flight.step(&Knobs { delay: 4, ..Knobs::default() }, 300).unwrap();
    let gain = flight.figures().gain;
    flight.land(CONDITION, 2).unwrap();
    assert_eq!(flight.figures().gain, gain);
    assert_eq!(flight.figures().seconds, 0.0);
}
