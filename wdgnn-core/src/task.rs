//! What the network is for: features, loss and the meaning of a command, behind one trait.
//!
//! [`crate::tasks::flocking::Flocking`] is the first implementation. To bring another task, implement [`Task`]; the node does not change.

use core::fmt::Debug;

use crate::{math, tensor::Array};

/// A node's address in the swarm.
pub type NodeId = u16;

/// What a node tells its neighbors about itself, such as position and velocity: a fixed number of `f32` on the wire.
pub trait State: Copy + Debug + PartialEq + Send + Sync + 'static {
    /// `[f32; N]`.
    type Array: Array;

    /// The numbers that travel.
    fn numbers(&self) -> Self::Array;

    /// The state that they tell.
    fn from_numbers(numbers: Self::Array) -> Self;

    /// Whether every number may enter the arithmetic ([`crate::math::admissible`]).
    fn admissible(&self) -> bool {
        self.numbers().as_ref().iter().all(|x| math::admissible(*x))
    }

    /// The state whose numbers are zero: where a robot is taken to be before it has sensed anything.
    #[must_use]
    fn zero() -> Self {
        Self::from_numbers(Array::ZERO)
    }
}

/// A task: what a node observes, what it is told off for, what its output means.
///
/// Neighbors' states always come in ascending id, so that sums have one order.
///
/// A task of your own, sensors that agree on a temperature:
///
/// ```
/// use wdgnn_core::{Task, math, task::State};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Celsius(f32);
///
/// impl State for Celsius {
///     type Array = [f32; 1];
///
///     fn numbers(&self) -> [f32; 1] {
///         [self.0]
///     }
///
///     fn from_numbers([degrees]: [f32; 1]) -> Self {
///         Self(degrees)
///     }
/// }
///
/// struct Thermostat;
///
/// impl Task for Thermostat {
///     const NUMBER: u16 = 1000;
///     type State = Celsius;
///     type Features = [f32; 1];
///     type Output = [f32; 1];
///
///     fn from_constants(_: &[f32; 8]) -> Self {
///         Self
///     }
///
///     fn period(&self) -> f32 {
///         1.0
///     }
///
///     fn observe<'a>(&self, own: &Celsius, others: impl Iterator<Item = &'a Celsius>) -> [f32; 1] {
///         [others.fold(0.0, |sum, other| sum + own.0 - other.0)]
///     }
///
///     /// Of half the squared distance to every neighbor, after heating by `output`.
///     fn gradient<'a>(
///         &self,
///         own: &Celsius,
///         others: impl Iterator<Item = &'a Celsius>,
///         output: &[f32; 1],
///         _through_clamp: bool,
///     ) -> [f32; 1] {
///         [others.fold(0.0, |sum, other| sum + own.0 + output[0] - other.0)]
///     }
///
///     fn command(&self, output: &[f32; 1]) -> [f32; 1] {
///         [math::clamp(output[0], 5.0)]
///     }
/// }
///
/// let others = [Celsius(18.0), Celsius(20.0)];
/// assert_eq!(Thermostat.observe(&Celsius(21.0), others.iter()), [4.0]);
/// assert_eq!(Thermostat.gradient(&Celsius(21.0), others.iter(), &[-2.0], false), [0.0], "19 degrees suit both");
/// ```
pub trait Task {
    /// The task's number in weight files, so that a network is never flown on another task. Those below 1000 are this crate's.
    const NUMBER: u16;

    /// What a beacon says about its sender.
    type State: State;
    /// The network's input, `[f32; F]`.
    type Features: Array;
    /// The network's output, `[f32; O]`.
    type Output: Array;

    /// The task with the constants of a weight file.
    fn from_constants(settings: &[f32; 8]) -> Self;

    /// The constants as a weight file keeps them, because training and flight must agree on them; none, unless the task has some.
    fn settings(&self) -> [f32; 8] {
        [0.0; 8]
    }

    /// The control period in seconds: the time from one tick to the next.
    fn period(&self) -> f32;

    /// x(t): the input signal from the node's own state and its neighbors'.
    fn observe<'a>(
        &self,
        own: &Self::State,
        neighbors: impl Iterator<Item = &'a Self::State>,
    ) -> Self::Features;

    /// ∂J_i/∂u_i at the network's raw `output`; what it is where the command is clamped is `through_clamp`'s choice.
    fn gradient<'a>(
        &self,
        own: &Self::State,
        neighbors: impl Iterator<Item = &'a Self::State>,
        output: &Self::Output,
        through_clamp: bool,
    ) -> Self::Output;

    /// The command that the network's raw output stands for: limited to what the robot can do.
    fn command(&self, output: &Self::Output) -> Self::Output;

    /// The weight of the edge from a neighbor; 1 unless the task knows better.
    fn weight(&self, _neighbour: NodeId) -> f32 {
        1.0
    }

    /// The output that the node's state has really followed from the tick `before` on, whatever it was told. `None`, the default, where
    /// that cannot be said.
    fn achieved(&self, _before: &Self::State, _own: &Self::State) -> Option<Self::Output> {
        None
    }

    /// What came of the commands so far: the products of where the loss says the node should not go with how its state has changed
    /// in the last tick and in the one before it, and the largest that their sum could be. Below zero while it does what it should. The
    /// default has nothing to say.
    fn outcome<'a>(
        &self,
        _older: &Self::State,
        _before: &Self::State,
        _own: &Self::State,
        _neighbours: impl Iterator<Item = &'a Self::State>,
    ) -> [f32; 3] {
        [0.0; 3]
    }
}
