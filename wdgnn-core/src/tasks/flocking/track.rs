//! Whom to believe: what a neighbour says is held against what it can have done.

use core::f32::consts::SQRT_2;

use super::{
    motion::{Axes, Motion},
    settings::Flocking,
    weigh::{Possible, at_most_one},
};
use crate::math;

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

/// So many standard deviations of a robot's own senses are noise: one word in 16,000 per axis.
const SIGMAS: f32 = 4.0;

/// The same of what neighbours tell. Less, because what liars gain they gain in the first tenths of a second; who is refused for a word
/// counts again with the next one. With 10 cm of noise, one honest word in a hundred is.
const TOLD_SIGMAS: f32 = 2.5;

/// What robots tell has been averaged over [`TRACK_SECONDS`] of what they sense, which leaves so much of white noise at 100 Hz
/// (√(a/2) with a share of a = 0.05 per word); at first, the mean of their words so far.
const TOLD_NOISE: f32 = 0.17;

/// The average of misses may have so many times the deviation of one, times the root of a word's share in the average: white noise
/// of positions comes to 0.38 there, high-passed by the track as it is (√(c/2(a + c)) with rates a = 1/0.2 s and c = 1/0.5 s).
pub const BIAS_SIGMAS: f32 = 2.0;

/// The average of misses is kept up to so many times what is found out: it fades to that in 0.35 s.
const MOST_BIASED: f32 = 2.0;

/// A step from one miss to the next counts as so many of the largest deviations at most.
const MOST_NOISY: f32 = 6.0;

/// Whose words these are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Noise {
    /// The robot's own senses', as noisy as they were so far.
    Sensed,
    /// A neighbour's, that tells what it made of senses with this standard deviation.
    Told(f32),
}

/// What speaks against a neighbour, and how noisy its words are. It outlives a track that is begun anew, and fades.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Evidence<const D: usize = 2> {
    /// By how much its words miss its track on average, per axis: noise averages out, and a lie does not.
    pub bias: [f32; D],
    /// By how much its last word missed, per axis.
    pub last: [f32; D],
    /// The variance of its words from one to the next, per axis: a lie that is told again and again does not add to it.
    pub noise: f32,
}

impl<const D: usize> Default for Evidence<D> {
    fn default() -> Self {
        Self { bias: [0.0; D], last: [0.0; D], noise: 0.0 }
    }
}

impl<const D: usize> Flocking<D>
where
    [f32; D]: Axes,
{
    /// A robot can change its velocity by no more than its largest acceleration in the time it was silent, and its position must
    /// follow from its velocities, also over many frames: a track that believes a position only little by little goes another way
    /// than the positions of somebody whose velocity is a lie. Senses are noisy, so a robot measures how noisy its own are, from one
    /// miss to the next, and tells others its track in place of what it senses; they are held to that. A miss within a few
    /// deviations is believed; lies below that add up in the average miss, where noise does not.
    #[inline]
    pub(super) fn hold_against(
        &self,
        track: &Motion<D>,
        said: &Motion<D>,
        silent: u32,
        known: u8,
        evidence: &mut Evidence<D>,
        noise: Noise,
    ) -> (Motion<D>, bool) {
        let expected = track.after(self.period);
        let time = silent.max(1) as f32 * self.period;
        let words = f32::from(known.max(1));
        // At first every word counts alike.
        let share = at_most_one(time / TRACK_SECONDS, 1.0 / (words + 1.0));
        let weight = at_most_one(time / EVIDENCE_SECONDS, 0.0);
        // A steady change of velocity; the fastest change there and back again ends a quarter of limit · time² elsewhere.
        let reach = 0.25 * self.limit * time * time;
        let wide = match noise {
            Noise::Sensed => SIGMAS * math::sqrt(evidence.noise),
            Noise::Told(sensed) => TOLD_SIGMAS * sensed * at_most_one(TOLD_NOISE, 1.0 / (words + 1.0)),
        };
        let fastest = self.limit * time + SLACK_METRES_PER_SECOND + SIGMAS * SQRT_2 * self.velocity_noise;
        let possible = Possible {
            time,
            share,
            weight,
            reach,
            gate: reach + SLACK_METRES + wide,
            fastest,
            step: MOST_NOISY * self.position_noise,
            axis: 0.5 / D as f32,
        };
        let mut believed = true;
        let mut followed = *said;
        let mut squares = 0.0;
        for axis in 0..D {
            let Evidence { bias, last, .. } = &mut *evidence;
            let change = said.velocity[axis] - track.velocity[axis];
            let position = &mut followed.position[axis];
            let memory = (&mut bias[axis], &mut last[axis]);
            let (credible, square) = possible.weigh(position, expected.position[axis], change, memory);
            believed &= credible;
            squares += square;
        }
        evidence.noise += at_most_one(weight, 1.0 / words) * (squares - evidence.noise);
        let bound = BIAS_METRES + BIAS_SIGMAS / SIGMAS * math::sqrt(weight) * wide;
        for bias in &mut evidence.bias {
            believed &= bias.abs() <= bound;
            // Whoever is honest again is not held to account for long.
            *bias = math::clamp(*bias, MOST_BIASED * bound);
        }
        (followed, believed)
    }

    /// By how much a robot's own senses always miss its track, beyond what noise explains.
    pub(super) fn steady_miss(&self, evidence: &Evidence<D>) -> [f32; D] {
        let noise = BIAS_SIGMAS * math::sqrt(self.period / EVIDENCE_SECONDS * evidence.noise);
        evidence.bias.map(|bias| {
            let more = bias.abs() - noise;
            if more > 0.0 { more.copysign(bias) } else { 0.0 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::task::Task as _;

    const TASK: Flocking = Flocking::DEFAULT;

    /// What a robot knows of its senses that are exact.
    const EXACT: Evidence = Evidence { bias: [0.0; 2], last: [0.0; 2], noise: 0.0 };

    fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
        Motion { position: [x, y], velocity: [vx, vy] }
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
            (self.track, believed) =
                TASK.follow(&track, &said, silent, self.known, &mut self.evidence, &EXACT);
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
    fn in_space_an_honest_climber_is_believed_and_a_liar_is_found_out() {
        let task = Flocking::<3>::SUMS;
        let follows = |climb: f32, told: f32| {
            let mut said = Motion { position: [0.0; 3], velocity: [0.0, 0.0, told] };
            let (mut track, mut evidence) = (said, Evidence::default());
            (1..=100).all(|known| {
                said.position[2] += climb * task.period;
                let believed;
                (track, believed) = task.follow(&track, &said, 1, known, &mut evidence, &Evidence::default());
                believed
            })
        };
        assert!(follows(2.0, 2.0));
        assert!(!follows(0.0, 0.5), "it stands still, and says that it climbs");
    }
}
