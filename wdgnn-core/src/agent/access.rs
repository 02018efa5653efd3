//! Access to the fields of an agent, for the robot around it.

use super::Agent;
use crate::{adaptation::ActuatorCalibration, model::Model, task::Task, tensor::Tensor as _};

impl<M: Model, T: Task> Agent<M, T> {
    /// Begins a tick without a measurement: the state stays until [`Agent::set_state`].
    pub fn begin_tick(&mut self, tick: u32) {
        self.elapsed_ticks = self.first_tick.map_or(1, |_| tick.saturating_sub(self.tick));
        let [now, before, _] = self.states;
        self.states = [now, now, if self.elapsed_ticks == 1 { before } else { now }];
        let [executed, _] = self.executed;
        self.executed = [executed; 2];
        self.tick = tick;
        self.first_tick = Some(self.first_tick.map_or(tick, |first| first.min(tick)));
    }

    /// Replaces the state of this tick, for example by a prediction.
    pub fn set_state(&mut self, state: T::State) {
        let [now, ..] = &mut self.states;
        *now = state;
    }

    /// Forgets earlier states. Call this if the robot's own commands did not cause the new state.
    pub fn forget_history(&mut self) {
        let [now, ..] = self.states;
        self.states = [now; 3];
    }

    /// Records the command that the actuators execute; `None` if it is unknown.
    ///
    /// [`Agent::decide`] records its own result. Call this if the actuators do something else.
    pub fn set_executed_command(&mut self, command: Option<T::Command>) {
        let [now, _] = &mut self.executed;
        *now = command;
    }

    /// Control tick.
    pub fn tick(&self) -> u32 {
        self.tick
    }

    /// Ticks since the previous tick: more than one if ticks were skipped.
    pub fn elapsed_ticks(&self) -> u32 {
        self.elapsed_ticks
    }

    /// First tick of this flight; `None` before it.
    pub fn first_tick(&self) -> Option<u32> {
        self.first_tick
    }

    /// The robot's own state.
    pub fn state(&self) -> &T::State {
        let [now, ..] = &self.states;
        now
    }

    /// The robot's own state one tick ago.
    pub fn previous_state(&self) -> &T::State {
        let [_, previous, _] = &self.states;
        previous
    }

    /// Command that the actuators execute.
    pub fn executed_command(&self) -> Option<&T::Command> {
        let [now, _] = &self.executed;
        now.as_ref()
    }

    /// Command before saturation: output of the network after the local adaptation.
    pub fn unsaturated(&self) -> &T::Command {
        &self.output
    }

    /// Taps z of all layers.
    pub fn taps(&self) -> &M::Taps {
        &self.taps
    }

    /// Taps of the last exchange, which the next message carries.
    #[inline]
    pub fn transmitted(&self) -> &M::Taps {
        self.transmitted.as_ref().unwrap_or(&self.taps)
    }

    /// Wide parameters.
    pub fn wide(&self) -> &M::Wide {
        &self.wide
    }

    /// Replaces the wide parameters. Returns false, and changes nothing, if one is not admissible.
    pub fn set_wide(&mut self, wide: &M::Wide) -> bool {
        let is_admissible = wide.is_admissible();
        if is_admissible {
            self.wide = *wide;
        }
        is_admissible
    }

    /// Bias, gain and heading that the robot learned for itself.
    pub fn adaptation(&self) -> &ActuatorCalibration<T::Command> {
        &self.adaptation
    }

    /// Replaces the local adaptation, for example by one from flash.
    pub fn set_adaptation(&mut self, adaptation: ActuatorCalibration<T::Command>) {
        self.adaptation = adaptation;
    }
}
