//! What a flocking robot observes, and how far it is from what it should do.

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
};

/// No distance is taken shorter than this, whatever the configured floor: `d = 0` gives a finite number.
const SHORTEST_METRES: f32 = 1.0e-3;

impl<const D: usize> Flocking<D>
where
    [f32; D]: Axes,
{
    /// `v' − v̄'` for this robot, and n = |N| + 1.
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

    #[inline]
    pub(super) fn features<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> <[f32; D] as Axes>::Features {
        let floor = if self.floor > SHORTEST_METRES { self.floor } else { SHORTEST_METRES };
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

    /// How far a robot is from its neighbors' mean velocity, against how its own velocity has changed in the last two ticks: below zero
    /// while it comes nearer, above it where it has flown past.
    pub(super) fn progress<'a>(
        &self,
        older: &Motion<D>,
        before: &Motion<D>,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> [f32; 3] {
        let (off, _) = self.deviation(own, neighbors, &[0.0; D]);
        let now = own.velocity.minus(&before.velocity);
        let then = before.velocity.minus(&older.velocity);
        [off.dot(&now), off.dot(&then), off.length() * (now.length() + then.length())]
    }
}
