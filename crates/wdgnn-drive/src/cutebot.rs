//! ElecFreaks Cutebot.

use embedded_hal::i2c::I2c;

use crate::{Drive, scaled};

/// Address of the motor controller.
const ADDRESS: u8 = 0x10;
const LEFT: u8 = 0x01;
const RIGHT: u8 = 0x02;
const BACKWARD: u8 = 0x01;
const FORWARD: u8 = 0x02;

/// Cutebot.
///
/// A frame has the number of a wheel, the direction (1 backward, 2 forward), the speed from 0 to 100 and a zero.
#[derive(Debug)]
pub struct Cutebot<I> {
    bus: I,
}

impl<I: I2c> Cutebot<I> {
    /// Creates the driver. The motors keep their duties.
    pub fn new(bus: I) -> Self {
        Self { bus }
    }

    /// Returns the bus.
    pub fn release(self) -> I {
        self.bus
    }

    fn turn(&mut self, wheel: u8, duty: f32) -> Result<(), I::Error> {
        let direction = if duty < 0.0 { BACKWARD } else { FORWARD };
        self.bus.write(ADDRESS, &[wheel, direction, scaled(duty, 100) as u8, 0])
    }
}

impl<I: I2c> Drive for Cutebot<I> {
    type Error = I::Error;

    fn drive(&mut self, left: f32, right: f32) -> Result<(), I::Error> {
        let left = self.turn(LEFT, left);
        let right = self.turn(RIGHT, right);
        left.and(right)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use embedded_hal_mock::eh1::i2c::{Mock, Transaction};

    use super::*;

    #[test]
    fn frames_have_wheel_direction_percent_and_zero() {
        let mut bus = Mock::new(&[
            Transaction::write(0x10, vec![1, 1, 50, 0]),
            Transaction::write(0x10, vec![2, 2, 100, 0]),
            Transaction::write(0x10, vec![1, 2, 0, 0]),
            Transaction::write(0x10, vec![2, 2, 0, 0]),
        ]);
        let mut cutebot = Cutebot::new(bus.clone());
        cutebot.drive(-0.5, 1.0).unwrap();
        cutebot.stop().unwrap();
        bus.done();
    }
}
