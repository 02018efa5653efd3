//! Adafruit Feather nRF52840 Express, flashed as UF2 over USB.
//!
//! The image lies between Nordic's SoftDevice (below 0x26000) and the bootloader's file system
//! (from 0xed000). The bootloader starts at 0xf4000.

nrf52_board! {
    const RX: Pin = Pin(0, 24);
    const TX: Pin = Pin(0, 25);
    /// The red LED.
    const LED: Led = Led { pin: Pin(1, 15), active_high: true, ground: None };
}
