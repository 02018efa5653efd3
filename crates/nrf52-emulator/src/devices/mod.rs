//! Models of devices outside of the chip.

mod led_matrix;
mod lsm303agr;
mod motor_board;

pub use led_matrix::LedMatrix;
pub use lsm303agr::Lsm303agr;
pub use motor_board::{MotorBoard, MotorProtocol};
