//! Benchmarks of training.

use std::hint::black_box;

use rand::RngExt as _;
use wdgnn_core::{filter::scale::Scale, model::shape::Dimensions, tasks::flocking::Flocking};

use super::clock::shortest;
use crate::{
    error::Result,
    recipe::Architecture,
    seeds::{Purpose, generator},
    swarm::networks::Draft,
    train::{
        adam::Adam,
        bptt::{self, Bptt},
        gradient::{Loss, Sample, gradient},
        initialization,
        net::{Net, Places},
    },
    world::{Scenario, flock::Flock},
};

/// Batch of the paper's size: 20 trajectories of 200 ticks and 50 robots.
pub const SAMPLES: usize = 200_000;

/// Network size: six features, three hops, 32 hidden features, two outputs.
pub const SIZE: Dimensions = Dimensions { features: 6, layers: 1, taps: 4, hidden: 32, outputs: 2 };

/// Measures forward pass, backward pass and Adam step of a batch in seconds of processor time.
pub fn batch() -> f64 {
    let random = &mut generator(1, Purpose::Weights, 0);
    let mut weights: Vec<f32> =
        (0..Places::of(&SIZE).count()).map(|_| random.random_range(-0.3..0.3)).collect();
    let mut draw =
        |count: usize| -> Vec<f32> { (0..count).map(|_| random.random_range(-1.0..1.0)).collect() };
    let (taps, labels) = (draw(SAMPLES * SIZE.inputs(0)), draw(SAMPLES * SIZE.outputs));
    let batch: Vec<Sample<'_>> = taps.chunks(SIZE.inputs(0)).zip(labels.chunks(SIZE.outputs)).collect();
    let loss = Loss { clamp: Some(10.0), huber: 5.0 };
    let mut step = vec![0.0; weights.len()];
    let mut adam = Adam::new(weights.len());
    let time = shortest(20, || -> std::result::Result<(), ()> {
        let net = Net::new(SIZE, black_box(&weights));
        gradient(&net, &batch, &loss, &mut step);
        adam.step(&mut weights, &step, 1.0e-4);
        Ok(())
    });
    time.unwrap_or_default()
}

/// Measures forward and backward pass of an episode of 50 robots and half a second, in seconds of
/// processor time.
pub fn through() -> Result<f64> {
    let numbers = initialization::weights(&SIZE, Architecture::WdGnn, 1);
    let draft = Draft {
        numbers: &numbers,
        size: SIZE,
        scale: Scale::Closed,
        task: Flocking::MEAN_FEATURES,
        exchange: 1,
        lag: 0.0,
    };
    let draw = |_: &mut _| (Flock::<2>::default(), Scenario::PAPER);
    let mut into = vec![0.0; numbers.len()];
    let way = Bptt { flights: 4, ..Bptt::DEFAULT };
    let mut step = 0;
    let time = shortest(8, || {
        step += 1;
        bptt::gradient(&draft, &way, &draw, 1, step, &mut into).map(drop)
    });
    time.map(|time| time / way.flights as f64)
}
