//! Pose of a robot with two wheels, from late measurements and its own wheel speeds.
//!
//! The filter integrates the wheel speeds of a motor model and keeps their past. A measured pose is compared
//! with the pose at the time of its exposure, and the difference corrects the whole track since then.
//! It also learns how much faster or slower each wheel turns than the model, and how much later images
//! are than their age says.

use crate::{
    Wheels,
    angle::{Vector, add, cross, direction, dot, length, scale, sub, turned, unit_or},
    latency::Latency,
};

/// Time between two steps in seconds.
pub const STEP: f32 = 0.01;
/// Steps of the track: 0.64 s.
pub(crate) const TRACK_LEN: usize = 64;
/// Share of a measured difference that corrects the pose.
const GAIN: f32 = 0.4;
/// Differences above these are outliers, in meters and as sine of an angle.
const FAR: f32 = 0.08;
const TWISTED: f32 = 0.5;
/// Number of outliers in succession after which the robot was carried to another place.
const MAX_OUTLIERS: u8 = 3;
/// Rate at which wheel gains are learned, per measurement.
const WHEEL_RATE: f32 = 0.01;
/// Largest deviation of a wheel from its model.
const MAX_DEVIATION: f32 = 0.4;
/// Slowest wheel speed from which a gain is learned, in m/s.
const LEARNING_SPEED: f32 = 0.06;
/// Sum of turns in radians at which it starts again from 0.
const MAX_DRIVEN: f32 = 100.0;
/// Usual time between two images in seconds.
const IMAGE_TIME: f32 = 1.0 / 30.0;
/// Longest time between two measurements from which gains are learned, in seconds.
const LEARNING_GAP: f32 = 0.15;

/// Pose and wheel speeds at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Position in meters.
    pub position: Vector,
    /// Unit vector to the front.
    pub direction: Vector,
    /// Speeds of the left and the right wheel in m/s.
    pub speeds: [f32; 2],
    /// Sum of all turns in radians, by the wheels alone.
    pub driven: f32,
}

impl Motion {
    const START: Self = Self { position: [0.0; 2], direction: [1.0, 0.0], speeds: [0.0; 2], driven: 0.0 };

    /// Speed forward in m/s.
    pub fn forward(&self) -> f32 {
        0.5 * (self.speeds[0] + self.speeds[1])
    }

    fn between(&self, later: &Self, share: f32) -> Self {
        let mix = |a: Vector, b: Vector| add(a, scale(share, sub(b, a)));
        Self {
            position: mix(self.position, later.position),
            direction: unit_or(mix(self.direction, later.direction), self.direction),
            speeds: mix(self.speeds, later.speeds),
            driven: self.driven + share * (later.driven - self.driven),
        }
    }
}

/// Motions of the last steps.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    motions: [Motion; TRACK_LEN],
    last: usize,
}

impl Track {
    /// Motion some seconds before the last step, at most as far as the track reaches.
    pub fn at(&self, age: f32) -> Motion {
        let steps = (age / STEP).clamp(0.0, (TRACK_LEN - 2) as f32);
        let whole = steps as usize;
        let motion = |steps: usize| {
            let index = (self.last + TRACK_LEN - steps) % TRACK_LEN;
            self.motions.get(index).copied().unwrap_or(Motion::START)
        };
        motion(whole).between(&motion(whole + 1), steps - whole as f32)
    }

    fn push(&mut self, motion: Motion) {
        self.last = (self.last + 1) % TRACK_LEN;
        self.motions.get_mut(self.last).into_iter().for_each(|slot| *slot = motion);
    }
}

/// Result of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// The pose was corrected.
    Accepted,
    /// The measurement is too far away and was ignored.
    Outlier,
    /// The robot is at a new place: the first measurement, or after outliers.
    Moved,
}

/// Filter of one robot.
#[derive(Clone, Debug)]
pub struct PoseFilter {
    track: Track,
    /// Time constant of the motors in seconds.
    lag: f32,
    /// Distance between the wheels in meters.
    track_width: f32,
    is_placed: bool,
    outliers: u8,
    /// Deviations of the wheels from their model.
    deviations: [f32; 2],
    measurements: u32,
    /// Steps since the last measurement, and the remaining difference after it: ahead and to the left.
    steps: u32,
    rest: [f32; 2],
    latency: Latency,
    learns: bool,
}

impl PoseFilter {
    /// Filter of a robot at an unknown place. `lag` is the time constant of the motors in seconds.
    pub fn new(wheels: &Wheels, lag: f32) -> Self {
        Self {
            track: Track { motions: [Motion::START; TRACK_LEN], last: 0 },
            lag: lag.max(STEP),
            track_width: wheels.track,
            is_placed: false,
            outliers: 0,
            deviations: [0.0; 2],
            measurements: 0,
            steps: 0,
            rest: [0.0; 2],
            latency: Latency::default(),
            learns: true,
        }
    }

    /// Stops or resumes learning of wheel gains.
    pub fn set_learning(&mut self, learns: bool) {
        self.learns = learns;
    }

