//! Features, loss and commands of a robot.

use serde::{Deserialize, Serialize};
use wdgnn_core::{
    math,
    model::shape::OneLayer,
    task::{State, Task},
};
use wdgnn_robot::{
    onboard::OnboardTask,
    tasks::{CollisionAvoidance, MotionModel, PlausibilityChecks},
};

/// State of a robot: its position in meters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place(pub [f32; 2]);

impl State for Place {
    type Array = [f32; 2];

    fn to_array(&self) -> [f32; 2] {
        self.0
    }

    fn from_array(numbers: [f32; 2]) -> Self {
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

    /// Mean vector to the neighbors and the robot itself.
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
    // Numbers from 1000 on are for custom tasks.
    const ID: u16 = 1000;

    type State = Place;
    type Features = [f32; 2];
    type Command = [f32; 2];

    fn from_constants(_: &[f32; 8]) -> Self {
        Self
    }

    /// Mean vector to the neighbors.
    fn features<'a>(&self, own: &Place, neighbors: impl Iterator<Item = &'a Place>) -> [f32; 2] {
        Self::way(own, neighbors)
    }

    /// Gradient of `|way − T u|²`, the squared distance to the neighbors' mean after a tick.
    fn loss_gradient<'a>(
        &self, own: &Place, neighbors: impl Iterator<Item = &'a Place>, [u, v]: &[f32; 2],
    ) -> [f32; 2] {
        let [x, y] = Self::way(own, neighbors);
        [(u, x), (v, y)].map(|(u, x)| 2.0 * Self::PERIOD * (Self::PERIOD * u - x))
    }

    /// Limits a command to the robot's speed.
    fn saturate(&self, output: &[f32; 2]) -> [f32; 2] {
        output.map(|u| math::clamp(u, Self::LIMIT))
    }
}

// Robots that meet need no motion prediction, collision avoidance or plausibility checks.
impl MotionModel for Rendezvous {
    fn period(&self) -> f32 {
        Self::PERIOD
    }
}

impl CollisionAvoidance for Rendezvous {}

impl PlausibilityChecks for Rendezvous {
    type Stats = ();
}

/// Network of the robots: two features, three taps, sixteen hidden features, two outputs.
impl OnboardTask for Rendezvous {
    type Shape = OneLayer<2, 3, 16, 2>;
}
