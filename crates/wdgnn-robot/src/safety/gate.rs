//! Guard: the last step before the motors. Whatever the network says, what leaves here is finite and bounded, and a
//! robot that hears nobody comes to rest.

use crate::safety::failsafe::Level;
use crate::tasks::RobotTask;

/// How long a node has been alone, in the terms of the safety gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Isolation {
    /// Just now: keep doing what it did.
    Hold,
    /// For a while: slow down.
    Slow,
    /// For long: come to rest.
    Stop,
}

/// How long a robot without neighbors goes on, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Patience {
    /// Ticks of isolation during which it keeps its velocity.
    pub hold: u32,
    /// Further ticks during which it slows down. After that it stops.
    pub slow: u32,
}

impl Patience {
    /// One second of each at 100 ticks a second.
    pub const DEFAULT: Self = Self { hold: 100, slow: 100 };

    /// The phase after `alone` ticks without neighbors, or `None` while there are some.
    #[must_use]
    pub fn phase(&self, alone: u32) -> Option<Isolation> {
        match alone {
            0 => None,
            _ if alone <= self.hold => Some(Isolation::Hold),
            _ if alone <= self.hold.saturating_add(self.slow) => Some(Isolation::Slow),
            _ => Some(Isolation::Stop),
        }
    }
}

/// What the gate did to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Verdict {
    /// Passed on as the network said.
    Clear,
    /// Limited to what the robot can do, or changed by the task's last look.
    Limited,
    /// The network's output was not finite: the task's fallback was taken.
    NotFinite,
    /// Nobody around: the task's fallback was taken.
    Alone(Isolation),
    /// Something is wrong with the robot itself: the task's fallback was taken.
    Failsafe(Level),
    /// The robot does not know where it is: no command, the actuator comes to rest by its own means.
    Blind,
}

/// The gate for whoever has an output that is no node's own: neighbors that are all believed, and nobody to be wary of.
pub fn guard<'a, T: RobotTask>(
    task: &T,
    own: &T::State,
    neighbors: impl Iterator<Item = &'a T::State> + Clone,
    output: &T::Command,
) -> (T::Command, Verdict) {
    let (bodies, strangers) = (None::<core::iter::Empty<T::State>>, None::<core::iter::Empty<T::State>>);
    Surroundings { task, own, bodies, strangers, level: None, isolation: None }.guard(neighbors, output)
}

/// How much of the way a robot gives way to somebody who does not prove its name: whoever is nowhere but in words keeps nobody from braking.
const STRANGERS_SHARE: f32 = 0.25;

/// What the gate knows of the robot and those around it.
pub(crate) struct Surroundings<'a, T: RobotTask, B, S> {
    pub(crate) task: &'a T,
    pub(crate) own: &'a T::State,
    /// Whom a wary robot keeps apart from, believed or not.
    pub(crate) bodies: Option<B>,
    /// Those who do not prove their names where others do.
    pub(crate) strangers: Option<S>,
    pub(crate) level: Option<Level>,
    pub(crate) isolation: Option<Isolation>,
}