    /// Whether the robot was measured at least once.
    pub fn is_placed(&self) -> bool {
        self.is_placed
    }

    /// Motion now.
    pub fn motion(&self) -> Motion {
        self.track.at(0.0)
    }

    /// Speed of each wheel, relative to its model, as learned.
    pub fn gains(&self) -> [f32; 2] {
        self.deviations.map(|deviation| 1.0 + deviation)
    }

    /// Delay of images beyond their stated age in seconds, as learned.
    pub fn extra_latency(&self) -> f32 {
        self.latency.offset()
    }

    /// Advances by one step, in which the wheels approach `targets` in m/s.
    pub fn advance(&mut self, targets: [f32; 2]) {
        let Motion { position, direction, speeds, driven } = self.motion();
        let share = STEP / self.lag;
        let approach = |now: f32, target: f32| now + share * (target - now);
        let speeds = [approach(speeds[0], targets[0]), approach(speeds[1], targets[1])];
        let turn = STEP * (speeds[1] - speeds[0]) / self.track_width;
        // The middle of the step has half of the turn.
        let half = unit_or([1.0, 0.5 * turn], direction);
        let middle = turned(direction, half);
        let next = Motion {
            position: add(position, scale(STEP * 0.5 * (speeds[0] + speeds[1]), middle)),
            direction: unit_or(turned(middle, half), direction),
            speeds,
            driven: driven + turn,
        };
        self.track.push(next);
        if next.driven.abs() > MAX_DRIVEN {
            // Sums of turns lose precision. Only differences count.
            self.track.motions.iter_mut().for_each(|motion| motion.driven -= next.driven);
            self.latency.forget_last();
        }
        self.steps = self.steps.saturating_add(1);
    }

    /// Takes a measured position in meters and heading in 1/65,536 of a turn, `age` seconds old.
    pub fn measure(&mut self, position: Vector, heading: i16, age: f32) -> Correction {
        if self.learns {
            self.latency.observe(&self.track, heading, age);
        }
        let past = self.track.at(age + self.latency.offset());
        let seen = direction(heading);
        let offset = sub(position, past.position);
        let [aligned, twist] = [dot(past.direction, seen), cross(past.direction, seen)];
        let is_near = length(offset) < FAR && aligned > 0.0 && twist.abs() < TWISTED;
        if !self.is_placed || !is_near {
            self.outliers = self.outliers.saturating_add(1);
            if self.is_placed && self.outliers < MAX_OUTLIERS {
                return Correction::Outlier;
            }
            self.shift(past.position, offset, [aligned, twist]);
            (self.is_placed, self.outliers, self.steps, self.rest) = (true, 0, u32::MAX, [0.0; 2]);
            return Correction::Moved;
        }
        self.outliers = 0;
        let difference = [dot(past.direction, offset), twist];
        if self.learns {
            self.learn(&past, difference);
        }
        self.rest = difference.map(|difference| (1.0 - GAIN) * difference);
        self.steps = 0;
        let partly = unit_or([1.0 - GAIN + GAIN * aligned, GAIN * twist], [1.0, 0.0]);
        self.shift(past.position, scale(GAIN, offset), partly);
        Correction::Accepted
    }

    /// Moves the track and turns it around `pivot`.
    fn shift(&mut self, pivot: Vector, offset: Vector, turn: Vector) {
        for motion in &mut self.track.motions {
            motion.position = add(add(pivot, offset), turned(sub(motion.position, pivot), turn));
            motion.direction = unit_or(turned(motion.direction, turn), motion.direction);
        }
    }

