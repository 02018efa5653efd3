//! A flock with a network made by hand that damps velocities; all of its robots are constructed here.

use std::{collections::BTreeMap, sync::Mutex};

use super::{prelude::*, random_numbers, seeded};

/// Hidden features: one block of 16 and a remainder.
pub const G: usize = 20;

type Deep = Layer<'static, 4, 6, G, Top>;
pub type Net = Network<'static, 6, 4, G, 2, Deep>;
pub type FoldedNet = Folded<'static, 6, 4, G, 2, Deep>;
pub type UnfoldedNet = Unfolded<'static, 6, 4, G, 2, Deep>;
pub type Robot = RobotOn<Exact>;
pub type UnfoldedRobot = Node<UnfoldedNet, Flocking, 16>;

/// A robot on any encoding.
pub type RobotOn<P> = Node<FoldedNet, Flocking, 16, P>;

/// Checksum of the model in frames.
pub const MODEL: u32 = 0xdead_beef;

/// Flocking without collision avoidance: commands are the clamped output of the network.
pub const TASK: Flocking = Flocking { separation: 0.0, ..Flocking::DEFAULT };

pub const REST: Motion = Motion { position: [0.0; 2], velocity: [0.0; 2] };

/// Weights of a network that damps velocities: `C ≈ −0.5` from a velocity feature to its own axis.
pub fn weights(seed: u64) -> &'static [f32] {
    static MADE: Mutex<BTreeMap<u64, &'static [f32]>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap();
    made.entry(seed).or_insert_with(|| {
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
        numbers.leak()
    })
}

/// Network over weights that live as long as the tests.
pub fn network_over(weights: &'static [f32]) -> Net {
    Net::over(weights, Activation::Tanh, Scale::Mean).unwrap()
}

pub fn network() -> Net {
    network_over(weights(1))
}

/// Any model and task on the encoding `exact`.
pub fn node<M, T, const N: usize>(
    id: u16,
    model: M,
    task: T,
    behavior: Behaviour,
    state: T::State,
) -> Node<M, T, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Output = M::Output>,
{
    Node::new(Settings { id, model, task, checksum: MODEL, behaviour: behavior, state, codec: Exact })
}

/// A robot at rest with another task or another model's checksum.
pub fn robot_with<P: Codec>(
    id: u16,
    task: Flocking,
    checksum: u32,
    behavior: Behaviour,
    codec: P,
) -> RobotOn<P> {
    let model = Folded::new(network(), behavior.learning.metric);
    Node::new(Settings { id, model, task, checksum, behaviour: behavior, state: REST, codec })
}

/// A robot at rest on any encoding.
pub fn robot_on<P: Codec>(id: u16, behavior: Behaviour, codec: P) -> RobotOn<P> {
    robot_with(id, TASK, MODEL, behavior, codec)
}

/// A robot with a learning rule.
pub fn robot(id: u16, learning: Learning) -> Robot {
    robot_on(id, Behaviour::new(learning), Exact)
}

pub fn unfolded_robot(id: u16, learning: Learning) -> UnfoldedRobot {
    node(id, Unfolded::new(network()), TASK, Behaviour::new(learning), REST)
}

/// Behavior of a robot that does not learn.
pub fn offline() -> Behaviour {
    Behaviour::new(Learning::OFF)
}

/// A robot that does not learn, for tests of frames and ticks.
pub fn quiet_robot(id: u16) -> Robot {
    robot_on(id, offline(), Exact)
}

/// State that is sensed in the current tick.
#[allow(clippy::unnecessary_wraps, reason = "a sensor may have no state")]
pub fn seen<S>(state: S) -> Option<Sensed<S>> {
    Some(Sensed::now(state))
}

/// Steps of a tick that tests take together.
pub trait Tested {
    type Output;

    /// Receives a copy of a frame.
    fn hears(&mut self, frame: &[u8]) -> Result<(), Refusal>;

    /// Encodes all frames of the current beacon.
    fn says(&mut self) -> Vec<Vec<u8>>;

    /// Runs the rest of a tick after the last frame has been received.
    fn conclude(&mut self) -> Deed<Self::Output>;
}

impl<M, T, const N: usize, P: Codec> Tested for Node<M, T, N, P>
where
    M: Model,
    T: RobotTask<Features = M::Features, Output = M::Output>,
{
    type Output = M::Output;

    fn hears(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        self.hear(&mut frame.to_vec())
    }

    fn says(&mut self) -> Vec<Vec<u8>> {
        let frame = |index| {
            let mut frame = vec![0; Self::frame_bytes()];
            let length = self.speak_frame(index, &mut frame).expect("the buffer is long enough");
            frame.truncate(length);
            frame
        };
        (0..P::FRAMES).map(frame).collect()
    }

    fn conclude(&mut self) -> Deed<M::Output> {
        self.settle();
        let features = self.observe();
        self.aggregate();
        let output = self.infer(&features);
        let (command, verdict) = self.guard();
        self.learn();
        Deed { output, command, verdict, agreement: self.agree() }
    }
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

/// A beacon of a robot in flight: random taps, offline parameters.
pub fn neighbor_beacon<M>(
    rng: &mut ChaCha8Rng,
    model: &M,
    sender: u16,
    state: Motion,
) -> BeaconOf<M, Flocking>
where
    M: Model<Chains = Stacked<4, 6, NoChain>>,
{
    let mut chain = Chain::ZERO;
    chain.numbers_mut().copy_from_slice(&random_numbers(rng, 24, 2.0));
    let chains = Stacked { chain, above: NoChain };
    Beacon { sender, boot: 0, sequence: 0, degree: 3, state, chains, wide: *model.offline() }
}

/// Adjacency matrix of all pairs closer than `radius`.
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
