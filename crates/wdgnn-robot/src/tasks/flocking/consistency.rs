//! PlausibilityChecks of motions: bounded acceleration, positions that match velocities.
//!
//! A track follows the reported positions slowly, so a false velocity carries the track away from
//! the positions: the difference (the *innovation*) grows. Sensors are noisy, so each robot
//! measures its sensor noise and sends its track instead of its measurements. Neighbors compare its
//! reports with that track. An innovation within a few standard deviations passes. Smaller false
//! reports accumulate in the mean innovation, where noise averages out.

use core::f32::consts::SQRT_2;

use wdgnn_core::{
    math,
    tasks::flocking::{Flocking, Motion, SpatialVector},
};

use super::innovation_gate::{InnovationGate, bounded_share};
use crate::tasks::{ActuatorResponse, ClippedNumbers, PlausibilityChecks};

/// Tolerance of positions without noise, in meters.
///
/// It covers the step of half precision at 16 m, and rounding.
pub const SLACK_METERS: f32 = 0.03;

/// Tolerance of the mean innovation without noise, in meters.
pub const BIAS_METERS: f32 = 0.02;

/// Tolerance of velocities without noise, in m/s: the half-precision step at 8 m/s.
const SLACK_METERS_PER_SECOND: f32 = 0.05;

/// Time constant of a track, in seconds.
///
/// A velocity that is false by v displaces the track by v times this.
pub const TRACK_SECONDS: f32 = 0.2;

/// Averaging time of the innovation statistics, in seconds.
///
/// A velocity that is false by 0.1 m/s is detected at any report rate. With position noise of 10 cm
/// standard deviation the limit is 0.24 m/s (0.42 m/s at 20 Hz).
pub const STATISTICS_SECONDS: f32 = 0.5;

/// Gate of a robot's own measurements, in standard deviations.
///
/// It rejects 1 of 16,000 valid measurements per axis.
const SIGMAS: f32 = 4.0;

/// Gate of a neighbor's reports, in standard deviations.
///
/// It is narrower than [`SIGMAS`] because false reports gain most in their first tenths of a
/// second, and because a rejected neighbor counts again from its next report on. With 10 cm of
/// noise it rejects 1 of 100 valid reports.
const REPORT_SIGMAS: f32 = 2.5;

/// Standard deviation of a reported track relative to that of the measurements.
///
/// It is √(a/2) for white noise at 100 Hz, with a share of a = 0.05 per measurement. At first the
/// track is the mean of the measurements so far.
const TRACK_NOISE: f32 = 0.17;

/// Gate of the mean innovation, in standard deviations of the mean.
///
/// That deviation is the one of a single innovation times the root of its share in the mean. White
/// position noise reaches 0.38 there, because the track removes its low frequencies: √(c/2(a + c))
/// with the rates a = 1/0.2 s and c = 1/0.5 s.
pub const BIAS_SIGMAS: f32 = 2.0;

/// Limit of the stored mean innovation, relative to its gate.
///
/// With this limit, a valid neighbor passes again after 0.35 s.
const MAX_BIAS: f32 = 2.0;

/// Limit of a step between innovations, relative to the largest standard deviation.
const MAX_STEP_SIGMAS: f32 = 6.0;

/// Smallest spread of velocities at consensus, in m/s.
///
/// It covers the step of half precision and residual noise.
const MIN_SPREAD: f32 = 0.0125;

/// Innovation from which a reported position counts as a jump, in meters.
///
/// It is the distance after 0.14 s at 10 m/s².
const JUMP_METERS: f32 = 0.1;

/// Deviating actuators: smallest difference, as a share of the limit.
///
/// The share is ten standard deviations of the noisiest velocities, averaged over 0.2 s.
const DEVIATING_LIMIT_SHARE: f32 = 0.5;
/// Deviating actuators: smallest difference, as a share of the command.
///
/// Weak or saturated actuators still do a third of the command, and noise does not hide that.
const DEVIATING_COMMAND_SHARE: f32 = 0.9;
/// Following actuators: smallest command, as a share of the limit.
const FOLLOWING_LIMIT_SHARE: f32 = 0.3;
/// Following actuators: largest difference, as a share of the command.
const FOLLOWING_COMMAND_SHARE: f32 = 0.5;
/// Speed below which a robot is at rest, in m/s.
const REST_METERS_PER_SECOND: f32 = 0.3;

