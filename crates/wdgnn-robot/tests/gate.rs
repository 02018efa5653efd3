//! The last gate before the motors, from outside: whatever the network says, on whichever axis, the motors get numbers within limits.

use crate::common;

use common::{
    flock::{FoldedNet, Net, REST, TASK, random_beacon, settings},
    seeded,
    signal::{Regression, Signal},
};
use proptest::prelude::*;
use wdgnn_core::{
    Network,
    filter::scale::Scale,
    model::{
        Metric, Model,
        activation::Activation,
        deep::{Layer, Top},
        folded::Folded,
    },
    online::Learning,
    tasks::flocking::Motion,
    tensor::{Tensor as _, Vector},
};
use wdgnn_link::encoding::exact::Exact;
use wdgnn_robot::{
    config::Behaviour,
    node::{Node, Settings},
    ports::Sensed,
    safety::gate::{Isolation, Verdict},
    tasks::{MotionModel as _, RobotTask},
};

/// What is no number, and what is none that a motor can have.
const NOT_FINITE: [f32; 4] = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// The command of a node that senses, hears one neighbour and infers.
fn command<M, T, const N: usize>(node: &mut Node<M, T, N>, own: T::State) -> (M::Output, Verdict)
where
    M: Model,
    T: RobotTask<Features = M::Features, Output = M::Output>,
{
    node.settle();
    let features = node.observe();
    node.aggregate();
    node.infer(&features);
    assert!(node.sense(0, Some(Sensed::now(own))));
    node.guard()
}

/// What a robot of a task without limits does when its network says this.
fn unlimited<const O: usize>(output: [f32; O]) -> ([f32; O], Verdict) {
    type Net<'w, const O: usize> = Network<'w, 1, 2, 2, O, Layer<'w, 2, 1, 2, Top>>;
    let mut numbers = vec![0.0; Net::<O>::NUMBERS];
    let biases = numbers.len() - O;
    numbers[biases..].copy_from_slice(&output);
    let network = Net::over(&numbers, Activation::Relu, Scale::Sum).unwrap();
    let model = Folded::new(network, Metric::Paper);
    let (task, behaviour, state) = (Regression::new(), Behaviour::new(Learning::OFF), Signal(Vector([0.5])));
    let mut node =
        Node::<_, _, 4>::new(Settings { id: 1, model, task, checksum: 0, behaviour, state, codec: Exact });
    let mut neighbour = node.beacon();
    neighbour.sender = 2;
    node.sense(0, Some(Sensed::now(state)));
    node.accept(neighbour).unwrap();
    command(&mut node, state)
}

/// What a flocking robot does when its network says this.
fn flocking(output: [f32; 2]) -> ([f32; 2], Verdict) {
    let mut numbers = vec![0.0; Net::NUMBERS];
    let biases = numbers.len() - 2;
    numbers[biases..].copy_from_slice(&output);
    let network = Net::over(&numbers, Activation::Tanh, Scale::Mean).unwrap();
    let model: FoldedNet<'_> = Folded::new(network, Metric::Paper);
    let mut node = Node::<_, _, 16>::new(settings(1, model, Behaviour::new(Learning::OFF), Exact));
    let far = Motion { position: [5.0, 5.0], velocity: [0.0; 2] };
    let mut neighbour = random_beacon(&mut seeded(1), node.model(), 2, far);
    neighbour.chains.chain.numbers_mut().fill(0.0);
    node.sense(0, Some(Sensed::now(REST)));
    node.accept(neighbour).unwrap();
    command(&mut node, REST)
}

fn on_every_axis<const O: usize>() {
    let fine: [f32; O] = core::array::from_fn(|axis| 1.0 + axis as f32);
    assert_eq!(unlimited(fine), (fine, Verdict::Clear));
    for (axis, bad) in (0..O).flat_map(|axis| NOT_FINITE.map(|bad| (axis, bad))) {
        let mut output = fine;
        output[axis] = bad;
        let (command, verdict) = unlimited(output);
        assert_eq!(verdict, Verdict::NotFinite, "{bad} on axis {axis} of {O}");
        let fallback = Regression::<1, O>::new().fallback(&Signal(Vector([0.5])), Isolation::Hold);
        assert_eq!(command, fallback, "{bad} on axis {axis} of {O}");
    }
}

#[test]
fn what_is_no_number_on_any_one_axis_never_reaches_the_motors() {
    on_every_axis::<1>();
    on_every_axis::<2>();
    on_every_axis::<3>();
    on_every_axis::<4>();
}

proptest! {
    #![proptest_config(common::seeded_cases())]

    #[test]
    fn whatever_a_network_says_the_command_is_within_limits_and_the_verdict_is_true(
        x in prop::num::f32::ANY, y in prop::num::f32::ANY,
    ) {
        let output = [x, y];
        let (command, verdict) = flocking(output);
        prop_assert!(command.iter().all(|u| u.abs() <= TASK.limit), "{:?}", command);
        let expected = if output.iter().any(|u| u.is_nan()) {
            Verdict::NotFinite
        } else if output.iter().all(|u| u.abs() <= TASK.limit) {
            Verdict::Clear
        } else {
            Verdict::Limited
        };
        prop_assert_eq!(verdict, expected);
        if verdict != Verdict::NotFinite {
            prop_assert_eq!(command, output.map(|u| u.clamp(-TASK.limit, TASK.limit)));
        }
    }
}
