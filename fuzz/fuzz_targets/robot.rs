//! A robot that hears any frames for a few ticks: its commands are finite and bounded, its parameters finite.
//!
//! The input is frames, each behind a byte that is its length; 0 ends a tick.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wdgnn_core::{
    Activation, Behaviour, Flocking, Folded, Layer, Learning, Metric, Motion, Network, Node, Scale, Top,
    compact::Dot154, node::Settings, ports::Sensed, tensor::Tensor as _,
};

type Net<'w> = Network<'w, 6, 4, 4, 2, Layer<'w, 4, 6, 4, Top>>;

/// The model of the golden frames.
const MODEL: u32 = 0xdead_beef;

fuzz_target!(|input: &[u8]| {
    let numbers = [0.1; Net::NUMBERS];
    let network = Net::over(&numbers, Activation::Tanh, Scale::Mean).unwrap();
    let model = Folded::new(network, Metric::Paper);
    let behaviour = Behaviour { hold: 2, ..Behaviour::new(Learning::paper(1.0)) };
    let mut state = Motion { position: [0.0; 2], velocity: [1.0, 0.0] };
    let task = Flocking::DEFAULT;
    let codec = Dot154::default();
    let mut node = Node::<_, _, 4, _>::new(Settings { id: 1, model, task, checksum: MODEL, behaviour, state, codec });
    let (mut rest, mut tick) = (input, 0);
    while !rest.is_empty() && tick < 20 {
        assert!(node.sense(tick, Some(Sensed::now(state))));
        while let Some((&length, frames)) = rest.split_first() {
            let (frame, behind) = frames.split_at(usize::from(length).min(frames.len()));
            rest = behind;
            if length == 0 {
                break;
            }
            let _ = node.hear(&mut frame.to_vec());
        }
        node.settle();
        let features = node.observe();
        node.aggregate();
        node.infer(&features);
        let (command, _) = node.guard();
        assert!(command.iter().all(|u| u.abs() <= task.limit), "{command:?}");
        node.learn();
        node.agree();
        assert!(node.wide().admissible());
        for (axis, u) in command.into_iter().enumerate() {
            state.velocity[axis] += task.period * u;
            state.position[axis] += task.period * state.velocity[axis];
        }
        tick += 1;
    }
});
