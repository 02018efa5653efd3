//! Flocking as a [`Task`].

use core::ops::Range;

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
    track::{Evidence, Noise, TRACK_SECONDS},
};
use crate::{
    math,
    tasks::task::{Isolation, Obeyed, Task},
};

/// Velocities of robots that agree differ by so much, in m/s: half precision's step, and what is left of noise.
const LEAST_SPREAD: f32 = 0.0125;

/// How much further ahead a wary robot looks. Of 1, 1.5 and 2 times, 2 leaves fewest close pairs where motors are weaker than they should
/// be, and costs 0.3 % of the velocity variation.
const WARY_HORIZON: f32 = 2.0;

/// Who says to be so far from where its last words led is not there: at 10 m/s² a robot is after 0.14 s.
const JUMP_METRES: f32 = 0.1;

/// In the `Slow` phase, a robot without neighbours loses its speed with this time constant.
const SLOW_SECONDS: f32 = 1.0;

/// In the `Stop` phase, with this one. Braking all of the speed within a tick would swing back and forth for ever where sensing is a
/// tick late; ten ticks of 10 ms bear a delay of two without overshooting (v' = v − k v₋₂ does not up to k = 4/27, and k is 0.1).
const STOP_SECONDS: f32 = 0.1;

/// Motors do not obey where what they do is off by so much of what they can: ten deviations of the noisiest velocities, averaged over 0.2 s;
const DISOBEYED: f32 = 0.5;
/// and by so much of what they were told: motors that are weak or saturate still do a third of it, and noise does not hide that.
const DISOBEYED_SHARE: f32 = 0.9;
/// They obey where they were told so much of what they can, and miss less of it than this share.
const OBEYED: f32 = 0.3;
const OBEYED_SHARE: f32 = 0.5;
/// Below this speed, in m/s, a robot is at rest.
const AT_REST: f32 = 0.3;

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
        own: &Evidence<D>,
    ) -> (Motion<D>, bool) {
        let (own, most) = (math::sqrt(own.noise), self.position_noise);
        let noise = Noise::Told(if own < most { own } else { most });
        self.hold_against(track, said, silent, known, evidence, noise)
    }

    fn steady(
        &self,
        track: &Motion<D>,
        sensed: &Motion<D>,
        silent: u32,
        known: u8,
        evidence: &mut Evidence<D>,
    ) -> (Motion<D>, bool) {
        self.hold_against(track, sensed, silent, known, evidence, Noise::Sensed)
    }

    /// A velocity that is off by a little, always the same way, leaves the track behind the positions by as much as it comes to in
    /// [`TRACK_SECONDS`]. What of that is more than noise is put right, of the position and of the velocity.
    fn settled(&self, track: &Motion<D>, evidence: &Evidence<D>) -> Motion<D> {
        let off = self.steady_miss(evidence);
        Motion {
            position: track.position.plus(1.0, &off),
            velocity: track.velocity.plus(1.0 / TRACK_SECONDS, &off),
        }
    }

    /// Where it senses to be, at the velocity by which it really comes there: what it senses of that is turned, say, and its track runs
    /// away from its positions.
    fn reconcile(&self, sensed: &Motion<D>, evidence: &Evidence<D>) -> Motion<D> {
        let velocity = sensed.velocity.plus(1.0 / TRACK_SECONDS, &evidence.last);
        Motion { position: sensed.position, velocity }
    }

    /// At constant acceleration.
    fn moved(&self, state: &Motion<D>, command: &[f32; D], ticks: u32) -> Motion<D> {
        let seconds = ticks as f32 * self.period;
        let Motion { position, velocity } = state;
        let position = position.plus(seconds, &velocity.plus(0.5 * seconds, command));
        Motion { position, velocity: velocity.plus(seconds, command) }
    }

    /// Velocities.
    fn tempered(&self) -> Option<(Range<usize>, f32)> {
        Some((D..2 * D, LEAST_SPREAD))
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

    /// An acceleration.
    fn achieved(&self, before: &Motion<D>, own: &Motion<D>) -> Option<[f32; D]> {
        let change = own.velocity.minus(&before.velocity);
        Some(change.map(|v| v / self.period))
    }

    fn obeyed(&self, own: &Motion<D>, told: &[f32; D], done: &[f32; D]) -> Obeyed {
        let (off, told) = (done.minus(told).length(), told.length());
        if own.velocity.length() < AT_REST {
            Obeyed::AtRest
        } else if off > DISOBEYED * self.limit && off > DISOBEYED_SHARE * told {
            Obeyed::No
        } else if told > OBEYED * self.limit && off < OBEYED_SHARE * told {
            Obeyed::Yes
        } else {
            Obeyed::Unknown
        }
    }

    /// How far a robot is from its neighbours' mean velocity, against how its own velocity has changed.
    fn outcome<'a>(
        &self,
        older: &Motion<D>,
        before: &Motion<D>,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
    ) -> [f32; 3] {
        self.progress(older, before, own, neighbours)
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

    /// The same, twice as far ahead, and all of the way: the other one may not hear, not believe, or not be able to.
    fn keep_apart(
        &self,
        own: &Motion<D>,
        bodies: impl Iterator<Item = Motion<D>>,
        command: [f32; D],
    ) -> [f32; D] {
        if self.separation <= 0.0 {
            return command;
        }
        let far_sighted = Self { horizon: WARY_HORIZON * self.horizon, ..*self };
        let aside = |safe, other| far_sighted.give_way(own, &other, safe);
        self.command(&bodies.fold(command, aside))
    }

    fn approaches(&self, own: &Motion<D>, other: &Motion<D>) -> bool {
        own.position.minus(&other.position).dot(&own.velocity.minus(&other.velocity)) < 0.0
    }

    /// Where it says to be, and as fast as its places say. Where these jump, at the robot's own velocity: in a flock that is nearest to
    /// the truth.
    fn body(&self, own: &Motion<D>, said: &Motion<D>, evidence: &Evidence<D>) -> Motion<D> {
        let jumps = evidence.last.iter().any(|miss| miss.abs() > JUMP_METRES);
        let velocity = if jumps { own.velocity } else { self.reconcile(said, evidence).velocity };
        Motion { position: said.position, velocity }
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
