//! LSM303AGR: accelerometer of the micro:bit v2 (data sheet DS11123).

use crate::i2c::Device;

const STATUS_REG_A: u8 = 0x27;
const WHO_AM_I_A: u8 = 0x0f;
const CTRL_REG1_A: u8 = 0x20;
const CTRL_REG4_A: u8 = 0x23;
const OUT_X_L_A: u8 = 0x28;
const OUT_Z_H_A: u8 = 0x2d;
/// CTRL_REG1_A: low-power mode.
const LOW_POWER: u8 = 1 << 3;
/// CTRL_REG4_A: high-resolution mode.
const HIGH_RESOLUTION: u8 = 1 << 3;
/// Bit of a register address: the address increases after each byte.
const AUTO_INCREMENT: u8 = 1 << 7;

/// Accelerometer at address 0x19.
///
/// It has a new sample at each read. FIFO, interrupts and the magnetometer are not emulated.
#[derive(Clone, Debug)]
pub struct Lsm303agr {
    /// Acceleration of the x, y and z axis in g. At rest, an axis that points up reads 1.
    pub acceleration: [f64; 3],
    registers: [u8; 64],
    /// Register of the next byte, with its increment.
    register: u8,
    increment: u8,
    expects_register: bool,
}

impl Default for Lsm303agr {
    fn default() -> Self {
        let mut registers = [0; 64];
        registers[usize::from(WHO_AM_I_A)] = 0x33;
        // Axes enabled, power down.
        registers[usize::from(CTRL_REG1_A)] = 0x07;
        Self { acceleration: [0.0, 0.0, 1.0], registers, register: 0, increment: 0, expects_register: false }
    }
}

impl Lsm303agr {
    fn is_measuring(&self) -> bool {
        self.registers[usize::from(CTRL_REG1_A)] & 0xf0 != 0
    }

    /// Output registers of an axis, left-aligned, by range and resolution.
    fn output(&self, axis: usize) -> [u8; 2] {
        let [control1, control4] =
            [CTRL_REG1_A, CTRL_REG4_A].map(|register| self.registers[usize::from(register)]);
        if !self.is_measuring() || control1 >> axis & 1 == 0 {
            return [0; 2];
        }
        let range = f64::from(2_u8 << (control4 >> 4 & 3));
        let bits = match (control1 & LOW_POWER, control4 & HIGH_RESOLUTION) {
            (0, 0) => 10,
            (0, _) => 12,
            _ => 8,
        };
        let full = f64::from(1_i32 << (bits - 1));
        let counts = (self.acceleration[axis] / range * full).round().clamp(-full, full - 1.0) as i16;
        (counts << (16 - bits)).to_le_bytes()
    }
}

impl Device for Lsm303agr {
    fn address(&self) -> u8 {
        0x19
    }

    fn start(&mut self, is_read: bool, _: u64) -> bool {
        self.expects_register = !is_read;
        true
    }

    fn write(&mut self, byte: u8, _: u64) -> bool {
        if std::mem::take(&mut self.expects_register) {
            (self.register, self.increment) = (byte & 0x3f, byte / AUTO_INCREMENT);
        } else {
            let is_writable = (0x1f..=0x26).contains(&self.register) || self.register >= 0x2e;
            if is_writable {
                self.registers[usize::from(self.register)] = byte;
            }
            self.register = (self.register + self.increment) & 0x3f;
        }
        true
    }

    fn read(&mut self, _: u64) -> u8 {
        let register = self.register;
        self.register = (register + self.increment) & 0x3f;
        match register {
            STATUS_REG_A if self.is_measuring() => 0x0f,
            OUT_X_L_A..=OUT_Z_H_A => {
                let index = usize::from(register - OUT_X_L_A);
                self.output(index / 2)[index % 2]
            }
            _ => self.registers[usize::from(register)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(device: &mut Lsm303agr, bytes: &[u8]) {
        device.start(false, 0);
        for byte in bytes {
            assert!(device.write(*byte, 0));
        }
        device.stop(0);
    }

    fn read<const N: usize>(device: &mut Lsm303agr, register: u8) -> [u8; N] {
        write(device, &[register]);
        device.start(true, 0);
        [(); N].map(|()| device.read(0))
    }

    #[test]
    fn who_am_i_is_0x33() {
        assert_eq!(read(&mut Lsm303agr::default(), WHO_AM_I_A), [0x33]);
    }

    #[test]
    fn measurements_start_with_an_output_rate() {
        let mut device = Lsm303agr { acceleration: [0.0, -1.0, 0.5], ..Lsm303agr::default() };
        assert_eq!(read(&mut device, OUT_X_L_A | AUTO_INCREMENT), [0; 6]);
        write(&mut device, &[CTRL_REG1_A, 0x57]);
        // 10 bits at ±2 g: 256 counts per g, left-aligned by 6 bits.
        assert_eq!(read(&mut device, OUT_X_L_A | AUTO_INCREMENT), [0, 0, 0x00, 0xc0, 0x00, 0x20]);
        assert_eq!(read(&mut device, STATUS_REG_A), [0x0f]);
        // Without auto-increment, each byte is of one register.
        assert_eq!(read(&mut device, OUT_Z_H_A), [0x20, 0x20]);
    }

    #[test]
    fn range_and_resolution_scale_the_output() {
        let mut device = Lsm303agr::default();
        write(&mut device, &[CTRL_REG1_A | AUTO_INCREMENT, 0x57, 0, 0, 0x18]);
        // 12 bits at ±4 g: 512 counts per g, left-aligned by 4 bits.
        assert_eq!(read(&mut device, 0x2c | AUTO_INCREMENT), (512_i16 << 4).to_le_bytes());
        device.acceleration[2] = -20.0;
        assert_eq!(read(&mut device, 0x2c | AUTO_INCREMENT), i16::MIN.to_le_bytes());
    }
}
