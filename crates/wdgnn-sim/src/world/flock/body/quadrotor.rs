//! Quadrotor in level flight: attitude and thrust follow the command.
//!
//! Parameters are the published ones of the Crazyflie 2 with the attitude controller of RotorPy
//! (`rotorpy.vehicles.crazyflie_params`). The controller runs once per tick; between its runs the
//! motion is integrated exactly, except for terms of third order in the rotation of one tick.
//!
//! ```text
//! force     F = (u, g m)            wanted per assumed mass; its horizontal part is limited
//! direction b = (s, c)              of the thrust, c = √(1 − |s|²)
//! moment    M' = (kp (c d − d_z s) − kd ω − M) / τ,   d = F/|F|
//! thrust    T' = (F·b − T) / τ,     ω' = M,   s' = c ω
//! velocity  v' = T s / m − drag
//! ```

use wdgnn_core::tasks::flocking::Motion;

use super::{super::motion, Body, Dynamics, Input};

/// Acceleration of gravity in m/s².
pub const GRAVITY: f32 = 9.81;
/// Time constant of the motors in seconds.
const MOTOR_LAG: f32 = 0.072;
/// Gain of the attitude error in 1/s².
const ATTITUDE_GAIN: f32 = 310.0;
/// Gain of the body rates in 1/s.
const RATE_GAIN: f32 = 57.0;
/// Drag of the rotors across and along the thrust in 1/s, for the assumed mass.
const DRAG: [f32; 2] = [0.2445, 0.1801];
/// Largest thrust in m/s² per assumed mass: four rotors at 2500 rad/s.
const MAX_THRUST: f32 = 19.2;
/// Tangent of the largest wanted tilt, 60°.
const MAX_TILT: f32 = 1.732;
/// Smallest upright component of the thrust's direction.
const MIN_UPRIGHT: f32 = 0.05;

/// Internal state of a quadrotor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Horizontal components of the thrust's direction.
    pub tilt: [f32; 2],
    /// Rates of rotation in rad/s.
    pub rate: [f32; 2],
    /// Angular accelerations by the motors in rad/s².
    pub moment: [f32; 2],
    /// Thrust in m/s² per assumed mass.
    pub thrust: f32,
}

/// Quadrotor.
#[derive(Clone, Copy, Debug)]
pub struct Quadrotor {
    mass: f32,
    lag: f32,
    gain: f32,
}

impl Quadrotor {
    /// Creates the quadrotor with these settings.
    pub fn new(body: &Body) -> Self {
        Self { mass: body.mass, lag: body.lag, gain: body.gain }
    }

    /// Returns the wanted force per assumed mass: horizontal and vertical.
    fn wanted(&self, command: [f32; 2]) -> ([f32; 2], f32) {
        let up = GRAVITY * self.mass;
        let wanted = command.map(|u| self.gain * u);
        let level = libm::sqrtf(wanted[0] * wanted[0] + wanted[1] * wanted[1]);
        let limit = MAX_TILT * up;
        (if level > limit { wanted.map(|u| u * limit / level) } else { wanted }, up)
    }
}

impl Dynamics<2> for Quadrotor {
    type State = State;

    /// Returns the state of hovering.
    fn begin(&self, _: &Motion) -> State {
        State { thrust: GRAVITY * self.mass, ..State::default() }
    }

