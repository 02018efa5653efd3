//! What the host does all day, on one thread: gradients of a training batch, and flights of whole swarms.
//!
//! `cargo bench -p host-sim`. Times depend on the machine and its load; compare ratios within one run.

use std::{hint::black_box, time::Instant};

use host_sim::{
    controllers::{Controller, Fleet},
    flight::fly,
    seeds::{Purpose, generator},
    shapes::One,
    start::{Condition, start},
    train::{
        dataset::Batch,
        gradient::{Loss, gradient, numbers},
        recipe::RecipeName,
    },
};
use rand::RngExt as _;
use wdgnn_core::{activation::Activation, taps::Chain, taps::Scale};

/// A batch of the paper's size: 20 trajectories of 200 ticks and 50 robots.
const SAMPLES: usize = 200_000;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        gradients();
        for robots in [50, 500] {
            flights(robots);
        }
    });
}

/// The shortest of a few runs: the one that was disturbed least.
fn seconds(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    };
    (0..5).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

fn gradients() {
    let random = &mut generator(1, Purpose::Weights, 0);
    let weights: Vec<f32> = (0..numbers::<One, 4, 32>()).map(|_| random.random_range(-0.3..0.3)).collect();
    let samples = (0..SAMPLES)
        .map(|_| {
            let chain = Chain([[0.0; 6]; 4].map(|tap| tap.map(|_| random.random_range(-1.0..1.0))));
            (chain, [random.random_range(-1.0..1.0), 0.0])
        })
        .collect();
    let batch = Batch::Samples(samples);
    let loss = Loss { clamp: Some(10.0), huber: 5.0 };
    let mut into = vec![0.0; weights.len()];
    let time = seconds(|| {
        gradient::<One, 4, 32>(black_box(&weights), Activation::Tanh, Scale::Mean, &batch, &loss, &mut into);
    });
    println!("gradient of {SAMPLES} samples, WD-GNN, one thread: {time:.3} s");
}

fn flights(robots: usize) {
    let condition = Condition { robots, ..Condition::PAPER };
    let begin = start(&condition, &mut generator(1, Purpose::Testing, 0)).expect("a start");
    let fleet = Fleet::shipped(RecipeName::Ours).expect("the shipped models");
    for controller in [Controller::Expert, Controller::WdGnn, Controller::WdGnnOnline] {
        let time = seconds(|| {
            let mut pilot = fleet.pilot(controller, &begin, 0).expect("a pilot");
            black_box(fly(&condition, &begin, 0.01, pilot.as_mut(), &mut ()));
        });
        let steps = robots as f64 * f64::from(condition.ticks) / time;
        println!(
            "flight of {robots} robots, {}, one thread: {:.0} thousand robot-steps/s",
            controller.title(),
            steps / 1e3
        );
    }
}
