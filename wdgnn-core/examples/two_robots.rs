//! Two robots exchange messages, approach one velocity and agree on their parameters.
//!
//! `cargo run -p wdgnn-core --example two_robots`

use wdgnn_core::{
    agent::{Agent, Config},
    model::shape::{OneLayer, Shape},
    neighbors::{Inbox, MAX_NEIGHBORS},
    task::Task as _,
    tasks::flocking::{Flocking, Motion},
    tensor::Tensor as _,
    weights::{Aligned, Weights},
};

/// The paper's network: 6 features, 4 taps, 32 hidden features, 2 outputs.
type Network = OneLayer<6, 4, 32, 2>;

static FILE: Aligned<[u8; 6788]> = Aligned(*include_bytes!("../../models/flocking-wd-gnn.wdgnn"));

pub fn main() {
    let weights = Weights::open(&FILE.0).expect("the file is valid");
    let model =
        <Network as Shape<Flocking>>::from_weights(&weights).expect("the dimensions are those of the file");
    let config =
        Config::new(model, Flocking::from_constants(&weights.header.task.numbers), weights.header.learning);
    let mut motions = [
        Motion { position: [0.0, 0.0], velocity: [1.0, 0.5] },
        Motion { position: [1.0, 0.0], velocity: [-1.0, 1.5] },
    ];
    let mut agents = motions.map(|motion| Agent::new(&config, motion));
    // Robot 1 starts with other parameters, as after an earlier flight.
    let mut learned = *agents[1].wide();
    learned.numbers_mut().iter_mut().for_each(|w| *w *= 1.2);
    assert!(agents[1].set_wide(&learned));

    for tick in 0..500 {
        let mut frames = Vec::new();
        for (id, agent) in (0..).zip(&mut agents) {
            agent.sense(tick, motions[usize::from(id)]);
            frames.push(postcard::to_slice(&agent.message(id), &mut [0; 512]).unwrap().to_vec());
        }
        for (id, agent) in agents.iter_mut().enumerate() {
            let mut inbox = Inbox::<_, _, MAX_NEIGHBORS>::new();
            inbox.update(postcard::from_bytes(&frames[1 - id]).unwrap()).unwrap();
            let command = agent.decide(&config, &inbox.view());
            agent.learn(&config, &inbox.view());
            for (axis, u) in command.into_iter().enumerate() {
                motions[id].velocity[axis] += 0.01 * u;
                motions[id].position[axis] += 0.01 * motions[id].velocity[axis];
            }
        }
    }
    let [first, second] = motions.map(|motion| motion.velocity);
    let apart = (first[0] - second[0]).hypot(first[1] - second[1]);
    let distance = agents[0].wide().distance(agents[1].wide());
    println!("velocities {first:.3?} and {second:.3?} m/s, {apart:.2} m/s apart instead of 2.24");
    println!("parameters {distance:.2e} apart");
    assert!(apart < 0.3 && distance < 1.0e-3);
}
