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
    const NUMBER: u16 = <[f32; D] as Axes>::TASK;

    type State = Motion<D>;
    type Features = <[f32; D] as Axes>::Features;
    type Output = [f32; D];

    /// A weight file says nothing of noise.
    fn from_constants(settings: &[f32; 8]) -> Self {
        Self::of(settings)
    }

    fn settings(&self) -> [f32; 8] {
        self.constants()
    }

    fn period(&self) -> f32 {
        self.period
    }

    #[inline]
    fn observe<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> Self::Features {
        self.features(own, neighbors)
    }

    #[inline]
    fn gradient<'a>(
        &self,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
        output: &[f32; D],
        through_clamp: bool,
    ) -> [f32; D] {
        let command = self.command(output);
        let (deviation, n) = self.deviation(own, neighbors, &command);
        let factor = 2.0 * self.period / n;
        core::array::from_fn(|axis| {
            let passes = through_clamp || output[axis] == command[axis];
            if passes { factor * deviation[axis] } else { 0.0 }
        })
    }

    #[inline]
    fn command(&self, output: &[f32; D]) -> [f32; D] {
        output.map(|u| math::clamp(u, self.limit))
    }

    /// An acceleration.
    fn achieved(&self, before: &Motion<D>, own: &Motion<D>) -> Option<[f32; D]> {
        let change = own.velocity.minus(&before.velocity);
        Some(change.map(|v| v / self.period))
    }

    /// How far a robot is from its neighbors' mean velocity, against how its own velocity has changed.
    fn outcome<'a>(
        &self,
        older: &Motion<D>,
        before: &Motion<D>,
        own: &Motion<D>,
        neighbors: impl Iterator<Item = &'a Motion<D>>,
    ) -> [f32; 3] {
        self.progress(older, before, own, neighbors)
    }
}
