//! Differential drive: two wheels, each on a PWM channel and a direction pin.
//!
//! Commands are accelerations of a point mass, but two wheels can only roll forward and turn. The
//! drive therefore integrates the commands to a velocity, turns toward its direction, and rolls
//! forward in proportion to how well the heading already matches.

use core::f32::consts::{PI, TAU};

use embedded_hal::{digital::OutputPin, pwm::SetDutyCycle};
use wdgnn_core::math;
use wdgnn_robot::ports::Actuator;

/// Largest heading error in radians: the error of micromath's arc tangent, tested over the full
/// circle. It does not accumulate, because the drive closes the loop over the heading.
pub const HEADING_ERROR: f32 = 0.006;

/// Dimensions and turn rate of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Distance between the wheels in meters.
    pub track: f32,
    /// Speed of a wheel at full duty cycle in m/s.
    pub full_speed: f32,
    /// Turn rate per heading error, in rad/s per radian.
    pub turning: f32,
    /// Control period in seconds.
    pub period: f32,
}

/// One wheel.
#[derive(Debug)]
pub struct Wheel<P, D> {
    /// PWM channel of the motor.
    pub duty: P,
    /// Direction pin, high for forward.
    pub ahead: D,
}

/// A wheel's PWM channel or pin failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a wheel's PWM channel or pin failed")]
pub struct WheelError;

impl<P: SetDutyCycle, D: OutputPin> Wheel<P, D> {
    /// Sets the speed as a fraction of full speed, −1 to 1. NaN stops the wheel.
    fn turn(&mut self, fraction: f32) -> Result<(), WheelError> {
        let fraction = math::clamp(if fraction.is_nan() { 0.0 } else { fraction }, 1.0);
        self.ahead.set_state((fraction >= 0.0).into()).map_err(|_| WheelError)?;
        let full = self.duty.max_duty_cycle();
        let duty = (fraction.abs() * f32::from(full) + 0.5) as u16;
        self.duty.set_duty_cycle(duty.min(full)).map_err(|_| WheelError)
    }
}

/// Actuator with two wheels.
#[derive(Debug)]
pub struct DifferentialDrive<P, D> {
    geometry: Geometry,
    left: Wheel<P, D>,
    right: Wheel<P, D>,
    velocity: [f32; 2],
    heading: f32,
}

impl<P: SetDutyCycle, D: OutputPin> DifferentialDrive<P, D> {
    /// Drive at rest with heading 0 (along the x axis).
    pub fn new(geometry: Geometry, left: Wheel<P, D>, right: Wheel<P, D>) -> Self {
        Self { geometry, left, right, velocity: [0.0; 2], heading: 0.0 }
    }

    /// Sets the heading to a measured value in radians.
    pub fn set_heading(&mut self, heading: f32) {
        self.heading = wrap_angle(heading);
    }
}

impl<P: SetDutyCycle, D: OutputPin> Actuator<[f32; 2]> for DifferentialDrive<P, D> {
    type Error = WheelError;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), WheelError> {
        let Geometry { track, full_speed, turning, period } = self.geometry;
        // A non-finite command would stay in the integrated velocity.
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
        let error = if speed > 0.0 { wrap_angle(direction(*vx, *vy) - self.heading) } else { 0.0 };
        let turn = turning * error;
        // Rolls forward by cos(error), approximated to second order, and never backward.
        let ahead = speed * (1.0 - 0.5 * error * error).max(0.0);
        self.heading = wrap_angle(self.heading + period * turn);
        let rim = 0.5 * track * turn;
        // Commands both wheels, also if the first one fails.
        let left = self.left.turn((ahead - rim) / full_speed);
        let right = self.right.turn((ahead + rim) / full_speed);
        left.and(right)
    }

    /// Stops both wheels and resets the integrated velocity.
    fn stop(&mut self) -> Result<(), WheelError> {
        self.velocity = [0.0; 2];
        let left = self.left.turn(0.0);
        let right = self.right.turn(0.0);
        left.and(right)
    }
}

/// Direction of a velocity, within [`HEADING_ERROR`]. The explicit path keeps test builds from
/// using std's `atan2`.
fn direction(x: f32, y: f32) -> f32 {
    micromath::F32(y).atan2(micromath::F32(x)).0
}

