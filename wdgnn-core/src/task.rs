//! Interface of a task: input features, local loss and meaning of the output.

use core::fmt::Debug;

use serde::{Deserialize, Serialize};

use crate::{math, tensor::Array};

/// Address of a robot in its swarm.
pub type NodeId = u16;

/// State that a robot transmits about itself, such as position and velocity.
///
/// It is a fixed number of `f32`. A state of zeros stands for a robot without any measurement.
pub trait State:
    Copy + Debug + PartialEq + Send + Sync + Serialize + for<'de> Deserialize<'de> + 'static
{
    /// `[f32; N]`.
    type Array: Array;

    /// The transmitted numbers.
    fn to_array(&self) -> Self::Array;

    /// The state of these numbers.
    fn from_array(numbers: Self::Array) -> Self;

    /// Whether every number is [`math::is_admissible`].
    fn is_admissible(&self) -> bool {
        self.to_array().as_ref().iter().all(|x| math::is_admissible(*x))
    }

    /// The state of all zeros.
    fn zero() -> Self {
        Self::from_array(Array::ZERO)
    }
}

/// Defines the input features, the local loss and the meaning of the output.
///
/// Four methods are required. Neighbors come in ascending address, so that sums have one order.
///
/// Sensors that agree on a temperature:
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use wdgnn_core::{math, task::{State, Task}};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
/// struct Celsius(f32);
///
/// impl State for Celsius {
///     type Array = [f32; 1];
///     fn to_array(&self) -> [f32; 1] {
///         [self.0]
///     }
///     fn from_array([degrees]: [f32; 1]) -> Self {
///         Self(degrees)
///     }
/// }
///
/// struct Thermostat;
///
/// impl Task for Thermostat {
///     const ID: u16 = 1000;
///     type State = Celsius;
///     type Features = [f32; 1];
///     type Command = [f32; 1];
///
///     fn from_constants(_: &[f32; 8]) -> Self {
///         Self
///     }
///
///     fn features<'a>(&self, own: &Celsius, neighbors: impl Iterator<Item = &'a Celsius>) -> [f32; 1] {
///         [neighbors.fold(0.0, |sum, other| sum + own.0 - other.0)]
///     }
///
///     /// Loss: half the squared difference to every neighbor after heating by `command`.
///     fn loss_gradient<'a>(
///         &self,
///         own: &Celsius,
///         neighbors: impl Iterator<Item = &'a Celsius>,
///         command: &[f32; 1],
///     ) -> [f32; 1] {
///         [neighbors.fold(0.0, |sum, other| sum + own.0 + command[0] - other.0)]
///     }
///
///     fn saturate(&self, output: &[f32; 1]) -> [f32; 1] {
///         [math::clamp(output[0], 5.0)]
///     }
/// }
///
/// let neighbors = [Celsius(18.0), Celsius(20.0)];
/// assert_eq!(Thermostat.features(&Celsius(21.0), neighbors.iter()), [4.0]);
/// assert_eq!(Thermostat.loss_gradient(&Celsius(21.0), neighbors.iter(), &[-2.0]), [0.0], "minimum at 19 degrees");
/// ```
pub trait Task {
    /// Number of the task in weight files. Numbers below 1000 are reserved for this crate.
    const ID: u16;

    /// State in a message.
    type State: State;
    /// Input of the network, `[f32; F]`.
    type Features: Array;
    /// Output of the network, `[f32; O]`.
    type Command: Array;

    /// The task with the constants of a weight file.
    fn from_constants(constants: &[f32; 8]) -> Self;

    /// Input signal x(t) of a robot (eq. `relevantFeature` for flocking).
    fn features<'a>(
        &self, own: &Self::State, neighbors: impl Iterator<Item = &'a Self::State>,
    ) -> Self::Features;

    /// Gradient ∂J_i/∂u_i of the local loss at a saturated command.
    fn loss_gradient<'a>(
        &self, own: &Self::State, neighbors: impl Iterator<Item = &'a Self::State>, command: &Self::Command,
    ) -> Self::Command;

    /// Command for a raw output: limited to the actuators' range.
    fn saturate(&self, output: &Self::Command) -> Self::Command;

    /// Constants as a weight file stores them, because training and flight must agree on them.
    fn constants(&self) -> [f32; 8] {
        [0.0; 8]
    }

    /// Weight S_ij of the edge from a neighbor. The default is 1, as in the paper.
    fn edge_weight(&self, _neighbor: NodeId) -> f32 {
        1.0
    }

    /// Command that would have caused the measured change of the robot's state.
    ///
    /// `None`, the default, if the states do not determine it.
    fn realized_command(&self, _previous: &Self::State, _state: &Self::State) -> Option<Self::Command> {
        None
    }

    /// Correlation of the loss gradient with the last two changes of the state.
    ///
    /// `states` are those of two ticks ago, one tick ago and now. The result is the product with the
    /// last change, the product with the change before, and the largest possible sum of both. The
    /// products are negative while the robot approaches its goal. The default is zero.
    fn overshoot<'a>(
        &self, _states: [&Self::State; 3], _neighbors: impl Iterator<Item = &'a Self::State>,
    ) -> [f32; 3] {
        [0.0; 3]
    }
}
