//! DFRobot Maqueen V4 and V5.

use embedded_hal::i2c::I2c;

use crate::{Drive, scaled};

/// Address of the motor controller.
const ADDRESS: u8 = 0x10;
const LEFT: u8 = 0x00;
const RIGHT: u8 = 0x02;

/// Maqueen V4 or V5, also Maqueen Plus V2 and V3.
///
/// A frame has the register of a wheel, the direction (0 forward, 1 backward) and the speed from 0 to 255.
#[derive(Debug)]
pub struct Maqueen<I> {
    bus: I,
}

impl<I: I2c> Maqueen<I> {
    /// Creates the driver. The motors keep their duties.
    pub fn new(bus: I) -> Self {
        Self { bus }
    }

    /// Returns the bus.
    pub fn release(self) -> I {
        self.bus
    }

    fn turn(&mut self, register: u8, duty: f32) -> Result<(), I::Error> {
        self.bus.write(ADDRESS, &[register, (duty < 0.0).into(), scaled(duty, 255) as u8])
    }
}

impl<I: I2c> Drive for Maqueen<I> {
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

    use embedded_hal::i2c::{ErrorKind, NoAcknowledgeSource};
    use embedded_hal_mock::eh1::i2c::{Mock, Transaction};

    use super::*;

    #[test]
    fn frames_have_register_direction_and_speed() {
        let mut bus = Mock::new(&[
            Transaction::write(0x10, vec![0, 0, 255]),
            Transaction::write(0x10, vec![2, 1, 51]),
            Transaction::write(0x10, vec![0, 0, 0]),
            Transaction::write(0x10, vec![2, 0, 0]),
        ]);
        let mut maqueen = Maqueen::new(bus.clone());
        maqueen.drive(1.5, -0.2).unwrap();
        maqueen.stop().unwrap();
        bus.done();
    }

    #[test]
    fn the_second_wheel_is_set_although_the_first_one_failed() {
        let error = ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address);
        let mut bus = Mock::new(&[
            Transaction::write(0x10, vec![0, 0, 0]).with_error(error),
            Transaction::write(0x10, vec![2, 0, 0]),
        ]);
        assert_eq!(Maqueen::new(bus.clone()).stop(), Err(error));
        bus.done();
    }
}