/// Source of a state.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// This robot's own sensors. Their noise is in the statistics.
    Sensor,
    /// A neighbor's report, with the assumed standard deviation of its sensors.
    Report(f32),
}

/// Innovation statistics of one robot, which outlive a track that restarts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnovationStats<const D: usize = 2> {
    /// Mean innovation per axis, in meters.
    ///
    /// Noise averages out, a false velocity does not.
    pub bias: [f32; D],
    /// Last innovation per axis, in meters.
    pub last: [f32; D],
    /// Variance of one innovation per axis, in m².
    ///
    /// It is measured by the steps between innovations, so a constant error does not add to it.
    pub noise: f32,
}

impl<const D: usize> Default for InnovationStats<D> {
    fn default() -> Self {
        Self { bias: [0.0; D], last: [0.0; D], noise: 0.0 }
    }
}

impl<const D: usize> PlausibilityChecks for Flocking<D>
where
    [f32; D]: SpatialVector,
{
    type Stats = InnovationStats<D>;

    fn check_neighbor(
        &self, track: &Motion<D>, reported: &Motion<D>, silent_ticks: u32, updates: u8,
        stats: &mut InnovationStats<D>, own_stats: &InnovationStats<D>,
    ) -> (Motion<D>, bool) {
        let (own, most) = (math::sqrt(own_stats.noise), self.position_noise);
        let source = Source::Report(if own < most { own } else { most });
        check(self, track, reported, silent_ticks, updates, stats, source)
    }

    fn check_own(
        &self, track: &Motion<D>, sensed: &Motion<D>, silent_ticks: u32, updates: u8,
        stats: &mut InnovationStats<D>,
    ) -> (Motion<D>, bool) {
        check(self, track, sensed, silent_ticks, updates, stats, Source::Sensor)
    }

    /// Corrects the part of the mean innovation that exceeds the noise.
    ///
    /// A small constant error of the velocity leaves the track behind the positions by the error
    /// times [`TRACK_SECONDS`]. Position and velocity of the track are corrected.
    fn bias_corrected(&self, track: &Motion<D>, stats: &InnovationStats<D>) -> Motion<D> {
        let bias = significant_bias(self, stats);
        Motion {
            position: track.position.add_scaled(1.0, &bias),
            velocity: track.velocity.add_scaled(1.0 / TRACK_SECONDS, &bias),
        }
    }

    /// Measured position, with the velocity at which the positions move.
    fn velocity_from_positions(&self, sensed: &Motion<D>, stats: &InnovationStats<D>) -> Motion<D> {
        let velocity = sensed.velocity.add_scaled(1.0 / TRACK_SECONDS, &stats.last);
        Motion { position: sensed.position, velocity }
    }

    /// Reported position, with the velocity at which the positions move.
    ///
    /// If the positions jump, the velocity is the robot's own, which in a flock is the best
    /// estimate.
    fn obstacle_state(&self, own: &Motion<D>, track: &Motion<D>, stats: &InnovationStats<D>) -> Motion<D> {
        let jumps = stats.last.iter().any(|innovation| innovation.abs() > JUMP_METERS);
        let velocity = if jumps { own.velocity } else { self.velocity_from_positions(track, stats).velocity };
        Motion { position: track.position, velocity }
    }

    /// Velocities, and the features that are means of their differences. Sums grow with the number of neighbors.
    fn clipped(&self) -> ClippedNumbers {
        let features = if self.normalized { 0..D } else { 0..0 };
        ClippedNumbers { state: D..2 * D, min_spread: MIN_SPREAD, features }
    }

    fn actuator_response(
        &self, own: &Motion<D>, commanded: &[f32; D], realized: &[f32; D],
    ) -> ActuatorResponse {
        let (difference, command) = (realized.minus(commanded).length(), commanded.length());
        if own.velocity.length() < REST_METERS_PER_SECOND {
            ActuatorResponse::AtRest
        } else if difference > DEVIATING_LIMIT_SHARE * self.limit
            && difference > DEVIATING_COMMAND_SHARE * command
        {
            ActuatorResponse::Deviates
        } else if command > FOLLOWING_LIMIT_SHARE * self.limit
            && difference < FOLLOWING_COMMAND_SHARE * command
        {
            ActuatorResponse::Follows
        } else {
            ActuatorResponse::Unknown
        }
    }
}

