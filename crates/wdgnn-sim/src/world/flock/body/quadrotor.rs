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

use super::{super::motion, Body, BodyGrad, Dynamics, Input};

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

    /// Returns the wanted horizontal force per assumed mass, and its share of the command.
    fn wanted(&self, command: [f32; 2]) -> ([f32; 2], f32) {
        let wanted = command.map(|u| self.gain * u);
        let (level, limit) = (libm::sqrtf(dot(wanted, wanted)), MAX_TILT * GRAVITY * self.mass);
        let share = if level > limit { limit / level } else { 1.0 };
        (wanted.map(|u| share * u), share)
    }

    /// Computes the controller's part of a step.
    fn control(&self, state: &State, input: &Input<2>) -> Control {
        let (wanted, share) = self.wanted(input.command);
        let up = GRAVITY * self.mass;
        let length = libm::sqrtf(dot(wanted, wanted) + up * up);
        let upright = upright(state.tilt);
        let along = dot(wanted, state.tilt) + up * upright;
        let lags = [1.0 + input.skew, 1.0 - input.skew].map(|skew| self.lag * skew);
        let error = [0, 1].map(|axis| (wanted[axis] * upright - up * state.tilt[axis]) / length);
        let goal = [0, 1].map(|axis| {
            let lag = lags[axis];
            (ATTITUDE_GAIN / lag * error[axis] - RATE_GAIN * state.rate[axis]) / lag
        });
        let filters = lags.map(|lag| Filter::new(MOTOR_LAG * lag, input.period));
        let (h, thrust_filter) = (input.period, Filter::new(MOTOR_LAG * self.lag, input.period));
        let turned = [0, 1].map(|axis| {
            let moment = state.moment[axis] - goal[axis];
            h * state.rate[axis] + 0.5 * h * h * goal[axis] + filters[axis].twice * moment
        });
        Control {
            wanted,
            share,
            up,
            length,
            upright,
            along,
            lags,
            error,
            goal,
            filters,
            thrust_filter,
            turned,
        }
    }

    /// Goes back over a step from `state`.
    pub fn step_back(&self, state: &State, motion: &Motion, input: &Input<2>, grad: &mut BodyGrad<2>) {
        let control = self.control(state, input);
        let Control { wanted, share, up, length, upright, along, lags, error, filters, turned, .. } = control;
        let after = control.apply(state, input);
        let (h, velocity, of) = (input.period, motion.velocity, &mut grad.state);
        // Acceleration.
        let by_acceleration = grad.velocity.map(|g| h * g);
        let tilt = [0, 1].map(|axis| 0.5 * (state.tilt[axis] + after.tilt[axis]));
        let lift = (DRAG[0] - DRAG[1]) / self.mass;
        let (climb, thrust) = (dot(velocity, tilt), 0.5 * (state.thrust + after.thrust) / self.mass);
        let by_thrust = dot(by_acceleration, tilt);
        let by_climb = lift * by_thrust;
        let mut by_tilt = [0.0; 2];
        for axis in 0..2 {
            grad.velocity[axis] -= by_acceleration[axis] * (DRAG[0] / self.mass + input.drag);
            grad.velocity[axis] += by_climb * tilt[axis];
            by_tilt[axis] =
                0.5 * (by_acceleration[axis] * (thrust + lift * climb) + by_climb * velocity[axis]);
            of.tilt[axis] += by_tilt[axis];
        }
        let half = 0.5 * by_thrust / self.mass;
        of.thrust += half;
        // Rotation of the thrust's direction.
        let across = dot(turned, state.tilt);
        let by_turn = dot(of.tilt, turned);
        let mut by_upright = by_turn;
        let by_angle = [0, 1].map(|axis| {
            by_tilt[axis] += of.tilt[axis] - 0.5 * by_turn * turned[axis];
            of.tilt[axis] * (upright - 0.5 * across) - 0.5 * by_turn * state.tilt[axis]
        });
        // Thrust, moments and rates.
        let decay = control.thrust_filter.decay;
        let free = along > 0.0 && along < MAX_THRUST;
        let by_along = if free { (1.0 - decay) * of.thrust } else { 0.0 };
        of.thrust = half + decay * of.thrust;
        let (mut by_wanted, mut by_length) = ([0.0; 2], 0.0);
        for axis in 0..2 {
            let Filter { decay, once, twice } = filters[axis];
            let (moment, rate, angle) = (of.moment[axis], of.rate[axis], by_angle[axis]);
            let by_moment = decay * moment + once * rate + twice * angle;
            let by_goal = moment + h * rate + 0.5 * h * h * angle - by_moment;
            of.moment[axis] = by_moment;
            of.rate[axis] = rate + h * angle - RATE_GAIN / lags[axis] * by_goal;
            let by_error = ATTITUDE_GAIN / (lags[axis] * lags[axis]) * by_goal / length;
            by_wanted[axis] = by_error * upright + by_along * state.tilt[axis];
            by_tilt[axis] += by_along * wanted[axis] - by_error * up;
            by_upright += by_error * wanted[axis];
            by_length -= by_error * error[axis];
        }
        by_upright += by_along * up;
        for axis in 0..2 {
            let slope = if upright > MIN_UPRIGHT { state.tilt[axis] / upright } else { 0.0 };
            of.tilt[axis] = by_tilt[axis] - by_upright * slope;
            by_wanted[axis] += by_length * wanted[axis] / length;
        }
        // A limited force keeps its length.
        let along_wanted = dot(by_wanted, wanted) / dot(wanted, wanted).max(f32::MIN_POSITIVE);
        for axis in 0..2 {
            let radial = if share < 1.0 { along_wanted * wanted[axis] } else { 0.0 };
            grad.command[axis] = self.gain * share * (by_wanted[axis] - radial);
        }
    }
}

