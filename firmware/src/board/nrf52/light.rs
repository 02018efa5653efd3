//! The robot's light: what it is doing, for somebody without a debugger.
//!
//! | light | meaning |
//! |---|---|
//! | a flash in every second | it flies with others |
//! | half a second on, half a second off | it flies alone |
//! | ten times a second | it does not know where it is: no pose from the companion |
//! | off, or on for good | it does not run |

use nrf_pac::gpio::Gpio;
use wdgnn_robot::{control_loop::Report, safety::gate::Verdict};

use super::serial::Pin;

/// A light.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// What it hangs on.
    pub pin: Pin,
    /// Whether a high pin lights it.
    pub on_when_high: bool,
    /// The pin at its other end, held low.
    pub ground: Option<Pin>,
}

fn port(pin: Pin) -> Gpio {
    if pin.0 == 0 { nrf_pac::P0 } else { nrf_pac::P1 }
}

impl Light {
    /// Makes its pins outputs.
    pub fn start(&self) {
        for pin in [Some(self.pin), self.ground].into_iter().flatten() {
            port(pin).outclr().write(|w| w.0 = 1 << pin.1);
            port(pin).dirset().write(|w| w.0 = 1 << pin.1);
        }
        self.set(false);
    }

    /// Switches it on or off.
    pub fn set(&self, on: bool) {
        let (port, bit) = (port(self.pin), 1 << self.pin.1);
        if on == self.on_when_high {
            port.outset().write(|w| w.0 = bit);
        } else {
            port.outclr().write(|w| w.0 = bit);
        }
    }

    /// Shows what came of a tick.
    pub fn show<O>(&self, report: &Report<O>) {
        let phase = report.tick % 100;
        self.set(match report.verdict {
            Verdict::Blind => phase % 10 < 5,
            Verdict::Alone(_) => phase < 50,
            _ => phase < 5,
        });
    }
}
