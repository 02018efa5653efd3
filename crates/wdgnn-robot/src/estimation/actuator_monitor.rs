//! Monitor of the actuators: compares commands with the measured motion.
//!
//! Commands and measured accelerations are averaged over 0.2 s, so that noise and a delay of one tick
//! matter little. If both differ by nearly the whole command, the messages of the robot mark it as an
//! obstacle: others avoid it and do not follow it.
//!
//! A robot at rest may be carried next, possibly with its whole swarm, which must still be able to
//! start. After a rest, actuators can therefore fail only after they have followed once.

use wdgnn_core::tensor::Array;

use crate::tasks::{ActuatorResponse, RobotTask};

/// Weight of a tick in the averages: 0.2 s at 100 ticks a second.
const TICK_WEIGHT: f32 = 0.05;
/// Ticks at rest after which the robot may be held or carried.
const RESTING_TICKS: u8 = 100;
/// Consecutive ticks of deviation after which the actuators have failed.
///
/// A single measurement that is far off is no failure: 0.6 of it is left in the average by then.
const DEVIATING_TICKS: u8 = 10;
/// Ticks for which the actuators count as failed after the last deviation.
///
/// Small commands in that time tell nothing about the actuators.
const FAILED_TICKS: u8 = 200;

/// Averages of commands and measured motion, and the conclusion from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActuatorMonitor<O> {
    commanded: O,
    realized: O,
    /// The actuators have followed since the robot was at rest, or it never was at rest.
    has_followed: bool,
    resting_ticks: u8,
    deviating_ticks: u8,
    /// Remaining ticks for which the actuators count as failed.
    failed_ticks: u8,
}

impl<O: Array> ActuatorMonitor<O> {
    /// A robot that starts: if it is at rest, the time of its rest is unknown.
    pub(crate) const INITIAL: Self = Self {
        commanded: O::ZERO,
        realized: O::ZERO,
        has_followed: true,
        resting_ticks: RESTING_TICKS,
        deviating_ticks: 0,
        failed_ticks: 0,
    };
    const AT_REST: Self = Self { has_followed: false, ..Self::INITIAL };

    /// Adds the command and the measured motion of the previous tick, if both are known.
    pub(crate) fn update<T: RobotTask<Command = O>>(
        &mut self, task: &T, state: &T::State, tick: Option<(&O, &O)>,
    ) {
        self.failed_ticks = self.failed_ticks.saturating_sub(1);
        let Some((command, motion)) = tick else { return };
        for (average, new) in [(&mut self.commanded, command), (&mut self.realized, motion)] {
            average.as_mut().iter_mut().zip(new.as_ref()).for_each(|(x, new)| *x += TICK_WEIGHT * (new - *x));
        }
        let response = task.actuator_response(state, &self.commanded, &self.realized);
        let count = |ticks: u8, counts: bool| if counts { ticks.saturating_add(1) } else { 0 };
        self.resting_ticks = count(self.resting_ticks, response == ActuatorResponse::AtRest);
        self.deviating_ticks = count(self.deviating_ticks, response == ActuatorResponse::Deviates);
        match response {
            ActuatorResponse::Follows => (self.has_followed, self.failed_ticks) = (true, 0),
            ActuatorResponse::Deviates if self.has_followed && self.deviating_ticks >= DEVIATING_TICKS => {
                self.failed_ticks = FAILED_TICKS;
            }
            ActuatorResponse::AtRest if self.resting_ticks > RESTING_TICKS => *self = Self::AT_REST,
            _ => {}
        }
    }

    /// Whether the actuators do not follow the commands.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed_ticks > 0
    }
}
