//! Status LED.
//!
//! | pattern | meaning |
//! |---|---|
//! | one flash per second | the robot flies with neighbors |
//! | 0.5 s on, 0.5 s off | the robot flies without neighbors |
//! | ten flashes per second | no pose from the companion |
//! | always off or always on | the firmware does not run |

use wdgnn_robot::{control_loop::TickReport, safety::gate::Verdict};

use super::pin::Pin;

/// LED on a GPIO pin.
#[derive(Clone, Copy, Debug)]
pub struct Led {
    /// Pin that switches the LED.
    pub pin: Pin,
    /// Whether a high level turns the LED on.
    pub active_high: bool,
    /// Pin at the other end of the LED, driven low.
    pub ground: Option<Pin>,
}

impl Led {
    /// Configures the pins as outputs and turns the LED off.
    pub fn init(&self) {
        for pin in [Some(self.pin), self.ground].into_iter().flatten() {
            pin.make_output(false);
        }
        self.set(false);
    }

    /// Turns the LED on or off.
    pub fn set(&self, on: bool) {
        self.pin.set(on == self.active_high);
    }

    /// Shows the verdict of a tick.
    pub fn show<O>(&self, report: &TickReport<O>) {
        let phase = report.tick % 100;
        self.set(match report.verdict {
            Verdict::Blind => phase % 10 < 5,
            Verdict::Alone(_) => phase < 50,
            _ => phase < 5,
        });
    }
}
