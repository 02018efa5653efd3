//! Result of a robot's tick, independent of platform and task.

use wdgnn_protocol::emulation;
use wdgnn_robot::control_loop::TickReport;

use crate::scene::SimTask;

/// Result of a robot's tick.
#[derive(Clone, Debug, PartialEq)]
pub struct TickOutcome {
    /// Counters of the tick.
    pub counts: emulation::TickResult,
    /// Command of the robot.
    pub command: Vec<f32>,
    /// Wide parameters for the next tick, one row per tap and feature.
    pub wide: Vec<f32>,
}

impl TickOutcome {
    /// Creates the result of a robot in this process.
    pub fn new<O: AsRef<[f32]>>(report: &TickReport<O>, wide: &[f32]) -> Self {
        let (command, wide) = (report.command.as_ref().to_vec(), wide.to_vec());
        Self { counts: emulation::TickResult::new(report), command, wide }
    }

    /// Returns the command as the task's type.
    pub fn output<T: SimTask>(&self) -> T::Command {
        let mut output = T::zero_command();
        output.as_mut().iter_mut().zip(&self.command).for_each(|(to, from)| *to = *from);
        output
    }
}
