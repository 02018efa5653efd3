//! Signals that the chip drives, and circuits that are connected to it.

use super::Pin;

/// Circuit on a pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circuit {
    /// Nothing is connected.
    #[default]
    Open,
    /// Resistor to the supply.
    PullUp,
    /// Resistor to ground.
    PullDown,
    /// Connection to the supply.
    High,
    /// Connection to ground, such as a pressed button.
    Low,
}

/// Periodic signal of PWM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waveform {
    /// Start of a period, in cycles.
    pub since: u64,
    /// Length of a period in cycles.
    pub period: u64,
    /// Time at high level in a period, in cycles.
    pub high: u64,
    /// Whether a period starts with the high level.
    pub starts_high: bool,
}

impl Waveform {
    pub(super) fn level(&self, now: u64) -> bool {
        let phase = now.saturating_sub(self.since) % self.period.max(1);
        if self.starts_high { phase < self.high } else { phase >= self.period - self.high }
    }
}

/// Signal that the chip drives on a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The chip does not drive the pin.
    None,
    /// Constant level.
    Level(bool),
    /// Periodic signal.
    Pwm(Waveform),
}

impl Output {
    /// Returns the share of time at high level, 0 for a pin that is not driven.
    pub fn duty(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Level(high) => f64::from(u8::from(*high)),
            Self::Pwm(waveform) => waveform.high as f64 / waveform.period.max(1) as f64,
        }
    }
}

/// Change of a pin's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Time in cycles.
    pub at: u64,
    /// The pin.
    pub pin: Pin,
    /// Output from `at` on.
    pub output: Output,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waveforms_have_a_level_and_a_duty() {
        let waveform = Waveform { since: 100, period: 40, high: 10, starts_high: true };
        assert!(waveform.level(109) && !waveform.level(110) && waveform.level(140));
        let inverted = Waveform { starts_high: false, ..waveform };
        assert!(!inverted.level(129) && inverted.level(130));
        assert_eq!(Output::Pwm(waveform).duty(), 0.25);
    }
}
