//! Guard: the last step before the motors. Whatever the network says, what leaves here is finite and bounded, and a
//! robot that hears nobody comes to rest.

use crate::tasks::task::{Isolation, Task};

/// How long a robot without neighbours goes on, in ticks.
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

    /// The phase after `alone` ticks without neighbours, or `None` while there are some.
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
    /// The robot does not know where it is: no command, the actuator comes to rest by its own means.
    Blind,
}

/// The gate: the network's raw output in, the command for the motors out. For whoever has an output that is no node's own.
pub fn guard<'a, T>(
    task: &T,
    own: &T::State,
    neighbours: impl Iterator<Item = &'a T::State> + Clone,
    output: &T::Output,
    isolation: Option<Isolation>,
) -> (T::Output, Verdict)
where
    T: Task,
{
    if let Some(isolation) = isolation {
        return (task.fallback(own, isolation), Verdict::Alone(isolation));
    }
    let steered = task.steer(own, neighbours.clone(), output);
    let command = task.keep_safe(own, neighbours, task.command(&steered));
    if !command.as_ref().iter().all(|u| u.is_finite()) {
        return (task.fallback(own, Isolation::Hold), Verdict::NotFinite);
    }
    let verdict = if command == *output { Verdict::Clear } else { Verdict::Limited };
    (command, verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::flocking::{Flocking, Motion};

    const OWN: Motion = Motion { position: [0.0, 0.0], velocity: [1.0, 0.0] };

    fn gate(output: [f32; 2], alone: u32) -> ([f32; 2], Verdict) {
        guard(&Flocking::DEFAULT, &OWN, [].iter(), &output, Patience::DEFAULT.phase(alone))
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
