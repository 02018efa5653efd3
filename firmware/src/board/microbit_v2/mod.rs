//! BBC micro:bit v2 (nRF52833), flashed by copying a file to its drive. The interface chip connects
//! the serial line to USB.

nrf52_board! {
    const RX: Pin = Pin(1, 8);
    const TX: Pin = Pin(0, 6);
    /// The top left LED of the display: row pin high, column pin low.
    const LED: Led = Led { pin: Pin(0, 21), active_high: true, ground: Some(Pin(0, 28)) };
}
