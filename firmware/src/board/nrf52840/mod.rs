//! Nordic's development kit, nRF52840-DK (PCA10056). Its own debugger carries the serial line to USB.

pub use super::nrf52::Sink;
use super::nrf52::{Light, Nrf52, Pin, Wiring};

/// The development kit.
pub type ThisBoard = Nrf52<Kit>;

/// Its wiring.
#[derive(Debug)]
pub struct Kit;

impl Wiring for Kit {
    const RECEIVE: Pin = Pin(0, 8);
    const SEND: Pin = Pin(0, 6);
    /// LED1, on when low.
    const LIGHT: Light = Light { pin: Pin(0, 13), on_when_high: false, ground: None };
}
