//! A small flock that flies the flocking task with a network made by hand: velocities are damped, the rest is random.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::{
    Network,
    filter::{Chain, NoChain, Stacked, scale::Scale},
    message::Beacon,
    model::{
        Metric, Model,
        activation::Activation,
        deep::{Layer, Top},
        folded::Folded,
        unfolded::Unfolded,
    },
    online::Learning,
    tasks::flocking::{Flocking, Motion},
    tensor::Tensor,
};
use wdgnn_link::encoding::{Codec, exact::Exact};
use wdgnn_robot::{
    config::Behaviour,
    node::{BeaconOf, Node, Settings},
};

use super::{random_numbers, seeded};

/// Hidden features: more than one block of 16, and a rest.
pub const G: usize = 20;

type Deep<'w> = Layer<'w, 4, 6, G, Top>;
pub type Net<'w> = Network<'w, 6, 4, G, 2, Deep<'w>>;
pub type FoldedNet<'w> = Folded<'w, 6, 4, G, 2, Deep<'w>>;
pub type UnfoldedNet<'w> = Unfolded<'w, 6, 4, G, 2, Deep<'w>>;
pub type Robot<'w> = Node<FoldedNet<'w>, Flocking, 16>;
pub type UnfoldedRobot<'w> = Node<UnfoldedNet<'w>, Flocking, 16>;

/// A robot on any link profile.
pub type RobotOn<'w, P> = Node<FoldedNet<'w>, Flocking, 16, P>;

/// The name of the model in frames.
pub const MODEL: u32 = 0x1234_5678;

/// The task without its separation guard: commands are the network's, clamped.
pub const TASK: Flocking = Flocking { separation: 0.0, ..Flocking::DEFAULT };

/// Weights of a network that damps velocities: `C ≈ −0.5` from a velocity feature to its own axis.
pub fn weights(seed: u64) -> Vec<f32> {
    let mut rng = seeded(seed);
    let mut numbers = random_numbers(&mut rng, Net::NUMBERS, 0.05);
    numbers[..3].copy_from_slice(&[0.9, 1.1, 0.01]);
    let readout_start = Net::NUMBERS - 2 - 2 * G;
    let readout = random_numbers(&mut rng, 2 * G, 0.5);
    numbers[readout_start..readout_start + 2 * G].copy_from_slice(&readout);
    let wide_start = 3 + (4 * 6 + 1) * G;
    for axis in 0..2 {
        let squared: f32 = (0..G).map(|g| readout[2 * g + axis] * readout[2 * g + axis]).sum();
        for g in 0..G {
            numbers[wide_start + axis * G + g] -= 0.5 * readout[2 * g + axis] / squared;
        }
    }
    numbers
}

pub fn network(weights: &[f32]) -> Net<'_> {
    Net::over(weights, Activation::Tanh, Scale::Mean).unwrap()
}

pub fn robot(id: u16, network: Net<'_>, learning: Learning) -> Robot<'_> {
    Node::new(settings(id, Folded::new(network, learning.metric), Behaviour::new(learning), Exact))
}

/// At rest, with the task and the checksum of this file.
pub fn settings<M, P>(id: u16, model: M, behaviour: Behaviour, codec: P) -> Settings<M, Flocking, P> {
    Settings { id, model, task: TASK, checksum: MODEL, behaviour, state: REST, codec }
}

/// A robot at rest on any link profile.
pub fn robot_on<P: Codec>(id: u16, weights: &[f32], behaviour: Behaviour, codec: P) -> RobotOn<'_, P> {
    let model = Folded::new(network(weights), behaviour.learning.metric);
    Node::new(settings(id, model, behaviour, codec))
}

/// All frames of a robot's beacon.
pub fn frames<P: Codec>(robot: &mut RobotOn<'_, P>) -> Vec<Vec<u8>> {
    let frame = |index| {
        let mut frame = vec![0; RobotOn::<P>::frame_bytes()];
        let length = robot.speak_frame(index, &mut frame).expect("the buffer is long enough");
        frame.truncate(length);
        frame
    };
    (0..P::FRAMES).map(frame).collect()
}

/// The rest of a robot's tick, once it has heard.
pub fn conclude<P: Codec>(robot: &mut RobotOn<'_, P>) {
    robot.settle();
    let features = robot.observe();
    robot.aggregate();
    robot.infer(&features);
    robot.guard();
    robot.learn();
    robot.agree();
}

pub fn unfolded_robot(id: u16, network: Net<'_>, learning: Learning) -> UnfoldedRobot<'_> {
    Node::new(settings(id, Unfolded::new(network), Behaviour::new(learning), Exact))
}

pub const REST: Motion = Motion { position: [0.0; 2], velocity: [0.0; 2] };

/// An offline robot for tests of frames and ticks.
pub fn quiet_robot(id: u16, weights: &[f32]) -> Robot<'_> {
    robot(id, network(weights), Learning { metric: Metric::Paper, ..Learning::OFF })
}

/// Robots about 1 m apart, at up to 3 m/s per axis.
pub fn start(rng: &mut ChaCha8Rng, robots: usize) -> Vec<Motion> {
    let columns = robots.isqrt() + 1;
    let motion = |robot: usize| Motion {
        position: [
            (robot % columns) as f32 + rng.random_range(-0.3..0.3),
            (robot / columns) as f32 + rng.random_range(-0.3..0.3),
        ],
        velocity: [rng.random_range(-3.0..3.0), rng.random_range(-3.0..3.0)],
    };
    (0..robots).map(motion).collect()
}

/// A beacon of a robot in mid-flight: random taps, offline parameters.
pub fn random_beacon<M>(rng: &mut ChaCha8Rng, model: &M, sender: u16, state: Motion) -> BeaconOf<M, Flocking>
where
    M: Model<Chains = Stacked<4, 6, NoChain>>,
{
    let mut chain = Chain::ZERO;
    chain.numbers_mut().copy_from_slice(&random_numbers(rng, 24, 2.0));
    let chains = Stacked { chain, above: NoChain };
    Beacon { sender, boot: 0, sequence: 0, degree: 3, state, chains, wide: *model.offline() }
}

/// Who is within `radius` of whom.
pub fn links(motions: &[Motion], radius: f32) -> Vec<Vec<bool>> {
    let near = |a: &Motion, b: &Motion| {
        let (dx, dy) = (a.position[0] - b.position[0], a.position[1] - b.position[1]);
        !core::ptr::eq(a, b) && dx * dx + dy * dy < radius * radius
    };
    motions.iter().map(|a| motions.iter().map(|b| near(a, b)).collect()).collect()
}

/// One control period of flight.
pub fn fly(motion: &mut Motion, command: [f32; 2]) {
    for (axis, u) in command.into_iter().enumerate() {
        motion.velocity[axis] += TASK.period * u;
        motion.position[axis] += TASK.period * motion.velocity[axis];
    }
}
