//! Robot with two wheels under a camera: sensor and actuator of a network that flies point masses.
//!
//! The network's world is larger than the floor: [`SCALE`] of its meters are one meter. Its robots are points whose velocity the
//! network accelerates. A buggy reports the velocity that it has agreed on, and turns and drives toward it ([`wdgnn_drive::buggy`]).

use wdgnn_core::tasks::flocking::Motion;
use wdgnn_drive::{
    Drive,
    buggy::{Buggy, Settings, Standing},
    calibration,
};
use wdgnn_link::frames::PoseFrame;
use wdgnn_protocol::companion::{FromPose, PlanarCommand};
use wdgnn_robot::ports::{Actuator, Measurement, Sensor};

/// Meters of the network per meter: its radio range of 2 m is 0.6 m on the floor.
pub const SCALE: f32 = 10.0 / 3.0;
/// Ticks between two writes of unchanged duties, and between two attempts after an error.
const REPEAT_TICKS: u8 = 10;

/// Sensor and actuator.
#[derive(Debug)]
pub struct Car<D> {
    buggy: Buggy,
    motors: D,
    may_drive: bool,
    /// Time of a calibration in ticks.
    calibration: Option<u32>,
    /// Duties of this tick.
    duties: [f32; 2],
    /// Duties that the motors have; `None` after an error.
    written: Option<[f32; 2]>,
    /// Ticks since the last write.
    ticks: u8,
}

/// The robot does not know its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the robot has no pose")]
pub struct NoPose;

/// The robot does not follow the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CarError {
    /// The swarm is stopped, the robot has no pose, or it is tilted.
    #[error("the robot stands")]
    Stands,
    /// The motors did not accept the duties.
    #[error("the motors do not answer")]
    Motors,
}

impl<D: Drive> Car<D> {
    /// Standing robot.
    pub fn new(settings: Settings, motors: D) -> Self {
        Self {
            buggy: Buggy::new(settings),
            motors,
            may_drive: false,
            calibration: None,
            duties: [0.0; 2],
            written: None,
            ticks: REPEAT_TICKS,
        }
    }

    /// Estimates of the robot.
    pub fn buggy(&self) -> &Buggy {
        &self.buggy
    }

    /// Stops or resumes learning of wheels and latency.
    pub fn set_learning(&mut self, learns: bool) {
        self.buggy.filter_mut().set_learning(learns);
    }

    /// Motors.
    pub fn motors(&self) -> &D {
        &self.motors
    }

    /// Takes the poses of an image, `age` seconds old.
    pub fn see(&mut self, frame: &PoseFrame, age: f32) {
        self.buggy.begin_image();
        for (robot, pose) in frame.poses() {
            self.buggy.see(robot, pose.position, pose.heading, age);
        }
    }

    /// Allows or forbids driving from the next command on.
    pub fn set_may_drive(&mut self, may_drive: bool) {
        self.may_drive = may_drive;
    }

    /// Begins to drive for a calibration of the wheels, or ends it.
    pub fn set_calibration(&mut self, is_on: bool) {
        self.calibration = is_on.then_some(0);
    }

    /// Why the robot stands although it may drive.
    pub fn standing(&self) -> Option<Standing> {
        self.buggy.standing()
    }

    /// Duties of the left and the right wheel in this tick.
    pub fn duties(&self) -> [f32; 2] {
        self.duties
    }

    /// Whether the motors answered the last write.
    pub fn has_motors(&self) -> bool {
        self.written.is_some()
    }

    /// Writes duties that changed, and others from time to time, because a motor board may have been unplugged.
    fn write(&mut self, duties: [f32; 2]) -> Result<(), CarError> {
        self.duties = duties;
        self.ticks = self.ticks.saturating_add(1);
        let is_due = self.ticks >= REPEAT_TICKS;
        if is_due || (self.written.is_some() && self.written != Some(duties)) {
            self.ticks = 0;
            let written = self.motors.drive(duties[0], duties[1]);
            self.written = written.is_ok().then_some(duties);
        }
        if self.written.is_some() { Ok(()) } else { Err(CarError::Motors) }
    }
}

impl<D: Drive, S: FromPose> Sensor<S> for Car<D> {
    type Error = NoPose;

    fn sense(&mut self) -> Result<Measurement<S>, NoPose> {
        let (position, velocity) = self.buggy.state().ok_or(NoPose)?;
        let [position, velocity] = [position, velocity].map(|vector| vector.map(|x| SCALE * x));
        Ok(Measurement::now(S::from_pose(&Motion { position, velocity })))
    }
}