/// Updates a track with a new state; returns the track and whether it is plausible.
#[inline]
fn check<const D: usize>(
    task: &Flocking<D>, track: &Motion<D>, state: &Motion<D>, silent_ticks: u32, updates: u8,
    stats: &mut InnovationStats<D>, source: Source,
) -> (Motion<D>, bool)
where
    [f32; D]: SpatialVector,
{
    let expected = track.extrapolate(task.period);
    let time = silent_ticks.max(1) as f32 * task.period;
    let count = f32::from(updates.max(1));
    // At first all states have the same share.
    let share = bounded_share(time / TRACK_SECONDS, 1.0 / (count + 1.0));
    let weight = bounded_share(time / STATISTICS_SECONDS, 0.0);
    // Full acceleration followed by full braking ends limit · time² / 4 from a straight path.
    let reach = 0.25 * task.limit * time * time;
    let wide = match source {
        Source::Sensor => SIGMAS * math::sqrt(stats.noise),
        Source::Report(sensed) => REPORT_SIGMAS * sensed * bounded_share(TRACK_NOISE, 1.0 / (count + 1.0)),
    };
    let max_change = task.limit * time + SLACK_METERS_PER_SECOND + SIGMAS * SQRT_2 * task.velocity_noise;
    let gate = InnovationGate {
        time,
        share,
        weight,
        reach,
        limit: reach + SLACK_METERS + wide,
        max_change,
        max_step: MAX_STEP_SIGMAS * task.position_noise,
        axis_weight: 0.5 / D as f32,
    };
    let mut plausible = true;
    let mut updated = *state;
    let mut squares = 0.0;
    for axis in 0..D {
        let InnovationStats { bias, last, .. } = &mut *stats;
        let change = state.velocity[axis] - track.velocity[axis];
        let position = &mut updated.position[axis];
        let memory = (&mut bias[axis], &mut last[axis]);
        let (passes, square) = gate.test_axis(position, expected.position[axis], change, memory);
        plausible &= passes;
        squares += square;
    }
    stats.noise += bounded_share(weight, 1.0 / count) * (squares - stats.noise);
    let bound = BIAS_METERS + BIAS_SIGMAS / SIGMAS * math::sqrt(weight) * wide;
    for bias in &mut stats.bias {
        plausible &= bias.abs() <= bound;
        // A robot that reports correctly again recovers soon.
        *bias = math::clamp(*bias, MAX_BIAS * bound);
    }
    (updated, plausible)
}