/// Wraps an angle to ±π.
fn wrap_angle(mut angle: f32) -> f32 {
    // Four steps are enough: headings stay wrapped, and a measured heading is within a few turns.
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

    /// Wheel that expects these direction states and duty cycles of 1000.
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
    fn straight_motion_drives_both_wheels_equally() {
        // 5 m/s² for 0.1 s: 0.5 of 2 m/s; then 1 m/s; then braked to rest.
        let turns = [(State::High, 250), (State::High, 500), (State::High, 0)];
        drive(&[[5.0, 0.0], [5.0, 0.0], [-10.0, 0.0]], &turns, &turns);
    }

    #[test]
    fn a_command_to_the_left_turns_on_the_spot_first() {
        // Heading error π/2: 1 − (π/2)²/2 < 0, no forward motion; rim speed 0.1 · 5 · π/2 = 0.785
        // of 2 m/s.
        drive(&[[0.0, 5.0]], &[(State::Low, 393)], &[(State::High, 393)]);
    }

    #[test]
    fn speed_is_limited_and_a_nan_command_stops() {
        drive(&[[1.0e9, 0.0]], &[(State::High, 1000)], &[(State::High, 1000)]);
        drive(&[[f32::NAN, 0.0]], &[(State::High, 0)], &[(State::High, 0)]);
    }

    /// Wheel that records its speed as a fraction of full speed.
    #[derive(Clone, Default)]
    struct RecordedWheel(std::rc::Rc<std::cell::Cell<(bool, u16)>>);

    impl RecordedWheel {
        fn speed(&self) -> f32 {
            let (ahead, duty) = self.0.get();
            if ahead { f32::from(duty) / 1000.0 } else { f32::from(duty) / -1000.0 }
        }
    }

    impl embedded_hal::pwm::ErrorType for RecordedWheel {
        type Error = core::convert::Infallible;
    }

    impl SetDutyCycle for RecordedWheel {
        fn max_duty_cycle(&self) -> u16 {
            1000
        }

        fn set_duty_cycle(&mut self, duty: u16) -> Result<(), Self::Error> {
            self.0.set((self.0.get().0, duty));
            Ok(())
        }
    }

    impl embedded_hal::digital::ErrorType for RecordedWheel {
        type Error = core::convert::Infallible;
    }

    impl OutputPin for RecordedWheel {
        fn set_low(&mut self) -> Result<(), Self::Error> {
            self.0.set((false, self.0.get().1));
            Ok(())
        }

        fn set_high(&mut self) -> Result<(), Self::Error> {
            self.0.set((true, self.0.get().1));
            Ok(())
        }
    }

    fn recorded() -> (DifferentialDrive<RecordedWheel, RecordedWheel>, RecordedWheel) {
        let [left, right] = [(); 2].map(|()| RecordedWheel::default());
        let wheel = |wheel: &RecordedWheel| Wheel { duty: wheel.clone(), ahead: wheel.clone() };
        (DifferentialDrive::new(GEOMETRY, wheel(&left), wheel(&right)), left)
    }

    #[test]
    fn velocity_does_not_wind_up_above_full_speed() {
        // 2 m/s at 5 m/s² and 0.1 s: four periods to accelerate and four to brake, for any duration
        // at full speed.
        for pushed in [4, 5, 40, 4000] {
            let (mut drive, wheel) = recorded();
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
    fn a_non_finite_command_stops_and_the_next_command_takes_effect() {
        for bad in [[f32::NAN, 0.0], [0.0, f32::NAN], [f32::INFINITY, 0.0], [0.0, f32::NEG_INFINITY]] {
            let (mut drive, wheel) = recorded();
            drive.act(&[5.0, 0.0]).unwrap();
            drive.act(&bad).unwrap();
            assert_eq!(wheel.speed(), 0.0, "{bad:?}");
            drive.act(&[5.0, 0.0]).unwrap();
            assert!((wheel.speed() - 0.25).abs() < 1.0e-3, "{} after {bad:?}", wheel.speed());
        }
    }

    #[test]
    fn after_a_stop_the_drive_accelerates_from_rest() {
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
    fn arc_tangent_error_is_within_the_bound() {
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
