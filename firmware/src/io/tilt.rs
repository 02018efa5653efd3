//! Accelerometer LSM303AGR, and whether the robot lies on its side.

use embedded_hal::i2c::I2c;

/// Address of the accelerometer.
const ADDRESS: u8 = 0x19;
/// CTRL_REG1_A: 100 Hz, all axes.
const START: [u8; 2] = [0x20, 0x57];
/// CTRL_REG4_A: both bytes of a number belong together; ±2 g.
const BLOCK_UPDATE: [u8; 2] = [0x23, 0x80];
/// OUT_X_L_A with automatic increment.
const OUTPUT: u8 = 0x28 | 0x80;
/// Share of a new measurement in the mean, and in the direction of a standing robot.
const SHARE: f32 = 0.3;
const REST_SHARE: f32 = 0.1;
/// Squared cosine of the largest tilt, 40°.
const LIMIT: f32 = 0.587;

/// Accelerometer on a bus.
#[derive(Debug)]
pub struct Accelerometer<I> {
    bus: I,
    is_started: bool,
}

impl<I: I2c> Accelerometer<I> {
    /// Accelerometer that starts with the first measurement.
    pub fn new(bus: I) -> Self {
        Self { bus, is_started: false }
    }

    /// Measures the acceleration, in units of any size.
    ///
    /// # Errors
    /// The accelerometer does not answer. It starts again with the next measurement.
    pub fn measure(&mut self) -> Result<[f32; 3], I::Error> {
        let result = self.read();
        self.is_started = result.is_ok();
        result
    }

    fn read(&mut self) -> Result<[f32; 3], I::Error> {
        if !self.is_started {
            self.bus.write(ADDRESS, &START)?;
            self.bus.write(ADDRESS, &BLOCK_UPDATE)?;
        }
        let mut bytes = [0; 6];
        self.bus.write_read(ADDRESS, &[OUTPUT], &mut bytes)?;
        let [x0, x1, y0, y1, z0, z1] = bytes;
        Ok([[x0, x1], [y0, y1], [z0, z1]].map(|pair| f32::from(i16::from_le_bytes(pair))))
    }
}

/// Direction of gravity, compared with that of the standing robot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tilt {
    rest: Option<[f32; 3]>,
    mean: [f32; 3],
}

fn mix(mean: [f32; 3], new: [f32; 3], share: f32) -> [f32; 3] {
    core::array::from_fn(|axis| {
        let [mean, new] = [mean, new].map(|vector| vector.get(axis).copied().unwrap_or_default());
        mean + share * (new - mean)
    })
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Tilt {
    /// Takes a measurement of a robot that stands, so that its direction counts as upright, or drives.
    pub fn update(&mut self, measured: [f32; 3], stands: bool) {
        if dot(measured, measured) == 0.0 {
            return;
        }
        let rest = self.rest.unwrap_or(measured);
        if self.rest.is_none() {
            self.mean = measured;
        }
        self.mean = mix(self.mean, measured, SHARE);
        self.rest = Some(if stands { mix(rest, measured, REST_SHARE) } else { rest });
    }

    /// Whether the robot is tilted by more than 40°.
    pub fn is_tilted(&self) -> bool {
        self.rest.is_some_and(|rest| {
            let along = dot(rest, self.mean);
            along < 0.0 || along * along < LIMIT * dot(rest, rest) * dot(self.mean, self.mean)
        })
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
    fn a_missing_accelerometer_is_started_when_it_answers() {
        let error = ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address);
        let output = Transaction::write_read(0x19, vec![0xa8], vec![0, 1, 0, 0x80, 0xff, 0x7f]);
        let mut bus = Mock::new(&[
            Transaction::write(0x19, vec![0x20, 0x57]).with_error(error),
            Transaction::write(0x19, vec![0x20, 0x57]),
            Transaction::write(0x19, vec![0x23, 0x80]),
            output.clone(),
            output,
        ]);
        let mut accelerometer = Accelerometer::new(bus.clone());
        assert_eq!(accelerometer.measure(), Err(error));
        for _ in 0..2 {
            assert_eq!(accelerometer.measure(), Ok([256.0, -32_768.0, 32_767.0]));
        }
        bus.done();
    }

    #[test]
    fn upright_is_the_direction_of_the_standing_robot() {
        let (up, side) = ([0.0, -1.0, 0.1], [1.0, 0.0, 0.0]);
        let mut tilt = Tilt::default();
        tilt.update(side, true);
        assert!(!tilt.is_tilted());
        (0..60).for_each(|_| tilt.update(up, true));
        assert!(!tilt.is_tilted());
        tilt.update(side, false);
        assert!(!tilt.is_tilted(), "a short blow");
        (0..5).for_each(|_| tilt.update(side, false));
        assert!(tilt.is_tilted());
        (0..8).for_each(|_| tilt.update(up, false));
        assert!(!tilt.is_tilted());
        tilt.update([0.0; 3], false);
        assert!(!tilt.is_tilted());
    }
}
