//! BBC micro:bit v2 (nRF52833), flashed by dropping a file on it. Its interface chip carries the serial line to USB.

pub use super::nrf52::Sink;
use super::nrf52::{Light, Nrf52, Pin, Wiring};

/// The micro:bit.
pub type ThisBoard = Nrf52<Microbit>;

/// Its wiring.
#[derive(Debug)]
pub struct Microbit;

impl Wiring for Microbit {
    const RECEIVE: Pin = Pin(1, 8);
    const SEND: Pin = Pin(0, 6);
    /// The display's LED in the upper left corner: its row high, its column low.
    const LIGHT: Light = Light { pin: Pin(0, 21), on_when_high: true, ground: Some(Pin(0, 28)) };
}