impl<T: RobotTask, B: Iterator<Item = T::State>, S: Iterator<Item = T::State>> Surroundings<'_, T, B, S> {
    /// The gate: the network's raw output in, the command for the motors out. Neighbors are those that are believed.
    pub(crate) fn guard<'n>(
        self,
        neighbors: impl Iterator<Item = &'n T::State> + Clone,
        output: &T::Command,
    ) -> (T::Command, Verdict)
    where
        T::State: 'n,
    {
        let Self { task, own, bodies, strangers, level, isolation } = self;
        let wanted = match (level, isolation) {
            (Some(level), _) => Err((level.phase(), Verdict::Failsafe(level))),
            (None, Some(isolation)) => Err((isolation, Verdict::Alone(isolation))),
            (None, None) => Ok(task.command(&task.repulsion(own, neighbors.clone(), output))),
        };
        let wanted = match (wanted, strangers) {
            (Ok(steered), Some(strangers)) => Ok(Self::give_some_way(task, own, strangers, steered)),
            (wanted, _) => wanted,
        };
        let command = match (wanted, bodies) {
            (Err((phase, verdict)), bodies) => {
                let command = task.fallback(own, phase);
                return (
                    bodies.map_or(command, |bodies| task.avoid_unilateral(own, bodies, command)),
                    verdict,
                );
            }
            (Ok(steered), Some(bodies)) => task.avoid_unilateral(own, bodies, steered),
            (Ok(steered), None) => task.avoid_cooperative(own, neighbors, steered),
        };
        if !command.as_ref().iter().all(|u| u.is_finite()) {
            return (task.fallback(own, Isolation::Hold), Verdict::NotFinite);
        }
        let verdict = if command == *output { Verdict::Clear } else { Verdict::Limited };
        (command, verdict)
    }

    /// `command`, and some of the way to what keeps clear of everybody there.
    fn give_some_way(task: &T, own: &T::State, strangers: S, command: T::Command) -> T::Command {
        let clear = task.avoid_unilateral(own, strangers, command);
        let mut some = command;
        some.as_mut()
            .iter_mut()
            .zip(clear.as_ref())
            .for_each(|(u, clear)| *u += STRANGERS_SHARE * (clear - *u));
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wdgnn_core::tasks::flocking::{Flocking, Motion};

    const OWN: Motion = Motion { position: [0.0, 0.0], velocity: [1.0, 0.0] };

    fn gate(output: [f32; 2], alone: u32) -> ([f32; 2], Verdict) {
        around(None, Patience::DEFAULT.phase(alone)).guard([].iter(), &output)
    }

    fn around(
        level: Option<Level>,
        isolation: Option<Isolation>,
    ) -> Surroundings<'static, Flocking, core::iter::Empty<Motion>, core::iter::Empty<Motion>> {
        Surroundings { task: &Flocking::DEFAULT, own: &OWN, bodies: None, strangers: None, level, isolation }
    }

    #[test]
    fn a_failsafe_comes_before_everything_else() {
        let hold = Some(Isolation::Hold);
        let slow = around(Some(Level::Slow), hold).guard([].iter(), &[5.0, 5.0]);
        assert_eq!(slow, ([-1.0, 0.0], Verdict::Failsafe(Level::Slow)));
        let stop = around(Some(Level::Stop), None).guard([].iter(), &[5.0, 5.0]);
        assert_eq!(stop, ([-10.0, 0.0], Verdict::Failsafe(Level::Stop)));
    }

    #[test]
    fn a_wary_robot_that_slows_down_or_is_alone_still_keeps_apart() {
        let beside = Motion { position: [0.0, 0.1], velocity: [1.0, 0.0] };
        for (level, isolation) in [(Some(Level::Slow), None), (None, Some(Isolation::Hold)), (None, None)] {
            let around = Surroundings {
                task: &Flocking::DEFAULT,
                own: &OWN,
                bodies: Some([beside].into_iter()),
                strangers: None::<core::iter::Empty<Motion>>,
                level,
                isolation,
            };
            let ([_, away], _) = around.guard([].iter(), &[0.0, 0.0]);
            assert_eq!(away, -10.0, "{level:?} {isolation:?}");
        }
    }

    #[test]
    fn who_proves_no_name_gets_a_quarter_of_the_way() {
        let beside = Motion { position: [0.0, 0.1], velocity: [1.0, 0.0] };
        for (output, expected) in
            [([0.0, 0.0], [0.0, -2.5]), ([0.0, 10.0], [0.0, 5.0]), ([4.0, -10.0], [4.0, -10.0])]
        {
            let around = Surroundings {
                task: &Flocking::DEFAULT,
                own: &OWN,
                bodies: Some(core::iter::empty()),
                strangers: Some([beside].into_iter()),
                level: None,
                isolation: None,
            };
            assert_eq!(around.guard([].iter(), &output).0, expected, "{output:?}");
        }
    }

    #[test]
    fn a_good_command_passes() {
        assert_eq!(gate([1.0, -2.0], 0), ([1.0, -2.0], Verdict::Clear));
    }

    #[test]
    fn a_large_command_is_limited() {
        assert_eq!(gate([1.0e9, -2.0], 0), ([10.0, -2.0], Verdict::Limited));
        assert_eq!(gate([f32::NEG_INFINITY, 0.0], 0), ([-10.0, 0.0], Verdict::Limited));
    }

    #[test]
    fn no_number_becomes_the_fallback() {
        assert_eq!(gate([f32::NAN, 3.0], 0), ([0.0, 0.0], Verdict::NotFinite));
    }

    #[test]
    fn isolation_holds_slows_and_stops() {
        assert_eq!(gate([5.0, 5.0], 1).1, Verdict::Alone(Isolation::Hold));
        assert_eq!(gate([5.0, 5.0], 100).0, [0.0, 0.0]);
        assert_eq!(gate([5.0, 5.0], 101), ([-1.0, 0.0], Verdict::Alone(Isolation::Slow)));
        assert_eq!(gate([5.0, 5.0], 201), ([-10.0, 0.0], Verdict::Alone(Isolation::Stop)));
        assert_eq!(gate([5.0, 5.0], u32::MAX).1, Verdict::Alone(Isolation::Stop));
    }
}
