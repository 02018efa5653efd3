//! Controls of a running swarm.

/// Values of the controls, in the page's order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs {
    /// Radio range in meters.
    pub range: f32,
    /// Share of frames that are lost.
    pub loss: f32,
    /// Standard deviation of sensor noise.
    ///
    /// Applies to velocities in m/s, or to positions in meters in states without velocity.
    pub noise: f32,
    /// Largest deviation of a robot's motor gain.
    pub spread: f32,
    /// Ticks between a command and its effect.
    pub delay: u32,
    /// Motor gain of all robots; 2 after a payload was dropped.
    pub strength: f32,
}

/// Longest delay in ticks.
pub const MAX_DELAY_TICKS: u32 = 20;

impl Default for Knobs {
    /// Controls of the training model.
    fn default() -> Self {
        Self { range: 2.0, loss: 0.0, noise: 0.0, spread: 0.0, delay: 0, strength: 1.0 }
    }
}

impl Knobs {
    /// Sets the control with a number, clamped to its range.
    ///
    /// Unknown controls and values that are not finite have no effect.
    pub fn turn(&mut self, knob: u32, value: f32) {
        if !value.is_finite() {
            return;
        }
        match knob {
            0 => self.range = value.clamp(0.2, 20.0),
            1 => self.loss = value.clamp(0.0, 1.0),
            2 => self.noise = value.clamp(0.0, 5.0),
            3 => self.spread = value.clamp(0.0, 1.0),
            4 => self.delay = value.clamp(0.0, MAX_DELAY_TICKS as f32) as u32,
            5 => self.strength = value.clamp(0.0, 5.0),
            _ => {}
        }
    }
}

/// Controller of a swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Mean of the neighbors: the simplest baseline of each task.
    Averaging,
    /// Centralized expert.
    Expert,
    /// Network without online learning.
    Offline,
    /// Network with the paper's online learning of the wide part.
    Paper,
    /// Network with online learning of the wide part and adaptation of the robot's own gain.
    Online,
    /// [`Controller::Online`] that trusts only plausible neighbors.
    Wary,
}

impl Controller {
    /// Returns the controller with the page's number.
    pub fn numbered(number: u32) -> Self {
        match number {
            0 => Self::Averaging,
            1 => Self::Expert,
            2 => Self::Offline,
            3 => Self::Paper,
            5 => Self::Wary,
            _ => Self::Online,
        }
    }
}
