//! Features and local loss of flocking.

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
};

/// Lower limit of the configured floor, so that `d = 0` gives finite features.
const MIN_METERS: f32 = 1.0e-3;

impl<const D: usize> Flocking<D>
where
    [f32; D]: Axes,
{
    /// Deviation `v' − v̄'` of this robot after the tick, and n = |N| + 1.
    pub(super) fn deviation<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
        command: &[f32; D],
    ) -> ([f32; D], f32) {
        let next = self.next_velocity(own, command);
        let mut sum = next;
        let mut n = 1.0;
        for neighbor in neighbors {
            sum = sum.zip(&neighbor.velocity, |sum, v| sum + v);
            n += 1.0;
        }
        (next.zip(&sum, |v, sum| v - sum / n), n)
    }

    fn next_velocity(&self, own: &Motion<D>, command: &[f32; D]) -> [f32; D] {
        own.velocity.plus(self.period, command)
    }

    /// Features of eq. `relevantFeature`, with distances no shorter than the floor.
    #[inline]
    pub(super) fn relevant_features<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> <[f32; D] as Axes>::Features {
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
            fourths = fourths.plus(inverse_4, &offset);
            squares = squares.plus(inverse_2, &offset);
        }
        let mut sums = Axes::features(velocities, fourths, squares);
        if self.normalized {
            for x in sums.as_mut() {
                *x /= n;
            }
        }
        sums
    }

    /// The local loss: the variance of the velocities of the robot and its neighbors after the robot executes `command`.
    pub fn loss<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>> + Clone,
        command: &[f32; D],
    ) -> f32 {
        let next = self.next_velocity(own, command);
        let (deviation, n) = self.deviation(own, neighbors.clone(), command);
        let mean = next.minus(&deviation);
        let mut sum = deviation.dot(&deviation);
        for neighbor in neighbors {
            let off = neighbor.velocity.minus(&mean);
            sum += off.dot(&off);
        }
        sum / n
    }

    /// Difference to the neighbors' mean velocity times the last two changes of the own velocity.
    pub(super) fn velocity_overshoot<'a>(
        &self,
        [older, previous, own]: [&Motion<D>; 3],
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> [f32; 3] {
        let (off, _) = self.deviation(own, neighbors, &[0.0; D]);
        let last = own.velocity.minus(&previous.velocity);
        let before = previous.velocity.minus(&older.velocity);
        [off.dot(&last), off.dot(&before), off.length() * (last.length() + before.length())]
    }
}