impl<D: Drive, C: PlanarCommand> Actuator<C> for Car<D> {
    type Error = CarError;

    fn act(&mut self, command: &C) -> Result<(), CarError> {
        if !self.may_drive || self.buggy.standing().is_some() {
            Actuator::<C>::stop(self)?;
            return Err(CarError::Stands);
        }
        let duties = self.buggy.drive(command.components().map(|a| a / SCALE));
        self.write(duties)
    }

    fn stop(&mut self) -> Result<(), CarError> {
        let standing = self.buggy.stand();
        let duties = self.calibration.and_then(calibration::duties);
        self.calibration = duties.and(self.calibration).map(|time| time + 1);
        self.write(duties.unwrap_or(standing))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use wdgnn_link::frames::{PoseHeader, poses::Pose};

    use super::*;

    /// Motors that may be unplugged.
    #[derive(Default)]
    struct Motors {
        frames: Vec<[f32; 2]>,
        unplugged: bool,
    }

    impl Drive for Motors {
        type Error = ();

        fn drive(&mut self, left: f32, right: f32) -> Result<(), ()> {
            if self.unplugged {
                return Err(());
            }
            self.frames.push([left, right]);
            Ok(())
        }
    }

    fn car() -> Car<Motors> {
        let mut car = Car::new(Settings::MAQUEEN, Motors::default());
        car.set_may_drive(true);
        see(&mut car);
        car
    }

    fn see(car: &mut Car<Motors>) {
        let mut frame = PoseFrame::new(PoseHeader::default());
        assert!(frame.push(0, &Pose { position: [0.3, 0.0], heading: 0 }));
        car.see(&frame, 0.1);
    }

    fn act(car: &mut Car<Motors>) -> Result<(), CarError> {
        Actuator::<[f32; 2]>::act(car, &[1.0, 0.0])
    }

    #[test]
    fn states_are_scaled_and_forbidden_robots_stand() {
        let mut car = car();
        let state: Measurement<Motion> = car.sense().unwrap();
        assert!((state.state.position[0] - 1.0).abs() < 1.0e-6);
        assert_eq!(act(&mut car), Ok(()));
        assert!(car.motors.frames[0][0] > 0.2);
        car.set_may_drive(false);
        assert_eq!(act(&mut car), Err(CarError::Stands));
        assert_eq!(car.motors.frames[1..], [[0.0; 2]]);
    }

    #[test]
    fn silence_stops_the_wheels_within_160_ms() {
        let mut car = car();
        (0..17).for_each(|_| _ = act(&mut car));
        assert_eq!((car.standing(), car.duties()), (Some(Standing::Silence), [0.0; 2]));
        assert_eq!(car.motors.frames.last(), Some(&[0.0; 2]));
        assert_eq!(Sensor::<Motion>::sense(&mut car), Err(NoPose));
    }

    #[test]
    fn unplugged_motors_are_reported_and_recover() {
        let mut car = car();
        act(&mut car).unwrap();
        car.motors.unplugged = true;
        (0..3).for_each(|_| _ = act(&mut car));
        assert_eq!((act(&mut car), car.has_motors()), (Err(CarError::Motors), false));
        car.motors.unplugged = false;
        see(&mut car);
        for _ in 0..=REPEAT_TICKS {
            let _ = act(&mut car);
        }
        assert!(car.has_motors());
        assert_eq!(car.motors.frames.last(), Some(&car.duties()));
    }

    #[test]
    fn a_calibration_drives_without_poses_and_ends() {
        let mut car = car();
        car.set_may_drive(false);
        car.set_calibration(true);
        (0..2_400).for_each(|_| _ = act(&mut car));
        assert!(car.motors.frames.contains(&[0.5; 2]) && car.motors.frames.contains(&[-0.4, 0.4]));
        assert_eq!(car.duties(), [0.0; 2]);
        car.set_calibration(true);
        act(&mut car).unwrap_err();
        car.set_calibration(false);
        act(&mut car).unwrap_err();
        assert_eq!(car.duties(), [0.0; 2]);
    }

    #[test]
    fn unchanged_duties_are_repeated_ten_times_per_second() {
        let mut car = car();
        car.set_may_drive(false);
        (0..100).for_each(|_| _ = act(&mut car));
        assert_eq!(car.motors.frames, [[0.0; 2]; 10]);
    }
}
