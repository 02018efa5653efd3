//! Nordic nRF52840 Dongle (PCA10059), flashed over USB by its bootloader, which starts at 0xe0000.
//!
//! The serial line is on the castellated edge.

nrf52_board! {
    const RX: Pin = Pin(0, 15);
    const TX: Pin = Pin(0, 13);
    /// LED1, green, active low.
    const LED: Led = Led { pin: Pin(0, 6), active_high: false, ground: None };
    /// Code 4 is 3.0 V, for serial adapters and LEDs. The default on USB power is 1.8 V.
    const OUTPUT_VOLTAGE: Option<u32> = Some(4);
}
