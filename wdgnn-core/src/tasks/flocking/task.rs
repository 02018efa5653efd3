//! Flocking as a [`Task`].

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
};
use crate::{math, task::Task};

impl<const D: usize> Task for Flocking<D>
where
    [f32; D]: Axes,
{
    const ID: u16 = <[f32; D] as Axes>::TASK;

    type State = Motion<D>;
    type Features = <[f32; D] as Axes>::Features;
    type Command = [f32; D];

    /// Weight files do not contain the noise levels.
    fn from_constants(constants: &[f32; 8]) -> Self {
        Self::of(constants)
    }

    #[inline]
    fn features<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> Self::Features {
        self.relevant_features(own, neighbors)
    }

    #[inline]
    fn loss_gradient<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
        command: &[f32; D],
    ) -> [f32; D] {
        let (deviation, n) = self.deviation(own, neighbors, command);
        let factor = 2.0 * self.period / n;
        deviation.map(|off| factor * off)
    }

    #[inline]
    fn saturate(&self, output: &[f32; D]) -> [f32; D] {
        output.map(|u| math::clamp(u, self.limit))
    }

    fn constants(&self) -> [f32; 8] {
        self.constants_array()
    }

    /// Acceleration between two ticks.
    fn realized_command(&self, previous: &Motion<D>, state: &Motion<D>) -> Option<[f32; D]> {
        let change = state.velocity.minus(&previous.velocity);
        Some(change.map(|v| v / self.period))
    }

    /// Difference to the mean velocity of the neighbors, times the changes of the robot's velocity.
    fn overshoot<'a>(
        &self,
        states: [&Motion<D>; 3],
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> [f32; 3] {
        self.velocity_overshoot(states, neighbors)
    }
}
