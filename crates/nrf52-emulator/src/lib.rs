#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Declares offsets and bits of registers, and the numbers of events.
macro_rules! registers {
    ($($name:ident = $value:expr),* $(; events: $($event:ident = $offset:literal),*)?) => {
        $(const $name: u32 = $value;)*
        $($(const $event: u8 = $crate::peripheral::event($offset);)*)?
    };
}

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
