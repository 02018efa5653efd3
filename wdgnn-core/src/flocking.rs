//! The flocking task: agree on a velocity without colliding.
//!
//! Features (eq. `relevantFeature`), sums over the neighbours: `v_i − v_j`, `(p_i − p_j)/d⁴`, `(p_i − p_j)/d²`, with the distance
//! d taken no shorter than a floor: printed as it is, 1/d⁴ reaches 10⁴ at 0.1 m, a handful of close pairs dominates
//! training and the online step diverges. A model may have them divided by the number of neighbours and itself
//! ([`Flocking::normalised`]), which makes them means: as large in a crowd as among two.
//!
//! Local loss: the variance of velocities among a robot and its neighbours after the coming tick, if the neighbours keep
//! theirs.

use core::f32::consts::SQRT_2;

use postcard::experimental::max_size::MaxSize;
use serde::{Deserialize, Serialize};

use crate::{
    math,
    task::{Evidence, Isolation, State, Task},
    tensor::serialize_array,
};

/// The task's number in weight files.
pub const TASK: u16 = 1;

/// No distance is taken shorter than this, whatever the configured floor: `d = 0` gives a finite number.
const SHORTEST_METRES: f32 = 1.0e-3;

/// Below this offset at the closest approach, two robots are taken to meet head-on.
const HEAD_ON_METRES: f32 = 1.0e-4;

/// The repulsion grows no further below this distance.
const NEAREST_METRES: f32 = 0.05;

/// The separation guard pushes as if it had at least this long: robots side by side part gently.
const SHORTEST_PUSH_SECONDS: f32 = 0.05;

/// What a position may differ from what its velocity says, without noise: half precision's step at 16 m, and rounding.
pub const SLACK_METRES: f32 = 0.03;

/// The same of the average over [`EVIDENCE_SECONDS`].
pub const BIAS_METRES: f32 = 0.02;

/// What a velocity may differ from what an acceleration can do to it, without noise: half precision's step at 8 m/s.
const SLACK_METRES_PER_SECOND: f32 = 0.05;

/// A track goes all the way to a position that was said in this time, and in a shorter one its share. A velocity that is off
/// by v lets the track miss by v times this.
pub const TRACK_SECONDS: f32 = 0.2;

/// Over this time misses are averaged, and their noise is measured. A velocity that is off by 0.1 m/s is found out, however
/// often it is told; where positions are noisy with a deviation of 10 cm, from 0.24 m/s on (0.42 at 20 Hz).
pub const EVIDENCE_SECONDS: f32 = 0.5;

/// So many standard deviations are noise: one honest word in 16,000 is refused per axis.
const SIGMAS: f32 = 4.0;

/// The average of misses may have so many times the deviation of one, times the root of a word's share in the average: white noise
/// of positions comes to 0.38 there, high-passed by the track as it is (√(c/2(a + c)) with rates a = 1/0.2 s and c = 1/0.5 s).
pub const BIAS_SIGMAS: f32 = 2.0;

/// The average of misses is kept up to so many times what is found out: it fades to that in 0.35 s.
const MOST_BIASED: f32 = 2.0;

/// A step from one miss to the next counts as so many of the largest deviations at most.
const MOST_NOISY: f32 = 6.0;

/// Whose noise is so many times the largest variance that sensors have is not noisy, but jumps about.
const TOO_NOISY: f32 = 3.0;

/// The variance that a newcomer's first words may have, as a share of the largest: half its deviation.
const NEWCOMER: f32 = 0.25;

/// In the `Slow` phase, a robot without neighbours loses its speed with this time constant.
const SLOW_SECONDS: f32 = 1.0;

