//! A differential drive: two wheels, each on a PWM channel and a direction pin.
//!
//! The network's command is an acceleration of a point that goes anywhere; two wheels only roll ahead and turn. So the
//! drive keeps the velocity that the commands add up to, turns towards its direction, and rolls ahead as far as it already
//! looks there.

use core::f32::consts::{PI, TAU};

use embedded_hal::{digital::OutputPin, pwm::SetDutyCycle};
use wdgnn_core::math;
use wdgnn_robot::ports::Actuator;

/// Largest error of the heading, in radians: micromath's arc tangent (measured over the circle, and tested). The drive closes
/// the loop over the heading, so a third of a degree shifts where it looks and adds up to nothing.
pub const HEADING_ERROR: f32 = 0.006;

/// How a robot is built and how it turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Distance between the wheels, in metres.
    pub track: f32,
    /// What a wheel does at full duty, in m/s.
    pub full_speed: f32,
    /// How fast it turns towards where it wants to go, in rad/s per radian.
    pub turning: f32,
    /// The control period, in seconds.
    pub period: f32,
}

/// One wheel.
#[derive(Debug)]
pub struct Wheel<P, D> {
    /// How hard.
    pub duty: P,
    /// High for ahead.
    pub ahead: D,
}

/// A wheel did not take its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WheelFailed;

impl<P: SetDutyCycle, D: OutputPin> Wheel<P, D> {
    /// Turns with `share` of full speed, −1 to 1; stands still when it is no number.
    fn turn(&mut self, share: f32) -> Result<(), WheelFailed> {
        let share = math::clamp(if share.is_nan() { 0.0 } else { share }, 1.0);
        self.ahead.set_state((share >= 0.0).into()).map_err(|_| WheelFailed)?;
        let full = self.duty.max_duty_cycle();
        let duty = (share.abs() * f32::from(full) + 0.5) as u16;
        self.duty.set_duty_cycle(duty.min(full)).map_err(|_| WheelFailed)
    }
}

/// The drive.
#[derive(Debug)]
pub struct DifferentialDrive<P, D> {
    geometry: Geometry,
    left: Wheel<P, D>,
    right: Wheel<P, D>,
    velocity: [f32; 2],
    heading: f32,
}

impl<P: SetDutyCycle, D: OutputPin> DifferentialDrive<P, D> {
    /// A drive at rest that looks along the x axis.
    pub fn new(geometry: Geometry, left: Wheel<P, D>, right: Wheel<P, D>) -> Self {
        Self { geometry, left, right, velocity: [0.0; 2], heading: 0.0 }
    }

    /// Corrects the heading with a measured one, in radians.
    pub fn set_heading(&mut self, heading: f32) {
        self.heading = wrapped(heading);
    }
}

impl<P: SetDutyCycle, D: OutputPin> Actuator<[f32; 2]> for DifferentialDrive<P, D> {
    type Error = WheelFailed;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), WheelFailed> {
        let Geometry { track, full_speed, turning, period } = self.geometry;
        // What is no number would stay in the velocity for ever.
        if !command.iter().all(|u| u.is_finite()) {
            return self.stop();
        }
        let [vx, vy] = &mut self.velocity;
        *vx += period * command[0];
        *vy += period * command[1];
        let mut speed = math::sqrt(*vx * *vx + *vy * *vy);
        if speed > full_speed {
            *vx *= full_speed / speed;
            *vy *= full_speed / speed;
            speed = full_speed;
        }
        let off = if speed > 0.0 { wrapped(direction(*vx, *vy) - self.heading) } else { 0.0 };
        let turn = turning * off;
        // Ahead only as far as it already looks there: cos(off), to second order, never backwards.
        let ahead = speed * (1.0 - 0.5 * off * off).max(0.0);
        self.heading = wrapped(self.heading + period * turn);
        let rim = 0.5 * track * turn;
        // Both wheels are told, also when the first one fails.
        let left = self.left.turn((ahead - rim) / full_speed);
        let right = self.right.turn((ahead + rim) / full_speed);
        left.and(right)
    }

    /// Both wheels stand still, and the velocity that commands add up to begins anew.
    fn stop(&mut self) -> Result<(), WheelFailed> {
        self.velocity = [0.0; 2];
        let left = self.left.turn(0.0);
        let right = self.right.turn(0.0);
        left.and(right)
    }
}

/// The direction of a velocity, within [`HEADING_ERROR`]. By explicit path: as a method, a test build would silently take
/// std's.
fn direction(x: f32, y: f32) -> f32 {
    micromath::F32(y).atan2(micromath::F32(x)).0
}

