//! The flocking task: agree on a velocity without colliding.
//!
//! Features (eq. `relevantFeature`), sums over the neighbours: `v_i − v_j`, `(p_i − p_j)/d⁴`, `(p_i − p_j)/d²`, with the distance
//! d taken no shorter than a floor: printed as it is, 1/d⁴ reaches 10⁴ at 0.1 m, a handful of close pairs dominates
//! training and the online step diverges.
//!
//! Local loss: the variance of velocities among a robot and its neighbours after the coming tick, if the neighbours keep
//! theirs.

use postcard::experimental::max_size::MaxSize;
use serde::{Deserialize, Serialize};

use crate::{
    math,
    task::{Isolation, State, Task},
    tensor::serialize_array,
};

/// The task's number in weight files.
pub const TASK: u16 = 1;

/// No distance is taken shorter than this, whatever the configured floor: `d = 0` gives a finite number.
const SHORTEST_METRES: f32 = 1.0e-3;

/// In the `Slow` phase, a robot without neighbours loses its speed with this time constant.
const SLOW_SECONDS: f32 = 1.0;

/// Where a robot is and how it moves, in a frame that all robots share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, MaxSize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Motion {
    /// Position in metres.
    #[serde(serialize_with = "serialize_array")]
    pub position: [f32; 2],
    /// Velocity in metres per second.
    #[serde(serialize_with = "serialize_array")]
    pub velocity: [f32; 2],
}

impl State for Motion {
    fn admissible(&self) -> bool {
        self.position.iter().chain(&self.velocity).all(|&x| math::admissible(x))
    }
}

/// The flocking task with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flocking {
    /// The distance floor of the features, in metres.
    pub floor: f32,
    /// The control period T_s, in seconds.
    pub period: f32,
    /// The largest acceleration per component, in m/s².
    pub limit: f32,
}

impl Flocking {
    /// The paper's robots: 10 ms, ±10 m/s², with the distance floor that training likes best.
    pub const DEFAULT: Self = Self { floor: 0.3, period: 0.01, limit: 10.0 };

    /// The task with the constants of a weight file.
    #[must_use]
    pub fn from_settings(settings: &[f32; 8]) -> Self {
        let &[floor, period, limit, ..] = settings;
        Self { floor, period, limit }
    }

    /// The constants as a weight file keeps them.
    #[must_use]
    pub fn settings(&self) -> [f32; 8] {
        [self.floor, self.period, self.limit, 0.0, 0.0, 0.0, 0.0, 0.0]
    }

    /// `v' − v̄'` for this robot, and n = |N| + 1.
    fn deviation<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion>,
        command: &[f32; 2],
    ) -> ([f32; 2], f32) {
        let next = self.next_velocity(own, command);
        let mut sum = next;
        let mut n = 1.0;
        for neighbour in neighbours {
            sum[0] += neighbour.velocity[0];
            sum[1] += neighbour.velocity[1];
            n += 1.0;
        }
        ([next[0] - sum[0] / n, next[1] - sum[1] / n], n)
    }

    fn next_velocity(&self, own: &Motion, command: &[f32; 2]) -> [f32; 2] {
        [own.velocity[0] + self.period * command[0], own.velocity[1] + self.period * command[1]]
    }
}

impl Task for Flocking {
    type State = Motion;
    type Features = [f32; 6];
    type Output = [f32; 2];