/// In the `Stop` phase, with this one. Braking all of the speed within a tick would swing back and forth for ever where sensing is a
/// tick late; ten ticks of 10 ms bear a delay of two without overshooting (v' = v − k v₋₂ does not up to k = 4/27, and k is 0.1).
const STOP_SECONDS: f32 = 0.1;

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
    /// The paper's robots: 10 ms, ±10 m/s², with the distance floor that training likes best, and with sensors that err by up to
    /// 30 cm and 0.1 m/s.
    pub const DEFAULT: Self = Self {
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
    pub const NORMALISED: Self = Self { normalised: true, repulsion: 0.5, strength: 20.0, ..Self::DEFAULT };

    /// The task with the constants of a weight file, which says nothing of noise.
    #[must_use]
    pub fn from_settings(settings: &[f32; 8]) -> Self {
        let &[floor, period, limit, separation, horizon, normalised, repulsion, strength] = settings;
        let normalised = normalised > 0.0;
        Self { floor, period, limit, separation, horizon, normalised, repulsion, strength, ..Self::DEFAULT }
    }

    /// The constants as a weight file keeps them.
    #[must_use]
    pub fn settings(&self) -> [f32; 8] {
        let normalised = if self.normalised { 1.0 } else { 0.0 };
        let Self { floor, period, limit, separation, horizon, repulsion, strength, .. } = *self;
        [floor, period, limit, separation, horizon, normalised, repulsion, strength]
    }

    /// `v' − v̄'` for this robot, and n = |N| + 1.
    fn deviation<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion>,
        command: [f32; 2],
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

    /// The acceleration that keeps two robots apart, if they fly on as they do: with m the offset at the closest approach
    /// within the horizon, `(separation − |m|)/τ²` along m. Both robots do so, and `a·τ²` makes up what is missing.
    fn push(&self, own: &Motion, other: &Motion) -> Option<[f32; 2]> {
        let offset = [own.position[0] - other.position[0], own.position[1] - other.position[1]];
        let drift = [own.velocity[0] - other.velocity[0], own.velocity[1] - other.velocity[1]];
        let speed_squared = drift[0] * drift[0] + drift[1] * drift[1];
        let approach = -(offset[0] * drift[0] + offset[1] * drift[1]);
        // The time of the closest approach, between now and the horizon.
        let time = if approach <= 0.0 {
            0.0
        } else if approach >= speed_squared * self.horizon {
            self.horizon
        } else {
            approach / speed_squared
        };
        let miss = [offset[0] + time * drift[0], offset[1] + time * drift[1]];
        let squared = miss[0] * miss[0] + miss[1] * miss[1];
        if squared >= self.separation * self.separation {
            return None;
        }
        let distance = math::sqrt(squared);
        let (direction, length) = if distance > HEAD_ON_METRES {
            (miss, distance)
        } else {
            // Head-on there is no side to give way to: both turn the same way round.
            ([-drift[1], drift[0]], math::sqrt(speed_squared) + HEAD_ON_METRES)
        };
        let time = if time > SHORTEST_PUSH_SECONDS { time } else { SHORTEST_PUSH_SECONDS };
        let strength = (self.separation - distance) / (time * time * length);
        Some([strength * direction[0], strength * direction[1]])
    }

    fn next_velocity(&self, own: &Motion, command: [f32; 2]) -> [f32; 2] {
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
        let mut n = 1.0;
        for neighbour in neighbours {
            n += 1.0;
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
        if self.normalised {
            for x in &mut x {
                *x /= n;
            }
        }
        x
    }

    fn loss<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion> + Clone,
        command: &[f32; 2],
    ) -> f32 {
        let next = self.next_velocity(own, *command);
        let (deviation, n) = self.deviation(own, neighbours.clone(), *command);
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
        let (deviation, n) = self.deviation(own, neighbours, command);
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

    /// A robot can change its velocity by no more than its largest acceleration in the time it was silent, and its position must
    /// follow from its velocities, also over many frames: a track that believes a position only little by little goes another way
    /// than the positions of somebody whose velocity is a lie. Sensors are noisy, so how noisy a neighbour is is measured, from
    /// one miss to the next, where a lie that is told again and again leaves no trace; a miss within four deviations is believed.
    /// Lies below that add up in the average miss, where noise does not.
    fn follow(
        &self,
        track: &Motion,
        said: &Motion,
        silent: u32,
        known: u8,
        evidence: &mut Evidence,
    ) -> (Motion, bool) {
        let expected = self.extrapolate(track);
        let time = silent.max(1) as f32 * self.period;
        let words = f32::from(known.max(1));
        // At first every word counts alike.
        let share = at_most_one(time / TRACK_SECONDS, 1.0 / (words + 1.0));
        let weight = at_most_one(time / EVIDENCE_SECONDS, 0.0);
        // A steady change of velocity; the fastest change there and back again ends a quarter of limit · time² elsewhere.
        let reach = 0.25 * self.limit * time * time;
        let largest = self.position_noise * self.position_noise;
        let before = if known <= 1 { NEWCOMER * largest } else { evidence.noise };
        let before = if before < largest { before } else { largest };
        let gate = reach + SLACK_METRES + SIGMAS * math::sqrt(before);
        let fastest = self.limit * time + SLACK_METRES_PER_SECOND + SIGMAS * SQRT_2 * self.velocity_noise;
        let scale =
            Scale { time, share, weight, reach, gate, fastest, step: MOST_NOISY * self.position_noise };
        let mut believed = true;
        let mut followed = *said;
        let mut noise = 0.0;
        for axis in 0..2 {
            let Evidence { bias, last, .. } = evidence;
            let change = said.velocity[axis] - track.velocity[axis];
            let position = &mut followed.position[axis];
            let memory = (&mut bias[axis], &mut last[axis]);
            let (possible, square) = scale.weigh(position, expected.position[axis], change, memory);
            believed &= possible;
            noise += square;
        }
        evidence.noise += at_most_one(weight, 1.0 / words) * (noise - evidence.noise);
        let noise = if evidence.noise < largest { evidence.noise } else { largest };
        let bound = BIAS_METRES + BIAS_SIGMAS * math::sqrt(weight * noise);
        believed &= evidence.noise <= TOO_NOISY * largest;
        for bias in &mut evidence.bias {
            believed &= bias.abs() <= bound;
            // Whoever is honest again is not held to account for long.
            *bias = math::clamp(*bias, MOST_BIASED * bound);
        }
        (followed, believed)
    }

    /// The repulsion, added to what the network says.
    #[inline]
    fn steer<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion>,
        output: &[f32; 2],
    ) -> [f32; 2] {
        let mut steered = *output;
        if self.repulsion <= 0.0 {
            return steered;
        }
        let reach_squared = self.repulsion * self.repulsion;
        for other in neighbours {
            let dx = own.position[0] - other.position[0];
            let dy = own.position[1] - other.position[1];
            let squared = dx * dx + dy * dy;
            if squared < reach_squared {
                let distance = math::sqrt(squared);
                let distance = if distance > NEAREST_METRES { distance } else { NEAREST_METRES };
                let force = self.strength * (1.0 / distance - 1.0 / self.repulsion) / distance;
                steered[0] += force * dx;
                steered[1] += force * dy;
            }
        }
        steered
    }

    /// How far a robot is from its neighbours' mean velocity, against how its own velocity has changed since: below zero while it
    /// comes nearer, above it where it has flown past.
    fn outcome<'a>(
        &self,
        before: &Motion,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion>,
    ) -> (f32, f32) {
        let (off, _) = self.deviation(own, neighbours, [0.0; 2]);
        let change = [own.velocity[0] - before.velocity[0], own.velocity[1] - before.velocity[1]];
        let squares = (off[0] * off[0] + off[1] * off[1]) * (change[0] * change[0] + change[1] * change[1]);
        (off[0] * change[0] + off[1] * change[1], math::sqrt(squares))
    }

    /// The separation guard: adds a push away from every neighbour that would come too close within the horizon.
    fn keep_safe<'a>(
        &self,
        own: &Motion,
        neighbours: impl Iterator<Item = &'a Motion>,
        command: [f32; 2],
    ) -> [f32; 2] {
        if self.separation <= 0.0 {
            return command;
        }
        let mut safe = command;
        for push in neighbours.filter_map(|other| self.push(own, other)) {
            safe[0] += push[0];
            safe[1] += push[1];
        }
        self.command(&safe)
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
            Isolation::Stop => own.velocity.map(|v| math::clamp(-v / STOP_SECONDS, self.limit)),
        }
    }
}

