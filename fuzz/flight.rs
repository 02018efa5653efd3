//! A robot for fuzz targets, and properties that hold after each of its ticks.

use wdgnn_core::{
    agent::Config,
    filter::{LayerTaps, scale::Scale},
    model::{
        GradientMetric, Model as _,
        activation::Activation,
        deep::{EndOfStack, Layer},
        folded::Folded,
        network::Network,
    },
    online::Learning,
    tasks::flocking::{Flocking, Motion},
    tensor::{Filter, Tensor as _},
};
use wdgnn_link::link::MessageLink;
use wdgnn_robot::{config::RobotConfig, ports::Measurement, robot::Robot as AnyRobot};

type Deep<'w> = Layer<'w, 4, 6, 4, EndOfStack>;
type Net<'w> = Network<'w, 6, 4, 4, 2, Deep<'w>>;

/// Taps and wide parameters of a message.
pub type Taps = LayerTaps<4, 6, ()>;
pub type Wide = Filter<4, 6, 2>;

/// A small robot that flocks in the plane, with room for four neighbors.
pub type Robot<'w, L> = AnyRobot<RobotConfig<Folded<'w, 6, 4, 4, 2, Deep<'w>>, Flocking>, L, 4>;

/// The model of the golden frames.
pub const MODEL: u32 = 0xdead_beef;

/// Weights of a network.
pub fn numbers() -> [f32; Net::WEIGHT_COUNT] {
    core::array::from_fn(|index| 0.1 + 0.01 * (index % 7) as f32)
}

/// A robot at the origin with robust trust.
pub fn robot<L: MessageLink<Motion, Taps, Wide>>(numbers: &[f32], link: L) -> Robot<'_, L> {
    let network =
        Net::from_numbers(numbers, Activation::Tanh, Scale::Mean).expect("the number of weights is right");
    let learning = Learning { ridge: 0.1, cooling: 100.0, ..Learning::paper(1.0) };
    let agent =
        Config::new(Folded::new(network, GradientMetric::Paper), Flocking::<2>::MEAN_FEATURES, learning);
    AnyRobot::new(1, RobotConfig::new(agent).with_exchange_interval(2).robust(), link, Motion::REST)
}

/// Begins a tick, on a circle.
pub fn begin<L: MessageLink<Motion, Taps, Wide>>(robot: &mut Robot<'_, L>, tick: u32) {
    let angle = tick as f32 * 0.05;
    let state =
        Motion { position: [angle.cos(), angle.sin()], velocity: [-5.0 * angle.sin(), 5.0 * angle.cos()] };
    assert!(robot.sense(tick, Some(Measurement::now(state))));
    if robot.sends_this_tick() {
        for index in 0..robot.link().frames_per_exchange() {
            assert!(robot.send(index, &mut [0; 640]).is_some(), "every state of a robot can be sent");
        }
    }
}

/// Ends a tick and checks the robot. No actuator reports its command.
pub fn finish<L: MessageLink<Motion, Taps, Wide>>(robot: &mut Robot<'_, L>) {
    robot.end_receive();
    let (command, _) = robot.decide();
    robot.set_executed_command(None);
    robot.learn();
    let agent = robot.config().agent;
    assert!(command.iter().all(|u| u.abs() <= agent.task.limit), "{command:?}");
    let (wide, offline) = (robot.agent().wide(), agent.model.offline());
    assert!(wide.is_admissible());
    assert!(wide.distance(offline) <= agent.learning.ball * 1.001 * offline.norm(), "outside the ball");
    assert!(robot.neighbors().len() <= 4 && robot.trusted().count() <= robot.neighbors().len());
}
