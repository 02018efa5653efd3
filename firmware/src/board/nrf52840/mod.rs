//! Nordic nRF52840-DK (PCA10056). Its debugger connects the serial line to USB.

pub use super::nrf52::Sink;
use super::nrf52::{Led, Nrf52, Pin, Wiring};

/// nRF52840-DK board.
pub type ThisBoard = Nrf52<Kit>;

/// Wiring of the board.
#[derive(Debug)]
pub struct Kit;

impl Wiring for Kit {
    const RX: Pin = Pin(0, 8);
    const TX: Pin = Pin(0, 6);
    /// LED1, active low.
    const LED: Led = Led { pin: Pin(0, 13), active_high: false, ground: None };
}
