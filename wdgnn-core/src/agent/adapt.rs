//! Local adaptation: an extension of the paper that corrects what only this robot experiences.

use super::{Agent, Config};
use crate::{model::Model, neighbors::Neighbors, task::Task};

impl<M: Model, T> Agent<M, T>
where
    T: Task<Features = M::Features, Command = M::Output>,
{
    /// Adapts bias, heading and gain to the measured effect of the robot's commands.
    ///
    /// Does nothing unless [`Learning`](crate::online::Learning) asks for it, the robot has neighbors
    /// and the previous tick was not skipped. See [`crate::adaptation`].
    #[inline(never)]
    pub fn adapt<const N: usize>(&mut self, config: &Config<M, T>, neighbors: &Neighbors<'_, M, T, N>) {
        let Config { task, learning: rule, .. } = config;
        if !rule.adapts_locally() || neighbors.is_empty() || self.elapsed_ticks != 1 {
            return;
        }
        let [state, previous, older] = &self.states;
        if rule.bias_step > 0.0 {
            let realized = task.realized_command(previous, state);
            if let ([_, Some(command)], Some(realized)) = (&self.executed, &realized) {
                // A command at its limit stays the same when it is doubled.
                let mut doubled = *command;
                doubled.as_mut().iter_mut().for_each(|u| *u *= 2.0);
                self.adaptation.adapt_bias(command, realized, &task.saturate(&doubled), rule);
            }
        }
        if rule.adapts_gain {
            self.adaptation.adapt_gain(task.overshoot([older, previous, state], neighbors.states()));
        }
    }
}
