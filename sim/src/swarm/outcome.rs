//! What a robot did in a tick, whatever it runs on and whatever its task.

use wdgnn_protocol::emulation;
use wdgnn_robot::control_loop::Report;

use crate::scene::SimTask;

/// What a robot did in a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct TickOutcome {
    /// What it counted.
    pub counts: emulation::TickResult,
    /// Its command.
    pub command: Vec<f32>,
    /// Its wide parameters for the next tick, one row per tap and feature.
    pub wide: Vec<f32>,
}

impl TickOutcome {
    /// What a robot of this process reports.
    pub fn new<O: AsRef<[f32]>>(report: &Report<O>, wide: &[f32]) -> Self {
        let (command, wide) = (report.command.as_ref().to_vec(), wide.to_vec());
        Self { counts: emulation::TickResult::new(report), command, wide }
    }

    /// Its command as its task has it.
    pub fn output<T: SimTask>(&self) -> T::Output {
        let mut output = T::nothing();
        output.as_mut().iter_mut().zip(&self.command).for_each(|(to, from)| *to = *from);
        output
    }
}