/// An angle within ±π.
fn wrapped(mut angle: f32) -> f32 {
    // At most a few turns: headings are kept wrapped, and a measured one is an angle.
    for _ in 0..4 {
        if angle > PI {
            angle -= TAU;
        } else if angle < -PI {
            angle += TAU;
        }
    }
    angle
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use embedded_hal_mock::eh1::{
        digital::{Mock as Pin, State, Transaction as Digital},
        pwm::{Mock as Pwm, Transaction as Duty},
    };

    use super::*;

    const GEOMETRY: Geometry = Geometry { track: 0.2, full_speed: 2.0, turning: 5.0, period: 0.1 };

    /// A wheel that expects these states and duties of 1000.
    fn wheel(turns: &[(State, u16)]) -> Wheel<Pwm, Pin> {
        let duties: Vec<_> = turns
            .iter()
            .flat_map(|(_, duty)| [Duty::max_duty_cycle(1000), Duty::set_duty_cycle(*duty)])
            .collect();
        let states: Vec<_> = turns.iter().map(|(state, _)| Digital::set(*state)).collect();
        Wheel { duty: Pwm::new(&duties), ahead: Pin::new(&states) }
    }

    fn drive(commands: &[[f32; 2]], left: &[(State, u16)], right: &[(State, u16)]) {
        let mut drive = DifferentialDrive::new(GEOMETRY, wheel(left), wheel(right));
        for command in commands {
            drive.act(command).unwrap();
        }
        for mut wheel in [drive.left, drive.right] {
            wheel.duty.done();
            wheel.ahead.done();
        }
    }

    #[test]
    fn straight_ahead_both_wheels_do_the_same() {
        // 5 m/s² for 0.1 s: 0.5 m/s of 2; then 1 m/s; then braked to rest.
        let turns = [(State::High, 250), (State::High, 500), (State::High, 0)];
        drive(&[[5.0, 0.0], [5.0, 0.0], [-10.0, 0.0]], &turns, &turns);
    }

    #[test]
    fn to_the_left_it_turns_on_the_spot_first() {
        // Off by π/2: 1 − (π/2)²/2 < 0, nothing ahead; rim speed 0.1 · 5 · π/2 = 0.785 of 2 m/s.
        drive(&[[0.0, 5.0]], &[(State::Low, 393)], &[(State::High, 393)]);
    }

    #[test]
    fn never_faster_than_the_wheels_are_and_at_rest_where_the_command_is_no_number() {
        drive(&[[1.0e9, 0.0]], &[(State::High, 1000)], &[(State::High, 1000)]);
        drive(&[[f32::NAN, 0.0]], &[(State::High, 0)], &[(State::High, 0)]);
    }

    /// A wheel that remembers its speed, as a share of full speed.
    #[derive(Clone, Default)]
    struct Watched(std::rc::Rc<std::cell::Cell<(bool, u16)>>);

    impl Watched {
        fn speed(&self) -> f32 {
            let (ahead, duty) = self.0.get();
            if ahead { f32::from(duty) / 1000.0 } else { f32::from(duty) / -1000.0 }
        }
    }

    impl embedded_hal::pwm::ErrorType for Watched {
        type Error = core::convert::Infallible;
    }

    impl SetDutyCycle for Watched {
        fn max_duty_cycle(&self) -> u16 {
            1000
        }

        fn set_duty_cycle(&mut self, duty: u16) -> Result<(), Self::Error> {
            self.0.set((self.0.get().0, duty));
            Ok(())
        }
    }

    impl embedded_hal::digital::ErrorType for Watched {
        type Error = core::convert::Infallible;
    }

    impl OutputPin for Watched {
        fn set_low(&mut self) -> Result<(), Self::Error> {
            self.0.set((false, self.0.get().1));
            Ok(())
        }

        fn set_high(&mut self) -> Result<(), Self::Error> {
            self.0.set((true, self.0.get().1));
            Ok(())
        }
    }

    fn watched() -> (DifferentialDrive<Watched, Watched>, Watched) {
        let [left, right] = [(); 2].map(|()| Watched::default());
        let wheel = |watched: &Watched| Wheel { duty: watched.clone(), ahead: watched.clone() };
        (DifferentialDrive::new(GEOMETRY, wheel(&left), wheel(&right)), left)
    }

    #[test]
    fn however_long_it_was_pushed_on_it_brakes_from_full_speed_and_no_more() {
        // 2 m/s at 5 m/s² and 0.1 s: four periods up, and four down, whatever came in between.
        for pushed in [4, 5, 40, 4000] {
            let (mut drive, wheel) = watched();
            for _ in 0..pushed {
                drive.act(&[5.0, 0.0]).unwrap();
            }
            assert_eq!(wheel.speed(), 1.0);
            for expected in [0.75, 0.5, 0.25, 0.0] {
                drive.act(&[-5.0, 0.0]).unwrap();
                assert!((wheel.speed() - expected).abs() < 1.0e-3, "{} after {pushed}", wheel.speed());
            }
        }
    }

    #[test]
    fn a_command_that_is_no_number_stops_it_and_the_next_one_counts() {
        for bad in [[f32::NAN, 0.0], [0.0, f32::NAN], [f32::INFINITY, 0.0], [0.0, f32::NEG_INFINITY]] {
            let (mut drive, wheel) = watched();
            drive.act(&[5.0, 0.0]).unwrap();
            drive.act(&bad).unwrap();
            assert_eq!(wheel.speed(), 0.0, "{bad:?}");
            drive.act(&[5.0, 0.0]).unwrap();
            assert!((wheel.speed() - 0.25).abs() < 1.0e-3, "{} after {bad:?}", wheel.speed());
        }
    }

    #[test]
    fn stopped_it_stands_still_and_begins_anew_from_there() {
        let turns = [(State::High, 500), (State::High, 0), (State::High, 250)];
        let mut drive = DifferentialDrive::new(GEOMETRY, wheel(&turns), wheel(&turns));
        drive.act(&[10.0, 0.0]).unwrap();
        drive.stop().unwrap();
        drive.act(&[5.0, 0.0]).unwrap();
        for mut wheel in [drive.left, drive.right] {
            wheel.duty.done();
            wheel.ahead.done();
        }
    }

    #[test]
    fn the_arc_tangent_is_as_good_as_stated() {
        for step in 0..100_000_u32 {
            let angle = f64::from(step) * std::f64::consts::TAU / 100_000.0;
            let (y, x) = angle.sin_cos();
            let found = f64::from(direction(x as f32, y as f32));
            let error = (found - y.atan2(x)).abs();
            let error = error.min((error - std::f64::consts::TAU).abs());
            assert!(error <= f64::from(HEADING_ERROR), "{error} at {angle}");
        }
    }
}
