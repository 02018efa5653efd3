//! Features, loss and commands of a robot.
//!
//! A robot senses the density of interest in its Voronoi cell: the places that are closer to it than
//! to any other robot. Moving to the center of the cell is Lloyd's algorithm (Cortés et al., 2004).
//! Messages add what lies beyond the robot's sensors.

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

/// Lower limit of distances in the features.
const MIN_METERS: f32 = 0.1;
/// Time after which a robot should be at the center of its cell.
const HORIZON_SECONDS: f32 = 0.5;

/// State of a robot: its position and the sensed content of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Position of the robot in meters.
    pub position: [f32; 2],
    /// Vector from the robot to the center of its cell in meters.
    pub to_center: [f32; 2],
    /// Mass of the cell; 1 is an even share.
    pub mass: f32,
}

impl State for Cell {
    type Array = [f32; 5];

    fn to_array(&self) -> [f32; 5] {
        let Self { position: [x, y], to_center: [dx, dy], mass } = *self;
        [x, y, dx, dy, mass]
    }

    fn from_array([x, y, dx, dy, mass]: [f32; 5]) -> Self {
        Self { position: [x, y], to_center: [dx, dy], mass }
    }
}

/// Coverage task. A command is a velocity in m/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage;

impl Coverage {
    /// Control period in seconds.
    pub const PERIOD: f32 = 0.1;
    /// Largest speed per axis in m/s.
    pub const LIMIT: f32 = 1.0;
}

impl Task for Coverage {
    const ID: u16 = 1002;

    type State = Cell;
    type Features = [f32; 6];
    type Command = [f32; 2];

    fn from_constants(_: &[f32; 8]) -> Self {
        Self
    }

    /// Vector to the center of the cell, repulsion `Σ_j (p_i − p_j)/d²`, and attraction by larger
    /// masses `Σ_j (m_j − m_i)(p_j − p_i)/d²`. Both sums are divided by the number of neighbors plus 1.
    fn features<'a>(&self, own: &Cell, neighbors: impl Iterator<Item = &'a Cell>) -> [f32; 6] {
        let (mut away, mut toward, mut n) = ([0.0; 2], [0.0; 2], 1.0);
        for other in neighbors {
            n += 1.0;
            let [dx, dy] = [own.position[0] - other.position[0], own.position[1] - other.position[1]];
            let inverse = 1.0 / (dx * dx + dy * dy).max(MIN_METERS * MIN_METERS);
            let more = other.mass - own.mass;
            away = [away[0] + dx * inverse, away[1] + dy * inverse];
            toward = [toward[0] - more * dx * inverse, toward[1] - more * dy * inverse];
        }
        let [x, y] = own.to_center;
        [x, y, away[0] / n, away[1] / n, toward[0] / n, toward[1] / n]
    }

    /// Gradient of `m |c − τu|²`: mass of the cell times the squared distance that is left after τ.
    fn loss_gradient<'a>(
        &self, own: &Cell, _: impl Iterator<Item = &'a Cell>, [u, v]: &[f32; 2],
    ) -> [f32; 2] {
        let [x, y] = own.to_center;
        [(u, x), (v, y)].map(|(u, x)| 2.0 * own.mass * HORIZON_SECONDS * (HORIZON_SECONDS * u - x))
    }

    fn saturate(&self, output: &[f32; 2]) -> [f32; 2] {
        output.map(|u| math::clamp(u, Self::LIMIT))
    }
}

// Cells do not move like bodies: no motion prediction, collision avoidance or plausibility checks.
impl MotionModel for Coverage {
    fn period(&self) -> f32 {
        Self::PERIOD
    }
}

impl CollisionAvoidance for Coverage {}

impl PlausibilityChecks for Coverage {
    type Stats = ();
}

/// Network of the robots: six features, four taps, 32 hidden features, two outputs.
impl OnboardTask for Coverage {
    type Shape = OneLayer<6, 4, 32, 2>;
}