/// Results of the controller in a tick.
#[derive(Clone, Copy, Debug)]
struct Control {
    /// Wanted horizontal force, its share of the command, and the vertical force.
    wanted: [f32; 2],
    share: f32,
    up: f32,
    /// Length of the wanted force.
    length: f32,
    /// Upright component of the thrust's direction.
    upright: f32,
    /// Wanted force along the thrust's direction.
    along: f32,
    lags: [f32; 2],
    /// Attitude error.
    error: [f32; 2],
    /// Wanted moment.
    goal: [f32; 2],
    filters: [Filter; 2],
    thrust_filter: Filter,
    /// Rotation in the tick.
    turned: [f32; 2],
}

impl Control {
    /// Returns the state after the tick.
    fn apply(&self, state: &State, input: &Input<2>) -> State {
        let (mut after, across) = (*state, dot(self.turned, state.tilt));
        for axis in 0..2 {
            let (filter, goal) = (self.filters[axis], self.goal[axis]);
            let moment = state.moment[axis] - goal;
            after.tilt[axis] += self.turned[axis] * (self.upright - 0.5 * across);
            after.rate[axis] += input.period * goal + filter.once * moment;
            after.moment[axis] = goal + filter.decay * moment;
        }
        let goal = self.along.clamp(0.0, MAX_THRUST);
        after.thrust = goal + self.thrust_filter.decay * (state.thrust - goal);
        after
    }
}

impl Dynamics<2> for Quadrotor {
    type State = State;

    /// Returns the state of hovering.
    fn begin(&self, _: &Motion) -> State {
        State { thrust: GRAVITY * self.mass, ..State::default() }
    }

    fn step(&self, state: &mut State, motion: &mut Motion, input: &Input<2>) {
        let before = *state;
        *state = self.control(&before, input).apply(&before, input);
        let velocity = motion.velocity;
        let tilt = [0, 1].map(|axis| 0.5 * (before.tilt[axis] + state.tilt[axis]));
        let thrust = 0.5 * (before.thrust + state.thrust) / self.mass;
        let climb = dot(velocity, tilt);
        let acceleration = [0, 1].map(|axis| {
            let drag = (DRAG[0] * velocity[axis] - (DRAG[0] - DRAG[1]) * climb * tilt[axis]) / self.mass;
            thrust * tilt[axis] - drag + input.gust[axis] - input.drag * velocity[axis]
        });
        motion::step(std::slice::from_mut(motion), &[acceleration], input.period);
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

fn dot(a: [f32; 2], b: [f32; 2]) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}

/// Returns the upright component of the thrust's direction.
fn upright(tilt: [f32; 2]) -> f32 {
    libm::sqrtf((1.0 - dot(tilt, tilt)).max(MIN_UPRIGHT * MIN_UPRIGHT))
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