    #[inline]
    fn observe<'a>(&self, own: &Motion, neighbours: impl Iterator<Item = &'a Motion>) -> [f32; 6] {
        let floor = if self.floor > SHORTEST_METRES { self.floor } else { SHORTEST_METRES };
        let floor_squared = floor * floor;
        let mut x = [0.0; 6];
        for neighbour in neighbours {
            let dx = own.position[0] - neighbour.position[0];
            let dy = own.position[1] - neighbour.position[1];
            let squared = dx * dx + dy * dy;
            let squared = if squared > floor_squared { squared } else { floor_squared };
            let inverse_2 = 1.0 / squared;
            let inverse_4 = inverse_2 * inverse_2;
            x[0] += own.velocity[0] - neighbour.velocity[0];
            x[1] += own.velocity[1] - neighbour.velocity[1];
            x[2] += dx * inverse_4;
            x[3] += dy * inverse_4;
            x[4] += dx * inverse_2;
            x[5] += dy * inverse_2;
        }
        x
    }

    fn loss<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion> + Clone,
        command: &[f32; 2],
    ) -> f32 {
        let next = self.next_velocity(own, command);
        let (deviation, n) = self.deviation(own, neighbours.clone(), command);
        let mean = [next[0] - deviation[0], next[1] - deviation[1]];
        let mut sum = deviation[0] * deviation[0] + deviation[1] * deviation[1];
        for neighbour in neighbours {
            let dx = neighbour.velocity[0] - mean[0];
            let dy = neighbour.velocity[1] - mean[1];
            sum += dx * dx + dy * dy;
        }
        sum / n
    }

    #[inline]
    fn gradient<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion>,
        output: &[f32; 2],
        through_clamp: bool,
    ) -> [f32; 2] {
        let command = self.command(output);
        let (deviation, n) = self.deviation(own, neighbours, &command);
        let factor = 2.0 * self.period / n;
        core::array::from_fn(|axis| {
            let passes = through_clamp || output[axis] == command[axis];
            if passes { factor * deviation[axis] } else { 0.0 }
        })
    }

    #[inline]
    fn command(&self, output: &[f32; 2]) -> [f32; 2] {
        output.map(|u| math::clamp(u, self.limit))
    }

    /// Constant velocity.
    fn extrapolate(&self, state: &Motion) -> Motion {
        let [x, y] = state.position;
        let [dx, dy] = state.velocity;
        Motion { position: [x + self.period * dx, y + self.period * dy], velocity: state.velocity }
    }

    fn fallback(&self, own: &Motion, isolation: Isolation) -> [f32; 2] {
        match isolation {
            Isolation::Hold => [0.0; 2],
            Isolation::Slow => own.velocity.map(|v| math::clamp(-v / SLOW_SECONDS, self.limit)),
            Isolation::Stop => own.velocity.map(|v| math::clamp(-v / self.period, self.limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Flocking = Flocking::DEFAULT;

    fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
        Motion { position: [x, y], velocity: [vx, vy] }
    }

    #[test]
    fn features_by_hand() {
        // Neighbours 2 m to the east and 0.5 m to the south.
        let own = motion(0.0, 0.0, 1.0, 2.0);
        let neighbours = [motion(2.0, 0.0, 0.5, 0.0), motion(0.0, -0.5, 1.0, -1.0)];
        // 1/d⁴: −2/16 east; 0.5·16 = 8 north. 1/d²: −2/4 east; 0.5·4 = 2 north.
        assert_eq!(TASK.observe(&own, neighbours.iter()), [0.5, 5.0, -0.125, 8.0, -0.5, 2.0]);
    }

    #[test]
    fn features_saturate_at_the_floor_and_are_finite_at_no_distance() {
        let own = motion(0.0, 0.0, 0.0, 0.0);
        let at = |x| TASK.observe(&own, [motion(x, 0.0, 0.0, 0.0)].iter())[2];
        assert!((at(-0.3) - 0.3_f32.powi(-3)).abs() < 1.0e-4);
        assert_eq!(at(-0.15), at(-0.3) / 2.0);
        for floor in [0.0, -1.0, 0.3] {
            let task = Flocking { floor, ..TASK };
            assert!(task.observe(&own, [own].iter()).iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn the_loss_is_the_variance_after_the_step() {
        let own = motion(0.0, 0.0, 0.0, 0.0);
        let neighbours = [motion(1.0, 0.0, 2.0, 0.0)];
        // Velocities 0.1 and 2: mean 1.05, variance 0.95².
        assert!((TASK.loss(&own, neighbours.iter(), &[10.0, 0.0]) - 0.9025).abs() < 1.0e-6);
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let own = motion(0.0, 0.0, 1.0, -2.0);
        let neighbours =
            [motion(1.0, 0.0, 2.0, 0.5), motion(0.0, 1.0, -1.0, 3.0), motion(1.0, 1.0, 0.0, 0.0)];
        let output = [2.0, -3.0];
        let gradient = TASK.gradient(&own, neighbours.iter(), &output, false);
        for axis in 0..2 {
            // The loss is quadratic, so a wide difference is exact: h = 2 keeps rounding (1e-7·4/4) far below the bound.
            let (mut up, mut down) = (output, output);
            up[axis] += 2.0;
            down[axis] -= 2.0;
            let difference =
                (TASK.loss(&own, neighbours.iter(), &up) - TASK.loss(&own, neighbours.iter(), &down)) / 4.0;
            assert!((difference - gradient[axis]).abs() < 1.0e-5, "{difference} {}", gradient[axis]);
        }
    }

    #[test]
    fn a_clamped_component_has_no_gradient_unless_asked_for() {
        let own = motion(0.0, 0.0, 5.0, 5.0);
        let neighbours = [motion(1.0, 0.0, 0.0, 0.0)];
        let output = [15.0, 1.0];
        let stopped = TASK.gradient(&own, neighbours.iter(), &output, false);
        assert_eq!(stopped[0], 0.0);
        assert!(stopped[1] > 0.0);
        assert!(TASK.gradient(&own, neighbours.iter(), &output, true)[0] > 0.0);
    }

    #[test]
    fn without_neighbours_there_is_nothing_to_learn() {
        let own = motion(0.0, 0.0, 5.0, 5.0);
        assert_eq!(TASK.gradient(&own, [].iter(), &[1.0, 2.0], true), [0.0, 0.0]);
    }

    #[test]
    fn a_lonely_robot_holds_then_slows_then_stops() {
        let own = motion(0.0, 0.0, 0.05, -4.0);
        assert_eq!(TASK.fallback(&own, Isolation::Hold), [0.0, 0.0]);
        assert_eq!(TASK.fallback(&own, Isolation::Slow), [-0.05, 4.0]);
        assert_eq!(TASK.fallback(&own, Isolation::Stop), [-5.0, 10.0]);
    }

    #[test]
    fn a_silent_neighbour_is_taken_to_fly_straight_on() {
        assert_eq!(TASK.extrapolate(&motion(1.0, 2.0, 100.0, -100.0)), motion(2.0, 1.0, 100.0, -100.0));
    }
}
