//! BBC micro:bit v2 (nRF52833), flashed by copying a file to its drive. The interface chip connects
//! the serial line to USB.

nrf52_board! {
    const RX: Pin = Pin(1, 8);
    const TX: Pin = Pin(0, 6);
    /// The top left LED of the display: row pin high, column pin low.
    const LED: Led = Led { pin: Pin(0, 21), active_high: true, ground: Some(Pin(0, 28)) };
    #[cfg(feature = "buggy")]
    const BUGGY: Parts = Parts {
        buttons: [Pin(0, 14), Pin(0, 23)],
        matrix: Matrix {
            rows: [Pin(0, 21), Pin(0, 22), Pin(0, 15), Pin(0, 24), Pin(0, 19)],
            columns: [Pin(0, 28), Pin(0, 11), Pin(0, 31), Pin(1, 5), Pin(0, 30)],
        },
        motor_bus: [Pin(0, 26), Pin(1, 0)],
        sensor_bus: [Pin(0, 8), Pin(0, 16)],
        // P8 and P12, P0 and P16: Kitronik's motor driver v2.
        bridge: [Pin(0, 10), Pin(0, 12), Pin(0, 2), Pin(1, 2)],
    };
}