/// What is possible in the time for which a neighbour was silent, and how much its word weighs.
struct Scale {
    time: f32,
    share: f32,
    weight: f32,
    reach: f32,
    gate: f32,
    fastest: f32,
    step: f32,
}

impl Scale {
    /// Holds one axis of a word against its track. Leaves the track in `position`, and the average and the last miss in
    /// `memory`; tells whether it is possible and the square of its noise.
    #[inline(never)] // once in flash, not once per axis
    fn weigh(
        &self,
        position: &mut f32,
        expected: f32,
        change: f32,
        memory: (&mut f32, &mut f32),
    ) -> (bool, f32) {
        let (bias, last) = memory;
        let Self { reach, gate, .. } = *self;
        let miss = *position - (expected + 0.5 * self.time * change);
        let possible = change.abs() <= self.fastest && miss.abs() <= gate;
        // What is no number leaves numbers: its track begins anew, and it missed by as much as can be.
        let told = if miss.abs() <= gate { miss.abs() } else { gate } - reach;
        let told = if told > 0.0 { told.copysign(miss) } else { 0.0 };
        let miss = if miss.is_finite() { miss } else { 0.0 };
        // What it can have done meanwhile is no noise; nor is one jump proof of much.
        let step = (miss - *last).abs() - reach;
        let step = if step > 0.0 { math::clamp(step, self.step) } else { 0.0 };
        *bias += self.weight * (told - *bias);
        *last = miss;
        *position -= (1.0 - self.share) * miss;
        (possible, 0.25 * step * step)
    }
}