/// Part of the mean innovation that noise does not explain.
fn significant_bias<const D: usize>(task: &Flocking<D>, stats: &InnovationStats<D>) -> [f32; D] {
    let noise = BIAS_SIGMAS * math::sqrt(task.period / STATISTICS_SECONDS * stats.noise);
    stats.bias.map(|bias| {
        let excess = bias.abs() - noise;
        if excess > 0.0 { excess.copysign(bias) } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::MotionModel as _;

    const TASK: Flocking = Flocking::DEFAULT;

    /// Statistics of exact sensors.
    const EXACT: InnovationStats = InnovationStats { bias: [0.0; 2], last: [0.0; 2], noise: 0.0 };

    fn motion(x: f32, y: f32, vx: f32, vy: f32) -> Motion {
        Motion { position: [x, y], velocity: [vx, vy] }
    }

    /// A neighbor and its track.
    struct TrackedNeighbor {
        track: Motion,
        stats: InnovationStats,
        updates: u8,
    }

    impl TrackedNeighbor {
        fn new(track: Motion) -> Self {
            Self { track, stats: InnovationStats::default(), updates: 0 }
        }

        /// A neighbor that was consistent and without noise for a second.
        fn established(track: Motion) -> Self {
            Self { updates: 100, ..Self::new(track) }
        }

        /// Processes a report after `silent` ticks; returns whether it is plausible.
        fn report(&mut self, reported: Motion, silent: u32) -> bool {
            self.updates = self.updates.saturating_add(1);
            let track = TASK.predict(&self.track, silent - 1);
            let plausible;
            (self.track, plausible) =
                TASK.check_neighbor(&track, &reported, silent, self.updates, &mut self.stats, &EXACT);
            plausible
        }
    }

    #[test]
    fn reports_beyond_the_acceleration_limit_are_implausible() {
        let before = motion(1.0, 1.0, 2.0, 0.0);
        let plausible = |after, silent| TrackedNeighbor::established(before).report(after, silent);
        assert!(plausible(motion(1.0205, 1.0, 2.1, -0.1), 1));
        assert!(!plausible(motion(1.0205, 1.0, 2.8, 0.0), 1), "too fast, even with noise");
        assert!(plausible(motion(1.0645, 1.0, 2.8, 0.0), 3), "plausible after three silent ticks");
        assert!(!plausible(motion(1.1, 1.0, 2.0, 0.0), 1), "a jump");
        assert!(!plausible(motion(1.02, 0.9, 2.0, 0.0), 1), "sideways");
    }

    #[test]
    fn false_velocity_is_detected_and_stays_detected() {
        // The neighbor is at rest and reports a velocity.
        for (speed, frames) in [(3.0, 10), (1.0, 30), (0.3, 60), (0.15, 100)] {
            for axis in 0..2 {
                let mut reported = motion(0.0, 0.0, 0.0, 0.0);
                reported.velocity[axis] = speed;
                let mut neighbor = TrackedNeighbor::new(reported);
                let found = (1..=frames).find(|_| !neighbor.report(reported, 1));
                assert!(found.is_some(), "{speed} m/s");
                assert!((0..1000).all(|_| !neighbor.report(reported, 1)), "{speed} m/s");
            }
        }
    }

    #[test]
    fn honest_neighbor_recovers_within_1200_ms() {
        let false_report = motion(0.0, 0.0, 3.0, 0.0);
        let truth = motion(0.0, 0.0, 0.0, 0.0);
        let mut neighbor = TrackedNeighbor::new(false_report);
        assert!((0..200).filter(|_| neighbor.report(false_report, 1)).count() <= 5);
        let refused = (0..1000).filter(|_| !neighbor.report(truth, 1)).count();
        assert!((1..=120).contains(&refused), "{refused}");
    }

    #[test]
    fn non_finite_reports_are_implausible_and_leave_finite_statistics() {
        let truth = motion(1.0, 1.0, 0.0, 0.0);
        for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for axis in 0..4 {
                let mut reported = truth;
                if axis < 2 {
                    reported.position[axis] = number;
                } else {
                    reported.velocity[axis - 2] = number;
                }
                let mut neighbor = TrackedNeighbor::established(truth);
                assert!(!neighbor.report(reported, 1), "{reported:?}");
                let InnovationStats { bias, last, noise } = neighbor.stats;
                assert!(bias.iter().chain(&last).chain(&[noise]).all(|x| x.is_finite()), "{reported:?}");
                let refused = (0..200).filter(|_| !neighbor.report(truth, 1)).count();
                assert!(refused <= 100, "{reported:?}: {refused}");
            }
        }
    }

    #[test]
    fn full_acceleration_is_plausible() {
        // Full acceleration back and forth, reported in every fifth tick with lost frames.
        let mut robot = motion(0.0, 0.0, -3.0, 2.0);
        let mut neighbor = TrackedNeighbor::new(robot);
        let mut silent = 0;
        for tick in 1..2000_u16 {
            let u = if tick / 37 % 2 == 0 { 10.0 } else { -10.0 };
            robot.position[0] += 0.01 * robot.velocity[0] + 0.5e-4 * u;
            robot.velocity[0] += 0.01 * u;
            robot.position[1] += 0.01 * robot.velocity[1];
            silent += 1;
            if tick % 5 == 0 && tick % 35 != 0 {
                assert!(neighbor.report(robot, silent), "tick {tick}");
                silent = 0;
            }
        }
    }

    #[test]
    fn false_climb_rate_is_detected_in_space() {
        let task = Flocking::<3>::SUMMED_FEATURES;
        let follows = |climb: f32, reported_climb: f32| {
            let mut reported = Motion { position: [0.0; 3], velocity: [0.0, 0.0, reported_climb] };
            let (mut track, mut stats) = (reported, InnovationStats::default());
            (1..=100).all(|updates| {
                reported.position[2] += climb * task.period;
                let plausible;
                (track, plausible) = task.check_neighbor(
                    &track,
                    &reported,
                    1,
                    updates,
                    &mut stats,
                    &InnovationStats::default(),
                );
                plausible
            })
        };
        assert!(follows(2.0, 2.0));
        assert!(!follows(0.0, 0.5), "a robot at rest that reports a climb");
    }
}