    /// Learns the gain of each wheel from what was driven since the last measurement.
    ///
    /// The differences that wheels of other speeds would cause are `ahead = (l + r)/2` and `twist = (r − l)/track` for
    /// the paths l and r by which the wheels went further than the model.
    fn learn(&mut self, past: &Motion, [ahead, twist]: [f32; 2]) {
        let time = self.steps.min(1_000) as f32 * STEP;
        if time > LEARNING_GAP {
            return;
        }
        self.measurements = self.measurements.saturating_add(1);
        let rate = WHEEL_RATE.max(1.0 / (self.measurements.min(1_000) as f32 + 20.0));
        let ahead = ahead - self.rest[0];
        let apart = 0.5 * self.track_width * (twist - self.rest[1]);
        for (index, further) in [ahead - apart, ahead + apart].into_iter().enumerate() {
            let (Some(speed), Some(deviation)) = (past.speeds.get(index), self.deviations.get_mut(index))
            else {
                continue;
            };
            if speed.abs() > LEARNING_SPEED {
                // Dividing by the time of each image would favor short times, in which late images seem fast.
                let step = rate * further / (speed * IMAGE_TIME);
                *deviation = (*deviation + step.clamp(-0.02, 0.02)).clamp(-MAX_DEVIATION, MAX_DEVIATION);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::f32::consts::{PI, TAU};
    use std::collections::VecDeque;

    use super::*;

    /// Robot whose wheels differ from the model, under a camera with 30 images per second.
    struct World {
        gains: [f32; 2],
        latency: f32,
        place: (f32, f32, f32),
        speeds: [f32; 2],
        images: VecDeque<(f32, Vector, i16)>,
        time: f32,
    }

    impl World {
        fn new(gains: [f32; 2], latency: f32) -> Self {
            let images = VecDeque::new();
            Self { gains, latency, place: (0.3, -0.2, 1.0), speeds: [0.0; 2], images, time: 0.0 }
        }

        /// Drives curves and measures, with a stated age of 0.1 s.
        fn run(&mut self, filter: &mut PoseFilter, seconds: f32) {
            for step in 0..(seconds / STEP) as u32 {
                let curve = 0.04 * (self.time * 2.0).sin() + 0.03 * (self.time * 0.7).sin();
                let targets = [0.15 - curve, 0.15 + curve];
                if step % 10 == 0 || step % 10 == 3 || step % 10 == 6 {
                    let heading = (self.place.2.rem_euclid(TAU) / TAU * 65_536.0) as i32 as i16;
                    self.images.push_back((self.time + self.latency, [self.place.0, self.place.1], heading));
                }
                if self.images.front().is_some_and(|image| image.0 <= self.time + 1.0e-4)
                    && let Some((_, position, heading)) = self.images.pop_front()
                {
                    filter.measure(position, heading, 0.1);
                }
                let gains = filter.gains();
                filter.advance([gains[0] * targets[0], gains[1] * targets[1]]);
                for (index, speed) in self.speeds.iter_mut().enumerate() {
                    *speed += STEP / 0.08 * (self.gains[index] * targets[index] - *speed);
                }
                let [left, right] = self.speeds;
                self.place.2 += STEP * (right - left) / 0.072;
                self.place.0 += STEP * 0.5 * (left + right) * self.place.2.cos();
                self.place.1 += STEP * 0.5 * (left + right) * self.place.2.sin();
                self.time += STEP;
            }
        }

        /// Errors of position in meters and of the heading in radians.
        fn errors(&self, filter: &PoseFilter) -> [f32; 2] {
            let Motion { position, direction, .. } = filter.motion();
            let turn = (crate::angle::angle(direction) - self.place.2).rem_euclid(TAU);
            [length(sub(position, [self.place.0, self.place.1])), turn.min(TAU - turn)]
        }
    }

    fn filter() -> PoseFilter {
        PoseFilter::new(&Wheels { track: 0.072, ..Wheels::IDEAL }, 0.08)
    }

    #[test]
    fn late_poses_are_predicted_to_the_present() {
        let (mut world, mut filter) = (World::new([1.0; 2], 0.1), filter());
        world.run(&mut filter, 5.0);
        let [position, heading] = world.errors(&filter);
        assert!(position < 0.001 && heading < 0.01, "{position} m, {heading} rad");
    }

    #[test]
    fn unequal_wheels_are_learned() {
        let (mut world, mut filter) = (World::new([1.15, 0.9], 0.1), filter());
        filter.set_learning(false);
        world.run(&mut filter, 20.0);
        let without = world.errors(&filter)[1];
        filter.set_learning(true);
        world.run(&mut filter, 20.0);
        let (gains, with) = (filter.gains(), world.errors(&filter)[1]);
        assert!((gains[0] - 1.15).abs() < 0.02 && (gains[1] - 0.9).abs() < 0.02, "{gains:?}");
        assert!(with < 0.3 * without, "{with} rad, {without} without learning");
    }

    #[test]
    fn an_unknown_latency_is_estimated() {
        for latency in [0.06, 0.12, 0.15] {
            let (mut world, mut filter) = (World::new([1.0; 2], latency), filter());
            world.run(&mut filter, 30.0);
            let found = 0.1 + filter.extra_latency();
            assert!((found - latency).abs() < 0.006, "{found} s, is {latency} s");
        }
    }

    #[test]
    fn a_swapped_robot_is_an_outlier_and_a_carried_one_moves() {
        let mut filter = filter();
        assert_eq!(filter.measure([1.0, 0.0], 0, 0.1), Correction::Moved);
        assert_eq!(filter.measure([0.2, 0.0], 0, 0.1), Correction::Outlier);
        assert_eq!(filter.measure([1.0, 0.01], 100, 0.1), Correction::Accepted);
        let far = [[0.0, 0.5]; 3].map(|place| filter.measure(place, 0x4000, 0.1));
        assert_eq!(far, [Correction::Outlier, Correction::Outlier, Correction::Moved]);
        let Motion { position, direction, .. } = filter.motion();
        assert!(length(sub(position, [0.0, 0.5])) < 1.0e-3 && dot(direction, [0.0, 1.0]) > 0.999);
    }

    #[test]
    fn sums_of_turns_start_again() {
        let mut filter = filter();
        for _ in 0..20_000 {
            filter.advance([-0.1, 0.1]);
        }
        assert!(filter.motion().driven.abs() < MAX_DRIVEN + PI, "{}", filter.motion().driven);
    }
}
