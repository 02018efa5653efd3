//! Flocking as a [`Task`]: features and local loss.

use super::{
    motion::{Motion, SpatialVector},
    settings::Flocking,
};
use crate::{math, task::Task, tensor::Array};

/// Lower limit of the configured floor, so that `d = 0` gives finite features.
const MIN_METERS: f32 = 1.0e-3;

impl<const D: usize> Task for Flocking<D>
where
    [f32; D]: SpatialVector,
{
    const ID: u16 = if D == 2 { 1 } else { 3 };

    type State = Motion<D>;
    type Features = <[f32; D] as SpatialVector>::Features;
    type Command = [f32; D];

    /// Task with the constants of a weight file, which has no noise levels.
    fn from_constants(constants: &[f32; 8]) -> Self {
        let &[floor, period, limit, separation, horizon, normalized, repulsion, strength] = constants;
        let normalized = normalized > 0.0;
        Self {
            floor,
            period,
            limit,
            separation,
            horizon,
            normalized,
            repulsion,
            strength,
            ..Self::SUMMED_FEATURES
        }
    }

    fn constants(&self) -> [f32; 8] {
        let normalized = if self.normalized { 1.0 } else { 0.0 };
        let Self { floor, period, limit, separation, horizon, repulsion, strength, .. } = *self;
        [floor, period, limit, separation, horizon, normalized, repulsion, strength]
    }

    /// Input x of eq. `relevantFeature`, with distances no shorter than the floor.
    #[inline]
    fn features<'a>(
        &self, own: &Motion<D>, neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> Self::Features {
        let floor = if self.floor > MIN_METERS { self.floor } else { MIN_METERS };
        let floor_squared = floor * floor;
        let [mut velocities, mut fourths, mut squares] = [[0.0; D]; 3];
        let mut n = 1.0;
        for neighbor in neighbors {
            n += 1.0;
            let offset = own.position.minus(&neighbor.position);
            let squared = offset.dot(&offset);
            let squared = if squared > floor_squared { squared } else { floor_squared };
            let inverse_2 = 1.0 / squared;
            let inverse_4 = inverse_2 * inverse_2;
            let drift = own.velocity.minus(&neighbor.velocity);
            velocities = velocities.zip(&drift, |sum, v| sum + v);
            fourths = fourths.add_scaled(inverse_4, &offset);
            squares = squares.add_scaled(inverse_2, &offset);
        }
        let mut sums = Self::Features::from_slice([velocities, fourths, squares].as_flattened());
        if self.normalized {
            for x in sums.as_mut() {
                *x /= n;
            }
        }
        sums
    }

    /// Gradient of `J = (1/n) Σ_j |v_j − v̄|²` over the robot and its neighbors after this tick.
    ///
    /// The robot's velocity is then `v + T_s u`. The neighbors keep theirs.
    #[inline]
    fn loss_gradient<'a>(
        &self, own: &Motion<D>, neighbors: impl Iterator<Item = &'a Motion<D>>, command: &[f32; D],
    ) -> [f32; D] {
        let (deviation, n) = self.deviation(own, neighbors, command);
        let factor = 2.0 * self.period / n;
        deviation.map(|off| factor * off)
    }

    #[inline]
    fn saturate(&self, output: &[f32; D]) -> [f32; D] {
        output.map(|u| math::clamp(u, self.limit))
    }

    /// Acceleration between two ticks.
    fn realized_command(&self, previous: &Motion<D>, state: &Motion<D>) -> Option<[f32; D]> {
        let change = state.velocity.minus(&previous.velocity);
        Some(change.map(|v| v / self.period))
    }

    /// Difference to the neighbors' mean velocity, times the last two changes of the own velocity.
    fn overshoot<'a>(
        &self, [older, previous, own]: [&Motion<D>; 3], neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> [f32; 3] {
        let (off, _) = self.deviation(own, neighbors, &[0.0; D]);
        let last = own.velocity.minus(&previous.velocity);
        let before = previous.velocity.minus(&older.velocity);
        [off.dot(&last), off.dot(&before), off.length() * (last.length() + before.length())]
    }
}

impl<const D: usize> Flocking<D>
where
    [f32; D]: SpatialVector,
{
    /// Deviation `v − v̄` of this robot after the tick, and n = |N| + 1.
    fn deviation<'a>(
        &self, own: &Motion<D>, neighbors: impl Iterator<Item = &'a Motion<D>>, command: &[f32; D],
    ) -> ([f32; D], f32) {
        let next = own.velocity.add_scaled(self.period, command);
        let mut sum = next;
        let mut n = 1.0;
        for neighbor in neighbors {
            sum = sum.zip(&neighbor.velocity, |sum, v| sum + v);
            n += 1.0;
        }
        (next.zip(&sum, |v, sum| v - sum / n), n)
    }
}
