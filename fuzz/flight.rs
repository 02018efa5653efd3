//! Robot for fuzz targets, and the invariants after each of its ticks.

use wdgnn_core::{Activation, Flocking, Folded, Layer, Learning, Metric, Model as _, Motion, Network, Scale, Top, tensor::Tensor as _};
use wdgnn_robot::{Behaviour, Node, node::Settings, ports::Sensed};
use wdgnn_link::encoding::Codec;

type Net<'w> = Network<'w, 6, 4, 4, 2, Layer<'w, 4, 6, 4, Top>>;
/// Small robot that flocks in the plane, with up to four neighbors.
pub type Robot<'w, P> = Node<Folded<'w, 6, 4, 4, 2, Layer<'w, 4, 6, 4, Top>>, Flocking, 4, P>;

/// Model checksum of the golden frames.
pub const MODEL: u32 = 0xdead_beef;

/// Returns the weights of a network.
pub fn numbers() -> [f32; Net::NUMBERS] {
    core::array::from_fn(|index| 0.1 + 0.01 * (index % 7) as f32)
}

/// Creates a robot with the settings of a sealed one: probation, tap limit, clip and ball.
pub fn robot<P: Codec>(numbers: &[f32], codec: P) -> Robot<'_, P> {
    let network = Net::over(numbers, Activation::Tanh, Scale::Mean).expect("the number of weights matches");
    let model = Folded::new(network, Metric::Paper);
    let learning = Learning { ridge: 0.1, cooling: 100.0, ..Learning::paper(1.0) };
    let behaviour = Behaviour::new(learning).every(2).robust();
    let task = Flocking::NORMALISED;
    Node::new(Settings { id: 1, model, task, checksum: MODEL, behaviour, state: Motion::REST, codec })
}

/// Starts a tick of a robot on a circle.
pub fn begin<P: Codec>(robot: &mut Robot<'_, P>, tick: u32) {
    let angle = tick as f32 * 0.05;
    let state = Motion { position: [angle.cos(), angle.sin()], velocity: [-5.0 * angle.sin(), 5.0 * angle.cos()] };
    assert!(robot.sense(tick, Some(Sensed::now(state))));
    if robot.speaks() {
        for index in 0..P::FRAMES {
            assert!(robot.speak_frame(index, &mut [0; 640]).is_some(), "the frame fits");
        }
    }
}

/// Ends a tick and checks the invariants.
pub fn conclude<P: Codec>(robot: &mut Robot<'_, P>) {
    robot.settle();
    let features = robot.observe();
    robot.aggregate();
    robot.infer(&features);
    let (command, _) = robot.guard();
    assert!(command.iter().all(|u| u.abs() <= robot.task().limit), "{command:?}");
    robot.learn();
    robot.agree();
    assert!(robot.wide().admissible());
    let (offline, learning) = (robot.model().offline(), robot.behaviour().learning);
    assert!(robot.wide().distance(offline) <= learning.ball * 1.001 * offline.norm(), "outside the ball");
    assert!(robot.neighbours().len() <= 4 && robot.trusted().count() <= robot.neighbours().len());
}
