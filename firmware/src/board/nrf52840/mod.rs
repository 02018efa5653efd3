//! Nordic nRF52840-DK (PCA10056). Its debugger connects the serial line to USB.

nrf52_board! {
    const RX: Pin = Pin(0, 8);
    const TX: Pin = Pin(0, 6);
    /// LED1, active low.
    const LED: Led = Led { pin: Pin(0, 13), active_high: false, ground: None };
}
