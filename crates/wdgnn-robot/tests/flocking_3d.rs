//! Flocking in space: weight file, frames and commands with three axes.

use crate::common::prelude::*;
use wdgnn_core::{
    model::shape::Shape,
    weights::{self, Header, TaskSettings},
};
use wdgnn_link::encoding::half::MAX_TAG_LEN;
use wdgnn_robot::onboard::{self, MAX_BUFFER_LEN, OnboardTask};

type Space = Flocking<3>;
/// Taps and wide parameters of robots in space.
type SpaceTaps = LayerTaps<4, 9, ()>;
type SpaceWide = Filter<4, 9, 3>;

type Spatial = <Space as OnboardTask>::Shape;

const WEIGHT_COUNT: usize = <Spatial as Shape<Space>>::WEIGHT_COUNT;
const BYTES: usize = weights::HEADER_BYTES + 4 * WEIGHT_COUNT + 4;

/// A network made by hand, u = −Σ_j (v_i − v_j): only the wide part, in the first three hidden features.
fn file() -> Box<Aligned<[u8; BYTES]>> {
    let dimensions = <Spatial as Shape<Space>>::DIMENSIONS;
    let (taps, features, hidden, outputs) =
        (dimensions.taps, dimensions.features, dimensions.hidden, dimensions.outputs);
    let header = Header {
        activation: Activation::Tanh,
        scale: Scale::Mean,
        features: features as u16,
        hidden: hidden as u16,
        outputs: outputs as u16,
        layers: dimensions.layers(),
        task: TaskSettings { task: Space::ID, numbers: Space::SUMMED_FEATURES.constants() },
        learning: Learning::paper(0.1),
        interval: 1,
        lag: 0.0,
    };
    let mut numbers = [0.0; WEIGHT_COUNT];
    numbers[1] = 1.0; // α_W
    let wide = 3 + (taps * features + 1) * hidden;
    let readout = wide + (taps * features + 1) * hidden;
    for axis in 0..outputs {
        numbers[wide + axis * hidden + axis] = -1.0;
        numbers[readout + axis * outputs + axis] = 1.0;
    }
    let mut file = Box::new(Aligned([0; BYTES]));
    assert_eq!(weights::write(&header, &numbers, &mut file.0), Ok(BYTES));
    file
}

/// Flies three robots for two seconds and returns their largest velocity difference.
fn flown<L: MessageLink<Motion<3>, SpaceTaps, SpaceWide>>(link: fn() -> L) -> f32 {
    let file = file();
    let weights = Weights::open(&file.0).unwrap();
    let mut motions = [
        Motion { position: [0.0, 0.0, 0.0], velocity: [1.0, 0.0, -1.0] },
        Motion { position: [2.0, 0.0, 0.5], velocity: [-1.0, 1.0, 0.5] },
        Motion { position: [0.0, 2.0, -0.5], velocity: [0.0, -1.0, 0.5] },
    ];
    let mut robots =
        [0, 1, 2].map(|id| onboard::robot_from_weights::<Space, _>(id, &weights, link()).unwrap());
    for tick in 0..200 {
        let frames = [0, 1, 2].map(|id: usize| {
            assert!(robots[id].sense(tick, seen(motions[id])));
            let mut frame = [0; MAX_BUFFER_LEN];
            let length = robots[id].send(0, &mut frame).unwrap();
            frame[..length].to_vec()
        });
        for (id, robot) in robots.iter_mut().enumerate() {
            for (_, frame) in frames.iter().enumerate().filter(|(sender, _)| *sender != id) {
                robot.hears(frame).unwrap();
            }
            let command = robot.finish().command;
            for (axis, u) in command.into_iter().enumerate() {
                motions[id].velocity[axis] += 0.01 * u;
                motions[id].position[axis] += 0.01 * motions[id].velocity[axis];
            }
        }
    }
    let of = |axis: usize| motions.map(|motion| motion.velocity[axis]);
    let spread = |[a, b, c]: [f32; 3]| a.max(b).max(c) - a.min(b).min(c);
    (0..3).map(|axis| spread(of(axis))).fold(0.0, f32::max)
}

#[test]
fn robots_in_space_reach_a_common_velocity_on_every_radio() {
    // The difference starts at 2 m/s and decays by e^(−3 · 2).
    for apart in [
        flown(open_link::<Exact>),
        flown(|| sealed_link::<Exact, 8>(&[7; 16])),
        flown(open_link::<Dot154>),
        flown(|| sealed_link::<Dot154, 8>(&[7; 16])),
        flown(open_link::<EspNow>),
    ] {
        assert!(apart < 0.05, "{apart} m/s apart");
    }
}

#[test]
fn frames_in_space_fit_their_radios() {
    fn length(link: &impl MessageLink<Motion<3>, SpaceTaps, SpaceWide>) -> usize {
        link.max_frame_len()
    }
    let header = 17;
    assert_eq!(length(&open_link::<Exact>()), 22 + 24 + 108 + 432);
    assert!(length(&sealed_link::<Exact, 8>(&[7; 16])) < MAX_BUFFER_LEN);
    // Six wide parameters fit, twelve do not.
    assert_eq!(length(&open_link::<Dot154>()), header + 24 + 54 + 12);
    assert!(length(&open_link::<Dot154>()) + MAX_TAG_LEN <= 116);
    assert_eq!(length(&open_link::<EspNow>()), header + 24 + 54 + 2 * 73);
    assert!(length(&open_link::<EspNow>()) + MAX_TAG_LEN <= 250);
}

#[test]
fn all_wide_parameters_arrive_in_one_turn() {
    let file = file();
    let weights = Weights::open(&file.0).unwrap();
    let robot = |id| onboard::robot_from_weights::<Space, _>(id, &weights, open_link::<Dot154>()).unwrap();
    let (mut speaker, mut listener) = (robot(1), robot(2));
    let mut said = *speaker.agent().wide();
    said.numbers_mut().iter_mut().zip(1_u8..).for_each(|(w, number)| *w = number.into());
    assert!(speaker.agent_mut().set_wide(&said));
    for tick in 0..18 {
        speaker.sense(tick, seen(Motion::REST));
        listener.sense(tick, seen(Motion::REST));
        let mut frame = [0; MAX_BUFFER_LEN];
        let length = speaker.send(0, &mut frame).unwrap();
        listener.receive(&mut frame[..length]).unwrap();
    }
    assert_eq!(listener.neighbors().next().unwrap().message.wide, said, "eighteen parts of six parameters");
}

#[test]
fn robots_in_space_reject_weights_for_the_plane() {
    let mut file = file();
    let task = 18..20;
    file.0[task].copy_from_slice(&Flocking::<2>::ID.to_le_bytes());
    let covered = BYTES - 4;
    let sum = weights::crc_32(&file.0[..covered]);
    file.0[covered..].copy_from_slice(&sum.to_le_bytes());
    let weights = Weights::open(&file.0).unwrap();
    let refused = onboard::robot_from_weights::<Space, _>(0, &weights, open_link::<Exact>()).unwrap_err();
    assert_eq!(refused.to_string(), "Task differs: 3 here, 1 in the weight file");
}