    fn step(&self, state: &mut State, motion: &mut Motion, input: &Input<2>) {
        let h = input.period;
        let (wanted, up) = self.wanted(input.command);
        let length = libm::sqrtf(wanted[0] * wanted[0] + wanted[1] * wanted[1] + up * up);
        let before = *state;
        let upright = upright(before.tilt);
        let along = wanted[0] * before.tilt[0] + wanted[1] * before.tilt[1] + up * upright;
        let mut turned = [0.0; 2];
        let skews = [input.skew, -input.skew];
        for (axis, (turned, skew)) in turned.iter_mut().zip(skews).enumerate() {
            let lag = self.lag * (1.0 + skew);
            let filter = Filter::new(MOTOR_LAG * lag, h);
            let error = (wanted[axis] * upright - up * before.tilt[axis]) / length;
            let goal = (ATTITUDE_GAIN / lag * error - RATE_GAIN * before.rate[axis]) / lag;
            let moment = before.moment[axis] - goal;
            *turned = h * before.rate[axis] + 0.5 * h * h * goal + filter.twice * moment;
            state.rate[axis] = before.rate[axis] + h * goal + filter.once * moment;
            state.moment[axis] = goal + filter.decay * moment;
        }
        let filter = Filter::new(MOTOR_LAG * self.lag, h);
        let goal = along.clamp(0.0, MAX_THRUST);
        state.thrust = goal + filter.decay * (before.thrust - goal);
        let across = turned[0] * before.tilt[0] + turned[1] * before.tilt[1];
        for (tilt, turned) in state.tilt.iter_mut().zip(turned) {
            *tilt += turned * (upright - 0.5 * across);
        }
        let velocity = motion.velocity;
        let thrust = 0.5 * (before.thrust + state.thrust) / self.mass;
        let climb =
            0.5 * (0..2).map(|axis| velocity[axis] * (before.tilt[axis] + state.tilt[axis])).sum::<f32>();
        let acceleration = std::array::from_fn(|axis| {
            let tilt = 0.5 * (before.tilt[axis] + state.tilt[axis]);
            let drag = (DRAG[0] * velocity[axis] - (DRAG[0] - DRAG[1]) * climb * tilt) / self.mass;
            thrust * tilt - drag + input.gust[axis] - input.drag * velocity[axis]
        });
        motion::step(std::slice::from_mut(motion), &[acceleration], h);
    }
}

/// Exact step of a first-order lag: its decay and the integrals of it.
#[derive(Clone, Copy, Debug)]
struct Filter {
    decay: f32,
    once: f32,
    twice: f32,
}

impl Filter {
    fn new(lag: f32, period: f32) -> Self {
        let decay = libm::expf(-period / lag);
        let once = lag * (1.0 - decay);
        Self { decay, once, twice: lag * (period - once) }
    }
}

/// Returns the upright component of the thrust's direction.
fn upright(tilt: [f32; 2]) -> f32 {
    libm::sqrtf((1.0 - tilt[0] * tilt[0] - tilt[1] * tilt[1]).max(MIN_UPRIGHT * MIN_UPRIGHT))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{BodyConfig, BodyKind},
        *,
    };
    use crate::seeds::{Purpose, generator};

    /// Velocities along x that RotorPy's Crazyflie reaches with `cmd_acc`: the command, its length
    /// in ticks, and pairs of ticks and velocities.
    type Response = ([f32; 2], u32, [(usize, f32); 7]);
    const ROTORPY: [Response; 4] = [
        (
            [2.0, 0.0],
            100,
            [(5, 0.0018), (10, 0.0223), (15, 0.0765), (20, 0.1514), (30, 0.29), (50, 0.6301), (100, 1.479)],
        ),
        (
            [10.0, 0.0],
            100,
            [(5, 0.0066), (10, 0.0822), (15, 0.2983), (20, 0.628), (30, 1.3134), (50, 2.9854), (100, 7.2464)],
        ),
        (
            [-10.0, 10.0],
            100,
            [
                (5, -0.0053),
                (10, -0.0672),
                (15, -0.2579),
                (20, -0.5765),
                (30, -1.3056),
                (50, -2.9937),
                (100, -7.2408),
            ],
        ),
        (
            [10.0, 0.0],
            30,
            [
                (30, 1.3134),
                (35, 1.6192),
                (40, 1.843),
                (45, 1.9524),
                (60, 2.0999),
                (70, 2.1431),
                (100, 2.0533),
            ],
        ),
    ];

    #[test]
    fn steps_and_pulses_are_those_of_rotorpy() {
        let body = BodyConfig::from(BodyKind::Quadrotor).draw(&mut generator(1, Purpose::SwarmDynamics, 0));
        let quadrotor = Quadrotor::new(&body);
        for (command, length, recorded) in ROTORPY {
            let mut motion = Motion { position: [0.0; 2], velocity: [0.0; 2] };
            let mut state = quadrotor.begin(&motion);
            let mut velocities = vec![0.0];
            for tick in 0..100 {
                let command = if tick < length { command } else { [0.0; 2] };
                let input = Input { command, gust: [0.0; 2], drag: 0.0, period: 0.01, skew: 0.0 };
                quadrotor.step(&mut state, &mut motion, &input);
                velocities.push(motion.velocity[0]);
            }
            for (tick, velocity) in recorded {
                let error = (velocities[tick] - velocity).abs();
                assert!(
                    error < 0.05 * velocity.abs() + 0.001,
                    "{command:?}, tick {tick}: {} {velocity}",
                    velocities[tick]
                );
            }
        }
    }
}
