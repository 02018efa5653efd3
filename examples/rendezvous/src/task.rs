//! Features, loss and command of the task.

use wdgnn_core::{Task, math, model::shape::OneLayer, task::State};
use wdgnn_robot::{
    onboard::OnboardTask,
    tasks::{CollisionAvoidance, Consistency, MotionModel},
};

/// State in a message: the position in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place(pub [f32; 2]);

impl State for Place {
    type Array = [f32; 2];

    fn numbers(&self) -> [f32; 2] {
        self.0
    }

    fn from_numbers(numbers: [f32; 2]) -> Self {
        Self(numbers)
    }
}

/// Rendezvous task. A command is a velocity in m/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rendezvous;

impl Rendezvous {
    /// Control period in seconds.
    pub const PERIOD: f32 = 0.05;
    /// Largest speed per axis in m/s.
    pub const LIMIT: f32 = 2.0;

    /// Mean offset to the neighbors, including the robot itself.
    fn way<'a>(own: &Place, neighbors: impl Iterator<Item = &'a Place>) -> [f32; 2] {
        let (mut sum, mut count) = ([0.0; 2], 1.0);
        for other in neighbors {
            sum = [sum[0] + other.0[0] - own.0[0], sum[1] + other.0[1] - own.0[1]];
            count += 1.0;
        }
        sum.map(|x| x / count)
    }
}

impl Task for Rendezvous {
    // Numbers from 1000 on are for external tasks.
    const NUMBER: u16 = 1000;

    type State = Place;
    type Features = [f32; 2];
    type Output = [f32; 2];

    fn from_constants(_: &[f32; 8]) -> Self {
        Self
    }

    fn period(&self) -> f32 {
        Self::PERIOD
    }

    /// Input features of the network.
    fn observe<'a>(&self, own: &Place, neighbors: impl Iterator<Item = &'a Place>) -> [f32; 2] {
        Self::way(own, neighbors)
    }

    /// Adjoint of the local loss `|way − T u|²`: the squared distance to the neighbors' mean one
    /// tick later.
    fn gradient<'a>(
        &self,
        own: &Place,
        neighbors: impl Iterator<Item = &'a Place>,
        output: &[f32; 2],
        _through_clamp: bool,
    ) -> [f32; 2] {
        let [x, y] = Self::way(own, neighbors);
        let [u, v] = self.command(output);
        [(u, x), (v, y)].map(|(u, x)| 2.0 * Self::PERIOD * (Self::PERIOD * u - x))
    }

    /// Largest command per axis.
    fn command(&self, output: &[f32; 2]) -> [f32; 2] {
        output.map(|u| math::clamp(u, Self::LIMIT))
    }
}

// Robots may touch, so the task needs no prediction, collision avoidance or plausibility checks.
impl MotionModel for Rendezvous {}

impl CollisionAvoidance for Rendezvous {}

impl Consistency for Rendezvous {
    type Stats = ();
}

/// Network size: two features, three taps, sixteen hidden features, two outputs.
impl OnboardTask for Rendezvous {
    type Shape = OneLayer<2, 3, 16, 2>;
}
