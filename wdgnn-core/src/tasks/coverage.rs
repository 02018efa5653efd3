//! Coverage: robots spread over an area so that every place has a robot nearby.
//!
//! A robot senses the density in its Voronoi cell, the part of its surroundings that is closer to it
//! than to any other robot: the mass of the cell and its center. Moving to the center of the own cell
//! is Lloyd's algorithm (Cortés et al., 2004). Messages tell of the density beyond the own sensors.
//!
//! Features: the way to the cell's center; the repulsion `Σ_j (p_i − p_j)/d²`; and the attraction by
//! larger masses, `Σ_j (m_j − m_i)(p_j − p_i)/d²`. The last two are divided by the number of neighbors
//! plus one.

use serde::{Deserialize, Serialize};

use crate::{
    math,
    task::{State, Task},
};

/// Lower limit of distances in the features.
const MIN_METERS: f32 = 0.1;

/// Time after which a robot should be at the center of its cell.
const HORIZON_SECONDS: f32 = 0.5;

/// Position of a robot and content of its cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cell {
    /// Position in meters.
    pub position: [f32; 2],
    /// Vector from the position to the center of the cell, in meters.
    pub way: [f32; 2],
    /// Mass of the cell; 1 is an even share.
    pub mass: f32,
}

impl State for Cell {
    type Array = [f32; 5];

    fn to_array(&self) -> [f32; 5] {
        let Self { position: [x, y], way: [dx, dy], mass } = *self;
        [x, y, dx, dy, mass]
    }

    fn from_array([x, y, dx, dy, mass]: [f32; 5]) -> Self {
        Self { position: [x, y], way: [dx, dy], mass }
    }
}

/// Coverage task with its constants. Commands are velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coverage {
    /// The control period in seconds.
    pub period: f32,
    /// The largest speed per axis in m/s.
    pub limit: f32,
}

impl Coverage {
    /// Ten commands per second, up to 1 m/s.
    pub const DEFAULT: Self = Self { period: 0.1, limit: 1.0 };

    /// The local loss: the mass of the cell times the squared distance from its center after the robot executes `command`.
    #[must_use]
    pub fn loss(&self, own: &Cell, command: &[f32; 2]) -> f32 {
        let [x, y] = [HORIZON_SECONDS * command[0] - own.way[0], HORIZON_SECONDS * command[1] - own.way[1]];
        own.mass * (x * x + y * y)
    }
}

impl Task for Coverage {
    const ID: u16 = 4;

    type State = Cell;
    type Features = [f32; 6];
    type Command = [f32; 2];

    fn from_constants(&[period, limit, ..]: &[f32; 8]) -> Self {
        Self { period, limit }
    }

    fn features<'a>(&self, own: &Cell, neighbors: impl Iterator<Item = &'a Cell>) -> [f32; 6] {
        let (mut away, mut towards) = ([0.0; 2], [0.0; 2]);
        let mut n = 1.0;
        for other in neighbors {
            n += 1.0;
            let [dx, dy] = [own.position[0] - other.position[0], own.position[1] - other.position[1]];
            let squared = dx * dx + dy * dy;
            let floor = MIN_METERS * MIN_METERS;
            let inverse = 1.0 / if squared > floor { squared } else { floor };
            let more = other.mass - own.mass;
            away = [away[0] + dx * inverse, away[1] + dy * inverse];
            towards = [towards[0] - more * dx * inverse, towards[1] - more * dy * inverse];
        }
        [own.way[0], own.way[1], away[0] / n, away[1] / n, towards[0] / n, towards[1] / n]
    }

    /// Gradient of `m |p + τu − c|²`: mass of the cell times the squared distance to its center.
    fn loss_gradient<'a>(
        &self,
        own: &Cell,
        _: impl Iterator<Item = &'a Cell>,
        command: &[f32; 2],
    ) -> [f32; 2] {
        let mut gradient = *command;
        for (g, way) in gradient.iter_mut().zip(own.way) {
            *g = 2.0 * own.mass * HORIZON_SECONDS * (HORIZON_SECONDS * *g - way);
        }
        gradient
    }

    fn saturate(&self, output: &[f32; 2]) -> [f32; 2] {
        output.map(|u| math::clamp(u, self.limit))
    }

    fn constants(&self) -> [f32; 8] {
        [self.period, self.limit, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Cell = Cell { position: [1.0, 1.0], way: [0.2, -0.1], mass: 1.0 };
    const THERE: Cell = Cell { position: [3.0, 1.0], way: [0.0, 0.0], mass: 3.0 };

    #[test]
    fn features_by_hand() {
        // d = 2 along x: repulsion −2/4, attraction 2 · 2/4, both halved by n = 2.
        let features = Coverage::DEFAULT.features(&HERE, [THERE].iter());
        assert_eq!(features, [0.2, -0.1, -0.25, 0.0, 0.5, 0.0]);
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let task = Coverage::DEFAULT;
        let at = |u: [f32; 2]| task.loss(&HERE, &u);
        let gradient = task.loss_gradient(&HERE, [].iter(), &[0.3, 0.5]);
        // The loss is quadratic, so a central difference is exact up to rounding.
        let h = 0.0625;
        let x = (at([0.3 + h, 0.5]) - at([0.3 - h, 0.5])) / (2.0 * h);
        let y = (at([0.3, 0.5 + h]) - at([0.3, 0.5 - h])) / (2.0 * h);
        assert!((gradient[0] - x).abs() < 1.0e-5 && (gradient[1] - y).abs() < 1.0e-5);
    }

    #[test]
    fn constants_round_trip() {
        let task = Coverage { period: 0.05, limit: 2.0 };
        assert_eq!(Coverage::from_constants(&task.constants()), task);
    }
}
