#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod air;
mod chip;
pub mod cpu;
pub mod devices;
pub mod i2c;
pub mod image;
pub mod memory;
pub mod peripheral;
pub mod peripherals;
pub mod pins;
pub mod rtt;
mod system;

pub use chip::{Chip, Part, Reset, reset_reason};

/// Cycles of the 64 MHz clock per microsecond.
pub const MICROSECOND: u64 = 64;
