//! Nordic's dongle, nRF52840 Dongle (PCA10059), flashed over USB by its own bootloader, which lies above 0xe0000. The line is on
//! the castellated edge.

pub use super::nrf52::Sink;
use super::nrf52::{Light, Nrf52, Pin, Wiring};

/// The dongle.
pub type ThisBoard = Nrf52<Dongle>;

/// Its wiring.
#[derive(Debug)]
pub struct Dongle;

impl Wiring for Dongle {
    const RECEIVE: Pin = Pin(0, 15);
    const SEND: Pin = Pin(0, 13);
    /// LED1, green, on when low.
    const LIGHT: Light = Light { pin: Pin(0, 6), on_when_high: false, ground: None };
    /// Fed from USB, the chip makes 1.8 V of it unless told otherwise; code 4 is 3.0 V, for adapters and lights.
    const OUTPUT_VOLTAGE: Option<u32> = Some(4);
}
