//! Safety gate: the last step before the actuators.
//!
//! Every command that passes is finite and within limits. A robot without neighbors comes to rest.

use core::iter::Empty;

use crate::{controller::Obstacles, safety::failsafe::FailsafeLevel, tasks::RobotTask};

/// Phase of isolation: time without trusted neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum IsolationPhase {
    /// Short: the robot keeps its velocity.
    Hold,
    /// Longer: the robot slows down.
    Slow,
    /// Long: the robot comes to rest.
    Stop,
}

/// Lengths of the phases of isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsolationLimits {
    /// Ticks of [`IsolationPhase::Hold`].
    pub hold_ticks: u32,
    /// Ticks of [`IsolationPhase::Slow`].
    pub slow_ticks: u32,
}

impl IsolationLimits {
    /// One second each at 100 ticks a second.
    pub const DEFAULT: Self = Self { hold_ticks: 100, slow_ticks: 100 };

    /// Phase after `isolated_ticks` without neighbors; `None` with neighbors.
    pub fn phase(&self, isolated_ticks: u32) -> Option<IsolationPhase> {
        match isolated_ticks {
            0 => None,
            ticks if ticks <= self.hold_ticks => Some(IsolationPhase::Hold),
            ticks if ticks <= self.hold_ticks.saturating_add(self.slow_ticks) => Some(IsolationPhase::Slow),
            _ => Some(IsolationPhase::Stop),
        }
    }
}

/// Effect of the gate on a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Verdict {
    /// Unchanged output of the network.
    Clear,
    /// Limited, or changed by collision avoidance.
    Limited,
    /// Fallback of the task: the output was not finite.
    NotFinite,
    /// Fallback of the task: the robot has no neighbors.
    Alone(IsolationPhase),
    /// Fallback of the task: the robot has a fault.
    Failsafe(FailsafeLevel),
    /// No command: the robot does not know its state, and the actuator stops by its own means.
    Blind,
}

/// Applies the gate to the output of another controller than an agent.
///
/// All neighbors are trusted, and there are no other obstacles.
pub fn guard_command<'a, T: RobotTask>(
    task: &T, own: &T::State, neighbors: impl Iterator<Item = &'a T::State> + Clone, output: &T::Command,
) -> (T::Command, Verdict) {
    let obstacles = Obstacles::<Empty<T::State>, Empty<T::State>>::NONE;
    Surroundings { task, own, obstacles, level: None, isolation: None }.guard(neighbors, output)
}

/// Share of the avoidance of strangers: an invented address must not stop a robot.
const STRANGERS_SHARE: f32 = 0.25;

/// Condition of the robot and its surroundings.
pub(crate) struct Surroundings<'a, T: RobotTask, B, S> {
    pub(crate) task: &'a T,
    pub(crate) own: &'a T::State,
    pub(crate) obstacles: Obstacles<B, S>,
    pub(crate) level: Option<FailsafeLevel>,
    pub(crate) isolation: Option<IsolationPhase>,
}

