//! Everything that can be turned while a swarm flies.

/// What can be turned, in the order of the page's numbers for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs {
    /// Radio range in metres.
    pub range: f32,
    /// Share of frames that are lost.
    pub loss: f32,
    /// Standard deviation of noise on sensed velocities in m/s; on positions in metres where robots tell no velocities.
    pub noise: f32,
    /// By which share motors differ from robot to robot.
    pub spread: f32,
    /// Ticks between a command and its effect.
    pub delay: u32,
    /// What motors make of a command, for all: 2 after a payload was dropped.
    pub strength: f32,
}

/// The longest delay in ticks.
pub const LONGEST_DELAY: u32 = 20;

impl Default for Knobs {
    /// Robots as training assumes.
    fn default() -> Self {
        Self { range: 2.0, loss: 0.0, noise: 0.0, spread: 0.0, delay: 0, strength: 1.0 }
    }
}

impl Knobs {
    /// Turns the knob with a number. What is no number, or of no knob, changes nothing; what is out of range goes to its end.
    pub fn turn(&mut self, knob: u32, value: f32) {
        if !value.is_finite() {
            return;
        }
        match knob {
            0 => self.range = value.clamp(0.2, 20.0),
            1 => self.loss = value.clamp(0.0, 1.0),
            2 => self.noise = value.clamp(0.0, 5.0),
            3 => self.spread = value.clamp(0.0, 1.0),
            4 => self.delay = value.clamp(0.0, LONGEST_DELAY as f32) as u32,
            5 => self.strength = value.clamp(0.0, 5.0),
            _ => {}
        }
    }
}

/// Who flies a swarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Everybody does what its neighbours do in the mean: the plainest rival of each task.
    Averaging,
    /// Somebody who sees everything.
    Expert,
    /// The network as it was trained.
    Offline,
    /// The network, learning in flight by the paper's rule: the wide part alone.
    Paper,
    /// The network, learning in flight as robots do: the wide part, and the own gain by what came of commands.
    Online,
    /// The same, believing only who bears itself out.
    Wary,
}

impl Controller {
    /// By the page's number.
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
