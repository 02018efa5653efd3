//! The safety gate: for any network output, on any axis, the motors get numbers within limits.

use crate::common::prelude::*;
use proptest::prelude::*;

/// Numbers that never reach a motor.
const NOT_FINITE: [f32; 4] = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// Command and verdict of a node that has received one neighbor.
fn command<M, T, const N: usize>(robot: &mut Robot<RobotConfig<M, T>, Link<Exact>, N>) -> (M::Output, Verdict)
where
    M: Model,
    T: RobotTask<Features = M::Features, Command = M::Output>,
{
    robot.end_receive();
    robot.decide()
}

/// Command of a robot without limits for a network output.
fn unlimited<const O: usize>(output: [f32; O]) -> ([f32; O], Verdict) {
    type Net<const O: usize> = Network<'static, 1, 2, 2, O, Layer<'static, 2, 1, 2, EndOfStack>>;
    let mut numbers = vec![0.0; Net::<O>::WEIGHT_COUNT];
    let biases = numbers.len() - O;
    numbers[biases..].copy_from_slice(&output);
    let network = Net::from_numbers(numbers.leak(), Activation::Relu, Scale::Sum).unwrap();
    let model = Folded::new(network, GradientMetric::Paper);
    let state = Signal([0.5]);
    let mut robot: Robot<_, _, 4> = node(1, model, Regression::new(), Learning::OFF, state);
    let mut neighbor = robot.message();
    neighbor.sender = 2;
    robot.sense(0, seen(state));
    robot.takes(&neighbor).unwrap();
    command(&mut robot)
}

/// Command of a flocking robot for a network output.
fn flocking(output: [f32; 2]) -> ([f32; 2], Verdict) {
    let mut numbers = vec![0.0; Net::WEIGHT_COUNT];
    let biases = numbers.len() - 2;
    numbers[biases..].copy_from_slice(&output);
    let model: FoldedNet = Folded::new(network_over(numbers.leak()), GradientMetric::Paper);
    let mut robot: Robot<_, _> = node(1, model, TASK, Learning::OFF, REST);
    let far = Motion { position: [5.0, 5.0], velocity: [0.0; 2] };
    let mut neighbor = neighbor_message(&mut seeded(1), &robot.config().agent.model, 2, far);
    neighbor.taps.line.numbers_mut().fill(0.0);
    robot.sense(0, seen(REST));
    robot.takes(&neighbor).unwrap();
    command(&mut robot)
}

fn on_every_axis<const O: usize>() {
    let fine: [f32; O] = core::array::from_fn(|axis| 1.0 + axis as f32);
    assert_eq!(unlimited(fine), (fine, Verdict::Clear));
    for (axis, bad) in (0..O).flat_map(|axis| NOT_FINITE.map(|bad| (axis, bad))) {
        let mut output = fine;
        output[axis] = bad;
        let (command, verdict) = unlimited(output);
        assert_eq!(verdict, Verdict::NotFinite, "{bad} on axis {axis} of {O}");
        let fallback = Regression::<1, O>::new().fallback_command(&Signal([0.5]), IsolationPhase::Hold);
        assert_eq!(command, fallback, "{bad} on axis {axis} of {O}");
    }
}

#[test]
fn non_finite_outputs_never_reach_the_motors() {
    on_every_axis::<1>();
    on_every_axis::<2>();
    on_every_axis::<3>();
    on_every_axis::<4>();
}

proptest! {
    #![proptest_config(seeded_cases())]

    #[test]
    fn commands_are_within_limits_and_match_the_verdict(
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
