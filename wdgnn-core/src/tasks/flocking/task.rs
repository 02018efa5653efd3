//! Flocking as a [`Task`].

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
    track::Evidence,
};
use crate::{
    math,
    tasks::task::{Isolation, Task},
};

/// In the `Slow` phase, a robot without neighbours loses its speed with this time constant.
const SLOW_SECONDS: f32 = 1.0;

/// In the `Stop` phase, with this one. Braking all of the speed within a tick would swing back and forth for ever where sensing is a
/// tick late; ten ticks of 10 ms bear a delay of two without overshooting (v' = v − k v₋₂ does not up to k = 4/27, and k is 0.1).
const STOP_SECONDS: f32 = 0.1;

impl<const D: usize> Task for Flocking<D>
where
    [f32; D]: Axes,
{
    const NUMBER: u16 = <[f32; D] as Axes>::TASK;

    type State = Motion<D>;
    type Features = <[f32; D] as Axes>::Features;
    type Output = [f32; D];
    type Evidence = Evidence<D>;

    /// A weight file says nothing of noise.
    fn from_settings(settings: &[f32; 8]) -> Self {
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
        neighbours: impl Iterator<Item = &'a Motion<D>>,
    ) -> Self::Features {
        self.features(own, neighbours)
    }

    fn loss<'a>(
        &self,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>> + Clone,
        command: &[f32; D],
    ) -> f32 {
        self.variance(own, neighbours, command)
    }

    #[inline]
    fn gradient<'a>(
        &self,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
        output: &[f32; D],
        through_clamp: bool,
    ) -> [f32; D] {
        let command = self.command(output);
        let (deviation, n) = self.deviation(own, neighbours, &command);
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

    fn follow(
        &self,
        track: &Motion<D>,
        said: &Motion<D>,
        silent: u32,
        known: u8,
        evidence: &mut Evidence<D>,
    ) -> (Motion<D>, bool) {
        self.hold_against(track, said, silent, known, evidence)
    }

    /// The repulsion, added to what the network says.
    #[inline]
    fn steer<'a>(
        &self,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
        output: &[f32; D],
    ) -> [f32; D] {
        if self.repulsion <= 0.0 {
            return *output;
        }
        let reach_squared = self.repulsion * self.repulsion;
        neighbours.fold(*output, |steered, other| self.repel(own, other, reach_squared, steered))
    }

    /// How far a robot is from its neighbours' mean velocity, against how its own velocity has changed since.
    fn outcome<'a>(
        &self,
        before: &Motion<D>,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
    ) -> (f32, f32) {
        self.progress(before, own, neighbours)
    }

    /// The separation guard: adds a push away from every neighbour that would come too close within the horizon.
    fn keep_safe<'a>(
        &self,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
        command: [f32; D],
    ) -> [f32; D] {
        if self.separation <= 0.0 {
            return command;
        }
        let mut safe = command;
        for push in neighbours.filter_map(|other| self.push(own, other)) {
            safe = safe.zip(&push, |safe, push| safe + push);
        }
        self.command(&safe)
    }

    /// Constant velocity.
    fn extrapolate(&self, state: &Motion<D>) -> Motion<D> {
        state.after(self.period)
    }

    fn fallback(&self, own: &Motion<D>, isolation: Isolation) -> [f32; D] {
        match isolation {
            Isolation::Hold => [0.0; D],
            Isolation::Slow => own.velocity.map(|v| math::clamp(-v / SLOW_SECONDS, self.limit)),
            Isolation::Stop => own.velocity.map(|v| math::clamp(-v / STOP_SECONDS, self.limit)),
        }
    }
}
