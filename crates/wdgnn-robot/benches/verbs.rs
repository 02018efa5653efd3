//! Nanoseconds per step of a tick on this machine: `cargo bench -p wdgnn-robot`.
//!
//! F = 6, K = 3, G = 32, O = 2, one layer, eight neighbors, the best of many rounds. The ratios matter: cycles on a
//! microcontroller are measured there.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use wdgnn_core::{
    Activation, Flocking, Folded, Layer, Learning, Metric, Model, Motion, Network, Scale, Top, Unfolded, math,
};
use wdgnn_link::encoding::exact::Exact;
use wdgnn_robot::{Behavior, Node, node::Settings, ports::Sensed};

const NEIGHBORS: u16 = 8;
const ROUNDS: u32 = 200;
const CALLS: u32 = 500;

type Deep<'w> = Layer<'w, 4, 6, 32, Top>;
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

/// Times of all steps of a node with this model.
fn verbs<M>(model: M) -> Vec<(&'static str, f64)>
where
    M: Model<Features = [f32; 6], Output = [f32; 2]> + Copy,
{
    let behavior = Behavior::new(Learning::paper(1.0));
    let start = |id| {
        let (task, state) = (Flocking::DEFAULT, motion(id));
        Node::<M, Flocking, 16>::new(Settings { id, model, task, checksum: 0, behavior, state, codec: Exact })
    };
    let mut frames: Vec<Vec<u8>> = Vec::new();
    let mut buffer = vec![0; Node::<M, Flocking, 16>::FRAME_BYTES];
    for id in 1..=NEIGHBORS {
        let length = start(id).send(0, &mut buffer).expect("room for a frame");
        frames.push(buffer[..length].to_vec());
    }
    let mut node = start(0);
    node.sense(0, Some(Sensed::now(motion(0))));
    for frame in &frames {
        node.receive(&mut frame.clone()).expect("a good frame");
    }
    node.end_receive();
    let features = node.observe();
    let mut speaker = start(0);
    let mut sequence = 0_u32;
    let mut listener = start(0);
    vec![
        (
            "speak",
            nanoseconds(|| {
                let length = speaker.send(0, &mut buffer);
                black_box(&mut buffer);
                length
            }),
        ),
        (
            "hear one frame",
            nanoseconds(|| {
                // Bytes 17 to 20 are the sequence, so that every frame is new.
                sequence += 1;
                frames[0][17..21].copy_from_slice(&sequence.to_le_bytes());
                black_box(&mut listener).receive(&mut frames[0]).expect("a good frame");
            }),
        ),
        ("observe", nanoseconds(|| black_box(&mut node).observe())),
        ("aggregate", nanoseconds(|| black_box(&mut node).aggregate())),
        ("infer", nanoseconds(|| black_box(&mut node).infer(black_box(&features)))),
        ("guard", nanoseconds(|| black_box(&mut node).guard())),
        ("learn", nanoseconds(|| black_box(&mut node).learn())),
        ("agree", nanoseconds(|| black_box(&mut node).agree())),
    ]
}

fn main() {
    let numbers: Vec<f32> = (0..Net::NUMBERS).map(|index| 0.01 * (index % 17) as f32 - 0.08).collect();
    let network =
        Net::over(&numbers, Activation::Tanh, Scale::Mean).expect("as many numbers as the network has");
    let folded = verbs(Folded::new(network, Metric::Paper));
    let unfolded = verbs(Unfolded::new(network));
    println!("{:<16}{:>12}{:>12}{:>10}", "ns per call", "folded", "unfolded", "ratio");
    for ((verb, folded), (_, unfolded)) in folded.into_iter().zip(unfolded) {
        println!("{verb:<16}{folded:>12.1}{unfolded:>12.1}{:>10.1}", unfolded / folded);
    }
    let arguments: Vec<f32> = (0..1024).map(|index| 0.01 * index as f32 - 5.0).collect();
    let each = |function: fn(f32) -> f32| {
        let largest = || arguments.iter().map(|x| black_box(function(*x))).fold(0.0, f32::max);
        nanoseconds(largest) / arguments.len() as f64
    };
    let (ours, libm) = (each(math::tanh), each(math::tanh_libm));
    println!("{:<16}{ours:>12.1}{libm:>12.1}{:>10.1}  (the second column is libm's)", "tanh", libm / ours);
}
