//! Motor faults: stuck, dead, weak or saturated motors, and rotated commands.

use std::str::FromStr;

use super::{
    heading::{HeadingError, Rotation, draw_rotations, rotate},
    shares::{self, share, share_at},
};
use crate::seeds::Purpose;

/// Failure mode of motors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Repeats one command forever.
    Stuck,
    /// Ignores commands.
    Dead,
    /// Applies 40 % of each command.
    Weak,
}

/// Gain of weak motors.
const WEAK_GAIN: f32 = 0.4;

/// Motor failure of a share of the swarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotorFault {
    /// Failure mode.
    pub failure: Failure,
    /// Share of the swarm.
    pub share: f64,
    /// First tick of the failure.
    pub tick: u32,
}

const FAILURES: [(&str, Failure); 3] =
    [("stuck", Failure::Stuck), ("dead", Failure::Dead), ("weak", Failure::Weak)];

impl MotorFault {
    /// Formats the fault as a command-line argument.
    pub fn words(&self) -> String {
        let name = FAILURES.iter().find(|(_, failure)| *failure == self.failure).map_or("", |(name, _)| name);
        let from = if self.tick == 0 { String::new() } else { format!("@{}", self.tick) };
        format!("{name}:{}{from}", self.share)
    }
}

impl FromStr for MotorFault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(name, rest)| {
            let (_, failure) = FAILURES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
            let (share, tick) = share_at(rest).or_else(|| Some((share(rest)?, 0)))?;
            Some(Self { failure: *failure, share, tick })
        });
        parsed.ok_or_else(|| {
            "stuck:SHARE, dead:SHARE or weak:SHARE with a share between 0 and 1, and an optional @TICK, such as stuck:0.1@50".into()
        })
    }
}

/// Motor faults of a swarm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveFaults {
    /// Motor failure, if any.
    pub motor: Option<MotorFault>,
    /// Saturation limit of all motors, per component of a command.
    pub saturation: Option<f32>,
}

impl DriveFaults {
    /// Draws the robots of swarm number `swarm` whose motors fail.
    pub fn failing(&self, seed: u64, swarm: u64, robots: usize) -> Vec<bool> {
        shares::of(self.motor.map(|fault| fault.share), seed, Purpose::Motors, swarm, robots)
    }
}

/// Motors of a swarm.
#[derive(Clone, Debug)]
pub struct Motors {
    faults: DriveFaults,
    failing: Vec<bool>,
    /// Command that stuck motors repeat.
    stuck: Vec<Option<Vec<f32>>>,
    rotations: Vec<Rotation>,
}

impl Motors {
    /// Creates the motors of swarm number `swarm`; `heading` rotates some robots' commands.
    pub fn new(
        faults: &DriveFaults,
        heading: Option<HeadingError>,
        seed: u64,
        swarm: u64,
        robots: usize,
    ) -> Self {
        Self {
            faults: *faults,
            failing: faults.failing(seed, swarm, robots),
            stuck: vec![None; robots],
            rotations: draw_rotations(heading, seed, swarm, robots),
        }
    }

    /// Returns whether a robot's motors follow its commands at least in part at a tick.
    pub fn can_steer(&self, tick: u32, robot: usize) -> bool {
        let fails = |fault: MotorFault| fault.failure != Failure::Weak && tick >= fault.tick;
        !(self.failing[robot] && self.faults.motor.is_some_and(fails))
    }

    /// Turns a robot's command at a tick into the motors' output.
    pub fn act(&mut self, tick: u32, robot: usize, command: &mut [f32]) {
        // A robot with a heading error rotates its commands by the opposite angle.
        rotate(command, self.rotations[robot].map(|[cosine, sine]| [cosine, -sine]));
        if let Some(MotorFault { failure, tick: from, .. }) = self.faults.motor
            && self.failing[robot]
            && tick >= from
        {
            match failure {
                Failure::Stuck => {
                    command.copy_from_slice(self.stuck[robot].get_or_insert_with(|| command.to_vec()));
                }
                Failure::Dead => command.fill(0.0),
                Failure::Weak => command.iter_mut().for_each(|x| *x *= WEAK_GAIN),
            }
        }
        if let Some(limit) = self.faults.saturation {
            for x in command {
                *x = x.clamp(-limit, limit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Motor outputs of two robots for the command (tick, −8) in four ticks.
    fn acted(faults: DriveFaults, heading: Option<HeadingError>) -> Vec<[f32; 2]> {
        let mut motors = Motors::new(&faults, heading, 1, 0, 2);
        let mut act = |tick: u32, robot| {
            let mut command = [tick as f32, -8.0];
            motors.act(tick, robot, &mut command);
            command
        };
        (0..4)
            .flat_map(|tick| [0, 1].map(|robot| (tick, robot)))
            .map(|(tick, robot)| act(tick, robot))
            .collect()
    }

    fn failing_all(failure: Failure, tick: u32) -> DriveFaults {
        DriveFaults { motor: Some(MotorFault { failure, share: 1.0, tick }), saturation: None }
    }

    fn of_one(acted: &[[f32; 2]]) -> Vec<[f32; 2]> {
        acted.iter().copied().step_by(2).collect()
    }

    #[test]
    fn motors_without_faults_follow_commands() {
        assert_eq!(of_one(&acted(DriveFaults::default(), None)), [0.0, 1.0, 2.0, 3.0].map(|x| [x, -8.0]));
    }

    #[test]
    fn motor_failures_begin_at_their_tick() {
        let of = |failure, tick| of_one(&acted(failing_all(failure, tick), None));
        assert_eq!(of(Failure::Stuck, 2), [0.0, 1.0, 2.0, 2.0].map(|x| [x, -8.0]));
        assert_eq!(of(Failure::Stuck, 0), [[0.0, -8.0]; 4]);
        assert_eq!(of(Failure::Dead, 3), [[0.0, -8.0], [1.0, -8.0], [2.0, -8.0], [0.0, 0.0]]);
        assert_eq!(of(Failure::Weak, 3)[3], [3.0 * WEAK_GAIN, -8.0 * WEAK_GAIN]);
    }

    #[test]
    fn only_the_configured_share_fails() {
        let fault = MotorFault { failure: Failure::Dead, share: 0.5, tick: 0 };
        let acted = acted(DriveFaults { motor: Some(fault), saturation: None }, None);
        assert_eq!(acted[6..].iter().filter(|command| **command == [0.0; 2]).count(), 1, "{acted:?}");
    }

    #[test]
    fn saturated_motors_clip_commands() {
        let acted = acted(DriveFaults { motor: None, saturation: Some(2.5) }, None);
        assert_eq!(of_one(&acted), [0.0, 1.0, 2.0, 2.5].map(|x| [x, -2.5]));
    }

    #[test]
    fn heading_errors_rotate_commands() {
        let heading = Some(HeadingError { degrees: 90.0, share: 1.0 });
        let [x, y] = acted(DriveFaults::default(), heading)[6];
        assert!((x.abs() - 8.0).abs() < 1.0e-5 && (y.abs() - 3.0).abs() < 1.0e-5, "{x} {y}");
    }

    #[test]
    fn fault_arguments_round_trip() {
        for typed in ["stuck:0.1", "dead:0.2@50", "weak:1"] {
            assert_eq!(typed.parse::<MotorFault>().unwrap().words(), typed);
        }
        for bad in ["", "stuck", "stuck:", "stuck:2", "loose:0.1", "dead:0.1@x"] {
            assert!(bad.parse::<MotorFault>().unwrap_err().contains("stuck:0.1@50"), "{bad}");
        }
    }
}
