//! Nanoseconds per step of a tick on this machine: `cargo bench -p wdgnn-robot`.
//!
//! F = 6, K = 3, G = 32, O = 2, one layer, eight neighbors, the best of many rounds. The ratios matter: cycles on a
//! microcontroller are measured there.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use wdgnn_core::{
    agent::Config,
    filter::scale::Scale,
    math,
    model::{
        GradientMetric, Model,
        activation::Activation,
        deep::{EndOfStack, Layer},
        folded::Folded,
        network::Network,
        unfolded::Unfolded,
    },
    online::Learning,
    tasks::flocking::{Flocking, Motion},
};
use wdgnn_link::{encoding::exact::Exact, link::Link};
use wdgnn_robot::{config::RobotConfig, ports::Measurement, robot::Robot};

const NEIGHBORS: u16 = 8;
const ROUNDS: u32 = 200;
const CALLS: u32 = 500;

type Deep<'w> = Layer<'w, 4, 6, 32, EndOfStack>;
type Net<'w> = Network<'w, 6, 4, 32, 2, Deep<'w>>;

/// Nanoseconds per call in the fastest round.
fn nanoseconds<R>(mut call: impl FnMut() -> R) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() * 1.0e9 / f64::from(CALLS)
}

fn motion(id: u16) -> Motion {
    let id = f32::from(id);
    Motion { position: [id, 0.5 * id], velocity: [0.1 * id, 1.0 - id] }
}

/// Times of all steps of a robot with this model.
fn steps<M>(model: M) -> Vec<(&'static str, f64)>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
{
    let start = |id| -> Robot<RobotConfig<M, Flocking>, Link<Exact>> {
        let config = RobotConfig::new(Config::new(model, Flocking::DEFAULT, Learning::paper(1.0)));
        Robot::new(id, config, Link::open(0), motion(id))
    };
    let mut buffer = vec![0; start(0).max_frame_len()];
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for id in 1..=NEIGHBORS {
        let length = start(id).send(0, &mut buffer).expect("the buffer is long enough");
        frames.push(buffer[..length].to_vec());
    }
    let mut robot = start(0);
    robot.sense(0, Some(Measurement::now(motion(0))));
    for frame in &frames {
        robot.receive(&mut frame.clone()).expect("a valid frame");
    }
    robot.end_receive();
    let (mut sender, mut receiver) = (start(0), start(0));
    let mut sequence = 0_u32;
    vec![
        (
            "send",
            nanoseconds(|| {
                let length = sender.send(0, &mut buffer);
                black_box(&mut buffer);
                length
            }),
        ),
        (
            "receive a frame",
            nanoseconds(|| {
                // Bytes 17 to 20 are the sequence number. Every frame is new.
                sequence += 1;
                frames[0][17..21].copy_from_slice(&sequence.to_le_bytes());
                black_box(&mut receiver).receive(&mut frames[0]).expect("a valid frame");
            }),
        ),
        ("decide", nanoseconds(|| black_box(&mut robot).decide())),
        ("learn", nanoseconds(|| black_box(&mut robot).learn())),
    ]
}

fn main() {
    let numbers: Vec<f32> = (0..Net::WEIGHT_COUNT).map(|index| 0.01 * (index % 17) as f32 - 0.08).collect();
    let network =
        Net::from_numbers(&numbers, Activation::Tanh, Scale::Mean).expect("the number of weights is right");
    let folded = steps(Folded::new(network, GradientMetric::Paper));
    let unfolded = steps(Unfolded::new(network));
    println!("{:<16}{:>12}{:>12}{:>10}", "ns per call", "folded", "unfolded", "ratio");
    for ((step, folded), (_, unfolded)) in folded.into_iter().zip(unfolded) {
        println!("{step:<16}{folded:>12.1}{unfolded:>12.1}{:>10.1}", unfolded / folded);
    }
    let arguments: Vec<f32> = (0..1024).map(|index| 0.01 * index as f32 - 5.0).collect();
    let each = |function: fn(f32) -> f32| {
        let largest = || arguments.iter().map(|x| black_box(function(*x))).fold(0.0, f32::max);
        nanoseconds(largest) / arguments.len() as f64
    };
    let (ours, libm) = (each(math::tanh), each(math::tanh_libm));
    println!("{:<16}{ours:>12.1}{libm:>12.1}{:>10.1}  (the second column is libm's)", "tanh", libm / ours);
}
