//! Differential drive: two wheels that follow the accelerations of a point mass.
//!
//! Two wheels can only roll forward and turn. The drive therefore integrates the commands to a
//! velocity, turns toward its direction, and rolls forward in proportion to how well the heading
//! already matches. [`wdgnn_drive`] has the motors and the calibration of the wheels.

use core::f32::consts::{PI, TAU};

use wdgnn_core::math;
use wdgnn_drive::{Drive, Wheels};
use wdgnn_robot::ports::Actuator;

/// Largest heading error in radians: the error of micromath's arc tangent, tested over the full
/// circle. It does not accumulate, because the drive closes the loop over the heading.
pub const HEADING_ERROR: f32 = 0.006;

/// Steering of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steering {
    /// Turn rate per heading error, in rad/s per radian.
    pub turning: f32,
    /// Control period in seconds.
    pub period: f32,
}

/// Actuator with two wheels.
#[derive(Debug)]
pub struct DifferentialDrive<D> {
    motors: D,
    wheels: Wheels,
    steering: Steering,
    velocity: [f32; 2],
    heading: f32,
}

impl<D: Drive> DifferentialDrive<D> {
    /// Drive at rest with heading 0 (along the x axis).
    pub fn new(motors: D, wheels: Wheels, steering: Steering) -> Self {
        Self { motors, wheels, steering, velocity: [0.0; 2], heading: 0.0 }
    }

    /// Heading in radians, from measurements and commands.
    pub fn heading(&self) -> f32 {
        self.heading
    }

    /// Sets the heading to a measured value in radians.
    pub fn set_heading(&mut self, heading: f32) {
        self.heading = wrap_angle(heading);
    }
}

impl<D: Drive> Actuator<[f32; 2]> for DifferentialDrive<D> {
    type Error = D::Error;

    fn act(&mut self, command: &[f32; 2]) -> Result<(), D::Error> {
        let Steering { turning, period } = self.steering;
        let Wheels { track, full_speed, .. } = self.wheels;
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
        // Rolls forward by cos(error), approximated to second order, and never backward.
        let (ahead, turn) = (speed * (1.0 - 0.5 * error * error).max(0.0), turning * error);
        // The wheels may turn the robot more slowly.
        let [left, right] = self.wheels.speeds(ahead, turn);
        self.heading = wrap_angle(self.heading + period * (right - left) / track);
        let [left, right] = self.wheels.duties(ahead, turn);
        self.motors.drive(left, right)
    }

    /// Stops both wheels and resets the integrated velocity.
    fn stop(&mut self) -> Result<(), D::Error> {
        self.velocity = [0.0; 2];
        self.motors.stop()
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

    use super::*;

    const WHEELS: Wheels = Wheels { track: 0.2, full_speed: 2.0, ..Wheels::IDEAL };

    /// Motors that store their duties.
    #[derive(Default)]
    struct Duties([f32; 2]);

    impl Drive for Duties {
        type Error = core::convert::Infallible;

        fn drive(&mut self, left: f32, right: f32) -> Result<(), Self::Error> {
            self.0 = [left, right];
            Ok(())
        }
    }

    fn drive() -> DifferentialDrive<Duties> {
        DifferentialDrive::new(Duties::default(), WHEELS, Steering { turning: 5.0, period: 0.1 })
    }

    /// Executes commands and compares the duties after each.
    fn assert_duties(drive: &mut DifferentialDrive<Duties>, commands: &[([f32; 2], [f32; 2])]) {
        for (command, expected) in commands {
            drive.act(command).unwrap();
            for (found, expected) in drive.motors.0.iter().zip(expected) {
                assert!((found - expected).abs() < 1.0e-3, "{found} after {command:?}, expected {expected}");
            }
        }
    }

    #[test]
    fn straight_motion_drives_both_wheels_equally() {
        // 5 m/s² for 0.1 s: 0.5 of 2 m/s; then 1 m/s; then braked to rest.
        let commands = [([5.0, 0.0], [0.25; 2]), ([5.0, 0.0], [0.5; 2]), ([-10.0, 0.0], [0.0; 2])];
        assert_duties(&mut drive(), &commands);
    }

    #[test]
    fn a_command_to_the_left_turns_on_the_spot_first() {
        // Heading error π/2: 1 − (π/2)²/2 < 0, no forward motion; rim speed 0.1 · 5 · π/2 = 0.785
        // of 2 m/s.
        let mut drive = drive();
        assert_duties(&mut drive, &[([0.0, 5.0], [-0.393, 0.393])]);
        // 0.1 s at 5 · π/2 rad/s.
        assert!((drive.heading() - 0.785).abs() < 5.0e-3, "{}", drive.heading());
    }

    #[test]
    fn speed_is_limited_and_the_robot_does_not_turn_faster_than_its_wheels() {
        assert_duties(&mut drive(), &[([1.0e9, 0.0], [1.0; 2])]);
        // Half a turn at 100 rad/s per radian needs 31 m/s at the rim.
        let steering = Steering { turning: 100.0, period: 0.01 };
        let mut drive = DifferentialDrive::new(Duties::default(), WHEELS, steering);
        drive.set_heading(PI - 0.01);
        assert_duties(&mut drive, &[([5.0, 0.0], [1.0, -1.0])]);
        assert!((drive.heading() - (PI - 0.01 - 0.01 * 4.0 / 0.2)).abs() < 1.0e-3, "{}", drive.heading());
    }

    #[test]
    fn velocity_does_not_wind_up_above_full_speed() {
        // 2 m/s at 5 m/s² and 0.1 s: four periods to accelerate and four to brake, for any duration
        // at full speed.
        for pushed in [4, 5, 40, 4000] {
            let mut drive = drive();
            for _ in 0..pushed {
                drive.act(&[5.0, 0.0]).unwrap();
            }
            assert_eq!(drive.motors.0, [1.0; 2]);
            let braking = [0.75, 0.5, 0.25, 0.0].map(|duty| ([-5.0, 0.0], [duty; 2]));
            assert_duties(&mut drive, &braking);
        }
    }

    #[test]
    fn a_non_finite_command_stops_and_the_next_command_takes_effect() {
        for bad in [[f32::NAN, 0.0], [0.0, f32::NAN], [f32::INFINITY, 0.0], [0.0, f32::NEG_INFINITY]] {
            let commands = [([5.0, 0.0], [0.25; 2]), (bad, [0.0; 2]), ([5.0, 0.0], [0.25; 2])];
            assert_duties(&mut drive(), &commands);
        }
    }

    #[test]
    fn after_a_stop_the_drive_accelerates_from_rest() {
        let mut drive = drive();
        assert_duties(&mut drive, &[([10.0, 0.0], [0.5; 2])]);
        drive.stop().unwrap();
        assert_eq!(drive.motors.0, [0.0; 2]);
        assert_duties(&mut drive, &[([5.0, 0.0], [0.25; 2])]);
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
