//! Bodies: dynamics between the command of a robot and its motion.
//!
//! [`BodyConfig`] is the value of `--body`: a kind and the ranges of its settings. Each episode
//! draws a [`Body`] from them. [`Bodies`] moves the robots of one swarm.

pub mod config;
pub mod differential;
pub mod point;
pub mod quadrotor;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use wdgnn_core::tasks::flocking::Motion;

pub use self::config::{BodyConfig, BodyKind};
use self::{differential::Differential, point::Point, quadrotor::Quadrotor};

/// Settings of a body, equal for all robots of a swarm except the asymmetry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Kind of the body.
    pub kind: BodyKind,
    /// Mass relative to the one that the robot's own controller assumes.
    pub mass: f32,
    /// Time scale of motors and attitude, relative to the body's own.
    pub lag: f32,
    /// Factor of the commands or, for a differential drive, of the wheel speeds.
    pub gain: f32,
    /// Ticks between a command and its effect.
    pub delay: u32,
    /// Standard deviation of the noise on sensed velocities in m/s.
    pub noise: f32,
    /// Largest relative difference of a robot's two axes or wheels.
    pub asymmetry: f32,
}

/// Inputs of a body in a tick.
#[derive(Clone, Copy, Debug)]
pub struct Input<const D: usize> {
    /// Commanded acceleration in m/s².
    pub command: [f32; D],
    /// Acceleration by gusts in m/s².
    pub gust: [f32; D],
    /// Share of its speed that a robot loses per second, in addition to the body's own drag.
    pub drag: f32,
    /// Length of a tick in seconds.
    pub period: f32,
    /// Relative deviation of the first axis or wheel, and its opposite of the second.
    pub skew: f32,
}

/// Dynamics of one robot's body.
pub trait Dynamics<const D: usize> {
    /// Internal state of a robot.
    type State;

    /// Returns the internal state at the start of an episode.
    fn begin(&self, motion: &Motion<D>) -> Self::State;

    /// Moves a robot for one tick.
    fn step(&self, state: &mut Self::State, motion: &mut Motion<D>, input: &Input<D>);
}

/// Bodies of the robots of one swarm.
#[derive(Clone, Debug)]
pub struct Bodies {
    fleet: Fleet,
    skew: Vec<f32>,
}

/// Body and its internal state in each robot.
#[derive(Clone, Debug)]
enum Fleet {
    Point(Point),
    Quadrotor(Quadrotor, Vec<quadrotor::State>),
    Differential(Differential, Vec<differential::State>),
}

impl Bodies {
    /// Creates the bodies of a swarm and draws each robot's asymmetry.
    pub fn new<const D: usize>(body: &Body, motions: &[Motion<D>], random: &mut ChaCha8Rng) -> Self {
        let fleet = match body.kind {
            BodyKind::Point => Fleet::Point(Point::new(body)),
            BodyKind::Quadrotor => {
                let quadrotor = Quadrotor::new(body);
                let states = motions.iter().map(|motion| quadrotor.begin(&planar(motion)));
                Fleet::Quadrotor(quadrotor, states.collect())
            }
            BodyKind::Differential => {
                let drive = Differential::new(body);
                let states = motions.iter().map(|motion| drive.begin(&planar(motion)));
                Fleet::Differential(drive, states.collect())
            }
        };
        let draw = |_| body.asymmetry * random.random_range(-1.0_f32..=1.0);
        let skew = if body.asymmetry > 0.0 { (0..motions.len()).map(draw).collect() } else { Vec::new() };
        Self { fleet, skew }
    }

    /// Moves a robot for one tick.
    pub fn step<const D: usize>(&mut self, robot: usize, motion: &mut Motion<D>, input: &Input<D>) {
        let input = self.with_skew(robot, input);
        match &mut self.fleet {
            Fleet::Point(point) => point.step(&mut (), motion, &input),
            // Robots in space are point masses.
            _ if D != 2 => {}
            Fleet::Quadrotor(body, states) => step_in_plane(body, &mut states[robot], motion, &input),
            Fleet::Differential(body, states) => step_in_plane(body, &mut states[robot], motion, &input),
        }
    }

    /// Goes back over a robot's step from this state; a differential drive passes no gradient.
    pub fn step_back<const D: usize>(
        &self, robot: usize, motion: &Motion<D>, input: &Input<D>, grad: &mut BodyGrad<D>,
    ) {
        let input = self.with_skew(robot, input);
        match &self.fleet {
            Fleet::Quadrotor(body, states) if D == 2 => {
                let input = planar_input(&input);
                let mut flat = BodyGrad { state: grad.state, ..BodyGrad::of(first_two(grad.velocity)) };
                body.step_back(&states[robot], &planar(motion), &input, &mut flat);
                grad.state = flat.state;
                grad.velocity[..2].copy_from_slice(&flat.velocity);
                grad.command[..2].copy_from_slice(&flat.command);
            }
            Fleet::Point(point) => point.step_back(&input, grad),
            _ => {}
        }
    }

    fn with_skew<const D: usize>(&self, robot: usize, input: &Input<D>) -> Input<D> {
        Input { skew: self.skew.get(robot).copied().unwrap_or_default(), ..*input }
    }
}

/// Gradient that goes back over a step of a robot's body.
#[derive(Clone, Copy, Debug)]
pub struct BodyGrad<const D: usize> {
    /// Gradient of the velocity: after the step, then before it.
    pub velocity: [f32; D],
    /// Gradient of a quadrotor's internal state: after the step, then before it.
    pub state: quadrotor::State,
    /// Gradient of the command.
    pub command: [f32; D],
}

impl<const D: usize> BodyGrad<D> {
    /// Starts with the gradient of the velocity after the step.
    pub fn of(velocity: [f32; D]) -> Self {
        Self { velocity, state: quadrotor::State::default(), command: [0.0; D] }
    }
}

/// Moves a body that lives in the plane.
fn step_in_plane<B: Dynamics<2>, const D: usize>(
    body: &B, state: &mut B::State, motion: &mut Motion<D>, input: &Input<D>,
) {
    let mut flat = planar(motion);
    body.step(state, &mut flat, &planar_input(input));
    motion.position[..2].copy_from_slice(&flat.position);
    motion.velocity[..2].copy_from_slice(&flat.velocity);
}

fn planar<const D: usize>(motion: &Motion<D>) -> Motion<2> {
    Motion { position: first_two(motion.position), velocity: first_two(motion.velocity) }
}

fn planar_input<const D: usize>(input: &Input<D>) -> Input<2> {
    let Input { command, gust, drag, period, skew } = *input;
    Input { command: first_two(command), gust: first_two(gust), drag, period, skew }
}

fn first_two<const D: usize>(vector: [f32; D]) -> [f32; 2] {
    [vector[0], vector[1]]
}
