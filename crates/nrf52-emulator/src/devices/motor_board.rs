//! Motor boards of robot chassis that are controlled over I²C.

use crate::i2c::Device;

/// Frames of a motor board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MotorProtocol {
    /// DFRobot Maqueen V4 and V5: `[0x00 left | 0x02 right, 0 forward | 1 back, speed 0–255]`.
    Maqueen,
    /// ElecFreaks Cutebot: `[0x01 left | 0x02 right, 0x02 forward | 0x01 back, speed 0–100, 0]`.
    Cutebot,
}

impl MotorProtocol {
    /// Returns the wheel (0 left, 1 right) and its speed, −1 to 1, of a valid frame.
    fn decode(self, frame: &[u8]) -> Option<(usize, f64)> {
        let (wheel, is_backward, speed) = match (self, frame) {
            (Self::Maqueen, [register @ (0 | 2), direction @ (0 | 1), speed]) => {
                (register / 2, *direction == 1, f64::from(*speed) / 255.0)
            }
            (Self::Cutebot, [wheel @ (1 | 2), direction @ (1 | 2), speed @ 0..=100, 0]) => {
                (wheel - 1, *direction == 1, f64::from(*speed) / 100.0)
            }
            _ => return None,
        };
        Some((wheel.into(), if is_backward { -speed } else { speed }))
    }
}

/// Motor board at address 0x10.
///
/// It keeps the last speeds until the next frame, also while the chip is reset or the bus is disconnected.
#[derive(Clone, Debug)]
pub struct MotorBoard {
    protocol: MotorProtocol,
    speeds: [f64; 2],
    frame: Vec<u8>,
    /// Received frames, each with the time of its end in cycles. The caller may drain it.
    pub frames: Vec<(u64, Vec<u8>)>,
    /// Number of frames that are not of the protocol.
    pub invalid_frames: u64,
}

impl MotorBoard {
    /// Creates a board with stopped motors.
    pub fn new(protocol: MotorProtocol) -> Self {
        Self { protocol, speeds: [0.0; 2], frame: Vec::new(), frames: Vec::new(), invalid_frames: 0 }
    }

    /// Frames that the board understands.
    pub fn protocol(&self) -> MotorProtocol {
        self.protocol
    }

    /// Speeds of the left and the right wheel, −1 to 1.
    pub fn speeds(&self) -> [f64; 2] {
        self.speeds
    }
}

impl Device for MotorBoard {
    fn address(&self) -> u8 {
        0x10
    }

    fn start(&mut self, is_read: bool, _: u64) -> bool {
        self.frame.clear();
        !is_read
    }

    fn write(&mut self, byte: u8, _: u64) -> bool {
        self.frame.push(byte);
        true
    }

    fn read(&mut self, _: u64) -> u8 {
        0xff
    }

    fn stop(&mut self, now: u64) {
        let frame = std::mem::take(&mut self.frame);
        match self.protocol.decode(&frame) {
            Some((wheel, speed)) => self.speeds[wheel] = speed,
            // An address without data only tests whether the board is there.
            None => self.invalid_frames += u64::from(!frame.is_empty()),
        }
        self.frames.push((now, frame));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeds(protocol: MotorProtocol, frames: &[&[u8]]) -> ([f64; 2], u64) {
        let mut board = MotorBoard::new(protocol);
        for frame in frames {
            assert!(board.start(false, 0));
            for byte in *frame {
                assert!(board.write(*byte, 0));
            }
            board.stop(0);
        }
        (board.speeds(), board.invalid_frames)
    }

    #[test]
    fn maqueen_takes_direction_and_speed_of_each_wheel() {
        assert_eq!(speeds(MotorProtocol::Maqueen, &[&[0, 0, 255], &[2, 1, 51]]), ([1.0, -0.2], 0));
    }

    #[test]
    fn cutebot_takes_percents() {
        assert_eq!(speeds(MotorProtocol::Cutebot, &[&[1, 1, 50, 0], &[2, 2, 100, 0]]), ([-0.5, 1.0], 0));
    }

    #[test]
    fn frames_of_the_other_board_are_invalid_and_change_nothing() {
        assert_eq!(
            speeds(MotorProtocol::Maqueen, &[&[2, 0, 255], &[2, 2, 50, 0], &[1, 0, 7]]),
            ([0.0, 1.0], 2)
        );
        assert_eq!(speeds(MotorProtocol::Cutebot, &[&[0, 0, 255], &[1, 2, 101, 0]]), ([0.0; 2], 2));
    }
}
