#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod angle;
pub mod buggy;
pub mod calibration;
mod cutebot;
pub mod guidance;
mod h_bridge;
mod latency;
mod maqueen;
pub mod peers;
pub mod pose_filter;
mod wheels;

pub use cutebot::Cutebot;
pub use h_bridge::{HBridge, Motor, PwmDirection, PwmError, PwmPair};
pub use maqueen::Maqueen;
pub use wheels::Wheels;

/// Motors of a robot with two wheels.
pub trait Drive {
    /// Error of the bus or the pins.
    type Error;

    /// Sets the duties of both wheels, from −1 (full speed backward) to 1.
    ///
    /// Larger duties are limited. NaN stops the wheel. The motors keep the duties until the next call.
    ///
    /// # Errors
    /// The motors did not accept a duty. The other wheel was set nevertheless, if that was possible.
    fn drive(&mut self, left: f32, right: f32) -> Result<(), Self::Error>;

    /// Stops both wheels.
    ///
    /// # Errors
    /// A motor may still turn.
    fn stop(&mut self) -> Result<(), Self::Error> {
        self.drive(0.0, 0.0)
    }
}

/// Limits a duty to −1 to 1, and NaN to 0.
fn limited(duty: f32) -> f32 {
    if duty.is_nan() { 0.0 } else { duty.clamp(-1.0, 1.0) }
}

/// Returns the share of `full` that a duty of any sign takes, rounded.
fn scaled(duty: f32, full: u16) -> u16 {
    (limited(duty).abs() * f32::from(full) + 0.5) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duties_are_limited_and_rounded() {
        let cases =
            [(0.5, 128), (-0.5, 128), (1.0e9, 255), (f32::NEG_INFINITY, 255), (f32::NAN, 0), (0.001, 0)];
        for (duty, expected) in cases {
            assert_eq!(scaled(duty, 255), expected, "{duty}");
        }
        assert_eq!(scaled(1.0, u16::MAX), u16::MAX);
    }
}
