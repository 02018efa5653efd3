//! Differential drive: two wheels with motor lag and dead zone, and a heading.
//!
//! The state of the robot is that of a point ahead of the axle, which can move in every direction.
//! The wanted velocity integrates the commands; each wheel gets the duty that holds its part of it.
//! Parameters are those of the DotBot v3 (`dotbot.sim.plant`), in meters and seconds.

use wdgnn_core::tasks::flocking::Motion;

use super::{Body, Dynamics, Input};

/// Distance of the point from the axle in meters.
const LEVER: f32 = 0.0515;
/// Distance of the wheels' tracks in meters: spinning, and on wide arcs.
const TRACK: [f32; 2] = [0.081, 0.085];
/// Ratio of the wheels' sum to their difference on wide arcs.
const WIDE_ARC: f32 = 2.35;
/// Time constant of the wheels in seconds.
const MOTOR_LAG: f32 = 0.05;
/// Wheel speed at full duty in m/s.
const MAX_WHEEL: f32 = 0.701;
/// Wheel speed at the duty at which a resting wheel breaks away, in m/s.
const BREAKAWAY: f32 = 0.0825;
/// Wheel speed below which a wheel rests, in m/s.
const RESTING: f32 = 0.001;
/// Wanted wheel speed below which a wheel brakes, in m/s.
const DEAD_ZONE: f32 = 0.002;
/// Largest difference of the wanted from the true velocity per axis in m/s, against windup.
const WINDUP: f32 = 0.15;

/// Internal state of a differential drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Direction ahead.
    ahead: [f32; 2],
    /// Speeds of the left and the right wheel in m/s.
    wheels: [f32; 2],
    /// Wanted velocity in m/s.
    wanted: [f32; 2],
}

/// Differential drive.
#[derive(Clone, Copy, Debug)]
pub struct Differential {
    lag: f32,
    gain: f32,
}

impl Differential {
    /// Creates the drive with these settings.
    pub fn new(body: &Body) -> Self {
        Self { lag: MOTOR_LAG * body.lag, gain: body.gain }
    }

    /// Returns the speed that a wheel approaches.
    fn approached(&self, wanted: f32, speed: f32, skew: f32) -> f32 {
        if wanted.abs() < DEAD_ZONE {
            return 0.0;
        }
        let least = if speed.abs() < RESTING { BREAKAWAY } else { 0.0 };
        self.gain * (1.0 + skew) * wanted.abs().max(least).min(MAX_WHEEL).copysign(wanted)
    }
}

impl Dynamics<2> for Differential {
    type State = State;

    /// Returns the state of a robot that rolls in the direction of its velocity.
    fn begin(&self, motion: &Motion) -> State {
        let [x, y] = motion.velocity;
        let speed = libm::sqrtf(x * x + y * y);
        let ahead = if speed > 0.0 { [x / speed, y / speed] } else { [1.0, 0.0] };
        State { ahead, wheels: [speed; 2], wanted: motion.velocity }
    }

    fn step(&self, state: &mut State, motion: &mut Motion, input: &Input<2>) {
        let h = input.period;
        for axis in 0..2 {
            let v = motion.velocity[axis];
            let change = input.command[axis] + input.gust[axis] - input.drag * v;
            state.wanted[axis] = v + (state.wanted[axis] + h * change - v).clamp(-WINDUP, WINDUP);
        }
        let roll = dot(state.wanted, state.ahead);
        let turn = dot(state.wanted, left_of(state.ahead)) / LEVER;
        // The track depends on the ratio of the wheels' speeds: two rounds are within 0.1 %.
        let wheels = |track: f32| [roll - 0.5 * turn * track, roll + 0.5 * turn * track];
        let wanted = wheels(track(wheels(track(wheels(TRACK[1])))));
        let keep = libm::expf(-h / self.lag);
        let before = state.wheels;
        for (wheel, skew) in [input.skew, -input.skew].into_iter().enumerate() {
            let goal = self.approached(wanted[wheel], before[wheel], skew);
            let speed = goal + keep * (before[wheel] - goal);
            state.wheels[wheel] = if goal == 0.0 && speed.abs() < 0.1 * RESTING { 0.0 } else { speed };
        }
        let path = [0, 1].map(|wheel| 0.5 * h * (before[wheel] + state.wheels[wheel]));
        let (length, angle) = motion_of(path);
        let middle = rotated(state.ahead, 0.5 * angle);
        let after = rotated(state.ahead, angle);
        for axis in 0..2 {
            motion.position[axis] += length * middle[axis] + LEVER * (after[axis] - state.ahead[axis]);
        }
        state.ahead = after;
        let (speed, rate) = motion_of(state.wheels);
        let left = left_of(after);
        motion.velocity = [0, 1].map(|axis| speed * after[axis] + LEVER * rate * left[axis]);
    }
}

/// Returns length and angle of the path of two wheels, or speed and rate.
fn motion_of(wheels: [f32; 2]) -> (f32, f32) {
    (0.5 * (wheels[0] + wheels[1]), (wheels[1] - wheels[0]) / track(wheels))
}

/// Returns the distance of the wheels' tracks, which is larger on wide arcs.
fn track(wheels: [f32; 2]) -> f32 {
    let (difference, sum) = ((wheels[1] - wheels[0]).abs(), (wheels[1] + wheels[0]).abs());
    let limit = WIDE_ARC * difference;
    if sum >= limit { TRACK[1] } else { TRACK[0] + (TRACK[1] - TRACK[0]) * sum / limit }
}

fn dot(a: [f32; 2], b: [f32; 2]) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}

fn left_of([x, y]: [f32; 2]) -> [f32; 2] {
    [-y, x]
}

fn rotated(vector: [f32; 2], angle: f32) -> [f32; 2] {
    let (sine, cosine) = (libm::sinf(angle), libm::cosf(angle));
    let left = left_of(vector);
    [0, 1].map(|axis| cosine * vector[axis] + sine * left[axis])
}
