//! Benchmarks on one thread: gradients of a training batch and episodes of whole swarms.
//!
//! `cargo bench -p host-sim`. Times depend on the machine and its load; compare ratios within one
//! run.

use std::{hint::black_box, time::Instant};

use host_sim::{
    flight::Start,
    lineup::{Controller, EXPERT, Lineup, OFFLINE, ONLINE},
    recipe::RecipeName,
    seeds::{Purpose, generator},
    train::{
        dataset::Batch,
        gradient::{Loss, gradient},
        net::{Net, Places},
    },
    world::{Condition, flock::Flock},
};
use rand::RngExt as _;
use wdgnn_core::{
    filter::scale::Scale,
    model::{activation::Activation, shape::Dimensions},
};

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

/// Minimum over a few runs, the least disturbed one.
fn seconds(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    };
    (0..5).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

fn gradients() {
    let size = Dimensions { features: 6, layers: 1, taps: 4, hidden: 32, outputs: 2 };
    let random = &mut generator(1, Purpose::Weights, 0);
    let weights: Vec<f32> = (0..Places::of(&size).count()).map(|_| random.random_range(-0.3..0.3)).collect();
    let taps: Vec<f32> = (0..SAMPLES * size.inputs(0)).map(|_| random.random_range(-1.0..1.0)).collect();
    let labels: Vec<[f32; 2]> = (0..SAMPLES).map(|_| [random.random_range(-1.0..1.0), 0.0]).collect();
    let batch =
        Batch::Samples(taps.chunks(size.inputs(0)).zip(labels.iter().map(|label| &label[..])).collect());
    let loss = Loss { clamp: Some(10.0), huber: 5.0 };
    let mut into = vec![0.0; weights.len()];
    let time = seconds(|| {
        let net = Net::new(size, Activation::Tanh, black_box(&weights));
        gradient(&net, Scale::Mean, &batch, &loss, &mut into);
    });
    println!("gradient of {SAMPLES} samples, WD-GNN, one thread: {time:.3} s");
}

fn flights(robots: usize) {
    let condition = Condition { robots, ..Condition::PAPER };
    let lineup = Lineup::<Flock>::shipped(RecipeName::Ours).expect("the shipped models");
    let task = lineup.task().expect("they are for flocking");
    let start =
        Start::draw(&lineup.world, &condition, &mut generator(1, Purpose::Testing, 0)).expect("a start");
    for name in [EXPERT, OFFLINE, ONLINE] {
        let controller = Controller::named(name).expect("it is there");
        let time = seconds(|| {
            let mut swarm = lineup.swarm(&controller, &start, 0).expect("a swarm");
            black_box(start.fly_alone(&task, swarm.as_mut()).expect("a flight"));
        });
        let steps = robots as f64 * f64::from(condition.ticks) / time;
        println!(
            "flight of {robots} robots, {}, one thread: {:.0} thousand robot-steps/s",
            controller.title,
            steps / 1e3
        );
    }
}
