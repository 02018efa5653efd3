//! Motor faults: stuck, dead, weak or saturated motors, and rotated commands.

use super::{
    fault_value::FaultValue,
    heading::{Rotation, draw_rotations, rotate},
    options::Faults,
    shares::{self, share},
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

impl FaultValue for MotorFault {
    const FORM: &'static str = "stuck:SHARE, dead:SHARE or weak:SHARE with a share between 0 and 1, \
        and an optional @TICK, such as stuck:0.1@50";

    fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(':')?;
        let (_, failure) = FAILURES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        let (part, tick) = rest.split_once('@').unwrap_or((rest, "0"));
        Some(Self { failure: *failure, share: share(part)?, tick: tick.parse().ok()? })
    }

    fn text(&self) -> String {
        let name = FAILURES.iter().find(|(_, failure)| *failure == self.failure).map_or("", |(name, _)| name);
        let from = if self.tick == 0 { String::new() } else { format!("@{}", self.tick) };
        format!("{name}:{}{from}", self.share)
    }

    fn tick(&self) -> Option<u32> {
        Some(self.tick)
    }
}

/// Draws the robots of swarm number `swarm` whose motors fail.
pub fn failing(faults: &Faults, swarm: u64, robots: usize) -> Vec<bool> {
    shares::of(faults.motor.map(|fault| fault.share), faults.seed, Purpose::Motors, swarm, robots)
}

/// Motors of a swarm.
#[derive(Clone, Debug)]
pub struct Motors {
    fault: Option<MotorFault>,
    /// Largest component of a command.
    saturation: Option<f32>,
    failing: Vec<bool>,
    /// Command that stuck motors repeat.
    stuck: Vec<Option<Vec<f32>>>,
    rotations: Vec<Rotation>,
}

impl Motors {
    /// Creates the motors of swarm number `swarm`.
    pub fn new(faults: &Faults, swarm: u64, robots: usize) -> Self {
        Self {
            fault: faults.motor,
            saturation: faults.saturation,
            failing: failing(faults, swarm, robots),
            stuck: vec![None; robots],
            rotations: draw_rotations(faults, swarm, robots),
        }
    }

    /// Returns whether a robot's motors follow its commands at least in part at a tick.
    pub fn can_steer(&self, tick: u32, robot: usize) -> bool {
        let fails = |fault: MotorFault| fault.failure != Failure::Weak && tick >= fault.tick;
        !(self.failing[robot] && self.fault.is_some_and(fails))
    }

    /// Turns a robot's command at a tick into the motors' output.
    pub fn act(&mut self, tick: u32, robot: usize, command: &mut [f32]) {
        // A robot with a heading error rotates its commands by the opposite angle.
        rotate(command, self.rotations[robot].map(|[cosine, sine]| [cosine, -sine]));
        if let Some(MotorFault { failure, tick: from, .. }) = self.fault
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
        if let Some(limit) = self.saturation {
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
    fn acted(faults: &str) -> Vec<[f32; 2]> {
        let mut motors = Motors::new(&Faults { seed: 1, ..Faults::parse(faults).unwrap() }, 0, 2);
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

    fn of_one(faults: &str) -> Vec<[f32; 2]> {
        acted(faults).into_iter().step_by(2).collect()
    }

    #[test]
    fn motors_without_faults_follow_commands() {
        assert_eq!(of_one(""), [0.0, 1.0, 2.0, 3.0].map(|x| [x, -8.0]));
    }

    #[test]
    fn motor_failures_begin_at_their_tick() {
        assert_eq!(of_one("motor=stuck:1@2"), [0.0, 1.0, 2.0, 2.0].map(|x| [x, -8.0]));
        assert_eq!(of_one("motor=stuck:1"), [[0.0, -8.0]; 4]);
        assert_eq!(of_one("motor=dead:1@3"), [[0.0, -8.0], [1.0, -8.0], [2.0, -8.0], [0.0, 0.0]]);
        assert_eq!(of_one("motor=weak:1@3")[3], [3.0 * WEAK_GAIN, -8.0 * WEAK_GAIN]);
    }

    #[test]
    fn only_the_configured_share_fails() {
        let acted = acted("motor=dead:0.5");
        assert_eq!(acted[6..].iter().filter(|command| **command == [0.0; 2]).count(), 1, "{acted:?}");
    }

    #[test]
    fn saturated_motors_clip_commands() {
        assert_eq!(of_one("saturation=2.5"), [0.0, 1.0, 2.0, 2.5].map(|x| [x, -2.5]));
    }

    #[test]
    fn heading_errors_rotate_commands() {
        let [x, y] = acted("heading-error=90:1")[6];
        assert!((x.abs() - 8.0).abs() < 1.0e-5 && (y.abs() - 3.0).abs() < 1.0e-5, "{x} {y}");
    }
}
