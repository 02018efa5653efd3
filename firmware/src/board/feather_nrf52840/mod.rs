//! Adafruit Feather nRF52840 Express, flashed as UF2 over USB.
//!
//! The image lies between Nordic's SoftDevice (below 0x26000) and the bootloader's file system
//! (from 0xed000). The bootloader starts at 0xf4000.

pub use super::nrf52::Sink;
use super::nrf52::{Led, Nrf52, Pin, Wiring};

/// Feather board.
pub type ThisBoard = Nrf52<Feather>;

/// Wiring: the serial line is on the pins marked RX and TX.
#[derive(Debug)]
pub struct Feather;

impl Wiring for Feather {
    const RX: Pin = Pin(0, 24);
    const TX: Pin = Pin(0, 25);
    /// The red LED.
    const LED: Led = Led { pin: Pin(1, 15), active_high: true, ground: None };
}