/// The larger of two shares, and no more than all.
fn at_most_one(share: f32, least: f32) -> f32 {
    let share = if share > least { share } else { least };
    if share < 1.0 { share } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Flocking = Flocking { separation: 0.13, ..Flocking::DEFAULT };

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
        assert_eq!(TASK.fallback(&own, Isolation::Stop), [-0.5, 10.0]);
    }

    #[test]
    fn a_stopping_robot_comes_to_rest_though_it_senses_two_ticks_late() {
        let mut velocities = [4.0_f32; 3]; // now, one tick ago, two ticks ago
        for _ in 0..300 {
            let sensed = motion(0.0, 0.0, velocities[2], 0.0);
            let [braking, _] = TASK.fallback(&sensed, Isolation::Stop);
            let next = velocities[0] + TASK.period * braking;
            assert!((0.0..=velocities[0]).contains(&next), "{next} after {velocities:?}");
            velocities = [next, velocities[0], velocities[1]];
        }
        assert!(velocities[0] < 1.0e-6, "{velocities:?}");
    }

    #[test]
    fn normalised_features_are_means_over_everybody() {
        let own = motion(0.0, 0.0, 1.0, 2.0);
        let neighbours = [motion(2.0, 0.0, 0.0, 0.0), motion(0.0, -0.5, 0.5, 0.0)];
        let sums = Flocking::DEFAULT.observe(&own, neighbours.iter());
        let means = Flocking::NORMALISED.observe(&own, neighbours.iter());
        assert_eq!(means, sums.map(|x| x / 3.0));
        assert_eq!(Flocking::NORMALISED.observe(&own, [].iter()), [0.0; 6]);
    }

    #[test]
    fn repulsion_by_hand() {
        // 0.25 m apart: 20 · (1/0.25 − 1/0.5) = 40 m/s².
        let own = motion(0.0, 0.0, 0.0, 0.0);
        let task = Flocking::NORMALISED;
        let steered =
            task.steer(&own, [motion(0.25, 0.0, 0.0, 0.0), motion(0.0, 0.6, 0.0, 0.0)].iter(), &[1.0, 2.0]);
        assert!((steered[0] + 39.0).abs() < 1.0e-4 && steered[1] == 2.0, "{steered:?}");
        assert_eq!(task.steer(&own, [own].iter(), &[1.0, 2.0]), [1.0, 2.0], "finite on the same spot");
        let none = Flocking::DEFAULT.steer(&own, [motion(0.25, 0.0, 0.0, 0.0)].iter(), &[1.0, 2.0]);
        assert_eq!(none, [1.0, 2.0]);
    }

    #[test]
    fn settings_come_back_as_they_were_kept() {
        for task in [Flocking::DEFAULT, Flocking::NORMALISED] {
            assert_eq!(Flocking::from_settings(&task.settings()), task);
        }
    }

    #[test]
    fn an_outcome_tells_coming_nearer_from_flying_past() {
        // The mean of 3 and 1 is 2, so it is 1 off; it was slower before, so it is moving away.
        let others = [motion(1.0, 0.0, 1.0, 0.0)];
        let own = motion(0.0, 0.0, 3.0, 0.0);
        assert_eq!(TASK.outcome(&motion(0.0, 0.0, 2.5, 0.0), &own, others.iter()), (0.5, 0.5));
        assert_eq!(TASK.outcome(&motion(0.0, 0.0, 4.0, 0.0), &own, others.iter()), (-1.0, 1.0));
    }

    #[test]
    fn the_guard_leaves_alone_who_does_not_meet() {
        let own = motion(0.0, 0.0, 1.0, 0.0);
        let far = motion(1.0, 0.0, 0.0, 0.0);
        let parting = motion(-0.2, 0.0, 0.0, 0.0);
        assert_eq!(TASK.keep_safe(&own, [far, parting].iter(), [1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn the_guard_pushes_apart_who_would_meet() {
        // 0.2 m ahead and 0.1 m aside, closing at 4 m/s: passes at 0.1 m in 0.05 s. (0.13 − 0.1)/0.05² = 12, to the side.
        let own = motion(0.0, 0.0, 4.0, 0.0);
        let other = motion(0.2, -0.1, 0.0, 0.0);
        let [x, y] = Flocking { limit: 100.0, ..TASK }.keep_safe(&own, [other].iter(), [1.0, 2.0]);
        assert!((x - 1.0).abs() < 1.0e-3 && (y - 14.0).abs() < 1.0e-3, "{x} {y}");
        assert_eq!(TASK.keep_safe(&own, [other].iter(), [1.0, 2.0]), [1.0, 10.0], "never beyond the limit");
        let off = Flocking { separation: 0.0, ..TASK };
        assert_eq!(off.keep_safe(&own, [other].iter(), [1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn the_guard_is_finite_head_on_and_on_the_same_spot() {
        let own = motion(0.0, 0.0, 4.0, 0.0);
        for other in [motion(0.2, 0.0, -4.0, 0.0), own, motion(0.0, 0.0, 1.0, 1.0)] {
            let safe = TASK.keep_safe(&own, [other].iter(), [0.0, 0.0]);
            assert!(safe.iter().all(|u| u.is_finite()), "{safe:?}");
        }
        assert!(
            TASK.keep_safe(&own, [motion(0.2, 0.0, -4.0, 0.0)].iter(), [0.0, 0.0])[1] > 1.0,
            "it turns aside"
        );
    }

    /// A neighbour that is listened to.
    struct Listened {
        track: Motion,
        evidence: Evidence,
        known: u8,
    }

    impl Listened {
        fn new(track: Motion) -> Self {
            Self { track, evidence: Evidence::default(), known: 0 }
        }

        /// One that has flown straight on and without noise for a second.
        fn well_known(track: Motion) -> Self {
            Self { known: 100, ..Self::new(track) }
        }

        /// A word after so many silent ticks.
        fn hear(&mut self, said: Motion, silent: u32) -> bool {
            self.known = self.known.saturating_add(1);
            let track = TASK.carry_on(&self.track, silent - 1);
            let believed;
            (self.track, believed) = TASK.follow(&track, &said, silent, self.known, &mut self.evidence);
            believed
        }
    }

    #[test]
    fn a_neighbour_is_believed_what_it_can_have_done_and_nothing_else() {
        let before = motion(1.0, 1.0, 2.0, 0.0);
        let believed = |after, silent| Listened::well_known(before).hear(after, silent);
        assert!(believed(motion(1.0205, 1.0, 2.1, -0.1), 1));
        assert!(!believed(motion(1.0205, 1.0, 2.8, 0.0), 1), "faster than it can be, also with noise");
        assert!(believed(motion(1.0645, 1.0, 2.8, 0.0), 3), "after three silent ticks it can");
        assert!(!believed(motion(1.1, 1.0, 2.0, 0.0), 1), "a jump");
        assert!(!believed(motion(1.02, 0.9, 2.0, 0.0), 1), "sideways");
    }

    #[test]
    fn a_velocity_that_the_positions_do_not_bear_out_is_found_out_in_a_while_and_for_good() {
        // At rest, and says that it moves.
        for (speed, frames) in [(3.0, 10), (1.0, 30), (0.3, 60), (0.15, 100)] {
            for axis in 0..2 {
                let mut said = motion(0.0, 0.0, 0.0, 0.0);
                said.velocity[axis] = speed;
                let mut liar = Listened::new(said);
                let found = (1..=frames).find(|_| !liar.hear(said, 1));
                assert!(found.is_some(), "{speed} m/s");
                assert!((0..1000).all(|_| !liar.hear(said, 1)), "{speed} m/s");
            }
        }
    }

    #[test]
    fn an_honest_neighbour_is_believed_again_after_little_more_than_a_second() {
        let lie = motion(0.0, 0.0, 3.0, 0.0);
        let truth = motion(0.0, 0.0, 0.0, 0.0);
        let mut neighbour = Listened::new(lie);
        assert!((0..200).filter(|_| neighbour.hear(lie, 1)).count() <= 5);
        let refused = (0..1000).filter(|_| !neighbour.hear(truth, 1)).count();
        assert!((1..=120).contains(&refused), "{refused}");
    }

    #[test]
    fn what_is_no_number_is_refused_on_any_axis_and_leaves_numbers() {
        let truth = motion(1.0, 1.0, 0.0, 0.0);
        for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for axis in 0..4 {
                let mut said = truth;
                if axis < 2 {
                    said.position[axis] = number;
                } else {
                    said.velocity[axis - 2] = number;
                }
                let mut neighbour = Listened::well_known(truth);
                assert!(!neighbour.hear(said, 1), "{said:?}");
                let Evidence { bias, last, noise } = neighbour.evidence;
                assert!(bias.iter().chain(&last).chain(&[noise]).all(|x| x.is_finite()), "{said:?}");
                let refused = (0..200).filter(|_| !neighbour.hear(truth, 1)).count();
                assert!(refused <= 100, "{said:?}: {refused}");
            }
        }
    }

    #[test]
    fn the_hardest_flight_there_is_is_followed() {
        // Full acceleration there and back again, told in every fifth tick, with frames lost on the way.
        let mut robot = motion(0.0, 0.0, -3.0, 2.0);
        let mut neighbour = Listened::new(robot);
        let mut silent = 0;
        for tick in 1..2000_u16 {
            let u = if tick / 37 % 2 == 0 { 10.0 } else { -10.0 };
            robot.position[0] += 0.01 * robot.velocity[0] + 0.5e-4 * u;
            robot.velocity[0] += 0.01 * u;
            robot.position[1] += 0.01 * robot.velocity[1];
            silent += 1;
            if tick % 5 == 0 && tick % 35 != 0 {
                assert!(neighbour.hear(robot, silent), "tick {tick}");
                silent = 0;
            }
        }
    }

    #[test]
    fn a_silent_neighbour_is_taken_to_fly_straight_on() {
        assert_eq!(TASK.extrapolate(&motion(1.0, 2.0, 100.0, -100.0)), motion(2.0, 1.0, 100.0, -100.0));
    }
}
