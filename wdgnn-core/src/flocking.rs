//! The flocking task: agree on a velocity without colliding, in the plane or in space.
//!
//! Features (eq. `relevantFeature`), sums over the neighbours: `v_i − v_j`, `(p_i − p_j)/d⁴`, `(p_i − p_j)/d²`, with the distance
//! d taken no shorter than a floor: printed as it is, 1/d⁴ reaches 10⁴ at 0.1 m, a handful of close pairs dominates
//! training and the online step diverges. A model may have them divided by the number of neighbours and itself
//! ([`Flocking::normalised`]), which makes them means: as large in a crowd as among two.
//!
//! Local loss: the variance of velocities among a robot and its neighbours after the coming tick, if the neighbours keep
//! theirs.

use crate::{
    math,
    task::{Isolation, Task},
};

mod guard;
mod motion;
mod track;

pub use motion::{Axes, Motion};
pub use track::{BIAS_METRES, BIAS_SIGMAS, EVIDENCE_SECONDS, Evidence, SLACK_METRES, TRACK_SECONDS};

/// The number of flocking in the plane in weight files.
pub const TASK: u16 = <Flocking as Task>::NUMBER;

/// No distance is taken shorter than this, whatever the configured floor: `d = 0` gives a finite number.
const SHORTEST_METRES: f32 = 1.0e-3;

/// In the `Slow` phase, a robot without neighbours loses its speed with this time constant.
const SLOW_SECONDS: f32 = 1.0;

/// In the `Stop` phase, with this one. Braking all of the speed within a tick would swing back and forth for ever where sensing is a
/// tick late; ten ticks of 10 ms bear a delay of two without overshooting (v' = v − k v₋₂ does not up to k = 4/27, and k is 0.1).
const STOP_SECONDS: f32 = 0.1;

/// The flocking task of robots that move along `D` axes, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Flocking<const D: usize = 2> {
    /// The distance floor of the features, in metres.
    pub floor: f32,
    /// The control period T_s, in seconds.
    pub period: f32,
    /// The largest acceleration per component, in m/s².
    pub limit: f32,
    /// The separation guard: neighbours are kept from coming closer than this, in metres; 0 switches it off.
    pub separation: f32,
    /// How far ahead the separation guard looks, in seconds.
    pub horizon: f32,
    /// Whether features are divided by the number of neighbours and the robot itself; the paper's are plain sums.
    pub normalised: bool,
    /// Neighbours nearer than this repel, in metres; 0 for none, as in the paper.
    pub repulsion: f32,
    /// How strongly: `strength · (1/d − 1/repulsion)` in m/s², added to what the network says before it is limited. So it gives way
    /// while a robot brakes as hard as it can, and parts robots that have come to rest side by side.
    pub strength: f32,
    /// The largest standard deviation that the noise of neighbours' positions can have, per axis, in metres. A neighbour's own is
    /// measured; what is beyond this is no sensor's.
    pub position_noise: f32,
    /// The same of velocities, in m/s.
    pub velocity_noise: f32,
}

impl Flocking {
    /// [`Flocking::SUMS`] in the plane.
    pub const DEFAULT: Self = Self::SUMS;

    /// [`Flocking::MEANS`] in the plane.
    pub const NORMALISED: Self = Self::MEANS;
}

impl<const D: usize> Flocking<D> {
    /// The paper's robots: 10 ms, ±10 m/s², with the distance floor that training likes best, and with sensors that err by up to
    /// 30 cm and 0.1 m/s.
    pub const SUMS: Self = Self {
        floor: 0.3,
        period: 0.01,
        limit: 10.0,
        separation: 0.15,
        horizon: 0.1,
        normalised: false,
        repulsion: 0.0,
        strength: 0.0,
        position_noise: 0.3,
        velocity_noise: 0.1,
    };

    /// The same with features that are means, and with a repulsion from 0.5 m on. It costs half a percent of the total velocity
    /// variation; without it, ten times as many pairs come within 0.3 m of each other.
    pub const MEANS: Self = Self { normalised: true, repulsion: 0.5, strength: 20.0, ..Self::SUMS };
}

impl<const D: usize> Flocking<D>
where
    [f32; D]: Axes,
{
    /// `v' − v̄'` for this robot, and n = |N| + 1.
    fn deviation<'a>(
        &self,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
        command: &[f32; D],
    ) -> ([f32; D], f32) {
        let next = self.next_velocity(own, command);
        let mut sum = next;
        let mut n = 1.0;
        for neighbour in neighbours {
            sum = sum.zip(&neighbour.velocity, |sum, v| sum + v);
            n += 1.0;
        }
        (next.zip(&sum, |v, sum| v - sum / n), n)
    }

    fn next_velocity(&self, own: &Motion<D>, command: &[f32; D]) -> [f32; D] {
        own.velocity.plus(self.period, command)
    }
}

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
        let &[floor, period, limit, separation, horizon, normalised, repulsion, strength] = settings;
        let normalised = normalised > 0.0;
        Self { floor, period, limit, separation, horizon, normalised, repulsion, strength, ..Self::SUMS }
    }

    fn settings(&self) -> [f32; 8] {
        let normalised = if self.normalised { 1.0 } else { 0.0 };
        let Self { floor, period, limit, separation, horizon, repulsion, strength, .. } = *self;
        [floor, period, limit, separation, horizon, normalised, repulsion, strength]
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
        let floor = if self.floor > SHORTEST_METRES { self.floor } else { SHORTEST_METRES };
        let floor_squared = floor * floor;
        let [mut velocities, mut fourths, mut squares] = [[0.0; D]; 3];
        let mut n = 1.0;
        for neighbour in neighbours {
            n += 1.0;
            let offset = own.position.minus(&neighbour.position);
            let squared = offset.dot(&offset);
            let squared = if squared > floor_squared { squared } else { floor_squared };
            let inverse_2 = 1.0 / squared;
            let inverse_4 = inverse_2 * inverse_2;
            let drift = own.velocity.minus(&neighbour.velocity);
            velocities = velocities.zip(&drift, |sum, v| sum + v);
            fourths = fourths.plus(inverse_4, &offset);
            squares = squares.plus(inverse_2, &offset);
        }
        let mut sums = Axes::features(velocities, fourths, squares);
        if self.normalised {
            for x in sums.as_mut() {
                *x /= n;
            }
        }
        sums
    }

    fn loss<'a>(
        &self,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>> + Clone,
        command: &[f32; D],
    ) -> f32 {
        let next = self.next_velocity(own, command);
        let (deviation, n) = self.deviation(own, neighbours.clone(), command);
        let mean = next.minus(&deviation);
        let mut sum = deviation.dot(&deviation);
        for neighbour in neighbours {
            let off = neighbour.velocity.minus(&mean);
            sum += off.dot(&off);
        }
        sum / n
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

    /// How far a robot is from its neighbours' mean velocity, against how its own velocity has changed since: below zero while it
    /// comes nearer, above it where it has flown past.
    fn outcome<'a>(
        &self,
        before: &Motion<D>,
        own: &Motion<D>,
        neighbours: impl Iterator<Item = &'a Motion<D>>,
    ) -> (f32, f32) {
        let (off, _) = self.deviation(own, neighbours, &[0.0; D]);
        let change = own.velocity.minus(&before.velocity);
        (off.dot(&change), math::sqrt(off.dot(&off) * change.dot(&change)))
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

#[cfg(test)]
mod tests;
