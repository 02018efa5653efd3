//! Adafruit's Feather nRF52840 Express, flashed as UF2 over USB by its own bootloader, which lies above 0xf4000, with Nordic's
//! SoftDevice below 0x26000 and the bootloader's file system from 0xed000 on.

pub use super::nrf52::Sink;
use super::nrf52::{Light, Nrf52, Pin, Wiring};

/// The Feather.
pub type ThisBoard = Nrf52<Feather>;

/// Its wiring: the line is on the pins marked RX and TX.
#[derive(Debug)]
pub struct Feather;

impl Wiring for Feather {
    const RECEIVE: Pin = Pin(0, 24);
    const SEND: Pin = Pin(0, 25);
    /// The red LED.
    const LIGHT: Light = Light { pin: Pin(1, 15), on_when_high: true, ground: None };
}
