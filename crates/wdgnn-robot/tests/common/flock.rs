//! A flock with a network made by hand that damps velocities; all of its robots are constructed here.

use std::{collections::BTreeMap, sync::Mutex};

use super::{prelude::*, random_numbers, seeded};

/// Hidden features: one block of 16 and a remainder.
pub const G: usize = 20;

type Deep = Layer<'static, 4, 6, G, EndOfStack>;
pub type Net = Network<'static, 6, 4, G, 2, Deep>;
pub type FoldedNet = Folded<'static, 6, 4, G, 2, Deep>;
pub type UnfoldedNet = Unfolded<'static, 6, 4, G, 2, Deep>;
pub type PlainRobot = RobotOn<Link<Exact>>;
pub type UnfoldedRobot = Robot<RobotConfig<UnfoldedNet, Flocking>, Link<ExactUnfolded>>;

/// A robot on any link.
pub type RobotOn<L> = Robot<RobotConfig<FoldedNet, Flocking>, L>;

pub type FlockConfig = RobotConfig<FoldedNet, Flocking>;

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
        let mut numbers = random_numbers(&mut rng, Net::WEIGHT_COUNT, 0.05);
        numbers[..3].copy_from_slice(&[0.9, 1.1, 0.01]);
        let readout_start = Net::WEIGHT_COUNT - 2 - 2 * G;
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
    Net::from_numbers(weights, Activation::Tanh, Scale::Mean).unwrap()
}

pub fn network() -> Net {
    network_over(weights(1))
}

/// Any model and task on the encoding `exact`.
pub fn node<M, T, const N: usize>(
    id: u16, model: M, task: T, learning: Learning, state: T::State,
) -> Robot<RobotConfig<M, T>, Link<Exact>, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    Robot::new(id, RobotConfig::new(Config::new(model, task, learning)), open_link(), state)
}

/// Configuration with a learning rule.
pub fn config(learning: Learning) -> FlockConfig {
    RobotConfig::new(Config::new(Folded::new(network(), learning.metric), TASK, learning))
}

/// Configuration of a robot that does not learn.
pub fn offline() -> FlockConfig {
    config(Learning::OFF)
}

/// The configuration with robust trust after a number of plausible frames.
#[allow(clippy::large_types_passed_by_value, reason = "tests copy configurations")]
pub fn with_probation(config: FlockConfig, probation_frames: u8) -> FlockConfig {
    FlockConfig { trust: Trust::Robust(RobustConfig { probation_frames, max_tap: 1000.0 }), ..config }
}

/// A robot at rest on any link.
#[allow(clippy::large_types_passed_by_value, reason = "tests copy configurations")]
pub fn robot_on<L: TestLink>(id: u16, config: FlockConfig, link: L) -> RobotOn<L> {
    Robot::new(id, config, link, REST)
}

/// A robot with a learning rule.
pub fn robot(id: u16, learning: Learning) -> PlainRobot {
    robot_on(id, config(learning), open_link())
}

pub fn unfolded_robot(id: u16, learning: Learning) -> UnfoldedRobot {
    let agent = Config::new(Unfolded::new(network()), TASK, learning);
    Robot::new(id, RobotConfig::new(agent), open_link(), REST)
}

/// A robot that does not learn, for tests of frames and ticks.
pub fn quiet_robot(id: u16) -> PlainRobot {
    robot_on(id, offline(), open_link())
}

/// Everything that a robot keeps after it has received a frame: all but the buffer of the last message.
pub fn stored_state(robot: &impl core::fmt::Debug) -> String {
    let text = format!("{robot:?}");
    let (stored, _) = text.split_once(", received: ").expect("the buffer is the last field");
    stored.to_owned()
}

/// State that is sensed in the current tick.
#[allow(clippy::unnecessary_wraps, reason = "a sensor may have no state")]
pub fn seen<S>(state: S) -> Option<Measurement<S>> {
    Some(Measurement::now(state))
}

/// Steps of a tick that tests take together.
pub trait Tested {
    type Message;
    type Command;

    /// Receives a copy of a frame.
    fn hears(&mut self, frame: &[u8]) -> Result<(), FrameError>;

    /// Receives a whole message that was sent in its tick.
    fn takes(&mut self, message: &Self::Message) -> Result<(), FrameError>;

    /// Encodes all frames of the current message.
    fn says(&mut self) -> Vec<Vec<u8>>;

    /// Runs the rest of a tick after the last frame has been received. No actuator reports its command.
    fn finish(&mut self) -> TickResult<Self::Command>;
}

impl<M, T, L, const N: usize> Tested for Robot<RobotConfig<M, T>, L, N>
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
    L: MessageLink<T::State, M::Taps, M::Wide>,
{
    type Message = AgentMessage<M, T>;
    type Command = T::Command;

    fn hears(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        self.receive(&mut frame.to_vec())
    }

    fn takes(&mut self, message: &AgentMessage<M, T>) -> Result<(), FrameError> {
        let sequence = message.tick * self.link().frames_per_exchange();
        self.receive_decoded(message, &Reception::whole(sequence))
    }

    fn says(&mut self) -> Vec<Vec<u8>> {
        let (frames, longest) = (self.link().frames_per_exchange(), self.max_frame_len());
        let frame = |index| {
            let mut frame = vec![0; longest];
            let length = self.send(index, &mut frame).expect("the buffer is long enough");
            frame.truncate(length);
            frame
        };
        (0..frames).map(frame).collect()
    }

    fn finish(&mut self) -> TickResult<T::Command> {
        self.end_receive();
        let (command, verdict) = self.decide();
        self.set_executed_command(None);
        TickResult { output: *self.agent().unsaturated(), command, verdict, consensus: self.learn() }
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

/// A message of a robot in flight in tick 0: random taps, offline parameters.
pub fn neighbor_message<M>(
    rng: &mut ChaCha8Rng, model: &M, sender: u16, state: Motion,
) -> AgentMessage<M, Flocking>
where
    M: Model<Taps = LayerTaps<4, 6, ()>>,
{
    let mut line = DelayLine::ZERO;
    line.numbers_mut().copy_from_slice(&random_numbers(rng, 24, 2.0));
    let taps = LayerTaps { line, above: () };
    Message { sender, tick: 0, degree: 3, state, taps, wide: *model.offline() }
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
