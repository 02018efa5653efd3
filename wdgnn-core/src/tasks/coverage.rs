//! The coverage task: spread over an area so that every place has a robot near it, the more so the more there is to see there.
//!
//! A robot senses how much there is in the part of its surroundings that no other robot is nearer to (its cell): its mass, and where
//! its center is. Going to the center of one's cell is Lloyd's algorithm (Cortés et al., 2004); what lies beyond one's sensors, one
//! can only hear of.
//!
//! Features: the way to the cell's center; away from neighbors, `Σ_j (p_i − p_j)/d²`; and towards those who have more than oneself,
//! `Σ_j (m_j − m_i)(p_j − p_i)/d²`. All but the first are divided by the number of neighbors and itself.

use crate::{
    math,
    task::{State, Task},
};

/// No distance is taken shorter than this.
const SHORTEST_METRES: f32 = 0.1;

/// A robot is to be at the center of its cell after this time.
const HORIZON_SECONDS: f32 = 0.5;

/// Where a robot is, and what is around it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cell {
    /// Position in meters.
    pub position: [f32; 2],
    /// From there to the center of its cell, in meters.
    pub way: [f32; 2],
    /// How much there is in its cell; 1 is an even share.
    pub mass: f32,
}

impl State for Cell {
    type Array = [f32; 5];

    fn numbers(&self) -> [f32; 5] {
        let Self { position: [x, y], way: [dx, dy], mass } = *self;
        [x, y, dx, dy, mass]
    }

    fn from_numbers([x, y, dx, dy, mass]: [f32; 5]) -> Self {
        Self { position: [x, y], way: [dx, dy], mass }
    }
}

/// The coverage task with its constants. Commands are velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coverage {
    /// The control period in seconds.
    pub period: f32,
    /// The largest speed per axis in m/s.
    pub limit: f32,
}

impl Coverage {
    /// Ten commands a second, up to 1 m/s.
    pub const DEFAULT: Self = Self { period: 0.1, limit: 1.0 };

    /// The local loss: the mass of the cell times the squared distance from its center after the robot executes `command`.
    #[must_use]
    pub fn loss(&self, own: &Cell, command: &[f32; 2]) -> f32 {
        let [x, y] = [HORIZON_SECONDS * command[0] - own.way[0], HORIZON_SECONDS * command[1] - own.way[1]];
        own.mass * (x * x + y * y)
    }
}

impl Task for Coverage {
    const NUMBER: u16 = 4;

    type State = Cell;
    type Features = [f32; 6];
    type Output = [f32; 2];

    fn from_constants(&[period, limit, ..]: &[f32; 8]) -> Self {
        Self { period, limit }
    }

    fn settings(&self) -> [f32; 8] {
        [self.period, self.limit, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    }

    fn period(&self) -> f32 {
        self.period
    }

    fn observe<'a>(&self, own: &Cell, neighbors: impl Iterator<Item = &'a Cell>) -> [f32; 6] {
        let (mut away, mut towards) = ([0.0; 2], [0.0; 2]);
        let mut n = 1.0;
        for other in neighbors {
            n += 1.0;
            let [dx, dy] = [own.position[0] - other.position[0], own.position[1] - other.position[1]];
            let squared = dx * dx + dy * dy;
            let floor = SHORTEST_METRES * SHORTEST_METRES;
            let inverse = 1.0 / if squared > floor { squared } else { floor };
            let more = other.mass - own.mass;
            away = [away[0] + dx * inverse, away[1] + dy * inverse];
            towards = [towards[0] - more * dx * inverse, towards[1] - more * dy * inverse];
        }
        [own.way[0], own.way[1], away[0] / n, away[1] / n, towards[0] / n, towards[1] / n]
    }

    /// Of `m |p + τu − c|²`: what is in one's cell, at the distance that one will have from its center.
    fn gradient<'a>(
        &self,
        own: &Cell,
        _: impl Iterator<Item = &'a Cell>,
        output: &[f32; 2],
        through_clamp: bool,
    ) -> [f32; 2] {
        let command = self.command(output);
        let mut gradient = [0.0; 2];
        for (axis, gradient) in gradient.iter_mut().enumerate() {
            if let (Some(u), Some(raw), Some(way)) = (command.get(axis), output.get(axis), own.way.get(axis))
                && (through_clamp || u == raw)
            {
                *gradient = 2.0 * own.mass * HORIZON_SECONDS * (HORIZON_SECONDS * u - way);
            }
        }
        gradient
    }

    fn command(&self, output: &[f32; 2]) -> [f32; 2] {
        output.map(|u| math::clamp(u, self.limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Cell = Cell { position: [1.0, 1.0], way: [0.2, -0.1], mass: 1.0 };
    const THERE: Cell = Cell { position: [3.0, 1.0], way: [0.0, 0.0], mass: 3.0 };

    #[test]
    fn features_by_hand() {
        // d = 2 along x: away −2/4, halved among two; towards the heavier one 2 · 2/4, halved.
        let features = Coverage::DEFAULT.observe(&HERE, [THERE].iter());
        assert_eq!(features, [0.2, -0.1, -0.25, 0.0, 0.5, 0.0]);
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let task = Coverage::DEFAULT;
        let at = |u: [f32; 2]| task.loss(&HERE, &u);
        let gradient = task.gradient(&HERE, [].iter(), &[0.3, 0.5], false);
        // Quadratic: a central difference is exact but for rounding.
        let h = 0.0625;
        let x = (at([0.3 + h, 0.5]) - at([0.3 - h, 0.5])) / (2.0 * h);
        let y = (at([0.3, 0.5 + h]) - at([0.3, 0.5 - h])) / (2.0 * h);
        assert!((gradient[0] - x).abs() < 1.0e-5 && (gradient[1] - y).abs() < 1.0e-5);
        assert_eq!(task.gradient(&HERE, [].iter(), &[9.0, 0.5], false)[0], 0.0, "clamped");
    }

    #[test]
    fn settings_go_there_and_back() {
        let task = Coverage { period: 0.05, limit: 2.0 };
        assert_eq!(Coverage::from_constants(&task.settings()), task);
    }
}