impl<T: RobotTask, B: Iterator<Item = T::State>, S: Iterator<Item = T::State>> Surroundings<'_, T, B, S> {
    /// Computes the command for the actuators from the raw output of the network.
    pub(crate) fn guard<'n>(
        self, neighbors: impl Iterator<Item = &'n T::State> + Clone, output: &T::Command,
    ) -> (T::Command, Verdict)
    where
        T::State: 'n,
    {
        let Self { task, own, obstacles: Obstacles { robots, strangers }, level, isolation } = self;
        let wanted = match (level, isolation) {
            (Some(level), _) => Err((level.phase(), Verdict::Failsafe(level))),
            (None, Some(isolation)) => Err((isolation, Verdict::Alone(isolation))),
            (None, None) => Ok(task.saturate(&task.repulsion(own, neighbors.clone(), output))),
        };
        let wanted = match (wanted, strangers) {
            (Ok(command), Some(strangers)) => Ok(Self::avoid_partly(task, own, strangers, command)),
            (wanted, _) => wanted,
        };
        let command = match (wanted, robots) {
            (Err((phase, verdict)), robots) => {
                let command = task.fallback_command(own, phase);
                return (
                    robots.map_or(command, |robots| task.avoid_unilateral(own, robots, command)),
                    verdict,
                );
            }
            (Ok(command), Some(robots)) => task.avoid_unilateral(own, robots, command),
            (Ok(command), None) => task.avoid_cooperative(own, neighbors, command),
        };
        if !command.as_ref().iter().all(|u| u.is_finite()) {
            return (task.fallback_command(own, IsolationPhase::Hold), Verdict::NotFinite);
        }
        let verdict = if command == *output { Verdict::Clear } else { Verdict::Limited };
        (command, verdict)
    }

    /// Changes a command by a share of the full avoidance of strangers.
    fn avoid_partly(task: &T, own: &T::State, strangers: S, command: T::Command) -> T::Command {
        let clear = task.avoid_unilateral(own, strangers, command);
        let mut partly = command;
        partly
            .as_mut()
            .iter_mut()
            .zip(clear.as_ref())
            .for_each(|(u, clear)| *u += STRANGERS_SHARE * (clear - *u));
        partly
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wdgnn_core::tasks::flocking::{Flocking, Motion};

    const OWN: Motion = Motion { position: [0.0, 0.0], velocity: [1.0, 0.0] };

    fn gate(output: [f32; 2], alone: u32) -> ([f32; 2], Verdict) {
        around(None, IsolationLimits::DEFAULT.phase(alone)).guard([].iter(), &output)
    }

    fn around(
        level: Option<FailsafeLevel>, isolation: Option<IsolationPhase>,
    ) -> Surroundings<'static, Flocking, Empty<Motion>, Empty<Motion>> {
        Surroundings { task: &Flocking::DEFAULT, own: &OWN, obstacles: Obstacles::NONE, level, isolation }
    }

    #[test]
    fn failsafe_precedes_isolation() {
        let hold = Some(IsolationPhase::Hold);
        let slow = around(Some(FailsafeLevel::Slow), hold).guard([].iter(), &[5.0, 5.0]);
        assert_eq!(slow, ([-1.0, 0.0], Verdict::Failsafe(FailsafeLevel::Slow)));
        let stop = around(Some(FailsafeLevel::Stop), None).guard([].iter(), &[5.0, 5.0]);
        assert_eq!(stop, ([-10.0, 0.0], Verdict::Failsafe(FailsafeLevel::Stop)));
    }

    #[test]
    fn isolated_robot_still_avoids_obstacles() {
        let beside = Motion { position: [0.0, 0.1], velocity: [1.0, 0.0] };
        for (level, isolation) in
            [(Some(FailsafeLevel::Slow), None), (None, Some(IsolationPhase::Hold)), (None, None)]
        {
            let around = Surroundings {
                task: &Flocking::DEFAULT,
                own: &OWN,
                obstacles: Obstacles { robots: Some([beside].into_iter()), strangers: None::<Empty<Motion>> },
                level,
                isolation,
            };
            let ([_, away], _) = around.guard([].iter(), &[0.0, 0.0]);
            assert_eq!(away, -10.0, "{level:?} {isolation:?}");
        }
    }

    #[test]
    fn stranger_is_avoided_by_a_quarter() {
        let beside = Motion { position: [0.0, 0.1], velocity: [1.0, 0.0] };
        for (output, expected) in
            [([0.0, 0.0], [0.0, -2.5]), ([0.0, 10.0], [0.0, 5.0]), ([4.0, -10.0], [4.0, -10.0])]
        {
            let around = Surroundings {
                task: &Flocking::DEFAULT,
                own: &OWN,
                obstacles: Obstacles {
                    robots: Some(core::iter::empty()),
                    strangers: Some([beside].into_iter()),
                },
                level: None,
                isolation: None,
            };
            assert_eq!(around.guard([].iter(), &output).0, expected, "{output:?}");
        }
    }

    #[test]
    fn finite_command_within_limits_passes() {
        assert_eq!(gate([1.0, -2.0], 0), ([1.0, -2.0], Verdict::Clear));
    }

    #[test]
    fn large_command_is_limited() {
        assert_eq!(gate([1.0e9, -2.0], 0), ([10.0, -2.0], Verdict::Limited));
        assert_eq!(gate([f32::NEG_INFINITY, 0.0], 0), ([-10.0, 0.0], Verdict::Limited));
    }

    #[test]
    fn nan_becomes_the_fallback() {
        assert_eq!(gate([f32::NAN, 3.0], 0), ([0.0, 0.0], Verdict::NotFinite));
    }

    #[test]
    fn isolation_holds_then_slows_then_stops() {
        assert_eq!(gate([5.0, 5.0], 1).1, Verdict::Alone(IsolationPhase::Hold));
        assert_eq!(gate([5.0, 5.0], 100).0, [0.0, 0.0]);
        assert_eq!(gate([5.0, 5.0], 101), ([-1.0, 0.0], Verdict::Alone(IsolationPhase::Slow)));
        assert_eq!(gate([5.0, 5.0], 201), ([-10.0, 0.0], Verdict::Alone(IsolationPhase::Stop)));
        assert_eq!(gate([5.0, 5.0], u32::MAX).1, Verdict::Alone(IsolationPhase::Stop));
    }
}
